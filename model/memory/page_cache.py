"""The page cache of a mounted device: files read ahead, dirtied, written back by the flusher, synced.

What Linux's mm/filemap.c, mm/page-writeback.c and fs/fs-writeback.c do, on runs of pages: a run of cached bytes is one
charge of CPU time, a window of read-ahead a few requests, and a pass of write-back takes a limited number of bytes of
each dirty file in turn. Metadata are pages of the block device, which is one more file here.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Generator, Iterable
from typing import Any

from ..core.device import Device
from ..core.engine import Engine
from ..core.request import FLUSHER_ISSUER, WRITE, Request
from ..core.signal import Signal
from ..readahead import ReadAhead
from ..tasks.cpu import QUANTUM_S, Account
from ..tasks.host import Host
from .dirty_lists import DirtyLists
from .dirty_memory import DirtyMemory
from .page_memory import PageMemory
from .page_reads import PageReads
from .paged_file import PagedFile, device_file
from .settings import PageCacheSettings
from .write_back import next_run

_DIRTY_SCOPE = 8
"""Share of the dirty limit that one file is written of at a time (include/linux/writeback.h)."""


class PageCache(PageReads):
    """Pages of the files on one device; arguments and attributes as for :class:`.PageReads`."""

    __slots__ = ("_dirty_files", "_lists", "_metadata_bio", "_syncing", "_turn_bytes", "device_file")

    def __init__(
        self,
        engine: Engine,
        host: Host,
        device: Device,
        settings: PageCacheSettings,
        pages: PageMemory,
        memory: DirtyMemory,
        read_ahead: Callable[[int], ReadAhead],
    ) -> None:
        super().__init__(engine, host, device, settings, pages, memory, read_ahead)
        self.device_file = device_file(device.name, device.capacity)
        self._dirty_files: OrderedDict[PagedFile, None] = OrderedDict()
        self._lists = DirtyLists() if settings.block_lists else None
        self._metadata_bio = settings.metadata_bio or 1 << 62
        self._turn_bytes = 0
        self._syncing: dict[PagedFile, list[Signal]] = {}
        engine.spawn(self._flusher())
        engine.spawn(self._old_pages())

    def mark_dirty(self, file: PagedFile, start: int, end: int) -> int:
        """[start, end) of `file` has been written in memory; returns how many bytes are newly dirty."""
        block = self.block_bytes
        start -= start % block
        end += -end % block
        self.pages.add(file, start, end)
        self.pages.used(file, start, end)
        if not file.dirty:
            file.dirtied_at = self._engine._now
            self._dirty_files[file] = None
        new = file.dirty.add(start, end)
        if new and self._lists is not None:
            self._lists.add(file, start, end, self._engine._now)
        self._dirtied(new)
        return new

    def forget(self, file: PagedFile, start: int = 0) -> None:
        """The pages of `file` from `start` on are gone, dirty or not."""
        dropped = file.dirty.remove(start, 1 << 62)
        file.pending.remove(start, 1 << 62)
        self.pages.forget(file, start)
        if dropped:
            self._dropped(dropped)
            self.memory.written(0)
            if not file.dirty:
                self._clean(file)

    def is_dirty(self) -> bool:
        return bool(self._dirty_files)

    def throttle(self, by: Account | None = None, dirtied: int = 0, share: float = 1.0) -> Generator[Any, Any, None]:
        """See :meth:`.WriteBack.throttle`; the duty is for the bytes that a writer dirties before thresholds are
        checked.
        """
        if by is not None and self.turn_s > QUANTUM_S:
            yield from self._do_duty(by, int(share * self.memory.limits.duty))
            return
        if by is not None and by.owed_s:
            yield self.pay(by)
        yield from super().throttle(by, dirtied)

    def write_behind(self, file: PagedFile, start: int, end: int, by: Account) -> Generator[Any, Any, None]:
        """Write what a program that writes `file` in order has filled now that it has dirtied [start, end).

        Where that does not continue what was written before, it may be the first of a sequence. The program waits when
        more than the limit is under write-back.
        """
        most, memory = self.write_behind_bytes, self.memory
        if not file.cursor <= start <= file.dirty.run_from(file.cursor):
            file.cursor = start
            return
        while (full := file.cursor - file.cursor % most + most) <= end and file.dirty.run_from(file.cursor) >= full:
            price = self._bio_price(self._write_out(file, file.cursor, full, by.issuer))
            file.cursor = full
            by.cpu_s += price
            by.owed_s += price
            if memory.writeback_bytes > memory.limits.running_above:
                yield self.pay(by)
                if memory.writeback_bytes > memory.limits.running_below:
                    yield memory.ran_down()

    def _do_duty(self, by: Account, duty: int) -> Generator[Any, Any, None]:
        """Write back what a writer owes for what it has dirtied; it keeps the CPU unless there is no room.

        Of several that write side by side each looks at the limit after a block or a few, and writes the oldest of all
        by the pass: 32 buffers (write_some_buffers), whether it is below the limit before they are through or not.
        """
        memory, submitted, turns = self.memory, 0, self._host.writer_turns
        beside = self.interleaves and turns.side_by_side
        least = min(duty, memory.limits.pass_bytes) if beside else 0
        while submitted < duty and (memory.over_limit or (submitted < least and self.is_dirty())):
            ready = self.is_dirty() and self.device.has_room
            turn_s = QUANTUM_S if beside else self.turn_s
            if by.owed_s >= turn_s or (by.owed_s and not ready):
                yield self.pay(by)
            elif ready:
                size = self._write_run()
                submitted += size
                price = self._bio_price(size)
                if beside:
                    price = turns.locked(self._engine.now + by.owed_s, price)
                by.cpu_s += price
                by.owed_s += price
            elif self.is_dirty():
                yield self._room()
            else:
                yield memory.below_limit()

    def write_back(self, file: PagedFile, issuer: int, by: Account | None = None) -> Generator[Any, Any, None]:
        """Write all dirty pages of `file`, and wait until none is on its way."""
        yield from self.write_back_all((file,), issuer, by)

    def write_back_all(
        self,
        files: Iterable[PagedFile],
        issuer: int,
        by: Account | None = None,
        submitted: Callable[[], None] | None = None,
        unawaited: PagedFile | None = None,
    ) -> Generator[Any, Any, None]:
        """Write all dirty pages of all `files`, in their order, and wait until none is on its way but of `unawaited`.

        `submitted` is called before that wait. CPU time is charged to `by`; with by=None it is spent but not
        attributed.
        """
        begun = list(files)
        self._submitters += 1
        spins = self.interleaves
        left = deque(begun)
        own = self._start_plug(issuer)
        while left:
            if not left[0].dirty:
                left.popleft()
            elif self.device.has_room:
                price = self._bio_price(self._write_synced(left, issuer))
                if spins:
                    price = self._host.writer_turns.locked(self._engine.now, price)
                if by is not None:
                    by.cpu_s += price
                yield self._host.cpu.run(price)
            else:
                own = yield from self._pause(issuer, own)
        self._through()
        self._finish_plug(issuer, own)
        self.device.unplug()
        if submitted is not None:
            submitted()
        for file in begun:
            if file.writing_bytes and file is not unawaited:
                yield self._written(file)

    def _write_synced(self, files: deque[PagedFile], issuer: int) -> int:
        """Submit dirty runs of files that are synced: a pass under one plug, or one run; returns their bytes."""
        if self._plug is None:
            return self._write_run(files[0], issuer, True)
        self._plug()
        written = 0
        while files and written < self.memory.limits.pass_bytes and self.device.has_room:
            if files[0].dirty:
                written += self._write_run(files[0], issuer, True)
            else:
                files.popleft()
        self.device.unplug()
        return written

    def _written(self, file: PagedFile) -> Signal:
        """A signal that fires when nothing of `file` is under write-back."""
        signal = Signal()
        self._syncing.setdefault(file, []).append(signal)
        return signal

    def sync(
        self,
        by: Account,
        metadata: bool = True,
        submitted: Callable[[], None] | None = None,
        awaits_device: bool = True,
    ) -> Generator[Any, Any, None]:
        """Write all dirty pages of the device's files, and of the device itself unless told not to; wait for them.

        `submitted` is called when all are on their way. If `awaits_device` is false, a later call waits for the device.
        """
        device = self.device_file
        files = [file for file in self._dirty_files if metadata or file is not device]
        if metadata and awaits_device and device.writing_bytes and not device.dirty:
            files.append(device)
        yield from self.write_back_all(files, by.issuer, by, submitted, None if awaits_device else device)

    def flush_device(self) -> Signal:
        """Flush the device's caches; the signal fires when that is over."""
        done = Signal()
        self.device.flush(done.fire)
        return done

    def _old_pages(self) -> Generator[Any, Any, None]:
        """Write back what has been dirty for long (kupdate)."""
        while True:
            yield self._engine.timeout(self._look_s)
            expired = self._engine._now - self._expire_s
            if self._lists is not None:
                yield from self._write_old_blocks(self._lists, expired)
                continue
            old = [file for file in self._dirty_files if file.dirtied_at <= expired]
            own = self._start_plug(FLUSHER_ISSUER) if old else False
            for file in old:
                while file.dirty and file.dirtied_at <= expired:
                    if self._keeps_out:
                        yield self._undisturbed()
                    elif self.device.has_room:
                        yield self._host.cpu.run(self._bio_price(self._write_run(file)))
                    else:
                        own = yield from self._pause(FLUSHER_ISSUER, own)
            if old:
                self._finish_plug(FLUSHER_ISSUER, own)
                self.device.unplug()

    def _write_old_blocks(self, lists: DirtyLists, expired: float) -> Generator[Any, Any, None]:
        """Write back every block that has been dirty since `expired` (s) or longer."""
        written = False
        while lists.due(expired):
            if self.device.has_room:
                written = True
                yield self._host.cpu.run(self._bio_price(self._write_run()))
            else:
                yield self._room()
        if written:
            self.device.unplug()

    @property
    def _turn(self) -> int:
        """Bytes of one file that the flusher writes before it goes on with the next one.

        Since 3.2 that is half a second of what the device writes, but no more than an eighth of the limit, and up to a
        pass more, in whole passes (fs/fs-writeback.c, writeback_chunk_size).
        """
        memory = self.memory
        if self._by_age:
            return memory.dirty_bytes
        unit = memory.limits.pass_bytes
        if self.balance is None:
            return unit
        most = min(int(self.balance.rate) // 2, memory.limits.limit // _DIRTY_SCOPE)
        return (most + unit) // unit * unit

    def _write_run(self, file: PagedFile | None = None, issuer: int = FLUSHER_ISSUER, sync: bool = False) -> int:
        """Submit one dirty run of `file`, or of the dirty file whose turn it is; returns its bytes.

        `sync` says that all of the file is to be written.
        """
        most = self._flush_run
        if self._lists is not None and file is None:
            file, start, end = self._lists.oldest(most)
        elif self._lists is not None and file is not None and sync:
            start, end = self._lists.newest(file, most)
        else:
            if file is None:
                file = next(iter(self._dirty_files))
            start, end = next_run(file.dirty, file.cursor, most)
            if self.balance is not None and not sync:
                end = min(end, start + max(self.block_bytes, self._turn - self._turn_bytes))
            file.cursor = end
        return self._write_out(file, start, end, issuer)

    def _clean(self, file: PagedFile) -> None:
        """Nothing of `file` is dirty any more."""
        del self._dirty_files[file]
        if self._lists is not None:
            self._lists.clean(file)

    def _write_out(self, file: PagedFile, start: int, end: int, issuer: int) -> int:
        """Submit [start, end) of a file, which is dirty; returns its bytes."""
        files = self._dirty_files
        if file.extents.size < end:
            file.place(end)
        size = left = file.dirty.remove(start, end)
        for _, address, part in file.extents.pieces(start, end):
            file.writing_bytes += part
            left -= part
            self._submitted(part)
            bio = part if file is not self.device_file else self._metadata_bio
            while part > bio:
                trail = self.waits.begin(self._engine._now)
                self.device.submit(Request(WRITE, address, bio, self._write_done, issuer, False, file, trail))
                address += bio
                part -= bio
            trail = self.waits.begin(self._engine._now)
            self.device.submit(Request(WRITE, address, part, self._write_done, issuer, False, file, trail))
        if left:
            self._dropped(left)
        self._turn_bytes += size
        if not file.dirty:
            self._clean(file)
            self._turn_bytes = 0
        elif self._turn_bytes >= self._turn:
            files.move_to_end(file)
            self._turn_bytes = 0
        return size

    def _write_done(self, request: Request) -> None:
        self._count(request)
        file = request.parent
        file.writing_bytes -= request.size
        self._reached(request.size)
        if file in self._syncing:
            if file.writing_bytes:
                self.device.unplug()  # who waits for page after page unplugs each time (wait_on_buffer, sync_page)
                return
            for signal in self._syncing.pop(file):
                signal.fire()
