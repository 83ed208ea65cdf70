"""When a controller reads ahead: with every read of a sequential reader, or with one that memory does not serve."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from raidsim.model.controller.settings import full_stripe_bytes_of
from raidsim.model.core.engine import Engine
from raidsim.model.core.request import READ
from raidsim.tests.model.controller.controller_bench import (
    CHUNK,
    ROW,
    ClosedLoop,
    ControllerBench,
    sequential,
    small_mirror,
    small_raid5,
    striped,
)
from raidsim.tests.model.recording import recorders

ON_A_MISS: dict[str, Any] = {"reads_ahead": "on a miss", "read_ahead_rows": 1, "write_policy": "write-through"}
STEADILY: dict[str, Any] = {"read_ahead_rows": 1, "write_policy": "write-through"}
SERVICE_S = 0.5e-3
RATE = 100e6
ROWS = 16


def _seconds(settings: dict[str, Any]) -> tuple[float, ControllerBench]:
    """One reader, a chunk after the other, of drives that need half a millisecond for whatever is asked."""
    bench = ControllerBench("raid0", service_s=SERVICE_S, rate=RATE, **settings)
    loop = ClosedLoop(bench, bench.controller, READ, CHUNK, 1, sequential(CHUNK, ROWS * ROW))
    bench.run()
    return loop.completed[-1], bench


def test_on_a_miss_a_reader_waits_for_the_drives_once_a_stripe() -> None:
    """Each stripe costs the drives' time, its commands and its bytes on the link, one after the other."""
    seconds, bench = _seconds(ON_A_MISS)
    stripe_s = SERVICE_S + 3 * (50e-6 + CHUNK / RATE)
    assert seconds == pytest.approx(ROWS * stripe_s, rel=0.05)
    assert bench.controller.read_hits == pytest.approx(2 * ROWS, abs=2)
    assert bench.member_bytes(READ) == ROWS * ROW


def test_steadily_a_reader_never_waits_for_the_drives() -> None:
    """Counter-test: the next stripe comes while this one is read, so that the link is what limits."""
    seconds, _ = _seconds(STEADILY)
    assert seconds == pytest.approx(ROWS * 3 * (50e-6 + CHUNK / RATE), rel=0.1)


def test_a_narrower_stripe_is_waited_for_more_often() -> None:
    """Half of what is read ahead, as with half the data drives: the reader waits twice as often."""
    narrow, wide = (_seconds(ON_A_MISS | {"read_ahead_rows": rows})[0] for rows in (1, 2))
    assert narrow - wide == pytest.approx(ROWS / 2 * SERVICE_S, rel=0.1)


def test_a_first_read_reads_nothing_ahead() -> None:
    """A lone read is no reader: only one that goes on where another ended is read ahead for."""
    bench = ControllerBench("raid0", **ON_A_MISS)
    bench.issuer.read(0, CHUNK)
    bench.run()
    assert bench.member_bytes(READ) == CHUNK


def test_a_full_stripe_is_a_chunk_of_every_data_drive() -> None:
    """RAID 50 reads all of its groups ahead, however it writes their rows; RAID 10 one side of its mirrors."""
    engine = Engine()
    parity, mirror = partial(small_raid5, engine), partial(small_mirror, engine)
    stripe = partial(striped, engine)
    assert full_stripe_bytes_of(parity()) == 2 * CHUNK
    assert full_stripe_bytes_of(stripe([parity(), parity()], 2 * CHUNK)) == 4 * CHUNK
    assert full_stripe_bytes_of(stripe([parity(), parity()], CHUNK)) == 4 * CHUNK
    assert full_stripe_bytes_of(stripe([mirror(), mirror(), mirror()], CHUNK)) == 3 * CHUNK
    assert full_stripe_bytes_of(recorders(engine, 1)[0]) == CHUNK
