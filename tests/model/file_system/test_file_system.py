"""File systems on a device that records what it is asked for, against arithmetic on paper."""

from __future__ import annotations

from collections.abc import Generator
from itertools import pairwise
from typing import Any

import pytest

from raidsim.model.core.device import Device
from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import ModelError
from raidsim.model.core.request import READ, WRITE, Request
from raidsim.model.core.signal import Waits
from raidsim.model.file_system import (
    Directory,
    File,
    FileSystem,
    FileSystemSettings,
    file_system_names,
    file_system_settings,
    file_system_sources,
)
from raidsim.model.file_system.nodes import Names
from raidsim.model.memory.dirty_memory import DirtyLimits, DirtyMemory
from raidsim.model.memory.page_cache import PageCache
from raidsim.model.memory.page_memory import PageMemory
from raidsim.model.memory.settings import PageCacheSettings
from raidsim.model.readahead import ReadAhead26
from raidsim.model.tasks.cpu import Account, Cpu
from raidsim.model.tasks.host import Host

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
BLOCK = 4 * KIB
BLOCK_OF_UFS = 16 * KIB
GROUP = 128 * MIB
SERVICE_S = 0.001


class RecordingDevice(Device):
    """Serves everything at once after 1 ms and records it."""

    def __init__(self, engine: Engine, capacity: int) -> None:
        self.name, self.capacity = "recording", capacity
        self._engine = engine
        self.requests: list[tuple[float, int, int, int]] = []

    def submit(self, request: Request) -> None:
        request.submitted = self._engine.now
        self.requests.append((self._engine.now, request.op, request.offset, request.size))
        self._engine.call_at(self._engine.now + SERVICE_S, lambda _: request.complete())

    def addresses(self, op: int) -> list[int]:
        """Of all requests of a direction, in order."""
        return [address for _, kind, address, _ in self.requests if kind == op]


class Program(Account):
    """Whose CPU time is counted."""

    def __init__(self, issuer: int = 1) -> None:
        super().__init__(issuer)


def all_of(operation: Waits) -> Generator[Any, Any, Any]:
    """A process that does an operation, which may have nothing to wait for; its value is that of the operation."""
    return (yield from operation)


class Machine:
    """A file system with all that it needs."""

    def __init__(
        self,
        kind: str | FileSystemSettings,
        capacity: int = 8 * GIB,
        age: float = 0.0,
        seed: int = 1,
        memory: int = 1 << 30,
        kept: int | None = None,
        **changes: Any,
    ) -> None:
        self.engine = Engine(seed)
        self.device = RecordingDevice(self.engine, capacity)
        self.host = Host(Cpu(self.engine))
        self.dirty = DirtyMemory(DirtyLimits(1 << 40, 1 << 40, 1 << 41))
        self.pages = PageMemory(memory)
        cache_settings = PageCacheSettings(expire=1e9)
        self.cache = PageCache(
            self.engine, self.host, self.device, cache_settings, self.pages, self.dirty, lambda end: ReadAhead26(0, end)
        )
        settings = file_system_settings(kind) if isinstance(kind, str) else kind
        settings = FileSystemSettings.model_validate({**settings.model_dump(), **changes})
        random = self.engine.streams.generator("file system")
        self.system = FileSystem(
            self.engine, self.host, self.cache, settings, capacity, random, 1e-9, age, inodes_in_memory=kept
        )
        self.program = Program()

    def do(self, operation: Waits) -> Any:
        """Run one operation to its end."""
        process = self.engine.spawn(all_of(operation))
        self.engine.run(process)
        self.engine.run(self.cache.pay(self.program))
        return process.value

    def create(self, path: str, size: int = 0, by: Program | None = None, step: int = MIB) -> File:
        """A file written from start to end and closed."""
        by = by or self.program
        file: File = self.do(self.system.create(path, by))
        for end in [*range(step, size, step), size] if size else []:
            self.write(file, end, by)
        self.do(self.system.close(file, by))
        return file

    def write(self, file: File, end: int, by: Program | None = None) -> None:
        """Append up to `end`."""
        start = file.size
        self.do(self.system.extend(file, end, by or self.program))
        self.cache.mark_dirty(file, start, end)

    def directory(self, path: str) -> Directory:
        """The directory of a path."""
        self.do(self.system.mkdir(path, self.program))
        return self.system.place_directory(path)

    def forget_all(self) -> None:
        """As after a mount: nothing is in memory."""
        self.do(self.system.settle(self.program))
        self.system.drop_inodes()
        self.pages.drop_clean()
        self.device.requests.clear()


def runs(file: File) -> list[tuple[int, int]]:
    """Where a file is: (address, bytes)."""
    return list(file.extents.runs())


@pytest.mark.parametrize("name", file_system_names())
def test_every_number_has_an_origin(name: str) -> None:
    """Protects the data: each kind loads, and each of its numbers is either found or assumed."""
    sources = file_system_sources(name)
    assert file_system_settings(name).block in (4096, 16384)
    assert all(bool(value.source) != bool(value.assumed) for value in sources.values())
    assert {"ext2", "ext3", "ext4", "reiserfs", "jfs", "xfs", "xfs-v5", "ufs2"} == set(file_system_names())


@pytest.mark.parametrize("name", file_system_names())
def test_every_kind_does_everything(name: str) -> None:
    """Protects the one model: the life of a tree of files runs on every kind, and leaves no space lost."""
    machine = Machine(name)
    system, by = machine.system, machine.program
    free = system.free_bytes
    machine.directory("a")
    machine.directory("a/b")
    for i in range(40):
        machine.create(f"a/b/{i}", 1000 * i)
    machine.do(system.stat("a/b/3", by))
    machine.do(system.set_attributes("a/b/3", by))
    machine.do(system.fsync(machine.do(system.open("a/b/5", by)), by))
    machine.do(system.list_directory("a/b", by))
    machine.do(system.accessed(system.file("a/b/7"), by))
    machine.do(system.sync(by))
    machine.forget_all()
    for i in range(40):
        machine.do(system.open(f"a/b/{i}", by))
        machine.do(system.unlink(f"a/b/{i}", by))
    machine.do(system.rmdir("a/b", by))
    machine.do(system.rmdir("a", by))
    machine.do(system.sync(by))
    assert machine.dirty.dirty_bytes == 0
    assert by.cpu_s > 0
    kept = 64 * KIB if system.settings.inode_place == "table" else 1 * MIB  # chunks and leaves are not given back
    assert 0 <= free - system.free_bytes <= kept


def test_the_pointers_of_an_ext2_file_lie_in_front_of_what_they_map() -> None:
    """Protects indirect mapping: 12 blocks, a pointer block, 1,024 blocks, two pointer blocks, 1,024 blocks."""
    machine = Machine("ext2", directories="emptiest")
    file = machine.create("f", 10 * MIB)
    first = runs(file)[0][0]
    direct, span = 12 * BLOCK, 1024 * BLOCK
    assert file.maps == [
        (direct, first + direct),
        (direct + span, first + direct + BLOCK + span),
        (direct + span, first + direct + BLOCK + span + BLOCK),
        (direct + 2 * span, first + direct + BLOCK + span + 2 * BLOCK + span),
    ]
    assert [size for _, size in runs(file)] == [direct, span, span, 10 * MIB - direct - 2 * span]
    assert runs(file)[1][0] == file.maps[0][1] + BLOCK


def test_pointer_blocks_are_read_again_when_they_are_not_in_memory() -> None:
    """Protects reading mapped data: four spans need four pointer blocks; a file of extents needs none."""
    reads = {}
    for kind in ("ext2", "xfs"):
        machine = Machine(kind)
        file = machine.create("f", 15 * MIB)
        machine.forget_all()
        machine.do(machine.system.open("f", machine.program))
        machine.device.requests.clear()
        if machine.system.needs_map(file, 0, 15 * MIB):
            machine.do(machine.system.load_map(file, 0, 15 * MIB, machine.program))
        assert not machine.system.needs_map(file, 0, 15 * MIB)
        reads[kind] = machine.device.addresses(READ)
    assert len(reads["ext2"]) == 5
    assert reads["xfs"] == []


def test_truncation_reads_the_pointers() -> None:
    """Protects the time of deleting large files: ext2 reads its pointer blocks, in order; ext2 in memory does not."""
    machine = Machine("ext2")
    file = machine.create("f", 15 * MIB)
    assert file.maps is not None
    maps = [address for _, address in file.maps]
    machine.forget_all()
    machine.do(machine.system.unlink("f", machine.program))
    assert [address for address in machine.device.addresses(READ) if address in maps] == maps
    machine.create("g", 15 * MIB)
    machine.device.requests.clear()
    machine.do(machine.system.unlink("g", machine.program))
    assert machine.device.addresses(READ) == []


@pytest.mark.parametrize("name", ["ext2", "ext3", "jfs", "xfs", "reiserfs"])
def test_files_of_a_directory_follow_each_other(name: str) -> None:
    """Protects the locality of small files: written one after the other, they lie one behind the other."""
    machine = Machine(name)
    machine.directory("d")
    files = [machine.create(f"d/{i}", 2 * BLOCK) for i in range(20)]
    machine.do(machine.system.sync(machine.program))
    starts = [runs(file)[0][0] for file in files]
    steps = [later - earlier for earlier, later in pairwise(starts)]
    assert all(step == 2 * BLOCK or (name == "reiserfs" and step == 3 * BLOCK) for step in steps)


def test_directories_of_linux_2_4_lie_in_different_groups() -> None:
    """Protects the spread of a tree: 2.4 puts every directory elsewhere, 2.6 the ones below the top near the parent."""
    groups = {}
    for policy in ("emptiest", "orlov", "rotor", "inherit"):
        machine = Machine("ext2", directories=policy)
        top = machine.directory("t")
        groups[policy] = [machine.directory(f"t/{i}").group - top.group for i in range(10)]
    assert len(set(groups["emptiest"])) == 10
    assert groups["orlov"] == groups["inherit"] == [0] * 10
    assert groups["rotor"] == list(range(1, 11))


def test_a_group_crowded_with_inodes_gets_no_further_directory() -> None:
    """Protects the spread of many small files: a group with a quarter of its inodes more in use than the mean is full;
    with as many inodes in a larger table it is not.
    """
    groups = {}
    for table in ("128KiB", "1MiB"):
        machine = Machine("ext2", directories="orlov", inode_table=table)
        machine.directory("t")
        first = machine.directory("t/a").group
        for i in range(400):
            machine.create(f"t/a/{i}", 0)
        groups[table] = machine.directory("t/b").group - first
    assert groups == {"128KiB": 1, "1MiB": 0}


def test_a_file_has_inode_and_data_in_the_group_of_its_directory() -> None:
    """Protects the distance between inode and data."""
    machine = Machine("ext2", directories="rotor")
    machine.directory("a")
    directory = machine.directory("b")
    file = machine.create("b/f", MIB)
    assert directory.group == 1
    assert file.inode // GROUP == runs(file)[0][0] // GROUP == 1


def interleaved(**changes: Any) -> list[File]:
    """Two files of one process that grow by 16 KiB in turn."""
    machine = Machine("ext2", goal_shifts=1, **changes)
    files = [machine.do(machine.system.create(name, machine.program)) for name in "ab"]
    for end in range(16 * KIB, 512 * KIB, 16 * KIB):
        for file in files:
            machine.write(file, end)
    return files


def test_files_that_grow_together_alternate_by_what_is_set_aside() -> None:
    """Protects the granularity of interleaving: a larger reservation, fewer pieces; without one, a piece a call."""
    small = interleaved(reservation=0)
    large = interleaved(reservation=128 * KIB)
    assert len(small[0].extents) >= 30
    assert len(large[0].extents) <= 6


def test_processes_start_at_different_places_of_a_group() -> None:
    """Protects the colors of ext2: process 2 starts 8 MiB behind process 1, so the two do not interleave."""
    machine = Machine("ext2")
    first = machine.create("a", MIB, Program(1))
    second = machine.create("b", MIB, Program(2))
    assert runs(second)[0][0] - runs(first)[0][0] == GROUP // 16


def test_delayed_allocation_gives_files_that_grow_together_one_run_each() -> None:
    """Protects XFS under many writers: the place is chosen at write-back, for all that has been written."""
    counts = {}
    for delayed in (True, False):
        machine = Machine("xfs", delayed=delayed)
        files = [machine.do(machine.system.create(name, machine.program)) for name in "ab"]
        for end in range(64 * KIB, 2 * MIB, 64 * KIB):
            for file in files:
                machine.write(file, end)
        assert files[0].extents.size == (0 if delayed else files[0].size)
        machine.do(machine.system.sync(machine.program))
        counts[delayed] = len(files[0].extents)
    assert counts[True] == 1
    assert counts[False] > 20


def test_a_file_of_ufs_goes_on_in_the_next_group() -> None:
    """Protects maxbpg: after 12 blocks and one pointer block's 32 MiB a file moves on, and again after 32 MiB."""
    machine = Machine("ufs2", capacity=4 * GIB)
    file = machine.create("f", 100 * MIB)
    size = machine.system.settings.group
    groups = [address // size for address, _ in runs(file)]
    assert groups[:2] == [0, 0]
    assert len(set(groups)) == 4
    still = Machine("ufs2", capacity=4 * GIB, moves_on=False)
    assert len({address // size for address, _ in runs(still.create("f", 100 * MIB))}) == 1


def test_where_ufs_moves_on_the_mapping_block_lies_far_in_front_of_what_it_maps() -> None:
    """Protects the second seek of each jump: the block in front of the copy of the superblock maps data behind the
    inodes. The first block there stays free, since one of the blocks that are moved together is still in it: so every
    span begins at a multiple of 128 KiB of its group. Counter-test: where nothing is free in front, they lie side by
    side.
    """
    machine = Machine("ufs2", capacity=4 * GIB)
    settings = machine.system.settings
    tables = settings.header + settings.inode_table
    assert tables + BLOCK_OF_UFS == 47 * 128 * KIB
    file = machine.create("f", 100 * MIB)
    starts = [address for address, _ in runs(file)]
    assert file.maps is not None
    for _, address in file.maps[3:]:
        assert address % settings.group == BLOCK_OF_UFS
        assert address + tables in starts
    full = Machine("ufs2", capacity=4 * GIB, header_free=0)
    beside = full.create("f", 100 * MIB)
    starts = [address for address, _ in runs(beside)]
    assert beside.maps is not None
    for _, address in beside.maps[3:]:
        assert address % settings.group == tables
        assert address + BLOCK_OF_UFS in starts


def _blocks_of_a_group(header: int) -> int:
    """As many as a block of maps holds: its header, a word, maps of inodes, fragments and clusters, and their sums."""
    inodes, sums = 23_552 // 8, 8 * 4
    return max(n for n in range(20_000) if header + 4 + inodes + n + -(-n // 8) + sums <= 16 * KIB)


def test_groups_of_ufs_are_as_large_as_a_block_of_maps() -> None:
    """Protects where groups begin in a stripe: by fs.h's CGSIZE with the header of amd64. The counter-test is that of
    i386, of which newfs prints other groups.
    """
    size = Machine("ufs2").system.settings.group
    assert size == 16 * KIB * _blocks_of_a_group(176)
    assert (_blocks_of_a_group(176), _blocks_of_a_group(172)) == (11_758, 11_761)
    assert len({number * size % (128 * KIB) for number in range(8)}) == 4


def test_small_files_are_packed_into_leaves() -> None:
    """Protects tails: files of reiserfs below 4 KiB have no block, share leaves and are read with them."""
    machine = Machine("reiserfs")
    files = [machine.create(f"{i}", 1000) for i in range(30)]
    assert all(file.in_leaf and not file.extents.size for file in files)
    assert len({file.inode for file in files}) < 16
    assert machine.dirty.dirty_bytes == 0
    machine.forget_all()
    assert machine.system.needs_map(files[0], 0, 1000)
    machine.do(machine.system.open("0", machine.program))
    assert not machine.system.needs_map(files[0], 0, 1000)
    unpacked = Machine("reiserfs", tail_file=0)
    assert unpacked.create("f", 1000).extents.size == BLOCK


def test_a_directory_of_reiserfs_moves_when_its_group_fills() -> None:
    """Protects packing groups: files stay in the group while 60 % of it is free, then go to one of the directory's."""
    machine = Machine("reiserfs", capacity=64 * GIB)
    machine.directory("d")
    groups = [machine.create(f"d/{i}", 10 * MIB).group for i in range(8)]
    assert groups[:5] == [1] * 5
    assert len(set(groups[6:])) == 1
    assert groups[6] != 1


def test_listing_reads_the_leaves_of_the_files_ahead() -> None:
    """Protects readdir of reiserfs: one read brings the inodes of its files, else every leaf is read."""
    reads = {}
    for ahead in (64 * KIB, 0):
        machine = Machine("reiserfs", list_ahead=ahead)
        machine.directory("d")
        for i in range(100):
            machine.create(f"d/{i}", 400)
        machine.forget_all()
        machine.do(machine.system.list_directory("d", machine.program))
        for i in range(100):
            machine.do(machine.system.open(f"d/{i}", machine.program))
        reads[ahead] = len(machine.device.addresses(READ))
    assert reads[64 * KIB] < 8 < reads[0]


def test_a_packed_file_that_grows_gets_a_block() -> None:
    """Protects appends to small files: the bytes of the leaf are written to a block with the new ones."""
    machine = Machine("reiserfs")
    file = machine.create("f", 1000)
    machine.write(file, 5000)
    assert not file.in_leaf
    assert file.extents.size == 2 * BLOCK


def test_a_packed_file_that_is_overwritten_stays_packed() -> None:
    """Protects rewriting small files: what is written goes to the leaf at close; if that is late, to a block."""
    machine = Machine("reiserfs")
    file = machine.create("f", 1000)
    machine.cache.mark_dirty(file, 0, 1000)
    machine.do(machine.system.close(file, machine.program))
    assert (file.in_leaf, file.dirty.total) == (True, 0)
    machine.cache.mark_dirty(file, 0, 1000)
    machine.do(machine.system.sync(machine.program))
    assert (file.in_leaf, file.extents.size) == (False, BLOCK)


def test_reading_changes_the_inode_through_the_journal_or_past_it() -> None:
    """Protects access times: ext3 commits them, JFS too but many at a time, XFS leaves the inode dirty, noatime does
    neither.
    """
    written = {}
    for kind, atime in (("ext3", "logged"), ("jfs", "late"), ("xfs", "unlogged"), ("ext3", "never")):
        machine = Machine(kind, atime=atime)
        file = machine.create("f", BLOCK)
        machine.do(machine.system.sync(machine.program))
        machine.device.requests.clear()
        machine.do(machine.system.accessed(file, machine.program))
        dirty = machine.dirty.dirty_bytes
        machine.engine.run(machine.engine.now + 40)
        written[atime] = (dirty, sum(size for _, _, _, size in machine.device.requests))
    assert written == {"logged": (0, 3 * BLOCK), "late": (0, BLOCK), "unlogged": (BLOCK, 0), "never": (0, 0)}


def test_late_access_times_are_logged_together() -> None:
    """Protects JFS's reads from a seek to the log for every few of them: 200 files read within a delay make log pages
    one behind the other after it; logged at once, pages are written while they are read.
    """

    def pages(atime: str) -> tuple[int, int]:
        machine = Machine("jfs", atime=atime)
        files = [machine.create(f"f{i}", BLOCK) for i in range(200)]
        machine.do(machine.system.sync(machine.program))
        machine.device.requests.clear()
        for file in files:
            machine.do(machine.system.accessed(file, machine.program))
        machine.engine.run(machine.engine.now + 1.0)
        first = len(machine.device.addresses(WRITE))
        machine.engine.run(machine.engine.now + 9.0)
        return first, len(machine.device.addresses(WRITE))

    assert pages("late")[0] == 0 < pages("late")[1]
    assert pages("logged")[0] > 0


def committed(kind: str, **changes: Any) -> Machine:
    """After a file of 1 MiB and the time of a commit."""
    machine = Machine(kind, **changes)
    machine.create("f", MIB)
    machine.engine.run(machine.engine.now + 40)
    return machine


def test_a_commit_writes_data_then_blocks_then_the_commit_block() -> None:
    """Protects data=ordered: the file's 1 MiB, then descriptor and N blocks in a row, then one more block."""
    machine = committed("ext3")
    writes = [(at, address, size) for at, op, address, size in machine.device.requests if op == WRITE]
    file = machine.system.file("f")
    data = [entry for entry in writes if any(a <= entry[1] < a + size for a, size in runs(file))]
    log = [entry for entry in writes if entry not in data]
    assert sum(size for _, _, size in data) == MIB
    # directory block, its inode's block (the root's, shared), inode map, space map, descriptors, pointer block
    assert [size for _, _, size in log] == [BLOCK] * (1 + 6 + 1), "a bio for each block"
    assert [address for _, address, _ in log] == [log[0][1] + number * BLOCK for number in range(8)]
    assert len({at for at, _, _ in log[:7]}) == 1
    assert log[7][0] >= log[6][0] + SERVICE_S
    assert log[0][0] >= max(at for at, _, _ in data) + SERVICE_S


def test_without_order_or_journal_nothing_is_forced() -> None:
    """Protects the causes: data=writeback leaves the data alone, ext2 writes nothing at all by itself."""
    unordered = committed("ext3", ordered=False)
    assert sum(size for _, op, _, size in unordered.device.requests if op == WRITE) == 8 * BLOCK
    assert committed("ext2").device.addresses(WRITE) == []


def test_a_block_that_is_used_often_is_read_again_when_it_is_lost() -> None:
    """Protects cold metadata: what is remembered of a block in memory ends when its page goes; and counter-test."""
    machine = Machine("ext2")
    metadata, address = machine.system.metadata, GIB

    def reads() -> int:
        before = metadata.reads
        machine.do(metadata.read([address], machine.program))
        return metadata.reads - before

    assert [reads() for _ in range(5)] == [1, 0, 0, 0, 0]
    machine.pages.forget(machine.cache.device_file)
    assert [reads() for _ in range(2)] == [1, 0]


def test_operations_do_not_wait_for_a_commit_but_for_a_full_journal() -> None:
    """Protects the running transaction: creates take only their CPU time until the journal is full, where blocks are
    copied to be written to it.
    """

    def waits(**changes: Any) -> int:
        machine = Machine("ext3", commit_interval=0.002, transaction=32 * KIB, journal_copies=True, **changes)
        machine.create("first")  # reads the maps, the root's inode and its block
        count = 0
        for i in range(400):
            before, reads = machine.engine.now, machine.system.metadata.reads
            machine.create(f"{i}")
            count += machine.engine.now - before > SERVICE_S / 2 and machine.system.metadata.reads == reads
        return count

    assert waits() == 0
    assert waits(journal_size=96 * KIB) > 3


def test_records_fill_buffers() -> None:
    """Protects the logical journal: XFS writes 32 KiB for every 128 changed blocks, JFS 4 KiB pages one at a time."""
    for kind, buffer in (("xfs", 32 * KIB), ("jfs", 4 * KIB)):
        machine = Machine(kind, commit_interval=1e6)
        for i in range(200):
            machine.create(f"{i}")
        machine.engine.run(machine.engine.now + 1.0)
        writes = [(at, size) for at, op, _, size in machine.device.requests if op == WRITE]
        assert {size for _, size in writes} == {buffer}
        changed = len(writes) * buffer // machine.system.settings.record
        assert 200 * 3 <= changed + buffer // machine.system.settings.record <= 200 * 6
        if kind == "jfs":
            times = [at for at, _ in writes]
            assert all(b - a >= SERVICE_S * 0.999 for a, b in pairwise(times))


def test_few_log_buffers_make_operations_wait() -> None:
    """Protects logbufs: with two buffers a storm of creates waits for the log, with many it does not."""
    took = {}
    for buffers in (2, 1000):
        machine = Machine("xfs", log_buffers=buffers, log_buffer=4 * KIB, create_cycles=100.0)
        for i in range(300):
            machine.create(f"{i}")
        took[buffers] = machine.engine.now
    assert took[2] > 2 * took[1000]


def test_fsync_waits_for_data_and_commit() -> None:
    """Protects fsync: afterwards data and journal, or data and inode, are on the device."""
    for kind in file_system_names():
        machine = Machine(kind)
        file = machine.do(machine.system.create("f", machine.program))
        machine.write(file, 64 * KIB)
        assert machine.device.addresses(WRITE) == []
        machine.do(machine.system.fsync(file, machine.program))
        written = sum(size for _, op, _, size in machine.device.requests if op == WRITE)
        assert not file.dirty
        assert written > 64 * KIB, kind


def test_a_long_directory_costs_a_search_unless_it_is_hashed() -> None:
    """Protects bonnie++'s creates: a linear directory makes the thousandth name dearer than the first."""
    cost = {}
    for lookup in ("linear", "hashed"):
        machine = Machine("ext2", lookup=lookup)
        machine.create("zeroth")  # reads the root's inode
        before = machine.program.cpu_s
        machine.create("first")
        first = machine.program.cpu_s - before
        for i in range(1000):
            machine.create(f"{i:08}")
        before = machine.program.cpu_s
        machine.create("last")
        cost[lookup] = (machine.program.cpu_s - before) / first
    assert cost["linear"] > 1.5
    assert cost["hashed"] == pytest.approx(1.0, abs=0.01)


def test_a_linear_search_looks_at_all_names_before() -> None:
    """Protects the cost of long directories, by hand: of blocks with 10, 20 and 30 names, the third is reached after 30
    names and two ends of blocks, and a name is in the middle of its block on average. Counter-test: a hash finds it.
    """
    directory = Machine("ext2").directory("/d")
    directory.counts[:] = [10, 20, 30]
    assert [Names(8, linear).looked_at(directory, 2) for linear in (True, False)] == [30 + 2 + 15, 1]


@pytest.mark.parametrize("spare", [0, 16])
@pytest.mark.parametrize("room", [8, 11, 12, 15])
def test_a_block_is_looked_at_until_it_has_no_room_for_the_shortest_name(room: int, spare: int) -> None:
    """Protects the hint where to look: a long name passes over a block which a name of four letters still fits into;
    the counter-test: a block without room for that is passed over for good.
    """
    directory = Machine("ext2").directory("/d")
    directory.rooms[:], directory.hint = [room + spare, 4096], 0
    names = Names(8, True, spare=spare)
    assert names.find_room(directory, "/d/a-long-name") == 1
    assert (names.find_room(directory, "/d/four") == 0) == (room >= 12)
    assert directory.hint == (0 if room >= 12 else 1)


def test_opening_reads_directory_and_inode_once() -> None:
    """Protects cold opens: two blocks for the first file (and the root's inode), none for its neighbor."""
    machine = Machine("ext2")
    machine.create("a")
    machine.create("b")
    machine.forget_all()
    machine.do(machine.system.open("a", machine.program))
    assert len(machine.device.addresses(READ)) == 2  # the root's inode is in the same block as the file's
    machine.device.requests.clear()
    machine.do(machine.system.open("b", machine.program))
    assert machine.device.addresses(READ) == []


def test_the_kernel_keeps_a_limited_number_of_inodes() -> None:
    """Protects large trees: what was forgotten must be looked up again."""
    machine = Machine("ext2", kept=10)
    for i in range(20):
        machine.create(f"{i}")
    assert [machine.system.file(f"{i}").in_memory for i in range(20)] == [False] * 11 + [True] * 9  # and the root


def test_age_breaks_files_into_runs() -> None:
    """Protects the mount's age: a new file system gives one run, an old one runs of about 1 MiB."""
    counts = {age: len(Machine("xfs", age=age, delayed=False).create("f", 32 * MIB).extents) for age in (0.0, 0.5, 1.0)}
    assert counts[0.0] == 1
    assert 16 <= counts[1.0] <= 64
    assert 1 < counts[0.5] < counts[1.0]


def test_the_same_seed_gives_the_same_requests() -> None:
    """Protects repeatability: two runs send the same requests at the same times."""

    def requests() -> list[tuple[float, int, int, int]]:
        machine = Machine("ext3", age=0.5)
        for i in range(5):
            machine.directory(f"{i}")
            machine.create(f"{i}/f", MIB)
        machine.do(machine.system.sync(machine.program))
        return machine.device.requests

    assert requests() == requests()


def test_files_before_the_run_take_no_time() -> None:
    """Protects prepared trees: placed files have their place, are not in memory and not dirty."""
    machine = Machine("ext3")
    file = machine.system.place("a/b/f", 10 * MIB)
    assert machine.engine.now == 0
    assert file.extents.size == file.size == 10 * MIB
    assert not file.in_memory
    assert machine.dirty.dirty_bytes == 0
    machine.do(machine.system.open("a/b/f", machine.program))
    assert len(machine.device.addresses(READ)) >= 4


def test_wrong_paths_and_full_devices_are_refused() -> None:
    """Protects against silent nonsense: missing and existing names, full directories and a full device."""
    machine = Machine("ext2", capacity=64 * MIB)
    machine.create("f")
    with pytest.raises(ModelError, match="exists already"):
        machine.create("f")
    with pytest.raises(ModelError, match="no such file"):
        machine.create("d/f")
    with pytest.raises(ModelError, match="is not a directory"):
        machine.create("f/g")
    machine.directory("d")
    machine.create("d/f")
    with pytest.raises(ModelError, match="not empty"):
        machine.do(machine.system.rmdir("d", machine.program))
    with pytest.raises(ModelError, match="full"):
        machine.create("g", 100 * MIB)
