"""What a parity array reads and writes to change part of a row: md's rule, as arithmetic.

For a range of a row in which the data blocks T are written (fully, or only in part of a 4 KiB block), md counts
what read-modify-write would have to read (old contents of T and of the parity) and what reconstruct-write would
(every data block that is not fully overwritten). A block on a lost member counts as twice the number of members,
so the other way wins if it can; the lower count is taken, and ``rmw_level`` says who wins a tie. Source:
drivers/md/raid5.c, handle_stripe (2.4, 2.6.8) and handle_stripe_dirtying (6.1); checked against recorded I/O.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import IntEnum
from typing import NamedTuple, Protocol


class RmwLevel(IntEnum):
    """md's ``rmw_level``: when to read-modify-write instead of reconstruct-write."""

    NEVER = 0
    IF_CHEAPER = 1
    UNLESS_DEARER = 2


class RowMembers(Protocol):
    """The members of one row."""

    @property
    def data(self) -> tuple[int, ...]:
        """Data members in logical order."""

    @property
    def p(self) -> int:
        """Member with P."""

    @property
    def q(self) -> int | None:
        """Member with Q, if there is one."""


class WritePlan(NamedTuple):
    """What to do for one range of a row.

    Attributes
    ----------
    reads, writes
        Members to read before and to write after the parity is computed.
    sources
        Blocks that go through the parity computation.
    mode
        "full", "rmw" or "rcw".
    """

    reads: tuple[int, ...]
    writes: tuple[int, ...]
    sources: int
    mode: str


def plan_write(
    row: RowMembers,
    full: Collection[int],
    partial: Collection[int] = (),
    unreadable: Collection[int] = (),
    absent: Collection[int] = (),
    cached: Collection[int] = (),
    rmw_level: int = RmwLevel.IF_CHEAPER,
) -> WritePlan:
    """Plan the member I/O of a write to one range of a row.

    Parameters
    ----------
    row
        The members of the row.
    full, partial
        Data indices overwritten wholly in the range, and only in part.
    unreadable
        Members whose old contents cannot be read (lost, or being rebuilt).
    absent
        Members that cannot be written either (lost without a spare in their place).
    cached
        Members whose contents of this range are in the stripe cache.
    rmw_level
        A :class:`RmwLevel`.

    Returns
    -------
    WritePlan
        Reads, writes and the work of the parity computation.
    """
    parities = (row.p,) if row.q is None else (row.p, row.q)
    # Of a wide row only what is written or cached is looked at, unless something is lost.
    touched = [row.data[i] for i in sorted({*full, *partial})]
    writes = tuple(slot for slot in (*touched, *parities) if slot not in absent)
    if len(full) == len(row.data):
        return WritePlan((), writes, len(row.data), "full")
    members = len(row.data) + len(parities)

    def price(slots: list[int]) -> int:
        return sum(0 if s in cached else 2 * members if s in unreadable else 1 for s in slots)

    def reconstruct() -> list[int]:
        return [slot for i, slot in enumerate(row.data) if i not in full]

    modify = [*touched, *parities]
    rmw = price(modify)
    if unreadable:
        rcw = price(reconstruct())
    else:
        no_sources = {*parities, *(row.data[i] for i in full)}
        rcw = len(row.data) - len(full) - sum(slot not in no_sources for slot in cached)
    use_rmw = rmw_level != RmwLevel.NEVER and (rmw < rcw or (rmw == rcw and rmw_level == RmwLevel.UNLESS_DEARER))
    needed = modify if use_rmw else reconstruct()
    if (rmw if use_rmw else rcw) >= 2 * members:
        needed = [slot for slot in (*row.data, *parities) if slot not in unreadable]
    reads = tuple(s for s in needed if s not in cached and s not in unreadable)
    if use_rmw:
        return WritePlan(reads, writes, 2 * len(touched) + 1, "rmw")
    return WritePlan(reads, writes, len(row.data), "rcw")
