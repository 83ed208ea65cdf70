"""What the buffer of a drive holds, and what the head does between commands, against arithmetic on paper.

The drive here turns at 6,000 rpm (10 ms a turn) and has one zone of tracks of 512,000 bytes (51.2 MB/s without
skews), two heads and seeks of 5 ms whatever the distance.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raidsim.model.disk.destaging import DESTAGE_UNIT
from raidsim.model.disk.mechanics.geometry import Geometry, Zone
from raidsim.model.disk.mechanics.seek import SeekCurve
from raidsim.model.disk.media import Media
from raidsim.model.disk.segments import DirtyExtents, ParkedSegments, Segment

TURN = 0.010
TRACK = 512_000
SEEK = 0.005
KIB = 1024
GEOMETRY = Geometry([Zone(1000, 1000)], heads=2, rpm=6000)
SEEKS = SeekCurve(1000, SEEK, SEEK, SEEK)
FAR = 600 * 2 * TRACK
EPS = 1e-8


def _media(
    segments: int = 4,
    look_ahead: int = 128_000,
    buffer: int = 1 << 20,
    extents: int = 100,
    low_water: int = 32_000,
    returns: bool = True,
) -> Media:
    return Media(
        GEOMETRY,
        SEEKS,
        segments=segments,
        segment_bytes=256_000 if segments else 0,
        look_ahead_bytes=look_ahead,
        write_buffer_bytes=buffer,
        write_extents=extents,
        destage_batch_bytes=256_000,
        low_water_bytes=low_water,
        look_ahead_returns=returns,
    )


def _media_time(media: Media) -> float:
    return media.seek_s + media.rotation_s + media.transfer_s


def test_parked_segments_drop_the_least_recently_used() -> None:
    """The third of three segments pushes out the first, unless that was used in between."""
    parked = ParkedSegments(2, 1000)
    segments = [Segment(start, start + 10, start + 100, 0.0, 0.0, 0.0) for start in (1000, 2000, 3000)]
    parked.park(segments[0])
    parked.park(segments[1])
    parked.take(segments[0])
    parked.park(segments[0])
    parked.park(segments[2])
    assert parked.find(1050) is segments[0]
    assert parked.find(2050) is None
    assert parked.find(3050) is segments[2]
    assert parked.find(3101) is None
    assert len(parked) == 2


def test_no_parked_segments_hold_nothing() -> None:
    """With one segment in all, only the one being read exists."""
    parked = ParkedSegments(0, 1000)
    parked.park(Segment(0, 10, 100, 0.0, 0.0, 0.0))
    assert parked.find(5) is None


def test_dirty_extents_merge_and_answer() -> None:
    """Neighboring writes become one extent; what is only partly dirty is not held."""
    dirty = DirtyExtents()
    dirty.add(1000, 2000)
    dirty.add(2000, 3000)
    dirty.add(5000, 6000)
    assert len(dirty) == 2
    assert dirty.holds(1500, 2500)
    assert not dirty.holds(2500, 3500)
    assert dirty.touches(3000, 3500)
    assert not dirty.touches(3001, 3500)


def test_first_read_waits_for_the_platter() -> None:
    """A quarter of a turn in, at time 0 on cylinder 0: 2.5 ms of rotation and 0.08 ms to read 4,096 bytes."""
    media = _media()
    assert media.read(TRACK // 4, 4096, 0.0, 0.0) == pytest.approx(0.0025 + 4096 / TRACK * TURN, abs=EPS)
    assert not media.hit
    assert media.first_s == pytest.approx(0.0025, abs=EPS)


def test_the_next_read_finds_the_head_ahead() -> None:
    """Look-ahead: 1 ms after the first read the next block is in the buffer; without it, a turn is lost."""
    ahead, without = _media(), _media(look_ahead=0)
    for media in (ahead, without):
        assert media.read(0, 4096, 0.0, 0.0) == pytest.approx(0.00008, abs=EPS)
    assert ahead.read(4096, 4096, 0.001, 0.001) == 0.001
    assert ahead.hit
    assert without.read(4096, 4096, 0.001, 0.001) == pytest.approx(TURN + 0.00016, abs=EPS)
    assert not without.hit


def test_a_read_that_outruns_the_head_waits_for_it() -> None:
    """Asked for at once, 100,000 bytes are there when the head has passed them: 1.95 ms after it began."""
    media = _media()
    media.read(0, 4096, 0.0, 0.0)
    assert media.read(4096, 95_904, 0.0001, 0.0001) == pytest.approx(100_000 / TRACK * TURN, abs=EPS)


def test_a_small_gap_is_read_over() -> None:
    """Skipping 60,000 bytes (a parity chunk) costs their 1.17 ms under the head, not a seek and a turn."""
    media = _media()
    media.read(0, 4096, 0.0, 0.0)
    assert media.read(64_096, 4096, 0.0001, 0.0001) == pytest.approx(68_192 / TRACK * TURN, abs=EPS)
    assert media.seek_s == 0.0


def test_a_wide_gap_is_gone_round() -> None:
    """Three tracks further on (15 ms of reading beyond the first) the arm is quicker than reading all between."""
    media = Media(GEOMETRY, SEEKS, segments=2, segment_bytes=1 << 22, look_ahead_bytes=1 << 22)
    media.read(0, 4096, 0.0, 0.0)
    ready = media.read(3 * TRACK + TRACK // 2, 4096, 0.0001, 0.0001)
    assert ready == pytest.approx(0.015 + 0.00008, abs=EPS)
    assert media.seek_s == pytest.approx(SEEK)


def test_look_ahead_stops_at_its_limit() -> None:
    """After a long pause the lead is 128,000 bytes and no more; the byte after it needs the platter again."""
    media = _media()
    media.read(0, 4096, 0.0, 0.0)
    assert media.buffered(4096, 128_000, 1.0)
    media = _media()
    media.read(0, 4096, 0.0, 0.0)
    assert not media.buffered(4096, 128_512, 1.0)
    assert media.read(4096, 128_512, 1.0, 1.0) > 1.001


def test_the_head_reads_on_when_the_host_makes_room() -> None:
    """Once 64,000 bytes were taken out, the head refills them: the following read of as much is there in time."""
    media = _media()
    media.read(0, 4096, 0.0, 0.0)
    assert media.read(4096, 64_000, 1.0, 1.0) == 1.0
    assert media.buffered(68_096, 128_000, 1.1)


def test_two_streams_keep_their_places() -> None:
    """Returning to a stream needs no more than what was not read ahead; with one segment it is forgotten."""
    several, single = _media(), _media(segments=1)
    for media in (several, single):
        media.read(0, 4096, 0.0, 0.0)
        media.read(FAR, 4096, 0.5, 0.5)
    assert several.read(4096, 4096, 1.0, 1.0) == 1.0
    assert single.read(4096, 4096, 1.0, 1.0) > 1.0


def test_no_segments_means_no_look_ahead() -> None:
    """A drive without a read buffer works, and reads everything from the platters."""
    media = _media(segments=0, look_ahead=0)
    media.read(0, 4096, 0.0, 0.0)
    assert not media.buffered(0, 4096, 1.0)
    assert media.read(0, 4096, 1.0, 1.0) == pytest.approx(1.0 + 0.00008, abs=EPS)


def test_dirty_data_is_read_from_the_buffer() -> None:
    """A cached write that is not on the platters yet serves a read at once."""
    media = _media()
    media.in_flight = 4096
    media.accept(FAR, 4096, 0.0)
    assert media.read(FAR, 4096, 0.0001, 0.0001) == 0.0001
    assert media.hit


def _accept(media: Media, offset: int, size: int, at: float) -> None:
    media.in_flight += size
    media.accept(offset, size, at)


def test_idle_time_destages() -> None:
    """A 4,096-byte extent half a turn away on another cylinder: 5 ms of seek land exactly on it."""
    media = _media()
    _accept(media, FAR + TRACK // 2, 4096, 0.0)
    media.settle(0.0001)
    assert media.dirty.total == 0
    assert media.flush(0.0001) == pytest.approx(0.005 + 0.00008, abs=EPS)
    assert media.seek_s == pytest.approx(SEEK)


def test_sequential_writes_go_out_without_losing_a_turn() -> None:
    """1,024,000 bytes in two tracks' worth of writes take two turns once the head is there."""
    media = _media()
    for i in range(8):
        _accept(media, FAR + i * 128_000, 128_000, 0.0)
    assert media.flush(0.0) == pytest.approx(TURN + 2 * TURN, abs=EPS)
    assert media.rotation_s == pytest.approx(0.005, abs=EPS)


def test_scattered_writes_go_out_in_the_order_of_the_platter() -> None:
    """Eight extents on one track, cached in reverse, take one turn; first come first served would take eight."""
    media = _media()
    for i in reversed(range(8)):
        _accept(media, FAR + i * TRACK // 8 // 512 * 512, 512, 0.0)
    assert media.flush(0.0) < SEEK + 2 * TURN


def test_room_appears_when_destaging_has_made_it() -> None:
    """A full buffer of 256,000 bytes: 128,000 more wait for the head to write as much, not for all of it."""
    media = _media(buffer=256_000)
    _accept(media, FAR, 256_000, 0.0)
    assert not media.has_room(FAR + 256_000, 128_000, 0.0)
    room = media.make_room(FAR + 256_000, 128_000, 0.0)
    assert room == pytest.approx(TURN + DESTAGE_UNIT / TRACK * TURN, abs=1e-6)
    assert media.has_room(FAR + 256_000, 128_000, room)


def test_the_number_of_extents_is_limited_too() -> None:
    """Two extents fill a table of two, although the bytes would fit; a neighbor of one of them still goes in."""
    media = _media(extents=2)
    _accept(media, FAR, 4096, 0.0)
    _accept(media, 2 * FAR // 3 // 512 * 512, 4096, 0.0)
    assert not media.has_room(0, 4096, 0.0)
    assert media.has_room(FAR + 4096, 4096, 0.0)


def test_destaging_waits_for_the_look_ahead() -> None:
    """While the lead fills (2.5 ms) the head stays; when it is full it goes, and comes back to refill it."""
    media = _media()
    media.read(0, 4096, 0.0, 0.0)
    media.read(4096, 4096, 0.0001, 0.0001)
    _accept(media, FAR, 128_000, 0.0002)
    media.settle(0.0024)
    assert media.dirty.total == 128_000
    media.settle(0.0030)
    assert media.dirty.total == 0
    media.read(8192, 64_000, 0.004, 0.004)
    assert media.hit
    assert media.buffered(72_192, 128_000, 0.2)


def _writes_after_reads(returns: bool) -> float:
    """How long 4 MB of sequential writes take that fill the buffer at once, after two reads in order far away."""
    media = _media(look_ahead=256_000, buffer=256 * KIB, returns=returns)
    media.read(0, 4096, 0.0, 0.0)
    now = media.read(4096, 64_000, 0.0001, 0.0001)
    for number in range(16):
        at = FAR + number * 256_000
        now = media.make_room(at, 256_000, now) + 0.003
        _accept(media, at, 256_000, now)
    return now


def test_writes_that_follow_each_other_keep_the_head() -> None:
    """Protects copies: where reading ahead belongs to the read command, the head does not go back between writes."""
    stays, goes = _writes_after_reads(returns=False), _writes_after_reads(returns=True)
    assert stays < 16 * 1.5 * TURN, "half a turn of writing for each, at most a turn until its place comes round"
    assert goes > stays + 8 * SEEK, "the counter-test: two moves of the arm for a batch"


def test_the_head_goes_back_with_the_next_read() -> None:
    """Protects streams: a read after the write makes the head read ahead again, as far as before."""
    media = _media(returns=False)
    media.read(0, 4096, 0.0, 0.0)
    media.read(4096, 4096, 0.0001, 0.0001)
    media.make_room(FAR, 128_000, 0.0002)
    _accept(media, FAR, 128_000, 0.0002)
    media.settle(0.1)
    assert media.dirty.total == 0
    stream = media.stream
    assert stream is not None
    held = media._end_of(stream)
    media.settle(0.2)
    assert media._end_of(stream) == held, "unasked it does not"
    media.read(8192, 4096, 0.3, 0.3)
    assert media.buffered(12_288, 128_000, 0.4)


def test_a_steady_reader_does_not_stop_destaging() -> None:
    """Reading 8,192 bytes every millisecond (a sixth of what the head can) leaves time for all the writes."""
    media = _media(low_water=16_000)
    offset, written, now = 0, 0, 0.0
    for i in range(3000):
        now = i * 0.001
        media.read(offset, 8192, now, now)
        offset += 8192
        if i % 10 == 0 and i < 2500:
            _accept(media, FAR + written, 16_384, now)
            written += 16_384
    media.settle(now + 1.0)
    assert media.dirty.total == 0
    assert media.destaged_bytes == written
    assert _media_time(media) <= now + 1.0


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["read", "write", "pause"]),
            st.integers(0, 40),
            st.integers(1, 64),
            st.booleans(),
        ),
        max_size=60,
    ),
    st.integers(0, 3),
)
def test_time_is_used_once_and_bytes_are_kept(steps: list[tuple[str, int, int, bool]], segments: int) -> None:
    """Whatever the commands: the head never does two things at once, nothing is ready early, no dirty byte is lost."""
    media = _media(segments=segments, look_ahead=128_000 if segments else 0, buffer=200_000, extents=5)
    now, cursor, accepted, fresh = 0.0, 0, 0, 0
    for kind, place, sectors, sequential in steps:
        size = sectors * 512
        if kind == "pause":
            now += place * 0.001
        elif kind == "read":
            offset = cursor if sequential else place * 17 * TRACK
            ready = media.read(offset, size, now, now + 0.0001)
            assert ready >= now
            assert media.first_s <= ready + EPS
            cursor = offset + size
            now = ready
        else:
            # Every write goes to a place of its own, so that what is destaged must be what was written.
            offset = FAR + place * 2 * TRACK + fresh
            fresh += size
            room = media.make_room(offset, size, now)
            assert room >= now
            now = room + 0.0001
            _accept(media, offset, size, now)
            accepted += size
        media.settle(now)
        assert media.destaged_bytes + media.dirty.total == accepted
    done = media.flush(now)
    assert done >= now
    assert media.dirty.total == 0
    assert media.destaged_bytes == accepted
    # Requested bytes may still be passing under the head, or be read ahead, when the last answer is given.
    assert _media_time(media) <= max(done, media._free_s) + EPS
