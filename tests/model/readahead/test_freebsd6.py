"""FreeBSD's read-ahead, in blocks of 16 KiB."""

from __future__ import annotations

from raidsim.model.readahead.freebsd6 import BLOCK, ReadAheadFreeBsd6

CALL = 4


def read_file(read_max: int, blocks: int, size: int = 10**6) -> list[tuple[int, int, int]]:
    """A program reads in calls of 64 KiB: (block it is at, first block submitted, end) of each read-ahead."""
    state = ReadAheadFreeBsd6(read_max * BLOCK, size * BLOCK)
    out = []
    for block in range(blocks):
        call_end = (block // CALL + 1) * CALL * BLOCK
        window = state.touch(block * BLOCK, call_end)
        if window is not None:
            out.append((block, window[0] // BLOCK, window[1] // BLOCK))
        assert state.touch(block * BLOCK, call_end) is None, "asked again, there is nothing more to submit"
    return out


def test_the_default_reads_a_cluster_ahead_at_the_last_block() -> None:
    """Protects vfs.read_max 8: the next 128 KiB go out when the program is at the last 16 KiB of the ones before."""
    steady = [(at, start, end) for at, start, end in read_file(8, 100) if at > 20]
    assert all(start == at + 1 and end == start + 8 for at, start, end in steady)
    assert len(steady) == 10


def test_a_large_read_max_keeps_16_clusters_on_their_way() -> None:
    """Protects what tuning gives: with 128 there are always 2 MiB ahead, a cluster more for each one read."""
    steady = [(at, start, end) for at, start, end in read_file(128, 600) if at > 200]
    assert all(end - start == 8 and 127 <= end - at <= 135 for at, start, end in steady)


def test_it_grows_with_what_has_been_read_in_order() -> None:
    """Protects f_seqcount: no further ahead than as many blocks as were read so far; clusters are added whole."""
    for at, _, end in read_file(128, 120):
        assert end - at <= at + 1 + 8


def test_a_random_read_reads_what_was_asked_for() -> None:
    """Protects random readers: after a seek only the blocks of the call are read, and one cluster at most."""
    state = ReadAheadFreeBsd6(128 * BLOCK, 10**9)
    assert state.touch(1000 * BLOCK + 5, 1000 * BLOCK + 512) == (1000 * BLOCK, 1001 * BLOCK)
    assert state.touch(50 * BLOCK, 54 * BLOCK) == (50 * BLOCK, 54 * BLOCK)
    assert state.touch(200 * BLOCK, 264 * BLOCK) == (200 * BLOCK, 208 * BLOCK)


def test_the_triggers_are_where_something_happens() -> None:
    """Protects the shortcut of the cache: asking at the triggers alone submits the same."""
    state = ReadAheadFreeBsd6(32 * BLOCK, 10**5 * BLOCK)
    out, position = [], 0
    while position < 300 * BLOCK:
        window = state.touch(position, position + 1)
        if window is not None:
            out.append((position, *window))
        following = state.next_trigger(position)
        assert following > position
        position = following
    every = ReadAheadFreeBsd6(32 * BLOCK, 10**5 * BLOCK)
    places = [(at, every.touch(at, at + 1)) for at in range(0, 300 * BLOCK, 4096)]
    assert [(at, *window) for at, window in places if window is not None] == out


def test_nothing_beyond_the_end() -> None:
    """Protects the end of a file that is not a whole number of blocks."""
    state = ReadAheadFreeBsd6(8 * BLOCK, 20 * BLOCK + 100)
    end = 0
    for block in range(21):
        window = state.touch(block * BLOCK, (block + 1) * BLOCK)
        if window is not None:
            assert window[0] == end
            end = window[1]
    assert end == 20 * BLOCK + 100
