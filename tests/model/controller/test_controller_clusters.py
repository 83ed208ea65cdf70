"""Incomplete stripes written chunk by chunk, and writes gathered while they wait for their turn (no write-back)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raidsim.model.controller.cache import WriteCache
from raidsim.model.controller.controller import RaidController
from raidsim.model.controller.firmware import Firmware
from raidsim.model.controller.settings import ControllerSettings, parity_chunk_of
from raidsim.model.core.engine import Engine
from raidsim.model.core.extents import ExtentSet
from raidsim.model.core.request import READ, WRITE
from raidsim.tests.model.controller.controller_bench import CHUNK, PAGE, ROW, ClosedLoop, ControllerBench, sequential
from raidsim.tests.model.recording import MIB, Issuer, Recorder

CLUSTERS: dict[str, Any] = {"write_policy": "write-through", "clusters_writes": True}
CHUNKS: dict[str, Any] = {"partial_rows": "chunk by chunk"}


# incomplete rows


def test_the_chunks_of_an_incomplete_row_change_its_parity_one_after_the_other() -> None:
    """Two of three chunks: two others are read and one written with the parity, then the second: 3 ms of 1 ms each."""
    bench = ControllerBench(**CHUNKS)
    assert _milliseconds_of_two_chunks(bench) == pytest.approx(3.0, abs=1e-3)
    assert bench.array.row_writes == {"full": 0, "rmw": 0, "rcw": 2}
    assert _parity_writes(bench) == 2


def test_together_an_incomplete_row_costs_its_parity_once() -> None:
    """The same without the mechanism: the third chunk is read, then two and the parity are written, 2 ms."""
    bench = ControllerBench()
    assert _milliseconds_of_two_chunks(bench) == pytest.approx(2.0, abs=1e-3)
    assert bench.array.row_writes == {"full": 0, "rmw": 0, "rcw": 1}
    assert _parity_writes(bench) == 1


def _milliseconds_of_two_chunks(bench: ControllerBench) -> float:
    bench.issuer.write(0, 2 * CHUNK)
    begin = bench.run(until=0.4)
    return 1e3 * (bench.drained() - begin)


def _parity_writes(bench: ControllerBench) -> int:
    return len(bench.disks[bench.array.layout.row(0).p].sent(WRITE))


def test_complete_rows_and_arrays_without_parity_know_no_chunks() -> None:
    """Where no parity has to be read, nothing is cut and nothing waits."""
    for level in ("raid5", "raid0"):
        parts = [[disk.log for disk in _drained(level, settings).disks] for settings in ({}, CHUNKS)]
        assert parts[0] == parts[1]


def _drained(level: str, settings: dict[str, Any]) -> ControllerBench:
    bench = ControllerBench(level, **settings)
    bench.issuer.write(ROW, 2 * ROW)
    if level == "raid0":
        bench.issuer.write(5 * ROW + PAGE, 2 * CHUNK)
    bench.drained()
    return bench


def test_the_chunk_of_a_parity_array() -> None:
    """RAID 5's own; nothing for a stripe of drives, however long its chunk, or for a drive."""
    assert parity_chunk_of(ControllerBench("raid5").array) == CHUNK
    assert parity_chunk_of(ControllerBench("raid0").array) == 0
    assert parity_chunk_of(Recorder(Engine())) == 0


# without write-back


def test_what_waits_for_its_turn_is_gathered_by_row() -> None:
    """Commands of half a row, all outstanding: only the two that found places free are written in part."""
    bench = ControllerBench(destage_depth=2, **CLUSTERS)
    ClosedLoop(bench, bench.controller, WRITE, ROW // 2, 32, sequential(ROW // 2, 40 * ROW))
    bench.run()
    writes = bench.array.row_writes
    assert writes["full"] >= 38
    assert writes["rmw"] + writes["rcw"] <= 8  # four ranges a row: of one chunk and a half, and of the other half


@pytest.mark.parametrize(("depth", "settings"), [(1, CLUSTERS), (32, {"write_policy": "write-through"})])
def test_a_lone_command_or_no_gathering_leaves_rows_in_part(depth: int, settings: dict[str, Any]) -> None:
    """Without neighbors in the queue, or without the mechanism, no row is complete."""
    bench = ControllerBench(destage_depth=2, **settings)
    ClosedLoop(bench, bench.controller, WRITE, ROW // 2, depth, sequential(ROW // 2, 10 * ROW))
    bench.run()
    assert bench.array.row_writes["full"] == 0


def test_the_host_waits_for_the_drives() -> None:
    """A gathered write is done when the last of its rows is on the drives, a write-back one when it is in memory."""
    gathered, cached = ControllerBench(**CLUSTERS), ControllerBench()
    for bench in (gathered, cached):
        bench.issuer.write(0, 2 * ROW)
        bench.run(until=0.1)
    link_s = 2 * ROW / gathered.link.rate
    assert gathered.latencies == [pytest.approx(50e-6 + link_s + 2e-3, abs=1e-6)]
    assert cached.latencies == [pytest.approx(50e-6 + link_s, abs=1e-6)]
    assert gathered.controller.dirty_bytes == 0


def test_the_row_that_has_waited_longest_goes_first() -> None:
    """Somebody waits for it: neither full rows nor addresses come into it."""
    cache = WriteCache(MIB, ROW, 64 * MIB, in_turn=True)
    for number, row in enumerate((9, 3, 7)):
        cache.expect(row * ROW, row * ROW + PAGE)
        cache.commit(row * ROW, row * ROW + PAGE, float(number))
    cache.expect(3 * ROW, 4 * ROW)
    cache.commit(3 * ROW, 4 * ROW, 3.0)
    taken = [cache.take(False) for _ in range(4)]
    assert [row.number for row in taken if row is not None] == [9, 3, 7]
    assert taken[3] is None


def test_a_row_under_way_keeps_its_place() -> None:
    """What comes for a row that is being written waits for it, before what came later."""
    cache = WriteCache(MIB, ROW, 64 * MIB, in_turn=True)
    cache.expect(0, PAGE)
    cache.commit(0, PAGE, 0.0)
    first = cache.take(False)
    assert first is not None
    for start, now in ((PAGE, 1.0), (5 * ROW, 2.0)):
        cache.expect(start, start + PAGE)
        cache.commit(start, start + PAGE, now)
    other = cache.take(False)
    assert other is not None
    assert other.number == 5
    assert cache.take(False) is None
    cache.land(first)
    again = cache.take(False)
    assert again is not None
    assert again.number == 0


def test_a_row_waits_for_the_commands_that_have_been_received_for_it() -> None:
    """Its second half is on its way from the host: another row goes first, and then the whole row."""
    cache = WriteCache(MIB, ROW, 64 * MIB, in_turn=True)
    cache.expect(0, PAGE)
    cache.expect(PAGE, ROW)
    cache.expect(4 * ROW, 4 * ROW + PAGE)
    cache.commit(0, PAGE, 0.0)
    cache.commit(4 * ROW, 4 * ROW + PAGE, 1.0)
    other = cache.take(False)
    assert other is not None
    assert other.number == 4
    assert cache.take(False) is None
    cache.commit(PAGE, ROW, 2.0)
    row = cache.take(False)
    assert row is not None
    assert cache.is_full(row)
    assert cache.reserved_bytes == 0


def test_a_write_back_cache_does_not_wait_for_what_is_on_its_way() -> None:
    """Counter-test: there rows wait for other reasons, and a complete one goes at once."""
    cache = WriteCache(MIB, ROW, 64 * MIB)
    cache.expect(0, ROW)
    cache.expect(0, PAGE)
    cache.commit(0, ROW, 0.0)
    assert cache.take(False) is not None


def test_places_enough_do_not_keep_a_busy_hosts_rows_in_part() -> None:
    """What is received continues what came before it, and so 32 commands of half a row are 16 whole rows."""
    bench = ControllerBench(destage_depth=64, **CLUSTERS)
    ClosedLoop(bench, bench.controller, WRITE, ROW // 2, 32, sequential(ROW // 2, 40 * ROW))
    bench.run()
    assert bench.array.row_writes == {"full": 40, "rmw": 0, "rcw": 0}


def test_gathered_writes_all_reach_the_array_and_each_is_done_once() -> None:
    """Protects the data: random writes and reads, overlapping ones too, in a small memory."""
    engine = Engine()
    disk = Recorder(engine, capacity=8 * MIB, service_s=1e-4, servers=4)
    settings = ControllerSettings(command=10e-6, cache=1 * MIB, destage_depth=4, read_ahead_rows=2, **CLUSTERS)
    controller = RaidController(engine, "c0", disk, settings, Firmware(engine, "controller cpu"))
    issuer = Issuer(engine, controller)
    random = np.random.default_rng(7)
    wanted = ExtentSet()
    for _ in range(500):
        offset = int(random.integers(0, 8 * MIB // 512 - 256)) * 512
        size = int(random.integers(1, 256)) * 512
        op = int(random.integers(0, 2))
        issuer.send(op, offset, size)
        if op == WRITE:
            wanted.add(offset, offset + size)
    engine.run()
    assert len(issuer.done) == 500
    assert controller.dirty_bytes == 0
    written = ExtentSet()
    for offset, size in disk.sent(WRITE):
        written.add(offset, offset + size)
    assert list(written) == list(wanted)
    assert disk.sent(READ)


def test_memory_is_for_writes_too_if_they_are_gathered() -> None:
    """The read share applies as with write-back; a controller that gathers nothing keeps all of it for reads."""
    gathers = ControllerSettings(cache=128 * MIB, read_share=0.25, **CLUSTERS)
    assert (gathers.write_bytes, gathers.read_bytes) == (96 * MIB, 32 * MIB)
    assert gathers.gathers_in_turn
    assert not gathers.writes_back
    plain = ControllerSettings(cache=128 * MIB, read_share=0.25, write_policy="write-through")
    assert (plain.write_bytes, plain.read_bytes) == (0, 128 * MIB)
    both = ControllerSettings(cache=128 * MIB, clusters_writes=True)
    assert both.writes_back
    assert not both.gathers_in_turn
