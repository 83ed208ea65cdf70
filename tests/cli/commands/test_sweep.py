"""`raidsim sweep` as a person runs it: the table, JSON, exports, going on, failures, bad input."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from raidsim.api.support.sweep_progress import sweep_progress
from raidsim.cli.commands import sweep as sweep_module
from raidsim.cli.main import main
from raidsim.scenarios.running.simulate import simulate
from raidsim.scenarios.sweeps import point as sweep_point
from raidsim.scenarios.sweeps.sweep import SweepProgress
from raidsim.tests.processes import is_there
from raidsim.tests.scenarios.sweeps.sweep_bench import settled, sweep_file, tables

GRID = {"layout": ["raid5", "raid10"], "depth": [1, 4]}


def ran(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of a command."""
    with pytest.raises(SystemExit) as left:
        main(["sweep", *map(str, arguments)])
    printed = capsys.readouterr()
    return int(left.value.code or 0), printed.out, printed.err


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A grid of two layouts and two depths, in the folder where commands are run."""
    monkeypatch.chdir(tmp_path)
    return sweep_file(tmp_path, vary=GRID, sample=None, name="grid.yaml")


def test_the_table_and_going_on(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    """Every point has a line; the store is named like the sweep; the second time nothing is run."""
    status, out, err = ran(capsys, file, "--workers", "0")
    assert (status, err) == (0, "")
    assert "grid: 4 points" in out
    assert "4 done" in out
    assert out.count("raid10") == 2
    assert "rate (MB/s)" in out
    assert max(map(len, out.splitlines())) <= 100
    assert sorted(path.name for path in file.parent.iterdir()) == ["grid.sqlite", "grid.yaml"]
    status, again, err = ran(capsys, file, "--workers", "0")
    assert (status, again) == (0, out)
    assert err == "4 runs were there before; 0 simulated\n"


def test_json_csv_and_parquet(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    """One object; and the same rows in both tables, numbers as numbers, without losing a bit."""
    parquet = pytest.importorskip("pyarrow.parquet")
    command = (file, "--workers", "0", "--store", "a.sqlite", "--csv", "a.csv", "--parquet", "a.parquet", "--json")
    status, out, _ = ran(capsys, *command)
    document = json.loads(out)
    assert status == 0
    assert {name: document[name] for name in ("points", "runs", "done", "refused", "failed", "left")} == {
        "points": 4,
        "runs": 4,
        "done": 4,
        "refused": 0,
        "failed": 0,
        "left": 0,
    }
    assert document["varied"] == ["layout", "depth"]
    with Path("a.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    table = parquet.read_table("a.parquet").to_pylist()
    assert [row["layout"] for row in rows] == ["raid5", "raid5", "raid10", "raid10"]
    assert [int(row["depth"]) for row in rows] == [row["depth"] for row in table] == [1, 4, 1, 4]
    assert [float(row["rate"]) for row in rows] == [row["rate"] for row in table]
    assert [row["busiest.disk"] == "" for row in rows] == [False] * 4
    status, out, _ = ran(capsys, "--export", "a.sqlite", "--csv", "b.csv")
    assert (status, out) == (0, "grid: 4 points\n4 done\n")
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()
    assert not [path for path in file.parent.iterdir() if "part" in path.name]


def test_only_the_figures_that_are_asked_for(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    """The file's figures are the columns, in their order; one that no run has is told of, and all were kept."""
    sweep_file(file.parent, vary=GRID, sample=None, name="grid.yaml", figures=["read_p99_seconds", "rat", "rate"])
    status, out, err = ran(capsys, file, "--workers", "0", "--csv", "a.csv")
    header = Path("a.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    assert status == 0
    assert "no run has the figure rat; there are: cpu, iops, rate, read_iops" in err
    assert header[4:8] == ["status", "read_p99_seconds", "rate", "rate.half_width"]
    assert out.index("read_p99 (ms)") < out.index("rate (MB/s)")
    ran(capsys, "--export", "grid.sqlite", "--csv", "b.csv")
    assert "write_mean_seconds" in Path("b.csv").read_text(encoding="utf-8").splitlines()[0]


def test_a_page_has_as_many_figures_as_fit(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    """Beside its number a point has six columns: what varies and the first figures; all figures are in the CSV."""
    figures = ["rate", "iops", "read_iops", "read_p99_seconds", "read_p50_seconds", "read_mean_seconds", "cpu"]
    sweep_file(file.parent, vary=GRID, sample=None, name="grid.yaml", figures=figures)
    _, out, _ = ran(capsys, file, "--workers", "0", "--csv", "a.csv")
    header = Path("a.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    assert set(figures) <= set(header)
    (titles,) = (line for line in out.splitlines() if "rate (MB/s)" in line)
    assert len(re.split(r"\s{2,}", titles.strip())) == 1 + 6
    assert "read_p50" not in out


def test_an_alias_that_is_a_figure_too(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    """What varies and what comes out have columns of their own, though both are called iops."""
    scenario = {
        "machine": {"drives": {"model": "WD2500JB", "count": 2}},
        "workload": {"kind": "load", "duration": "1s"},
    }
    path = sweep_file(file.parent, scenario=scenario, sample=None, vary={"iops": [20, 40]}, name="open.yaml")
    status, *_ = ran(capsys, path, "--workers", "0", "--csv", "a.csv")
    header = Path("a.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    assert status == 0
    assert "vary.iops" in header
    assert "iops" in header
    assert len(set(header)) == len(header)


def test_refusals_and_failures(capsys: pytest.CaptureFixture[str], file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be is told of and is no failure; what went wrong is, and is run again when asked for."""
    sweep_file(file.parent, vary={"layout": ["raid5", "raid6"], "disks": [3, 4]}, sample=None, name="grid.yaml")
    whole = simulate

    def breaks(spec: Any) -> Any:
        if len(spec.machine.drives) == 3:
            raise MemoryError("none left")
        return whole(spec)

    monkeypatch.setattr(sweep_point, "simulate", breaks)
    status, out, err = ran(capsys, file, "--workers", "0")
    assert (status, err) == (1, "")
    assert "2 done, 1 refused, 1 failed" in out
    assert "point 0 failed: MemoryError: none left" in out
    assert "raid6 of 3 disks; raid6 needs at least 4" in " ".join(out.split())
    monkeypatch.setattr(sweep_point, "simulate", whole)
    assert ran(capsys, file, "--workers", "0")[0] == 1
    status, out, _ = ran(capsys, file, "--workers", "0", "--retry-failed", "--json")
    document = json.loads(out)
    assert (status, document["done"], document["refused"], document["failed"]) == (0, 3, 1, 0)
    assert document["failures"][0]["values"] == {"layout": "raid6", "disks": 3}
    assert document["failures"][0]["status"] == "refused"


def test_set_changes_the_scenario(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    """--set makes another sweep of it, which the file finds again with the same --set only."""
    ran(capsys, file, "--workers", "0")
    status, out, _ = ran(capsys, file, "--workers", "0", "--set", "block_size=64KiB", "--json")
    rates = json.loads(out)
    assert (status, rates["done"]) == (0, 4)
    status, out, _ = ran(capsys, file, "--status", "grid.sqlite", "--set", "block_size=64KiB", "--json")
    assert (status, json.loads(out)["done"]) == (0, 4)
    status, _, err = ran(capsys, file, "--status", "grid.sqlite", "--set", "block_size=32KiB")
    assert status == 2
    assert "no results of the sweep grid as its file is now; there are: grid" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "no sweep file; expected: FILE, --status STORE or --export STORE"),
        (("none.yaml",), "none.yaml: there is no such file"),
        (("grid.yaml", "--workers", "-1"), "--workers: found -1; expected: 0 to 1024"),
        (("grid.yaml", "--workers", "2", "--scheduler", "tcp://x:1"), "--workers: found with --scheduler"),
        (("grid.yaml", "--scheduler", "host"), "--scheduler: 'host' is no address"),
        (("grid.yaml", "--timeout", "5"), "--timeout"),
        (("grid.yaml", "--timeout", "0s"), "--timeout: found 0s"),
        (("grid.yaml", "--csv", "nowhere/a.csv"), "--csv: nowhere/a.csv: there is no folder nowhere"),
        (("grid.yaml", "--csv", "grid.sqlite"), "the file of results itself"),
        (("grid.yaml", "--store", "grid.yaml"), "grid.yaml: this is no database"),
        (("grid.yaml", "--store", "nowhere/a.sqlite"), "there is no folder nowhere"),
        (("grid.yaml", "--set", "dept=3"), "did you mean depth?"),
        (("--status", "none.sqlite"), "none.sqlite: there is no such file"),
        (("--export", "none.sqlite"), "nothing to write"),
        (("--export", "a", "--status", "b"), "found with --status"),
        (("--status", "a", "--store", "b"), "found with --status or --export"),
    ],
)
def test_bad_input_is_one_message(
    capsys: pytest.CaptureFixture[str], file: Path, arguments: tuple[str, ...], words: str
) -> None:
    """Status 2, nothing on stdout, and a line that says what would be right."""
    status, out, err = ran(capsys, *arguments)
    assert (status, out) == (2, "")
    assert words in err
    assert err.startswith("error: ")
    assert err.count("\n") == 1


def test_tables_that_cannot_be_written_leave_what_was_there(
    capsys: pytest.CaptureFixture[str], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk at the last moment is one message; the old file stays, and no half of a new one."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    Path("a.csv").write_text("old", encoding="utf-8")
    monkeypatch.setattr("os.fsync", full)
    status, _, err = ran(capsys, file, "--workers", "0", "--csv", "a.csv")
    assert status == 2
    assert "a.csv: cannot be written (No space left on device)" in err
    assert Path("a.csv").read_text(encoding="utf-8") == "old"
    assert not [path for path in file.parent.iterdir() if path.suffix == ".part"]


def test_an_interrupt_says_how_to_go_on(
    capsys: pytest.CaptureFixture[str], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C ends with 130 and what is there already."""

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sweep_module, "run_plan", stopped)
    status, out, err = ran(capsys, file, "--workers", "0")
    assert (status, out) == (130, "")
    assert err == "interrupted: 0 of 4 runs are in grid.sqlite; the same command goes on there\n"


def test_of_many_points_the_best_are_shown(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    """A large sweep has a page as well, with those first that have most of the first figure."""
    path = sweep_file(file.parent, 24, figures=["iops"], replications=2)
    status, out, _ = ran(capsys, path, "--workers", "0")
    shown = [float(line.split()[-2]) for line in out.splitlines() if "±" in line]
    assert status == 0
    assert "sweep: 24 points x 2 replications" in out
    assert "20 of 24 points, the highest iops first; all of them: --csv FILE" in out
    assert len(shown) == 20
    assert shown == sorted(shown, reverse=True)


def test_progress_says_how_long_it_takes(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A log gets a line every ten seconds; what was there before does not make it look fast."""
    now = [100.0]
    monkeypatch.setattr("raidsim.api.support.sweep_progress.time.monotonic", lambda: now[0])
    with sweep_progress("grid") as watch:
        for seconds, simulated in ((1, 1), (9, 9), (10, 10), (15, 15), (20, 20), (100, 100)):
            now[0] = 100.0 + seconds
            watch(SweepProgress(1100, 1000 + simulated, simulated, 0, 2))
    assert capsys.readouterr().err == (
        "grid: 1,010 of 1,100, 2 without result, 1 min 30 s left\n"
        "grid: 1,020 of 1,100, 2 without result, 1 min 20 s left\n"
    )


@pytest.mark.slow
def test_nothing_depends_on_the_process(tmp_path: Path) -> None:
    """Neither the seed of Python's hashes nor the number of workers changes a bit."""
    path = sweep_file(tmp_path, 20)
    for seed, workers in (("0", "2"), ("1", "0"), ("77", "1")):
        command = [sys.executable, "-c", "from raidsim.cli.main import main; main()", "sweep", str(path)]
        options = ["--workers", workers, "--store", str(tmp_path / f"{workers}.sqlite"), "--json"]
        subprocess.run([*command, *options], check=True, capture_output=True, env=os.environ | {"PYTHONHASHSEED": seed})
    assert tables(tmp_path / "0.sqlite") == tables(tmp_path / "1.sqlite") == tables(tmp_path / "2.sqlite")


@pytest.mark.slow
def test_a_real_interrupt(tmp_path: Path) -> None:
    """The signal to the whole group, as a terminal sends it: one message, status 130, and no process left."""
    path = sweep_file(tmp_path, 1000)
    # Whoever runs the tests in the background ignores interrupts, and so would what they start.
    command = ["env", "--default-signal=INT", sys.executable, "-m", "raidsim", "sweep", str(path), "--workers", "2"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, start_new_session=True
    ) as process:
        until = time.monotonic() + 60
        while settled(tmp_path / "sweep.sqlite") < 5 and time.monotonic() < until:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    assert err.count("\n") <= 2
    assert "of 1,000 runs are in sweep.sqlite; the same command goes on there" in err
    until = time.monotonic() + 10
    while is_there(-process.pid) and time.monotonic() < until:
        time.sleep(0.02)
    assert not is_there(-process.pid)
