"""Which side of a mirror serves a read."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.zfs.map.mirror import Mirror, side_load


def test_idle_sides_take_turns_of_2_mib() -> None:
    """Offset >> 21 chooses among equal sides, and among the surviving ones."""
    vdev = Mirror(3, 12)
    assert [vdev.reads(mib << 20, 16384)[0].member for mib in range(8)] == [0, 0, 1, 1, 2, 2, 0, 0]
    assert [vdev.reads(mib << 20, 16384, frozenset([1]))[0].member for mib in range(6)] == [0, 0, 2, 2, 0, 0]


def test_the_less_loaded_side_serves() -> None:
    """Requests under way count more than the turn; sides of equal load take turns."""
    vdev = Mirror(2, 12)
    assert vdev.side(0, frozenset(), [1, 0]) == 1
    assert vdev.side(2 << 20, frozenset(), [1, 1]) == 1
    assert vdev.side(0, frozenset([1]), [9, 0]) == 0


def test_a_side_whose_head_is_there_is_less_loaded() -> None:
    """A move of the head weighs as one request; on a rotating side as five, or two if it is near."""
    assert side_load(3, 800, 800, rotating=True) == 3
    assert side_load(3, 800, 801, rotating=False) == 4
    assert side_load(3, 800, 900, rotating=True) == 5
    assert side_load(3, 800, 90000, rotating=True) == 8


def test_recorded_reads_of_a_rotating_mirror() -> None:
    """1,013 reads of 32 threads: 988 go to the side with the least load, by the offset alone 969 would."""
    content = json.loads(gzip.decompress((Path(__file__).parent / "rotating_mirror.json.gz").read_bytes()))
    vdev = Mirror(2, 12)
    done: list[list[int]] = [[], []]
    last = [-1, -1]
    same = by_offset = 0
    for issued, taken, member, sector, sectors in content["reads"]:
        under_way = [sum(end > issued for end in ends) for ends in done]
        loads = [side_load(under_way[side], last[side], sector, rotating=True) for side in (0, 1)]
        same += vdev.side(512 * sector, frozenset(), loads) == member
        by_offset += vdev.side(512 * sector, frozenset()) == member
        done[member].append(issued + taken)
        last[member] = sector + sectors
    assert (same, by_offset) == (988, 969)


def test_writes_and_scrubs_go_to_all_sides() -> None:
    """A write leaves out a lost side only."""
    vdev = Mirror(3, 12)
    assert [piece.member for piece in vdev.writes(8192, 5000)] == [0, 1, 2]
    assert {(piece.sector, piece.sectors) for piece in vdev.scrubs(8192, 5000)} == {(16, 16)}
    assert [piece.member for piece in vdev.writes(8192, 5000, frozenset([1]))] == [0, 2]
    assert vdev.asize(5000) == 8192


def test_a_disk_alone_cannot_be_lost() -> None:
    """A stripe has one side."""
    with pytest.raises(InputError, match="1 of 1 members lost"):
        Mirror(1, 12).reads(0, 4096, frozenset([0]))
