"""Reading the files of a mounted device: what a program waits for, and what is read ahead of it.

A run of cached bytes is one charge of CPU time, and a window of read-ahead a few requests. Which pages stay in memory
is :mod:`.page_memory`, how they are written :mod:`.page_cache`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from ..core.device import BlockedReaders, Device, RowQueue
from ..core.engine import Engine
from ..core.request import READ, Request
from ..core.signal import NOTHING, Signal, Waits
from ..readahead import PAGE, ReadAhead
from ..statistics.latency_histogram import LatencyHistogram
from ..tasks.cpu import QUANTUM_S, Account
from ..tasks.host import Host
from ..waits.causes import CPU
from ..waits.trail import IoWaits, waited
from .dirty_memory import DirtyMemory
from .page_memory import PageMemory
from .paged_file import PagedFile
from .settings import Mapper, PageCacheSettings
from .write_back import WriteBack


class PageReads(WriteBack):
    """Pages of the files on one device, as they are read.

    Parameters
    ----------
    engine, host
        Clock and payer.
    device
        The block device underneath.
    settings
        The kernel's.
    pages, memory
        The host's memory for pages, and its dirty memory.
    read_ahead
        Makes the read-ahead state of a file that is opened, of its size.

    Attributes
    ----------
    latencies
        Of reads and writes.
    block_bytes, turn_s, interleaves, write_behind_bytes
        As the settings have them.
    """

    __slots__ = (
        "_by_age",
        "_drop_behind",
        "_expire_s",
        "_flush_run",
        "_look_s",
        "_make_read_ahead",
        "_read_bios",
        "_read_run",
        "_read_run_aligned",
        "_row_locks",
        "_waiting",
        "_waiting_readers",
        "block_bytes",
        "interleaves",
        "latencies",
        "pages",
        "settings",
        "turn_s",
        "waits",
        "write_behind_bytes",
    )

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
        bio_bytes = settings.bio or settings.block
        super().__init__(engine, host, device, memory, bio_bytes, settings.task_plug, settings.flusher_yields)
        self.use(settings)
        self.pages = pages
        self._make_read_ahead = read_ahead
        self._row_locks = device.row_locks
        self._waiting_readers = device.waiting_readers
        self.latencies = (LatencyHistogram(), LatencyHistogram())
        self.waits = IoWaits()
        self._waiting: list[tuple[PagedFile, int, Signal]] = []

    def use(self, settings: PageCacheSettings) -> None:
        """Work as these settings say, from now on."""
        self.settings = settings
        self.block_bytes = settings.block
        self.turn_s = settings.turn
        self.interleaves = settings.interleaves
        self.write_behind_bytes = settings.write_behind
        bio_bytes = settings.read_bio or settings.bio
        self._read_bios = PAGE / bio_bytes if bio_bytes else float(max(1, PAGE // settings.block))
        self._drop_behind = settings.drop_behind
        self._read_run = settings.read_run or 1 << 62
        self._read_run_aligned = settings.read_run_aligned
        self._flush_run = settings.flush_run
        self._look_s = settings.look
        self._expire_s = settings.expire
        self._by_age = settings.by_age

    def open(self, file: PagedFile) -> ReadAhead:
        """The read-ahead state of one more reader of `file`."""
        state = self._make_read_ahead(file.size)
        state.attach(file)
        return state

    @staticmethod
    def is_cached(file: PagedFile, start: int, end: int) -> bool:
        """Whether [start, end) is in memory."""
        return file.cached.run_from(start) >= end

    def spend(self, seconds: float, by: Account) -> Waits:
        """Charge CPU time, with what is owed already once it is enough."""
        by.cpu_s += seconds
        by.owed_s += seconds
        return (self.pay(by),) if by.owed_s >= self.turn_s else NOTHING

    def pay(self, by: Account) -> Any:
        """The event that ends when the CPU has done what is owed."""
        owed, by.owed_s = by.owed_s, 0.0
        return self._host.cpu.run(owed)

    def fetch(self, file: PagedFile, start: int, end: int, by: Account) -> Generator[Any, Any, None]:
        """Read what is not in memory of [start, end), without read-ahead, and wait for it."""
        while not self.is_cached(file, start, end):
            if by.owed_s:
                yield self.pay(by)
                continue  # the pages may have come meanwhile
            missing = max(start, file.cached.run_from(start))
            if file.pending.run_from(missing) == missing:
                self._read_pages(file, missing, end, by.issuer)
            self.device.unplug()
            if file.pending.run_from(missing) == missing:
                continue  # no I/O was needed: a cache of the device had it
            yield self._arrival(file, missing)
            by.cpu_s += self._host.prices.switch_s
            by.owed_s += self._host.prices.switch_s

    def _arrival(self, file: PagedFile, position: int) -> Signal:
        """A signal that fires when the page at `position` has been read."""
        signal = Signal()
        self._waiting.append((file, position, signal))
        return signal

    def read(
        self,
        file: PagedFile,
        read_ahead: ReadAhead,
        start: int,
        end: int,
        by: Account,
        seconds_per_byte: float,
        call_bytes: int = PAGE,
        mapper: Mapper | None = None,
    ) -> Generator[Any, Any, None]:
        """Read [start, end) in order, as a program that spends `seconds_per_byte` of CPU on what it reads."""
        prices = self._host.prices
        page_price = prices.page_s + self._read_bios * prices.bio_s
        position = start
        while position < end:
            call_end = position - (position - start) % call_bytes + call_bytes
            window = read_ahead.touch(position, call_end if call_end < end else end)
            if window is not None:
                at, stop = window
                while at < stop:
                    # Nobody asks where a page lies that is in memory.
                    known = stop if mapper is None else min(stop, file.cached.run_from(at))
                    if known == at and mapper is not None:
                        known = mapper.mapped_until(file, at, stop)
                    if known > at:
                        passing = self._drop_behind and read_ahead.in_order
                        cost = self._read_pages(file, at, known, by.issuer, passing) * page_price
                        by.cpu_s += cost
                        by.owed_s += cost
                        at = known
                    else:
                        # What lies in front of the unknown is on its way while this is read.
                        assert mapper is not None
                        yield from mapper.load_map(file, at, at + 1, by)
                if read_ahead.unplugs and window[0] > position:
                    self.device.unplug()
                if self._row_locks is not None and self._row_locks.waits:
                    yield from self._submitting(self._row_locks, by)
                turns = self._waiting_readers
                if turns is not None and turns.sleeps(by.issuer):
                    yield from self._asleep(turns, by)
            ready = file.cached.run_from(position)
            if ready == position:
                if by.owed_s:
                    yield self.pay(by)
                if file.cached.run_from(position) == position:
                    if file.pending.run_from(position) == position:
                        if mapper is not None and mapper.needs_map(file, position, position + 1):
                            yield from mapper.load_map(file, position, position + 1, by)
                        self._read_pages(file, position, position + 1, by.issuer)
                    self.device.unplug()
                    if file.pending.run_from(position) > position:  # else a cache of the device had it
                        yield self._arrival(file, position)
                        by.cpu_s += prices.switch_s
                        by.owed_s += prices.switch_s
                continue
            stop = min(ready, end, max(position + 1, read_ahead.next_trigger(position)))
            cost = (stop - position) * seconds_per_byte
            by.cpu_s += cost
            by.owed_s += cost
            # A page that is read in parts is used once.
            self.pages.used(file, position + -position % PAGE, stop + -stop % PAGE)
            if by.owed_s >= QUANTUM_S:
                yield self.pay(by)
            position = read_ahead.read_to = stop
            if mapper is not None and self._engine._now >= file.atime_due_s:
                waits = mapper.accessed(file, by)
                if waits is not NOTHING:
                    yield from waits

    def _submitting(self, locks: RowQueue, by: Account) -> Generator[Any, Any, None]:
        """Sleep in the submission of what waits for locked rows: nothing is copied meanwhile."""
        if by.owed_s:
            yield self.pay(by)
        if locks.waits:
            taken = Signal()
            locks.when_free(taken.fire)
            self.device.unplug()
            yield taken
            by.cpu_s += self._host.prices.switch_s
            by.owed_s += self._host.prices.switch_s

    def _asleep(self, turns: BlockedReaders, by: Account) -> Generator[Any, Any, None]:
        """Sleep in the submission of what there are no stripe heads for: nothing is copied meanwhile."""
        if by.owed_s:
            yield self.pay(by)
        if turns.sleeps(by.issuer):
            awake = Signal()
            turns.when_awake(by.issuer, awake.fire)
            yield awake
            by.cpu_s += self._host.prices.switch_s
            by.owed_s += self._host.prices.switch_s

    def _read_pages(self, file: PagedFile, start: int, end: int, issuer: int, passing: bool = False) -> int:
        """Submit what of [start, end) is neither in memory nor on its way; returns the number of pages.

        `passing` is for :meth:`.PageMemory.add`.
        """
        cached, pending = file.cached, file.pending
        submitted = 0
        position = start - start % PAGE
        end += -end % PAGE
        most = self._read_run
        aligned = self._read_run_aligned
        if self._plug is not None:
            self._plug()
        while position < end:
            here = cached.run_from(position)
            if here > position:
                position = here
                continue
            here = pending.run_from(position)
            if here > position:
                position = here
                continue
            stop = min(end, (position - position % most if aligned else position) + most)
            for known in (cached.next_start(position), pending.next_start(position)):
                if known is not None and known < stop:
                    stop = known
            pending.add(position, stop)
            at = position
            for at, address, size in file.extents.pieces(position, stop):
                parent, trail = (file, at, passing), self.waits.begin(self._engine._now)
                self.device.submit(Request(READ, address, size, self._read_done, issuer, True, parent, trail))
                at += size
            if at < stop:  # lies with the metadata, which have been read, or is a hole
                pending.remove(at, stop)
                self.pages.add(file, at, stop)
            submitted += stop - position
            position = stop
        if self._plug is not None:
            self.device.unplug()
        return -(-submitted // PAGE)

    def _count(self, request: Request) -> None:
        """Count an I/O of the cache that is complete."""
        response_s = self._engine._now - request.submitted
        self.latencies[request.op].add(response_s)
        if request.trail is not None:
            self.waits.end(request.op, waited(request.trail, CPU, self._engine._now), response_s)

    def _read_done(self, request: Request) -> None:
        self._count(request)
        file, start, passing = request.parent
        end = start + request.size
        if file.pending.remove(start, end):
            self.pages.add(file, start, end, passing)
        waiting = self._waiting
        if waiting:
            ready = [entry for entry in waiting if entry[0] is file and start <= entry[1] < end]
            for entry in ready:
                waiting.remove(entry)
                entry[2].fire()
