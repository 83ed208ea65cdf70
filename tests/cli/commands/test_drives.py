"""`raidsim drives` as a person runs it: one drive by its file, and a trace measured on it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from raidsim.api.tables.drives import _capacity
from raidsim.cli import main as cli
from raidsim.model.drives.catalogue import CATALOGUE, drive
from raidsim.validation.drives.check import trace_of

Shown = tuple[object, str, str]
TRACE = str(trace_of("HP-C2247A"))
FILE = CATALOGUE / "HP-C2247A.yaml"


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str]) -> Callable[..., Shown]:
    """Runs the command; gives status, output and errors."""

    def run(*arguments: str) -> Shown:
        status: object = 0
        try:
            cli.main(["drives", *arguments])
        except SystemExit as ended:
            status = ended.code
        out, err = capsys.readouterr()
        return status, out, err

    return run


def test_check_prints_the_demerits(shown: Callable[..., Shown]) -> None:
    """Reads, writes and all: how many, both means, and how far off."""
    status, out, err = shown("hp-c2247a", "--check", TRACE)
    assert (status, err) == (0, "")
    assert "HP-C2247A.trace.gz on hp-c2247a: 30 % of the reads were served by the buffer" in out
    rows = {
        line.split()[0]: line.split() for line in out.splitlines() if line.startswith(("  reads", "  writes", "  all"))
    }
    assert rows["reads"][1:3] == ["5,115", "14.610"]
    assert rows["all"][5:7] == ["0.6", "%"]


@pytest.mark.parametrize(
    ("capacity", "disk", "flash"),
    [
        (999 * 10**9, "999 GB", "999 GB"),
        (10**12, "1.0 TB", "1.00 TB"),
        (3_840 * 10**9, "3.8 TB", "3.84 TB"),
    ],
)
def test_capacities_are_in_the_makers_units(capacity: int, disk: str, flash: str) -> None:
    """From 10^12 bytes on a drive has TB: one decimal for disks, two for flash."""
    assert _capacity(drive("WD5000AAKS").model_copy(update={"capacity": capacity})) == disk
    assert _capacity(drive("Intel-S4510-960GB").model_copy(update={"capacity": capacity})) == flash


def test_check_of_a_drives_file_as_json(shown: Callable[..., Shown], tmp_path: Path) -> None:
    """A drive that is in no catalogue, in SI units; the demerit is the rms over the measured mean."""
    copy = tmp_path / "mine.yaml"
    copy.write_text(FILE.read_text())
    status, out, _ = shown(str(copy), "--check", TRACE, "--json")
    found = json.loads(out)
    assert status == 0
    assert (found["drive"], found["trace"]) == (str(copy), TRACE)
    for part in ("all", "reads", "writes"):
        assert found[part]["demerit"] == pytest.approx(found[part]["rms_s"] / found[part]["measured_mean_s"])
    assert found["all"]["ios"] == found["reads"]["ios"] + found["writes"]["ios"] == 9999


def test_a_drives_file_is_shown_as_one_of_the_catalogue(shown: Callable[..., Shown], tmp_path: Path) -> None:
    """Every field with its source, and the file's errors with their lines."""
    copy = tmp_path / "mine.yaml"
    copy.write_text(FILE.read_text())
    assert shown(str(copy))[1].splitlines()[1:] == shown("HP-C2247A")[1].splitlines()[1:]
    copy.write_text(FILE.read_text().replace("rotation: {value: 5400rpm", "rotation: {value: 5400"))
    status, _, err = shown(str(copy))
    assert status == 2
    assert "mine.yaml:" in err
    assert "rotation" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--check", TRACE), "--check: found it without a drive; expected: raidsim drives NAME --check TRACE"),
        (("HP-C2247A", "--check", TRACE, "--sheet"), "--check: found it with --sheet; expected: one of the two"),
        (("HP-C2247A", "--check", "none.trace"), "none.trace"),
        (("Samsung-PM9A3-3840GB", "--check", TRACE), "found a solid-state drive; expected: a hard disk"),
        (("HP-C2247A", "--check", str(trace_of("QM39100TD-SW"))), "expected: at most 1052090368, the drive's capacity"),
        (("./none.yaml",), "none.yaml: there is no such file; expected: a drive's file, or a name of the catalogue"),
    ],
)
def test_bad_input(shown: Callable[..., Shown], arguments: tuple[str, ...], said: str) -> None:
    """One line that names what is wrong, and status 2."""
    status, out, err = shown(*arguments)
    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
