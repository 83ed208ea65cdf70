"""Everything at once: whatever is mixed, every command completes, and the drive's books agree with a simple one."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import pytest

from raidsim.model.core.request import FLUSH, READ, TRIM, WAITED, WRITE, WRITE_THROUGH, Request
from raidsim.tests.model.solid_state.drive_bench import KIB, MIB, Bench

SECTORS = 20 * MIB // 512  # commands fall into 20 MiB, so they meet again and again
DRIVES: dict[str, dict[str, Any]] = {
    "plain": {},
    "consumer": {
        "power_loss_protection": False,
        "slc_cache": "8MiB",
        "slc_program_time": "150us",
        "slc_read_time": "25us",
        "mapping_reach": "16MiB",
        "read_ahead": "128KiB",
        "write_buffer": "512KiB",
        "interface": "SATA 6Gb/s",
        "queue_depth": 32,
    },
    "folding": {"slc_cache": "2MiB", "slc_program_time": "150us", "suspend_time": "20us"},
    "coarse": {"mapping_unit": "32KiB", "programs_at_once": 3, "read_ahead": "256KiB"},
}


@pytest.mark.parametrize("state", ["fresh", "sequential", "steady"])
@pytest.mark.parametrize("kind", DRIVES)
def test_every_mix_of_commands_is_served(kind: str, state: str) -> None:
    """Reads, writes (of parts of units, too), FUA, flushes, deallocations, bursts and pauses, 32 and more outstanding.

    The units that hold data are those of a set; the buffer holds what is not programmed and no more than it can.
    """
    bench = Bench(state, **DRIVES[kind])
    engine, drive = bench.engine, bench.drive
    unit = drive.spec.mapping_unit
    draws = random.Random(f"{kind} {state}")
    written: set[int] = set()
    gone: set[int] = set()
    submitted = [0, 0, 0, 0]
    waited: list[float] = []

    def done(request: Request) -> None:
        waited.append(engine.now - request.submitted)

    def flushed(asked: float) -> None:
        waited.append(engine.now - asked)

    next_read = 0
    for _ in range(800):
        op = draws.choices([READ, WRITE, FLUSH, TRIM], [10, 10, 0.3, 0.5])[0]
        size = 512 * draws.choice([1, 8, 8, 8, 16, 256, 300])
        offset = 512 * draws.randrange(SECTORS - 512)
        submitted[op] += 1
        if op == FLUSH:
            drive.flush(partial(flushed, engine.now))
        elif op == TRIM:
            drive.submit(Request(TRIM, offset, size, done))
            units = range(-(-offset // unit), (offset + size) // unit)
            written.difference_update(units)
            gone.update(units)
        else:
            if op == READ and draws.random() < 0.5:
                offset = next_read % (10 * MIB)
            elif draws.random() < 0.7:
                offset -= offset % (4 * KIB)
            next_read = offset + size
            sync = WRITE_THROUGH if op == WRITE and draws.random() < 0.02 else WAITED
            if op == WRITE:
                units = range(offset // unit, (offset + size - 1) // unit + 1)
                written.update(units)
                gone.difference_update(units)
            drive.submit(Request(op, offset, size, done, 0, sync))
        if draws.random() < 0.1:
            engine.run(until=engine.now + draws.choice([1e-5, 1e-3, 0.05]))
        while drive.outstanding > 48:
            engine.step()
    engine.run()
    assert len(waited) == sum(submitted) == 800
    assert [drive.reads, drive.writes, drive.flushes, drive.trims] == submitted
    assert drive.outstanding == 0
    assert min(waited) > 0
    total = drive.capacity // unit
    expected = len(written) if state == "fresh" else total - len(gone)
    layer, buffer = drive._translation, drive._buffer
    assert layer.valid == pytest.approx(expected, abs=2 if state == "steady" else 0)
    engine.run(until=engine.now + 1)
    assert 0 <= drive.dirty_bytes <= buffer.capacity
    assert drive.dirty_bytes == unit * sum(each.units for each in buffer._gathering)
    assert set(buffer.held) <= {entry for each in buffer._gathering for entry in each.entries}
    assert buffer._single_units == sum(entry >= 0 for entry in buffer.held)
    for die in drive._flash.dies:
        die.book(engine.now, engine.now, 0.0)
        assert len(die.background) == 1
