"""Rules of the read buffer: each against arithmetic on paper, and with the rule switched off.

The drive turns in 10 ms and has tracks of 1,000 sectors (100 sectors a millisecond) without skews, and seeks of 5 ms.
"""

import pytest

from raidsim.model.disk.mechanics.geometry import SECTOR, Geometry, Zone
from raidsim.model.disk.mechanics.seek import SeekCurve
from raidsim.model.disk.media import Media

TURN = 0.010
TRACK = 1000 * SECTOR
GEOMETRY = Geometry([Zone(1000, 1000)], heads=2, rpm=6000)
SEEKS = SeekCurve(1000, 0.005, 0.005, 0.005)
FAR = 600 * 2 * TRACK
SIZE = 10 * SECTOR


def _media(**rules: object) -> Media:
    given = {"segments": 3, "segment_bytes": 400 * SECTOR, "look_ahead_bytes": 300 * SECTOR, **rules}
    return Media(GEOMETRY, SEEKS, write_buffer_bytes=1 << 20, write_extents=10, destage_batch_bytes=1 << 16, **given)  # type: ignore[arg-type]


def _hit(media: Media, sector: int, at: float = 1.0) -> bool:
    """Whether a read of 10 sectors at `at` (s) needs no time."""
    return media.read(sector * SECTOR, SIZE, at, at) == at


def test_look_ahead_stops_at_the_end_of_the_track() -> None:
    """With the rule, what is on the next track was not read; without it, it was."""
    for until, read in (("segment", True), ("track", False)):
        media = _media(look_ahead_until=until, first_ahead_bytes=300 * SECTOR)
        media.read(900 * SECTOR, SIZE, 0.0, 0.0)
        assert media.buffered(985 * SECTOR, SIZE, 1.0)
        assert media.buffered(1000 * SECTOR, SIZE, 1.0) is read


def test_look_ahead_goes_one_track_further_for_a_segment_that_began_earlier() -> None:
    """A read within a track reads to its end; one that came from the track before reads the next track, too."""
    media = _media(look_ahead_until="next track", look_ahead_bytes=3000 * SECTOR, segment_bytes=4000 * SECTOR)
    media.read(100 * SECTOR, SIZE, 0.0, 0.0)
    assert media.buffered(980 * SECTOR, SIZE, 1.0)
    assert not media.buffered(1000 * SECTOR, SIZE, 1.0)
    media = _media(look_ahead_until="next track", look_ahead_bytes=3000 * SECTOR, segment_bytes=4000 * SECTOR)
    media.read(995 * SECTOR, SIZE, 0.0, 0.0)
    assert media.buffered(2980 * SECTOR, SIZE, 1.0)
    assert not media.buffered(3000 * SECTOR, SIZE, 1.0)


def test_the_limit_never_falls_back() -> None:
    """A later read of a segment does not take back what the head was to read before."""
    media = _media(look_ahead_until="next track", look_ahead_bytes=3000 * SECTOR, segment_bytes=4000 * SECTOR)
    media.read(995 * SECTOR, SIZE, 0.0, 0.0)
    media.read(1005 * SECTOR, SIZE, 0.02, 0.02)
    assert media.buffered(2980 * SECTOR, SIZE, 1.0)


def test_reading_ahead_overwrites_what_came_before() -> None:
    """A ring of 400 sectors that was read 410 on holds nothing of the first ten; two separate halves do."""
    for wraps, kept in ((False, True), (True, False)):
        media = _media(wraps=wraps, look_ahead_bytes=400 * SECTOR)
        media.read(0, SIZE, 0.0, 0.0)
        assert media.buffered(400 * SECTOR, SIZE, 1.0)
        assert _hit(media, 0) is kept


def test_the_ring_is_given_up_as_the_head_goes_on() -> None:
    """Soon after the read its data is still there; when the look-ahead is over, it is not."""
    media = _media(wraps=True, look_ahead_bytes=400 * SECTOR)
    ready = media.read(0, SIZE, 0.0, 0.0)
    assert media.buffered(0, SIZE, ready + 0.003)
    assert not media.buffered(0, SIZE, ready + 0.005)


def test_what_was_sent_may_be_dropped() -> None:
    """A drive that keeps only what it read ahead serves the same read again from the platters."""
    for keeps, kept in ((True, True), (False, False)):
        media = _media(keeps_sent=keeps)
        media.read(0, SIZE, 0.0, 0.0)
        assert media.buffered(10 * SECTOR, SIZE, 1.0)
        assert media.buffered(0, SIZE, 1.0) is kept


def test_a_write_drops_the_segment_that_it_overwrites() -> None:
    """Cached or not, a write among the data read ahead costs all of it; without the rule the segment stays."""
    for clears in (False, True):
        for cached in (False, True):
            media = _media(writes_clear=clears)
            media.read(0, SIZE, 0.0, 0.0)
            if cached:
                media.in_flight = SIZE
                media.accept(100 * SECTOR, SIZE, 0.5)
            else:
                media.write(100 * SECTOR, SIZE, 0.5, 0.5, 0.5)
            assert media.buffered(20 * SECTOR, SIZE, 1.0) is not clears


def test_a_write_drops_parked_segments_and_no_others() -> None:
    """Segments that hold nothing of what is overwritten stay, whichever the head is at."""
    media = _media(writes_clear=True)
    media.read(0, SIZE, 0.0, 0.0)
    media.read(FAR, SIZE, 0.5, 0.5)
    media.write(SECTOR, SIZE, 1.0, 1.0, 1.0)
    assert not media.buffered(20 * SECTOR, SIZE, 1.5)
    assert media.buffered(FAR + 20 * SECTOR, SIZE, 1.5)


def test_a_written_block_can_be_read_when_it_is_on_the_platters() -> None:
    """With the rule a cached write stays in a segment, and one that goes on where it ended joins it."""
    for keeps in (False, True):
        media = _media(keeps_written=keeps)
        media.in_flight = 2 * SIZE
        media.accept(FAR, SIZE, 0.0)
        media.accept(FAR + SIZE, SIZE, 0.001)
        assert not media.unwritten(1.0)
        media.read(0, SIZE, 1.0, 1.0)
        assert media.buffered(FAR + 5 * SECTOR, SIZE, 2.0) is keeps


def test_sectors_that_pass_while_the_head_waits_are_kept() -> None:
    """The head arrives 500 sectors before the first one: with the rule those in front are there, up to a segment."""
    for keeps in (False, True):
        # 5 ms of seek are half a turn, so that the head arrives at sector 500 of the track.
        media = _media(keeps_before=keeps)
        media.read(FAR + 800 * SECTOR, SIZE, 0.0, 0.0)
        assert media.buffered(FAR + 700 * SECTOR, SIZE, 1.0) is keeps
        assert not media.buffered(FAR + 450 * SECTOR, SIZE, 1.0)


def test_a_read_may_begin_in_its_middle() -> None:
    """The head arrives in the middle of the read: with the rule, the read is complete one turn later."""
    offset, size = FAR + 400 * SECTOR, 200 * SECTOR
    late = _media().read(offset, size, 0.0, 0.0)
    soon = _media(reads_at_once=True).read(offset, size, 0.0, 0.0)
    assert late == pytest.approx(0.005 + 0.009 + 0.002, abs=1e-6)
    assert soon == pytest.approx(0.005 + TURN, abs=1e-6)


def test_another_head_of_the_cylinder_takes_its_time() -> None:
    """From one track of a cylinder to the other: without the time for it the head only waits for the platter."""
    for switch_s in (0.0, 0.002):
        media = Media(GEOMETRY, SEEKS, head_switch_s=switch_s)
        media.read(0, SIZE, 0.0, 0.0)
        # Sector 20 of the second track passes 0.1 ms after the end of the first read: too soon for a switch of 2 ms.
        ready = media.read(TRACK + 20 * SECTOR, SIZE, 0.0001, 0.0001)
        assert ready == pytest.approx(0.0003 + (TURN if switch_s else 0.0), abs=1e-6)
        # On the same track there is nothing to switch.
        again = media.read(TRACK + 40 * SECTOR, SIZE, ready, ready)
        assert again == pytest.approx(ready + 0.0002, abs=1e-6)
