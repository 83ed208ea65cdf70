"""What files cost on an array: flushes, small synchronous writes, ordered data, and memory that hides the array."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from raidsim.model.kernels import kernel
from raidsim.model.memory.write_back import WriteBack
from raidsim.model.tasks.task_plug import TaskPlug
from raidsim.scenarios.description.tuning import VirtualMemorySpec
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.running.base.sample import Sample
from raidsim.scenarios.running.simulate import simulate
from raidsim.validation.conformance.file_systems import fsb
from raidsim.validation.conformance.file_systems.machine import file_machine
from raidsim.validation.conformance.file_systems.traffic import Traffic
from raidsim.validation.conformance.md.vm_member import MIB, Member, RecordedArray

MEMBER = Member(1e-3, 1, 64 * 1024, True, 64, 0.075, 1536 * MIB, volatile_cache=True)
DIRTY = VirtualMemorySpec.model_validate({"dirty_background_bytes": 64 * MIB, "dirty_bytes": 128 * MIB})
IN_MEMORY = replace(MEMBER, in_memory=True)
FILES = 10


def files(kind: str, level: str, members: int, synced: str = "fsync") -> Traffic:
    """The traffic of ten small files, each created and written."""
    on = file_machine(kernel("linux-6.1"), kind, MEMBER, RecordedArray(level, members), DIRTY, 1 << 30)
    command = f"fsb create /mnt/s {FILES} 4 4 1 {synced}"
    on.engine.run(on.engine.spawn(fsb.make_folders(on, [command])))
    traffic = on.counts()
    on.engine.run(on.engine.spawn(fsb.phase(on, command)))
    return traffic


@pytest.mark.parametrize("kind", ["ext4", "xfs"])
def test_a_synced_file_flushes_every_member(kind: str) -> None:
    """fsync of a small file flushes the caches of all members, whatever is written to them, and writes its commit
    through one of them (both, on a mirror). Counter-test: files without fsync flush nothing.
    """
    for level, members, through in (("single", 1, 1), ("raid0", 4, 1), ("raid1", 2, 2)):
        traffic = files(kind, level, members)
        assert traffic.flushes == FILES * members, level
        assert traffic.member_writes.requests >= 2 * FILES
        assert traffic.fua == FILES * through, level
    assert files(kind, "raid0", 4, "none").flushes == 0


def test_small_synced_files_read_on_a_parity_array() -> None:
    """RAID 5 reads old data and parity for small synced writes. Counter-test: RAID 10 does not."""
    assert files("ext4", "raid5", 4).member_reads.requests > FILES
    assert files("ext4", "raid10", 4).member_reads.requests < FILES


def written_back(level: str, members: int, count: int = 100, pass_bytes: int = 0, member: Member = IN_MEMORY) -> int:
    """Requests in which small files without fsync reach all members, when all is synced."""
    on = file_machine(kernel("linux-6.1"), "xfs", member, RecordedArray(level, members), DIRTY, 1 << 30)
    if pass_bytes:
        memory = on.mount.cache.memory
        memory.limits = replace(memory.limits, pass_bytes=pass_bytes)
    command = f"fsb create /mnt/s {count} 4 32 21 none"
    on.engine.run(on.engine.spawn(fsb.make_folders(on, [command])))
    on.engine.run(on.engine.spawn(fsb.phase(on, command)))
    traffic = on.counts()
    on.engine.run(on.engine.spawn(fsb.sync(on)))
    return traffic.member_writes.requests


def test_small_files_merge_on_a_mirror_as_on_a_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that lie one behind the other reach each half of a mirror in the same requests as a disk: the thread that
    waits for one member finds the other one ready. Counter-test: not if a plug sends its oldest request first.
    """
    on_a_disk = written_back("single", 1)
    assert written_back("raid1", 2) == 2 * on_a_disk

    def oldest_first(plug: TaskPlug) -> None:
        held, plug._held, plug._count = plug._held, {}, 0
        for queue, requests in held.items():
            queue.take_plugged(requests)

    monkeypatch.setattr(TaskPlug, "flush", oldest_first)
    assert written_back("raid1", 2) > 2.2 * on_a_disk


def test_write_back_keeps_its_plug_open_while_it_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neighbours merge although the thread that writes them back computes in between. Counter-test: not if it sends
    what it holds each time.
    """
    at_once = replace(MEMBER, tags=32, scheduler_requests=0, target_s=0.0)
    merged = written_back("single", 1, 10, 4096, at_once)
    monkeypatch.setattr(WriteBack, "_start_plug", lambda self, issuer: False)
    assert written_back("single", 1, 10, 4096, at_once) > merged + 2


COPIED = """
kernel: linux-6.1
machine: {model: server, memory: 4GiB, drives: {model: WD5000AAKS, count: 4}}
arrays: {md0: {level: raid5, chunk: 64KiB, bitmap: none}}
vm: {dirty_background_bytes: 64MiB, dirty_bytes: 128MiB}
file_systems: {/srv: {kind: ext4, on: md0, size: 64GiB}}
workload: {kind: programs, steps: [{program: dd, size: %s, block_size: 1MiB%s}]}
"""


@cache
def megabytes_a_second(size_mib: int, more: str = "") -> float:
    """How fast a dd of so many MiB says that it wrote."""
    found = simulate(document_from(COPIED % (f"{size_mib}MiB", more)).spec(), Sample(scale=1))
    return size_mib / found.figures["dd.seconds"]


def test_memory_hides_the_array_up_to_the_dirty_limit() -> None:
    """A buffered write is faster than the array until the dirty limit is near, and then not. Counter-test: with fsync
    before it ends, the small write is as slow as the array.
    """
    array = megabytes_a_second(1024, ", conv: fsync")
    assert megabytes_a_second(48) > 3 * array
    assert megabytes_a_second(1024) < 1.4 * array
    assert megabytes_a_second(48, ", conv: fsync") < 1.5 * array


def beside_a_large_file(**changes: Any) -> float:
    """Seconds that ten small synced writes take beside a large file that grows, on ext3."""
    overrides = "".join(f", {name}: {str(value).lower()}" for name, value in changes.items())
    text = f"""
kernel: linux-2.6.32
machine: {{model: server, memory: 4GiB, drives: {{model: WD5000AAKS, count: 2}}}}
arrays: {{md0: {{level: raid0, chunk: 64KiB}}}}
file_systems: {{/srv: {{kind: ext3, on: md0, size: 64GiB, overrides: {{barrier: false{overrides}}}}}}}
workload:
  kind: programs
  steps:
  - {{program: dd, name: large, file: large, size: 192MiB, block_size: 1MiB}}
  - {{program: dd, name: small, file: small, size: 40KiB, block_size: 4KiB, oflag: dsync}}
"""
    return simulate(document_from(text).spec(), Sample(scale=1)).figures["small.seconds"]


def test_ordered_data_makes_a_small_sync_wait_for_a_large_file() -> None:
    """With data=ordered a commit first writes the data of all files that grew in its transaction, so the first small
    synced write waits for a large one that nobody synced. Counter-test: not with data=writeback.
    """
    assert beside_a_large_file() > 3 * beside_a_large_file(ordered=False, orders_overwrites=False)


JOURNALED = """
kernel: linux-6.1
machine: {model: server, memory: 4GiB, drives: {model: WD5000AAKS, count: 6}}
arrays:
  md0: {level: %s, members: [disk0, disk1, disk2, disk3], chunk: 64KiB, bitmap: none}
  md1: {level: raid1, members: [disk4, disk5], bitmap: none}
file_systems: {/srv: {kind: %s, on: md0, size: 64GiB%s}}
workload: {kind: programs, steps: [{program: dd, size: 400KiB, block_size: 4KiB, oflag: dsync}]}
"""


def synced_writes_s(level: str, kind: str, more: str = "") -> float:
    """Seconds that a hundred synced writes of 4 KiB take."""
    return simulate(document_from(JOURNALED % (level, kind, more)).spec(), Sample(scale=1)).figures["dd.seconds"]


@pytest.mark.parametrize("kind", ["ext4", "xfs-v5"])
def test_a_journal_on_a_mirror_saves_a_parity_array_its_small_writes(kind: str) -> None:
    """Synced writes to a file system on RAID 5 are faster with the journal on a mirror of its own, which reads no old
    data and parity for a commit. Counter-test: on RAID 0 that saves much less.
    """
    on_parity = synced_writes_s("raid5", kind) / synced_writes_s("raid5", kind, ", journal_on: md1")
    striped = synced_writes_s("raid0", kind) / synced_writes_s("raid0", kind, ", journal_on: md1")
    assert on_parity > 1.5
    assert on_parity > 1.15 * striped


def test_write_back_that_blocks_does_not_wait_for_others() -> None:
    """Protects from a stop for ever: what a thread submits when it is awake again may hold the tags that others wait
    for, so it does not wait until there is room for all.
    """
    document = document_from("""
kernel: linux-6.6
machine:
  model: server
  memory: 32MiB
  resident: 0
  drives: {model: WD2500JS, count: 1, overrides: {capacity: 300MiB, heads: 1}}
file_systems: {/home: {kind: jfs, on: disk0, overrides: {atime: never}}}
read_ahead: 4KiB
workload: {kind: programs, processes: 1, steps: [{program: bonnie, size: 20MiB, files: 1, sync: true}]}
""")
    assert simulate(document.spec(), Sample(scale=1)).seconds > 0.0
