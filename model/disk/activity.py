"""What a hard disk has done: commands, bytes and utilization, in the views of the host and of its mechanics.

A disk is busy in more than one sense. The host sees a command inside the drive. The mechanics work when the arm moves,
waits for the platter, or passes over data that is asked for or written, also when no command is inside: the drive
writes its cache back, or moves a media cache home. The two differ in both directions. A drive that serves reads from
its buffer has commands inside while the arm rests; one that destages all day has its arm at work and the host sees
a few microseconds of each write.

What is read ahead counts as work when the host asks for it, and not at all if it never does.
"""

from __future__ import annotations

from ..core.device import Device
from ..core.engine import Engine
from .media import Media


class DiskActivity(Device):
    """The counters of one drive.

    Parameters
    ----------
    engine
        The clock.
    name
        Shown in results.
    media
        Head, platters and buffer.
    concurrent
        Whether the drive queues commands. One that does not serves one at a time, so its host's view counts as well.

    Attributes
    ----------
    reads, writes, read_bytes, write_bytes, cache_hits, flushes
        Commands completed, what they moved, and the reads that the buffer served.
    latency_s
        Sum of the time (s) from submission to completion; over elapsed time this is the mean
        number of requests in the drive (Little's law).
    busy_s
        Time (s) with at least one request in the drive, up to the last submission or completion; see :attr:`inside_s`.
    """

    __slots__ = (
        "_busy_from",
        "_concurrent",
        "_engine",
        "_outstanding",
        "_processor_from",
        "_processor_s",
        "_under_way_s",
        "busy_s",
        "cache_hits",
        "flushes",
        "latency_s",
        "media",
        "read_bytes",
        "reads",
        "write_bytes",
        "writes",
    )

    def __init__(self, engine: Engine, name: str, media: Media, concurrent: bool) -> None:
        self._engine = engine
        self.name = name
        self.media = media
        self.capacity = media.geometry.capacity
        self._concurrent = concurrent
        self._outstanding = 0
        self._processor_from = 0.0  # from when the processor can serve another command that needs no head
        self._busy_from = 0.0
        self.start_statistics(0.0)

    def start_statistics(self, now: float) -> None:
        """Forget what was counted so far (the warm-up); `now` is the current time (s)."""
        self.reads = self.writes = self.flushes = self.cache_hits = 0
        self.read_bytes = self.write_bytes = 0
        self.latency_s = self.busy_s = self._processor_s = 0.0
        self._busy_from = now
        media = self.media
        media.settle(now)
        self._under_way_s = media.booked(now)
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
    def inside_s(self) -> float:
        """Time (s) until now with at least one request in the drive."""
        return self.busy_s + (self._engine._now - self._busy_from if self._outstanding else 0.0)

    @property
    def mechanics_s(self) -> float:
        """Time (s) until now that the mechanics worked: seeks, rotation and transfer, for commands and for caches."""
        media, now = self.media, self._engine._now
        media.settle(now)
        worked: float = self._under_way_s + media.seek_s + media.rotation_s + media.transfer_s - media.booked(now)
        return worked if worked > 0.0 else 0.0

    @property
    def processor_s(self) -> float:
        """Time (s) until now that the processor served commands that need no head, of a drive that queues commands."""
        later = self._processor_from - self._engine._now
        return self._processor_s - later if later > 0.0 else self._processor_s

    @property
    def working_s(self) -> float:
        """Time (s) until now that the drive could not have given to other commands.

        That is :attr:`mechanics_s` or :attr:`processor_s`, whichever is longer; of a drive that serves one command at a
        time at least the time with one inside.
        """
        return max(self.mechanics_s, self.processor_s if self._concurrent else self.inside_s)

    def _occupy_processor(self, begin: float, seconds: float) -> None:
        """Keep the processor busy for `seconds` from `begin` (s), when it is free."""
        self._processor_s += seconds
        self._processor_from = begin + seconds

    @property
    def dirty_bytes(self) -> int:
        """Bytes in the write cache that are not on the platters now."""
        return self.media.unwritten(self._engine._now)

    @property
    def outstanding(self) -> int:
        """Requests in the drive."""
        return self._outstanding
