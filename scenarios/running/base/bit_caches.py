"""Cells with one bit that fill during a long write: when, and a machine on which they are full.

A drive with such cells (a pseudo-SLC cache) takes writes at their rate until they are used up, and at that of its other
cells from then on. They hold up to a third of the drive, so no sample fills them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from ...machine.drives import is_solid_state
from ...machine.machine import BuiltMachine

if TYPE_CHECKING:
    from ....model.solid_state.drive import SolidState

_FILLS = 0.02
"""Share of what a drive is written by which they must grow: below it they are emptied as fast as they fill."""
_TOGETHER = 0.1
"""Cells of drives that fill within this share of the bytes count as full at the same time."""


class Fill(NamedTuple):
    """Which cells fill next.

    Attributes
    ----------
    at
        Bytes that the programs have written by then.
    drives
        Names of the drives.
    """

    at: float
    drives: frozenset[str]


class BitCaches:
    """The cells with one bit of a machine during a measurement.

    Parameters
    ----------
    machine
        Whose.
    """

    def __init__(self, machine: BuiltMachine) -> None:
        self._machine = machine
        self._drives: list[SolidState] = [
            drive for drive in machine.disks.values() if is_solid_state(drive) and drive.spec.slc_cache
        ]
        self._held: list[int] = []

    def begin(self) -> None:
        """The measurement begins."""
        self._held = [drive.cached_bytes for drive in self._drives]

    def fill_after(self, moved: float) -> dict[str, float]:
        """Bytes of the programs after which the cells of each drive are full; those of some never are.

        Parameters
        ----------
        moved
            Bytes of the programs that the drives have taken during the measurement.
        """
        found: dict[str, float] = {}
        for drive, before in zip(self._drives, self._held, strict=True):
            grown = drive.cached_bytes - before
            if grown > _FILLS * drive.write_bytes and moved > 0:
                found[drive.name] = drive.spec.slc_cache * moved / grown
        return found


def fill(machine: BuiltMachine, names: Iterable[str]) -> None:
    """Have the cells with one bit of these drives full."""
    for name in names:
        drive = machine.disks[name]
        if is_solid_state(drive):
            drive.fill_bit_cache()


def next_fill(fills: dict[str, float], done: float, total: float) -> Fill | None:
    """The drives that are full first, if before all is written.

    Parameters
    ----------
    fills
        Bytes of the programs after which each drive's cells are full, if they were empty at the start.
    done
        Bytes written before this stage.
    total
        Bytes of the whole write.
    """
    first = min(fills.values(), default=total)
    at = max(done, first)
    if at >= total:
        return None
    return Fill(at, frozenset(name for name, full_at in fills.items() if full_at <= (1 + _TOGETHER) * first))
