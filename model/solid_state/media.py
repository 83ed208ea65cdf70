"""Reading what is on the drive, wherever it is: striped or scattered over the dies, in the buffer, or nowhere.

A read is cut into parts that lie on one die each; it is complete when the last is. What is in the write buffer, and
what holds no data (never written, or deallocated), is there at once: a drive that was never written reads faster than
its flash.

Most drives read ahead of a stream: when a read begins where the last one ended, the next bytes are fetched before
they are asked for, so that a reader with one I/O outstanding does not wait for the dies each time.

Limits: one stream is recognised at a time; what was read ahead of a broken stream is forgotten; what is written
meanwhile into the range read ahead is not noticed.
"""

from __future__ import annotations

from collections import deque

from .flash import CODEWORD, Flash
from .placement import TABLE_MASK
from .spec import SolidStateSpec
from .translation import Translation
from .write_buffer import WriteBuffer

_NOWHERE, _SCATTERED, _STRIPED = 0, 2, 4
_CACHED = 1
_INFINITY = float("inf")


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
        scattered = flash.placement.scattered
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
            sense_s = flash.cached_read_s if kind & _CACHED else flash.read_s
            if kind & _SCATTERED:
                ready = flash.read(now, arrival, scattered(unit), upto - offset, sense_s)
                if ready < first:
                    first = ready
                if ready > last:
                    last = ready
            elif kind:
                for die, part in flash.placement.striped(offset, upto):
                    ready = flash.read(now, arrival, die, part, sense_s)
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
        dies, table, sense_s, inverse_rate = flash.dies, flash.placement.table, flash.read_s, flash.inverse_rate
        first, last = _INFINITY, arrival
        units = range(offset >> shift, (end - 1 >> shift) + 1)
        flash.reads_s += len(units) * sense_s
        whole_s = inverse_rate * max(CODEWORD, 1 << shift)
        for unit in units:
            begin, stop = unit << shift, unit + 1 << shift
            if begin < offset or stop > end:
                across_s = inverse_rate * max(CODEWORD, min(stop, end) - max(begin, offset))
            else:
                across_s = whole_s
            die = dies[table[(unit ^ unit >> 12 ^ unit >> 24) & TABLE_MASK]]
            ready = die.book_channel(now, die.read(arrival, sense_s), across_s)
            if ready < first:
                first = ready
            if ready > last:
                last = ready
        return first, last

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


class ReadAhead:
    """Fetches the bytes after a stream of reads, no more than the stream has read so far.

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
    hit
        Whether the last read needed nothing that had not been asked for.
    """

    __slots__ = ("_ahead", "_capacity", "_end", "_fetched", "_media", "_next", "_run", "hit")

    def __init__(self, media: Media, ahead: int, capacity: int) -> None:
        self._media = media
        self._ahead = ahead
        self._capacity = capacity
        self._end = self._next = self._run = 0
        self._fetched: deque[tuple[int, float]] = deque()  # bytes up to which, and when they are there (s)
        self.hit = False

    def read(self, now: float, arrival: float, offset: int, size: int, streaming: bool) -> float:
        """Read from `arrival` (s) on; when the data are out of the flash (s).

        Parameters
        ----------
        streaming
            Whether it goes on where the last read ended.
        """
        end = offset + size
        if offset != self._next:  # small reads do not come here unless they may be a stream's
            self._fetched.clear()
            self._end = offset
            self._run = 0
        self._next = end
        self._run += size
        if not streaming:
            self._end = end
            ready = self._media.read(now, arrival, offset, size)[1]
            self.hit = self._media.hit
            return ready
        ready = arrival
        fetched = self._fetched
        while fetched and fetched[0][0] <= offset:
            fetched.popleft()
        for upto, there in fetched:
            if there > ready:
                ready = there
            if upto >= end:
                break
        start = self._end if self._end > offset else offset
        self.hit = start >= end
        if start < end:
            ready = max(ready, self._media.read(now, arrival, start, end - start)[1])
            start = end
        ahead = self._ahead if self._ahead < self._run else self._run
        if start - end <= 3 * ahead // 4:
            stop = min(end + ahead, self._capacity)
            if start < stop:
                fetched.append((stop, self._media.read(now, arrival, start, stop - start)[1]))
                start = stop
        self._end = start
        return ready
