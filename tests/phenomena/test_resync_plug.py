"""Resync of RAID 6 in stripes of 4 KiB, which only the plug of md's thread merges: what one more member does.

md's thread pays for each request that it sends and whose interrupt it takes, so a resync that does not merge is slower.
"""

from __future__ import annotations

from raidsim.model.raid.parity.array import ParityArray
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.machine.machine import BuiltMachine

TEXT = """
kernel: {kernel}
machine: {{model: nvme-server, {cpu} drives: {{model: Samsung-PM9A3-3840GB, count: {members}}}}}
arrays:
  md0:
    {{level: raid6, chunk: 512KiB, stripe_cache: 512, resync: {{action: check, stripe_heads: 512, speed_max: 9GB/s}}}}
workload: {{kind: load, targets: [md0], iops: 1, read_share: 100%, warm_up: 0s, duration: 1h}}
"""


COMMANDS_ARE_FREE = "cpu: {model: server-core, cores: 32, prices: {command: 0s}},"


def checked(members: int, kernel: str, cpu: str = "", span_s: float = 0.01) -> tuple[float, float]:
    """Mean size of a member's request of a check (KiB), and the check's rate (MB/s of a member)."""
    machine = BuiltMachine(document_from(TEXT.format(kernel=kernel, members=members, cpu=cpu)).spec())
    (array,) = machine.arrays.values()
    assert isinstance(array, ParityArray)
    array.cache.most_heads = 512  # so that the run may be short
    (resync,) = machine.resyncs.values()
    machine.engine.spawn(resync.run())
    machine.engine.run_to(span_s)
    return resync.done_bytes * members / machine.host.commands / 1024, resync.done_bytes / span_s / 1e6


def request_kib(members: int, kernel: str) -> float:
    """Mean size of a member's request of a check (KiB)."""
    return checked(members, kernel)[0]


def test_sixteen_members_merge_and_seventeen_do_not() -> None:
    """Protects the step of 5.0 to 5.14: a plug of 16 requests holds no stripe of 17 members."""
    assert request_kib(16, "linux-5.10") > 100
    assert request_kib(17, "linux-5.10") < 5


def test_a_plug_of_64_merges_seventeen_too() -> None:
    """The counter-test: since 5.15 a plug of several devices holds four times as many."""
    assert request_kib(17, "linux-5.15") > 100


def slower(cpu: str = "") -> float:
    """By how much a check of 17 members is slower than one of 16 on Linux 5.10, both once they are under way."""
    return checked(16, "linux-5.10", cpu, 0.03)[1] / checked(17, "linux-5.10", cpu, 0.03)[1]


def test_requests_that_do_not_merge_take_the_thread_s_time() -> None:
    """Protects the price of a request: md's thread sends 17 for a stripe, and one for many stripes of 16 members."""
    assert 1.5 < slower() < 2.8


def test_where_requests_are_free_seventeen_members_are_as_fast() -> None:
    """The counter-test: without the price of a command the unmerged resync is as fast as the merged one."""
    assert 0.9 < slower(COMMANDS_ARE_FREE) < 1.2
