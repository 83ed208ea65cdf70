"""What a file system is made like on an array: the stripes that mkfs sees, and what follows from them."""

from __future__ import annotations

from ..layouts import Layout
from ..raid.base.io_limit import optimal_request_bytes
from .settings import FileSystemSettings

_LARGEST_LOG_UNIT = 256 * 1024
_LOG_UNIT_INSTEAD = 32 * 1024
"""mkfs.xfs(8): a log stripe unit beyond 256 KiB is replaced by 32 KiB."""


_LARGEST_LOG = 2 << 30
_TERABYTE = 1 << 40
_ARRAY_GROUPS = ((512 << 30, 32), (8 << 30, 16), (128 << 20, 8))
"""More than so many bytes, or at least the last, and how many groups (mkfs.xfs, calc_default_ag_geometry)."""


def array_group_count(capacity: int) -> int:
    """How many groups mkfs.xfs makes on an array with stripes, of so many bytes."""
    if capacity > 32 * _TERABYTE:
        return -(-capacity // _TERABYTE)
    return next((count for least, count in _ARRAY_GROUPS if capacity > least), 4)


def group_size(settings: FileSystemSettings, capacity: int) -> int:
    """Bytes of a group where groups are equal; 0 where their number follows from their size.

    On an array it is a multiple of the stripe unit, and none of the stripe width, as the headers of all groups would be
    on one member (mkfs.xfs, align_ag_geometry).
    """
    if not settings.groups:
        return 0
    unit, width = settings.stripe_unit, settings.stripe_width
    count = array_group_count(capacity) if unit and settings.array_groups else settings.groups
    size = -(-capacity // (count * settings.block)) * settings.block
    if not unit or not settings.array_groups:
        return size
    size += -size % unit
    return size - unit if width > unit and size % width == 0 else size


_DESCRIPTOR = 64
"""Bytes of a block group's descriptor (fs/ext4/ext4.h: struct ext4_group_desc with the 64bit feature)."""
_MOST_RESERVED = 1024
_GROWTH = 1024
"""mke2fs keeps blocks for the descriptors of a file system as many times as large, but no more than so many blocks."""
_JOURNALS = ((32768, 262144), (16384, 131072), (8192, 65536), (4096, 32768), (512, 16384), (256, 8192), (0, 4096))
"""From so many MiB x 4 (blocks of 4 KiB by 1024) on, blocks of the journal (e2fsprogs lib/ext2fs/mkjournal.c)."""


def front_blocks(settings: FileSystemSettings, capacity: int) -> int:
    """Blocks of superblock, descriptors and what is kept for more (e2fsprogs initialize.c, calc_reserved_gdt)."""
    if not settings.flexible:
        return 0
    block_groups, each = -(-capacity // settings.map_bytes), settings.block // _DESCRIPTOR
    used = -(-block_groups // each)
    return 1 + used + min(_MOST_RESERVED, -(-block_groups * _GROWTH // each) - used)


def has_backup(number: int) -> bool:
    """Whether a block group has a copy of the superblock: 0, 1, and the powers of 3, 5 and 7 (sparse_super)."""
    if number < 2:
        return True
    for base in (3, 5, 7):
        power = base
        while power < number:
            power *= base
        if power == number:
            return True
    return False


def journal_bytes(settings: FileSystemSettings, capacity: int) -> int:
    """Bytes of the journal that mkfs makes (mke2fs: ext2fs_default_journal_size; mkfs.xfs: calculate_log_size)."""
    if settings.journal_part:
        part = capacity // settings.journal_part // settings.block * settings.block
        return min(_LARGEST_LOG, max(settings.journal_size, part))
    if not settings.flexible:
        return settings.journal_size
    blocks = capacity // settings.block
    return min(settings.journal_size, settings.block * next(size for least, size in _JOURNALS if blocks >= least << 10))


def journal_group(settings: FileSystemSettings, capacity: int) -> int:
    """The block group in which mke2fs puts the journal: the emptiest around the middle (get_midpoint_journal_block)."""
    count, flex = -(-capacity // settings.map_bytes), settings.group // settings.map_bytes
    middle = capacity // 2 // settings.map_bytes
    if middle > flex:
        first = middle - middle % flex
    else:
        first = max(0, middle - 1)
        middle = min(middle, count - 1)
    last = min(max(middle, first) + 1 if first != middle - middle % flex else first + 1, count - 1)
    front = front_blocks(settings, capacity) * settings.block

    def free(number: int) -> int:
        size = min(settings.map_bytes, capacity - number * settings.map_bytes)
        taken = front if has_backup(number) else 0
        return size - taken - (settings.header + settings.inode_table if number % flex == 0 else 0)

    return max(range(first, last + 1), key=free)


def group_count(settings: FileSystemSettings, capacity: int) -> int:
    """How many groups there are; a last one that is too small is left out."""
    size = group_size(settings, capacity)
    least = settings.group if size else settings.header + settings.inode_table + settings.block
    return max(1, -(-(capacity - least) // max(settings.group, size)))


def with_log_on(settings: FileSystemSettings, plain: FileSystemSettings, layout: Layout | None) -> FileSystemSettings:
    """A file system with its journal on another device: a log takes its stripe unit from that device.

    Parameters
    ----------
    settings
        As mkfs makes it with its journal inside.
    plain
        As it is on a drive.
    layout
        What the journal's device shows of its chunks; None if it has none.
    """
    there = on_array(plain, layout)
    log = {name: getattr(there, name) for name in ("log_unit", "log_write", "journal_head")}
    return settings.model_copy(update=log)


def on_array(settings: FileSystemSettings, layout: Layout | None) -> FileSystemSettings:
    """A file system as mkfs makes it on an array.

    Parameters
    ----------
    settings
        As it is on a drive.
    layout
        What the array shows of its chunks; None if it has none.
    """
    if not settings.knows_stripes or layout is None or not layout.chunk_bytes:
        return settings
    unit = layout.chunk_bytes
    stripes = {"stripe_unit": unit, "stripe_width": optimal_request_bytes(layout)}
    if settings.log_write:
        log_unit = unit if unit <= _LARGEST_LOG_UNIT else _LOG_UNIT_INSTEAD
        log_write = max(settings.log_write, log_unit)
        stripes |= {"log_unit": log_unit, "log_write": log_write, "journal_head": log_unit}
    return settings.model_copy(update=stripes)
