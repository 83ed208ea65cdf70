"""Where in one of its files a fio job is, and which block a random I/O of its takes (fio's io_u.c, filesetup.c)."""

from __future__ import annotations

from collections.abc import Callable

from .job import FioJob, JobFile
from .random import Generator, Normal, Pareto, Seed, Tausworthe, Zipf, file_seed
from .random_map import RandomMap

READ, WRITE, TRIM = 0, 1, 2


class Position:
    """Where a job is in one of its files.

    Attributes
    ----------
    file
        The file.
    io_size
        Bytes of it that the job uses.
    last
        End of the last I/O of each direction.
    last_start
        Where it began, from the start of the file; -1 before the first.
    map
        Blocks that a random job has had.
    skewed
        The distribution over its blocks, if it is not uniform.
    opened, done
        Whether it is open, and whether it has no more.
    """

    __slots__ = ("done", "file", "io_size", "last", "last_start", "map", "opened", "skewed")

    def __init__(self, file: JobFile, io_size: int, start: int) -> None:
        self.file = file
        self.io_size = io_size
        self.last = [start, start, start]
        self.last_start = [-1, -1, -1]
        self.map: RandomMap | None = None
        self.skewed: Zipf | Pareto | Normal | None = None
        self.opened = False
        self.done = False

    @property
    def room(self) -> int:
        """Bytes in which its I/Os lie."""
        return min(self.io_size, self.file.size)

    def rewind(self, start: int) -> None:
        """Begin again."""
        self.last[:] = [start, start, start]
        self.last_start[:] = [-1, -1, -1]
        if self.map is not None:
            self.map.clear()


class RandomPlaces:
    """Draws blocks of files.

    Parameters
    ----------
    job
        The job.
    positions
        Its files; those that need one get a map or a distribution.
    seeds
        Of the job.
    """

    __slots__ = ("_job", "_next", "_units", "_zone_random", "_zones", "random")

    def __init__(self, job: FioJob, positions: list[Position], seeds: list[int], named: bool) -> None:
        self._job = job
        self._units = job.units
        smallest = min(sizes.least for sizes in job.sizes)
        skewed = bool(job.theta or job.h or job.deviation)
        for position in positions:
            blocks = max(1, -(-position.room // smallest))
            if skewed:
                seed = file_seed(position.file.name, job.thread_number) if named else seeds[Seed.OFFSET]
                position.skewed = (
                    Zipf(blocks, job.theta, seed, job.center)
                    if job.theta
                    else Pareto(blocks, job.h, seed, job.center)
                    if job.h
                    else Normal(blocks, job.deviation, seed, job.center)
                )
            elif job.random and not job.norandommap:
                position.map = RandomMap(blocks)
        self._zones = self._zone_table()
        self._next: Callable[[Position, int], int | None] = (
            self._skewed_block
            if skewed
            else self._zoned_bytes
            if job.zones_absolute
            else self._zoned_block
            if job.zones
            else self._uniform_block
        )
        self.random: Generator
        self._zone_random: Tausworthe

    def seed(self, offset: Generator, zone: Tausworthe) -> None:
        """Take these generators from now on."""
        self.random = offset
        self._zone_random = zone

    def block(self, position: Position, op: int) -> int | None:
        """The next block, in the direction's unit; None if all were had."""
        block = self._next(position, op)
        if block is None and self._job.time_based:
            position.rewind(self._job.offset)
            block = self._next(position, op)
        return block

    def _blocks(self, position: Position, op: int) -> int:
        unit = self._units[op]
        return max(0, position.room - max(0, self._job.sizes[op].least - unit)) // unit

    def _uniform_block(self, position: Position, op: int) -> int | None:
        return self._block_below(position, self._blocks(position, op))

    def _block_below(self, position: Position, blocks: int) -> int | None:
        if not blocks:
            return None
        block = self.random.below(blocks)
        return block if position.map is None else position.map.free_from(block)

    def _skewed_block(self, position: Position, op: int) -> int | None:
        assert position.skewed is not None
        return position.skewed.draw()

    def _zoned_block(self, position: Position, op: int) -> int | None:
        start, end = self._zones[self._zone_random.percent() - 1]
        blocks = self._blocks(position, op)
        inside = self._block_below(position, blocks * (end - start) // 100)
        return None if inside is None else inside + start * blocks // 100

    def _zoned_bytes(self, position: Position, op: int) -> int | None:
        start, end = self._zones[self._zone_random.percent() - 1]
        unit = self._units[op]
        inside = self._block_below(position, min(end - start, position.io_size) // unit)
        return None if inside is None else inside + start // unit

    def _zone_table(self) -> list[tuple[int, int]]:
        """For each percent of the accesses, start and end of its zone, in percent of the file or in bytes."""
        table = []
        start = 0
        for zone in self._job.zones:
            table += [(start, start + zone.value)] * zone.percent
            start += zone.value
        return table
