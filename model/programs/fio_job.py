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
    """

    name: str
    size: int


class Part(NamedTuple):
    """A share of a distribution: of the sizes (``bssplit``), or of the accesses to a zone (``zoned``).

    Attributes
    ----------
    value
        Bytes of an I/O; or size of the zone in percent.
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
        ``bs``, ``bsrange`` or ``bssplit`` of reads and of writes.
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
        Percent of random I/Os of reads and of writes.
    randseed, randrepeat, random_generator
        As the options. With a `randseed` (None: there is none) a second pass over the files goes on with the random
        numbers of the first; without, it repeats them, as long as `randrepeat` is set.
    norandommap
        Blocks may come again.
    theta, h, zones
        ``random_distribution=zipf:``, ``pareto:`` and ``zoned:``.
    time_based
        Begin again at the end.
    fsync, fdatasync
        After as many writes.
    openfiles, service
        Files open at a time (0: all), and I/Os on one before the next (``file_service_type=roundrobin:``).
    """

    files: tuple[JobFile, ...]
    reads: bool
    writes: bool
    random: bool
    sizes: tuple[Sizes, Sizes]
    size: int
    thread_number: int = 1
    subjob_number: int = 0
    io_size: int = 0
    offset: int = 0
    skip: int = 0
    every: int = 0
    identical: bool = False
    rwmixread: int = 50
    percentage_random: tuple[int, int] = (100, 100)
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
