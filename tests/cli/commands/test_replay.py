"""`raidsim replay` as a person runs it: text, JSON, bad input."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import raidsim
from raidsim.cli import main as cli
from raidsim.scenarios.traces.replay.per_request import COLUMNS

SAMPLES = Path(raidsim.__file__).parent / "tests" / "scenarios" / "traces" / "samples"
MSR = str(SAMPLES / "msr_mds_0.csv")
MEASURED = str(SAMPLES / "disksim_validation.txt")
TEXT = """
name: "small [box]"
machine:
  drives: {model: Generic-20GB-ATA, count: 4}
arrays:
  md0: {level: raid5}
workload: {kind: load}
"""

Shown = tuple[object, str, str]
Replayed = Callable[..., Shown]


@pytest.fixture
def replayed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Replayed:
    """Runs the command on the small scenario; gives status, output and errors."""
    file = tmp_path / "small.yaml"
    file.write_text(TEXT)

    def run(*arguments: str) -> Shown:
        status: object = 0
        try:
            cli.main(["replay", *arguments, "--machine", str(file)])
        except SystemExit as ended:
            status = ended.code
        out, err = capsys.readouterr()
        return status, out, err

    return run


def test_text(replayed: Replayed) -> None:
    """What was replayed, how fast and how late; nothing is wider than a page."""
    status, out, err = replayed(MSR)
    assert (status, err) == (0, "")
    assert out.startswith("msr_mds_0.csv (msr) on md0: 12 I/Os")
    assert "at their own times; all complete" in out
    for words in ("small [box]", "writes/s", "Latency (ms)", "Utilization", "bottleneck:"):
        assert words in out
    assert max(len(line) for line in out.splitlines()) <= 100


def test_json_is_one_object_with_everything(replayed: Replayed) -> None:
    """What was replayed and how, beside what a run gives."""
    status, out, _ = replayed(MSR, "--json", "--closed", "--depth", "4")
    found = json.loads(out)
    assert status == 0
    assert found["latencies"]["write"]["n"] + found["latencies"].get("read", {"n": 0})["n"] == 12
    told = found["replay"]
    assert (told["format"], told["target"], told["records"], told["completed"], told["depth"]) == (
        "msr",
        "md0",
        12,
        12,
        4,
    )
    assert told["bytes"] == pytest.approx(found["rate"] * found["measured_s"])
    assert told["drained_s"] is None


def test_a_longer_replay_says_what_was_changed(replayed: Replayed, tmp_path: Path) -> None:
    """Wrapped offsets are noted, as is the speedup; several devices lie side by side, or one is chosen."""
    trace = tmp_path / "two.csv"
    rows = [(10**7 * n + 128166372000000000, n % 2, 10**12 * (n % 3)) for n in range(6)]
    trace.write_text("".join(f"{at},host,{disk},Read,{offset},4096,100\n" for at, disk, offset in rows))
    status, out, _ = replayed(str(trace), "--format", "msr", "--fit", "wrap", "--speedup", "2")
    assert status == 0
    assert "2 devices side by side" in out
    assert "2 times as fast as they came" in out
    assert "note: 4 I/Os wrapped around" in out
    status, _, err = replayed(str(trace), "--format", "msr")
    assert status == 2
    assert "ends at byte 2000000004096" in err
    assert "--fit wrap" in err
    status, _, err = replayed(str(trace), "--format", "msr", "--fit", "wrap", "--device", "sda")
    assert status == 2
    assert "no I/O of a device 'sda'" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((MSR, "--depth", "4"), "--closed"),
        ((MSR, "--think"), "found msr, which has no response and think times; expected: disksim-validation"),
        ((MEASURED, "--think", "--closed"), "--think: found it with --closed; expected: one of the two"),
        ((MEASURED, "--think", "--speedup", "2"), "--think: found it with --speedup"),
        ((MSR, "--per-request", "out.txt"), "--per-request: found out.txt; expected: a file .csv or .parquet"),
        ((MSR, "--per-request", "/no/such/folder/out.csv"), "there is no folder"),
        ((MSR, "--drive", "WD2500XX"), "drive 'WD2500XX': not in the catalogue"),
        ((MSR, "--drive", "./none.yaml"), "none.yaml: there is no such file"),
        ((MSR, "--fit", "squeeze"), "refuse, wrap, scale"),
        ((MSR, "--target", "md9"), "unknown device 'md9'"),
        ((MSR, "--format", "mrs"), "did you mean 'msr'"),
        ((MSR, "--warm-up", "200%"), "--warm-up"),
        ((MSR, "--set", "layout=raid9"), "raid9"),
        (("no-such-trace",), "no-such-trace"),
    ],
)
def test_bad_input(replayed: Replayed, arguments: tuple[str, ...], said: str) -> None:
    """One line that names what is wrong, and status 2."""
    status, out, err = replayed(*arguments)
    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_row_for_each_io(replayed: Replayed, tmp_path: Path, ending: str) -> None:
    """The table has what became of each I/O, with the same columns in both kinds of file."""
    target = tmp_path / f"rows{ending}"
    arguments = (MEASURED, "--think", "--target", "disk0", "--drive", "HP-C2247A", "--per-request", str(target))
    status, out, err = replayed(*arguments)
    assert (status, err) == (0, "")
    assert "12 of them, with the recorded think times" in out
    if ending == ".csv":
        with target.open(newline="") as file:
            rows: list[dict[str, Any]] = list(csv.DictReader(file))
    else:
        rows = pytest.importorskip("pyarrow.parquet").read_table(target).to_pylist()
    assert list(rows[0]) == list(COLUMNS)
    assert len(rows) == 12
    assert [row["served_by"] for row in rows[:4]] == ["platters", "read buffer", "read buffer", "platters"]
    assert float(rows[1]["response_s"]) == pytest.approx(0.0014, abs=0.0003)
