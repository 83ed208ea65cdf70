"""How far a rebuild or a check is, and what a run asks of one."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class RebuildReport:
    """How far it is (seconds of the clock, bytes of the address space it counts in).

    Attributes
    ----------
    started_s, finished_s
        When it began, and when it was over (None: it is not).
    total_bytes, position_bytes
        How much there is to do, and how much of it is done, what was done before the run included.
    done_bytes
        What was done in this run.
    average_rate
        Bytes a second since it began.
    current_rate
        Bytes a second over the last half a minute or less.
    remaining_s
        Time to the end at the current rate; 0 if it is over, None if nothing moves.
    """

    started_s: float
    finished_s: float | None
    total_bytes: int
    position_bytes: int
    done_bytes: int
    average_rate: float
    current_rate: float
    remaining_s: float | None


class Rebuild(Protocol):
    """A rebuild or a check of an array or a pool."""

    @property
    def action(self) -> str:
        """What it does: "recover", "check", "repair" or "trim"."""

    @property
    def done_bytes(self) -> int:
        """What was done in this run, in the address space that it counts in."""

    @property
    def member_bytes(self) -> int:
        """Bytes of each member from beginning to end."""

    @property
    def report(self) -> RebuildReport:
        """Where it stands now."""

    def run(self) -> Generator[Any, Any, None]:
        """Do it: a process that is over when all is done."""
