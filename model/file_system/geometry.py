"""What a file system is made like on an array: the stripes that mkfs sees, and what follows from them."""

from __future__ import annotations

from ..layouts import Layout
from ..raid.base.io_limit import optimal_request_bytes
from .settings import FileSystemSettings

_LARGEST_LOG_UNIT = 256 * 1024
_LOG_UNIT_INSTEAD = 32 * 1024
"""mkfs.xfs(8): a log stripe unit beyond 256 KiB is replaced by 32 KiB."""


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
