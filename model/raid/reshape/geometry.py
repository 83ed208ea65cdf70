"""The two layouts of a reshape, and where their data are on the members.

To grow an array mdadm moves the data offset of the members back, so far that one stripe of the new layout is never
written over an old one that is still needed: then no backup file is necessary. The addresses of the old layout on a
member follow all those of the new one, so that both are in use. Source: mdadm 4.2 Grow.c, analyse_change
(min_offset_change) and set_new_data_offset.
"""

from __future__ import annotations

from math import lcm

from ...core.errors import ModelError
from ...layouts import Layout, ParityLayout, Raid10Layout
from ..metadata.superblock import DATA_OFFSET_SECTORS


class Geometry:
    """From one layout to another.

    Parameters
    ----------
    old, new
        The layouts. They are over members of the same size.
    moved
        How far the data offset moves back (bytes); None: as far as mdadm moves it.
    data_offset_sectors
        Where the new data begin on the members.

    Attributes
    ----------
    old_start
        Where the addresses of the old layout begin on a member.
    old_shift
        Where they begin in the array.
    shifted
        The old layout at these addresses.
    """

    __slots__ = ("data_offset_sectors", "moved", "new", "old", "old_shift", "old_start", "shifted")

    def __init__(
        self,
        old: ParityLayout | Raid10Layout,
        new: ParityLayout | Raid10Layout,
        moved: int | None = None,
        data_offset_sectors: int = DATA_OFFSET_SECTORS,
    ) -> None:
        problem = refusal_of(old, new)
        if problem:
            raise ModelError(problem)
        self.old = old
        self.new = new
        self.moved = least_move(old, new) if moved is None else moved
        self.data_offset_sectors = data_offset_sectors
        chunk = old.chunk_bytes
        if isinstance(old, ParityLayout):
            turn, logical = old.period * chunk, old.period * old.stripe_bytes
        else:
            turn, logical = old.turn_bytes, old.period * chunk
        turns = -(-max(old.member_bytes + new.member_bytes) // turn) + 1
        self.old_start, self.old_shift = turns * turn, turns * logical
        member = min(old.member_bytes) + self.old_start
        copies = 1 if isinstance(old, ParityLayout) else old.copies_per_chunk
        self.shifted = old.made(old.level, [member] * old.members, chunk, str(old.algorithm), copies)


def refusal_of(old: Layout, new: Layout) -> str:
    """Why md does not reshape one layout into the other; "" if it does."""
    if isinstance(old, ParityLayout) and isinstance(new, ParityLayout):
        if new.data_members < old.data_members:
            return f"{new.data_members} data members instead of {old.data_members}: raidsim has no array that shrinks"
        return ""
    if isinstance(old, Raid10Layout) and isinstance(new, Raid10Layout):
        if "far" in (old.algorithm, new.algorithm):
            return "md does not reshape far copies"
        if new.members < old.members:
            return f"{new.members} members instead of {old.members}: raidsim has no array that shrinks"
        return ""
    return f"md does not reshape {old.level} into {new.level}"


def least_move(old: ParityLayout | Raid10Layout, new: ParityLayout | Raid10Layout) -> int:
    """How far mdadm has to move the data offset (bytes)."""
    if isinstance(old, ParityLayout) and isinstance(new, ParityLayout):
        return lcm(old.stripe_bytes, new.stripe_bytes) // min(old.data_members, new.data_members)
    return max(old.chunk_bytes, new.chunk_bytes)
