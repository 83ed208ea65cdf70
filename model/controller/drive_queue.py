"""A RAID controller's queue of one drive: neighbors in one command, the host's reads before destaging.

Firmware builds the longest command it can of what waits for a drive, because a drive without a write cache of its own
misses a revolution between two commands, however near they are. What the host waits for goes before what only empties
the cache (Varma and Jacobson, "Destage algorithms for disk arrays with nonvolatile caches", IEEE Transactions on
Computers 47(2), 1998: destaging is background work), but not for ever: destaging that has waited too long takes turns
with the host's commands. In a full cache enough of it waits that a larger share would reverse the order: every
read would stand behind all of it. Either kind is served in rising order of address and round again.

A command on the fast path is not seen by the firmware that does this: it goes to the drive as the host sent it, in the
order of arrival, and is merged with nothing.
"""

from __future__ import annotations

from collections import deque

from ..block.single_queue import BlockQueue
from ..core.request import ASYNC, PREREAD_ISSUER, WRITE, Request
from ..schedulers.address_order import AddressOrder, ArrivalOrder
from ..schedulers.base import QueuedRequest, Scheduler, parts_of

FAST_PATH = 1 << 40
"""Added to the issuer of a request that takes the fast path, so that the drive's queue knows it."""


class DriveQueue(BlockQueue):
    """The queue of a drive behind a controller: a command on the fast path costs the firmware nothing here."""

    __slots__ = ()

    def _complete(self, queued: QueuedRequest) -> None:
        if queued.issuer < FAST_PATH:
            self._host.complete_command()


class Scan:
    """Commands in rising order of address and round again, and in order of arrival."""

    __slots__ = ("_by_address", "_by_arrival", "_position")

    def __init__(self) -> None:
        self._by_address = AddressOrder()
        self._by_arrival = ArrivalOrder()
        self._position = 0

    @property
    def count(self) -> int:
        """How many there are."""
        return self._by_address.count

    def add(self, queued: QueuedRequest) -> None:
        """Put a command in."""
        self._by_address.add(queued)
        self._by_arrival.add(queued)

    def remove(self, queued: QueuedRequest) -> None:
        """Take a command out."""
        self._by_address.remove(queued)
        self._by_arrival.remove(queued)

    def begins_earlier(self, queued: QueuedRequest) -> None:
        """A command has been merged with what lies before it."""
        self._by_address.remove(queued)
        self._by_address.add(queued)

    def oldest(self) -> float:
        """When the command that has waited longest came (s); there is one."""
        oldest = self._by_arrival.oldest
        assert oldest is not None
        return oldest.arrived

    def take(self) -> QueuedRequest:
        """The next command in order, taken out; there is one."""
        queued = self._by_address.from_position(self._position) or self._by_address.first()
        assert queued is not None
        self.remove(queued)
        self._position = queued.offset + queued.size
        return queued

    def take_neighbour(self, op: int, most: int) -> QueuedRequest | None:
        """The command that goes on where the last one taken ended, taken out; None if it is longer than `most`."""
        queued = self._by_address.from_position(self._position)
        if queued is None or queued.offset != self._position or queued.op != op or queued.size > most:
            return None
        return self.take()


class DriveOrder(Scheduler):
    """What a controller gives to a drive next.

    Parameters
    ----------
    max_bytes
        Largest command to the drive (bytes); longer requests are cut.
    background_wait_s
        Destaging that has waited longer than this (s) takes turns with the host's commands.
    """

    __slots__ = (
        "_background",
        "_background_wait_s",
        "_direct",
        "_foreground",
        "_host_had_turn",
        "_in_background",
        "_number",
    )

    def __init__(self, max_bytes: int, background_wait_s: float) -> None:
        super().__init__(max_bytes)
        self._background_wait_s = background_wait_s
        self._foreground = Scan()
        self._background = Scan()
        self._direct: deque[QueuedRequest] = deque()
        self._host_had_turn = True
        self._in_background: set[QueuedRequest] = set()
        self._number = 0

    def add(self, request: Request, now: float) -> None:
        """Queue `request` in parts of at most `max_bytes`, each merged with a neighbor where there is one.

        What takes the fast path is within one chunk, and is queued as it is.
        """
        if request.issuer >= FAST_PATH:
            if request.op == WRITE:
                self.writes += 1
            else:
                self.reads += 1
            self._direct.append(QueuedRequest(request, now, self.done))
            return
        if request.size <= self.max_bytes:
            super().add(request, now)
            return
        for part in parts_of(request, self.max_bytes):
            super().add(part, now)

    def _insert(self, queued: QueuedRequest, now: float) -> None:
        self._number += 1
        queued.number = self._number
        if _awaited(queued):
            self._foreground.add(queued)
        else:
            self._in_background.add(queued)
            self._background.add(queued)

    def _merged(self, queued: QueuedRequest, request: Request, now: float) -> None:
        background = queued in self._in_background
        if background and _awaited(request):
            self._in_background.remove(queued)
            self._background.remove(queued)
            self._number += 1
            queued.number = self._number
            self._foreground.add(queued)
        elif queued.offset != queued.position:
            (self._background if background else self._foreground).begins_earlier(queued)

    def next(self, now: float) -> QueuedRequest | None:
        """The host's next command, or the next one of destaging if there is none or if it is its turn."""
        background, foreground, direct = self._background, self._foreground, self._direct
        if background.count:
            overdue = self._host_had_turn and now - background.oldest() > self._background_wait_s
            if overdue or not (foreground.count or direct):
                self._host_had_turn = False
                return self._longest(background)
        self._host_had_turn = True
        if direct and (not foreground.count or direct[0].arrived <= foreground.oldest()):
            return self._take(direct.popleft())
        return self._longest(foreground) if foreground.count else None

    def _longest(self, scan: Scan) -> QueuedRequest:
        """The next command of `scan` with its neighbors that came before what lay between them."""
        queued = self._taken(scan.take())
        while (neighbour := scan.take_neighbour(queued.op, self.max_bytes - queued.size)) is not None:
            self._taken(neighbour)
            queued.size += neighbour.size
            queued.absorb(neighbour)
            queued.sync = max(queued.sync, neighbour.sync)
        return queued

    def _taken(self, queued: QueuedRequest) -> QueuedRequest:
        self._in_background.discard(queued)
        return self._take(queued)


def _awaited(request: Request) -> bool:
    """Whether the host waits for it: not if it is written from the cache, nor if it is read for parity."""
    return request.sync != ASYNC and request.issuer != PREREAD_ISSUER
