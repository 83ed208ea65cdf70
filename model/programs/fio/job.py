"""A job of fio by the names of its options, as far as they decide which I/Os it does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class JobFile(NamedTuple):
    """A file of a job.

    Attributes
    ----------
    name
        Its path.
    size
        How large it is (bytes), which may be more than the job uses.
    part
        Bytes that the job uses; 0: its share of the job's size.
    """

    name: str
    size: int
    part: int = 0


class Part(NamedTuple):
    """A share of a distribution: of the sizes (``bssplit``), or of the accesses to a zone (``zoned``).

    Attributes
    ----------
    value
        Bytes of an I/O; or size of the zone in percent (``zoned_abs``: in bytes).
    percent
        How often.
    """

    value: int
    percent: int


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of I/Os in one direction.

    Attributes
    ----------
    least, most
        Smallest and largest (bytes); offsets are multiples of the smallest.
    parts
        Which there are, and how often; none: any multiple of the smallest.
    """

    least: int
    most: int
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class FioJob:
    """One job (a thread or process) of fio, by the names of its options.

    Attributes
    ----------
    files
        ``filename``, or those made of the job's name.
    reads, writes, random
        ``rw``.
    sizes
        ``bs``, ``bsrange`` or ``bssplit`` of reads, of writes and of trims.
    size
        ``size`` (bytes).
    thread_number, subjob_number
        Its number among all jobs from 1, and among its clones (``numjobs``) from 0.
    io_size
        ``io_size``; 0: as `size`.
    offset
        Of the first byte, with ``offset_increment``.
    skip
        Bytes added after each sequential I/O ("read:12k").
    every
        Random I/Os between which there are sequential ones ("randread:8"); 0: all are random.
    identical
        ``rw_sequencer=identical``: the ones between repeat the offset.
    rwmixread
        Percent of reads in a mixed job.
    percentage_random
        Percent of random I/Os of reads, writes and trims.
    randseed, randrepeat, random_generator
        As the options. With a `randseed` (None: there is none) a second pass over the files goes on with the random
        numbers of the first; without, it repeats them, as long as `randrepeat` is set.
    norandommap
        Blocks may come again.
    theta, h, zones
        ``random_distribution=zipf:``, ``pareto:`` and ``zoned:``.
    deviation, center
        ``random_distribution=normal:`` in percent, and the center that any skewed distribution may have (0 to 1; None:
        there is none).
    zones_absolute
        Whether the zones are given in bytes (``zoned_abs``).
    time_based
        Begin again at the end.
    fsync, fdatasync
        After as many writes.
    openfiles, service
        Files open at a time (0: all), and I/Os on one before the next (``file_service_type=roundrobin:``).
    file_random
        ``file_service_type=random``: the next file is drawn.
    trims, trim_before
        ``rw=trim``, and ``rw=trimwrite``, which trims each place before it writes it.
    align
        ``blockalign`` of reads, writes and trims; 0: the smallest size.
    unaligned
        ``bs_unaligned``: sizes of a range are any number of bytes.
    sizes_by_order
        ``bs_is_seq_rand``: the sizes of reads are those of all sequential I/Os, those of writes of all random ones.
    number_ios
        ``number_ios``: I/Os after which it ends; 0: no such limit.
    loops
        ``loops``: times that all is done.
    allrandrepeat
        ``allrandrepeat``: all random numbers are the same whatever ``randseed`` is.
    overwrite
        ``overwrite``: files have been written before, also where a job only writes.
    """

    files: tuple[JobFile, ...]
    reads: bool
    writes: bool
    random: bool
    sizes: tuple[Sizes, Sizes, Sizes]
    size: int
    thread_number: int = 1
    subjob_number: int = 0
    io_size: int = 0
    offset: int = 0
    skip: int = 0
    every: int = 0
    identical: bool = False
    rwmixread: int = 50
    percentage_random: tuple[int, int, int] = (100, 100, 100)
    randseed: int | None = None
    randrepeat: bool = True
    random_generator: str = "tausworthe"
    norandommap: bool = False
    theta: float = 0.0
    h: float = 0.0
    zones: tuple[Part, ...] = ()
    time_based: bool = False
    fsync: int = 0
    fdatasync: int = 0
    openfiles: int = 0
    service: int = 1
    file_random: bool = False
    deviation: float = 0.0
    center: float | None = None
    zones_absolute: bool = False
    trims: bool = False
    trim_before: bool = False
    align: tuple[int, int, int] = (0, 0, 0)
    unaligned: bool = False
    sizes_by_order: bool = False
    number_ios: int = 0
    loops: int = 1
    allrandrepeat: bool = False
    overwrite: bool = False

    @property
    def units(self) -> tuple[int, ...]:
        """What offsets of reads, writes and trims are multiples of (bytes)."""
        return tuple(align or sizes.least for align, sizes in zip(self.align, self.sizes, strict=True))

    @property
    def smallest(self) -> int:
        """The smallest I/O there may be (bytes)."""
        used = (self.reads, self.writes, self.trims)
        return min(sizes.least for sizes, does in zip(self.sizes, used, strict=True) if does)

    @property
    def largest(self) -> int:
        """The largest (bytes)."""
        used = (self.reads, self.writes, self.trims)
        return max(sizes.most for sizes, does in zip(self.sizes, used, strict=True) if does)
