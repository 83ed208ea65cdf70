"""A hard disk: commands, mechanics, buffer and interface put together.

One scheduled event per I/O, its completion. The drive works out when a command will be complete at the moment it
starts it; :class:`~.media.Media` has the head's timeline. Without command queuing it knows one command at a time, and
the others wait in the host, first come, first served; otherwise :mod:`.shortest_positioning` has their order.
A command costs firmware time (overhead), media time unless the buffer serves it, and the transfer over the
drive's own interface and the links beyond it (:mod:`.interface`).

A cached write that does not fit into the buffer as it is comes in as room is made, by the
unit of destaging, and the head writes what has come while the rest waits at the host. A device may pause the data of a
command whenever it has no room for them (ATA/ATAPI-6, Ultra DMA: it holds back its strobe or negates DMARQ); a command
of 1,024 KiB, which Linux 2.6 sends with 48-bit addresses, is larger than the write buffer of many drives. Such a
command costs an event for each unit.
"""

from __future__ import annotations

from collections.abc import Callable

from ..core.discard_limits import DiscardLimits, refused
from ..core.engine import Engine
from ..core.errors import ModelError
from ..core.request import FLUSH, READ, WRITE, WRITE_THROUGH, Completion, Request
from ..links.link import AtaChannel, Path
from ..waits.causes import DRIVE_CACHE
from ..waits.trail import waited
from .assembly import caches_writes, media_of
from .destaging import DESTAGE_UNIT
from .fifo import RequestFifo
from .interface import DiskInterface
from .mechanics.marks import mark_cached, mark_head, mark_queued
from .media_cache import CachingMedia
from .shortest_positioning import ShortestPositioning
from .spec import DriveSpec


class HardDisk(DiskInterface):
    """One drive.

    Parameters
    ----------
    engine
        The clock.
    spec
        The drive's data; :func:`~raidsim.model.drives.catalogue.drive` finds it in the catalogue.
    name
        Shown in results; also names its random stream (where the platters are at time 0).
    path, own_cable
        As for :class:`~.interface.DiskInterface`.
    channel
        The ATA channel it takes turns on with another drive, if any.
    """

    __slots__ = (
        "_active",
        "_cached",
        "_channel",
        "_finished",
        "_log",
        "_long",
        "_long_from",
        "_ordered",
        "_pending",
        "_sector_mask",
        "_sent",
        "_waiting",
        "_write_cache",
    )

    def __init__(
        self,
        engine: Engine,
        spec: DriveSpec,
        name: str,
        path: Path = Path(()),  # noqa: B008 - immutable
        channel: AtaChannel | None = None,
        own_cable: bool = False,
    ) -> None:
        media = media_of(spec, engine, name)
        super().__init__(engine, name, media, spec.queue_depth > 1 and channel is None, spec, path, own_cable)
        self._channel = channel
        caches = caches_writes(spec)
        # Where writes that are not cached go first.
        self._log: CachingMedia | None = media if isinstance(media, CachingMedia) and not caches else None
        self._sector_mask = spec.logical_sector - 1
        self._write_cache = caches
        self._long: Request | None = None  # the write that comes in as room is made
        self._long_from = 0  # where the part of it begins that is crossing the link
        self._ordered = (
            ShortestPositioning(
                media,
                spec.queue_depth,
                spec.queue_age_weight,
                spec.queue_effort,
                caches or self._log is not None,
                spec.queue_margin,
            )
            if self._concurrent
            else None
        )
        self._waiting = RequestFifo()  # for a drive that does not queue, first come, first served
        self._active = False  # whether a command has the drive, or waits for the channel
        self._pending: Request | None = None
        self._finished = _Finished(self)
        self._cached = _Cached(self)
        self._sent: dict[Request, tuple[float, float]] = {}  # uncached writes: data arrives from, to (s)

    def hold(self, end: int) -> None:
        """Fill the write cache, as if the host had just written what lies in front of byte `end`."""
        media, now = self.media, self._engine._now
        start = max(0, end - (media.write_buffer_bytes - media.unwritten(now)))
        if start < end:
            media.in_flight += end - start
            media.accept(start, end - start, now)

    def submit(self, request: Request) -> None:
        """Accept a read or a write.

        Raises
        ------
        ModelError
            If it is not made of whole logical sectors, or not within the capacity.
        """
        offset, size = request.offset, request.size
        if (offset | size) & self._sector_mask or offset < 0 or size <= 0 or offset + size > self.capacity:
            raise ModelError(
                f"{self.name}: {request!r}; expected: multiples of {self.logical_sector} bytes, at least one, "
                f"within the capacity of {self.capacity} bytes"
            )
        if self._channel is not None:
            self._admit(request)
            return
        request.submitted = now = self._engine._now
        if self._outstanding:
            self._outstanding += 1
        else:
            self._outstanding = 1
            self._busy_from = now
        queue = self._ordered
        if queue is not None:
            if queue.full:
                queue.hold(request)
                return
            if self._serves(queue, request, now):
                return
        if self._active:
            if queue is None:
                self._waiting.push(request)
            else:
                queue.push(request)
            return
        self._active = True
        self._start(request, now)

    @property
    def logical_sector(self) -> int:
        """Bytes of its smallest command."""
        return self._sector_mask + 1

    @property
    def discard_limits(self) -> DiscardLimits:
        """It takes no discards: its sectors are where they are, whatever they hold."""
        return refused(f"{self.name} is a hard disk, which takes no discards")

    def flush(self, done: Callable[[], None]) -> None:
        """Write all cached data to the platters, then call `done`."""
        self._admit(Request(FLUSH, 0, 0, lambda _: done()))

    def _admit(self, request: Request) -> None:
        """Take a command that may need the channel, and does need the head."""
        now = self._engine._now
        request.submitted = now
        if self._outstanding:
            self._outstanding += 1
        else:
            self._outstanding = 1
            self._busy_from = now
        if self._active:
            if self._ordered is None:
                self._waiting.push(request)
            elif self._ordered.full:
                self._ordered.hold(request)
            else:
                self._ordered.push(request)
            return
        self._active = True
        if self._channel is None:
            self._start(request, now)
        else:
            self._pending = request
            if self._channel.acquire(self._granted):
                self._granted()

    def _serves(self, queue: ShortestPositioning, request: Request, now: float) -> bool:
        """Serve what needs no head at once, whatever the head is doing; a cached write not before earlier ones."""
        offset, size = request.offset, request.size
        # The processor serves one command at a time.
        begin = self._processor_from
        if begin < now:
            begin = now
        if request.op == READ:
            hit = begin + self._hit_s
            if not self.media.buffered(offset, size, hit):
                return False
            ready = self.media.read(offset, size, hit, hit)
            self.cache_hits += 1
            self._occupy_processor(begin, self._command_s)
            at = self._send_paced(now, offset, size, ready) if self._paced else self._send(now, ready, size)
            if request.trail is not None:
                trail = mark_queued(request.trail, request, now)
                request.trail = mark_head(trail, self.media, True, self._hit_s, ready, at)
        elif not self._write_cache or request.sync == WRITE_THROUGH:
            # It takes the data while the head is busy with other commands.
            arrival = self._data_from(request, now), self._fetch(request, now)
            log = self._log
            if log is not None and queue.landing is None and log.joins(offset, size, arrival[1]):
                self._engine.complete(request, self._cached, log.join(offset, size) + self._write_done_s)
                return True
            self._sent[request] = arrival
            return False
        elif queue.landing is None and self.media.has_room(offset, size, begin + self._write_s):
            at = self._receive(request, begin)
            if request.trail is not None:
                trail = mark_queued(request.trail, request, now)
                request.trail = mark_cached(trail, self._write_s, self._room_s, at)
        else:
            return False
        self._engine.complete(request, self._cached, at)
        return True

    def _refill(self, queue: ShortestPositioning, now: float) -> None:
        """Take the cached writes that fit, first in, first out, and commands from the host while there are tags."""
        while True:
            request = queue.landing
            begin = self._processor_from
            if begin < now:
                begin = now
            if (
                request is not None
                and self._cacheable(request)
                and self.media.has_room(request.offset, request.size, begin + self._write_s)
            ):
                queue.land()
                at = self._receive(request, begin)
                if request.trail is not None:
                    request.trail = waited(mark_queued(request.trail, request, request.submitted), DRIVE_CACHE, now)
                    request.trail = mark_cached(request.trail, self._write_s, self._room_s, at)
                self._engine.complete(request, self._cached, at)
                continue
            request = queue.release()
            if request is None:
                return
            if request.op == FLUSH or not self._serves(queue, request, now):
                queue.tell(request, now)

    def _cacheable(self, request: Request) -> bool:
        """Whether it is a write that is complete once it is in the buffer."""
        return request.op == WRITE and self._write_cache and request.sync != WRITE_THROUGH

    def _granted(self) -> None:
        """The channel is ours: start the command that waits for it."""
        request = self._pending
        assert request is not None
        self._start(request, self._engine._now)

    def _start(self, request: Request, now: float) -> None:
        """Work out when the command that now has the drive is complete."""
        size, op, trail = request.size, request.op, request.trail
        if trail is not None:
            request.trail = trail = mark_queued(trail, request, now)
        if op == READ:
            media = self.media
            if self._concurrent:
                # A queuing drive has decoded the command while it served others.
                decoded = request.submitted
                hit, miss = decoded + self._hit_s, decoded + self._read_s
                ready = media.read(request.offset, size, hit if hit > now else now, miss if miss > now else now)
            else:
                ready = media.read(request.offset, size, now + self._hit_s, now + self._read_s)
            at = self._send_paced(now, request.offset, size, ready) if self._paced else self._send(now, ready, size)
            if media.hit:
                self.cache_hits += 1
                if self._concurrent:
                    self._occupy_processor(max(self._processor_from, now), self._command_s)
                    if at < self._processor_from:
                        at = self._processor_from
            if trail is not None:
                firmware_s = 0.0 if self._concurrent else self._read_s
                request.trail = mark_head(trail, media, media.hit, firmware_s, ready, at)
        elif op == FLUSH:
            self._flush(request)
            return
        elif self._write_cache:
            if request.sync == WRITE_THROUGH:
                self._write_through(request)
                return
            if size > DESTAGE_UNIT and not self.media.has_room(request.offset, size, now + self._write_s):
                self._long = request
                self._receive_part(request, request.offset, now + self._write_s)
                return
            at = self._receive(request, max(self._processor_from, now))
            if trail is not None:
                request.trail = mark_cached(trail, self._write_s, self._room_s, at)
        else:
            decoded = now + self._write_s
            if self._concurrent:
                sent_from, sent = self._sent.pop(request)
                decoded = now if now > sent_from else sent_from
            else:
                sent_from, sent = self._data_from(request, now), self._fetch(request, now)
            at = self.media.write(request.offset, size, decoded, sent_from, sent) + self._write_done_s
            if trail is not None:
                firmware_s, done = 0.0 if self._concurrent else self._write_s, at - self._write_done_s
                request.trail = mark_head(trail, self.media, False, firmware_s, done, at)
            if self._log is not None and self._ordered is not None:
                self._join(self._log, self._ordered, now)
        self._engine.complete(request, self._finished, at)

    def _join(self, log: CachingMedia, queue: ShortestPositioning, now: float) -> None:
        """Put the waiting writes into the record that the head is about to write to the media cache."""
        while True:
            request = queue.landing
            if request is None or request.op != WRITE:
                break
            if not log.joins(request.offset, request.size, self._sent[request][1]):
                break
            del self._sent[request]
            queue.land()
            self._engine.complete(request, self._cached, log.join(request.offset, request.size) + self._write_done_s)
        while True:
            request = queue.release()
            if request is None:
                return
            if request.op == FLUSH or not self._serves(queue, request, now):
                queue.tell(request, now)

    def _write_through(self, request: Request) -> None:
        """Write everything back that was accepted before, then the request itself (FLUSH CACHE and FUA)."""
        now = self._engine._now
        if self.media.in_flight and now < self._landed_s:
            self._engine.call_at(self._landed_s, lambda _: self._write_through(request))
            return
        flushed = self.media.flush(now + self._write_s)
        if self._concurrent:
            sent_from, sent = self._sent.pop(request)
        else:
            sent_from, sent = self._data_from(request, now), self._fetch(request, now)
        at = self.media.write(request.offset, request.size, max(sent_from, flushed), sent_from, sent)
        self._engine.complete(request, self._finished, at + self._write_done_s)

    def _receive(self, request: Request, begin: float) -> float:
        """Take a write into the buffer from `begin` (s), destaging first if it is full; when it is complete (s)."""
        if self._concurrent:
            self._occupy_processor(begin, self._command_s)
        return self._bring(request.offset, request.size, begin, begin + self._write_s) + self._write_done_s

    def _receive_part(self, request: Request, offset: int, at: float) -> None:
        """Take what of a write begins at `offset` into the buffer from `at` (s), as far as a unit of destaging."""
        self._long_from = offset
        size = request.offset + request.size - offset
        if size <= DESTAGE_UNIT:
            landed = self._bring(offset, size, self._engine._now, at)
            self._engine.complete(request, self._finished, landed + self._write_done_s)
            return

        def arrived(_: object) -> None:
            now = self._engine._now
            self.media.accept(offset, DESTAGE_UNIT, now)
            self._receive_part(request, offset + DESTAGE_UNIT, now)

        self._engine.call_at(self._bring(offset, DESTAGE_UNIT, self._engine._now, at), arrived)

    def _flush(self, request: Request) -> None:
        """Write everything back that was accepted before the flush."""
        now = self._engine._now
        if self.media.in_flight and now < self._landed_s:
            self._engine.call_at(self._landed_s, lambda _: self._flush(request))
            return
        self._engine.complete(request, self._finished, self.media.flush(now + self._write_s))

    def finish(self, request: Request) -> None:
        """The command that had the drive is complete: start the next, tell the issuer."""
        now = self._engine._now
        if self._turns and (request.op != READ) != self._turned:
            self._turn()
        # The same as _count(), inlined for what is not in the buffer now.
        if request.op == READ:
            self._outstanding -= 1
            self.busy_s += now - self._busy_from
            self._busy_from = now
            self.latency_s += now - request.submitted
            self.reads += 1
            self.read_bytes += request.size
        elif request.op == WRITE and not self._write_cache:
            self._outstanding -= 1
            self.busy_s += now - self._busy_from
            self._busy_from = now
            self.latency_s += now - request.submitted
            self.writes += 1
            self.write_bytes += request.size
        else:
            self._count(request, now)
        channel, ordered = self._channel, self._ordered
        if channel is not None:
            channel.release()
        if ordered is not None:
            if len(ordered):
                self._start(ordered.next(now), now)
                # After that, as a head without a command would begin to write back or to read ahead.
                if ordered.refills:
                    self._refill(ordered, now)
            else:
                self._active = False
        elif not len(self._waiting):
            self._active = False
        elif channel is None:
            self._start(self._waiting.pop(), now)
        else:
            self._pending = self._waiting.pop()
            if channel.acquire(self._granted):
                self._granted()
        request.mark(DRIVE_CACHE, now)  # of a write that came in parts, or with a flush of its own
        request.complete()

    def finish_cached(self, request: Request) -> None:
        """A command that never had the head is complete."""
        if self._turns and (request.op != READ) != self._turned:
            self._turn()
        self._count(request, self._engine._now)
        if request.trail is not None:  # of a write that goes to a log of the drive
            trail = mark_queued(request.trail, request, request.submitted)
            request.trail = waited(trail, DRIVE_CACHE, self._engine._now)
        request.complete()

    def _count(self, request: Request, now: float) -> None:
        self._outstanding -= 1
        self.busy_s += now - self._busy_from
        self._busy_from = now
        self.latency_s += now - request.submitted
        op, size = request.op, request.size
        if op == READ:
            self.reads += 1
            self.read_bytes += size
        elif op == FLUSH:
            self.flushes += 1
        else:
            if self._cacheable(request):
                if request is self._long:
                    self._long = None
                    self.media.accept(self._long_from, request.offset + size - self._long_from, now)
                else:
                    self.media.accept(request.offset, size, now)
            self.writes += 1
            self.write_bytes += size


class _Finished(Completion):
    """Of the command that has the drive."""

    __slots__ = ("_disk",)

    def __init__(self, disk: HardDisk) -> None:
        self._disk = disk

    def done(self, request: Request) -> None:
        """See :meth:`HardDisk.finish`."""
        self._disk.finish(request)


class _Cached(Completion):
    """Of a command that never had the head."""

    __slots__ = ("_disk",)

    def __init__(self, disk: HardDisk) -> None:
        self._disk = disk

    def done(self, request: Request) -> None:
        """See :meth:`HardDisk.finish_cached`."""
        self._disk.finish_cached(request)
