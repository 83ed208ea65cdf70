"""The disks below a run, as fio lists them: an array, and then its members (diskutil.c, stat.c of fio 3.33)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..result import DiskResult
from .numbers import whole_ms


class MemberMeans(NamedTuple):
    """What fio says of the members of an array: means of counts, whole numbers, and the largest utilization.

    Attributes
    ----------
    ios, merges, ticks_ms
        Of reads and of writes.
    in_queue_ms, util
        Milliseconds; percent.
    """

    ios: tuple[int, int]
    merges: tuple[int, int]
    ticks_ms: tuple[int, int]
    in_queue_ms: int
    util: float

    @classmethod
    def of(cls, disk: DiskResult) -> MemberMeans | None:
        """Of the members of `disk`; None if it has none."""
        members, n = disk.members, len(disk.members)
        if not n:
            return None
        return cls(
            (sum(each.read_ios for each in members) // n, sum(each.write_ios for each in members) // n),
            (sum(each.read_merges for each in members) // n, sum(each.write_merges for each in members) // n),
            (
                sum(whole_ms(each.read_ticks_s) for each in members) // n,
                sum(whole_ms(each.write_ticks_s) for each in members) // n,
            ),
            sum(whole_ms(each.in_queue_s) for each in members) // n,
            max(min(100.0, each.util) for each in members),
        )


def flat(disks: Iterable[DiskResult]) -> Iterator[DiskResult]:
    """Every disk, members after their array."""
    for disk in disks:
        yield disk
        yield from flat(disk.members)
