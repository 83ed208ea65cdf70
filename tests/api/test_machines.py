"""fio's jobs, traces, outputs of tools and catalogues, asked for from Python."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest

import raidsim
from raidsim.cli.main import main
from raidsim.tests.api.small import small

ROOT = Path(raidsim.__file__).parent
TRACE = ROOT / "tests" / "scenarios" / "traces" / "samples" / "msr_mds_0.csv"
PRINTED = ROOT / "docs" / "examples" / "inspect" / "mdstat-2002.txt"
JOB = "[a]\nfilename=/dev/md0\nioengine=libaio\ndirect=1\nrw=randread\nbs=4k\niodepth=4\ntime_based\nruntime=200ms\n"


def test_fio_gives_what_the_command_gives(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Protects fio's jobs: text and file give the same, which is what `raidsim fio` prints, in SI units."""
    job, machine = tmp_path / "a.fio", tmp_path / "small.yaml"
    job.write_text(JOB, encoding="utf-8")
    machine.write_text(small().to_yaml(), encoding="utf-8")
    found = raidsim.fio(JOB, small(), progress=False)
    assert raidsim.fio(job, small(), progress=False).to_dict()["report"]["jobs"] == found.report["jobs"]
    with suppress(SystemExit):
        main(["fio", str(job), "--machine", str(machine), "--json"])
    printed = json.loads(capsys.readouterr().out)
    assert printed["jobs"] == found.report["jobs"]
    (row,) = found.to_frame().to_dict("records")
    assert row["read_iops"] == pytest.approx(found.iops)
    assert row["read_latency_mean"] == pytest.approx(1e-9 * printed["jobs"][0]["read"]["lat_ns"]["mean"])
    assert row["write_latency_mean"] != row["write_latency_mean"]
    assert "IOPS" in repr(found)
    assert found.text.startswith("a: (g=0): rw=randread")
    with pytest.raises(raidsim.InputError, match="expected: a job file, or a text that includes none"):
        raidsim.fio("include x.fio\n[a]\n", small(), progress=False)


def test_a_trace_is_replayed() -> None:
    """Protects `replay`: all I/Os of the trace are served by the machine, not the scenario's own load."""
    found = raidsim.replay(TRACE, small(), fit="wrap", progress=False)
    assert found.completed == 12
    assert found.to_dict()["schema"] == "raidsim.replay"
    assert found.to_dict()["target"] == "md0"
    assert isinstance(found, raidsim.Result)


def test_outputs_of_tools_become_a_scenario() -> None:
    """Protects `inspect`: a file and its text give the same scenario, which can be changed."""
    found = raidsim.inspect(PRINTED, progress=False)
    text = raidsim.inspect(PRINTED.read_text(encoding="utf-8"), progress=False)
    assert text.scenario.spec.arrays == found.scenario.spec.arrays
    assert len(found.to_frame()) == len(found.found.found) + len(found.found.assumed)
    assert found.scenario.with_(depth=4).spec.workload.kind == "load"


def test_catalogues_are_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects what there is to choose from: every drive and study has a row; one drive has its sources."""
    drives = raidsim.drives()
    assert drives.to_frame()["capacity"].min() > 0
    assert len({row["name"] for row in drives}) == len(drives)
    assert all(row["source"] for row in raidsim.drives("WD5000AAKS"))
    with pytest.raises(raidsim.InputError, match="not in the catalogue"):
        raidsim.drives("no such drive at all")
    monkeypatch.setattr("raidsim.api.catalogue.study_names", lambda: ["prinkey-2002"])
    (study,) = raidsim.studies()
    assert (study["name"], study["predict"] > 0) == ("prinkey-2002", True)
    assert "rows of" in repr(drives)
