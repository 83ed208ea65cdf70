"""Resync of RAID 6 in stripes of 4 KiB, which only the plug of md's thread merges: what one more member does."""

from __future__ import annotations

from raidsim.model.raid.parity.array import ParityArray
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.machine.machine import BuiltMachine

TEXT = """
kernel: {kernel}
machine: {{model: nvme-server, drives: {{model: Samsung-PM9A3-3840GB, count: {members}}}}}
arrays: {{md0: {{level: raid6, chunk: 512KiB, stripe_cache: 512, resync: {{action: check, speed_max: 9GB/s}}}}}}
workload: {{kind: load, targets: [md0], iops: 1, read_share: 100%, warm_up: 0s, duration: 1h}}
"""


def request_kib(members: int, kernel: str) -> float:
    """Mean size of a member's request of a check (KiB)."""
    machine = BuiltMachine(document_from(TEXT.format(kernel=kernel, members=members)).spec())
    (array,) = machine.arrays.values()
    assert isinstance(array, ParityArray)
    array.cache.most_heads = 512  # so that the run may be short
    (resync,) = machine.resyncs.values()
    machine.engine.spawn(resync.run())
    machine.engine.run_to(0.01)
    return resync.done_bytes * members / machine.host.commands / 1024


def test_sixteen_members_merge_and_seventeen_do_not() -> None:
    """Protects the step of 5.0 to 5.14: a plug of 16 requests holds no stripe of 17 members."""
    assert request_kib(16, "linux-5.10") > 100
    assert request_kib(17, "linux-5.10") < 5


def test_a_plug_of_64_merges_seventeen_too() -> None:
    """The counter-test: since 5.15 a plug of several devices holds four times as many."""
    assert request_kib(17, "linux-5.15") > 100
