"""The page cache of a raw block device: cached blocks, read-ahead, dirty limits and write-back.

Linux caches a block device in blocks: 1 KiB on 2.4, 4 KiB since 2.6. A write smaller than a block first reads
it, synchronously and without read-ahead; dirty blocks are written back in runs by a kernel thread once they
exceed a share of memory, and writers wait beyond a second, larger share (fs/buffer.c, mm/page-writeback.c).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

from ..core.device import Device
from ..core.engine import Engine
from ..core.extents import ExtentSet
from ..core.request import FLUSHER_ISSUER, READ, WRITE, Request
from ..core.signal import Signal, fire_all
from ..readahead import PAGE, PageMarks, ReadAhead
from ..statistics.latency_histogram import LatencyHistogram
from ..tasks.host import Host
from ..waits.causes import CPU
from ..waits.trail import IoWaits, waited
from .dirty_memory import DirtyMemory
from .write_back import WriteBack, next_run

_FORGET_BYTES = 1 << 20
"""Runs of the cache up to this long are forgotten together."""


@dataclass(frozen=True, slots=True)
class RawCacheSettings:
    """How a kernel caches a raw block device (bytes)."""

    block_bytes: int
    """Cached block."""
    memory_bytes: int
    """Memory it may fill."""
    run_bytes: int = 128 * 1024
    """Contiguous bytes read at a time, cut where the address is a multiple of it; 0: all that is to be read."""
    flush_run_bytes: int = 128 * 1024
    """Contiguous bytes written back at a time, between which programs get the CPU. On a plain device the queue merges
    them anyway; a parity array sees the difference, because a program that waits for data in between makes it read up
    the rows that are incomplete at that moment."""
    task_plug: bool = False
    """The task that submits holds its requests back until it has submitted all of a window or of a write-back pass
    (blk_start_plug, since 2.6.39); before, the device's queue did, until somebody waited."""


class RawCache(WriteBack):
    """The cached blocks of one device.

    Parameters
    ----------
    engine, host
        Clock and payer.
    device
        The block device underneath.
    settings
        The kernel's.
    memory
        The host's dirty memory.
    read_ahead
        Makes the read-ahead state of a reader.
    """

    __slots__ = (
        "_flush_cursor",
        "_make_read_ahead",
        "_pending",
        "_recent",
        "_syncing",
        "_waiting",
        "_writing_bytes",
        "cached",
        "dirty",
        "latencies",
        "marks",
        "settings",
        "waits",
    )

    def __init__(
        self,
        engine: Engine,
        host: Host,
        device: Device,
        settings: RawCacheSettings,
        memory: DirtyMemory,
        read_ahead: Callable[[int], ReadAhead],
    ) -> None:
        super().__init__(engine, host, device, memory, settings.block_bytes, settings.task_plug)
        self.settings = settings
        self._make_read_ahead = read_ahead
        self.cached = ExtentSet()
        self.dirty = ExtentSet()
        self.latencies = (LatencyHistogram(), LatencyHistogram())
        self.waits = IoWaits()
        self.marks = PageMarks()
        self._pending = ExtentSet()
        self._recent: deque[list[int]] = deque()
        self._waiting: list[tuple[int, Signal]] = []
        self._syncing: list[Signal] = []
        self._writing_bytes = 0
        self._flush_cursor = 0
        engine.spawn(self._flusher())

    def open(self) -> ReadAhead:
        """Open the device: the read-ahead state of one more reader."""
        state = self._make_read_ahead(self.device.capacity)
        state.attach(self)
        return state

    def held_until(self, position: int) -> int:
        """See :meth:`~raidsim.model.readahead.HeldPages.held_until`."""
        cached, pending = self.cached.run_from, self._pending.run_from
        while (further := max(cached(position), pending(position))) > position:
            position = further
        return position

    def held_since(self, position: int) -> int:
        """See :meth:`~raidsim.model.readahead.HeldPages.held_since`."""
        cached, pending = self.cached.run_to, self._pending.run_to
        while (further := min(cached(position), pending(position))) < position:
            position = further
        return position

    def stream_read(
        self,
        start: int,
        end: int,
        issuer: int,
        seconds_per_byte: float,
        progress: Callable[[int], None],
        call_bytes: int = PAGE,
        file: ReadAhead | None = None,
    ) -> Generator[Any, Any, None]:
        """Read [start, end) in order, as a program that spends `seconds_per_byte` of CPU on what it reads.

        A run of cached bytes is one charge of CPU time. `progress` is called with every new position. The program
        reads `call_bytes` with every system call, from `file` (:meth:`open`) or a file that it opens for this.
        """
        host = self._host
        prices = host.prices
        page_price = prices.page_s + max(1, PAGE // self.settings.block_bytes) * prices.bio_s
        read_ahead = file or self.open()
        position = start
        owed = 0.0
        while position < end:
            call_end = position - (position - start) % call_bytes + call_bytes
            window = read_ahead.touch(position, call_end if call_end < end else end)
            if window is not None and self._plug is not None:
                # All pages of the window are allocated first, and then read with as few bios as possible.
                yield host.cpu.run(owed + (window[1] - window[0]) / PAGE * prices.page_s)
                self._read_pages(window[0], window[1], issuer)
                owed = prices.bio_s
            elif window is not None:
                owed += self._read_pages(window[0], window[1], issuer) * page_price
                if read_ahead.unplugs and window[0] > position:
                    self.device.unplug()
            ready = self.cached.run_from(position)
            if ready == position:
                if owed:
                    yield host.cpu.run(owed)
                    owed = 0.0
                if self.cached.run_from(position) == position:
                    if self._pending.run_from(position) == position:
                        self._read_pages(position, min(position + PAGE, self.device.capacity), issuer)
                    self.device.unplug()
                    signal = Signal()
                    self._waiting.append((position, signal))
                    yield signal
                    owed = prices.switch_s
                continue
            stop = min(ready, end, max(position + 1, read_ahead.next_trigger(position)))
            yield host.cpu.run(owed + (stop - position) * seconds_per_byte)
            owed = 0.0
            position = read_ahead.read_to = stop
            progress(position)

    def _read_pages(self, start: int, end: int, issuer: int) -> int:
        """Submit what of [start, end) is neither cached nor on its way; returns the number of pages."""
        submitted = 0
        position = start
        run = self.settings.run_bytes or 1 << 62
        if self._plug is not None:
            self._plug()
        while position < end:
            here = max(self.cached.run_from(position), self._pending.run_from(position))
            if here > position:
                position = here
                continue
            stop = min(end, position - position % run + run)
            for known in (self.cached.next_start(position), self._pending.next_start(position)):
                if known is not None and known < stop:
                    stop = known
            self._pending.add(position, stop)
            trail = self.waits.begin(self._engine._now)
            self.device.submit(Request(READ, position, stop - position, self._read_done, issuer, trail=trail))
            submitted += stop - position
            position = stop
        if self._plug is not None:
            self.device.unplug()
        return -(-submitted // PAGE)

    def read_block(self, position: int, issuer: int) -> Signal:
        """Read the block at `position` without read-ahead; the signal fires when it is in memory."""
        signal = Signal()
        size = self.settings.block_bytes
        trail = self.waits.begin(self._engine._now)
        self.device.submit(Request(READ, position, size, self._block_read, issuer, True, signal, trail))
        if not signal.fired:
            self.device.unplug()
        return signal

    def _block_read(self, request: Request) -> None:
        self._count(request)
        request.parent.fire()

    def _count(self, request: Request) -> None:
        """Count an I/O of the cache that is complete."""
        response_s = self._engine._now - request.submitted
        self.latencies[request.op].add(response_s)
        if request.trail is not None:
            self.waits.end(request.op, waited(request.trail, CPU, self._engine._now), response_s)

    def _read_done(self, request: Request) -> None:
        self._count(request)
        start, end = request.offset, request.offset + request.size
        self._pending.remove(start, end)
        self._keep(start, end)
        if self._waiting:
            ready = [entry for entry in self._waiting if start <= entry[0] < end]
            if ready:
                self._waiting = [entry for entry in self._waiting if not start <= entry[0] < end]
                for _, signal in ready:
                    signal.fire()

    def _keep(self, start: int, end: int) -> None:
        """Remember [start, end) as cached; forget the oldest beyond the memory there is."""
        if not self.cached.add(start, end):
            return
        recent = self._recent
        if recent and recent[-1][1] == start and start - recent[-1][0] < _FORGET_BYTES:
            recent[-1][1] = end
        else:
            recent.append([start, end])
        while self.cached.total > self.settings.memory_bytes and len(recent) > 1:
            old_start, old_end = recent.popleft()
            self.cached.remove(old_start, old_end)
            self.marks.forget(old_start, old_end)

    def mark_dirty(self, start: int, end: int) -> int:
        """The program has overwritten [start, end) in memory; returns how many bytes are newly dirty."""
        self._keep(start, end)
        new = self.dirty.add(start, end)
        self._dirtied(new)
        return new

    def is_dirty(self) -> bool:
        return bool(self.dirty)

    def sync(self, issuer: int) -> Generator[Any, Any, None]:
        """Write all dirty blocks of the device back, and wait until none is on its way (sync_blockdev).

        The process `issuer` submits the writes.
        """
        device, plug, pass_bytes = self.device, self._plug, self.memory.limits.pass_bytes
        self._submitters += 1
        while self.dirty:
            if not device.has_room:
                yield self._room()
                continue
            if plug is not None:
                plug()
            written = self._write_run(issuer)
            while plug is not None and self.dirty and written < pass_bytes and device.has_room:
                written += self._write_run(issuer)
            if plug is not None:
                device.unplug()
            yield self._host.cpu.run(self._bio_price(written))
        self._through()
        device.unplug()
        if self._writing_bytes:
            written_back = Signal()
            self._syncing.append(written_back)
            yield written_back

    def _write_run(self, issuer: int = FLUSHER_ISSUER) -> int:
        """Submit one dirty run for the flusher or the process `issuer`; returns its bytes."""
        start, end = next_run(self.dirty, self._flush_cursor, self.settings.flush_run_bytes)
        self._flush_cursor = end
        size = self.dirty.remove(start, end)
        self._submitted(size)
        self._writing_bytes += size
        trail = self.waits.begin(self._engine._now)
        self.device.submit(Request(WRITE, start, size, self._write_done, issuer, False, trail=trail))
        return size

    def _write_done(self, request: Request) -> None:
        self._count(request)
        self._reached(request.size)
        self._writing_bytes -= request.size
        if not self._writing_bytes and self._syncing:
            fire_all(self._syncing)
