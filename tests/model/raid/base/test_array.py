"""What every array has: members, failed ones, room, and joining completions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from raidsim.model.block.single_queue import BlockQueue, PlugSettings
from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import ArrayFailed, ModelError
from raidsim.model.core.fixed_service import FixedServiceDevice
from raidsim.model.core.join import FORWARD, Join
from raidsim.model.core.request import READ, WRITE, Request
from raidsim.model.layouts import layout_for
from raidsim.model.raid.base.array import Array
from raidsim.model.raid.striped.stripe import StripeArray
from raidsim.model.schedulers import Noop
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.model.tasks.prices import FREE, UNPAID
from raidsim.tests.model.recording import KIB, MIB, Issuer, Recorder, recorders


class Primary(Array):
    """The least array there is: everything goes to slot 0."""

    __slots__ = ()

    def _read(self, request: Request) -> None:
        self._members[0].submit(Request(request.op, request.offset, request.size, FORWARD, parent=request))

    _write = _read


def queues(engine: Engine, count: int, limit_bytes: int = 8 * KIB) -> list[BlockQueue]:
    """Members behind queues that let go only when somebody waits."""
    host = Host(Cpu(engine))
    plug = PlugSettings(0, 0.0)
    return [
        BlockQueue(engine, host, disk, Noop(128 * KIB), 1, limit_bytes, 1 << 30, plug)
        for disk in recorders(engine, count)
    ]


def test_a_join_waits_for_all() -> None:
    """Protects completions of split requests: the third of three ends it, once."""
    over: list[bool] = []
    join = Join(3, lambda: over.append(True))
    request = Request(READ, 0, 512, join.done)
    for expected in ([], [], [True]):
        join.done(request)
        assert over == expected


def test_an_array_needs_to_know_how_to_read_and_write() -> None:
    """Protects from an array that accepts requests and loses them."""
    array = Array(Engine(), "md0", [], 0)  # type: ignore[abstract]
    for op, words in ((READ, "serves no reads"), (WRITE, "serves no writes")):
        with pytest.raises(ModelError, match=words):
            array.submit(Request(op, 0, 512, lambda _: None))


def test_requests_are_counted_and_answered() -> None:
    """Protects the counts and the time of submission that latencies are measured from."""
    engine = Engine()
    array = Primary(engine, "md0", recorders(engine, 2), 64 * MIB)
    issuer = Issuer(engine, array)
    sent: list[Request] = []
    engine.call_at(0.5, lambda _: sent.append(issuer.read(0, 4 * KIB)))
    engine.call_at(0.5, lambda _: sent.append(issuer.write(0, 4 * KIB)))
    engine.run()
    assert (array.reads, array.writes) == (1, 1)
    assert [request.submitted for request in sent] == [0.5, 0.5]
    assert [now for now, _, _ in issuer.done] == pytest.approx([0.501, 0.502])


def test_failed_slots_exist() -> None:
    """Protects from a failed member that is none, and from rebuilding onto a healthy one."""
    engine = Engine()
    with pytest.raises(ArrayFailed, match="failed slot 2 of 2"):
        Primary(engine, "md0", recorders(engine, 2), MIB, failed=[2])
    array = Primary(engine, "md0", recorders(engine, 2), MIB, failed=[1])
    with pytest.raises(ArrayFailed, match="slot 0 has not failed"):
        array.rebuild_onto(0)
    array.rebuild_onto(1)
    assert (sorted(array.failed), sorted(array.rebuilding)) == ([1], [1])
    array.rebuilt(1)
    assert (sorted(array.failed), sorted(array.rebuilding)) == ([], [])


def test_an_array_has_room_when_all_members_have() -> None:
    """Protects throttling through an array: one full member stops writers, and they go on when it has room again."""
    engine = Engine()
    members = queues(engine, 2)
    array = Primary(engine, "md0", members, 64 * MIB)
    room = [array.has_room]
    went_on: list[float] = []
    array.when_room(lambda: went_on.append(engine.now))
    assert went_on == [0.0], "nobody waits for nothing"
    issuer = Issuer(engine, array)
    issuer.write(0, 4 * KIB)
    issuer.write(8 * KIB, 4 * KIB)
    assert not members[0].has_room
    assert members[1].has_room
    assert [*room, array.has_room] == [True, False]
    array.when_room(lambda: went_on.append(engine.now))
    engine.run()
    assert went_on == pytest.approx([0.0, 0.001])


def test_unplugging_reaches_the_members() -> None:
    """Protects whoever waits for an array: the members' queues let go; without it nothing moves."""
    engine = Engine()
    array = Primary(engine, "md0", queues(engine, 1), 64 * MIB)
    issuer = Issuer(engine, array)
    issuer.read(0, 4 * KIB)
    engine.run(until=1.0)
    assert issuer.done == []
    array.unplug()
    engine.run()
    assert len(issuer.done) == 1


def test_arrays_of_plain_devices_always_have_room() -> None:
    """Protects teaching and tests: members without a queue neither plug nor fill up."""
    engine = Engine()
    array = Primary(engine, "md0", recorders(engine, 1), 64 * MIB)
    array.unplug()
    assert array.has_room
    assert array.prices is UNPAID
    assert array.foreground_bytes == 0


def test_foreground_is_the_members_sum() -> None:
    """Protects idle detection of the resync thread: it looks at all members."""
    engine = Engine()
    members = queues(engine, 2)
    array = Primary(engine, "md0", members, 64 * MIB)
    for slot, size in enumerate((4 * KIB, 8 * KIB)):
        members[slot].submit(Request(WRITE, 0, size, lambda _: None))
        members[slot].unplug()
    engine.run()
    assert array.foreground_bytes == 12 * KIB


def test_arrays_nest() -> None:
    """Protects nesting: an array is a device, and the inner one gets what the outer sends."""
    engine = Engine()
    disk = Recorder(engine)
    inner = Primary(engine, "md0", [disk], 64 * MIB)
    outer: Any = Primary(engine, "md1", [inner], 64 * MIB)
    issuer = Issuer(engine, outer)
    issuer.read(4 * KIB, 4 * KIB)
    engine.run()
    assert disk.log == [(READ, 4 * KIB, 4 * KIB)]
    assert len(issuer.done) == 1


class _Flushed(FixedServiceDevice):
    """A device that takes 1 ms to flush its cache."""

    __slots__ = ()

    def flush(self, done: Callable[[], None]) -> None:
        self._engine.call_at(self._engine.now + 0.001, lambda _: done())


def _flush_s(members: int, bio_s: float, switch_s: float) -> tuple[float, float]:
    """How long a flush of an array takes, and the CPU time that it costs (s)."""
    engine = Engine()
    cpu = Cpu(engine)
    devices = [_Flushed(engine, f"d{slot}", 1 << 30, lambda size, op: 0.001) for slot in range(members)]
    host = Host(cpu, replace(FREE, bio_s=bio_s, switch_s=switch_s))
    over: list[float] = []
    StripeArray(engine, "md0", devices, layout_for("raid0", members, 65536, [1 << 30] * members), host).flush(
        lambda: over.append(engine.now)
    )
    engine.run()
    return over[0], cpu.busy_s


@pytest.mark.parametrize("members", [2, 8])
def test_a_flush_wakes_two_threads_and_makes_a_bio_for_each_member(members: int) -> None:
    """Protects the rate of fsync on arrays: below that of a drive, and the lower the more members there are."""
    over_s, busy_s = _flush_s(members, 10e-6, 100e-6)
    assert busy_s == pytest.approx(2 * 100e-6 + members * 10e-6)
    assert over_s == pytest.approx(0.001 + busy_s)


def test_a_flush_that_costs_nothing_takes_as_long_as_that_of_a_member() -> None:
    """The counter-test: without these prices an array flushes as fast as one drive."""
    assert _flush_s(8, 0.0, 0.0) == (0.001, 0.0)
