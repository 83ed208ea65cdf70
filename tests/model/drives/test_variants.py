"""Another capacity of a drive is another drive of its family."""

from __future__ import annotations

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.disk.spec import DriveSpec
from raidsim.model.drives.catalogue import drive, drive_names
from raidsim.model.files.description_errors import changed
from raidsim.model.solid_state.spec import SolidStateSpec

ZONED = [name for name in drive_names() if isinstance(getattr(drive(name), "zones", 0), tuple)]


@pytest.mark.parametrize("name", sorted({*drive_names()} - {*ZONED}))
@pytest.mark.parametrize("share", [0.5, 2.0])
def test_every_drive_has_siblings(name: str, share: float) -> None:
    """Protects planners: half and twice the capacity of any drive can be had by one field, and the medium stays as
    dense, the flash as spare and the endurance per byte as it was.
    """
    base = drive(name)
    size = int(base.capacity * share) // (1 << 20) * (1 << 20)
    other = changed(base, {"capacity": f"{size}B"})
    assert other == base.with_values(capacity=size)
    assert other.capacity == size
    if isinstance(base, DriveSpec):
        assert isinstance(other, DriveSpec)
        assert other.outer_media_rate == base.outer_media_rate
        if 2 <= base.heads <= 11 and base.heads % (2 * base.actuators) == 0:
            assert other.heads == base.heads * share
        return
    assert isinstance(base, SolidStateSpec)
    assert isinstance(other, SolidStateSpec)
    assert other.flash / other.capacity == pytest.approx(base.flash / base.capacity, rel=1e-3)
    assert (other.program_time, other.channels, other.command_rate) == (
        *(base.program_time, base.channels),
        base.command_rate,
    )
    if base.endurance is not None and other.endurance is not None:
        assert other.endurance / other.capacity == pytest.approx(base.endurance / base.capacity, rel=1e-3)


def test_what_is_given_too_stays() -> None:
    """Counter-test: heads, dies and flash of the user's own are not replaced, and a bad size is told as one."""
    disk = drive("IronWolf-8TB").with_values(capacity="4TB", heads=12)
    assert isinstance(disk, DriveSpec)
    assert disk.heads == 12
    flash = drive("Samsung-990-PRO-2TB").with_values(capacity="1TB", dies=32, flash="2154GB")
    assert isinstance(flash, SolidStateSpec)
    assert (flash.dies, flash.flash) == (32, 2154 * 10**9)
    with pytest.raises(InputError, match="much"):
        changed(drive("IronWolf-8TB"), {"capacity": "much"})


def test_a_disk_has_no_more_platters_than_fit() -> None:
    """Protects large siblings: eleven platters at most, so that the tracks become denser from there."""
    disk = drive("WD-Gold-12TB").with_values(capacity="48TB")
    assert isinstance(disk, DriveSpec)
    assert disk.heads == 22
