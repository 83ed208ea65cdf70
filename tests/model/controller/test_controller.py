"""A hardware RAID controller's commands: times on paper, hits, limits, and that nothing is lost or counted twice."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np
import pytest

from raidsim.model.controller.controller import RaidController
from raidsim.model.controller.firmware import Firmware
from raidsim.model.controller.settings import ControllerSettings, row_bytes_of
from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import ModelError
from raidsim.model.core.extents import ExtentSet
from raidsim.model.core.request import READ, WRITE, WRITE_THROUGH, Request
from raidsim.model.layouts import StripedLayout, layout_for
from raidsim.model.links.link import Link, Path
from raidsim.model.raid.parity.array import ParityArray
from raidsim.model.raid.striped.stripe import StripeArray
from raidsim.model.raid.stripes.settings import ParitySettings
from raidsim.tests.model.controller.controller_bench import (
    CHUNK,
    COMMAND_S,
    LINK_RATE,
    ROW,
    ClosedLoop,
    ControllerBench,
    sequential,
    small_mirror,
    small_raid5,
    striped,
)
from raidsim.tests.model.recording import KIB, MIB, Issuer, Recorder, recorders

PAGE = 4 * KIB
HIT_S = COMMAND_S + PAGE / LINK_RATE


# times and events


def test_a_read_costs_member_command_and_link() -> None:
    """Protects the parts of a read: the member's time, the firmware's, and the link's, one after the other."""
    bench = ControllerBench()
    bench.issuer.read(0, PAGE)
    assert bench.run() == pytest.approx(1e-3 + HIT_S)


def test_commands_take_turns_on_the_processor() -> None:
    """Protects the firmware's ceiling: 20 hits of 50 us take a millisecond, however small they are."""
    bench = ControllerBench()
    for page in range(20):
        bench.issuer.write(page * PAGE, PAGE)
    bench.run(until=0.1)
    assert bench.latencies[-1] == pytest.approx(20 * COMMAND_S + PAGE / LINK_RATE)
    assert bench.firmware.cpu.busy_s == pytest.approx(20 * COMMAND_S)


def test_two_cores_take_commands_side_by_side() -> None:
    """Protects controllers with more than one core: twenty pieces of work of 50 us take half a millisecond."""
    engine = Engine()
    cpu = Firmware(engine, "controller cpu", cores=2).cpu
    assert [cpu.interrupt(COMMAND_S) for _ in range(20)][-1] == pytest.approx(10 * COMMAND_S)


@pytest.mark.parametrize(("op", "policy", "most"), [(READ, "off", 2), (WRITE, "write-through", 5)])
def test_a_command_costs_one_event_besides_its_members(op: int, policy: Any, most: int) -> None:
    """Protects the speed of the simulator; a small RAID 5 write has four member requests."""
    bench = ControllerBench(write_policy=policy)
    bench.issuer.send(op, 0, PAGE)
    bench.run()
    assert bench.engine.scheduled_events == most


def test_a_cached_write_costs_one_event() -> None:
    """Protects the speed of the simulator: its acknowledgment; one timer serves all that waits."""

    def events(writes: int) -> int:
        bench = ControllerBench()
        for page in range(writes):
            bench.issuer.write(page * PAGE, PAGE)
        bench.run(until=0.1)
        assert len(bench.issuer.done) == writes
        return bench.engine.scheduled_events

    assert events(20) - events(10) == 10


def test_a_flush_is_done_at_once_with_a_good_battery() -> None:
    """Protects what a battery is for: memory that keeps its contents counts as the medium."""
    bench = ControllerBench()
    bench.issuer.send(WRITE, 0, PAGE, sync=WRITE_THROUGH)  # type: ignore[arg-type]
    bench.run(until=0.1)
    assert bench.latencies == [pytest.approx(HIT_S)]
    through = ControllerBench(write_policy="write-through")
    through.issuer.send(WRITE, 0, PAGE, sync=WRITE_THROUGH)  # type: ignore[arg-type]
    assert through.run() > 2e-3


def test_parity_work_makes_commands_wait() -> None:
    """Protects the shared processor: a slow XOR shows in commands that compute nothing."""

    def last(xor_rate: float) -> float:
        bench = ControllerBench(xor_rate=xor_rate)
        loop = ClosedLoop(bench, bench.controller, WRITE, CHUNK, 4, sequential(CHUNK, 40 * ROW))
        bench.run()
        return loop.completed[-1]

    fast, slow = last(1e12), last(20e6)
    assert slow > 0.9 * 40 * ROW / 20e6
    assert slow > 2 * fast


# hits


def test_reads_of_dirty_data_come_from_the_cache() -> None:
    """Protects reading what was written: also while it is on its way to the members."""
    bench = ControllerBench(partial_age=0.1)
    bench.issuer.write(0, PAGE)
    bench.run(until=0.05)
    bench.issuer.read(0, PAGE)
    bench.run(until=0.1005)
    assert bench.controller.dirty_bytes == PAGE
    assert bench.member_bytes(READ) > 0, "the row is on its way: its old data and parity are read"
    bench.issuer.read(0, PAGE)
    bench.run(until=0.101)
    assert bench.controller.read_hits == 2
    assert not any((offset, size) == (0, PAGE) for _, offset, size in bench.disks[0].log if _ == READ)


def test_overwriting_dirty_data_takes_no_more_writes() -> None:
    """Protects write absorption: the same page written ten times goes to the members once."""
    bench = ControllerBench()
    for _ in range(10):
        bench.issuer.write(0, PAGE)
    bench.run()
    assert len(bench.disks[0].sent(WRITE)) == 1


def test_a_second_read_is_a_hit_if_reads_are_kept() -> None:
    """Protects "Cached I/O" and its opposite."""
    for keeps, hits in ((True, 1), (False, 0)):
        bench = ControllerBench(keeps_reads=keeps)
        ClosedLoop(bench, bench.controller, READ, PAGE, 1, [0, 0])
        bench.run()
        assert bench.controller.read_hits == hits


def test_a_write_makes_the_read_cache_forget() -> None:
    """Protects against stale data: what was read and then written through is read again."""
    bench = ControllerBench(write_policy="write-through")
    bench.issuer.read(0, PAGE)
    bench.run()
    bench.issuer.write(0, PAGE)
    bench.run()
    bench.issuer.read(0, PAGE)
    bench.run()
    assert bench.controller.read_hits == 0


def test_a_read_of_what_is_on_its_way_waits_for_it() -> None:
    """Protects against reading twice: a reader that catches up with its read-ahead joins it."""
    bench = ControllerBench(level="raid0", read_ahead_rows=1)
    ClosedLoop(bench, bench.controller, READ, CHUNK, 4, sequential(CHUNK, 8 * ROW))
    bench.run()
    assert bench.controller.read_hits >= 8 * 3 - 4
    for disk in bench.disks:
        reads = disk.sent(READ)
        assert sum(size for _, size in reads) == sum(size for _, size in disk.covered(READ))


# limits


def test_no_more_commands_than_the_queue_depth() -> None:
    """Protects the queue: what is beyond it reaches the array only when a place is free."""
    bench = ControllerBench(write_policy="off", queue_depth=2)
    for page in range(5):
        bench.issuer.read(page * CHUNK, PAGE)
    assert (bench.controller.outstanding, bench.controller.has_room) == (5, False)
    assert sum(len(disk.log) for disk in bench.disks) == 2
    room: list[float] = []
    bench.controller.when_room(lambda: room.append(bench.engine.now))
    bench.run()
    assert len(bench.issuer.done) == 5
    assert room == [pytest.approx(bench.latencies[2], rel=0.2)]
    bench.controller.when_room(lambda: room.append(-1.0))
    assert room[-1] == -1.0


def test_the_cache_never_holds_more_than_its_memory() -> None:
    """Protects the memory: dirty data and data on its way from the host fit it, at any moment."""
    bench = ControllerBench(cache=1 * MIB)
    writes = bench.controller._writes
    most = 0

    def watch(_: object) -> None:
        nonlocal most
        most = max(most, writes.unwritten_bytes + writes.reserved_bytes)
        if bench.engine.now < 1.0:
            bench.engine.call_at(bench.engine.now + 1e-4, watch)

    bench.engine.call_at(0.0, watch)
    ClosedLoop(bench, bench.controller, WRITE, 32 * KIB, 40, sequential(32 * KIB, 30 * MIB))
    bench.run(until=1.0)
    assert 0.9 * 768 * KIB < most <= 768 * KIB
    assert bench.controller.waits > 10


def test_a_write_larger_than_the_cache_goes_through_an_empty_one() -> None:
    """Protects against a writer that waits for ever."""
    bench = ControllerBench(cache=64 * KIB)
    bench.issuer.write(0, ROW)
    bench.issuer.write(ROW, ROW)
    bench.drained()
    bench.run()
    assert len(bench.issuer.done) == 2
    assert bench.array.row_writes["full"] == 2


def test_incomplete_stripes_wait_for_their_age() -> None:
    """Protects the flush interval: nothing is written before, all of it after."""
    bench = ControllerBench(partial_age=0.5)
    bench.issuer.write(0, PAGE)
    bench.run(until=0.4)
    bench.issuer.write(10 * ROW, PAGE)
    bench.run(until=0.499)
    assert bench.member_bytes(WRITE) == 0
    bench.run(until=0.6)
    assert bench.member_bytes(WRITE) == 2 * PAGE
    assert bench.run() == pytest.approx(0.9 + HIT_S + 2e-3, abs=1e-6)
    assert bench.member_bytes(WRITE) == 4 * PAGE


def test_above_the_high_water_it_writes_down_to_the_low() -> None:
    """Protects the watermarks: a sweep begins above one and ends at the other."""
    bench = ControllerBench(partial_age=100.0, high_water=0.5, low_water=0.25, cache=4 * MIB)
    capacity = 3 * MIB
    pages = capacity // 2 // PAGE
    for page in range(pages):
        bench.issuer.write(page * ROW % (bench.controller.capacity - ROW), PAGE)
    bench.run(until=1.0)
    assert bench.controller.dirty_bytes == capacity // 2
    assert bench.member_bytes(WRITE) == 0
    bench.issuer.write(PAGE, PAGE)
    bench.run(until=50.0)
    assert bench.controller.dirty_bytes == pytest.approx(capacity // 4, abs=PAGE)


def test_rows_are_written_in_rising_order() -> None:
    """Protects the elevator: from the row that was due first upwards, and round again."""
    bench = ControllerBench("raid0", partial_age=0.2, destage_depth=1)
    for row in (17, 3, 60, 44, 9, 31):
        bench.issuer.write(row * ROW, PAGE)
    bench.run()
    assert [offset // CHUNK for offset, _ in bench.disks[0].sent(WRITE)] == [17, 31, 44, 60, 3, 9]


def test_rows_are_started_many_at_a_time() -> None:
    """Protects long commands to the drives: new rows wait until half of those under way are written."""
    bench = ControllerBench("raid0", service_s=0.1, destage_depth=8)
    for row in range(32):
        bench.issuer.write(row * ROW, ROW)
    sent = []
    for step in range(20):
        bench.run(until=0.15 + step * 0.1)
        sent.append(len(bench.disks[0].sent(WRITE)))
    started = [later - earlier for earlier, later in itertools.pairwise(sent) if later > earlier]
    assert sent[0] >= 5
    assert set(started) == {4}


# conservation


@pytest.mark.parametrize("policy", ["write-back", "write-through"])
def test_all_that_was_written_reaches_the_members_and_nothing_else(policy: Any) -> None:
    """Protects the data: after a drain the device has exactly the bytes that were written, each command done once."""
    engine = Engine()
    disk = Recorder(engine, capacity=8 * MIB, service_s=1e-4, servers=4)
    firmware = Firmware(engine, "controller cpu")
    link = Link("host link", LINK_RATE)
    settings = ControllerSettings(
        command=10e-6, cache=1 * MIB, write_policy=policy, partial_age=0.01, read_ahead_rows=2
    )
    controller = RaidController(engine, "c0", disk, settings, firmware, Path((link,)))
    issuer = Issuer(engine, controller)
    random = np.random.default_rng(5)
    wanted, moved = ExtentSet(), 0
    for _ in range(600):
        offset = int(random.integers(0, 8 * MIB // 512 - 256)) * 512
        size = int(random.integers(1, 256)) * 512
        op = int(random.integers(0, 2))
        issuer.send(op, offset, size)
        moved += size
        if op == WRITE:
            wanted.add(offset, offset + size)
    engine.run()
    assert controller.dirty_bytes == 0
    assert len(issuer.done) == 600 == controller.reads + controller.writes
    assert disk.covered(WRITE) == [(start, end - start) for start, end in wanted]
    assert link.bytes_moved == moved == controller.read_bytes + controller.write_bytes == controller.foreground_bytes
    assert link.busy_s <= engine.now
    assert firmware.cpu.busy_s <= engine.now
    assert 0 < controller.busy_s <= engine.now
    over: list[bool] = []
    controller.drain(lambda: over.append(True))
    assert over == [True]


def test_statistics_start_again_after_the_warm_up() -> None:
    """Protects measurements from their warm-up; what resync threads watch goes on."""
    bench = ControllerBench()
    bench.issuer.write(0, PAGE)
    bench.drained()
    bench.controller.start_statistics(bench.engine.now)
    controller = bench.controller
    assert (controller.writes, controller.latency_s) == (0, 0.0)
    assert controller.foreground_bytes == PAGE


@pytest.mark.parametrize(("offset", "size"), [(-PAGE, PAGE), (0, 0), (3 * 64 * MIB, PAGE)])
def test_commands_outside_the_capacity_are_refused(offset: int, size: int) -> None:
    """Protects against addresses that no array has."""
    bench = ControllerBench()
    with pytest.raises(ModelError, match="within the capacity"):
        bench.issuer.read(offset, size)


# over any array


def test_a_row_is_what_the_array_writes_without_reading() -> None:
    """Protects the gathering over nested arrays: RAID 50 fills a row of one group, RAID 10 a chunk of every mirror."""
    engine = Engine()
    parity, mirror = partial(small_raid5, engine), partial(small_mirror, engine)
    stripe = partial(striped, engine)
    assert row_bytes_of(parity()) == 2 * CHUNK
    assert row_bytes_of(stripe([parity(), parity()], 2 * CHUNK)) == 2 * CHUNK
    assert row_bytes_of(stripe([parity(), parity()], CHUNK)) == 4 * CHUNK
    assert row_bytes_of(stripe([mirror(), mirror(), mirror()], CHUNK)) == 3 * CHUNK
    assert row_bytes_of(mirror()) == 64 * KIB
    assert row_bytes_of(recorders(engine, 1)[0]) == 64 * KIB


@pytest.mark.parametrize("chunk", [2 * CHUNK, CHUNK])
def test_small_sequential_writes_to_raid_50_need_no_reads(chunk: int) -> None:
    """Protects the gathering through two levels, for both ways to fill the groups."""
    bench = ControllerBench()
    groups: list[Any] = []
    for _ in range(2):
        layout: Any = layout_for("raid5", 3, CHUNK, 16 * MIB)
        disks = recorders(bench.engine, 3, 16 * MIB)
        groups.append(ParityArray(bench.engine, "r5", disks, layout, ParitySettings(heads=0, hold=0.0)))
    raid50 = StripeArray(bench.engine, "r50", groups, StripedLayout([g.capacity for g in groups], chunk))
    controller = RaidController(bench.engine, "c1", raid50, bench.settings, bench.firmware)
    ClosedLoop(bench, controller, WRITE, PAGE, 2, sequential(PAGE, 16 * CHUNK))
    bench.run()
    for group in groups:
        assert group.row_writes == {"full": 4, "rmw": 0, "rcw": 0}


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"write_policy": "always"}, "write_policy"),
        ({"battery": "flat"}, "battery"),
        ({"low_water": 0.9}, "low_water 0.9, high_water 0.75"),
        ({"read_share": 1.0}, "read_share"),
        ({"command": -1.0}, "command"),
        ({"destage_depth": 0}, "destage_depth"),
    ],
)
def test_settings_that_no_controller_has_are_refused(wrong: dict[str, Any], says: str) -> None:
    """Protects against slips: the message names the setting."""
    with pytest.raises(ValueError, match=says):
        ControllerSettings(**wrong)


def test_memory_is_divided_by_policy() -> None:
    """Protects the shares: with write-back a part is for reads, else all of it, and none if the cache is off."""
    shares = {"cache": 8 * MIB, "read_share": 0.25}
    cases: list[tuple[dict[str, Any], int, int]] = [
        ({}, 6 * MIB, 2 * MIB),
        ({"write_policy": "write-through"}, 0, 8 * MIB),
        ({"battery": "charging"}, 0, 8 * MIB),
        ({"battery": "charging", "forced_write_back": True}, 6 * MIB, 2 * MIB),
        ({"write_policy": "off"}, 0, 0),
    ]
    for changes, write, read in cases:
        settings = ControllerSettings(**{**shares, **changes})
        assert (settings.write_bytes, settings.read_bytes) == (write, read)


@pytest.mark.parametrize(("rows", "ahead"), [(0, 0), (2, 0), (4, 2), (8, 2), (12, 4), (40, 18)])
def test_reading_ahead_leaves_half_of_a_large_read_memory_to_others(rows: int, ahead: int) -> None:
    """Protects short files: rows ahead of one must not push out those ahead of the next; a small one has two."""
    settings = ControllerSettings(cache=4 * rows * ROW, read_share=0.25)
    assert settings.most_ahead_rows(ROW) == ahead


@pytest.mark.parametrize(("rows", "ahead"), [(12, 4), (40, 8)])
def test_a_reader_gets_the_rows_ahead_that_its_memory_allows(rows: int, ahead: int) -> None:
    """Protects the limit where it acts, and counter-test: with a large memory as many rows come as are asked for."""
    bench = ControllerBench(level="raid0", cache=4 * rows * ROW, read_ahead_rows=8)
    for place in range(2):
        bench.issuer.read(place * PAGE, PAGE)
        bench.run()
    assert bench.member_bytes(READ) == (1 + ahead) * ROW


def test_requests_are_the_hosts_own() -> None:
    """Protects the issuer: the request that was submitted comes back, once, with its time of submission."""
    bench = ControllerBench()
    back: list[Request] = []
    request = Request(WRITE, 0, PAGE, back.append)
    bench.controller.plug()
    bench.controller.submit(request)
    bench.controller.unplug()
    bench.run()
    assert back == [request]
    assert request.submitted == 0.0
