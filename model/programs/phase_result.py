"""What a phase of a program gave: what the reports are made of."""

from __future__ import annotations

from typing import NamedTuple


class PhaseResult(NamedTuple):
    """One phase of a program.

    Attributes
    ----------
    name
        As the program's marks name it ("putc").
    seconds
        How long it took.
    bytes
        What it moved.
    operations
        Files created, blocks sought, random operations; 0 where the program counts bytes only.
    cpu_s
        CPU time of the program and of the kernel for it (s), of all its processes.
    user_s
        The program's own part of `cpu_s` (s).
    longest_s
        The longest single call (s), for the programs that report it.
    """

    name: str
    seconds: float
    bytes: int = 0
    operations: int = 0
    cpu_s: float = 0.0
    user_s: float = 0.0
    longest_s: float = 0.0

    @property
    def rate(self) -> float:
        """Bytes a second; 0 for a phase that took no time."""
        return self.bytes / self.seconds if self.seconds else 0.0

    @property
    def per_second(self) -> float:
        """Operations a second; 0 for a phase that took no time."""
        return self.operations / self.seconds if self.seconds else 0.0

    @property
    def cpu_share(self) -> float:
        """CPU time as a share of the time: 1 is one CPU, all the time."""
        return self.cpu_s / self.seconds if self.seconds else 0.0
