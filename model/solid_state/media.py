"""Reading what is on the drive, wherever it is: striped or scattered over the dies, in the buffer, or nowhere.

A read is cut into parts that lie on one die each; it is complete when the last is. What is in the write buffer, and
what holds no data (never written, or deallocated), is there at once: a drive that was never written reads faster than
its flash.

A read that begins where an earlier one ended makes a stream of the two. What follows it is fetched, no more than the
stream has read so far, so that a reader with one I/O outstanding does not wait for the dies each time. Several streams
are followed at once. Nothing is fetched for a stream that has ended.

A fetch never delays a command that waits: it follows the stream's own read and fetches, takes only dies that have
nothing else to do by then (no read and no program, begun or queued) on channels that have nothing else booked, and ends
before the first page whose die or channel has. So each stream is read ahead as far as the others leave dies to it.

Sources: Agrawal et al., "Design tradeoffs for SSD performance", USENIX ATC 2008 (what a read takes of dies and
channels); NVM Express command set specification 1.0, "Read", field "Sequential Request" (drives may prepare for the
next addresses). How far, and of how many streams at once, makers do not publish.

Limits: what is written meanwhile into the range read ahead is not noticed.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from .flash import CODEWORD, Flash
from .placement import TABLE_MASK
from .spec import SolidStateSpec
from .translation import Translation
from .write_buffer import WriteBuffer

_NOWHERE, _SCATTERED, _STRIPED = 0, 2, 4
_CACHED: Final = 1
_INFINITY = float("inf")
STREAMS: Final = 16
"""Streams followed at once. Assumed: buffers of 512 KiB for all of them take 8 MiB, a small part of a controller's
memory."""
_KEPT_READS: Final = 256
"""Reads of the drive for which a stream keeps its place without one of its own. With more streams than places those
that have one are read ahead and the others are not; if the newest took the place of the oldest, none would be."""
_REMEMBERED: Final = 64
"""Reads that belong to no stream, in which the next one is looked for; then all of them are forgotten, which costs less
than one at a time."""


class Media:
    """The data of a drive.

    Parameters
    ----------
    spec, flash, translation, buffer
        The drive's data and parts.

    Attributes
    ----------
    hit
        Whether the last read needed no flash.
    """

    __slots__ = ("_buffer", "_flash", "_shift", "_translation", "hit")

    def __init__(self, spec: SolidStateSpec, flash: Flash, translation: Translation, buffer: WriteBuffer) -> None:
        self._flash = flash
        self._translation = translation
        self._buffer = buffer
        self._shift = spec.mapping_unit.bit_length() - 1
        self.hit = False

    def read(self, now: float, arrival: float, offset: int, size: int) -> tuple[float, float]:
        """Read from `arrival` (s) on; when the first codeword and the last are out of the flash (s)."""
        self._buffer.release(now)
        flash, translation, shift = self._flash, self._translation, self._shift
        placement = flash.placement
        end = offset + size
        first, last = _INFINITY, arrival
        plain = not (translation.units or translation.chunks or translation.unmapped or self._buffer.held)
        base = _STRIPED if translation.ordered else _SCATTERED
        if plain and base == _SCATTERED:
            self.hit = False
            return self._read_scattered(now, arrival, offset, end)
        while offset < end:
            unit = offset >> shift
            kind = base if plain else self._kind(unit)
            if kind & _SCATTERED or not kind:
                upto = unit + 1 << shift
            elif plain:
                upto = end
            else:
                following = unit + 1
                while following << shift < end and self._kind(following) == kind:
                    following += 1
                upto = following << shift
            if upto > end:
                upto = end
            cached = kind & _CACHED
            if kind & _SCATTERED:
                index = (unit ^ unit >> 12 ^ unit >> 24) & TABLE_MASK
                sense_s = flash.cached_read_s if cached else placement.read_s[index]
                ready = flash.read(now, arrival, placement.table[index], upto - offset, sense_s)
                if ready < first:
                    first = ready
                if ready > last:
                    last = ready
            elif kind:
                for die, part, page_s in placement.striped(offset, upto):
                    ready = flash.read(now, arrival, die, part, flash.cached_read_s if cached else page_s)
                    begun = ready - (part - CODEWORD) * flash.inverse_rate if part > CODEWORD else ready
                    if begun < first:
                        first = begun
                    if ready > last:
                        last = ready
            offset = upto
        self.hit = first == _INFINITY
        return (arrival if self.hit else first), last

    def _read_scattered(self, now: float, arrival: float, offset: int, end: int) -> tuple[float, float]:
        """The same where all of it was written at random, which takes a read for each unit."""
        flash, shift = self._flash, self._shift
        dies, table, read_s, inverse_rate = (
            flash.dies,
            flash.placement.table,
            flash.placement.read_s,
            flash.inverse_rate,
        )
        first, last = _INFINITY, arrival
        units = range(offset >> shift, (end - 1 >> shift) + 1)
        whole_s = inverse_rate * max(CODEWORD, 1 << shift)
        for unit in units:
            begin, stop = unit << shift, unit + 1 << shift
            if begin < offset or stop > end:
                across_s = inverse_rate * max(CODEWORD, min(stop, end) - max(begin, offset))
            else:
                across_s = whole_s
            index = (unit ^ unit >> 12 ^ unit >> 24) & TABLE_MASK
            die = dies[table[index]]
            sense_s = read_s[index]
            flash.reads_s += sense_s
            ready = die.book_channel(now, die.read(arrival, sense_s), across_s)
            if ready < first:
                first = ready
            if ready > last:
                last = ready
        return first, last

    def idle_until(self, now: float, from_s: float, start: int, stop: int) -> int:
        """The end of what can be read of [start, stop) without delaying anything.

        Returns
        -------
        int
            The first byte of [start, stop) whose die or channel has something to do after `from_s` (s), or whose die
            has a program `now` (s); `stop` if there is none.
        """
        flash, translation, shift = self._flash, self._translation, self._shift
        placement, dies, channels = flash.placement, flash.dies, flash.channels
        plain = not (translation.units or translation.chunks or translation.unmapped or self._buffer.held)
        base = _STRIPED if translation.ordered else _SCATTERED
        step = placement.page if plain and base == _STRIPED else 1 << shift
        offset = start
        while offset < stop:
            unit = offset >> shift
            kind = base if plain else self._kind(unit)
            if kind:
                number = placement.scattered(unit) if kind & _SCATTERED else placement.striped_die(offset)
                if not (dies[number].is_idle(now, from_s) and channels[number % len(channels)].is_idle(from_s)):
                    return offset
            offset += step - offset % step
        return stop

    def _kind(self, unit: int) -> int:
        """How a unit lies on the flash, if it does."""
        translation = self._translation
        held = self._buffer.held
        if unit in held:
            return _NOWHERE
        holder = translation.units.get(unit)
        if holder is not None:
            return _SCATTERED | _CACHED if holder is translation.cache else _SCATTERED
        chunk = unit // translation.chunk_units
        holder = translation.chunks.get(chunk)
        if holder is not None:
            if ~chunk in held:
                return _NOWHERE
            return _STRIPED | _CACHED if holder is translation.cache else _STRIPED
        if translation.unmapped and translation.is_unmapped(unit):
            return _NOWHERE
        return _STRIPED if translation.ordered else _SCATTERED


class Stream:
    """Reads that followed each other.

    Parameters
    ----------
    run
        Bytes read so far.
    end
        Bytes up to which the drive has read.

    Attributes
    ----------
    fetched
        What was read ahead: bytes from which and up to which, and when its first codeword and its last are there (s).
        Those between them come one after the other.
    last
        Number of its last read, of all reads that the drive's read-ahead has seen.
    """

    __slots__ = ("end", "fetched", "last", "run")

    def __init__(self, run: int, end: int) -> None:
        self.run = run
        self.end = end
        self.last = 0
        self.fetched: deque[tuple[int, int, float, float]] = deque()


class ReadAhead:
    """Fetches the bytes after streams of reads.

    Parameters
    ----------
    media
        What is read.
    ahead
        Bytes fetched ahead of a long stream.
    capacity
        Bytes of the drive.

    Attributes
    ----------
    streams
        Those followed, by the byte where the next read of each begins; the least recently read first.
    recent
        Bytes of the reads that are no stream's, by the byte where they end.
    hit
        Whether the last read needed nothing that had not been asked for.
    """

    __slots__ = ("_ahead", "_capacity", "_media", "_reads", "hit", "recent", "streams")

    def __init__(self, media: Media, ahead: int, capacity: int) -> None:
        self._media = media
        self._ahead = ahead
        self._capacity = capacity
        self._reads = 0
        self.streams: dict[int, Stream] = {}
        self.recent: dict[int, int] = {}
        self.hit = False

    def remember(self, end: int, size: int) -> None:
        """A read of `size` bytes that belongs to no stream ended at the byte `end`."""
        if len(self.recent) >= _REMEMBERED:
            self.recent.clear()
        self.recent[end] = size

    def read(self, now: float, arrival: float, offset: int, size: int) -> tuple[float, float]:
        """Read from `arrival` (s) on; when the first codeword and the last are out of the flash (s)."""
        end = offset + size
        streams = self.streams
        self._reads += 1
        stream = streams.pop(offset, None) if streams else None
        if stream is None:
            run = self.recent.get(offset, 0)
            if not (run and self._makes_place()):
                self.remember(end, run + size)
                first, last = self._media.read(now, arrival, offset, size)
                self.hit = self._media.hit
                return first, last
            stream = Stream(run, offset)
        stream.run += size
        stream.last = self._reads
        streams[end] = stream
        first = last = arrival
        begun = False
        fetched = stream.fetched
        while fetched and fetched[0][1] <= offset:
            fetched.popleft()
        for fetched_from, upto, there_from, there in fetched:
            share = 1.0 / (upto - fetched_from)
            if not begun:
                begun = True
                if offset > fetched_from:
                    first_s = there_from + (there - there_from) * share * (offset - fetched_from)
                else:
                    first_s = there_from
                if first_s > first:
                    first = first_s
            if upto > end:
                there = there_from + (there - there_from) * share * (end - fetched_from)
            if there > last:
                last = there
            if upto >= end:
                break
        start = stream.end if stream.end > offset else offset
        self.hit = start >= end
        if start < end:
            read_first, read_last = self._media.read(now, arrival, start, end - start)
            if not begun:
                first = read_first
            if read_last > last:
                last = read_last
            start = end
        run = stream.run
        ahead = self._ahead if self._ahead < run else run
        if start - end <= 3 * ahead // 4:
            from_s = fetched[-1][3] if fetched and fetched[-1][3] > last else last
            stop = self._media.idle_until(now, from_s, start, min(end + ahead, self._capacity))
            if start < stop:
                fetched.append((start, stop, *self._media.read(now, arrival, start, stop - start)))
                start = stop
        stream.end = start
        return first, last

    def _makes_place(self) -> bool:
        """Whether one more stream has a place, if need be that of one that seems to have ended."""
        streams = self.streams
        if len(streams) < STREAMS:
            return True
        oldest = next(iter(streams))
        if self._reads - streams[oldest].last <= _KEPT_READS:
            return False
        del streams[oldest]
        return True
