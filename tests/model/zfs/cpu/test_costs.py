"""CPU time of blocks: published rates by instruction set, and the threads that do the work."""

from __future__ import annotations

from dataclasses import replace

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.model.tasks.prices import FREE, NotedPrices
from raidsim.model.zfs.arc.dbuf_cache import DbufCache
from raidsim.model.zfs.cpu.costs import NO_COSTS, Costs
from raidsim.model.zfs.cpu.rates import CHECKSUM, VECTORS
from raidsim.model.zfs.cpu.task_queue import TaskQueue

KIB, MIB = 1 << 10, 1 << 20


def costs(**named: str) -> Costs:
    """Costs on a core that reads memory in no time."""
    return Costs.of(NotedPrices(FREE), **named)


def test_published_rates_are_what_a_block_costs() -> None:
    """128 KiB with fletcher4 and AVX2; with two parities; compressed by LZ4 to half and back."""
    size = 128 * KIB
    assert costs().read_s(size) == pytest.approx(size / 22.4e9)
    assert costs().write_s(size, size, 2) == pytest.approx(size / 22.4e9 + size / (11 * 3.3e9))
    packed = costs(compressor="lz4")
    assert packed.write_s(size, size // 2, 0) == pytest.approx(size / 675e6 + size / 2 / 22.4e9)
    assert packed.decompress_s_per_byte == pytest.approx(1 / 3850e6)
    assert costs().decompress_s_per_byte == NO_COSTS.write_s(size, size, 2) == 0.0


@pytest.mark.parametrize("checksum", sorted(CHECKSUM))
def test_better_vectors_are_never_slower(checksum: str) -> None:
    """Checksums, parity and reconstruction; more parities and more lost columns cost more."""
    previous = [float("inf")] * 3
    for vectors in VECTORS:
        each = costs(vectors=vectors, checksum=checksum)
        found = [each.write_s(MIB, MIB, parity) + each.read_s(MIB, parity) for parity in (1, 2, 3)]
        assert found == sorted(found)
        assert all(now <= 1.001 * before for now, before in zip(found, previous, strict=True))
        previous = found


def test_data_come_from_memory_once() -> None:
    """A core that reads 10 GB/s spends no less on a block than that, and no more on one with a slow checksum."""
    prices = NotedPrices(replace(FREE, xor_s_per_byte=1e-10))
    assert Costs.of(prices).read_s(MIB) == pytest.approx(MIB * 1e-10)
    assert Costs.of(prices, checksum="sha256").read_s(MIB) == pytest.approx(MIB / (313 * MIB))


@pytest.mark.parametrize(("cores", "threads"), [(1, 1), (5, 4), (16, 12)])
def test_four_fifths_of_the_cores_compute(cores: int, threads: int) -> None:
    """As many blocks are done at a time as there are threads, in the order in which they came."""
    engine = Engine()
    queue = TaskQueue(Host(Cpu(engine, cores), FREE))
    done: list[tuple[float, int]] = []
    for number in range(2 * threads + 1):
        queue.run(1.0, lambda number=number: done.append((engine.now, number)))  # type: ignore[misc]
    engine.run(until=10.0)
    assert [round(time) for time, _ in done] == [1] * threads + [2] * threads + [3]
    assert [number for _, number in done] == list(range(2 * threads + 1))


def test_without_a_host_work_takes_no_time() -> None:
    """Counter-test."""
    done: list[int] = []
    TaskQueue(None).run(1.0, lambda: done.append(1))
    assert done == [1]


def test_the_dbuf_cache_keeps_what_was_used_last() -> None:
    """Of three blocks with room for two, the one that was used longest ago is gone."""
    cache = DbufCache(2 * KIB)
    assert cache.missing(1, 2, KIB) == 2
    assert cache.missing(1, 1, KIB) == 0
    assert cache.missing(3, 3, KIB) == 1
    assert cache.missing(1, 1, KIB) == 0
    assert cache.missing(2, 2, KIB) == 1
