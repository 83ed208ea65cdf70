"""Power of a machine's drives at the utilization of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidsim.api.tables.power import power_line
from raidsim.model.statistics.usage import Usage
from raidsim.scenarios.documents.document import read_document
from raidsim.scenarios.running.base.power import DrivePower, drive_power
from raidsim.scenarios.running.simulate import simulate

SCENARIO = """\
name: power
machine: {{drives: {{disk0: {{model: {first}}}, disk1: {{model: {second}}}}}}}
workload: {{kind: load, targets: [disk0], block_size: 4KiB, read_share: 100%, depth: 8, warm_up: 10ms, duration: 300ms}}
"""
KNOWN = "Constellation-ES.3-4TB-SAS"


def powers(tmp_path: Path, first: str = KNOWN, second: str = KNOWN, usages: tuple[Usage, ...] = ()) -> DrivePower:
    """Of two drives with such usages."""
    path = tmp_path / "power.yaml"
    path.write_text(SCENARIO.format(first=first, second=second), encoding="utf-8")
    return drive_power(read_document(path).spec(), usages)


def test_a_busy_drive_takes_its_active_power_and_an_idle_one_its_idle_power(tmp_path: Path) -> None:
    """A disk with eight reads outstanding never rests; the other one does nothing at all."""
    path = tmp_path / "power.yaml"
    path.write_text(SCENARIO.format(first=KNOWN, second=KNOWN), encoding="utf-8")
    spec = read_document(path).spec()
    found = drive_power(spec, simulate(spec).usages)
    assert found.watts == pytest.approx(11.86 + 7.97, rel=0.01)
    assert (found.idle_watts, found.active_watts) == pytest.approx((2 * 7.97, 2 * 11.86))
    assert found.kwh_a_year == pytest.approx(8.766 * (11.86 + 7.97), rel=0.01)


def test_a_sum_with_a_hole_is_no_sum(tmp_path: Path) -> None:
    """One drive without figures leaves no power of both, and is named; the override gives it."""
    hole = powers(tmp_path, second="Exos-10E2400-2400GB")
    assert (hole.watts, hole.idle_watts, hole.active_watts, hole.kwh_a_year) == (None,) * 4
    assert hole.unknown == ("Exos-10E2400-2400GB",)
    assert "power: not known for Exos-10E2400-2400GB" in str(power_line(hole))
    given = "Exos-10E2400-2400GB, overrides: {power_idle: 4W, power_active: 8W}"
    assert powers(tmp_path, second=given).idle_watts == pytest.approx(11.97)
    assert power_line(powers(tmp_path, "Exos-10E2400-2400GB", "Exos-10E2400-2400GB")) is None
    assert "power of the 2 drives: 15.9 W" in str(power_line(powers(tmp_path)))
