"""How byte ranges split: complete, in order, never two pieces in one place, and the same as chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raidsim.model.core.errors import ModelError
from raidsim.model.layouts import ByteStripedLayout, Layout, LinearLayout, NestedLayout, StripedLayout, layout_for

CHUNK = 8192

LAYOUTS: dict[str, Callable[[], Layout]] = {
    "linear": lambda: layout_for("linear", 3, None, [5000, 100, 90000]),
    "raid0": lambda: layout_for("raid0", 3, CHUNK, 12 * CHUNK),
    "raid0 unequal": lambda: layout_for("raid0", 4, CHUNK, [9 * CHUNK, 4 * CHUNK + 1, 9 * CHUNK, 2 * CHUNK]),
    "raid1": lambda: layout_for("raid1", 3, CHUNK, 12 * CHUNK),
    "raid3": lambda: layout_for("raid3", 5, None, 8192),
    "raid4": lambda: layout_for("raid4", 4, CHUNK, 12 * CHUNK),
    "raid5": lambda: layout_for("raid5", 5, CHUNK, 12 * CHUNK + 100),
    "raid6": lambda: layout_for("raid6", 6, CHUNK, 12 * CHUNK, "right-asymmetric"),
    "raid10 near": lambda: layout_for("raid10", 3, CHUNK, 11 * CHUNK, "n2"),
    "raid10 far": lambda: layout_for("raid10", 5, CHUNK, 13 * CHUNK, "f3"),
    "raid10 offset": lambda: layout_for("raid10", 4, CHUNK, 13 * CHUNK, "o3"),
    "raid10 controller": lambda: layout_for("raid10", 6, CHUNK, 12 * CHUNK, "striped-mirrors", copies=3),
    "raid01": lambda: layout_for("raid01", 6, CHUNK, 12 * CHUNK),
    "raid50": lambda: layout_for("raid50", 8, CHUNK, 12 * CHUNK, groups=2),
    "raid60": lambda: layout_for("raid60", 10, CHUNK, 12 * CHUNK, "parity-first"),
}


@pytest.mark.parametrize("name", LAYOUTS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_pieces_cover_the_range_in_order(name: str, data: st.DataObject) -> None:
    """The pieces of any range follow each other without gap, stay on their member, and agree with the chunk map."""
    layout = LAYOUTS[name]()
    offset = data.draw(st.integers(0, layout.capacity - 1))
    size = data.draw(st.integers(1, layout.capacity - offset))
    extents = layout.extents(offset, size)
    at = offset
    for member, member_offset, length, logical in extents:
        assert logical == at
        assert 0 <= member_offset <= member_offset + length <= layout.member_bytes[member]
        if layout.chunk_bytes:
            chunk, inside = divmod(logical, layout.chunk_bytes)
            place, row = layout.map_chunk(chunk)
            assert (member, member_offset) == (place, row * layout.chunk_bytes + inside)
            assert inside + length <= layout.chunk_bytes
        at += length
    assert at == offset + size
    copies = layout.copies(offset, size)
    assert [(*places[0], length, logical) for logical, length, places in copies] == extents


@pytest.mark.parametrize("name", LAYOUTS)
def test_no_two_pieces_share_a_place(name: str) -> None:
    """Over the whole array no byte of any member is used twice, neither by data nor by copies nor by parity."""
    layout = LAYOUTS[name]()
    ranges = sorted(
        (member, at, at + length) for _, length, places in layout.copies(0, layout.capacity) for member, at in places
    )
    for (member, _, end), (other, start, _) in pairwise(ranges):
        assert member != other or end <= start
    used = sum(end - start for _, start, end in ranges)
    assert used == layout.capacity * len(layout.copies(0, 1)[0][2])


@pytest.mark.parametrize("name", ["raid3", "raid4", "raid5", "raid6"])
def test_data_and_parity_fill_each_row(name: str) -> None:
    """Each row has every member once, and `locate`, `row` and `extents` tell the same story."""
    layout = LAYOUTS[name]()
    assert hasattr(layout, "locate")
    assert hasattr(layout, "row")
    for offset in range(0, layout.capacity, 1024 if layout.chunk_bytes > 1024 else 100):
        row, index, inside = layout.locate(offset)
        data, p, q = layout.row(row)
        assert sorted([*data, p, *([] if q is None else [q])]) == list(range(layout.members))
        member, member_offset, _, _ = layout.extents(offset, 1)[0]
        assert (member, member_offset) == (data[index], row * layout.chunk_bytes + inside)


@pytest.mark.parametrize("name", LAYOUTS)
def test_ranges_outside_are_refused(name: str) -> None:
    """An I/O beyond the end, before the start or of no bytes is a mistake of the caller, and says so."""
    layout = LAYOUTS[name]()
    for offset, size in ((layout.capacity, 1), (layout.capacity - 1, 2), (-1, 2), (0, 0), (5, -1)):
        with pytest.raises(ModelError):
            layout.extents(offset, size)
        with pytest.raises(ModelError):
            layout.copies(offset, size)


def test_raid3_uses_all_members_in_every_io() -> None:
    """A sector is 512 bytes of each data member, so a small read is widened to whole sectors on all of them."""
    layout = layout_for("raid3", 5, None, 8192)
    assert isinstance(layout, ByteStripedLayout)
    assert layout.sector_bytes == 2048
    assert layout.member_extent(0, 2048) == (0, 512)
    assert layout.member_extent(2047, 2) == (0, 1024)
    assert layout.member_extent(4096, 16384) == (1024, 4096)
    with pytest.raises(ModelError):
        layout.member_extent(layout.capacity, 1)


def test_zones_of_unequal_members() -> None:
    """On paper: members of 2, 4 and 1 chunks are striped three wide, then two wide, then alone."""
    layout = layout_for("raid0", 3, CHUNK, [2 * CHUNK, 4 * CHUNK, CHUNK], "alternate")
    assert isinstance(layout, StripedLayout)
    assert layout.zones == [(0, 3, (0, 1, 2), 0), (3, 5, (0, 1), 1), (5, 7, (1,), 2)]
    assert [layout.map_chunk(chunk) for chunk in range(7)] == [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (1, 2), (1, 3)]
    original = layout_for("raid0", 3, CHUNK, [2 * CHUNK, 4 * CHUNK, CHUNK], "original")
    assert [original.map_chunk(chunk) for chunk in (3, 4)] == [(1, 1), (0, 1)]


def test_linear_has_segments_but_no_chunks() -> None:
    """Asking a linear array for a chunk is an error, not chunk 0."""
    layout = layout_for("linear", 2, None, [1000, 500])
    assert isinstance(layout, LinearLayout)
    assert layout.segments == [(0, 1000, 0, 0), (1000, 500, 1, 0)]
    assert layout.extents(900, 200) == [(0, 900, 100, 900), (1, 0, 100, 1000)]
    with pytest.raises(ModelError, match="no chunks"):
        layout.map_chunk(0)


def test_nested_members_are_numbered_group_by_group() -> None:
    """RAID 50 fills a row of the first group, then one of the second; a controller's RAID 10 equals md's near."""
    raid50 = layout_for("raid50", 6, CHUNK, 3 * CHUNK)
    assert [raid50.map_chunk(chunk) for chunk in range(5)] == [(0, 0), (1, 0), (3, 0), (4, 0), (2, 1)]
    assert isinstance(raid50, NestedLayout)
    assert [raid50.place(member) for member in (0, 2, 3, 5)] == [(0, 0), (0, 2), (1, 0), (1, 2)]
    with pytest.raises(ModelError, match="no member 6"):
        raid50.place(6)
    controller = layout_for("raid10", 4, CHUNK, 3 * CHUNK, "striped-mirrors")
    near = layout_for("raid10", 4, CHUNK, 3 * CHUNK, "near")
    assert [controller.map_copies(c) for c in range(6)] == [near.map_copies(c) for c in range(6)]
    mirror = layout_for("raid01", 4, CHUNK, 3 * CHUNK)
    assert [mirror.map_copies(c) for c in (0, 1, 2)] == [((0, 0), (2, 0)), ((1, 0), (3, 0)), ((0, 1), (2, 1))]
