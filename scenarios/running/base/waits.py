"""What I/Os spend their response times on, in sum over a measurement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....model.core.exact_sums import sum_in_order
from ....model.waits.causes import CAUSES
from ....model.waits.trail import IoWaits

WaitTimes = dict[str, float]
"""Parts (s) of a mean response time, by cause, the largest first; their sum is the mean."""


def waits_of(issued: Sequence[IoWaits], means_s: Mapping[str, float]) -> dict[str, WaitTimes]:
    """Split the mean latency of "read" and "write" as that of the I/Os that were accounted, where there were any."""
    found = {}
    for op, mean_s in means_s.items():
        parts = _sums(issued, op)
        whole = sum_in_order(parts.values())
        if whole:
            found[op] = {cause: mean_s * part / whole for cause, part in parts.items()}
    return found


def longest_wait(loads: Sequence[IoWaits], caches: Sequence[IoWaits] = ()) -> str:
    """The cause that takes most of the time of all reads, or of all writes, in words; "" if none is known.

    Programs wait for what page caches read, but not for what these write back.
    """
    sums = {"read": _sums([*loads, *caches], "read"), "write": _sums(loads, "write")}
    op = max(sums, key=lambda each: sum_in_order(sums[each].values()))
    if not sums[op]:
        return ""
    cause, part = next(iter(sums[op].items()))
    return f"{cause}: {100 * part / sum_in_order(sums[op].values()):.0f} % of a {op}'s time"


def _sums(issued: Sequence[IoWaits], op: str) -> WaitTimes:
    """Time (s) of all I/Os of one direction by cause, the largest first."""
    totals = [each.reads if op == "read" else each.writes for each in issued]
    sums = ((cause, sum_in_order(each.seconds[number] for each in totals)) for number, cause in enumerate(CAUSES))
    return dict(sorted((each for each in sums if each[1]), key=lambda each: -each[1]))
