"""Which file, direction, offset and size each I/O of a fio job has, exactly as fio 3.33 chooses them.

Facts from fio 3.33: io_u.c (get_next_offset, get_next_buflen, get_rw_ddir, get_next_file_rr), backend.c (do_io),
init.c and options.c. Time does not enter, so a job that ends by the clock goes on for ever here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .fio_job import FioJob, JobFile, Part
from .fio_random import (
    DEFAULT_RANDSEED,
    Generator,
    Pareto,
    Seed,
    Tausworthe,
    Tausworthe64,
    Zipf,
    file_seed,
    job_seeds,
)
from .fio_random_map import RandomMap
from .operation import Kind, Operation

READ, WRITE = 0, 1


class _Position:
    """Where a job is in one of its files."""

    __slots__ = ("done", "file", "io_size", "last", "last_start", "map", "opened", "skewed")

    def __init__(self, file: JobFile, io_size: int, start: int) -> None:
        self.file = file
        self.io_size = io_size
        self.last = [start, start]
        self.last_start = [-1, -1]
        self.map: RandomMap | None = None
        self.skewed: Zipf | Pareto | None = None
        self.opened = False
        self.done = False


class FioOffsets:
    """The I/Os of one job.

    Parameters
    ----------
    job
        The job.
    """

    __slots__ = (
        "_bytes",
        "_direction_random",
        "_every_left",
        "_files",
        "_issued",
        "_job",
        "_last_offset",
        "_last_was_write",
        "_mixed",
        "_next_block",
        "_next_file",
        "_offset_random",
        "_sequential_random",
        "_served",
        "_served_left",
        "_size_random",
        "_switch_at",
        "_zone_ends",
        "_zone_random",
    )

    def __init__(self, job: FioJob) -> None:
        self._job = job
        part = job.size // len(job.files)
        self._files = [_Position(file, min(part, file.size - job.offset), job.offset) for file in job.files]
        smallest = min(sizes.least for sizes in job.sizes)
        skewed = bool(job.theta or job.h)
        seeds = self._seed_generators()
        for position in self._files:
            blocks = -(-min(position.io_size, position.file.size) // smallest)
            if skewed:
                named = file_seed(position.file.name, job.thread_number)
                seed = named if self._repeats else seeds[Seed.OFFSET]
                position.skewed = Zipf(blocks, job.theta, seed) if job.theta else Pareto(blocks, job.h, seed)
            elif job.random and not job.norandommap:
                position.map = RandomMap(blocks)
        self._zone_ends = _zone_table(job.zones)
        self._next_block: Callable[[_Position, int], int | None] = (
            self._skewed_block if skewed else self._zoned_block if job.zones else self._uniform_block
        )
        self._mixed = READ
        self._switch_at = 0
        self._issued = [0, 0]
        self._bytes = 0
        self._last_offset = 0
        self._last_was_write = False
        self._every_left = 1
        self._next_file = 0
        self._served: _Position | None = None
        self._served_left = 0

    @property
    def _repeats(self) -> bool:
        return self._job.randrepeat and self._job.randseed is None

    def _seed_generators(self) -> list[int]:
        job = self._job
        seeds = job_seeds(job.randseed or DEFAULT_RANDSEED, job.thread_number, job.randrepeat)
        wide: type[Generator] = Tausworthe64 if job.random_generator == "tausworthe64" else Tausworthe
        self._size_random: list[Generator] = [wide(seeds[Seed.READ_SIZE]), wide(seeds[Seed.WRITE_SIZE])]
        self._offset_random: Generator = wide(seeds[Seed.OFFSET])
        self._direction_random = Tausworthe(seeds[Seed.DIRECTION])
        self._zone_random = Tausworthe(seeds[Seed.ZONE])
        self._sequential_random = [Tausworthe(seeds[Seed.SEQUENTIAL]) for _ in (READ, WRITE)]
        return seeds

    def operations(self) -> Iterator[Operation]:
        """All it does, in order; without end if the job is `time_based`."""
        job = self._job
        limit = job.io_size or job.size
        largest = max(job.sizes[op].most for op, used in ((READ, job.reads), (WRITE, job.writes)) if used)
        while True:
            before = self._bytes
            yield from self._pass(limit)
            for position in self._files:
                if position.opened:
                    position.opened = False
                    yield Operation(Kind.CLOSE, position.file.name)
            if self._bytes == before or not job.io_size or limit - self._bytes < largest:
                return
            self._begin_again()

    def _begin_again(self) -> None:
        """fio's clear_io_state: an `io_size` beyond `size` needs more than one pass over the files."""
        for position in self._files:
            position.done = False
            self._rewind(position)
        self._switch_at = 0
        self._served = None
        if self._repeats:
            self._seed_generators()

    def _rewind(self, position: _Position) -> None:
        position.last[:] = [self._job.offset, self._job.offset]
        position.last_start[:] = [-1, -1]
        if position.map is not None:
            position.map.clear()

    def _pass(self, limit: int) -> Iterator[Operation]:
        while self._bytes < limit or self._job.time_based:
            position = self._file()
            if position is None:
                if all(each.done for each in self._files):
                    return
                continue
            if not position.opened:
                position.opened = True
                yield Operation(Kind.OPEN, position.file.name, flags=self._flags())
            sync = self._sync_due()
            if sync is not None:
                self._last_was_write = False
                yield Operation(sync, position.file.name, self._last_offset)
                continue
            op = self._direction()
            found = self._place(position, op)
            if found is None:
                position.done = True
                position.opened = False
                yield Operation(Kind.CLOSE, position.file.name)
                continue
            offset, size = found
            position.last_start[op] = offset
            position.last[op] = offset + size
            self._issued[op] += 1
            self._bytes += size
            self._last_offset = offset
            self._last_was_write = op == WRITE
            yield Operation(Kind.WRITE if op else Kind.READ, position.file.name, offset, size, size)

    def _flags(self) -> str:
        return "O_RDWR|O_CREAT" if self._job.writes else "O_RDONLY"

    def _file(self) -> _Position | None:
        """The file whose turn it is; None if it has to be asked again, or there is none."""
        served = self._served
        if served is not None and served.opened and self._served_left:
            self._served_left -= 1
            return served
        files = self._files
        most = self._job.openfiles or len(files)
        for _ in files:
            position = files[self._next_file]
            self._next_file = (self._next_file + 1) % len(files)
            if position.done:
                continue
            if not position.opened and sum(each.opened for each in files) >= most:
                return None
            self._served = position
            self._served_left = self._job.service - 1
            return position
        return None

    def _sync_due(self) -> Kind | None:
        job, writes = self._job, self._issued[WRITE]
        if not self._last_was_write:
            return None
        if job.fsync and writes % job.fsync == 0:
            return Kind.FSYNC
        if job.fdatasync and writes % job.fdatasync == 0:
            return Kind.FDATASYNC
        return None

    def _direction(self) -> int:
        job = self._job
        if not (job.reads and job.writes):
            return READ if job.reads else WRITE
        if self._issued[self._mixed] >= self._switch_at:
            op = READ if self._direction_random.percent() <= job.rwmixread else WRITE
            if op != self._mixed:
                other = job.rwmixread if self._mixed == WRITE else 100 - job.rwmixread
                self._switch_at = self._issued[self._mixed] * other // 100
            self._mixed = op
        return self._mixed

    def _place(self, position: _Position, op: int) -> tuple[int, int] | None:
        """Offset and size of the next I/O; None if the file has no more."""
        job = self._job
        hit = True
        if job.every:
            self._every_left -= 1
            hit = not self._every_left
            if hit:
                self._every_left = job.every
        inside: int | None
        marks = False
        if not hit and job.identical:
            inside = max(position.last_start[op] - job.offset, 0)
        elif not job.random:
            inside = self._next_in_sequence(position, op)
        else:
            inside = None
            if not hit or not self._is_random(op):
                inside = self._next_in_sequence(position, op)
            if inside is None:
                marks = hit
                block = self._random_block(position, op)
                inside = None if block is None else block * job.sizes[op].least
        if inside is None or inside >= position.io_size:
            return None
        offset = inside + job.offset
        if offset >= position.file.size:
            return None
        size = self._next_size(position, op, inside)
        if not size or offset + size > position.file.size:
            return None
        if marks and position.map is not None:
            least = job.sizes[op].least
            size = min(size, position.map.take(inside // least, -(-size // least)) * least)
        return offset, size

    def _is_random(self, op: int) -> bool:
        percent = self._job.percentage_random[op]
        return percent == 100 or self._sequential_random[op].percent() <= percent

    def _next_in_sequence(self, position: _Position, op: int) -> int | None:
        job, last, size = self._job, position.last, position.file.size
        mixed_again = job.reads and job.writes and job.io_size > job.size
        if last[op] >= position.io_size + job.offset and (job.time_based or mixed_again):
            last[op] = job.offset
        if last[op] >= size:
            return None
        if last[op] == job.offset and job.offset and job.skip < 0:
            last[op] = min(size, position.io_size)
        inside = last[op] - job.offset
        if inside and job.skip:
            inside += job.skip
            if not 0 <= inside < size:
                inside = job.offset if job.skip > 0 else min(size, position.io_size) + job.skip
        return inside

    def _random_block(self, position: _Position, op: int) -> int | None:
        block = self._next_block(position, op)
        if block is None and self._job.time_based:
            self._rewind(position)
            block = self._next_block(position, op)
        return block

    def _blocks(self, position: _Position, op: int) -> int:
        return min(position.io_size, position.file.size) // self._job.sizes[op].least

    def _uniform_block(self, position: _Position, op: int) -> int | None:
        return self._block_below(position, self._blocks(position, op))

    def _block_below(self, position: _Position, blocks: int) -> int | None:
        block = self._offset_random.below(blocks)
        return block if position.map is None else position.map.free_from(block)

    def _skewed_block(self, position: _Position, op: int) -> int | None:
        assert position.skewed is not None
        return position.skewed.draw()

    def _zoned_block(self, position: _Position, op: int) -> int | None:
        start, end = self._zone_ends[self._zone_random.percent() - 1]
        blocks = self._blocks(position, op)
        inside = self._block_below(position, blocks * (end - start) // 100)
        return None if inside is None else inside + start * blocks // 100

    def _next_size(self, position: _Position, op: int, inside: int) -> int:
        sizes = self._job.sizes[op]
        if sizes.least == sizes.most:
            return sizes.least
        room = position.io_size - inside
        if sizes.least > room:
            return 0
        generator = self._size_random[op]
        highest = int(generator.span) - 1
        while True:
            drawn = generator.draw()
            if sizes.parts:
                size = percent = 0
                for part in sizes.parts:
                    size = part.value
                    percent += part.percent
                    if drawn // percent <= highest // 100 and size <= room:
                        break
            else:
                size = sizes.least + int(sizes.most * (drawn / generator.span))
            size = min(size - size % sizes.least, sizes.most)
            if size <= room:
                return size


def _zone_table(zones: tuple[Part, ...]) -> list[tuple[int, int]]:
    """For each percent of the accesses, start and end of its zone in percent of the file."""
    table = []
    start = 0
    for zone in zones:
        table += [(start, start + zone.value)] * zone.percent
        start += zone.value
    return table


def iolog(operations: Iterator[Operation]) -> Iterator[str]:
    """The lines of fio's log of I/Os without their times ("f1 read 0 4096")."""
    names = {Kind.FDATASYNC: "datasync", Kind.FSYNC: "sync"}
    for operation in operations:
        kind = operation.kind
        if kind in (Kind.OPEN, Kind.CLOSE):
            yield f"{operation.file} {kind.value}"
        else:
            yield f"{operation.file} {names.get(kind, kind.value)} {operation.offset} {operation.size}"
