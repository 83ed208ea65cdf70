"""Reads of a degraded parity array by md's thread: which heads come first, and what that makes of the requests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.core.engine import Engine
from raidsim.model.core.request import READ
from raidsim.model.layouts import ParityLayout, layout_for
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.model.raid.parity.array import ParityArray
from raidsim.model.raid.stripes.settings import ParitySettings
from raidsim.model.schedulers import MqDeadline
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.tests.model.raid.parity_bench import CHUNK
from raidsim.tests.model.raid.parity_bench import Bench as ParityBench
from raidsim.tests.model.recording import KIB, MIB, Recorder


class Bench:
    """A RAID 5 of four or RAID 6 of six without `failed`, over members of 1 ms that serve one request at a time."""

    def __init__(self, level: str, failed: tuple[int, ...], cores: int = 1, chunk: int = 64 * KIB) -> None:
        self.engine = Engine()
        self.cpu = Cpu(self.engine, cores)
        host = Host(self.cpu)
        count = 4 if level == "raid5" else 6
        self.disks = [Recorder(self.engine, f"d{slot}", 64 * MIB) for slot in range(count)]
        queues = [BlkMqQueue(self.engine, host, disk, depth=1, scheduler=MqDeadline(64 * KIB)) for disk in self.disks]
        layout = layout_for(level, count, chunk, [64 * MIB] * count)
        assert isinstance(layout, ParityLayout)
        self.layout = layout
        settings = ParitySettings(heads=256, hold=None, direct_reads=True)
        self.array = ParityArray(self.engine, "md0", queues, layout, settings, host, failed)

    def read(self, chunks: list[int], **options: Any) -> list[int]:
        """Read chunks one after the other; how many requests each member served."""
        chunk = self.layout.chunk_bytes

        def ios() -> Iterator[tuple[int, int, int]]:
            for number in chunks:
                yield READ, number * chunk, chunk
            load.stop()
            yield READ, 0, chunk

        load = ClosedLoad(self.engine, self.array, size=chunk, ios=ios(), submit_s=6e-6, complete_s=4e-6, cpu=self.cpu)
        self.engine.run(until=0.01 * len(chunks))
        assert load.reads >= len(chunks)
        return [len(disk.sent(READ)) for disk in self.disks]


@pytest.mark.parametrize(
    ("level", "failed", "requests"),
    [
        ("raid5", (0,), [0, 5, 6, 5]),
        ("raid6", (1,), [7, 0, 7, 9, 8, 9]),
        ("raid6", (0, 3), [0, 8, 8, 0, 8, 8]),
    ],
)
def test_the_heads_in_the_thread_s_hand_come_first(level: str, failed: tuple[int, ...], requests: list[int]) -> None:
    """Protects sequential reads of a degraded array by one reader: every second read of a row that needs its members is
    two requests, 32 KiB from the middle of the chunk and 32 KiB from its beginning. The recorded members served as many
    in a period of the layout: 4.99, 5.99 and 5.01; 7.03, 6.97, 8.95, 7.96 and 8.98; 8.01, 8.01, 8.01 and 7.99.
    """
    bench = Bench(level, failed)
    period = bench.layout.period * bench.layout.data_members
    once = bench.read(list(range(4 * period)))
    assert [round(served / 4) for served in once] == requests
    halves = [place for disk in bench.disks for place in disk.sent(READ) if place[1] == 32 * KIB]
    assert halves
    assert all(offset % (64 * KIB) in (0, 32 * KIB) for offset, _ in halves)


@pytest.mark.parametrize(
    ("cores", "chunk", "chunks"),
    [
        (2, 64 * KIB, list(range(48))),
        (1, 32 * KIB, list(range(48))),
        (1, 64 * KIB, [4 * (7 * number % 48) for number in range(48)]),
    ],
    ids=["the reader has a core of its own", "a chunk is one batch", "no row is read twice"],
)
def test_otherwise_a_chunk_is_one_request(cores: int, chunk: int, chunks: list[int]) -> None:
    """Counter-tests: the heads are put down before the reader goes on, are all in hand, or are those of another row."""
    bench = Bench("raid5", (0,), cores, chunk)
    bench.read(chunks)
    assert {size for disk in bench.disks for _, size in disk.sent(READ)} == {chunk}


def handled(chunk: int, ios: int = 1, again: bool = False) -> float:
    """How often md's thread handles the 16 heads of a chunk for a number of reads of it at once.

    The chunk is number `chunk` of a RAID 5 of four whose member 0 is lost; `again`: a second time.
    """
    bench = ParityBench(failed=(0,), prices={"stripe_s": 1e-6}, hold=None, direct_reads=True, heads=256)
    for _ in range(1 + again):
        before = bench.cpu.kernel_s
        for _ in range(ios):
            bench.issuer.read(chunk * CHUNK, CHUNK)
        bench.engine.run()
    return (bench.cpu.kernel_s - before) / 16e-6


@pytest.mark.parametrize(
    ("chunk", "again", "passes"),
    [(1, False, 3), (0, False, 4), (1, True, 2), (0, True, 2)],
    ids=["read", "computed", "read before", "computed before"],
)
def test_a_head_is_handled_for_each_step_of_a_read(chunk: int, again: bool, passes: int) -> None:
    """Protects md's CPU time: a head is handled to send its reads, to compute a lost block, to copy, and after the
    answer. Counter-test: a head that holds the block is handled twice.
    """
    assert handled(chunk, again=again) == pytest.approx(passes)


def test_one_pass_over_a_head_serves_all_that_wait_in_it() -> None:
    """Protects the CPU time of reads in the same heads: four that come at once cost as much as one."""
    assert handled(1, ios=4) == pytest.approx(handled(1))
