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


def test_power_is_counted_or_said_to_be_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    """From the catalogue, or from --watts, which wins; what is taken from the drive's class is said to be."""
    known = ("raid10", "8", "--drive", "Intel-S3700-800GB", "--energy-price", "0.3")
    told = json.loads(ran(capsys, *known, "--json")[1])["power"]
    assert (told["idle_watts"], told["active_watts"]) == pytest.approx((5.2, 48))
    assert told["cost_a_year"] == pytest.approx([0.3 * 8.766 * 5.2, 0.3 * 8.766 * 48])
    words = " ".join(ran(capsys, *known)[1].split())
    assert "power of the drives: 5.2 to 48 W, 46 to 421 kWh a year, which costs 14 to 126 (idle to busy)" in words
    assert "power of the drives: 80 W, 701 kWh a year" in ran(capsys, *known[:4], "--watts", "10")[1]
    assumed = " ".join(ran(capsys, "raid5", "4", "--drive", "Exos-10E2400-2400GB")[1].split())
    assert "power of the drives: 15.2 to 31.2 W" in assumed
    assert "no figure was found of Exos-10E2400-2400GB: as drives of its class take, within a factor of 1.3" in assumed
    assert "power: not known for RAM-disk" in ran(capsys, "raid5", "4", "--drive", "RAM-disk")[1]
    assert "power" not in ran(capsys, "raid5", "4", "--size", "4TB")[1]
    status, _, err = ran(capsys, "raid5", "4", "--size", "4TB", "--energy-price", "1")
    assert status == 2
    assert err.startswith("error: --energy-price: found it without a drive; expected")
