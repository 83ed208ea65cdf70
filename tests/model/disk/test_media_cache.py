"""Tests of the media cache: small writes go to a log near the head, and home when the drive is idle or the log full."""

import random
from typing import Any

import pytest
from pydantic import ValidationError

from raidsim.model.core.request import READ, WRITE, WRITE_THROUGH, Request
from raidsim.model.disk.media import Media
from raidsim.model.disk.media_cache import RUN, CachingMedia
from raidsim.model.drives.catalogue import hard_disk
from raidsim.tests.model.disk.queue_depth_host import QueueDepthHost

KIB, MIB, GIB = 1024, 1024**2, 1024**3
TURN = 60 / 7200
PLAIN = hard_disk("Exos-X20-20TB-SAS").with_values(write_cache=False)
LOGS = PLAIN.with_values(media_cache=25 * 10**9)
CACHED = {"write_cache": True, "write_buffer": 16 * MIB}


def _places(count: int, seed: int = 3) -> list[int]:
    rng = random.Random(seed)
    return [rng.randrange(PLAIN.capacity // 4096) * 4096 for _ in range(count)]


class Host(QueueDepthHost):
    """Keeps writes of 4 KiB at a drive."""

    depth = 16

    def write(self, offsets: list[int], depth: int = 16) -> float:
        """Writes of 4 KiB per second."""
        return len(offsets) / self.run(((WRITE, offset, 4 * KIB) for offset in offsets), depth)

    @property
    def media(self) -> CachingMedia:
        """The head with its media cache."""
        assert isinstance(self.disk.media, CachingMedia)
        return self.disk.media


def test_a_drive_without_the_field_has_the_plain_head() -> None:
    """The mechanism off is not a cache of no bytes: it is the head that all other drives have, so no bit changes."""
    assert type(Host(PLAIN).disk.media) is Media
    assert type(Host(PLAIN.with_values(media_cache_idle=5.0)).disk.media) is Media


def test_random_writes_take_a_share_of_a_turn_while_there_is_room() -> None:
    """16 writes make a record, and a record takes a turn: no seek. Home they take the arm's time each."""
    places = _places(800)
    assert Host(LOGS).write(places) == pytest.approx(16 / TURN, rel=0.05)
    assert Host(PLAIN).write(places) < 0.15 * 16 / TURN


def test_one_write_at_a_time_misses_the_place_behind_the_last_record() -> None:
    """With one command at a time each record is one write, and takes a turn."""
    assert Host(LOGS).write(_places(200), depth=1) == pytest.approx(1 / TURN, rel=0.03)


def test_the_rate_falls_when_the_cache_is_full() -> None:
    """A full cache moves a write home for each that comes: faster than in place, as it sorts many, but not by much."""
    places = _places(1500)
    fresh, full = Host(LOGS), Host(LOGS.with_values(media_cache_filled=1))
    rate = full.write(places)
    assert rate < 0.3 * fresh.write(places)
    assert 1.5 * Host(PLAIN).write(places) < rate
    assert full.media.moved_bytes >= (1500 - 2 * RUN) * 4 * KIB
    assert fresh.media.moved_bytes == 0


def test_the_way_to_the_log_is_what_is_expected() -> None:
    """Protects the choice between commands and destaging: the way to the log is known before the head is sent there."""
    media, start = Host(LOGS).media, 1.0
    for offset in _places(50):
        media._position(offset, start, media.seeks.read)
        start += 0.0123
        expected = media.reach_of_destaging(start)
        place = media.log.regions[media.log.nearest(4 * KIB, media._arm)].following
        assert media._position(place, start, media.seeks.write) == pytest.approx(start + expected, abs=1e-9)


def test_a_cache_of_few_entries_fills_in_the_run() -> None:
    """The map is full before the bytes are; older writes at time 0 are not needed for that."""
    few = Host(LOGS.with_values(media_cache_entries=512))
    first, second = few.write(_places(480)), few.write(_places(1000, seed=4))
    assert second < 0.4 * first
    assert 512 - RUN - 16 <= few.media.log.held <= 512


def test_idle_time_empties_the_cache() -> None:
    """After a minute the drive takes writes as fast as at first; after a pause below `media_cache_idle` it does not."""
    spec = LOGS.with_values(media_cache_entries=512)
    for pause_s, held in ((60.0, 0), (0.5, 480)):
        host = Host(spec)
        host.write(_places(480))
        host.engine.run(host.engine.now + pause_s)
        again = host.write(_places(400, seed=4))
        assert host.media.moved_bytes == (480 * 4 * KIB if not held else pytest.approx(400 * 4 * KIB, abs=400 * KIB))
        assert (again > 0.8 * 16 / TURN) == (not held)


def test_a_command_interrupts_idle_moving() -> None:
    """It waits for the step under way, not until the cache is empty."""
    host = Host(LOGS.with_values(media_cache_batch=1 * MIB))
    host.write(_places(2000))
    host.engine.run(host.engine.now + 1.5)
    latency = host.run([(READ, 5 * GIB, 4 * KIB)], depth=1)
    assert latency < 0.06
    assert 0 < host.media.log.held < 2000


def test_a_logged_block_is_read_from_the_log() -> None:
    """A read of a logged block goes to the log; a read of its neighbor goes home."""
    host, far = Host(LOGS), 18_000 * GIB
    geometry = host.disk.media.geometry
    host.run([(WRITE, far, 4 * KIB)], depth=1)
    assert host.disk.media.head_cylinder(host.engine.now) < 0.1 * geometry.cylinders
    host.run([(READ, far, 4 * KIB)], depth=1)
    assert host.disk.media.head_cylinder(host.engine.now) < 0.1 * geometry.cylinders
    host.run([(READ, far + 4 * KIB, 4 * KIB)], depth=1)
    assert host.disk.media.head_cylinder(host.engine.now) == geometry.cylinder(far + 8 * KIB - 1)


def test_a_read_of_logged_and_other_blocks_takes_both_ways() -> None:
    """A block in the middle of 64 KiB has been rewritten: reading all costs a way to the log and back."""
    plain, logs = Host(PLAIN), Host(LOGS)
    times = []
    for host in (plain, logs):
        host.run([(WRITE, 18_000 * GIB + 32 * KIB, 4 * KIB)], depth=1)
        times.append(host.run([(READ, 18_000 * GIB, 64 * KIB)], depth=1))
    assert times[1] > times[0] + PLAIN.seek_average
    assert logs.disk.reads == 1
    assert logs.disk.read_bytes == 64 * KIB


def test_what_was_read_ahead_of_a_logged_block_is_out_of_date() -> None:
    """The buffer's copy is older than the log's: the read is no hit."""
    for spec, hits in ((PLAIN, 1), (LOGS, 0)):
        host = Host(spec)
        host.run([(READ, 0, 64 * KIB), (WRITE, 128 * KIB, 4 * KIB)], depth=1)
        host.engine.run(host.engine.now + 0.1)
        before = host.disk.cache_hits
        host.run([(READ, 128 * KIB, 4 * KIB)], depth=1)
        assert host.disk.cache_hits - before <= hits
        if spec is LOGS:
            assert host.disk.cache_hits == before


def test_large_and_sequential_writes_go_home() -> None:
    """Only writes of at most `media_cache_largest` that continue no other are logged."""
    host = Host(LOGS)
    host.run([(WRITE, place // MIB * MIB, 256 * KIB) for place in _places(50)])
    assert host.media.log.logged_bytes == 0
    host.run([(WRITE, 7 * GIB + number * 4 * KIB, 4 * KIB) for number in range(200)])
    assert host.media.log.logged_bytes == 4 * KIB


def test_a_write_home_makes_the_logged_blocks_stale() -> None:
    """What is written over in place need not be moved home any more."""
    host = Host(LOGS)
    host.write([number * 128 * KIB for number in (5, 1, 9)])
    assert host.media.log.held == 3
    host.run([(WRITE, 0, 2 * MIB)], depth=1)
    assert host.media.log.held == 0


def test_the_same_block_is_moved_home_once() -> None:
    """A block that is written a hundred times is moved once, and takes the room of one."""
    host = Host(LOGS)
    host.write([(number % 2) * GIB for number in range(100)], depth=1)
    assert host.media.log.held == 2
    host.engine.run(host.engine.now + 60)
    assert host.disk.dirty_bytes == 0
    assert host.media.moved_bytes == 8 * KIB


def test_the_write_cache_is_emptied_into_the_media_cache() -> None:
    """With the write cache on, what a full buffer waits for is a record of many writes; without the log, one each."""
    places = _places(4000)
    logs, plain = Host(LOGS.with_values(**CACHED)), Host(PLAIN.with_values(**CACHED))
    assert logs.write(places) > 10 * plain.write(places)
    assert logs.media.log.logged_bytes > 0


def test_a_write_through_is_in_the_log() -> None:
    """FUA asks for data that outlive a loss of power, and those in the log do."""
    host = Host(LOGS.with_values(**CACHED))
    host.disk.submit(Request(WRITE, 3 * GIB, 4 * KIB, lambda _: None, sync=WRITE_THROUGH))
    host.engine.run()
    assert host.media.log.held == 1
    assert host.disk.dirty_bytes == 0


@pytest.mark.parametrize("changes", [{}, CACHED, {"queue_depth": 1}])
@pytest.mark.parametrize("depth", [1, 5, 100])
def test_any_commands_complete_and_the_log_adds_up(changes: dict[str, Any], depth: int) -> None:
    """Reads, writes and flushes at random, more than the drive knows at once: none is lost, nor a block of the log."""
    spec = LOGS.with_values(
        media_cache_entries=128, media_cache=64 * MIB, media_cache_batch=256 * KIB, media_cache_filled=0.5, **changes
    )
    host, rng = Host(spec), random.Random(depth)
    log = host.media.log
    done = [0]

    def count(_: object = None) -> None:
        done[0] += 1

    for _ in range(12):
        for _ in range(depth):
            size = rng.choice([512, 4 * KIB, 12 * KIB, 64 * KIB, 256 * KIB])
            place = rng.randrange(64) * 16 * KIB if rng.random() < 0.5 else rng.choice(_places(50))
            op, sync = rng.choice([(READ, 0), (WRITE, 0), (WRITE, 0), (WRITE, WRITE_THROUGH)])
            host.disk.submit(Request(op, place, size, count, sync=sync))
        host.disk.flush(count)
        host.engine.run(host.engine.now + rng.choice([0.002, 0.3, 2.0]))
    host.engine.run()
    assert done == [12 * (depth + 1)]
    assert host.disk.outstanding == 0
    host.engine.run(host.engine.now + 120)
    assert host.disk.dirty_bytes == 0
    assert log.held == 0
    assert [region.used for region in log.regions] == [0] * len(log.regions)


def test_no_event_is_for_the_log_alone() -> None:
    """One scheduled event a write, whether it is the record's first, joins it, or waits until others are home."""
    for spec in (PLAIN, LOGS, LOGS.with_values(media_cache_filled=1)):
        host = Host(spec)
        before = host.engine.scheduled_events
        host.write(_places(300))
        assert host.engine.scheduled_events - before <= 302


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"media_cache": 11_000 * GIB}, "at most half the capacity"),
        ({"media_cache": 1 * MIB}, "expected at least 131072 bytes, twice media_cache_largest"),
        ({"media_cache": 8 * GIB, "media_cache_batch": GIB}, "media_cache_batch is 1073741824 bytes; at most cache"),
        ({"media_cache_filled": 1.5}, "media_cache_filled"),
    ],
)
def test_impossible_caches_are_refused(changes: dict[str, Any], message: str) -> None:
    """One message that says what was found and what is expected."""
    with pytest.raises(ValidationError, match=message):
        PLAIN.with_values(**changes)
