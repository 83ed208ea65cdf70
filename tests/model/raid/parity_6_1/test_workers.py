"""Several threads for the stripes of one array: where one is what limits, and where it is not; FUA to the members."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.core.request import WAITED, WRITE, WRITE_THROUGH, Request
from raidsim.model.layouts import ParityLayout, layout_for
from raidsim.model.raid.parity.array import ParityArray
from raidsim.model.raid.stripes.settings import ParitySettings
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.model.tasks.prices import FREE
from raidsim.tests.model.recording import KIB, MIB, Recorder

PAGE = 4 * KIB
PRICES = replace(FREE, stripe_s=0.5e-6, bio_s=0.6e-6, clone_s=0.8e-6, xor_s_per_byte=1e-10, copy_s_per_byte=1e-10)


class Noting(Recorder):
    """Takes down how urgent writes are."""

    __slots__ = ("syncs",)

    def __init__(self, engine: Engine, name: str) -> None:
        super().__init__(engine, name)
        self.syncs: list[int] = []

    def submit(self, request: Request) -> None:
        if request.op == WRITE:
            self.syncs.append(request.sync)
        super().submit(request)


class Loaded:
    """Random writes of `size` bytes, many at a time, on RAID 5 of four members behind eight cores."""

    def __init__(self, workers: int, service_s: float, cores: int = 8, depth: int = 256, size: int = PAGE) -> None:
        self.engine = Engine()
        self.cpu = Cpu(self.engine, cores)
        members = [Recorder(self.engine, f"d{i}", 64 * MIB, service_s, 64) for i in range(4)]
        layout = layout_for("raid5", 4, 64 * KIB, [64 * MIB] * 4)
        assert isinstance(layout, ParityLayout)
        settings = ParitySettings(heads=4096, hold=None, direct_reads=True, workers=workers)
        self.array = ParityArray(self.engine, "md0", members, layout, settings, Host(self.cpu, PRICES))
        self._random = np.random.default_rng(1)
        self._size = size
        self._blocks = self.array.capacity // size
        self.over = 0
        for _ in range(depth):
            self._next()

    def _next(self, _: Request | None = None) -> None:
        self.over += 1
        offset = int(self._random.integers(self._blocks)) * self._size
        self.array.submit(Request(WRITE, offset, self._size, self._next, 1, WAITED))

    def rate(self, seconds: float = 0.008) -> float:
        """Writes a second, after half as long."""
        self.engine.run(until=seconds / 2)
        before = self.over
        self.engine.run(until=1.5 * seconds)
        return (self.over - before) / seconds


def test_one_thread_is_what_limits_fast_members() -> None:
    """Protects group_thread_cnt: on members of 20 us md's one thread is busy all the time while seven cores idle. Three
    workers and md's thread, which handles stripes as well, do nearly four times as many random writes.
    """
    one, four = Loaded(0, 20e-6), Loaded(3, 20e-6)
    alone, together = one.rate(), four.rate()
    assert one.array.threads[0].busy_s / one.engine.now > 0.95
    assert 3.0 * alone < together < 4.2 * alone
    assert len(four.array.threads) == 4
    assert all(thread.busy_s > 0.7 * four.engine.now for thread in four.array.threads)


@pytest.mark.parametrize(("size", "busy"), [(PAGE, 2), (64 * KIB, 9)])
def test_heads_wake_workers_and_not_writes(size: int, busy: int) -> None:
    """Protects what wakes a worker: eight heads. Eight writes of 64 KiB are 128 heads, which all eight workers and md's
    thread share; counter-test: eight writes of 4 KiB are eight, for md's thread and the first worker.
    """
    loaded = Loaded(8, 20e-6, cores=16, depth=8, size=size)
    loaded.rate()
    used = [thread.busy_s / loaded.engine.now for thread in loaded.array.threads]
    assert sum(share > 0.1 for share in used) == busy


def test_slow_members_do_not_need_it() -> None:
    """Counter-test: on members of 8 ms the thread has little to do, and four of them change nothing."""
    alone, together = (Loaded(workers, 8e-3, depth=64).rate(0.4) for workers in (0, 4))
    assert together == pytest.approx(alone, rel=0.03)


def test_more_threads_than_cores_are_no_faster() -> None:
    """Counter-test: what they compute is CPU time; eight threads on two cores do no more than two cores can."""
    two_cores = Loaded(8, 20e-6, cores=2)
    two_cores.rate()
    assert two_cores.cpu.busy_s <= 2.05 * two_cores.engine.now
    assert Loaded(8, 20e-6, cores=2).rate() < 1.15 * Loaded(1, 20e-6, cores=2).rate()


def test_one_worker_is_a_second_thread() -> None:
    """Protects raid5d from being left out: with one worker two threads handle stripes, at twice the rate of one."""
    assert Loaded(1, 20e-6).rate() == pytest.approx(2 * Loaded(0, 20e-6).rate(), rel=0.15)


def test_a_write_through_is_one_on_the_members_too() -> None:
    """Protects FUA on parity arrays: data and parity go through the members' caches; ordinary writes do not."""
    for sync in (WRITE_THROUGH, WAITED):
        engine = Engine()
        members = [Noting(engine, f"d{i}") for i in range(4)]
        layout = layout_for("raid5", 4, 64 * KIB, [64 * MIB] * 4)
        assert isinstance(layout, ParityLayout)
        array = ParityArray(engine, "md0", members, layout, ParitySettings(hold=None, most_heads=512))
        array.submit(Request(WRITE, 0, PAGE, lambda _: None, 1, sync))
        engine.run()
        assert sorted(each for member in members for each in member.syncs) == [sync, sync]
