"""What members were sent, merged: the form in which member I/O is recorded, compared and shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest

SECTOR = 512

Run = tuple[int, int, int]
"""Member, sector from the start of the data, and sectors."""

_WIDTH = 20


def merged(runs: Iterable[Sequence[int]]) -> list[Run]:
    """Runs in order of member and sector, those that touch or overlap made one."""
    result: list[Run] = []
    for member, sector, sectors in sorted((run[0], run[1], run[2]) for run in runs):
        if result and result[-1][0] == member and result[-1][1] + result[-1][2] >= sector:
            first = result[-1][1]
            result[-1] = (member, first, max(first + result[-1][2], sector + sectors) - first)
        else:
            result.append((member, sector, sectors))
    return result


def side_by_side(what: str, recorded: Sequence[Run], model: Sequence[Run]) -> str:
    """A table of both as "sector + sectors", with a mark where they differ; "" if they are equal."""
    if recorded == model:
        return ""
    lines = [f"{what:<{_WIDTH}}{'recorded':<{_WIDTH}}model"]
    for member in sorted({run[0] for run in (*recorded, *model)}):
        real = [run for run in recorded if run[0] == member]
        ours = [run for run in model if run[0] == member]
        for line, (left, right) in enumerate(zip_longest(real, ours)):
            name = "" if line else f"  member {member}"
            mark = "" if left == right else "  <"
            lines.append(f"{name:<{_WIDTH}}{_shown(left):<{_WIDTH}}{_shown(right)}{mark}")
    return "\n".join(lines)


def _shown(run: Run | None) -> str:
    return "-" if run is None else f"{run[1]} + {run[2]}"
