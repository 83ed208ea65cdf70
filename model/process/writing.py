"""How a process writes to a file: in slices, after each of which the dirty limits and other programs are looked at.

Programs that write side by side, each on a processor, take turns in the kernel
(:mod:`raidsim.model.tasks.writer_turns`).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from ..core.signal import NOTHING
from ..readahead import PAGE
from .process import OpenFile, Process

Steps = Generator[Any, Any, None]
"""What a process of the simulation does and waits for."""

SLICE_BYTES = 256 * 1024
"""A program that writes is looked at after so many bytes: dirty limits, other programs."""


def write_file(
    process: Process,
    opened: OpenFile,
    start: int,
    end: int,
    per_byte: float,
    copy_s: float,
    in_order: bool = True,
) -> Steps:
    """Write [start, end) at what a byte costs, of that `copy_s` to be copied.

    A kernel that sees calls `in_order` may write behind the program.
    """
    mount, file = opened.mount, opened.file
    cache, system = mount.cache, mount.file_system
    block = cache.block_bytes
    page_s = process.host.prices.page_s
    edge = start - start % block
    if edge < start and edge < file.extents.size and not cache.is_cached(file, edge, edge + 1):
        # A block that is written in part has to be in memory first.
        yield from cache.fetch(file, edge, edge + block, process)
    turns = process.host.writer_turns
    turns.writers += 1
    while start < end:
        process.left = end - start
        if turns.side_by_side and cache.interleaves:
            start = yield from _write_beside(process, opened, start, end, per_byte, copy_s)
            continue
        stop = start - start % SLICE_BYTES + SLICE_BYTES
        if stop > end:
            stop = end
        process.spend((stop - start) * per_byte + (stop - start) / PAGE * page_s)
        if process.owed_s >= cache.turn_s:
            yield process.pay()
        waits = system.written(file, stop, process)
        if waits is not NOTHING:
            yield from waits
        dirtied = cache.mark_dirty(file, start, stop)
        if in_order and cache.write_behind_bytes:
            yield from cache.write_behind(file, start, stop, process)
        start = stop
        if cache.memory.over_limit:
            yield from cache.throttle(process, dirtied)
    turns.writers -= 1
    process.left = 0


def _write_beside(
    process: Process, opened: OpenFile, start: int, end: int, per_byte: float, copy_s: float
) -> Generator[Any, Any, int]:
    """Write for a time slice while another program writes on another processor; returns how far it got."""
    cache, system, file = opened.mount.cache, opened.mount.file_system, opened.file
    turns = process.host.writer_turns
    locked_s = per_byte - copy_s + process.host.prices.page_s / PAGE
    piece = system.settings.reservation or system.settings.block
    waits = turns.take()
    if waits is not None:
        if process.owed_s:
            yield process.pay()
        if not waits.fired:
            yield waits
    left = cache.turn_s
    while start < end and left > 0.0:
        process.left = end - start
        stop = min(end, start - start % piece + piece)
        process.spend((stop - start) * copy_s)
        process.spend(turns.locked(process.engine.now + process.owed_s, (stop - start) * locked_s))
        left -= process.owed_s
        yield process.pay()
        yield from system.written(file, stop, process)
        dirtied = cache.mark_dirty(file, start, stop)
        start = stop
        if cache.memory.over_limit:
            sleeps = not cache.device.has_room
            if sleeps:
                turns.give()
            spent = process.cpu_s
            yield from cache.throttle(process, dirtied, piece / SLICE_BYTES)
            left -= process.cpu_s - spent
            if sleeps:
                return start
    turns.give()
    return start
