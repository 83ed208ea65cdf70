"""What a file system is made like on an array: the stripes that mkfs sees, and what follows from them."""

from __future__ import annotations

from ..layouts import Layout
from .settings import FileSystemSettings

_LARGEST_LOG_UNIT = 256 * 1024
_LOG_UNIT_INSTEAD = 32 * 1024
"""mkfs.xfs(8): a log stripe unit beyond 256 KiB is replaced by 32 KiB."""


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
    log_unit = unit if unit <= _LARGEST_LOG_UNIT else _LOG_UNIT_INSTEAD
    log = {"log_unit": log_unit, "log_write": max(settings.log_write, log_unit)} if settings.log_write else {}
    return settings.model_copy(update={"stripe_unit": unit, **log})
