"""The thread that rebuilds a member or checks an array: md's speed limits and its politeness.

After every window (124 or 128 KiB) the thread looks at its average speed over the last half minute. Below
``speed_limit_min`` it goes on at once; above it, it sleeps a quarter of a second while the array is not idle or the
speed is over ``speed_limit_max``. "Idle" means that the members have seen no more than 32 sectors of other I/O since
it last found them busy. Linux 2.4 kept disk statistics only for block majors below 16, so for a disk on a later IDE
interface (hde is major 33) it saw an idle array whatever happened, and only the maximum held it back.
Source: drivers/md/md.c, md_do_sync and is_mddev_idle.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from .engine import Engine
from .signal import Signal

_MARKS = 10
_MARK_STEP_S = 3.0
_IDLE_BYTES = 32 * 512


class Resyncable(Protocol):
    """An array that can rebuild a range of its members."""

    @property
    def rebuilding(self) -> frozenset[int]:
        """Slots that take writes but do not hold everything yet."""

    @property
    def foreground_bytes(self) -> int:
        """What the members have completed, but for resync."""

    @property
    def resync_bytes(self) -> int:
        """Bytes per member to rebuild."""

    def resync(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """Rebuild one range."""

    def rebuilt(self, slot: int) -> None:
        """`slot` holds everything again."""


@dataclass(frozen=True, slots=True)
class ResyncSettings:
    """The resync thread of a kernel (bytes, bytes per second, seconds).

    Attributes
    ----------
    speed_min, speed_max
        ``speed_limit_min`` and ``speed_limit_max``.
    request_bytes
        One request.
    window_bytes
        The thread looks at its speed after as much.
    depth
        Requests under way at most.
    nap_s
        How long it sleeps.
    sees_load
        Whether it notices other I/O on the members.
    """

    speed_min: float
    speed_max: float
    request_bytes: int
    window_bytes: int
    depth: int
    nap_s: float = 0.25
    sees_load: bool = True


class Resync:
    """The resync thread of one array.

    Parameters
    ----------
    engine
        The clock.
    array
        What is rebuilt.
    settings
        The kernel's.
    start
        Where the rebuild stands at the beginning of the run (bytes per member).
    warm
        Whether the thread has already been running at its minimum speed (a run that looks at a moment of a long
        rebuild), or starts afresh.
    """

    __slots__ = (
        "_engine",
        "_last_foreground",
        "_marks",
        "_outstanding",
        "_room",
        "array",
        "done_bytes",
        "naps",
        "position",
        "settings",
    )

    def __init__(
        self, engine: Engine, array: Resyncable, settings: ResyncSettings, start: int = 0, warm: bool = True
    ) -> None:
        self._engine = engine
        self.array = array
        self.settings = settings
        self.position = start
        self.done_bytes = 0
        self.naps = 0
        self._outstanding = 0
        self._room: Signal | None = None
        self._last_foreground = 0
        span = _MARKS * _MARK_STEP_S if warm else 0.0
        speed = settings.speed_min if settings.sees_load else settings.speed_max
        self._marks: deque[tuple[float, float]] = deque(maxlen=_MARKS)
        for i in range(_MARKS if warm else 1):
            at = engine.now - span + i * _MARK_STEP_S
            self._marks.append((at, (at - engine.now) * speed))

    def _speed(self) -> float:
        """Average over the marks, as md computes it: whole seconds plus one."""
        now = self._engine.now
        if now >= self._marks[-1][0] + _MARK_STEP_S:
            self._marks.append((now, self.done_bytes))
        mark, bytes_then = self._marks[0]
        return (self.done_bytes - bytes_then) / (int(now - mark) + 1)

    def _idle(self) -> bool:
        if not self.settings.sees_load:
            return True
        seen = self.array.foreground_bytes
        if seen - self._last_foreground <= _IDLE_BYTES:
            return True
        self._last_foreground = seen
        return False

    def _over(self, size: int) -> None:
        self._outstanding -= 1
        self.done_bytes += size
        if self._room is not None:
            room, self._room = self._room, None
            room.fire()

    def run(self) -> Generator[Any, Any, None]:
        """The thread: a SimPy process, over when the array is whole again."""
        settings, end = self.settings, self.array.resync_bytes
        timeout = self._engine.timeout
        window = 0
        while self.position < end:
            size = min(settings.request_bytes, end - self.position)
            self._outstanding += 1
            self.array.resync(self.position, size, partial(self._over, size))
            self.position += size
            window += size
            while self._outstanding >= settings.depth:
                yield self._one_over()
            if window >= settings.window_bytes:
                window = 0
                while True:
                    speed = self._speed()
                    if speed <= settings.speed_min or (speed <= settings.speed_max and self._idle()):
                        break
                    self.naps += 1
                    yield timeout(settings.nap_s)
        while self._outstanding:
            yield self._one_over()
        for slot in sorted(self.array.rebuilding):
            self.array.rebuilt(slot)

    def _one_over(self) -> Signal:
        """A signal that fires when the next request is over."""
        self._room = Signal()
        return self._room
