"""The way between a hard disk and its host: firmware times and transfers over the drive's interface and the links.

Data of a read flows on while it is still being read (cut-through).
"""

from __future__ import annotations

from ..core.engine import Engine
from ..core.request import Request
from ..links.link import Link, Path
from .activity import DiskActivity
from .mechanics.geometry import SECTOR
from .media import Media
from .spec import DriveSpec


class DiskInterface(DiskActivity):
    """What carries commands and data of one drive.

    Parameters
    ----------
    engine, name, media, concurrent
        As for :class:`~.activity.DiskActivity`.
    spec
        The drive's data.
    path
        Links beyond the drive's own interface, which it shares with others (channel, bus).
    own_cable
        Whether the first link of `path` moves data of no other drive.

    Attributes
    ----------
    path
        The links its data cross, its own interface among them.
    """

    __slots__ = (
        "_after_read",
        "_after_write",
        "_command_s",
        "_hit_s",
        "_landed_s",
        "_paced",
        "_read_done_s",
        "_read_s",
        "_room_s",
        "_slowest_inverse",
        "_slowest_write_inverse",
        "_through",
        "_turned",
        "_turns",
        "_watermark",
        "_write_ahead",
        "_write_data_s",
        "_write_done_s",
        "_write_s",
        "path",
        "spec",
    )

    def __init__(
        self, engine: Engine, name: str, media: Media, concurrent: bool, spec: DriveSpec, path: Path, own_cable: bool
    ) -> None:
        super().__init__(engine, name, media, concurrent)
        self.spec = spec
        if concurrent and not (own_cable and _as_fast(path.links[0], spec.interface_rate)):
            # Data of several commands compete for the drive's own interface, so that is a link as well; but not before
            # a cable that is as fast and nobody else's: what passes the one finds the other free.
            path = Path((Link(f"{name} interface", spec.interface_rate), *path.links))
        self.path = path
        self._through = bool(path.links)
        self._slowest_inverse = 1.0 / min(path.slowest_rate, spec.interface_rate)
        self._slowest_write_inverse = 1.0 / min(path.slowest_write_rate, spec.interface_rate)
        self._hit_s = spec.hit_overhead
        self._command_s = _first(spec.command_time, spec.hit_overhead)
        self._read_s = spec.read_overhead
        self._write_s = spec.write_overhead
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
        self._room_s = 0.0  # when there was room for it

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

    def _bring(self, offset: int, size: int, now: float, at: float) -> float:
        """Make room for `size` bytes from `at` (s) and transfer them; when the last one has arrived (s)."""
        self._room_s = begin = self.media.make_room(offset, size, at)
        end = begin + size * self._slowest_write_inverse
        if self._through:
            across = self.path.reserve(now, begin, size, True)
            if across > end:
                end = across
        self.media.in_flight += size
        self._landed_s = end + self._write_done_s
        return end


def _first(given: float | None, otherwise: float) -> float:
    return otherwise if given is None else given


def _as_fast(cable: Link, rate: float) -> bool:
    """Whether a cable takes exactly the times that a drive's interface with this rate (bytes/s) does."""
    return type(cable) is Link and cable.rate == cable.write_rate == rate and not cable.per_transfer_s
