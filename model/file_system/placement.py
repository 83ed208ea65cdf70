"""In which allocation group a new directory goes.

``emptiest``
    The group with the most free space of those with no fewer free inodes than the mean: every directory in another
    group (Linux 2.4 fs/ext2/ialloc.c, find_group_dir).
``orlov``
    Directories of the root are spread at random; others stay in their parent's group while it is not much fuller than
    the mean, in blocks and in inodes, and does not have many more directories, and go to the next such group otherwise
    (Linux 2.6 fs/ext2/ialloc.c, find_group_orlov; FreeBSD ufs/ffs/ffs_alloc.c, ffs_dirpref, from which it comes).
``rotor``
    One group after the other (Linux fs/xfs/xfs_ialloc.c, xfs_ialloc_ag_select; fs/jfs/jfs_dmap.c, dbNextAG).
``inherit``
    Files and directories go where their parent is while most of that group is free, and otherwise to a group of the
    parent's own, chosen by a hash (Linux 2.6 fs/reiserfs/bitmap.c, reiserfs_choose_packing and dirid_groups).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .groups import Groups
from .nodes import Directory

_CROWD = 16
"""A group may have as many more directories than the mean as 1/16 of its inodes (INODES_PER_GROUP / 16)."""

_MOSTLY_FREE = 0.6
"""A group is used for further directories while more of it is free (block_group_used of reiserfs)."""


class Placement:
    """Chooses groups for new directories.

    Parameters
    ----------
    policy
        Its name.
    groups
        Of the device.
    random
        For what is spread at random.
    """

    __slots__ = ("_choose", "_groups", "_inherits", "_made", "_next", "_random")

    def __init__(self, policy: str, groups: Groups, random: np.random.Generator) -> None:
        self._groups = groups
        self._random = random
        self._next = 0
        self._made = 0
        policies: dict[str, Callable[[Directory], int]] = {
            "emptiest": self._emptiest,
            "orlov": self._orlov,
            "rotor": self._rotor,
            "inherit": self._inherit,
        }
        self._choose = policies[policy]
        self._inherits = policy == "inherit"

    def group(self, parent: Directory) -> int:
        """Number of the group for a new directory in `parent`."""
        number = self._choose(parent)
        self._made += 1
        self._groups[number].directories += 1
        return number

    @property
    def root(self) -> int:
        """Number of the group of the root directory."""
        return min(1, self._groups.count - 1) if self._inherits else 0

    def for_files(self, parent: Directory) -> int:
        """Number of the group for a new file in `parent`."""
        if self._inherits and not parent.moved:
            group = self._groups[parent.group]
            if group.free.total <= _MOSTLY_FREE * (group.end - group.start):
                parent.moved = True
                parent.group = self._spread()
        return parent.group

    def _rotor(self, parent: Directory) -> int:
        number = self._next
        self._next = (number + 1) % self._groups.count
        return number

    def _inherit(self, parent: Directory) -> int:
        return self.for_files(parent)

    def _spread(self) -> int:
        return int(self._random.integers(self._groups.count))

    def _emptiest(self, parent: Directory) -> int:
        groups = self._groups
        while self._next < groups.count and self._next in groups.touched:
            self._next += 1
        if self._next < groups.count:
            return self._next
        touched = groups.touched
        return max(touched, key=lambda number: (touched[number].free.total, -number))

    def _orlov(self, parent: Directory) -> int:
        groups = self._groups
        mean_free = groups.free_bytes // groups.count
        if parent.parent is parent:
            return self._fewest_directories(self._spread(), mean_free)
        most_directories = self._made / groups.count + max(1, groups.inodes // _CROWD)
        mean_used = sum(each.used_slots for each in groups.touched.values()) / groups.count
        for step in range(groups.count):
            number = (parent.group + step) % groups.count
            group = groups[number]
            if (
                group.free.total >= mean_free - groups.size // 4
                and group.directories < most_directories
                and group.used_slots <= mean_used + groups.inodes // 4
            ):
                return number
        return parent.group

    def _fewest_directories(self, first: int, least_free: int) -> int:
        """The first group from `first` on with the fewest directories of those with `least_free` bytes free."""
        groups, touched = self._groups, self._groups.touched
        best, fewest = first, 1 << 62
        for step in range(groups.count):
            number = (first + step) % groups.count
            group = touched.get(number)
            if group is None:
                if groups.room_in(number) >= least_free:
                    return number
                continue
            if group.directories < fewest and group.free.total >= least_free:
                best, fewest = number, group.directories
        return best
