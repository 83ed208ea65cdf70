"""What bonnie and bonnie++ have in common: their seekers, their phases and the figures of those."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from .step import TIMES, Access, Children, Dimension, Figures

if TYPE_CHECKING:
    from ...model.process.process import Phase
    from ...model.programs.bonnie import Bonnie
    from ...model.programs.bonnie_plus_plus import BonniePlusPlus
    from ...model.programs.operation import Operation

PASSES = 6
"""It writes its file three times and reads it three times."""
ACCESSES: Mapping[str, Access] = MappingProxyType(
    {
        "": "whole benchmark",
        "putc": "characters",
        "getc": "characters",
        "write": "sequential write",
        "rewrite": "rewrite",
        "read": "sequential read",
        "seeks": "random read",
    }
)
FIGURES: Mapping[str, Dimension] = MappingProxyType(
    {
        **TIMES,
        **{f"{phase}_rate": "bytes/s" for phase in ("putc", "rewrite", "write", "getc", "read")},
        **{f"{phase}_cpu": "share" for phase in ("putc", "rewrite", "write", "getc", "read", "seeks")},
        "seeks_rate": "1/s",
    }
)


def seekers(run: Bonnie | BonniePlusPlus, tickets: Iterator[int], name: str) -> Children:
    """What the processes do that seek, each with the next ticket until there are no more.

    Parameters
    ----------
    run
        The program.
    tickets
        One for each seek, of all processes.
    name
        The file that is open from the start.
    """
    from ...model.programs.operation import Kind, Operation

    def seeks(_: str, number: int) -> Iterator[Operation]:
        yield Operation(Kind.OPEN, name, flags="O_RDWR")
        mine = run.seeks(number)
        opened = {name}
        for _ticket in tickets:
            for operation in next(mine):
                if operation.file not in opened:
                    opened.add(operation.file)
                    yield Operation(Kind.OPEN, operation.file, flags="O_RDWR")
                yield operation
        yield from run.leave(name)

    return seeks


def phase_figures(seeks: int) -> Figures:
    """The rate and the share of a core of each phase; `seeks` is how many there are."""

    def figures(phases: list[Phase]) -> dict[str, float]:
        found: dict[str, float] = {}
        for phase in phases:
            if not phase.name or not phase.seconds:
                continue
            name = phase.name.replace(" ", "_")
            if phase.name == "seeks":
                found[f"{name}_rate"] = seeks / phase.seconds
            elif phase.bytes:
                found[f"{name}_rate"] = phase.bytes / phase.seconds
            elif phase.operations:
                found[f"{name}_rate"] = phase.operations / phase.seconds
            else:
                continue
            found[f"{name}_cpu"] = phase.cpu_s / phase.seconds
        return found

    return figures
