"""What a process pays and waits for. Prices are zero unless a test is about them; the disk takes 1 ms a request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from raidsim.model.core.errors import ModelError
from raidsim.model.core.request import READ, WRITE
from raidsim.model.file_system import FileSystem, FileSystemSettings, file_system_settings
from raidsim.model.memory.pipe import Pipe
from raidsim.model.memory.settings import PageCacheSettings
from raidsim.model.process.operations import execute
from raidsim.model.process.process import IN_MEMORY, Mount, Phase, Process
from raidsim.model.programs.bonnie import Bonnie, BonnieSettings
from raidsim.model.programs.bonnie_plus_plus import BonniePlusPlus, BonniePlusPlusSettings
from raidsim.model.programs.operation import Kind, Loop, Operation, mark, transfer
from raidsim.model.readahead import PAGE
from raidsim.model.tasks.cpu import Cpu
from raidsim.tests.model.memory.page_cache_bench import KIB, MIB, NO_LIMITS, Bench

FREE_CALLS = {name: 0.0 for name in FileSystemSettings.model_fields if name.endswith("_cycles")}
FILE = "f"


class Machine(Bench):
    """A mounted ext2 whose operations cost no CPU time, and whose first blocks of metadata are in memory."""

    def __init__(self, cores: int = 1, kind: dict[str, Any] | None = None, **more: Any) -> None:
        super().__init__(**more)
        self.host.cpu = self.cpu = Cpu(self.engine, cores)
        settings = file_system_settings("ext2").model_copy(update={**FREE_CALLS, **(kind or {})})
        random = self.engine.streams.generator("file system")
        self.system = FileSystem(self.engine, self.host, self.cache, settings, 8 << 30, random, 1e-9)
        self.mounts = {"/": Mount(self.system, self.cache)}
        self.run(written(64 * KIB, name="first"))
        self.do(self.system.sync(self.program))
        self.disk.log.clear()

    def process(self, issuer: int = 1, root: str = "/") -> Process:
        """A process in the topmost directory."""
        return Process(self.engine, self.host, self.mounts, root, issuer)

    def run(self, *programs: Iterable[Operation]) -> list[Process]:
        """One process for each program, side by side, to their ends."""
        processes = [self.process(100 * (i + 1)) for i in range(len(programs))]
        running = [
            self.engine.spawn(execute(process, program)) for process, program in zip(processes, programs, strict=True)
        ]
        self.engine.run(self.engine.all_of(running))
        return processes

    def phase(self, program: Iterable[Operation]) -> Phase:
        """The last phase of one program."""
        return self.run(program)[0].phases[-1]


def written(
    size: int, call: int = 64 * KIB, name: str = FILE, phase: str = "write", loop: Loop = ""
) -> Iterator[Operation]:
    """A new file."""
    yield mark(phase)
    yield Operation(Kind.OPEN, name, flags="O_RDWR|O_CREAT|O_EXCL")
    yield transfer(Kind.WRITE, name, 0, size, call, loop)
    yield Operation(Kind.CLOSE, name)


def read(
    size: int, call: int = 64 * KIB, name: str = FILE, phase: str = "read", loop: Loop = ""
) -> Iterator[Operation]:
    """A file that is there."""
    yield mark(phase)
    yield Operation(Kind.OPEN, name, flags="O_RDONLY")
    yield transfer(Kind.READ, name, 0, size, call, loop)
    yield Operation(Kind.CLOSE, name)


# CPU time


@pytest.mark.parametrize(("call", "calls"), [(512, 2048), (4 * KIB, 256), (MIB, 1)])
def test_calls_are_charged_one_by_one(call: int, calls: int) -> None:
    """Protects small blocks: 1 MiB in calls of 512 bytes at 10 us are 20 ms, in one call 10 us; reading likewise."""
    machine = Machine(file_write_s=10e-6, file_read_s=20e-6)
    assert machine.phase(written(MIB, call)).cpu_s == pytest.approx(calls * 10e-6)
    assert machine.phase(read(MIB, call)).cpu_s == pytest.approx(calls * 20e-6)


def test_bytes_and_pages_are_charged() -> None:
    """Protects copying: 1 MiB at 1 GB/s and 256 pages of 1 us, when written; read from memory, the copying only."""
    machine = Machine(copy_s_per_byte=1e-9, page_s=1e-6)
    assert machine.phase(written(MIB)).seconds == pytest.approx(MIB * 1e-9 + 256e-6)
    assert machine.phase(read(MIB)).seconds == pytest.approx(MIB * 1e-9)


@pytest.mark.parametrize(("call", "read_share", "write_share"), [(64 * KIB, 1 / 3, 2 / 3), (256 * KIB, 1.0, 1.0)])
def test_a_buffer_in_the_processors_cache_is_copied_for_less(call: int, read_share: float, write_share: float) -> None:
    """Protects reading at less than writing: of three lines that copying moves through memory, a read into a buffer
    that stays in the cache moves one, and a write from it two. A call as long as the cache moves all three.
    """
    machine = Machine(copy_s_per_byte=1e-9, cache_bytes=256 * KIB)
    assert machine.phase(written(MIB, call)).cpu_s == pytest.approx(write_share * MIB * 1e-9)
    assert machine.phase(read(MIB, call)).cpu_s == pytest.approx(read_share * MIB * 1e-9)
    again = [mark("rewrite"), Operation(Kind.OPEN, FILE, flags="O_RDWR"), transfer(Kind.REWRITE, FILE, 0, MIB, call)]
    assert machine.phase(again).cpu_s == pytest.approx((read_share + write_share) * MIB * 1e-9)


def test_a_processor_without_a_known_cache_copies_all() -> None:
    """The counter-test: both ways at the full price."""
    machine = Machine(copy_s_per_byte=1e-9)
    assert machine.phase(written(MIB, 4 * KIB)).cpu_s == pytest.approx(MIB * 1e-9)
    assert machine.phase(read(MIB, 4 * KIB)).cpu_s == pytest.approx(MIB * 1e-9)


def test_putc_and_getc_cost_more_than_blocks() -> None:
    """Protects bonnie's per-character columns: a byte costs what the operation's loop costs. Counter-test: without a
    loop it costs nothing, whatever the phase is called.
    """
    machine = Machine(putc_s_per_byte=20e-9, getc_s_per_byte=10e-9)
    assert machine.phase(written(MIB, loop="putc")).cpu_s == pytest.approx(MIB * 20e-9)
    assert machine.phase(read(MIB, loop="getc")).cpu_s == pytest.approx(MIB * 10e-9)
    assert machine.phase(written(MIB, name="g", phase="putc")).cpu_s == 0
    assert machine.phase(read(MIB, phase="getc")).cpu_s == 0


@pytest.mark.parametrize(
    "program", [Bonnie(BonnieSettings(megabytes=1)), BonniePlusPlus(BonniePlusPlusSettings(megabytes=1))]
)
def test_every_byte_of_a_phase_by_character_goes_through_its_loop(program: Bonnie | BonniePlusPlus) -> None:
    """Protects the price of characters from a program that forgets the loop, and other phases from paying it."""
    phase, moved = "", Counter[tuple[str, str]]()
    for operation in program.operations():
        if operation.kind is Kind.MARK:
            phase = operation.file
        moved[phase, operation.loop] += operation.size if operation.kind in (Kind.READ, Kind.WRITE) else 0
    by_loop = {pair for pair, size in moved.items() if size and pair[0] != "rewrite"}
    assert by_loop == {("putc", "putc"), ("write", ""), ("getc", "getc"), ("read", "")}


@pytest.mark.parametrize(("cores", "times"), [(1, 2), (2, 1)])
def test_processes_share_the_cores(cores: int, times: int) -> None:
    """Protects %CPU: two processes that need 10 ms each take 20 ms on one core and 10 on two; each had its 10."""
    machine = Machine(cores=cores, file_write_s=10e-3 / 16)
    for process in machine.run(written(MIB, name="a"), written(MIB, name="b")):
        assert process.phases[-1].cpu_s == pytest.approx(10e-3)
        assert process.phases[-1].seconds == pytest.approx(times * 10e-3, rel=0.15)


def test_files_in_memory_and_devices_cost_calls_only() -> None:
    """Protects cp from a cached archive and dd from /dev/zero: no request, no dirty page."""
    machine = Machine(file_read_s=10e-6, copy_s_per_byte=1e-9)
    assert machine.phase(read(MIB, name=f"{IN_MEMORY}tree.tar")).cpu_s == pytest.approx(160e-6 + MIB * 1e-9)
    machine.run([transfer(Kind.WRITE, "/dev/null", 0, MIB, 512)])
    assert machine.disk.log == []
    assert machine.memory.dirty_bytes == 0


# What is read and written


def test_a_file_is_written_and_read_back() -> None:
    """Protects the whole path: from memory at once, after a mount from the disk to the last byte."""
    machine = Machine()
    machine.run(written(MIB))
    machine.do(machine.system.sync(machine.program))
    machine.io(WRITE)
    assert machine.phase(read(MIB)).bytes == MIB
    assert machine.io(READ) == 0
    machine.pages.drop_clean()
    machine.run(read(MIB))
    assert MIB <= machine.io(READ) <= MIB + 8 * 4 * KIB


@pytest.mark.parametrize(("size", "reads"), [(1000, 1), (4096, 0), (5000, 1), (8192, 0)])
def test_a_block_written_in_part_is_read_first(size: int, reads: int) -> None:
    """Protects appends: the last block of a file on the disk is read if the append begins inside it, and not if it
    begins with a block, or if the block is in memory.
    """
    for cached in (False, True):
        machine = Machine()
        file = machine.system.place("f", size)
        if cached:
            machine.cache.pages.add(file, 0, size + -size % 4096)
        machine.run([Operation(Kind.OPEN, "f", flags="O_RDWR|O_APPEND")])
        machine.disk.log.clear()
        process = machine.process()
        append = [Operation(Kind.OPEN, "f", flags="O_RDWR"), transfer(Kind.WRITE, "f", size, 1000, 512)]
        machine.do(execute(process, append))
        data = [address for address, _ in machine.disk.sent(READ) if any(_inside(file, address))]
        assert len(data) == (0 if cached else reads)


def _inside(file: Any, address: int) -> Iterator[bool]:
    return (start <= address < start + size for start, size in file.extents.runs())


def test_rewriting_reads_and_writes_every_byte() -> None:
    """Protects bonnie's rewrite: of 2 MiB on the disk all is read and all is dirty; it is counted once."""
    machine = Machine()
    machine.system.place("f", 2 * MIB)
    phase = machine.phase(
        [Operation(Kind.OPEN, "f", flags="O_RDWR"), Operation(Kind.REWRITE, "f", 0, 2 * MIB, 16 * KIB, 128)]
    )
    assert phase.bytes == 2 * MIB
    assert machine.io(READ) >= 2 * MIB
    assert 2 * MIB <= machine.memory.dirty_bytes < 2 * MIB + 64 * KIB


def test_who_seeks_before_each_call_leaves_writing_to_the_flusher() -> None:
    """Protects bonnie's rewriting on FreeBSD: 2 MiB written in order go out by the cluster; read, sought and written
    call by call they stay dirty (counter-test).
    """
    limits = replace(NO_LIMITS, running_above=MIB, running_below=512 * KIB)
    machine = Machine(limits=limits, settings=PageCacheSettings(write_behind=128 * KIB))
    machine.run(written(2 * MIB, name="ordered"))
    assert machine.io(WRITE) == 2 * MIB
    before = machine.memory.dirty_bytes
    machine.system.place("f", 2 * MIB)
    machine.run([Operation(Kind.OPEN, "f", flags="O_RDWR"), Operation(Kind.REWRITE, "f", 0, 2 * MIB, 16 * KIB, 128)])
    assert machine.io(WRITE) == 0
    assert machine.memory.dirty_bytes - before >= 2 * MIB


@pytest.mark.parametrize("submission_s", [0.0, 3e-6])
def test_fsync_pays_for_what_the_device_does_where_a_page_is_submitted(submission_s: float) -> None:
    """Protects a mirror's copies of 2.4: 256 pages that fsync writes cost the program 3 us each beside their bios."""
    machine = Machine(bio_s=1e-6, submission_s=submission_s)
    synced = list(written(MIB))
    synced.insert(-1, Operation(Kind.FSYNC, FILE))
    blocks = machine.phase(synced).cpu_s / (1e-6 + submission_s)
    assert 256 <= blocks < 256 + 16  # and metadata


def test_fsync_is_waited_for_and_close_is_not() -> None:
    """Protects synced phases: 1 MiB takes eight requests of 1 ms and the metadata's, or nothing."""
    synced = [*written(MIB)]
    synced.insert(-1, Operation(Kind.FSYNC, FILE))
    phase = Machine().phase(synced)
    assert 0.008 <= phase.seconds <= 0.014
    assert Machine().phase(written(MIB)).seconds == 0


def test_truncated_and_deleted_files_are_gone() -> None:
    """Protects bonnie's second file: O_TRUNC and unlink drop what was dirty; what was never there is no error."""
    machine = Machine()
    machine.run(written(MIB), [Operation(Kind.UNLINK, "never")])
    machine.run([Operation(Kind.OPEN, FILE, flags="O_RDWR|O_CREAT|O_TRUNC"), Operation(Kind.CLOSE, FILE)])
    assert machine.memory.dirty_bytes < 64 * KIB
    assert machine.system.file(FILE).size == 0
    machine.run([Operation(Kind.UNLINK, FILE)])
    assert not machine.system.exists(FILE)


def test_what_no_process_can_do_is_an_error() -> None:
    """Protects programs from operations that would silently cost nothing."""
    with pytest.raises(ModelError, match="no process does this"):
        Machine().run([Operation(Kind.COPY_RANGE, "f")])
    with pytest.raises(ModelError, match="a fork without children"):
        Machine().run([Operation(Kind.FORK, calls=2), Operation(Kind.WAIT, calls=2)])


# Time


def test_phases_are_what_lies_between_marks_without_sleep() -> None:
    """Protects every reported time: a phase ends with its last operation, and a pause before the next is in neither."""
    machine = Machine(file_write_s=1e-3)
    program = [*written(4 * KIB, 512), Operation(Kind.SLEEP, size=5), *written(8 * KIB, 512, "g", "again")]
    (process,) = machine.run(program)
    first, second = process.phases[1:]
    assert (first.name, second.name, process.slept_s) == ("write", "again", 5)
    assert first.seconds == pytest.approx(0.008)
    assert second.began >= first.ended + 5
    assert second.cpu_s == pytest.approx(0.016)


def deleted(lap: bool) -> Iterator[Operation]:
    """A file that is written, and deleted by a program that has looked at the clock before, or not."""
    yield from written(1 * MIB)
    if lap:
        yield Operation(Kind.LAP)
    yield Operation(Kind.UNLINK, FILE)
    yield Operation(Kind.SLEEP, size=1)
    yield mark("next")


def test_what_follows_the_look_at_the_clock_is_not_timed() -> None:
    """Protects bonnie's rates: it stops its watch before it deletes a file; and counter-test without."""
    machine = Machine(kind={"unlink_cycles": 1e6})
    timed, whole = (machine.run(deleted(lap))[0].phases[1] for lap in (True, False))
    assert whole.operations == timed.operations + 1
    assert whole.cpu_s == pytest.approx(timed.cpu_s + 1e6 * 1e-9, abs=1e-6)
    assert whole.seconds > timed.seconds


def test_children_work_side_by_side_and_count_for_their_parent() -> None:
    """Protects tiobench: three threads that need 10 ms of CPU each take 10 ms on three cores, 30 on one; the phase has
    all their bytes and all their CPU time.
    """
    for cores, seconds in ((3, 0.01), (1, 0.03)):
        machine = Machine(cores=cores, file_write_s=10e-3 / 16)
        process = machine.process()
        process.children = lambda _, number: written(MIB, name=str(number))
        machine.do(execute(process, [mark("all"), Operation(Kind.FORK, calls=3), Operation(Kind.WAIT, calls=3)]))
        phase = process.phases[-1]
        assert phase.bytes == 3 * MIB
        assert phase.cpu_s == pytest.approx(0.03)
        assert phase.seconds == pytest.approx(seconds, rel=0.05)


def test_seekers_draw_from_one_pot() -> None:
    """Protects bonnie's seeks: the tickets are shared, so a seeker with slower blocks makes fewer of them, and the pot
    is empty at the end.
    """
    machine = Machine()
    machine.system.place("f", 64 * MIB)
    tickets = iter(range(30))
    drawn = [0, 0, 0]

    def seeker(_: str, number: int) -> Iterator[Operation]:
        yield Operation(Kind.OPEN, "f", flags="O_RDWR")
        for ticket in tickets:
            drawn[number] += 1
            yield transfer(Kind.READ, "f", ticket * 2 * MIB, 16 * KIB, 16 * KIB)
            yield Operation(Kind.SLEEP, size=number)

    process = machine.process()
    process.children = seeker
    settings = BonnieSettings()
    fork = [Operation(Kind.FORK, calls=3), mark("seeks"), Operation(Kind.TELL, size=settings.seeks)]
    machine.do(execute(process, [*fork, Operation(Kind.HEAR, size=72, calls=3)]))
    assert sum(drawn) == 30
    assert drawn[0] > drawn[1] >= drawn[2] > 0


def test_a_pipe_ties_two_processes() -> None:
    """Protects tar | tar: the reader gets what the writer writes, and the slower one sets the time of both."""
    machine = Machine(cores=2, file_write_s=1e-3)
    source, sink = machine.process(1), machine.process(2)
    source.output = sink.input = Pipe(4 * KIB)
    tell = [Operation(Kind.TELL, size=10 * KIB, call_bytes=10 * KIB)] * 8
    hear = [
        step
        for i in range(8)
        for step in (
            Operation(Kind.HEAR, size=10 * KIB, call_bytes=10 * KIB),
            Operation(Kind.OPEN, str(i), flags="O_WRONLY|O_CREAT"),
            transfer(Kind.WRITE, str(i), 0, 10 * KIB, KIB),
        )
    ]
    both = [machine.engine.spawn(execute(source, tell)), machine.engine.spawn(execute(sink, hear))]
    machine.engine.run(machine.engine.all_of(both))
    assert sink.phases[-1].seconds == pytest.approx(0.08, rel=0.1)
    assert source.phases[-1].ended > 0.06


FORKING = [mark("all"), Operation(Kind.FORK, calls=2), Operation(Kind.WAIT, calls=2)]


def _several_files(*sizes: int) -> list[Operation]:
    """Files of such sizes, each made, looked at and deleted."""
    first = sizes[0]
    found: list[Operation] = [mark("files"), Operation(Kind.MKDIR, f"d{first}")]
    for number, size in enumerate(sizes):
        name = f"d{first}/{number}"
        found += [Operation(Kind.OPEN, name, flags="O_RDWR|O_CREAT"), transfer(Kind.WRITE, name, 0, size, 4 * KIB)]
        found += [Operation(kind, name) for kind in (Kind.CLOSE, Kind.STAT, Kind.UNLINK)]
    return found


@pytest.mark.parametrize(
    ("program", "children", "moved"),
    [
        ([Operation(Kind.OPEN, "f"), transfer(Kind.READ, "f", 0, 8 * MIB, MIB)], [], 8 * MIB),
        ([Operation(Kind.OPEN, "f"), transfer(Kind.REWRITE, "f", 0, MIB, 8 * KIB)], [], MIB),
        (_several_files(*[40 * KIB] * 20), [], 800 * KIB + (1 + 3 * 20) * PAGE),
        (
            FORKING,
            [_several_files(*[40 * KIB] * 5), _several_files(*[80 * KIB] * 10)],
            1000 * KIB + (2 + 3 * 15) * PAGE,
        ),
    ],
    ids=["read", "rewrite", "names", "children"],
)
def test_how_much_is_done_is_seen(program: list[Operation], children: list[list[Operation]], moved: int) -> None:
    """Protects progress: it never falls, and ends with all bytes and a page for each operation on names, of all."""
    machine = Machine(file_read_s=1e-4, file_write_s=1e-3)
    machine.system.place("f", 8 * MIB)
    process = machine.process()
    process.children = lambda _, number: children[number]
    seen: list[int] = []

    def watch() -> Any:
        while True:
            yield machine.engine.timeout(0.002)
            seen.append(process.moved)

    machine.engine.spawn(watch())
    machine.do(execute(process, program))
    assert len(set(seen)) > 5
    assert seen[0] < moved / 2
    assert [*seen, process.moved] == sorted([*seen, moved])
