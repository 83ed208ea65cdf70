"""Where a command of a controller is on its way, as objects that the clock and the array tell: no closure a command."""

from __future__ import annotations

from abc import abstractmethod
from typing import Final

from mypy_extensions import i64

from ..core.device import Device
from ..core.request import Completion, Request
from ..waits.trail import followed

REPLIED: Final = 0
"""The data of a read are at the host."""
CACHED: Final = 1
"""The data of a write are in the memory."""
RECEIVED: Final = 2
"""The data of a write that goes to the array as it comes are in the controller."""
RECEIVED_FAST: Final = 3
"""The same of a write on the fast path."""
WRITTEN: Final = 4
"""The array has written what the host waits for."""
READ_BELOW: Final = 5
"""The array has read what the memory does not keep."""
READ_FAST: Final = 6
"""The same on the fast path."""


class Staged(Device):
    """A device whose commands pass stages."""

    __slots__ = ()

    @abstractmethod
    def reached(self, stage: i64, request: Request) -> None:
        """A request has reached a stage: the host's command, or from `WRITTEN` on a request to the array."""
        raise NotImplementedError

    @abstractmethod
    def keep(self, low: int, high: int) -> None:
        """Bytes of the array have been read for the host."""
        raise NotImplementedError

    @abstractmethod
    def answer(self, request: Request) -> None:
        """All that a read of the host needs is in memory."""
        raise NotImplementedError

    @abstractmethod
    def finish(self, request: Request) -> None:
        """A command of the host is complete."""
        raise NotImplementedError


class Stage(Completion):
    """Tells the controller that a request has reached a stage."""

    __slots__ = ("_staged", "stage")

    def __init__(self, staged: Staged, stage: i64) -> None:
        self._staged = staged
        self.stage = stage

    def done(self, request: Request) -> None:
        """See :meth:`Completion.done`."""
        self._staged.reached(self.stage, request)


class Waiter(Completion):
    """What waits for parts of the memory: the command of a host.

    Attributes
    ----------
    left
        Parts that are to come.
    """

    __slots__ = ("left", "request", "staged")

    def __init__(self, staged: Staged, request: Request, left: i64) -> None:
        self.staged = staged
        self.request = request
        self.left = left

    def part(self) -> None:
        """One part is there."""
        self.left -= 1
        if not self.left:
            self.whole()

    def whole(self) -> None:
        """All parts are there."""
        raise NotImplementedError


class CachedRead(Waiter):
    """A read that goes through the memory; it is the completion of what it reads from the array."""

    __slots__ = ()

    def done(self, request: Request) -> None:
        """What was missing has been read."""
        self.staged.keep(request.offset, request.offset + request.size)
        if request.trail is not None and self.request.trail is not None:
            self.request.trail = followed(self.request.trail, request.trail)
        self.part()

    def whole(self) -> None:
        """See :meth:`Waiter.whole`."""
        self.staged.answer(self.request)


class GatheredWrite(Waiter):
    """A write whose rows are gathered in memory, and acknowledged when the drives have all of them."""

    __slots__ = ()

    def whole(self) -> None:
        """See :meth:`Waiter.whole`."""
        self.staged.finish(self.request)
