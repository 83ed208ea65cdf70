"""Tests of shingled tracks: streams fill bands, other writes go to the media cache, and a full one collapses."""

import random
from typing import Any

import pytest
from pydantic import ValidationError

from raidsim.model.core.request import READ, WRITE, WRITE_THROUGH, Request
from raidsim.model.disk.shingled import ShingledMedia
from raidsim.model.disk.spec import mechanics
from raidsim.model.drives.catalogue import hard_disk
from raidsim.tests.model.disk.queue_depth_host import QueueDepthHost

KIB, MIB, GIB = 1024, 1024**2, 1024**3
BAND = 32 * MIB
PLAIN = hard_disk("Desktop-HDD.15-4TB")
SMR = PLAIN.with_values(
    band_size=BAND,
    media_cache=20 * GIB,
    media_cache_regions=1,
    media_cache_largest=MIB,
    media_cache_batch=4 * MIB,
    media_cache_entries=2000,
)
BAND_S = 2 * BAND / mechanics(PLAIN)[0].media_rate(PLAIN.capacity // 2)
"""To read a band and to write it, in the middle of the disk."""


class Host(QueueDepthHost):
    """Keeps a number of commands at a drive."""

    def stream(self, start: int, size: int, piece: int = 128 * KIB) -> float:
        """Bytes per second of writes in order."""
        return size / self.run([(WRITE, offset, piece) for offset in range(start, start + size, piece)])

    def scatter(self, count: int, seed: int = 5) -> float:
        """Random writes of 4 KiB per second."""
        rng = random.Random(seed)
        return count / self.run([(WRITE, rng.randrange(PLAIN.capacity // 4096) * 4096, 4 * KIB) for _ in range(count)])

    @property
    def media(self) -> ShingledMedia:
        """The head with its bands."""
        assert isinstance(self.disk.media, ShingledMedia)
        return self.disk.media


@pytest.mark.parametrize("write_cache", [True, False])
def test_a_stream_fills_band_after_band(write_cache: bool) -> None:
    """In order the drive writes nearly at the rate of its media and rewrites nothing; the first band may be logged."""
    host, start = Host(SMR.with_values(write_cache=write_cache)), 100 * BAND
    assert host.stream(start, 40 * BAND) > 0.85 * host.media.geometry.media_rate(start)
    assert host.media.cleaned_bands == 0
    assert host.media.log.logged_bytes <= BAND


def test_a_stream_from_the_middle_of_a_band_opens_the_next_one() -> None:
    """What belongs to the band that was begun in the middle goes to the media cache, the rest home."""
    host = Host(SMR)
    host.stream(BAND + 10 * MIB, 10 * BAND)
    host.disk.flush(lambda: None)
    host.engine.run()
    assert host.media.log.logged_bytes == pytest.approx(BAND - 10 * MIB, abs=2 * MIB)


def test_several_streams_keep_their_bands_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to `open_bands` streams are written home. With one more a band's rest is rewritten and streams are logged."""
    rewrite, rewritten = ShingledMedia._rewrite, list[tuple[int, int]]()

    def watched(media: ShingledMedia, start: int, end: int) -> None:
        rewritten.append((start, end))
        rewrite(media, start, end)

    monkeypatch.setattr(ShingledMedia, "_rewrite", watched)
    for bands, enough in ((4, True), (2, False)):
        host = Host(SMR.with_values(open_bands=bands))
        pieces = [(WRITE, (stream * 500 + 7) * BAND + piece * MIB, MIB) for piece in range(48) for stream in range(3)]
        host.run(pieces, depth=1)
        assert host.media.cleaned_bands == len(rewritten)
        assert (not rewritten) == enough
        assert (host.media.log.logged_bytes == 0) == enough


def test_random_writes_are_fast_until_the_cache_is_full_and_then_collapse() -> None:
    """A full cache cleans a band for each write: a few a second, less than a hundredth of before."""
    host, plain = Host(SMR), Host(PLAIN)
    fast = host.scatter(1500)
    assert fast > 3 * plain.scatter(1500)
    host.scatter(800, seed=6)
    slow = host.scatter(30, seed=7)
    assert slow < plain.scatter(100, seed=7) / 20
    assert 0.3 / BAND_S < slow < 1.5 / BAND_S


def test_the_collapse_comes_from_the_bands() -> None:
    """The counter-test: the same media cache on tracks that do not overlap stays as fast as the arm."""
    full = {"media_cache_filled": 1, "write_cache": False}
    conventional = Host(SMR.with_values(band_size=0, media_cache_largest=64 * KIB, **full))
    assert conventional.scatter(300) > 30 * Host(SMR.with_values(**full)).scatter(30)


def test_writes_to_one_band_are_cleaned_together() -> None:
    """A band is rewritten once for all of its blocks in the cache."""
    host = Host(SMR)
    host.run([(WRITE, 50 * BAND + number * 64 * KIB, 4 * KIB) for number in range(200, 0, -2)])
    assert host.media.log.held > 0
    host.engine.run(host.engine.now + 60)
    assert host.disk.dirty_bytes == 0
    assert (host.media.log.held, host.media.cleaned_bands, host.media.moved_bytes) == (0, 1, 100 * 4 * KIB)


def test_idle_time_empties_the_cache_a_band_at_a_time() -> None:
    """Two thousand bands take their time: after ten seconds few are clean, after half an hour all are."""
    host = Host(SMR)
    host.scatter(1000)
    host.engine.run(host.engine.now + 10)
    assert host.disk.dirty_bytes == 0
    assert 5 < host.media.cleaned_bands < 10 / BAND_S * 2
    host.engine.run(host.engine.now + 3600)
    assert host.disk.dirty_bytes == 0
    assert host.media.log.held == 0
    assert host.scatter(500, seed=8) > 100


def test_a_read_waits_for_the_band_under_way() -> None:
    """In idle time the drive rewrites a band, which takes half a second, before it serves a read."""
    host = Host(SMR)
    host.scatter(500)
    host.engine.run(host.engine.now + 5)
    longest = max(
        host.run([(READ, number * GIB, 4 * KIB)], depth=1) or host.engine.run(host.engine.now + 2) or 0
        for number in range(20)
    )
    assert 0.1 < longest < 2 * BAND_S


@pytest.mark.parametrize("write_cache", [True, False])
@pytest.mark.parametrize("depth", [1, 40])
def test_any_commands_complete_and_the_cache_is_emptied(write_cache: bool, depth: int) -> None:
    """Streams, random writes, reads and flushes in any order: none is lost, and idle time moves every block home."""
    host, rng = Host(SMR.with_values(write_cache=write_cache, media_cache_filled=0.1, open_bands=1)), random.Random(2)
    done = [0]

    def count(_: object = None) -> None:
        done[0] += 1

    place = 0
    for _ in range(8):
        for _ in range(depth):
            size = rng.choice([512, 4 * KIB, 256 * KIB, 2 * MIB])
            if rng.random() < 0.5:
                place = rng.choice([0, 3, 4]) * BAND + rng.choice([0, 4 * KIB, BAND - 4 * KIB])
            op, sync = rng.choice([(READ, 0), (WRITE, 0), (WRITE, 0), (WRITE, WRITE_THROUGH)])
            host.disk.submit(Request(op, place, size, count, sync=sync))
            place += size
        host.disk.flush(count)
        host.engine.run(host.engine.now + rng.choice([0.01, 3.0]))
    host.engine.run()
    assert done == [8 * (depth + 1)]
    host.engine.run(host.engine.now + 3600)
    assert host.disk.dirty_bytes == 0
    assert host.media.log.held == 0
    assert [region.used for region in host.media.log.regions] == [0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"band_size": BAND}, "band_size is 33554432 bytes, so media_cache must be above 0"),
        ({"band_size": 1000, "media_cache": GIB}, "band_size is 1000 bytes; expected 4096 up to"),
        ({"band_size": BAND, "media_cache": GIB, "open_bands": 0}, "open_bands"),
    ],
)
def test_impossible_bands_are_refused(changes: dict[str, Any], message: str) -> None:
    """One message that says what was found and what is expected."""
    with pytest.raises(ValidationError, match=message):
        PLAIN.with_values(**{"media_cache_batch": MIB, **changes})
