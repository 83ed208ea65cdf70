"""`raidsim capacity` as a person runs it."""

from __future__ import annotations

import json

import pytest

from raidsim.cli import main as cli


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str, str]:
    """Status, output and errors of the command."""
    status: object = 0
    try:
        cli.main(["capacity", *arguments])
    except SystemExit as ended:
        status = ended.code
    out, err = capsys.readouterr()
    return status, out, err


def test_the_table_and_the_json_say_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    """Raw, array, usable and planned capacity in decimal and binary units, failures survived, and cost."""
    question = ("raid60", "24", "--size", "18TB", "--groups", "2", "--price", "330")
    status, out, _ = ran(capsys, *question)
    assert status == 0
    lines = {line.split("  ")[1].strip(): line.split()[-5:] for line in out.splitlines() if line.endswith("%  ")}
    assert lines["raw"][-4:] == ["432.00", "392.90", "100.0", "%"]
    assert lines["array"][-4:-2] == ["360.00", "327.42"]
    assert "survives 2 failed drives, whichever" in out
    told = json.loads(ran(capsys, *question, "--json")[1])
    assert round(told["array_bytes"] / 1e12) == 360
    assert f"cost 7,920, {told['cost_per_tb']:.2f} per TB" in out


def test_performance_is_one_option_away(capsys: pytest.CaptureFixture[str]) -> None:
    """A mirror of two 15k disks does some hundreds of random I/Os per second."""
    told = json.loads(ran(capsys, "raid1", "2", "--drive", "Exos-15E900-900GB", "--performance", "--json")[1])
    assert 200 < told["random_iops"] < 1500


@pytest.mark.parametrize(
    ("level", "small", "whole"), [("raid0", 1, 1.0), ("raid10", 2, 2.0), ("raid5", 2, 8 / 7), ("raid6", 3, 8 / 6)]
)
def test_endurance_counts_parity_and_copies(
    capsys: pytest.CaptureFixture[str], level: str, small: float, whole: float
) -> None:
    """Eight drives that may be written 14,016 TB each: a small write goes to every parity, a stripe has one of each."""
    question = (level, "8", "--drive", "Samsung-PM9A3-3840GB", "--written", "2TB")
    told = json.loads(ran(capsys, *question, "--json")[1])["endurance"]
    assert (told["small_writes"], told["whole_stripes"]) == pytest.approx((small, whole), rel=1e-3)
    assert told["small_years"] == pytest.approx(8 * told["per_drive"] / (small * 2e12 * 365.25))
    assert f"{told['small_years']:,.1f} years" in " ".join(ran(capsys, *question)[1].split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("raid6", "4"), "--size: missing; expected --size or --drive"),
        (("raid6", "4", "--size", "1TB", "--drive", "Exos-15E900-900GB"), "--size: found both --size and --drive"),
        (("raid6", "3", "--size", "1TB"), "raid6 needs at least 4"),
        (("raid6", "4", "--size", "1TB", "--performance"), "--performance: found it without --drive"),
        (("raid6", "4", "--size", "1TB", "--fill", "200%"), "--fill"),
        (("raid6", "4", "--size", "1TB", "--written", "1TB"), "--written: found it without --drive"),
        (("raid6", "4", "--drive", "Exos-15E900-900GB", "--written", "1TB"), "a hard disk"),
    ],
)
def test_mistakes_are_named(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str) -> None:
    """One message, status 2."""
    status, _, err = ran(capsys, *arguments)
    assert status == 2
    assert message in err
