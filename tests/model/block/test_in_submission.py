"""Work of a driver inside the submission: whose time it is, what waits for it, and what does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from raidsim.model.block.bio_queue import BioQueue
from raidsim.model.block.in_submission import MOVED, SubmissionWork
from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.core.engine import Engine
from raidsim.model.core.request import PARITY_THREADS, READ, TRIM, WRITE, Request
from raidsim.model.drives.catalogue import drive
from raidsim.model.links.link import Link
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.model.solid_state.drive import SolidState
from raidsim.model.solid_state.spec import SolidStateSpec
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.model.tasks.prices import FREE

COPY_S = 4096e-9
"""4 KiB at 1 GB/s."""
COMMAND_S = 0.5e-6
SUBMIT_S = 2e-6


class Bench:
    """RAM disks of one host whose cores copy 1 GB/s each; `inside` says whether they do that in the submission."""

    def __init__(self, cores: int = 8, disks: int = 1, *, inside: bool = True, memory: Link | None = None) -> None:
        self.engine = Engine(0)
        self.cpu = Cpu(self.engine, cores)
        self.host = Host(self.cpu, replace(FREE, copy_s_per_byte=1e-9))
        spec = drive("RAM-disk")
        assert isinstance(spec, SolidStateSpec)
        self.drives, self.queues = [], []
        for number in range(disks):
            work = SubmissionWork(
                self.engine, self.host, COMMAND_S, COMMAND_S, copies=True, by_page=True, memory=memory
            )
            ram = SolidState(self.engine, spec, f"ram{number}", driver=work if inside else None)
            self.drives.append(ram)
            self.queues.append(BioQueue(self.engine, self.host, ram))

    def rate(self, threads: int, depth: int, seconds: float = 5e-3, **more: Any) -> float:
        """Reads of 4 KiB a second of this number of threads on the first disk."""
        costs: dict[str, Any] = {"submit_s": SUBMIT_S, "wake_s": 50e-6, "cpu": self.cpu, "host": self.host}
        loads = [
            ClosedLoad(self.engine, self.queues[0], size=4096, depth=depth, issuer=1 + n, name=f"l{n}", **costs, **more)
            for n in range(threads)
        ]
        self.engine.run_to(seconds)
        return sum(load.reads for load in loads) / seconds


def test_one_thread_does_one_copy_at_a_time_and_two_do_two() -> None:
    """Protects the limit of a thread: 1 / (call + command + copy), whatever its depth; no I/O wakes it.

    The counter-test is the drive that works while the thread goes on: the thread is limited by its calls alone.
    """
    one = 1.0 / (SUBMIT_S + COMMAND_S + COPY_S)
    assert Bench().rate(1, 32) == pytest.approx(one, rel=0.01)
    assert Bench().rate(1, 1) == pytest.approx(one, rel=0.01)
    assert Bench().rate(2, 32) == pytest.approx(2 * one, rel=0.01)
    assert Bench(cores=1).rate(2, 32) == pytest.approx(one, rel=0.02)
    assert Bench(inside=False).rate(1, 32) == pytest.approx(1.0 / SUBMIT_S, rel=0.1)


def test_what_the_driver_does_is_time_of_the_cpu() -> None:
    """Protects conservation: the CPU is as busy as calls, commands and copies; with the driver off as the calls."""
    bench = Bench()
    done = bench.rate(3, 8) * 5e-3
    assert bench.cpu.busy_s == pytest.approx(done * (SUBMIT_S + COMMAND_S + COPY_S), rel=0.02)
    assert bench.drives[0]._driver is not None
    assert bench.drives[0]._driver.busy_s == pytest.approx(done * (COMMAND_S + COPY_S), rel=0.01)
    (usage,) = bench.drives[0].usages(5e-3)
    assert usage.utilization == pytest.approx(done * (COMMAND_S + COPY_S) / 5e-3 / 8, rel=0.01)
    off = Bench(inside=False)
    done = off.rate(3, 8) * 5e-3
    assert off.cpu.busy_s < done * (SUBMIT_S + COMMAND_S + COPY_S)


def test_a_thread_submits_to_no_other_device_meanwhile() -> None:
    """Protects the order of a thread: its second copy begins after the first, on another disk; another thread's does
    not wait.
    """
    bench, done = Bench(disks=2), {}

    def sent(issuer: int, disk: int, name: str) -> None:
        def over(_: Request) -> None:
            done[name] = bench.engine.now

        bench.queues[disk].submit(Request(WRITE, 0, 4096, over, issuer))

    sent(1, 0, "first")
    sent(1, 1, "second")
    sent(2, 1, "other")
    assert bench.queues[0].sleeps(1)
    bench.engine.run()
    once = COMMAND_S + COPY_S
    assert done == pytest.approx({"first": once, "second": 2 * once, "other": once})
    assert not bench.host.computing
    assert not bench.host.sleepers


def test_requests_of_a_plug_are_done_one_by_one() -> None:
    """Protects requests of a plug, which reach the device in one moment: a thread still works one by one."""
    bench = Bench()
    queue = BlkMqQueue(bench.engine, bench.host, bench.drives[0], depth=4)
    ends: list[float] = []
    queue.plug()
    for place in range(6):  # two more than there are tags: the thread sleeps, with its plug sent
        queue.submit(Request(READ, place * 65536, 4096, lambda _: ends.append(bench.engine.now), 1))
    queue.unplug()
    bench.engine.run()
    once = COMMAND_S + COPY_S
    assert ends == pytest.approx([once * (1 + number) for number in range(6)])
    assert not bench.host.sleepers


def test_md_submits_each_page_of_a_stripe_head() -> None:
    """Protects the price of raid5d's I/Os: a request of its 16 pages is 16 commands; a program's is one."""
    spent = {}
    for issuer in (PARITY_THREADS, 1):
        bench = Bench()
        bench.queues[0].submit(Request(WRITE, 0, 65536, lambda _: None, issuer))
        bench.engine.run()
        spent[issuer] = bench.cpu.busy_s
    assert spent[1] == pytest.approx(COMMAND_S + 16 * COPY_S)
    assert spent[PARITY_THREADS] - spent[1] == pytest.approx(15 * COMMAND_S)


def test_flushes_cost_nothing_and_discards_copy_nothing() -> None:
    """Protects what moves no data: no cache is there to flush."""
    bench, done = Bench(), []
    bench.queues[0].flush(lambda: done.append(bench.engine.now))
    bench.engine.run()
    assert done == [0.0]
    assert bench.cpu.busy_s == 0.0
    bench.queues[0].submit(Request(TRIM, 0, 1 << 20, lambda _: done.append(bench.engine.now), 1))
    bench.engine.run()
    assert done == pytest.approx([0.0, COMMAND_S])


def test_copies_of_all_cores_share_memory() -> None:
    """Protects the limit of memory: eight cores copy no more than it moves, three bytes for each, and wait for it.

    The counter-test is memory that moves more than they copy.
    """
    limited = Bench(memory=Link("host memory", MOVED * 2e9))
    assert 4096 * limited.rate(8, 4) == pytest.approx(2e9, rel=0.05)
    assert limited.cpu.busy_s == pytest.approx(8 * 5e-3, rel=0.1)
    ample = Bench(memory=Link("host memory", MOVED * 20e9)).rate(8, 4)
    assert ample == pytest.approx(Bench().rate(8, 4), rel=0.01)


def test_work_of_no_time_ends_and_commands_are_paid_by_programs() -> None:
    """Protects a null block device: many requests of a kernel thread end in one moment; a program pays its command."""
    bench, ends = Bench(), []
    work = SubmissionWork(bench.engine, bench.host, 0.0, 0.0, copies=False, command_s=3e-6)
    null = SolidState(bench.engine, bench.drives[0].spec, "null", driver=work)
    queue = BlkMqQueue(bench.engine, bench.host, null, depth=64, program_pays=True)
    for issuer in (PARITY_THREADS, 1):
        for place in range(4):
            queue.submit(Request(READ, place * 65536, 4096, lambda _: ends.append(bench.engine.now), issuer))
    bench.engine.run()
    assert ends == pytest.approx([0.0] * 4 + [3e-6 * (1 + number) for number in range(4)])
    assert bench.cpu.busy_s == pytest.approx(4 * 3e-6)
    assert not bench.host.sleepers
    assert not bench.host.computing
