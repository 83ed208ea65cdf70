"""Prefetch of a file or volume (zfetch of OpenZFS 2.3): streams of sequential reads, and how far ahead each reads.

A stream begins where a read ends, and its first hit is the second sequential read. The distance doubles with each hit
up to 4 MiB; from there it grows by an eighth, up to 64 MiB, when a reader has overtaken a prefetch. Reads up to
16 MiB ahead of a stream are remembered, and belong to it when three quarters of the gap are filled.
Source: module/zfs/dmu_zfetch.c.
"""

from __future__ import annotations

from mypy_extensions import i64

from .settings import PrefetchSettings

_RANGES = 9
_LONGEST = 65535


class Stream:
    """A run of sequential reads.

    Attributes
    ----------
    position
        Block that the next read is expected at.
    overtaken
        Whether a prefetch completed after a reader had come by; the owner sets it.
    """

    __slots__ = ("distance", "end", "missed", "overtaken", "position", "ranges", "start", "used")

    def __init__(self, position: i64, used: i64) -> None:
        self.position = position
        self.used = used
        self.distance: i64 = 0
        self.start = position
        self.end = position
        self.missed = False
        self.overtaken = False
        self.ranges: list[tuple[int, int]] = []

    def hit(self, blocks: i64) -> i64:
        """Go on by `blocks`, and over the remembered reads that follow; returns by how many blocks it went on."""
        ranges = self.ranges
        if ranges:
            index = 0
            while index < len(ranges) and ranges[index][0] <= blocks:
                index += 1
                if ranges[index - 1][1] >= blocks:
                    blocks = ranges[index - 1][1]
                    break
            self.ranges = [(start - blocks, end - blocks) for start, end in ranges[index:]]
        self.position += blocks
        return blocks

    def copied(self) -> Stream:
        """Another one as it is now."""
        other = Stream(self.position, self.used)
        other.distance, other.start, other.end = self.distance, self.start, self.end
        other.missed, other.overtaken, other.ranges = self.missed, self.overtaken, [*self.ranges]
        return other

    def remember(self, block: i64, blocks: i64, hole_shift: int) -> i64:
        """Note a read ahead of the stream; returns by how many blocks the stream goes on, if its gap is filled."""
        first, last = int(block - self.position), int(block - self.position + blocks)
        ranges = self.ranges
        touching = [each for each in ranges if each[0] <= last and each[1] >= first]
        if not touching and len(ranges) == _RANGES:
            return 0
        if touching:
            first, last = min(first, touching[0][0]), max(last, touching[-1][1])
        ranges = self.ranges = sorted([each for each in ranges if each not in touching] + [(first, last)])
        hole = end = filled = 0
        for start, following in ranges:
            hole += start - end
            end = following
            if hole <= end >> hole_shift:
                filled = end
        return self.hit(filled) if filled else 0


class Prefetch:
    """The streams of one file or volume.

    Parameters
    ----------
    settings
        Module parameters.
    blocks
        How many blocks it has.
    block_bytes
        Bytes of a block.
    """

    __slots__ = ("_block_bytes", "_blocks", "_max_reorder", "_max_streams", "_settings", "_shift", "streams")

    def __init__(self, settings: PrefetchSettings, blocks: i64, block_bytes: int) -> None:
        self._settings = settings
        self._blocks = blocks
        self._block_bytes = block_bytes
        self._shift: i64 = block_bytes.bit_length() - 1
        self._max_reorder: i64 = min((settings.max_reorder >> self._shift) + 1, _LONGEST)
        bytes_ahead = (blocks - 1) << self._shift
        self._max_streams: i64 = max(1, min(settings.max_streams, bytes_ahead // settings.max_distance))
        self.streams: list[Stream] = []

    def copied(self) -> Prefetch:
        """Another one as it is now."""
        other = Prefetch(self._settings, self._blocks, self._block_bytes)
        other.streams = [stream.copied() for stream in self.streams]
        return other

    def read(self, block: i64, blocks: i64, now: float, busy: bool = False) -> Stream | None:
        """A reader asks for blocks `now` (s); returns the stream that reads ahead for it, or None.

        With `busy` prefetches under way fill a sixteenth of the ARC, and the distance does not double.
        """
        settings, last = self._settings, self._blocks - 1
        if settings.disabled or last < 2:
            return None
        second = i64(now)
        end = block + blocks
        streams = self.streams
        for stream in streams:
            ahead = block - stream.position
            if ahead == 0 or ahead == -1:
                return self._go_on(stream, stream.hit(blocks + ahead), second, busy)
        for stream in streams:
            position = stream.position
            if block > position:
                if end <= position + self._max_reorder:
                    return self._go_on(stream, stream.remember(block, blocks, settings.hole_shift), second, busy)
            elif end >= position:
                return self._go_on(stream, stream.hit(end - position), second, busy)
            elif end + self._max_reorder > position and stream.used >= second - settings.max_reap_s:
                stream.used = second
                return None
        if end < last:
            self._begin(end, second)
        return None

    def run(self, stream: Stream, missed: bool) -> tuple[int, int]:
        """From which block to which (not included) a stream reads now; `missed`: its reader has to wait for a block."""
        if missed:
            stream.missed = True
        if not stream.missed:
            return 0, 0
        start = stream.start
        stream.start = stream.end
        return start, min(stream.end, self._blocks)

    def _go_on(self, stream: Stream, blocks: i64, second: i64, busy: bool) -> Stream | None:
        stream.used = second
        if not blocks:
            return None
        settings, end = self._settings, stream.position
        if end >= self._blocks - 1:
            self.streams.remove(stream)
            return None
        distance, asked = stream.distance, blocks << self._shift
        if distance < asked:
            distance = asked
        elif distance < settings.min_distance and (distance < (1 << self._shift) or not busy):
            distance *= 2
        elif stream.overtaken:
            distance += distance // 8
        stream.overtaken = False
        stream.distance = min(distance, settings.max_distance)
        stream.start = max(stream.start, end)
        stream.end = max(stream.end, end + (stream.distance >> self._shift))
        return stream

    def _begin(self, position: i64, second: i64) -> None:
        """A new stream, unless there are too many that are in use."""
        settings = self._settings
        streams = [each for each in self.streams if each.used >= second - settings.max_reap_s]
        if len(streams) >= self._max_streams:
            idle = [each for each in streams if each.used < second - settings.min_reap_s]
            if not idle:
                self.streams = streams
                return
            oldest = idle[0]
            for each in idle:
                if each.used <= oldest.used:
                    oldest = each
            streams.remove(oldest)
        # Until its first hit any other stream may take its place.
        self.streams = [Stream(position, second - settings.min_reap_s), *streams]
