"""Programs that people read fio's results with, on results of the model: bench-fio's job files, fio-plot's charts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from raidsim.calibration.formats.detect import read_report
from raidsim.model.programs.fio.sections import sections
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.fio.output.json_document import json_document, json_text
from raidsim.scenarios.fio.output.logs import write_logs
from raidsim.scenarios.fio.run import FioOptions, run_fio

SCENARIO = """
name: four disks
machine: {name: nas, drives: {model: Generic-20GB-ATA, count: 4}}
arrays: {md0: {level: raid5}}
workload: {kind: load}
"""
DEPTHS, JOBS = (1, 8), (1, 2)
MAKE_JOBS = """
import sys
from bench_fio.benchlib import defaultsettings, generatefio

settings = defaultsettings.get_default_settings()
settings.update(type="device", runtime=2, time_based=True, loginterval=250, create=True)
settings.update(extra_opts=["group_reporting=1"])
for depth in (1, 8):
    for jobs in (1, 2):
        one = {"mode": "randrw", "iodepth": depth, "numjobs": jobs, "block_size": "4k"}
        one.update(target="/dev/md0", target_base="/dev/md0")
        generatefio.generate_fio_job_file(settings, one, sys.argv[1], f"{sys.argv[1]}/{depth}-{jobs}.fio")
"""
DRAW = """
import contextlib
import sys
import fio_plot

folder, *charts = sys.argv[1:]
for number, options in enumerate(charts):
    sys.argv[1:] = ["-i", folder, "-T", "chart", "-r", "randrw", "-o", f"{number}.png", *options.split()]
    with contextlib.suppress(SystemExit):
        fio_plot.main()
"""
CHARTS = (
    "-l -f read",  # by depth
    "-N -d 8 -f write",  # by jobs
    "-L -t iops -f read",  # by both, in three dimensions
    "-H -d 8 -n 2 -f read",  # histogram of latencies
    "-g -t bw iops lat -d 8 -n 2 -f read write",  # logs
    "-g -t clat slat -d 1 -n 1 -f read",
)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of JSON reports and logs, of job files as bench-fio makes them."""
    folder = tmp_path_factory.mktemp("bench")
    subprocess.run([sys.executable, "-c", MAKE_JOBS, str(folder)], check=True)
    spec = document_from(SCENARIO).spec()
    for depth in DEPTHS:
        for jobs in JOBS:
            path = folder / f"{depth}-{jobs}.fio"
            found = sections(path.read_text(encoding="utf-8"), path.name)
            run = run_fio(spec, found, FioOptions(logs=True))
            path.with_suffix(".json").write_text(json_text(json_document(run, plus=False)), encoding="utf-8")
            write_logs(run, folder)
    return folder


@pytest.mark.slow
def test_fio_plot_draws_all_its_charts(results: Path, tmp_path: Path) -> None:
    """Protects users of fio-plot: it reads our reports and logs as they are, and draws each of its charts."""
    command = [sys.executable, "-c", DRAW, str(results), *CHARTS]
    environment = os.environ | {"MPLBACKEND": "Agg"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    drawn = [path.stat().st_size for path in tmp_path.glob("*.png")]
    assert len(drawn) == len(CHARTS)
    assert min(drawn) > 10_000


def test_a_table_of_reports_has_the_rates_of_the_logs(results: Path) -> None:
    """Protects scripts that flatten reports with pandas: names are there, and reports and logs say the same."""
    reports = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(results.glob("*.json"))]
    table = pd.json_normalize(reports, "jobs", ["fio version"])
    table.index = table["job options.iodepth"] + "-" + table["job options.numjobs"]
    assert set(table["fio version"]) == {"fio-3.33"}
    assert table.loc["8-1", "read.iops"] > 2 * table.loc["1-1", "read.iops"]
    logs = sorted(results.glob("randrw-iodepth-8-numjobs-2_iops.*.log"))
    assert len(logs) == 2
    columns = ["ms", "value", "direction", "bytes", "priority"]
    lines = pd.concat(pd.read_csv(path, names=columns, skipinitialspace=True) for path in logs)
    for direction, name in enumerate(("read", "write")):
        logged = lines[lines["direction"] == direction]
        rate = logged["value"].sum() * 0.25 / (logged["ms"].max() / 1000)
        assert rate == pytest.approx(table.loc["8-2", f"{name}.iops"], rel=0.2)


def test_our_own_reader_finds_what_was_written(results: Path) -> None:
    """Protects ``raidsim parse`` and ``raidsim calibrate --from-fio`` on reports of the model."""
    report = read_report(results / "8-2.json")
    document = json.loads((results / "8-2.json").read_text(encoding="utf-8"))
    assert (report.format, report.version) == ("fio", "3.33")
    (figure,) = [figure for figure in report.figures if figure.name == "read_iops"]
    assert figure.value == pytest.approx(document["jobs"][0]["read"]["iops"])
