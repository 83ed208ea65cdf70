"""What mkfs made of an array, in words and as data; and where a journal may be."""

from __future__ import annotations

import pytest

from raidsim.model.core.errors import InputError
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.designs.file_system_words import file_system_geometry, file_system_words
from raidsim.scenarios.documents.document import document_from

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


def described(kind: str, more: str = "") -> ScenarioSpec:
    """A file system on RAID 5 beside a mirror."""
    return document_from(f"""
kernel: linux-6.1
machine: {{model: server, drives: {{model: WD5000AAKS, count: 6}}}}
arrays:
  md0: {{level: raid5, members: [disk0, disk1, disk2, disk3], chunk: 64KiB}}
  md1: {{level: raid1, members: [disk4, disk5]}}
file_systems: {{/srv: {{kind: {kind}, on: md0, size: 64GiB{more}}}}}
workload: {{kind: programs, steps: [{{program: dd, size: 4KiB, block_size: 4KiB}}]}}
""").spec()


def test_data_and_words_agree() -> None:
    """Protects the geometry in results: stripes of the array, the journal's size and place, and the unit of its writes,
    which is the chunk inside the file system and none on a mirror.
    """
    inside = file_system_geometry(described("xfs-v5"))["/srv"]
    assert (inside["stripe_unit"], inside["stripe_width"]) == (64 * KIB, 192 * KIB)
    assert (inside["journal"], inside["journal_on"], inside["log_unit"]) == (64 * MIB, "md0", 64 * KIB)
    apart = described("xfs-v5", ", journal_on: md1")
    assert file_system_geometry(apart)["/srv"] == {**inside, "journal_on": "md1", "log_unit": None}
    assert "journal 64 MiB on md1" in file_system_words(apart)[0]
    aligned = file_system_geometry(described("ext4", ", stripe_aligned: no"))["/srv"]
    assert (aligned["stripe_unit"], aligned["stripe_width"], aligned["capacity"]) == (None, None, 64 * GIB)


@pytest.mark.parametrize(
    ("kind", "device", "found"),
    [
        ("ext4", "md0", "on md0"),
        ("ext4", "disk0", "on disk0"),
        ("xfs-v5", "disk4", "on disk4"),
        ("ext2", "md1", "ext2"),
    ],
)
def test_a_journal_is_on_a_device_of_its_own(kind: str, device: str, found: str) -> None:
    """Protects from a journal on the array itself, on part of an array, or of a file system that has none."""
    with pytest.raises(InputError, match=rf"journal_on: found a journal .*{found}.*; expected: "):
        described(kind, f", journal_on: {device}")


def test_btrfs_is_refused_with_what_to_use_instead() -> None:
    """Protects those who ask for btrfs or ZFS."""
    with pytest.raises(InputError, match="btrfs is not modeled: use ext4 or xfs-v5 on an md array"):
        described("btrfs")
