"""A hard disk: commands, mechanics, buffer and interface put together.

One scheduled event per I/O, its completion. The drive works out when a command will be complete at the moment it
starts it; :class:`~.media.Media` has the head's timeline. Without command queuing it knows one command at a time, and
the others wait in the host, first come, first served; otherwise :mod:`.shortest_positioning` has their order.
A command costs firmware time (overhead), media time unless the buffer serves it, and the transfer over the
drive's own interface and the links beyond it; data flows on while it is still being read (cut-through).

So it does towards the drive: a cached write that does not fit into the buffer as it is comes in as room is made, by the
unit of destaging, and the head writes what has come while the rest waits at the host. A device may pause the data of a
command whenever it has no room for them (ATA/ATAPI-6, Ultra DMA: it holds back its strobe or negates DMARQ); a command
of 1,024 KiB, which Linux 2.6 sends with 48-bit addresses, is larger than the write buffer of many drives. Such a
command costs an event for each unit.
"""

from __future__ import annotations

from collections.abc import Callable

from ..core.device import Device
from ..core.discard_limits import DiscardLimits, refused
from ..core.engine import Engine
from ..core.errors import ModelError
from ..core.request import FLUSH, READ, WRITE, WRITE_THROUGH, Completion, Request
from ..links.link import AtaChannel, Link, Path
from .destaging import DESTAGE_UNIT
from .fifo import RequestFifo
from .geometry import SECTOR
from .media import Media
from .media_cache import CachingMedia
from .media_log import LogSettings
from .shingled import ShingledMedia
from .shortest_positioning import ShortestPositioning
from .spec import DriveSpec, mechanics


class HardDisk(Device):
    """One drive.

    Parameters
    ----------
    engine
        The clock.
    spec
        The drive's data; :func:`~raidsim.model.drives.catalogue.drive` finds it in the catalogue.
    name
        Shown in results; also names its random stream (where the platters are at time 0).
    path
        Links beyond the drive's own interface, which it shares with others (channel, bus).
    channel
        The ATA channel it takes turns on with another drive, if any.
    own_cable
        Whether the first link of `path` moves data of no other drive.

    Attributes
    ----------
    path
        The links its data cross, its own interface among them.
    reads, writes, read_bytes, write_bytes, cache_hits, flushes
        Commands completed, what they moved, and the reads that the buffer served.
    latency_s
        Sum of the time (s) from submission to completion; over elapsed time this is the mean
        number of requests in the drive (Little's law).
    busy_s
        Time (s) with at least one request in the drive, up to the last submission or completion.
    """

    __slots__ = (
        "_active",
        "_after_read",
        "_after_write",
        "_busy_from",
        "_cached",
        "_channel",
        "_concurrent",
        "_engine",
        "_finished",
        "_hit_s",
        "_landed_s",
        "_log",
        "_long",
        "_long_from",
        "_ordered",
        "_outstanding",
        "_paced",
        "_pending",
        "_read_done_s",
        "_read_s",
        "_sector_mask",
        "_sent",
        "_slowest_inverse",
        "_slowest_write_inverse",
        "_through",
        "_turned",
        "_turns",
        "_waiting",
        "_watermark",
        "_write_ahead",
        "_write_cache",
        "_write_data_s",
        "_write_done_s",
        "_write_s",
        "busy_s",
        "cache_hits",
        "flushes",
        "latency_s",
        "media",
        "path",
        "read_bytes",
        "reads",
        "spec",
        "write_bytes",
        "writes",
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
        self._engine = engine
        self.spec = spec
        self.name = name
        self._concurrent = spec.queue_depth > 1 and channel is None
        if self._concurrent and not (own_cable and _as_fast(path.links[0], spec.interface_rate)):
            # Data of several commands compete for the drive's own interface, so that is a link as well; but not before
            # a cable that is as fast and nobody else's: what passes the one finds the other free.
            path = Path((Link(f"{name} interface", spec.interface_rate), *path.links))
        self.path = path
        self._through = bool(path.links)
        self._channel = channel
        geometry, seeks = mechanics(spec)
        self.capacity = geometry.capacity
        caches = spec.write_cache and spec.write_buffer > 0
        kind: type[Media] = Media
        if spec.media_cache:
            kind = ShingledMedia if spec.band_size else CachingMedia
        self.media = media = kind(
            geometry,
            seeks,
            float(engine.streams.generator(f"{name}/platters").random()),
            segments=spec.segments,
            segment_bytes=spec.segment_size,
            look_ahead_bytes=spec.look_ahead,
            first_ahead_bytes=spec.look_ahead_first,
            write_buffer_bytes=spec.write_buffer if caches else 0,
            write_extents=spec.write_extents if caches else 0,
            destage_batch_bytes=spec.destage_batch,
            low_water_bytes=spec.low_water,
            look_ahead_returns=spec.look_ahead_returns,
            look_ahead_until=spec.look_ahead_until,
            wraps=spec.segment_wraps,
            writes_clear=spec.writes_clear,
            keeps_sent=spec.keeps_sent,
            keeps_written=spec.keeps_written,
            keeps_before=spec.keeps_before,
            reads_at_once=spec.reads_at_once,
            head_switch_s=spec.head_switch if spec.head_switch_seeks else 0.0,
        )
        self._log: CachingMedia | None = None  # where writes that are not cached go first
        if isinstance(media, CachingMedia):
            media.open_log(_log_settings(spec), engine.streams.generator(f"{name}/media cache"))
            self._log = None if caches else media
        self.media.partial_mask = spec.physical_sector - 1 if spec.physical_sector > SECTOR else 0
        self._sector_mask = spec.logical_sector - 1
        self._write_cache = caches
        self._read_s = spec.read_overhead
        self._write_s = spec.write_overhead
        self._hit_s = spec.hit_overhead
        self._slowest_inverse = 1.0 / min(path.slowest_rate, spec.interface_rate)
        self._slowest_write_inverse = 1.0 / min(path.slowest_write_rate, spec.interface_rate)
        # Firmware times of a read that misses and of a write, where the command before was a read and where not.
        self._after_read = spec.read_overhead, spec.write_overhead
        self._after_write = (
            _first(spec.read_overhead_after_write, spec.read_overhead),
            _first(spec.write_overhead_after_write, spec.write_overhead),
        )
        self._turns = self._after_read != self._after_write
        self._turned = False  # whether the last command was a write
        self._read_done_s = spec.read_completion
        self._write_done_s = spec.write_completion
        self._write_data_s = -1.0 if spec.write_data_overhead is None else spec.write_data_overhead
        self._write_ahead = spec.write_ahead
        self._watermark = -1.0 if spec.read_watermark is None else spec.read_watermark
        self._paced = spec.read_watermark is not None or spec.read_completion > 0.0
        self._landed_s = 0.0  # when the last accepted write is in the buffer
        self._long: Request | None = None  # the write that comes in as room is made
        self._long_from = 0  # where the part of it begins that is crossing the link
        self._ordered = (
            ShortestPositioning(
                media, spec.queue_depth, spec.queue_age_weight, spec.queue_effort, caches or self._log is not None
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
        self._outstanding = 0
        self._busy_from = 0.0
        self.start_statistics(0.0)

    def start_statistics(self, now: float) -> None:
        """Forget what was counted so far (the warm-up); `now` is the current time (s)."""
        self.reads = self.writes = self.flushes = self.cache_hits = 0
        self.read_bytes = self.write_bytes = 0
        self.latency_s = self.busy_s = 0.0
        self._busy_from = now
        media = self.media
        media.seek_s = media.rotation_s = media.transfer_s = 0.0
        media.destaged_bytes = 0

    @property
    def seek_s(self) -> float:
        """Time (s) the arm has moved."""
        return self.media.seek_s

    @property
    def rotation_s(self) -> float:
        """Time (s) the head has waited for the platter to turn."""
        return self.media.rotation_s

    @property
    def transfer_s(self) -> float:
        """Time (s) requested data has passed under the head."""
        return self.media.transfer_s

    @property
    def dirty_bytes(self) -> int:
        """Bytes in the write cache that are not on the platters now."""
        return self.media.unwritten(self._engine._now)

    def hold(self, end: int) -> None:
        """Fill the write cache, as if the host had just written what lies in front of byte `end`."""
        media, now = self.media, self._engine._now
        start = max(0, end - (media.write_buffer_bytes - media.unwritten(now)))
        if start < end:
            media.in_flight += end - start
            media.accept(start, end - start, now)

    @property
    def outstanding(self) -> int:
        """Requests in the drive."""
        return self._outstanding

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
        if request.op == READ:
            hit = now + self._hit_s
            if not self.media.buffered(offset, size, hit):
                return False
            ready = self.media.read(offset, size, hit, hit)
            self.cache_hits += 1
            at = self._send_paced(now, offset, size, ready) if self._paced else self._send(now, ready, size)
        elif not self._write_cache or request.sync == WRITE_THROUGH:
            # It takes the data while the head is busy with other commands.
            arrival = self._data_from(request, now), self._fetch(request, now)
            log = self._log
            if log is not None and queue.landing is None and log.joins(offset, size, arrival[1]):
                self._engine.complete(request, self._cached, log.join(offset, size) + self._write_done_s)
                return True
            self._sent[request] = arrival
            return False
        elif queue.landing is None and self.media.has_room(offset, size, now + self._write_s):
            at = self._receive(request, now)
        else:
            return False
        self._engine.complete(request, self._cached, at)
        return True

    def _refill(self, queue: ShortestPositioning, now: float) -> None:
        """Take the cached writes that fit, first in, first out, and commands from the host while there are tags."""
        while True:
            request = queue.landing
            if (
                request is not None
                and self._cacheable(request)
                and self.media.has_room(request.offset, request.size, now + self._write_s)
            ):
                queue.land()
                self._engine.complete(request, self._cached, self._receive(request, now))
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
        size, op = request.size, request.op
        if op == READ:
            media = self.media
            if self._concurrent:
                # A queuing drive has decoded the command while it served others.
                decoded = request.submitted
                hit, miss = decoded + self._hit_s, decoded + self._read_s
                ready = media.read(request.offset, size, hit if hit > now else now, miss if miss > now else now)
            else:
                ready = media.read(request.offset, size, now + self._hit_s, now + self._read_s)
            if media.hit:
                self.cache_hits += 1
            at = self._send_paced(now, request.offset, size, ready) if self._paced else self._send(now, ready, size)
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
            at = self._receive(request, now)
        else:
            decoded = now + self._write_s
            if self._concurrent:
                sent_from, sent = self._sent.pop(request)
                decoded = now if now > sent_from else sent_from
            else:
                sent_from, sent = self._data_from(request, now), self._fetch(request, now)
            at = self.media.write(request.offset, size, decoded, sent_from, sent) + self._write_done_s
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

    def _data_from(self, request: Request, now: float) -> float:
        """When enough data of an uncached write are in the drive for the head to begin (s)."""
        begin = now + (self._write_s if self._write_data_s < 0.0 else self._write_data_s)
        if not self._write_ahead:
            return begin
        size: int = request.size
        return begin + min(size, self._write_ahead) * self._slowest_write_inverse

    def _fetch(self, request: Request, now: float) -> float:
        """Transfer the data of an uncached write into the drive; when the last byte has arrived (s)."""
        begin = now + (self._write_s if self._write_data_s < 0.0 else self._write_data_s)
        size: int = request.size
        sent = begin + size * self._slowest_write_inverse
        if self._through:
            across = self.path.reserve(now, begin, request.size, True)
            if across > sent:
                sent = across
        return sent

    def _send(self, now: float, ready: float, size: int) -> float:
        """Transfer read data to the host; when the last byte is across (s)."""
        duration = size * self._slowest_inverse
        begin = ready - duration
        first = self.media.first_s
        if begin < first:
            begin = first
        end = begin + duration
        if self._through:
            across = self.path.reserve(now, begin, size)
            if across > end:
                end = across
        return end if end > ready else ready

    def _send_paced(self, now: float, offset: int, size: int, ready: float) -> float:
        """Transfer read data, sector by sector, once as many are in the buffer as the drive waits for; the end (s)."""
        if self._watermark < 0.0:
            return self._send(now, ready, size) + self._read_done_s
        media = self.media
        begin = media.first_s
        if not media.hit:
            wanted = max(SECTOR, int(size // SECTOR * self._watermark) * SECTOR)
            begin += media.geometry.transfer_s(offset, wanted)
        end = begin + size * self._slowest_inverse
        if self._through:
            across = self.path.reserve(now, begin, size)
            if across > end:
                end = across
        last = ready + SECTOR * self._slowest_inverse
        return (end if end > last else last) + self._read_done_s

    def _turn(self) -> None:
        """From now on the firmware times are those after a command of the other kind."""
        self._turned = not self._turned
        self._read_s, self._write_s = self._after_write if self._turned else self._after_read

    def _receive(self, request: Request, now: float) -> float:
        """Take a write into the buffer, destaging first if it is full; when the last byte has arrived (s)."""
        return self._bring(request.offset, request.size, now, now + self._write_s) + self._write_done_s

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

    def _bring(self, offset: int, size: int, now: float, at: float) -> float:
        """Make room for `size` bytes from `at` (s) and transfer them; when the last one has arrived (s)."""
        begin = self.media.make_room(offset, size, at)
        end = begin + size * self._slowest_write_inverse
        if self._through:
            across = self.path.reserve(now, begin, size, True)
            if across > end:
                end = across
        self.media.in_flight += size
        self._landed_s = end + self._write_done_s
        return end

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
        request.complete()

    def finish_cached(self, request: Request) -> None:
        """A command that never had the head is complete."""
        if self._turns and (request.op != READ) != self._turned:
            self._turn()
        self._count(request, self._engine._now)
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


def _first(given: float | None, otherwise: float) -> float:
    return otherwise if given is None else given


def _as_fast(cable: Link, rate: float) -> bool:
    """Whether a cable takes exactly the times that a drive's interface with this rate (bytes/s) does."""
    return type(cable) is Link and cable.rate == cable.write_rate == rate and not cable.per_transfer_s


def _log_settings(spec: DriveSpec) -> LogSettings:
    return LogSettings(
        size=spec.media_cache,
        regions=spec.media_cache_regions,
        entries=spec.media_cache_entries,
        largest=spec.media_cache_largest,
        batch=spec.media_cache_batch,
        record_s=spec.write_overhead,
        idle_s=spec.media_cache_idle,
        filled=spec.media_cache_filled,
        band=spec.band_size,
        open_bands=spec.open_bands,
    )
