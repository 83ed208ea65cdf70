"""How much of a long, steady run is simulated."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sample:
    """How much of a long, steady run is simulated.

    Attributes
    ----------
    read_bytes
        Bytes per reading program that are measured.
    write_bytes
        Bytes per writing program that are measured at least; more where caches below are larger (:mod:`.dd_run`).
    cycles
        Cycles of the I/O scheduler that a write is measured over at least.
    warm_up
        What comes before the measurement, as a share of it.
    dirty_swing_bytes
        Where a kernel writes back in large swings (2.4 from 30 down to 20 % of memory), they are cut to this. It
        sets how long one swing takes, not the mean, as long as it is several times the drives' buffers.
    scale
        Programs on files run at this fraction of their sizes, counts and memory; None: as `program_bytes` says.
    program_bytes, least_memory_bytes
        Programs are simulated at the smallest scale (a power of two) at which they move no more than the first for
        every three drives, unless memory would get smaller than the second.
    """

    read_bytes: int = 64 << 20
    write_bytes: int = 12 << 20
    cycles: int = 3
    warm_up: float = 0.25
    dirty_swing_bytes: int = 16 << 20
    scale: int | None = None
    program_bytes: int = 2 << 30
    least_memory_bytes: int = 48 << 20
