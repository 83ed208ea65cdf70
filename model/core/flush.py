"""Flushing several devices at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .device import Device


def flush_all(devices: Iterable[Device], done: Callable[[], None]) -> None:
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
        device.flush(one)
