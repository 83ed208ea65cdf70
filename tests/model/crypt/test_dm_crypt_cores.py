"""Which cores dm-crypt uses: pools of workers with a lock, the core of an I/O, the one thread that submits writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from raidsim.model.block.hardware_queues import HardwareQueues
from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice, linear_service
from raidsim.model.crypt.dm_crypt import CryptPipeline, CryptSettings
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.model.tasks.lock import Lock, QueuedLock
from raidsim.model.tasks.prices import FREE

CORES = 8
LINE_S = 50e-9
POOL_S = 2e-6
SETTINGS = CryptSettings(s_per_byte=1e-9)
SPAN_S = 0.02


class Bench:
    """Eight cores of 1 GB/s each, and a drive with a hardware queue for each core that takes 10 us for anything."""

    def __init__(self, *, pools: int = 0, bio_s: float = 0.0, spreads: bool = True, **changes: Any) -> None:
        self.engine = Engine(1)
        self.cpu = Cpu(self.engine, CORES)
        host = Host(self.cpu, replace(FREE, bio_s=bio_s))
        drive = FixedServiceDevice(self.engine, "d", 1 << 40, linear_service(10e-6), 1024)
        below = HardwareQueues(self.engine, host, drive, depth=1024, hardware_queues=CORES if spreads else 1)
        self.pools: Sequence[Lock] = [QueuedLock(f"pool {at}", "a kernel", LINE_S) for at in range(pools)]
        settings = replace(SETTINGS, **changes)
        self.crypt = CryptPipeline(self.engine, below, host, settings, "secret", self.pools)

    def rate(self, *, jobs: int = CORES, depth: int = 8, size: int = 4096, read_share: float = 1.0) -> float:
        """I/Os a second of jobs on a core each, whose own work costs nothing."""
        loads = [
            ClosedLoad(
                self.engine, self.crypt, size=size, depth=depth, read_share=read_share, issuer=at, name=f"job {at}"
            )
            for at in range(jobs)
        ]
        self.engine.run_to(SPAN_S)
        return sum(load.reads + load.writes for load in loads) / SPAN_S


@pytest.mark.parametrize("read_share", [0.0, 1.0])
def test_a_pool_takes_no_more_than_its_lock_lets_through(read_share: float) -> None:
    """Protects the ceiling of small I/Os: an item holds the lock for its work, and twelve cache lines if another core
    held it before. Counter-test: without a lock the cores limit.
    """
    found = Bench(pools=1, pool_s=POOL_S, s_per_byte=1e-11).rate(read_share=read_share)
    assert 0.95 / (POOL_S + 12 * LINE_S) < found <= 1.01 / POOL_S
    assert Bench(pool_s=POOL_S, s_per_byte=1e-11).rate(read_share=read_share) > 2 * found


def test_a_pool_for_each_node_takes_as_much() -> None:
    """Each memory node has a pool of its own, so two nodes take twice the items."""
    one, two = (Bench(pools=count, pool_s=POOL_S, s_per_byte=1e-11).rate() for count in (1, 2))
    assert two == pytest.approx(2 * one, rel=0.1)


def test_large_ios_do_not_wait_for_the_pool() -> None:
    """Counter-test: of 256 KiB each, the cores limit, whatever the lock."""
    size = 256 << 10
    locked = Bench(pools=1, pool_s=POOL_S).rate(size=size, depth=4)
    assert locked == pytest.approx(Bench().rate(size=size, depth=4), rel=0.02)
    assert locked * size == pytest.approx(CORES * 1e9, rel=0.1)


@pytest.mark.parametrize("changes", [{"same_core": True}, {"queues_reads": False}])
def test_the_core_of_a_job_decrypts_for_it(changes: dict[str, Any]) -> None:
    """Protects same_cpu_crypt and no_read_workqueue: what one job reads is decrypted by one core, and that core is
    named as the one that has no time left. Counter-test: workers of a pool take all cores.
    """
    size = 64 << 10
    bench = Bench(**changes)
    assert bench.rate(jobs=1, size=size, depth=32) * size == pytest.approx(1e9, rel=0.05)
    assert bench.cpu.pinned_s[0] == pytest.approx(SPAN_S + 32 * size * 1e-9, rel=0.05)
    assert max(bench.cpu.pinned_s[1:]) == 0.0
    assert Bench(**changes).rate(jobs=2, size=size, depth=32) * size == pytest.approx(2e9, rel=0.05)
    assert Bench().rate(jobs=1, size=size, depth=32) * size == pytest.approx(CORES * 1e9, rel=0.1)


def test_the_submitter_of_a_write_encrypts_it_on_its_core() -> None:
    """Protects no_write_workqueue: one job's writes are one core's."""
    size = 64 << 10
    bench = Bench(queues_writes=False)
    assert bench.rate(jobs=1, size=size, depth=32, read_share=0.0) * size == pytest.approx(1e9, rel=0.05)
    assert bench.cpu.pinned_s[0] == pytest.approx(SPAN_S + 32 * size * 1e-9, rel=0.05)


def test_where_any_core_is_interrupted_no_core_is_named() -> None:
    """Counter-test: behind a drive with a single queue the work of one job is still done one by one, on any core."""
    size = 64 << 10
    bench = Bench(queues_reads=False, spreads=False)
    assert bench.rate(jobs=1, size=size, depth=32) * size == pytest.approx(1e9, rel=0.05)
    assert max(bench.cpu.pinned_s) == 0.0


def test_one_thread_submits_all_writes() -> None:
    """Protects dmcrypt_write: it submits one write after the other, and it is full when that limits. Counter-test: with
    submit_from_crypt_cpus the workers submit.
    """
    bench = Bench(bio_s=5e-6, s_per_byte=1e-11)
    assert bench.rate(read_share=0.0) == pytest.approx(1 / 5e-6, rel=0.1)
    assert bench.crypt.thread_s == pytest.approx(SPAN_S, rel=0.1)
    free = Bench(bio_s=5e-6, s_per_byte=1e-11, sorts_writes=False)
    assert free.rate(read_share=0.0) > 3 / 5e-6
    assert free.crypt.thread_s == 0.0


def test_time_for_encryption_is_counted() -> None:
    """Protects what results list: CPU time of workers and of those that do without them, from the start on."""
    for changes in ({}, {"same_core": True}, {"queues_reads": False}):
        bench = Bench(**changes)
        ios = bench.rate(jobs=1, depth=1) * SPAN_S
        assert bench.crypt.busy_s == pytest.approx(ios * 4096e-9, rel=0.02)
        bench.crypt.start_statistics()
        assert bench.crypt.busy_s == 0.0
