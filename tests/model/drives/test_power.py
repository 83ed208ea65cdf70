"""The power of drives: what the catalogue gives, and the line between idle and busy."""

from __future__ import annotations

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.disk.spec import DriveSpec
from raidsim.model.drives.catalogue import drive, drive_names, drive_sources
from raidsim.model.drives.power import kwh_a_year, power_class, power_classes, watts

FIGURES = ("power_idle", "power_active")
MEMORY = {"RAM-disk", "null-block", "null-block-timer"}


@pytest.mark.parametrize("name", sorted({*drive_names()} - MEMORY))
def test_every_drive_takes_what_such_a_drive_can(name: str) -> None:
    """Protects tables without holes: each drive has a power, its own or that of its class, idle below busy, and in the
    range of disks and of flash.
    """
    spec = drive(name)
    low, high = (2.0, 20.0) if isinstance(spec, DriveSpec) else (0.02, 40.0)
    idle, active = watts(spec, 0.0), watts(spec, 1.0)
    assert idle is not None
    assert active is not None
    assert low <= idle < active <= high
    assert (power_class(spec) is None) == ({*FIGURES} <= drive_sources(name).keys())


def test_every_class_has_drives() -> None:
    """Protects the list from classes that an earlier one hides."""
    used = {alike.name for name in drive_names() if (alike := power_class(drive(name))) is not None}
    assert used == {each.name for each in power_classes()}


def test_power_rises_with_utilization_and_a_drives_own_figure_counts_before_its_class() -> None:
    """Half as busy takes half of the difference; what the sheet leaves out is the class's; memory takes none."""
    spec = drive("Intel-S3700-800GB")
    assert [watts(spec, busy) for busy in (0.0, 0.5, 1.0)] == pytest.approx([0.65, 3.325, 6.0])
    without = {missing: spec.model_copy(update={missing: None}) for missing in FIGURES}
    assert [watts(without["power_idle"], busy) for busy in (0.0, 1.0)] == [1.0, 6.0]
    assert [watts(without["power_active"], busy) for busy in (0.0, 1.0)] == [0.65, 4.6]
    frugal = spec.model_copy(update={"power_idle": None, "power_active": 0.5})
    assert watts(frugal, 0.0) == watts(frugal, 1.0) == 0.5
    assert {watts(drive(name), 0.5) for name in MEMORY} == {None}
    assert kwh_a_year(100.0) == pytest.approx(876.6)


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"power_idle": "7W"}, "power_idle is 7 W; at most power_active, 6 W"),
        ({"power_idle": "650"}, "expected: a number above 0 with mW, W or kW"),
        ({"power_active": "0W"}, "0W' is not above 0"),
    ],
)
def test_powers_that_cannot_be_are_refused(overrides: dict[str, str], words: str) -> None:
    """One message with what was found and what is expected."""
    with pytest.raises((InputError, ValueError), match=words):
        drive("Intel-S3700-800GB").with_values(**overrides)
