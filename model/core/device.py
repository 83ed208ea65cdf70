"""The one protocol of everything that holds blocks: what a device can be asked, with neutral answers as defaults.

A device that stands on another one is a :class:`Wrapper`, which passes every question on; a subclass overrides what it
changes. So no caller has to ask whether a device has an ability, and no wrapper can forget one. None of these classes
is an ABC: compiled subclasses of one share the cache of its isinstance.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from mypy_extensions import mypyc_attr

from .discard_limits import DiscardLimits, refused
from .errors import ModelError
from .request import Request


class RowQueue(Protocol):
    """Pieces of I/O that wait for locked rows of a parity array, with the processes that submitted them."""

    @property
    def waits(self) -> bool:
        """Whether a piece waits."""

    def when_free(self, callback: Callable[[], None]) -> None:
        """Call `callback` once when no piece waits any more."""


class BlockedReaders(Protocol):
    """Readers that block inside their submission because a parity array has no free stripe head."""

    def sleeps(self, issuer: int) -> bool:
        """Whether the process blocks."""

    def when_awake(self, issuer: int, callback: Callable[[], None]) -> None:
        """Call `callback` once when the process has submitted everything."""


class SubmitterPlug(Protocol):
    """The plug of the tasks that submit to a queue."""

    queues: int
    """Queues that are plugged with it."""


class SubmissionQueue(Protocol):
    """A queue where a submitting thread can block."""

    spreads: bool
    """Whether a completion is handled on the core that submitted."""

    @property
    def has_room(self) -> bool:
        """Whether nobody blocks here."""

    @property
    def has_write_tag(self) -> bool:
        """Whether a write that merges with nothing gets a tag at once."""

    @property
    def sleepers(self) -> dict[int, Any]:
        """The threads of the host that block in a submission, by issuer."""

    def sleeps(self, issuer: int) -> bool:
        """Whether the thread blocks."""

    def when_awake(self, issuer: int, callback: Callable[[], None]) -> None:
        """Call `callback` once when it does not block any more."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Device:
    """Anything that holds blocks and serves requests.

    Attributes
    ----------
    name
        Shown in results.
    capacity
        Usable size (bytes).
    """

    __slots__ = ("capacity", "name")

    name: str
    capacity: int

    @abstractmethod
    def submit(self, request: Request) -> None:
        """Accept a request; ``request.complete()`` is called when it is complete."""
        raise ModelError(f"{self.name}: this kind of device serves no requests")

    # How requests are queued.

    @property
    def plugs(self) -> bool:
        """Whether :meth:`plug` holds requests back."""
        return False

    def plug(self) -> None:
        """Hold requests back until :meth:`unplug`, so that neighbors merge."""

    def unplug(self) -> None:
        """Send the requests that were held back."""

    @property
    def has_room(self) -> bool:
        """Whether a write can be queued without waiting."""
        return True

    def when_room(self, callback: Callable[[], None]) -> None:
        """Call `callback` once when :attr:`has_room` is true again; at once if the device never fills up."""
        callback()

    def sleeps(self, issuer: int) -> bool:
        """Whether the thread that issues as `issuer` blocks inside its submission."""
        return False

    def when_awake(self, issuer: int, callback: Callable[[], None]) -> None:
        """Call `callback` once when that thread does not block any more."""
        callback()

    def queues(self) -> tuple[SubmissionQueue, ...]:
        """The queues of the device, or below it, where a submitting thread can block."""
        return ()

    @property
    def task_plug(self) -> SubmitterPlug | None:
        """The plug that :meth:`unplug` flushes, where that is all it does."""
        return None

    # What processes wait for above the queue.

    @property
    def row_locks(self) -> RowQueue | None:
        """I/O that waits for locked rows; None for a device that locks none."""
        return None

    @property
    def waiting_readers(self) -> BlockedReaders | None:
        """Readers that wait for stripe heads; None for a device whose readers never do."""
        return None

    # What else it can do, and what it costs.

    @property
    def logical_sector(self) -> int:
        """Bytes of its smallest command; offsets are multiples of it as well."""
        return 512

    def flush(self, done: Callable[[], None]) -> None:
        """Write acknowledged data from volatile caches to the medium, then call `done`."""
        done()

    @property
    def discard_limits(self) -> DiscardLimits:
        """Which discards the device takes."""
        return refused(f"{self.name} takes no discards")

    @property
    def submission_s_per_page(self) -> float:
        """CPU time (s) that the submitter of a page of write-back pays in the device's driver."""
        return 0.0

    @property
    def foreground_bytes(self) -> int:
        """Bytes completed so far, without resync."""
        return 0


def unplugs(device: Device) -> bool:
    """Whether the device may do something when it is unplugged: an array of drives asks only those that may."""
    return type(device).unplug is not Device.unplug


@mypyc_attr(allow_interpreted_subclasses=True)
class Wrapper(Device):
    """A device that stands on another one and passes everything on to it.

    Parameters
    ----------
    device
        The device below.
    name
        Shown in results; the name of the device below if not given.
    """

    __slots__ = ("device",)

    def __init__(self, device: Device, name: str | None = None) -> None:
        self.device = device
        self.name = device.name if name is None else name
        self.capacity = device.capacity

    def submit(self, request: Request) -> None:
        """Pass a request on."""
        self.device.submit(request)

    @property
    def plugs(self) -> bool:
        """See :attr:`Device.plugs`."""
        return self.device.plugs

    def plug(self) -> None:
        """See :meth:`Device.plug`."""
        self.device.plug()

    def unplug(self) -> None:
        """See :meth:`Device.unplug`."""
        self.device.unplug()

    @property
    def has_room(self) -> bool:
        """See :attr:`Device.has_room`."""
        return self.device.has_room

    def when_room(self, callback: Callable[[], None]) -> None:
        """See :meth:`Device.when_room`."""
        self.device.when_room(callback)

    def sleeps(self, issuer: int) -> bool:
        """See :meth:`Device.sleeps`."""
        return self.device.sleeps(issuer)

    def when_awake(self, issuer: int, callback: Callable[[], None]) -> None:
        """See :meth:`Device.when_awake`."""
        self.device.when_awake(issuer, callback)

    def queues(self) -> tuple[SubmissionQueue, ...]:
        """See :meth:`Device.queues`."""
        return self.device.queues()

    @property
    def task_plug(self) -> SubmitterPlug | None:
        """See :attr:`Device.task_plug`."""
        return self.device.task_plug

    @property
    def row_locks(self) -> RowQueue | None:
        """See :attr:`Device.row_locks`."""
        return self.device.row_locks

    @property
    def waiting_readers(self) -> BlockedReaders | None:
        """See :attr:`Device.waiting_readers`."""
        return self.device.waiting_readers

    @property
    def logical_sector(self) -> int:
        """See :attr:`Device.logical_sector`."""
        return self.device.logical_sector

    def flush(self, done: Callable[[], None]) -> None:
        """See :meth:`Device.flush`."""
        self.device.flush(done)

    @property
    def discard_limits(self) -> DiscardLimits:
        """See :attr:`Device.discard_limits`."""
        return self.device.discard_limits

    @property
    def submission_s_per_page(self) -> float:
        """See :attr:`Device.submission_s_per_page`."""
        return self.device.submission_s_per_page

    @property
    def foreground_bytes(self) -> int:
        """See :attr:`Device.foreground_bytes`."""
        return self.device.foreground_bytes


def flush_all(devices: Iterable[Device], done: Callable[[], None]) -> None:
    """Flush several devices at the same time and call `done` when all are through (md_flush_request)."""
    flushed = list(devices)
    left = len(flushed)
    if not left:
        done()
        return

    def one() -> None:
        nonlocal left
        left -= 1
        if not left:
            done()

    for device in flushed:
        device.flush(one)
