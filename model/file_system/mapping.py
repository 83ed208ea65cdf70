"""Giving the bytes of a file a place, and the blocks that say where they are.

``indirect``
    The inode maps the first blocks, and every further span has a block of pointers, which is allocated when the file
    gets there and so lies in front of what it maps; from the second one on there is also a block that points to them
    (Linux fs/ext2/inode.c, ext2_alloc_branch; FreeBSD ufs/ffs/ffs_balloc.c).
``leaf``
    The same without the upper block: the pointers are items of a tree's leaves (Linux fs/reiserfs/inode.c).
``extents``
    A mapping block is needed only by a file of many extents (Linux fs/xfs/xfs_bmap_btree.c, fs/jfs/jfs_xtree.c).

A file grows from the end of its last run. Bytes behind it may be set aside for it until it is closed, which keeps
files that grow at the same time apart.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from .groups import Groups
from .nodes import File
from .settings import FileSystemSettings

_LEAST_PREALLOCATED = 64 << 10
"""Smaller files have nothing beyond their end (fs/xfs/xfs_iomap.c, xfs_iomap_prealloc_size: m_allocsize_blocks)."""
_LEAST_BUDDY = 16 << 10
"""Smaller requests are put where there is room (fs/ext4/mballoc.c, s_mb_order2_reqs: four blocks)."""
_PACK_BYTES = 2 << 20
"""Region of small files."""


class Allocator:
    """Allocates and frees the blocks of files.

    Parameters
    ----------
    settings
        Of the file system.
    groups
        Of the device.
    """

    __slots__ = ("_groups", "_pack", "_reserved", "_settings")

    def __init__(self, settings: FileSystemSettings, groups: Groups) -> None:
        self._settings = settings
        self._groups = groups
        self._reserved: dict[File, tuple[int, int]] = {}
        self._pack = (0, 0)

    def grow(self, file: File, end: int, goal: int) -> list[int]:
        """Give all bytes before `end` a place, the first of them from `goal` on; returns new mapping blocks."""
        settings = self._settings
        block = settings.block
        end += -end % block
        new_maps: list[int] = []
        while (size := end - file.extents.size) > 0:
            position = file.extents.size
            if settings.mapping != "extents":
                new_maps += self._pointers(file, position, goal)
                size = min(size, self._mapped_until(position) - position)
            for address, taken in self._take(file, self._goal(file, goal), size):
                file.extents.append(address, taken)
        if settings.mapping == "extents":
            new_maps += self._extent_maps(file)
        return new_maps

    def _goal(self, file: File, first: int) -> int:
        """Where to look for the next byte of a file: behind its end, or in another group where it moves on."""
        settings, position = self._settings, file.extents.size
        if not position:
            return first
        if file.maps and file.maps[-1][0] == position and settings.mapping != "extents":
            mapping = file.maps[-1][1]
            data = self._groups[self._groups.number(mapping)].data
            if mapping < data:
                return data + settings.block
            behind = mapping + settings.block
            return max(behind, self._groups[self._groups.number(behind)].data)
        beyond = position - settings.map_first
        if settings.moves_on and beyond > 0 and beyond % settings.map_span == 0:
            return self._roomy_group(file.group + position // settings.map_span)
        return file.extents.end_address

    def _roomy_group(self, number: int) -> int:
        """The second block of the first group from `number` on that is not fuller than the mean (ffs_blkpref).

        It is free in all but the first, in front of the copy of the superblock, and a mapping block gets it. The data
        get the few blocks behind it, and then the first one behind the inodes. That is not next to them, so they are
        moved, all together, to where as many are free (ffs_reallocblks). The last of them is still where it was: they
        come to lie behind it, and the first block behind the inodes stays free.
        """
        groups = self._groups
        mean = groups.free_bytes // groups.count
        for step in range(groups.count):
            group = groups[(number + step) % groups.count]
            if group.free.total >= mean:
                return group.start + self._settings.block
        return groups[number % groups.count].start + self._settings.block

    def _mapped_until(self, position: int) -> int:
        first, span = self._settings.map_first, self._settings.map_span
        return first if position < first else position - (position - first) % span + span

    def _pointers(self, file: File, position: int, goal: int) -> list[int]:
        """The mapping blocks that a file needs before its byte `position` gets a place."""
        settings = self._settings
        beyond = position - settings.map_first
        if beyond < 0 or beyond % settings.map_span:
            return []
        if file.maps is None:
            file.maps = []
        needed = 2 if settings.mapping == "indirect" and beyond == settings.map_span else 1
        new = []
        for address, size in self._take(file, self._goal(file, goal), needed * settings.block):
            new += [address + at for at in range(0, size, settings.block)]
        file.maps += [(position, address) for address in new]
        return new

    def _extent_maps(self, file: File) -> list[int]:
        """The mapping blocks that a file needs with the extents it has now."""
        settings = self._settings
        needed = -(-max(0, len(file.extents) - settings.map_first) // settings.map_span)
        if not needed:
            return []
        if file.maps is None:
            file.maps = []
        new = []
        while len(file.maps) < needed:
            address = self._groups.take_run(file.extents.end_address, settings.block)
            file.maps.append((file.extents.size if file.maps else 0, address))
            new.append(address)
        return new

    def _take(self, file: File, goal: int, size: int) -> Iterator[tuple[int, int]]:
        """Allocate what is set aside for the file first, and set aside more behind it."""
        reserved = self._reserved.pop(file, None)
        if reserved is not None:
            start, end = reserved
            if start == goal:
                taken = min(size, end - start)
                yield start, taken
                size -= taken
                goal = start + taken
                if goal < end:
                    self._reserved[file] = (goal, end)
            else:
                self._groups.give_back(start, end - start)
        if not size:
            return
        if file.extents.size + size <= self._settings.packed_file and file.opened > 0:
            yield from self._packed(size, goal)
            return
        wanted = size + self._ahead(file, size)
        if self._settings.aligns and not (file.extents.size and self._groups.has_free(goal, wanted)):
            least = wanted if file.extents.size else min(wanted, size)
            unit = self._alignment(wanted) if file.opened > 0 or not self._settings.packed_file else 0
            goal = self._groups.aligned(goal, unit or self._settings.block, least)
        for address, found in self._groups.take(goal, wanted):
            used = min(size, found)
            if used:
                yield address, used
                size -= used
            if used < found:
                if file in self._reserved or used == 0:
                    self._groups.give_back(address + used, found - used)
                else:
                    self._reserved[file] = (address + used, address + found)

    def _ahead(self, file: File, size: int) -> int:
        """Bytes to set aside behind `size` new ones."""
        settings, ahead = self._settings, self._settings.reservation
        if not ahead:
            return 0
        if settings.in_file:
            return ahead - size % ahead if file.size >= _LEAST_PREALLOCATED else 0
        if not settings.packed_file:
            return (ahead - size % ahead) % ahead
        return _normalised(file.extents.size + size, ahead) if file.opened > 0 else 0

    def _alignment(self, size: int) -> int:
        """What the address of the first `size` bytes of a file is a multiple of."""
        settings = self._settings
        if settings.journal == "records":
            return settings.stripe_unit if size >= settings.stripe_unit else 0
        size = min(size, settings.reservation)
        # Buddies of its order are looked for only if the request is a power of two (ext4_mb_regular_allocator).
        return size if settings.packed_file and not size & (size - 1) and size >= _LEAST_BUDDY else 0

    def _packed(self, size: int, goal: int) -> Iterator[tuple[int, int]]:
        """Bytes of a small file, behind those of the small file before."""
        start, end = self._pack
        if end - start < size:
            if end > start:
                self._groups.give_back(start, end - start)
            near = start if self._groups.number(start) == self._groups.number(goal) and start > goal else goal
            start = self._groups.take_run(near, _PACK_BYTES, _PACK_BYTES)
            end = start + _PACK_BYTES
        self._pack = (start + size, end)
        yield start, size

    @property
    def set_aside(self) -> int:
        """Bytes of the region of small files that are not in use."""
        start, end = self._pack
        return end - start

    def reserved(self, file: File) -> int:
        """Bytes that are set aside for the file."""
        low, high = self._reserved.get(file, (0, 0))
        return high - low

    def release(self, file: File) -> None:
        """Nothing is set aside for the file any more."""
        reserved = self._reserved.pop(file, None)
        if reserved is not None:
            self._groups.give_back(reserved[0], reserved[1] - reserved[0])

    def free(self, file: File) -> Iterator[tuple[int, int]]:
        """Free all blocks of a file; yields what they were."""
        self.release(file)
        for address, size in file.extents.runs():
            self._groups.give_back(address, size)
            yield address, size
        for _, address in file.maps or ():
            self._groups.give_back(address, self._settings.block)
            yield address, self._settings.block


def _normalised(end: int, most: int) -> int:
    """Bytes that ext4 allocates behind the end of a growing file (fs/ext4/mballoc.c, ext4_mb_normalize_request).

    Up to 1 MiB the file is filled up to a power of two, up to 4 MiB to a multiple of 2 MiB, up to 8 MiB of 4 MiB, and
    then to a multiple of `most`.
    """
    if end <= 1 << 20:
        return max(1 << 14, 1 << (end - 1).bit_length()) - end
    return -end % min(most, 2 << 20 if end <= 4 << 20 else 4 << 20 if end <= 8 << 20 else most)


def maps_of(file: File, start: int, end: int) -> list[int]:
    """Addresses of the mapping blocks beyond the inode that say where [start, end) of a file is."""
    if file.maps is None:
        return []
    return [address for _, address in map_entries(file, start, end)]


def map_entries(file: File, start: int, end: int) -> list[tuple[int, int]]:
    """The same, each with the first byte that it maps."""
    maps = file.maps
    if not maps or end <= maps[0][0]:
        return []
    i = max(0, bisect_right(maps, (start, 1 << 62)) - 1)
    while i > 0 and maps[i - 1][0] == maps[i][0]:
        i -= 1
    behind = i
    while behind < len(maps) and maps[behind][0] < end:
        behind += 1
    return maps[i:behind]
