"""`raidsim learn` as a person runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from raidsim.cli import main as cli
from raidsim.tests.house import ROOT

BOX = str(ROOT / "docs" / "examples" / "box.csv")
READS, WRITES, BOTH = (f"block_size=4KiB,jobs=4,depth=4,read_share={share}" for share in ("100%", "0", "70%"))


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str, str]:
    """Status, output and errors of the command."""
    status: object = 0
    try:
        cli.main(["learn", *arguments])
    except SystemExit as ended:
        status = ended.code
    out, err = capsys.readouterr()
    return status, out, err


def test_a_load_has_latencies_of_what_it_does(capsys: pytest.CaptureFixture[str]) -> None:
    """Protects readers from the time of a write that is never made: reads alone, writes alone, and both."""
    asked = [part for load in (READS, WRITES, BOTH) for part in ("--ask", load)]
    status, out, _ = ran(capsys, BOX, *asked, "--json")
    assert status == 0
    reads, writes, both = json.loads(out)["predicted"]
    assert (reads["write_mean"], reads["write_range"], writes["read_mean"], writes["read_range"]) == (None,) * 4
    assert None not in (reads["read_mean"], writes["write_mean"], both["read_mean"], both["write_mean"])
    for each in (reads, writes, both):
        assert each["rate_range"][0] < each["rate"] < each["rate_range"][1]


def test_everything_that_may_be_asked_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Protects the command: predictions, the next jobs and their file, and what was measured later."""
    jobs = tmp_path / "next.fio"
    status, out, err = ran(capsys, BOX, "--ask", READS, "--next", "2", "--jobs", str(jobs), "--verify", BOX)
    assert status == 0
    assert f"raidsim measure DEVICE --job {jobs}" in err.replace("\n", " ")
    assert jobs.read_text().count("\nbs=") == 2
    for words in ("A box, learnt from 10 measurements", "Predictions", "Jobs that tell most", "New measurements"):
        assert words in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((BOX, "--ask", "bs=4k"), "found 'bs=4k'"),
        ((BOX, "--jobs", "next.fio"), "no --next"),
        (("nothing.csv",), "nothing.csv"),
        ((BOX, "--machine", "no such scenario"), "no such scenario"),
    ],
)
def test_what_cannot_be_is_one_message(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Protects from tracebacks: status 2 and what is expected."""
    status, out, err = ran(capsys, *arguments)
    assert (status, out) == (2, "")
    assert message in err
