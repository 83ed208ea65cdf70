"""Asking a device to bring everything that it has acknowledged to the medium (a flush of volatile caches)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def flush(device: Any, done: Callable[[], None]) -> None:
    """Flush a device and call `done` when that is over: at once if nothing of it can be lost.

    A device whose ``flush`` takes a callback has something to do.
    """
    flushes = getattr(device, "flush", None)
    if flushes is None:
        done()
    else:
        flushes(lambda *_: done())


def flush_all(devices: Iterable[Any], done: Callable[[], None]) -> None:
    """Flush several devices at the same time and call `done` when all are through (md_flush_request)."""
    flushed = list(devices)
    left = len(flushed)
    if not left:
        done()
        return

    def one() -> None:
        nonlocal left
        left -= 1
        if not left:
            done()

    for device in flushed:
        flush(device, one)
