"""What a solid-state drive counts, what its commands wait for, and the utilization of its parts."""

from __future__ import annotations

from collections import deque

from ..block.in_submission import SubmissionWork
from ..core.device import Device
from ..core.discard import SECTOR
from ..core.discard_limits import DiscardLimits
from ..core.request import FLUSH, READ, WRITE, Request
from ..statistics.usage import Usage
from ..waits.causes import DRIVE_CACHE, DRIVE_QUEUE, ELECTRONICS, FLASH, LINK, SCHEDULER
from ..waits.trail import waited
from .flash import Flash
from .spec import SolidStateSpec
from .timeline import Timeline


class DriveStatistics(Device):
    """Counts of a drive, and of what happened inside since they began.

    Attributes
    ----------
    reads, writes, read_bytes, write_bytes, cache_hits, flushes, trims
        Commands completed, what they moved, and the reads that needed no flash.
    latency_s
        Sum of the time (s) from submission to completion; over elapsed time this is the mean
        number of requests in the drive (Little's law).
    busy_s
        Time (s) with at least one request in the drive, up to the last submission or completion.
    moving_s
        Time (s) of the controller for units that collection moves, and for those of a command after the first, since
        the drive was made.
    """

    __slots__ = (
        "_base",
        "_busy_from",
        "_command_free",
        "_command_s",
        "_down",
        "_driver",
        "_flash",
        "_outstanding",
        "_up",
        "_waiting",
        "busy_s",
        "cache_hits",
        "flushes",
        "latency_s",
        "moving_s",
        "read_bytes",
        "reads",
        "spec",
        "trims",
        "write_bytes",
        "writes",
    )

    name: str
    spec: SolidStateSpec
    _command_free: float
    _command_s: float
    _driver: SubmissionWork | None
    _flash: Flash
    _up: Timeline
    _down: Timeline
    _outstanding: int
    _waiting: deque[Request]
    moving_s: float

    def start_statistics(self, now: float) -> None:
        """Forget what was counted so far (the warm-up); `now` is the current time (s)."""
        self.reads = self.writes = self.flushes = self.trims = self.cache_hits = 0
        self.read_bytes = self.write_bytes = 0
        self.latency_s = self.busy_s = 0.0
        self._busy_from = now
        if self._driver is not None:
            self._driver.busy_s = 0.0
        self._base = self._totals()

    def _count(self, request: Request, now: float) -> None:
        """A command is complete at `now` (s)."""
        self._outstanding -= 1
        self.busy_s += now - self._busy_from
        self._busy_from = now
        self.latency_s += now - request.submitted
        op = request.op
        if op == READ:
            self.reads += 1
            self.read_bytes += request.size
        elif op == WRITE:
            self.writes += 1
            self.write_bytes += request.size
        elif op == FLUSH:
            self.flushes += 1
        else:
            self.trims += 1

    def _occupy(self, seconds: float) -> None:
        """Keep the controller busy for `seconds` after the command that it has just taken."""
        self._command_free += seconds
        self.moving_s += seconds

    def _totals(self) -> dict[str, float]:
        """What the parts have counted since the drive was made, and the commands inside."""
        flash = self._flash
        return {
            "inside": self._outstanding - len(self._waiting),
            "dies": flash.die_busy_s,
            "powered": flash.powered_s,
            "channels": flash.channel_busy_s,
            "up": self._up.busy_s,
            "down": self._down.busy_s,
            "programmed": flash.programmed_bytes,
            "erases": flash.erases,
            "moving": self.moving_s,
        }

    def _since(self, what: str) -> float:
        return self._totals()[what] - self._base[what]

    @property
    def discard_limits(self) -> DiscardLimits:
        """What it takes of discards: any whole sectors."""
        return DiscardLimits(SECTOR, self.spec.largest_trim)

    @property
    def outstanding(self) -> int:
        """Requests in the drive."""
        return self._outstanding

    @property
    def flash_bytes(self) -> int:
        """Bytes written to flash."""
        return int(self._since("programmed"))

    @property
    def write_amplification(self) -> float:
        """Bytes written to flash for each that the host wrote; 0 before it wrote any."""
        return self.flash_bytes / self.write_bytes if self.write_bytes else 0.0

    @property
    def erases(self) -> int:
        """Erases, each of a block of every plane of a die."""
        return int(self._since("erases"))

    @property
    def controller_busy_s(self) -> float:
        """Time (s) the controller has spent on commands, at its largest rate of them, and on what collection moves."""
        completed = self.reads + self.writes + self.flushes + self.trims
        return (completed + self._since("inside")) * self._command_s + self._since("moving")

    @property
    def die_busy_s(self) -> float:
        """Time (s) dies have worked, all together."""
        return self._since("dies")

    @property
    def program_busy_s(self) -> float:
        """Time (s) of programs, all together, where a limited number of dies may program at once."""
        return self._since("powered")

    @property
    def channel_busy_s(self) -> float:
        """Time (s) channels have moved data, all together."""
        return self._since("channels")

    @property
    def interface_busy_s(self) -> float:
        """Time (s) the busier direction of the interface has moved data."""
        return max(self._since("up"), self._since("down"))

    def usages(self, elapsed_s: float) -> list[Usage]:
        """Utilization of the parts inside over `elapsed_s` seconds of statistics; any of them can limit the drive.

        A drive whose driver does its work has one part, the host's cores, and is as busy as they are for it.
        """
        spec, driver = self.spec, self._driver
        if driver is not None:
            share = driver.busy_s / (elapsed_s * driver.cores) if elapsed_s else 0.0
            return [Usage(f"{self.name} driver", "drive's driver", min(1.0, share))]
        parts = [
            ("controller", self.controller_busy_s, 1),
            ("dies", self.die_busy_s, len(self._flash.dies)),
            ("channels", self.channel_busy_s, spec.channels),
            ("interface", self.interface_busy_s, 1),
        ]
        if spec.programs_at_once is not None:
            parts.append(("program power", self.program_busy_s, self._flash.programs_at_once))
        return [
            Usage(
                f"{self.name} {part}", f"drive's {part}", min(1.0, busy_s / (elapsed_s * count)) if elapsed_s else 0.0
            )
            for part, busy_s, count in parts
        ]


def mark_command(request: Request, now: float, decoded: float, ready: float, at: float, durable: bool) -> None:
    """Note the way of a command that is started `now` and complete at `at` (s).

    Its firmware is done at `decoded` (s). At `ready` (s) the flash has given the data of a read, or the buffer has room
    for those of a write; a `durable` write is on flash at the end.
    """
    trail = request.trail
    if trail is None:
        return
    trail = waited(waited(trail, SCHEDULER, request.submitted), DRIVE_QUEUE, now)
    trail = waited(trail, ELECTRONICS, min(decoded, at))
    trail = waited(trail, FLASH if request.op == READ else DRIVE_CACHE, min(ready, at))
    request.trail = waited(trail, FLASH if durable else LINK, at)
