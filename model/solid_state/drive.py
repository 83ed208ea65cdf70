"""A solid-state drive: commands, flash, write buffer and interface put together.

One scheduled event per I/O, its completion. The drive works out when an I/O will be complete at the moment it takes
it, from servers that know when they are free: the controller (commands/s), the dies, the channels, and the interface.
What goes on in the background (programs, erases, garbage collection, folding) is booked on the dies and channels, and
costs no event either.

A read takes: the controller, its firmware's time, a read of the map where that is not in memory, the dies that hold the
data, their channels, the interface. A write takes: the controller, its firmware's time, room in the buffer, the
interface; it is complete when it is in the buffer (:mod:`.write_buffer`). Data in the buffer, and addresses that
hold no data, are read without flash.

Sources: those of the parts; NVM Express base specification 2.0 (queue pairs, flush, deallocate).

The controller takes a part of its commands/s for each unit that garbage collection moves (`move_share`), and for each
4 KiB of a command after the first (`unit_time`). The command itself does not wait for that, but the next one does.

Limits: no page is read a second time; a drive never gets too hot; utilization counts what is booked, which reaches
ahead by as much as the write buffer holds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from ..block.in_submission import SubmissionWork
from ..core.engine import Engine
from ..core.errors import ModelError
from ..core.request import FLUSH, READ, WRITE, WRITE_THROUGH, Completion, Request
from ..links.link import Path
from ..waits.causes import CPU
from .drive_statistics import DriveStatistics, mark_command
from .flash import CODEWORD, Flash
from .map_cache import MapCache
from .media import Media, ReadAhead, Stream
from .placement import TABLE_MASK, Placement
from .spec import UNIT_BYTES, SolidStateSpec
from .timeline import Timeline
from .translation import InPlace, Translation
from .write_buffer import WriteBuffer

_CHUNK = 65536
_NO_LIMIT = 1 << 62


class SolidState(DriveStatistics):
    """One drive.

    Parameters
    ----------
    engine
        The clock.
    spec
        The drive's data.
    name
        Shown in results; also names its random stream (which dies hold what is written at random).
    path
        Links beyond the drive's own interface, which it shares with others (expander, switch, host bus adapter).
    state
        What it held at the start: "steady" overwritten at random for long, "sequential" filled in order, "fresh" none.
    driver
        What does the drive's work inside the submission (`in_submission`). None: the drive works in its own time.

    Attributes
    ----------
    capacity
        Bytes.
    """

    __slots__ = (
        "_ahead",
        "_book_up",
        "_buffer",
        "_byte_s",
        "_codeword_s",
        "_codeword_up_s",
        "_durable_s",
        "_engine",
        "_finished",
        "_held",
        "_inverse_rate",
        "_limit",
        "_map",
        "_media",
        "_most_at_once",
        "_move_s",
        "_path",
        "_placement",
        "_plain",
        "_read_s",
        "_ready_s",
        "_recent",
        "_safe_s",
        "_sector_mask",
        "_shift",
        "_simple",
        "_streams",
        "_table",
        "_through",
        "_translation",
        "_unsafe",
        "_write_s",
        "state",
    )

    def __init__(
        self,
        engine: Engine,
        spec: SolidStateSpec,
        name: str,
        path: Path = Path(()),  # noqa: B008 - immutable
        *,
        state: str = "steady",
        driver: SubmissionWork | None = None,
    ) -> None:
        self._engine = engine
        self._driver = driver
        self.spec = spec
        self.name, self.state = name, state
        self.capacity = spec.capacity
        self._path, self._through = path, bool(path.links)
        self._inverse_rate = 1.0 / spec.interface_rate
        self._up = Timeline(CODEWORD * self._inverse_rate)
        self._down = Timeline(CODEWORD * self._inverse_rate) if spec.full_duplex else self._up
        self._command_s, self._command_free, self.moving_s = 1.0 / spec.command_rate, 0.0, 0.0
        self._move_s = spec.move_share * self._command_s / spec.mapping_unit
        self._byte_s = spec.unit_time / UNIT_BYTES
        self._read_s, self._write_s = spec.read_overhead, spec.write_overhead
        self._durable_s = spec.durable_times
        self._unsafe, self._safe_s = False, 0.0  # whether anything was written since a flush, and when that is over
        self._sector_mask = spec.logical_sector - 1
        self._limit = spec.queue_depth * spec.queues if driver is None else _NO_LIMIT
        self._shift = spec.mapping_unit.bit_length() - 1
        inside = spec.by_commands
        self._placement = placement = Placement(inside, engine.streams.generator(f"{name}/placement"))
        self._flash = Flash(inside, placement)
        units, chunk_units = spec.capacity // spec.mapping_unit, max(1, _CHUNK // spec.mapping_unit)
        self._translation: Translation = InPlace(units, chunk_units, state)
        if not spec.in_place:
            block_units = spec.superblock_data // spec.mapping_unit
            self._translation = Translation(spec.superblocks, block_units, units, chunk_units, state)
        self._buffer = WriteBuffer(inside, self._flash, self._translation)
        self._map = None if spec.mapping_reach is None else MapCache(spec.mapping_reach, spec.mapping_unit)
        self._media = Media(inside, self._flash, self._translation, self._buffer)
        self._ahead = ReadAhead(self._media, spec.read_ahead, spec.capacity) if spec.read_ahead else None
        self._most_at_once = max(spec.mapping_unit, spec.write_buffer // 2)
        self._waiting: deque[Request] = deque()
        self._finished = _Finished(self)
        self._ready_s = 0.0  # when the last read had its data, and the last write its room
        self._outstanding = 0
        self._simple = driver is None and spec.mapping_reach is None and spec.mapping_unit >= CODEWORD
        self._plain = False
        self._streams: dict[int, Stream] = {} if self._ahead is None else self._ahead.streams
        self._recent: dict[int, int] = {} if self._ahead is None else self._ahead.recent
        self._table = [self._flash.dies[number] for number in placement.table]
        self._held = self._buffer.held
        self._codeword_s = CODEWORD * self._flash.inverse_rate
        self._codeword_up_s = CODEWORD * self._inverse_rate
        self._book_up = self._up.book
        self._changed()
        self.start_statistics(0.0)

    @property
    def dirty_bytes(self) -> int:
        """Bytes in the write buffer that are not in flash now."""
        return self._buffer.unwritten(self._engine._now)

    @property
    def standing_amplification(self) -> float:
        """Units programmed for each that the host writes, as collection goes now."""
        return 1.0 / (1.0 - self._translation.victim_share)

    def open_long_ago(self) -> None:
        """Begin in the middle of a superblock, with as many erases still to come as belong to its other half."""
        self._buffer.begin_in_the_middle()

    def hold(self, size: int, units: Iterator[int]) -> None:
        """Have at least `size` bytes in the write buffer, as if the host had just written more of the `units`."""
        self._buffer.stand(self._engine._now, size, units)
        if self._simple:
            self._changed()

    @property
    def cached_bytes(self) -> int:
        """Bytes in cells with one bit that are not folded."""
        return self._translation.cached_units << self._shift

    def fill_bit_cache(self) -> None:
        """Have the cells with one bit full, as if the host had just written the end of the drive."""
        translation, units = self._translation, self.capacity >> self._shift
        translation.fill_cache(units - (self.spec.slc_cache >> self._shift) + translation.cached_units, units)

    def submit(self, request: Request) -> None:
        """Accept a read, a write or a discard; `ModelError` if it is not of whole sectors within the capacity."""
        offset, size = request.offset, request.size
        if (offset | size) & self._sector_mask or offset < 0 or size <= 0 or offset + size > self.capacity:
            raise ModelError(
                f"{self.name}: {request!r}; expected: multiples of {self.logical_sector} bytes, at least one, "
                f"within the capacity of {self.capacity} bytes"
            )
        unit = offset >> self._shift
        if (
            request.op
            or size != CODEWORD
            or offset & 4095
            or not self._plain
            or self._outstanding >= self._limit
            or unit in self._held
            or (self._streams and offset in self._streams)
            or offset in self._recent
        ):
            self._admit(request)
            return
        # The same as _admit(), _start() and _read(), for a small read.
        if self._ahead is not None:
            self._ahead.remember(offset + CODEWORD, CODEWORD)
        engine = self._engine
        request.submitted = now = engine._now
        if self._outstanding:
            self._outstanding += 1
        else:
            self._outstanding = 1
            self._busy_from = now
        begin = self._command_free
        self._command_free = begin = (begin if begin > now else now) + self._command_s
        begin += self._read_s
        placement, translation = self._placement, self._translation
        if translation.ordered and unit not in translation.units:
            die = self._flash.dies[placement.striped_die(offset)]
            sense_s = placement.striped_read_s(offset)
        else:
            index = (unit ^ unit >> 12 ^ unit >> 24) & TABLE_MASK
            die, sense_s = self._table[index], placement.read_s[index]
        if die.background:
            die.give_way(begin)
        free = die.free
        die.free = ready = (free if free > begin else begin) + sense_s
        self._flash.reads_s += sense_s
        ready = die.book_channel(now, ready, self._codeword_s)
        at = self._book_up(now, ready, self._codeword_up_s)
        if self._through:
            across = self._path.reserve(now, ready, CODEWORD)
            if across > at:
                at = across
        if request.trail is not None:
            mark_command(request, now, begin, ready, at, False)
        engine.complete(request, self._finished, at)

    def flush(self, done: Callable[[], None]) -> None:
        """Make what has been written safe, then call `done`."""
        self._admit(Request(FLUSH, 0, 0, lambda _: done()))

    @property
    def logical_sector(self) -> int:
        """Bytes of its smallest command."""
        return self._sector_mask + 1

    def _admit(self, request: Request) -> None:
        now = self._engine._now
        request.submitted = now
        outstanding = self._outstanding
        if not outstanding:
            self._busy_from = now
        self._outstanding = outstanding + 1
        if outstanding >= self._limit:
            self._waiting.append(request)
        else:
            self._start(request, now)

    def _start(self, request: Request, now: float) -> None:
        """Work out when a command that the controller takes now is complete."""
        if self._driver is not None:
            at = self._driver.begin(request, now)
            request.mark(CPU, at)
            self._engine.complete(request, self._finished, at)
            return
        begin = self._command_free
        self._command_free = begin = (begin if begin > now else now) + self._command_s
        op = request.op
        if self._byte_s and request.size > UNIT_BYTES and op <= WRITE:
            beyond: int = request.size - UNIT_BYTES
            self._occupy(self._byte_s * beyond)
        if op == READ:
            at = self._read(now, begin + self._read_s, request.offset, request.size)
        elif op == WRITE:
            if self._move_s:
                self._occupy(self._move_s * self._translation.moved_for(request.size))
            through = request.sync == WRITE_THROUGH and not self.spec.power_loss_protection
            if through and self._unsafe:  # the kernel sends the flush before it sends the write
                begin = self._make_safe(now, begin, 0)
            at = self._write(now, begin + self._write_s, request.offset, request.size)
            if through:
                at = self._make_safe(now, at, 1)
            else:
                self._unsafe = True
            if self._simple:
                self._changed()
        elif op == FLUSH:
            at = self._make_safe(now, begin, 0) if self._unsafe else max(begin + self._write_s, self._safe_s)
        else:
            at = begin + self._write_s
            unit = self.spec.mapping_unit
            first, last = -(-request.offset // unit), (request.offset + request.size) // unit
            if first < last:
                self._buffer.discard(first, last)
                self._translation.trim(first, last)
                self._changed()
        if request.trail is not None:
            decoded, durable = begin + (self._write_s if op else self._read_s), request.sync == WRITE_THROUGH
            mark_command(request, now, decoded, self._ready_s, at, durable)
        self._engine.complete(request, self._finished, at if at > now else now)

    def _make_safe(self, now: float, begin: float, fua: int) -> float:
        """Make what was written safe, with commands from `begin` (s) on, by a flush (0) or FUA (1); when it is (s)."""
        written = begin if self.spec.power_loss_protection else self._buffer.flush(now, begin)
        self._unsafe = False
        self._safe_s = at = written + self._durable_s[fua]
        return at

    def _changed(self) -> None:
        """Something was written or deallocated: whether a small read finds its unit where `submit` looks for it."""
        translation = self._translation
        self._plain = self._simple and not (translation.chunks or translation.unmapped or translation.cache_log)

    def _read(self, now: float, arrival: float, offset: int, size: int) -> float:
        """Read; when the last byte has left the drive and its path (s)."""
        mapped = arrival if self._map is None else self._look_up(now, arrival, offset, size)
        if self._ahead is not None:
            begin, ready = self._ahead.read(now, arrival, offset, size)
            hit = self._ahead.hit
        else:
            begin, ready = self._media.read(now, arrival, offset, size)
            hit = self._media.hit
        if hit:
            self.cache_hits += 1
        elif mapped > arrival:
            # The read has its place at the die from the beginning, so that the wait for the map takes no time there.
            least = mapped + self._flash.read_s + self._codeword_s
            if begin < least:
                begin = least
                if ready < least:
                    ready = least
        return self._send(now, begin, ready, size)

    def _look_up(self, now: float, arrival: float, offset: int, size: int) -> float:
        """Read what is missing of the map; when it is there (s)."""
        assert self._map is not None
        flash, missing = self._flash, self._map.missing(offset, size)
        dies = [flash.placement.scattered(page) for page in missing]
        return max([arrival, *(flash.read(now, arrival, die, CODEWORD, flash.read_s) for die in dies)])

    def _send(self, now: float, begin: float, ready: float, size: int) -> float:
        """Transfer read data to the host, the last of which is there at `ready` (s); when the last byte is across."""
        self._ready_s = ready
        duration = size * self._inverse_rate
        earliest = ready - duration + CODEWORD * self._inverse_rate
        if size > CODEWORD and earliest > begin:
            begin = earliest
        elif size <= CODEWORD:
            begin = ready
        end = self._up.book(now, begin, duration)
        return max(end, self._path.reserve(now, begin, size)) if self._through else end

    def _write(self, now: float, arrival: float, offset: int, size: int) -> float:
        """Take a write into the buffer, piece by piece if it is larger; when the last byte is in it (s)."""
        if self._map is not None:
            self._look_up(now, arrival, offset, size)
        shift, most = self._shift, self._most_at_once
        if size <= most:
            return self._take(now, arrival, offset, size)
        landed, end = arrival, offset + size
        while offset < end:
            piece = min(end, ((offset + most) >> shift) << shift) - offset
            landed = self._take(now, arrival, offset, piece)
            offset += piece
        return landed

    def _take(self, now: float, arrival: float, offset: int, size: int) -> float:
        """Take what fits the buffer at once; when the last byte is in it (s)."""
        shift, buffer = self._shift, self._buffer
        room = ((offset + size - 1 >> shift) - (offset >> shift) + 1) << shift
        self._ready_s = begin = buffer.admit(now, arrival, room)
        landed = self._down.book(now, begin, size * self._inverse_rate)
        if self._through:
            landed = max(landed, self._path.reserve(now, begin, size, True))
        buffer.store(now, landed, offset, size)
        return landed

    def finish(self, request: Request) -> None:
        """A command is complete: start one that waits, tell the issuer."""
        now = self._engine._now
        self._count(request, now)
        if self._waiting:
            self._start(self._waiting.popleft(), now)
        request.complete()
        if self._driver is not None:
            self._driver.end(request)


class _Finished(Completion):
    """Of all commands of a drive."""

    __slots__ = ("_drive",)

    def __init__(self, drive: SolidState) -> None:
        self._drive = drive

    def done(self, request: Request) -> None:
        """See :meth:`SolidState.finish`."""
        self._drive.finish(request)
