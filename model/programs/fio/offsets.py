"""Which file, direction, offset and size each I/O of a fio job has, exactly as fio 3.33 chooses them.

Facts from fio 3.33: io_u.c (get_next_offset, get_next_buflen, get_rw_ddir, get_next_file_rr), backend.c (do_io),
init.c and options.c. Time does not enter, so a job that ends by the clock goes on for ever here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..operation import Kind, Operation
from .job import FioJob
from .places import READ, TRIM, WRITE, Position, RandomPlaces
from .random import DEFAULT_RANDSEED, Generator, Seed, Tausworthe, Tausworthe64, job_seeds

_KINDS = (Kind.READ, Kind.WRITE, Kind.TRIM)


class FioOffsets:
    """The I/Os of one job.

    Parameters
    ----------
    job
        The job.

    Attributes
    ----------
    turn
        Of a mixed job with a rate limit: gets the direction of the next I/O, and returns that or the other one,
        whichever is due before.
    """

    __slots__ = (
        "_bytes",
        "_count",
        "_direction_random",
        "_every_left",
        "_file_random",
        "_files",
        "_issued",
        "_job",
        "_last_offset",
        "_last_was_sync",
        "_mixed",
        "_next_file",
        "_places",
        "_sequential_random",
        "_served",
        "_served_left",
        "_size_random",
        "_switch_at",
        "_units",
        "turn",
    )

    def __init__(self, job: FioJob) -> None:
        self._job = job
        self._units = job.units
        share = job.size // len(job.files)
        self._files = [
            Position(each, min(each.part or share, each.size - job.offset), job.offset) for each in job.files
        ]
        self._places = RandomPlaces(job, self._files, self._seeds(), self._repeats)
        self._seed_generators()
        self._mixed = READ
        self._switch_at = 0
        self._issued = [0, 0, 0]
        self._bytes = 0
        self._count = 0
        self._last_offset = 0
        self._last_was_sync = False
        self._every_left = 1
        self._next_file = 0
        self._served: Position | None = None
        self._served_left = 0
        self.turn: Callable[[int], int] | None = None

    @property
    def _repeats(self) -> bool:
        return self._job.randrepeat and self._job.randseed is None

    def _seeds(self) -> list[int]:
        job = self._job
        return job_seeds(job.randseed or DEFAULT_RANDSEED, job.thread_number, job.randrepeat, job.allrandrepeat)

    def _seed_generators(self) -> None:
        job, seeds = self._job, self._seeds()
        wide: type[Generator] = Tausworthe64 if job.random_generator == "tausworthe64" else Tausworthe
        self._size_random: list[Generator] = [
            wide(seeds[seed]) for seed in (Seed.READ_SIZE, Seed.WRITE_SIZE, Seed.TRIM_SIZE)
        ]
        self._places.seed(wide(seeds[Seed.OFFSET]), Tausworthe(seeds[Seed.ZONE]))
        self._file_random: Generator = wide(seeds[Seed.FILE])
        self._direction_random = Tausworthe(seeds[Seed.DIRECTION])
        self._sequential_random = [Tausworthe(seeds[Seed.SEQUENTIAL]) for _ in _KINDS]

    def operations(self) -> Iterator[Operation]:
        """All it does, in order; without end if the job is `time_based`."""
        job = self._job
        limit = job.io_size or job.size
        loops = job.loops
        while True:
            before = self._bytes
            self._count = 0
            loops -= 1
            yield from self._pass(limit * job.loops)
            for position in self._files:
                if position.opened:
                    position.opened = False
                    yield Operation(Kind.CLOSE, position.file.name)
            if self._bytes == before or self._enough:
                return
            if not job.time_based and loops <= 0 and (not job.io_size or limit - self._bytes < job.largest):
                return
            self._begin_again()

    @property
    def _enough(self) -> bool:
        return bool(self._job.number_ios) and self._count >= self._job.number_ios * self._job.loops

    def _begin_again(self) -> None:
        """fio's clear_io_state: an `io_size` beyond `size`, or `loops`, need more than one pass over the files."""
        for position in self._files:
            position.done = False
            position.rewind(self._job.offset)
        self._switch_at = 0
        self._served = None
        if self._repeats:
            self._seed_generators()

    def _pass(self, limit: int) -> Iterator[Operation]:
        job = self._job
        while (self._bytes < limit or job.time_based) and not self._enough:
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
                self._last_was_sync = True
                yield Operation(sync, position.file.name, self._last_offset)
                continue
            op = self._direction(position)
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
            self._count += 1
            self._bytes += size if op != TRIM or not job.trim_before else 0
            self._last_offset = offset
            self._last_was_sync = False
            yield Operation(_KINDS[op], position.file.name, offset, size, size)

    def _flags(self) -> str:
        return "O_RDWR|O_CREAT" if self._job.writes else "O_RDONLY"

    def _file(self) -> Position | None:
        """The file whose turn it is; None if it has to be asked again, or there is none."""
        served = self._served
        if served is not None and served.opened and self._served_left:
            self._served_left -= 1
            return served
        files = self._files
        most = self._job.openfiles or len(files)
        for _ in files:
            if self._job.file_random:
                position = files[self._file_random.below(len(files))]
            else:
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
        if self._last_was_sync or not writes:
            return None
        if job.fsync and writes % job.fsync == 0:
            return Kind.FSYNC
        if job.fdatasync and writes % job.fdatasync == 0:
            return Kind.FDATASYNC
        return None

    def _direction(self, position: Position) -> int:
        job = self._job
        if job.trims:
            if not job.writes:
                return TRIM
            return TRIM if position.last_start[WRITE] == position.last_start[TRIM] else WRITE
        if not (job.reads and job.writes):
            return READ if job.reads else WRITE
        if self._issued[self._mixed] >= self._switch_at:
            op = READ if self._direction_random.percent() <= job.rwmixread else WRITE
            if op != self._mixed:
                other = job.rwmixread if self._mixed == WRITE else 100 - job.rwmixread
                self._switch_at = self._issued[self._mixed] * other // 100
            self._mixed = op
        return self._mixed if self.turn is None else self.turn(self._mixed)

    def _place(self, position: Position, op: int) -> tuple[int, int] | None:
        """Offset and size of the next I/O; None if the file has no more."""
        job = self._job
        if op == WRITE and job.trim_before:
            return position.last_start[TRIM], position.last[TRIM] - position.last_start[TRIM]
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
            marks = hit and self._is_random(op)
            if not marks:
                inside = self._next_in_sequence(position, op)
            if inside is None:
                block = self._places.block(position, op)
                inside = None if block is None else block * self._units[op]
        if inside is None or inside >= position.io_size:
            return None
        offset = inside + job.offset
        if offset >= position.file.size:
            return None
        size = self._next_size(position, self._sized_as(op, marks), inside)
        if not size or offset + size > position.file.size:
            return None
        if marks and position.map is not None:
            unit = job.sizes[op].least
            size = min(size, position.map.take(inside // unit, -(-size // unit)) * unit)
        return offset, size

    def _sized_as(self, op: int, random: bool) -> int:
        """The direction whose sizes an I/O has."""
        return op if not self._job.sizes_by_order else WRITE if random else READ

    def _is_random(self, op: int) -> bool:
        percent = self._job.percentage_random[op]
        return percent == 100 or self._sequential_random[op].percent() <= percent

    def _next_in_sequence(self, position: Position, op: int) -> int | None:
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

    def _next_size(self, position: Position, op: int, inside: int) -> int:
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
            if not self._job.unaligned:
                size -= size % sizes.least
            size = min(size, sizes.most)
            if size <= room:
                return size


def iolog(operations: Iterator[Operation]) -> Iterator[str]:
    """The lines of fio's log of I/Os without their times ("f1 read 0 4096")."""
    for operation in operations:
        yield iolog_line(operation)


_NAMES = {Kind.FDATASYNC: "datasync", Kind.FSYNC: "sync"}


def iolog_line(operation: Operation) -> str:
    """One of them."""
    kind = operation.kind
    if kind in (Kind.OPEN, Kind.CLOSE):
        return f"{operation.file} {kind.value}"
    return f"{operation.file} {_NAMES.get(kind, kind.value)} {operation.offset} {operation.size}"
