"""Random reads beside the rebuild of RAID 5: who holds the stripe heads, whose I/O makes the array busy, and which
drive has the rebuild's queue.
"""

from __future__ import annotations

from raidsim.model.core.request import READ, Request
from raidsim.model.raid.parity.array import ParityArray
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.machine.machine import BuiltMachine

TEXT = """
kernel: {kernel}
machine: {{model: storage-server, drives: {{model: Ultrastar-DC-HC310-6TB, count: 4{own}}}}}
arrays:
  md0:
    level: raid5
    chunk: 512KiB
    bitmap: none
    failed: [disk3]
    rebuilding: [disk3]
    resync: {{stripe_heads: {heads}}}
workload: {{kind: load, targets: [md0], iops: 1, read_share: 100%, warm_up: 0s, duration: 1h}}
"""
SPAN_S = 0.6


def reads_and_rate(kernel: str, heads: int = 32768) -> tuple[int, float]:
    """Reads of one reader in a second, and the rebuild's rate (MB/s), with a stripe cache of so many heads.

    The reader comes when the resync has all heads. The 600 ms in which these may be given back are left out.
    """
    machine = BuiltMachine(document_from(TEXT.format(kernel=kernel, heads=heads, own="")).spec())
    (array,) = machine.arrays.values()
    assert isinstance(array, ParityArray)
    array.cache.most_heads = heads
    (resync,) = machine.resyncs.values()
    machine.engine.spawn(resync.run())
    machine.engine.run_to(0.25)
    served = 0

    def read(_: object = None) -> None:
        nonlocal served
        served += 1
        at = (served * 7919 * 4096 * 1021 + (1 << 40)) % array.capacity // 4096 * 4096
        array.submit(Request(READ, at, 4096, read, 1))
        array.unplug()

    read()
    machine.engine.run_to(0.25 + SPAN_S)
    served, before = 0, resync.done_bytes
    machine.engine.run_to(0.25 + 2 * SPAN_S)
    return round(served / SPAN_S), (resync.done_bytes - before) / SPAN_S / 1e6


def test_a_rebuild_starves_random_reads() -> None:
    """Protects the starving: the resync holds all 32,768 heads, and reads that wait for one are not seen as load."""
    reads, rate = reads_and_rate("linux-6.12")
    assert reads < 20
    assert rate > 120


def test_a_small_stripe_cache_does_not_starve_them() -> None:
    """The counter-test of the heads: a cache of 256, which does not grow, gives a read its head within milliseconds."""
    reads, _ = reads_and_rate("linux-6.12", 256)
    assert reads > 40


def test_a_kernel_that_sees_the_array_s_own_io_gives_way() -> None:
    """The counter-test of the idle test: 6.16 and later see the waiting read, and drain the resync."""
    reads, rate = reads_and_rate("linux-6.18")
    assert reads > 40
    assert rate < 90


def read_time(slower: str) -> float:
    """Time (s) of a read of disk1 far from where a rebuild is that has run for a second with 4,096 heads.

    One of the drives, `slower`, has three quarters of the others' media rate.
    """
    own = f", {slower}: {{overrides: {{outer_media_rate: 184MB/s}}}}"
    machine = BuiltMachine(document_from(TEXT.format(kernel="linux-6.12", heads=4096, own=own)).spec())
    (array,) = machine.arrays.values()
    assert isinstance(array, ParityArray)
    (resync,) = machine.resyncs.values()
    machine.engine.spawn(resync.run())
    machine.engine.run_to(1.0)
    row = next(row for row in range(array.layout.rows // 2, array.layout.rows) if array.layout.row(row).data[0] == 1)
    over: list[float] = []
    array.submit(Request(READ, row * array.layout.stripe_bytes, 4096, lambda _: over.append(machine.engine.now), 1))
    array.unplug()
    while not over:
        machine.engine.run_to(machine.engine.now + 0.1)
    return over[0] - 1.0


def test_the_slowest_drive_has_the_queue_of_a_rebuild() -> None:
    """Protects what unequal drives do: the rebuild's reads wait at the slowest one, and others serve reads at once.

    The counter-test: a read of the slowest drive waits behind the rebuild's.
    """
    assert read_time("disk2") < 0.1
    assert read_time("disk1") > 0.5
