"""Where the bytes of a file are, and what of it is in memory."""

from __future__ import annotations

import pytest

from raidsim.model.memory.paged_file import ExtentMap, PagedFile, device_file

KIB = 1024


def mapped(*runs: tuple[int, int]) -> ExtentMap:
    """A map of runs at (address, bytes)."""
    extents = ExtentMap()
    for address, size in runs:
        extents.append(address, size)
    return extents


def test_contiguous_appends_are_one_run() -> None:
    """Protects the number of I/Os: what lies behind the end is the same run; anything else is another one."""
    extents = mapped((1000, 100), (1100, 50), (5000, 10))
    assert list(extents.runs()) == [(1000, 150), (5000, 10)]
    assert (len(extents), extents.size, extents.end_address) == (2, 160, 5010)
    assert len(mapped((1000, 100), (1099, 50))) == 2


def test_a_file_without_a_place() -> None:
    """Protects new files: no run, no end, nothing to read."""
    extents = ExtentMap()
    assert (len(extents), extents.size, extents.end_address) == (0, 0, -1)
    assert list(extents.pieces(0, 4096)) == []


@pytest.mark.parametrize(
    ("start", "end", "pieces"),
    [
        (0, 160, [(0, 1000, 100), (100, 5000, 60)]),
        (40, 100, [(40, 1040, 60)]),
        (99, 101, [(99, 1099, 1), (100, 5000, 1)]),
        (100, 120, [(100, 5000, 20)]),
        (150, 999, [(150, 5050, 10)]),
        (160, 999, []),
    ],
)
def test_pieces_are_cut_at_runs_and_at_the_end(start: int, end: int, pieces: list[tuple[int, int, int]]) -> None:
    """Protects every request's address: file position, device address and bytes, only of what has a place."""
    assert list(mapped((1000, 100), (5000, 60)).pieces(start, end)) == pieces


def test_a_device_is_a_file_at_its_own_addresses() -> None:
    """Protects metadata: byte n of the device lies at n."""
    file = device_file("sda", 1 << 30)
    assert list(file.extents.pieces(12345, 20000)) == [(12345, 12345, 20000 - 12345)]
    assert (file.size, file.extents.size) == (1 << 30, 1 << 30)


def test_held_pages_are_those_in_memory_and_on_their_way() -> None:
    """Protects read-ahead from asking twice: a run may alternate between cached and pending pages."""
    file = PagedFile("f", 64 * KIB)
    file.cached.add(0, 8 * KIB)
    file.pending.add(8 * KIB, 16 * KIB)
    file.cached.add(16 * KIB, 20 * KIB)
    file.cached.add(24 * KIB, 28 * KIB)
    assert file.held_until(0) == 20 * KIB
    assert file.held_until(20 * KIB) == 20 * KIB
    assert file.held_since(20 * KIB) == 0
    assert file.held_since(28 * KIB) == 24 * KIB


def test_sets_are_made_when_they_are_needed() -> None:
    """Protects large trees: a file that was never in memory has no sets; one that is asked for stays the same."""
    file = PagedFile("f")
    names = ("active", "cached", "dirty", "marks", "once", "pending")
    assert [getattr(file, f"_{name}") for name in names] == [None] * len(names)
    for name in names:
        assert not list(getattr(file, name)) if name != "marks" else 0 not in file.marks
        assert getattr(file, name) is getattr(file, f"_{name}")


def test_bytes_without_a_place_cannot_be_written() -> None:
    """Protects from a file system that forgot to allocate: write-back says which file has no place."""
    with pytest.raises(AssertionError, match="f: 4096 bytes"):
        PagedFile("f", 4096).place(4096)
