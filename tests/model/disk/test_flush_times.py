"""What durable writes in order take, against a 6 TB disk of 7,200 rpm measured in 2019 (p1 to p95: 8.29 to 8.36 ms)."""

from __future__ import annotations

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.core.request import WRITE, Request
from raidsim.model.disk.hard_disk import HardDisk
from raidsim.model.drives.catalogue import hard_disk

DISK = hard_disk("Ultrastar-DC-HC310-6TB")
TURN_S = 60 / 7200
SIZE = 4096


def _mean_s(shift: int, flushes: bool, host_s: float = 50e-6) -> float:
    """Mean time (s) of a write in order, with a flush after each, by a host that takes `host_s` (s) between them."""
    engine = Engine(2)
    disk = HardDisk(engine, DISK, "disk")
    count = 0

    def write(_: object = None) -> None:
        disk.submit(Request(WRITE, shift + count * SIZE, SIZE, written))

    def written(_: object) -> None:
        if flushes:
            disk.flush(flushed)
        else:
            flushed()

    def flushed() -> None:
        nonlocal count
        count += 1
        if count < 400:
            engine.call_at(engine.now + host_s, write)

    write()
    engine.run()
    return engine.now / count


def test_a_write_and_flush_in_order_takes_one_turn() -> None:
    """Protects fsync on disks: the place behind the last write has just passed when the next one comes."""
    assert _mean_s(0, True) == pytest.approx(TURN_S, rel=0.02)


def test_without_the_flush_the_cache_takes_it() -> None:
    """The counter-test: it is the flush that waits for the platter."""
    assert _mean_s(0, False) < 0.02 * TURN_S


def test_an_unaligned_write_takes_whole_turns_more() -> None:
    """Protects 512e: what shares a physical sector is read first, then written (measured: two turns more)."""
    assert _mean_s(2048, True) / TURN_S == pytest.approx(3.0, abs=0.05)
