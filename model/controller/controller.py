"""A hardware RAID controller: a device over any array, with a processor, a cache memory and a link to the host.

A command costs firmware time and its data crosses the link to the host. With write-back a write is done when it is in
the memory, which a battery keeps through an outage; the memory gathers stripes (:mod:`.cache`) and writes
them to the array (:mod:`.destaging`). When it is full a write waits until the drives have made room, so what
lasts is the array's own rate. Without write-back some controllers gather in the same way what waits for its turn.
Sequential readers are read ahead for (:mod:`.read_ahead`).

Without any of these a command that one drive can serve may go past the firmware (:mod:`.fast_path`).

What the array does costs the same processor, if the array was built with it as its host. Firmware and link are booked
at one end of a command, before a write goes to the array and after a read comes from it: a command costs one event
besides those of the members.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from mypy_extensions import i64

from ..core.device import Device
from ..core.discard_limits import DiscardLimits, refused
from ..core.engine import Engine
from ..core.errors import ModelError
from ..core.request import READ, WAITED, WRITE, WRITE_THROUGH, Completion, Request
from ..links.link import Path
from ..readahead import PAGE
from ..waits.causes import CONTROLLER, CONTROLLER_CACHE, CONTROLLER_QUEUE, LINK, SCHEDULER
from ..waits.trail import waited
from .cache import WriteCache
from .destaging import Destager
from .drive_queue import FAST_PATH
from .fast_path import FastPath
from .firmware import Firmware
from .read_ahead import ReadCache, look_up
from .reading_ahead import ReadingAhead
from .settings import ControllerSettings, row_bytes_of
from .stages import (
    CACHED,
    READ_BELOW,
    READ_FAST,
    RECEIVED,
    RECEIVED_FAST,
    REPLIED,
    WRITTEN,
    CachedRead,
    GatheredWrite,
    Stage,
    Staged,
)


class RaidController(Staged):
    """An array behind a hardware controller.

    Parameters
    ----------
    engine
        The clock.
    name
        Shown in results.
    array
        What it drives: any device; its host, if it has one, should be `firmware`.
    settings
        How it works.
    firmware
        Its processor.
    path
        The links between the host and its memory (SCSI bus, PCI, PCIe).

    Attributes
    ----------
    reads, writes, read_bytes, write_bytes
        Commands completed, and what they moved.
    read_hits
        Reads of which all was in memory or on its way there.
    waits
        Writes that had to wait for room in the cache.
    latency_s
        Sum of the time (s) from submission to completion.
    busy_s
        Time (s) with at least one command, up to the last submission or completion.
    """

    __slots__ = (
        "_active",
        "_ahead",
        "_array",
        "_busy_from",
        "_cached",
        "_command_s",
        "_destager",
        "_engine",
        "_fast_path",
        "_fast_path_s",
        "_foreground",
        "_in_memory",
        "_in_turn",
        "_keeps_reads",
        "_latency_s",
        "_on_room",
        "_outside",
        "_path",
        "_queue_depth",
        "_read_below",
        "_read_fast",
        "_reads",
        "_received",
        "_received_fast",
        "_replied",
        "_row_bytes",
        "_settings",
        "_waiting",
        "_write_page_s",
        "_writes",
        "_written",
        "busy_s",
        "firmware",
        "latency_s",
        "read_bytes",
        "read_hits",
        "reads",
        "waits",
        "write_bytes",
        "writes",
    )

    def __init__(
        self,
        engine: Engine,
        name: str,
        array: Device,
        settings: ControllerSettings,
        firmware: Firmware,
        path: Path = Path(()),  # noqa: B008 - immutable
    ) -> None:
        self._engine = engine
        self.name = name
        self._array = array
        self.capacity = array.capacity
        self._settings = settings
        # A description costs a look-up at every command.
        self._command_s = settings.command
        self._fast_path_s = settings.fast_path
        self._latency_s = settings.latency
        self._write_page_s = settings.write_page
        self._queue_depth = settings.queue_depth
        self._keeps_reads = settings.keeps_reads
        self._in_turn = settings.gathers_in_turn
        self.firmware = firmware
        self._path = path
        self._row_bytes = row_bytes_of(array)
        self._in_memory = settings.gathers_writes
        self._writes = WriteCache(settings.write_bytes, self._row_bytes, self.capacity, settings.gathers_in_turn)
        self._reads = ReadCache(settings.read_bytes, self._row_bytes)
        self._destager = Destager(engine, array, settings, self._writes, self._admit)
        self._replied = Stage(self, REPLIED)
        self._cached = Stage(self, CACHED)
        self._received = Stage(self, RECEIVED)
        self._received_fast = Stage(self, RECEIVED_FAST)
        self._written = Stage(self, WRITTEN)
        self._read_below = Stage(self, READ_BELOW)
        self._read_fast = Stage(self, READ_FAST)
        self._ahead = ReadingAhead(array, settings, self._row_bytes, self._reads, self._writes)
        self._fast_path = FastPath(settings, array)
        self._active = 0
        self._outside: deque[Request] = deque()
        self._waiting: deque[Request] = deque()
        self._on_room: list[Callable[[], None]] = []
        self._foreground = 0
        self.start_statistics(0.0)

    def start_statistics(self, now: float) -> None:
        """Forget what was counted so far (the warm-up); `now` is the current time (s)."""
        self.reads = self.writes = self.read_bytes = self.write_bytes = 0
        self.read_hits = self.waits = 0
        self.latency_s = self.busy_s = 0.0
        self._busy_from = now

    @property
    def discard_limits(self) -> DiscardLimits:
        """It takes no discards."""
        return refused(f"{self.name} is a volume of a hardware controller, which passes no discards on")

    @property
    def array(self) -> Device:
        """The array behind it."""
        return self._array

    @property
    def settings(self) -> ControllerSettings:
        """How it works."""
        return self._settings

    @property
    def row_bytes(self) -> int:
        """Data bytes of a full stripe, as the cache gathers them."""
        return self._row_bytes

    @property
    def dirty_bytes(self) -> int:
        """What it has acknowledged and the drives do not have (bytes)."""
        return self._writes.unwritten_bytes

    @property
    def cache(self) -> WriteCache:
        """What it holds of the host's writes."""
        return self._writes

    @property
    def read_cache_bytes(self) -> int:
        """What its memory holds of what was read (bytes)."""
        return self._reads.used_bytes

    @property
    def outstanding(self) -> int:
        """Commands in the controller and waiting outside."""
        return self._active + len(self._outside)

    @property
    def foreground_bytes(self) -> int:
        """What it has completed for the host so far (bytes)."""
        return self._foreground

    @property
    def has_room(self) -> bool:
        """Whether a write would not have to wait for others."""
        return not self._waiting and not self._outside

    def when_room(self, callback: Callable[[], None]) -> None:
        """Call back when nothing waits for the cache or for a place in the queue any more (at once if so)."""
        if self.has_room:
            callback()
        else:
            self._on_room.append(callback)

    def destage(self) -> None:
        """Begin to write what the cache has been given without a command of the host."""
        self._destager.pump(False)

    def drain(self, done: Callable[[], None]) -> None:
        """Write all dirty data to the array; `done` is called when that is over."""
        self._destager.drain(done)

    # commands

    def submit(self, request: Request) -> None:
        """Accept a command; `ModelError` if it is not within the capacity."""
        if request.offset < 0 or request.size <= 0 or request.offset + request.size > self.capacity:
            raise ModelError(f"{self.name}: {request!r}; expected: within the capacity of {self.capacity} bytes")
        request.submitted = now = self._engine._now
        if not self._active:
            self._busy_from = now
        if self._active >= self._queue_depth:
            self._outside.append(request)
        else:
            self._active += 1
            self._start(request)

    def _start(self, request: Request) -> None:
        if request.trail is not None:
            trail = waited(request.trail, SCHEDULER, request.submitted)
            request.trail = waited(trail, CONTROLLER_QUEUE, self._engine._now)
        if request.op == READ:
            self._read(request)
        elif self._fast_path.takes(request):
            self._transfer(request, self._received_fast, self._fast_path_s)
        elif not self._in_memory:
            self._transfer(request, self._received)
        elif not self._waiting and self._writes.admits(request.size):
            self._reserve(request)
        else:
            self.waits += 1
            self._waiting.append(request)
            self._destager.pump(True)

    def _transfer(self, request: Request, then: Completion, fast_path_s: float = 0.0) -> None:
        """Firmware time and data over the link, from now; `then` is told at the end."""
        now = self._engine._now
        firmware_s = fast_path_s or self._command_s
        if request.op != READ and not fast_path_s:
            firmware_s += request.size / PAGE * self._write_page_s
        ready = self.firmware.cpu.interrupt(firmware_s)
        over = self._path.reserve(now, ready, request.size, request.op != READ)
        seen = over if fast_path_s else over + self._latency_s
        if request.trail is not None:
            trail = waited(request.trail, CONTROLLER_CACHE, now)
            trail = waited(waited(trail, CONTROLLER, min(ready, over)), LINK, over)
            request.trail = waited(trail, CONTROLLER, seen)
        self._engine.complete(request, then, seen)

    def reached(self, stage: i64, request: Request) -> None:
        """See :meth:`Staged.reached`."""
        if stage == REPLIED:
            self.finish(request)
        elif stage == CACHED:
            if self._in_turn:
                self._gather(request)
            else:
                self._commit(request)
        elif stage == RECEIVED:
            self._reads.forget(request.offset, request.offset + request.size)
            self._write(request, request.issuer)
        elif stage == RECEIVED_FAST:
            self._write(request, request.issuer + FAST_PATH)
        else:
            command: Request = request.parent
            if request.trail is not None:
                command.trail = request.trail
            if stage == WRITTEN:
                self.finish(command)
            else:
                self._transfer(command, self._replied, self._fast_path_s if stage == READ_FAST else 0.0)

    def finish(self, request: Request) -> None:
        """See :meth:`Staged.finish`."""
        now = self._engine._now
        self.busy_s += now - self._busy_from
        self._busy_from = now
        self.latency_s += now - request.submitted
        self._foreground += request.size
        if request.op == READ:
            self.reads += 1
            self.read_bytes += request.size
        else:
            self.writes += 1
            self.write_bytes += request.size
        if self._outside:
            self._start(self._outside.popleft())
        else:
            self._active -= 1
        if self._on_room:
            self._tell_room()
        request.mark(CONTROLLER_CACHE, now)
        request.complete()

    def _tell_room(self) -> None:
        if self.has_room:
            callbacks, self._on_room = self._on_room, []
            for callback in callbacks:
                callback()

    # writes

    def _reserve(self, request: Request) -> None:
        self._writes.expect(request.offset, request.offset + request.size)
        self._transfer(request, self._cached)

    def _commit(self, request: Request) -> None:
        """The data is in memory, and that is all the host waits for, also if it asked for a write-through."""
        start, end = request.offset, request.offset + request.size
        self._writes.commit(start, end, self._engine._now)
        self._reads.forget(start, end)
        self._destager.pump(bool(self._waiting))
        self.finish(request)

    def _gather(self, request: Request) -> None:
        """The data is in memory, where it is gathered with its neighbors until its rows' turn; the host waits."""
        start, end = request.offset, request.offset + request.size
        rows = (end - 1) // self._row_bytes - start // self._row_bytes + 1
        self._writes.commit(start, end, self._engine._now, GatheredWrite(self, request, rows))
        self._reads.forget(start, end)
        self._destager.pump(bool(self._waiting))

    def _admit(self) -> bool:
        """There may be room for writes that wait; returns whether some still do."""
        waiting = self._waiting
        while waiting and self._writes.admits(waiting[0].size):
            self._reserve(waiting.popleft())
        if self._on_room:
            self._tell_room()
        return bool(waiting)

    def _write(self, request: Request, issuer: int) -> None:
        sync = WRITE_THROUGH if request.sync == WRITE_THROUGH else WAITED
        array = self._array
        array.submit(Request(WRITE, request.offset, request.size, self._written, issuer, sync, request, request.trail))
        array.unplug()

    # reads

    def _read(self, request: Request) -> None:
        offset, size = request.offset, request.size
        array = self._array
        if self._fast_path.takes(request):
            issuer = request.issuer + FAST_PATH
            array.submit(Request(READ, offset, size, self._read_fast, issuer, WAITED, request, request.trail))
        elif not self._in_memory and not self._reads.capacity_bytes:
            below = Request(READ, offset, size, self._read_below, request.issuer, WAITED, request, request.trail)
            array.submit(below)
        else:
            self._read_cached(request, offset, offset + size)
        array.unplug()

    def _read_cached(self, request: Request, start: int, end: int) -> None:
        missing, waits = look_up(self._reads, self._writes, self._row_bytes, start, end)
        parts = len(waits) + (missing is not None)
        if parts:
            waiter = CachedRead(self, request, parts)
            for arrival in waits:
                arrival.waiters.append(waiter)
            if missing is not None:
                low, high = missing
                self._array.submit(Request(READ, low, high - low, waiter, request.issuer, trail=request.trail))
        else:
            self._transfer(request, self._replied)
        if missing is None:
            self.read_hits += 1
        self._ahead.read(start, end, request.issuer, missing is not None)

    def keep(self, low: int, high: int) -> None:
        """See :meth:`Staged.keep`."""
        if self._keeps_reads:
            self._reads.keep(low, high)

    def answer(self, request: Request) -> None:
        """See :meth:`Staged.answer`."""
        self._transfer(request, self._replied)
