"""Power of a machine's drives at the utilization of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidsim.api.answer.power import power_line
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


def test_a_drive_without_figures_is_one_of_its_class_and_the_answer_says_so(tmp_path: Path) -> None:
    """Protects from columns of nothing, and from an assumption that nobody sees; an override is the drive's own."""
    mixed = powers(tmp_path, second="Exos-10E2400-2400GB")
    assert mixed.idle_watts == pytest.approx(7.97 + 3.8)
    assert mixed.assumed == {"Exos-10E2400-2400GB": 1.3}
    assert "no figure was found of Exos-10E2400-2400GB: as drives of its class" in str(power_line(mixed))
    given = powers(tmp_path, second="Exos-10E2400-2400GB, overrides: {power_idle: 4W, power_active: 8W}")
    assert given.idle_watts == pytest.approx(11.97)
    assert not given.assumed
    assert "power of the 2 drives: 15.9 W" in str(power_line(powers(tmp_path)))


def test_a_sum_with_a_hole_is_no_sum(tmp_path: Path) -> None:
    """Memory has no power of its own: there is no power of it and a disk, and it is named."""
    hole = powers(tmp_path, second="RAM-disk")
    assert (hole.watts, hole.idle_watts, hole.active_watts, hole.kwh_a_year) == (None,) * 4
    assert hole.unknown == ("RAM-disk",)
    assert "power: not known for RAM-disk" in str(power_line(hole))
    assert power_line(powers(tmp_path, "RAM-disk", "RAM-disk")) is None
