"""What a resync thread does for other I/O: when md takes its array for busy, and what it does then.

Until Linux 4.1 the thread sleeps and looks again (:class:`Nap`), so it is held down to ``speed_limit_min``. Since then
it only waits until its own I/O is done (:class:`Drain`), so it keeps a share that has little to do with the minimum.
Both look at the statistics of the members. I/O that waits for stripe heads, which the resync holds, has not come to a
member, so the array looks idle. Since 6.16 md looks at the array's own I/O (:class:`ArrayDrain`). Source:
drivers/md/md.c, md_do_sync, is_mddev_idle and sync_io_within_limit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from typing import Any, ClassVar, Protocol

from ...core.signal import Signal
from .resyncable import Resyncable
from .settings import ResyncSettings


class Paced(Protocol):
    """A resync thread, as its politeness sees it."""

    array: Resyncable
    settings: ResyncSettings
    outstanding_bytes: int

    @property
    def now(self) -> float:
        """The time (s)."""

    @property
    def outstanding(self) -> int:
        """Requests under way."""

    def speed(self) -> float:
        """Average over the marks."""

    def sleep(self) -> Any:
        """Sleep once, because it is too fast."""

    def rest(self, seconds: float) -> Any:
        """Submit nothing for a time (s)."""

    def drain(self) -> Signal:
        """A signal that fires when none is under way."""


class Politeness(ABC):
    """What a resync thread does for other I/O when it looks at its speed.

    Parameters
    ----------
    resync
        The thread.
    """

    __slots__ = ("_resync",)

    def __init__(self, resync: Paced) -> None:
        self._resync = resync

    @abstractmethod
    def look(self) -> Generator[Any, Any, None]:
        """Look at the speed and at the load; over when the thread may go on."""


class Nap(Politeness):
    """Linux 2.4 to 4.1: sleep and look again, down to the minimum.

    Idle means that the members have seen no more than 32 sectors of other I/O since they were last found busy.
    """

    __slots__ = ("_seen",)
    IDLE_BYTES: ClassVar[int] = 32 * 512

    def __init__(self, resync: Paced) -> None:
        super().__init__(resync)
        self._seen = 0

    def look(self) -> Generator[Any, Any, None]:
        """See :meth:`Politeness.look`."""
        resync = self._resync
        settings = resync.settings
        while True:
            speed = resync.speed()
            if speed <= settings.speed_min or (speed <= settings.speed_max and self._idle()):
                return
            yield resync.sleep()

    def _idle(self) -> bool:
        if not self._resync.settings.sees_load:
            return True
        seen = self._resync.array.foreground_bytes
        if seen - self._seen <= self.IDLE_BYTES:
            return True
        self._seen = seen
        return False


class Drain(Politeness):
    """Linux 4.2 to this day: wait until the thread's own I/O is done, whatever the speed.

    Busy means that a member has seen more than 64 sectors of other I/O since it was last found busy. The member counts
    all I/O when it is complete, and md subtracts its own when that is issued, so md's I/O that is under way makes a
    member look less busy, and more so afterwards.
    """

    __slots__ = ("_seen",)
    IDLE_BYTES: ClassVar[int] = 64 * 512

    def __init__(self, resync: Paced) -> None:
        super().__init__(resync)
        self._seen = [self._count(slot) for slot in range(len(resync.array.members))]

    def look(self) -> Generator[Any, Any, None]:
        """See :meth:`Politeness.look`."""
        resync = self._resync
        settings = resync.settings
        while True:
            speed = resync.speed()
            if speed <= settings.speed_min:
                return
            if speed <= settings.speed_max:
                break
            yield resync.sleep()
        if not self._idle() and resync.outstanding:
            yield resync.drain()

    def _count(self, slot: int) -> int:
        array = self._resync.array
        issued: int = array.daemon_resync_bytes[slot] + array.resync_under_way[slot]
        return array.members[slot].foreground_bytes - issued

    def _idle(self) -> bool:
        if not self._resync.settings.sees_load:
            return True
        idle = True
        for slot in range(len(self._seen)):
            seen = self._count(slot)
            if seen - self._seen[slot] > self.IDLE_BYTES:
                self._seen[slot] = seen
                idle = False
        return idle


class ArrayDrain(Politeness):
    """Linux 6.16 to this day: as :class:`Drain`, but the array's own I/O tells whether it is busy.

    Busy means that the array has I/O under way, or has completed some since the last look. The thread looks only once
    ``sync_io_depth`` of its requests are under way: 32 blocks of 4 KiB on RAID 4, 5 and 6, 32 of 64 KiB on mirrors.
    """

    __slots__ = ("_load", "_seen")

    def __init__(self, resync: Paced) -> None:
        super().__init__(resync)
        self._load = resync.array.watch_load()
        self._seen = 0

    def look(self) -> Generator[Any, Any, None]:
        """See :meth:`Politeness.look`."""
        resync = self._resync
        settings = resync.settings
        while resync.speed() > settings.speed_max:
            yield resync.sleep()
        if resync.speed() <= settings.speed_min or resync.outstanding_bytes < settings.unseen_bytes:
            return
        if not self._idle() and resync.outstanding:
            yield resync.drain()

    def _idle(self) -> bool:
        load, seen = self._load, self._seen
        self._seen = load.completed_bytes
        return not load.under_way and load.completed_bytes == seen


class Share(Politeness):
    """Firmware of a hardware controller: a share of the time (its "rebuild rate") while there is other I/O.

    It works, waits until its own I/O is done, and rests in proportion to how long it worked. On an idle array it does
    not rest. Source: MegaRAID SAS Software User Guide, "Rebuild Rate": the share of the controller's resources that a
    rebuild gets, 30 % as shipped; at 100 % a rebuild goes before everything else.
    """

    __slots__ = ("_seen", "_since")

    def __init__(self, resync: Paced) -> None:
        super().__init__(resync)
        self._seen = resync.array.foreground_bytes
        self._since = resync.now

    def look(self) -> Generator[Any, Any, None]:
        """See :meth:`Politeness.look`."""
        resync = self._resync
        share = resync.settings.share
        while resync.speed() > resync.settings.speed_max:
            yield resync.sleep()
        seen = resync.array.foreground_bytes
        if seen != self._seen and share < 1.0:
            if resync.outstanding:
                yield resync.drain()
            yield resync.rest((resync.now - self._since) * (1.0 - share) / share)
        self._seen = resync.array.foreground_bytes
        self._since = resync.now


POLITENESS: dict[tuple[str, str], type[Politeness]] = {
    ("nap", "members"): Nap,
    ("drain", "members"): Drain,
    ("drain", "array"): ArrayDrain,
    ("share", "members"): Share,
}
"""By what the thread does when the array is busy, and by whose I/O tells that it is."""
