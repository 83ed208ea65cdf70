"""The power of drives: what the catalogue gives, and the line between idle and busy."""

from __future__ import annotations

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.disk.spec import DriveSpec
from raidsim.model.drives.catalogue import drive, drive_names, drive_sources
from raidsim.model.drives.power import kwh_a_year, watts

_KNOWN = [name for name in drive_names() if {"power_idle", "power_active"} & drive_sources(name).keys()]


@pytest.mark.parametrize("name", _KNOWN)
def test_figures_of_the_catalogue_are_those_of_such_a_drive(name: str) -> None:
    """Both figures or none, read from a sheet, idle below busy, and in the range of disks and of flash."""
    spec, sources = drive(name), drive_sources(name)
    low, high = (2.0, 20.0) if isinstance(spec, DriveSpec) else (0.02, 40.0)
    assert spec.power_idle is not None
    assert spec.power_active is not None
    assert low <= spec.power_idle < spec.power_active <= high
    assert sources["power_idle"].source
    assert sources["power_active"].source


def test_power_rises_with_utilization_and_is_not_guessed() -> None:
    """Half as busy takes half of the difference; without both figures there is no power."""
    spec = drive("Intel-S3700-800GB")
    assert [watts(spec, busy) for busy in (0.0, 0.5, 1.0)] == pytest.approx([0.65, 3.325, 6.0])
    for missing in ("power_idle", "power_active"):
        assert watts(spec.model_copy(update={missing: None}), 0.5) is None
    assert kwh_a_year(100.0) == pytest.approx(876.6)
    assert len(_KNOWN) >= 6


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
