"""Dumps of /sys/block: what they say of disks and of md's stripe cache."""

from __future__ import annotations

import pytest

from raidsim.calibration.inspection.inspection import Inspection, Source, inspect
from raidsim.model.core.errors import InputError
from raidsim.model.disk.spec import DriveSpec
from raidsim.scenarios.documents.document import document_from
from raidsim.tests.calibration.formats.pastes import PASTES
from raidsim.tests.calibration.inspection.mdstat_texts import LEVELS, text

SETTINGS = """$ grep . /sys/block/sda/size /sys/block/sda/queue/*
/sys/block/sda/size:7814037168
/sys/block/sda/queue/logical_block_size:512
/sys/block/sda/queue/physical_block_size:4096
/sys/block/sda/queue/rotational:1
/sys/block/sda/queue/write_cache:write through
/sys/block/sda/queue/read_ahead_kb:128
/sys/block/sda/device/model:ST4000VN008-2DR1
/sys/block/md0/md/stripe_cache_size:4096
"""


def made(*texts: str) -> Inspection:
    """What is made of texts."""
    return inspect([Source(f"x{number}", each) for number, each in enumerate(texts)], "x")


def test_settings_of_disks_and_arrays() -> None:
    """Protects sizes, caches and md's stripe cache; a setting that is not read is counted."""
    found = made(text(LEVELS["raid5"]), SETTINGS)
    spec = document_from(found.text, "x").spec()
    assert spec.arrays["md0"].stripe_cache == 4096
    drive = spec.machine.drives["sda"].spec()
    assert isinstance(drive, DriveSpec)
    assert (drive.capacity, drive.write_cache) == (4000787030016, False)
    assert [note for note in found.notes if "1 other settings of /sys/block" in note]
    assert made(text(LEVELS["raid5"])).document["arrays"]["md0"].get("stripe_cache") is None


@pytest.mark.parametrize("way", sorted(PASTES))
def test_a_pasted_dump(way: str) -> None:
    """Protects a dump however it is pasted: the same drive, or none."""
    whole = made(text(LEVELS["raid5"]), SETTINGS).document
    try:
        pasted = made(text(LEVELS["raid5"]), PASTES[way](SETTINGS)).document
    except InputError:
        assert "wrapped" in way
        return
    assert pasted == whole


def test_a_damaged_dump_is_refused() -> None:
    """Protects from figures that are none."""
    with pytest.raises(InputError, match=r"x0:2:21: found 'large'; expected: a whole number"):
        made(SETTINGS.replace("7814037168", "large"))
    with pytest.raises(InputError, match="a setting and its value"):
        made(SETTINGS.replace("read_ahead_kb:128", "read_ahead_kb 128"))
