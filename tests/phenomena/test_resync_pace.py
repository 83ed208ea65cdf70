"""What sets the pace of a resync: the CPU where members are fast, and how much is under way where they seek."""

from __future__ import annotations

from dataclasses import replace

import pytest

from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.machine.machine import BuiltMachine

TEXT = """
kernel: linux-6.1
machine: {{model: nvme-server, {cpu} drives: {{model: Samsung-PM9A3-3840GB, count: 4}}}}
arrays: {{md0: {{level: {level}, chunk: {chunk}, resync: {{action: check, speed_min: 9GB/s, speed_max: 9GB/s}}}}}}
workload: {{kind: load, targets: [md0], iops: 1, read_share: 100%, warm_up: 0s, duration: 1h}}
"""
FREE_PAGES = "cpu: {model: server-core, cores: 32, prices: {buffer_page: 0s}},"
WARM_S, SPAN_S = 0.02, 0.05


def _gb_s(level: str, chunk: str, cpu: str = "") -> float:
    """What a check of an idle array counts (GB/s)."""
    machine = BuiltMachine(document_from(TEXT.format(level=level, chunk=chunk, cpu=cpu)).spec())
    (resync,) = machine.resyncs.values()
    machine.engine.spawn(resync.run())
    machine.engine.run_to(WARM_S)
    before = resync.done_bytes
    machine.engine.run_to(WARM_S + SPAN_S)
    return (resync.done_bytes - before) / SPAN_S / 1e9


def test_pages_limit_a_check_of_fast_mirrors() -> None:
    """Protects the pace on NVMe: 32 pages of 1.4 us for 64 KiB of two copies are 1.46 GB/s at most."""
    assert 0.7 * 1.46 < _gb_s("raid10", "64KiB") <= 1.02 * 1.46


def test_without_their_price_a_check_is_faster() -> None:
    """The counter-test: where pages cost nothing, a check is twice as fast, and then md's one thread limits."""
    assert _gb_s("raid10", "64KiB", FREE_PAGES) > 2 * 1.46


@pytest.mark.parametrize(("cpu", "least", "most"), [("", 2.5, 4.5), (FREE_PAGES, 0.8, 1.8)])
def test_short_chunks_waste_pages(cpu: str, least: float, most: float) -> None:
    """Protects the cost of chunks of 16 KiB: a request ends with its chunk, and allocates pages for 64 KiB anyway.

    The counter-test: where pages cost nothing, the chunk matters little.
    """
    assert least < _gb_s("raid10", "64KiB", cpu) / _gb_s("raid10", "16KiB", cpu) < most


def test_the_resync_thread_pays_for_the_heads_it_takes() -> None:
    """Protects the CPU time of a check of RAID 5: the thread takes each head before md handles it."""
    text = TEXT.format(level="raid5", chunk="64KiB", cpu="")
    machine = BuiltMachine(document_from(text).spec())
    (resync,) = machine.resyncs.values()
    machine.engine.spawn(resync.run())
    machine.engine.run_to(WARM_S + SPAN_S)
    heads = resync.position / 4096
    md_s = sum(thread.busy_s for thread in machine.threads.values())
    taken_s = machine.cpu.busy_s - md_s  # md's thread pays for the commands that it sends
    assert taken_s == pytest.approx(heads * machine.host.prices.stripe_s, rel=0.1)


FAR = """
kernel: linux-6.1
machine: {model: server, drives: {model: IronWolf-Pro-20TB, count: 4}}
arrays:
  md0: {level: raid10, algorithm: far, chunk: 512KiB, resync: {action: check, speed_min: 9GB/s, speed_max: 9GB/s}}
workload: {kind: load, targets: [md0], iops: 1, read_share: 100%, warm_up: 0s, duration: 1h}
"""


def _far_mb_s(depth: int | None) -> float:
    """What a check of far copies on hard disks counts (MB/s), also with another depth."""
    machine = BuiltMachine(document_from(FAR).spec())
    (resync,) = machine.resyncs.values()
    if depth is not None:
        resync.settings = replace(resync.settings, depth=depth)
    machine.engine.spawn(resync.run())
    machine.engine.run_to(2.0)
    return resync.done_bytes / 2.0 / 1e6


def test_a_deep_resync_lets_far_copies_stream() -> None:
    """Protects RAID 10 far: 32 MiB under way are two runs of 8 MiB a disk between two seeks across half of it.

    The counter-test: with 2 MiB, as RAID 1 has them, a disk seeks for every chunk. (Four disks of 16 TB: 244 MB/s of
    the array in /proc/mdstat.)
    """
    deep, shallow = _far_mb_s(None), _far_mb_s(32)
    assert deep > 200
    assert shallow < 0.8 * deep
