"""Bits of a write-intent bitmap in the midst of a load, against the same load simulated from its beginning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pytest

from raidsim.model.core.device import Device
from raidsim.model.core.engine import Engine
from raidsim.model.raid.metadata.bitmap import DAEMON_SLEEP_S, TIMER_GRAIN_S, WriteIntentBitmap
from raidsim.model.raid.metadata.standing_bits import StandingBits
from raidsim.model.raid.mirrors.mirror import MirrorArray
from raidsim.model.raid.read_balance import Md61
from raidsim.tests.model.recording import KIB, MIB, Recorder

CHUNK = 64 * KIB
CHUNKS = 512 * MIB // CHUNK


def bitmap_on(engine: Engine) -> WriteIntentBitmap:
    """The bitmap of a mirror of two, with 8,192 chunks."""
    members: list[Device] = [Recorder(engine, f"d{slot}", 512 * MIB, 1e-5, 32) for slot in range(2)]
    return WriteIntentBitmap(engine, MirrorArray(engine, "md0", members, Md61(2)), CHUNK)


def writes(bitmap: WriteIntentBitmap, engine: Engine, places: Iterable[int], count: int, rate: float) -> int:
    """Write to the chunks at `places` in equal distances of time; the most bits that were set."""
    most = 0
    for _, chunk in zip(range(count), places, strict=False):
        engine.run_to(engine.now + 1 / rate)
        bitmap.mark(chunk * CHUNK, chunk * CHUNK + 4 * KIB)
        bitmap.flush(lambda: None)
        bitmap.end(chunk * CHUNK, chunk * CHUNK + 4 * KIB, first_since_event=False)
        most = max(most, bitmap.bits_set)
    return most


def anywhere(low: int = 0, high: int = CHUNKS) -> Iterator[int]:
    """Chunks drawn evenly."""
    random = np.random.default_rng(5)
    while True:
        yield from random.integers(low, high, 4096).tolist()


@pytest.mark.parametrize("each", [0.1, 1.0, 4.0], ids="{:g} writes to a chunk in a period".format)
@pytest.mark.parametrize("share", [1.0, 0.25])
def test_as_many_bits_are_set_as_after_a_long_time(each: float, share: float) -> None:
    """Protects the level that a load finds at once, at its beginning and in the next periods of the daemon."""
    high = int(CHUNKS * share)
    rate = each * high / DAEMON_SLEEP_S
    engine = Engine()
    bitmap, places = bitmap_on(engine), anywhere(0, high)
    period = DAEMON_SLEEP_S + TIMER_GRAIN_S
    writes(bitmap, engine, places, int(rate * 4.5 * period), rate)
    most = writes(bitmap, engine, places, int(rate * period), rate)

    jumped = Engine()
    other = bitmap_on(jumped)
    bits = StandingBits(other, jumped)
    first = max(100, high // 20)
    writes(other, jumped, places, first, 1000 * rate)
    # Three times as fast at first, as without waits for bits.
    assert bits.stand(first, 3 * rate)
    assert bits.stand(first, rate)
    level = -np.expm1(-1.5 * each) * high
    assert other.bits_set == pytest.approx(level, rel=0.05, abs=first)
    assert writes(other, jumped, places, int(rate * period), rate) == pytest.approx(most, rel=0.1)


@pytest.mark.parametrize(
    "places",
    [
        [chunk // 50 for chunk in range(5000)],
        [chunk**2 // 5000 for chunk in range(5000)],
        [chunk % 200 * 40 for chunk in range(5000)],
    ],
    ids=["in order", "denser", "hot"],
)
def test_writes_that_are_not_spread_evenly_set_their_bits_themselves(places: list[int]) -> None:
    """Protects loads with a hot spot: only chunks that were written are marked."""
    engine = Engine()
    bitmap = bitmap_on(engine)
    bits = StandingBits(bitmap, engine)
    writes(bitmap, engine, places, len(places), 1e5)
    bits.stand(len(places), 1e5)
    assert len(set(places)) <= bitmap.bits_set <= len(set(places)) + 1
