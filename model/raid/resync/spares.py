"""Members that fail during a run or cannot read a sector, and hot spares that take their place.

A `MemberSlot` stands between an array and the device in one of its slots. When the device fails, what was under way at
it is finished without it: reads are served from the redundancy, writes count as done, since the others hold the data.
A spare is put into the slot at once and rebuilt onto, as md does (drivers/md/md.c, remove_and_add_spares).

A read of an unreadable sector comes back when the drive has given up. It is served from the redundancy; what was read
there is written to the drive, which takes another sector for it, and read again (Linux 6.1: drivers/md/raid1.c,
fix_read_error; raid5.c, R5_ReadError, R5_ReWrite and R5_ReRead). The reader does not wait for these two.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ...core.device import Device, Wrapper
from ...core.engine import Engine
from ...core.errors import ArrayFailed, ModelError
from ...core.join import Parts
from ...core.request import ASYNC, READ, TRIM, WRITE, Completion, Request
from ...layouts import ParityLayout, Raid10Layout
from ..base.array import Array
from ..mirrors.mirror import MirrorArray
from ..mirrors.raid10 import Raid10Array
from ..parity.array import ParityArray
from .thread import Resync

Retry = Callable[[Callable[[], None]], None]
"""Lets a drive try to read a sector until it gives up, and then calls what it is given."""


class UnreadableSectors:
    """A range of a member that its drive cannot read: bytes from `start` to `end`; `readers` wait for its retries."""

    __slots__ = ("end", "readers", "retry", "start")

    def __init__(self, start: int, end: int, retry: Retry) -> None:
        self.start = start
        self.end = end
        self.retry = retry
        self.readers: list[Request] = []


class _UnderWay(Completion):
    """Of what is under way at the device in a slot."""

    __slots__ = ("_slot",)

    def __init__(self, slot: MemberSlot) -> None:
        self._slot = slot

    def done(self, request: Request) -> None:
        """The device has completed it."""
        self._slot.ended(request)


class MemberSlot(Wrapper):
    """The place of a member, whose device can be taken out and replaced.

    Parameters
    ----------
    device
        What is in it.

    Attributes
    ----------
    gone
        Whether the device has failed and nothing has taken its place.
    read_elsewhere
        Serves reads while the slot does not hold everything; None while it does.
    unreadable
        What the device cannot read.
    repair
        Serves a read of that from the others.
    """

    __slots__ = ("_noted", "_under_way", "gone", "read_elsewhere", "repair", "unreadable")

    def __init__(self, device: Device) -> None:
        super().__init__(device)
        self._under_way: dict[Request, Completion] = {}
        self._noted = _UnderWay(self)
        self.gone = False
        self.read_elsewhere: Callable[[Request], None] | None = None
        self.unreadable: list[UnreadableSectors] = []
        self.repair: Callable[[Request], None] | None = None

    def replace_device(self, device: Device) -> None:
        """Put another device into the slot."""
        self.device = device
        self.capacity = device.capacity
        self.gone = False
        self.unreadable = []

    def flush(self, done: Callable[[], None]) -> None:
        """Flush the device, unless it has failed."""
        if self.gone:
            done()
        else:
            self.device.flush(done)

    def submit(self, request: Request) -> None:
        """Pass a request on, and remember it until it is complete."""
        if self.read_elsewhere is not None:  # what was planned before the failure
            if request.op == READ:
                self.read_elsewhere(request)
                return
            if self.gone or (request.op == TRIM and self.discard_limits.refusal):
                request.complete()
                return
        if self.unreadable and self._is_unreadable(request):
            return
        self._pass_on(request)

    def _pass_on(self, request: Request) -> None:
        self._under_way[request] = request.completion
        request.completion = self._noted
        self.device.submit(request)

    def _is_unreadable(self, request: Request) -> bool:
        """Whether a read meets an unreadable sector; it is served then. A write of all of it ends the error."""
        start, end = request.offset, request.offset + request.size
        for bad in list(self.unreadable):
            if request.op != READ:
                if start <= bad.start and bad.end <= end:
                    self.unreadable.remove(bad)
            elif start < bad.end and bad.start < end:
                bad.readers.append(request)
                if len(bad.readers) == 1:
                    bad.retry(partial(self._given_up, bad))
                return True
        return False

    def _given_up(self, bad: UnreadableSectors) -> None:
        """The drive has reported a read error."""
        request, *others = bad.readers
        bad.readers = []
        if bad not in self.unreadable:  # it has been written meanwhile, or the device is another one
            self._again([request, *others])
            return
        self.unreadable.remove(bad)
        completion = request.completion

        def rewrite(_: Request) -> None:
            completion.done(request)
            if not self.gone:
                self.submit(Request(WRITE, bad.start, bad.end - bad.start, reread, request.issuer, ASYNC))
            self._again(others)

        def reread(_: Request) -> None:
            if not self.gone:
                self._again([Request(READ, bad.start, bad.end - bad.start, _nothing, request.issuer, ASYNC)])

        assert self.repair is not None
        self.repair(Request(READ, request.offset, request.size, rewrite, request.issuer, request.sync, request.parent))

    def _again(self, requests: list[Request]) -> None:
        for request in requests:
            self.submit(request)
        self.device.unplug()

    def ended(self, request: Request) -> None:
        """The device has completed a request, perhaps after it has failed."""
        done = self._under_way.pop(request, None)
        if done is not None:  # else the device failed, and the request has been finished without it
            request.completion = done
            done.done(request)

    def take_back(self) -> list[Request]:
        """The device has failed: what was under way at it, as fresh requests."""
        lost = [
            Request(request.op, request.offset, request.size, done, request.issuer, request.sync, request.parent)
            for request, done in self._under_way.items()
        ]
        self._under_way.clear()
        return lost


def _nothing(_: Request) -> None:
    """Nobody waits."""


StartRebuild = Callable[[Callable[[], None]], Resync]
"""Makes a rebuild's or a check's thread from what it calls when it is over."""


class HotSpares:
    """Fails members of an array, and rebuilds onto spares while there are some.

    Parameters
    ----------
    engine
        The clock.
    array
        An array whose members are :class:`MemberSlot`.
    spares
        Devices that take the place of failed ones, in this order; each at least as large as a member. Arrays that
        share their spares have the same list.
    start_rebuild, start_check
        Make the thread that rebuilds or checks the array; it is to call what it is given when it is over. Without the
        second one the array cannot be checked.

    Attributes
    ----------
    rebuilds
        The resync threads started so far, checks among them.
    """

    __slots__ = ("_array", "_check", "_engine", "_spares", "_start_check", "_start_rebuild", "rebuilds")

    def __init__(
        self,
        engine: Engine,
        array: MirrorArray | Raid10Array | ParityArray,
        spares: list[Device],
        start_rebuild: StartRebuild,
        start_check: StartRebuild | None = None,
    ) -> None:
        needed = min(member.capacity for member in array.members)
        for spare in spares:
            _check_size(array, spare, needed)
        if not all(isinstance(member, MemberSlot) for member in array.members):
            raise ModelError(f"{array.name}: members that can fail stand in slots")
        self._engine = engine
        self._array = array
        self._spares = spares
        self._start_rebuild = start_rebuild
        self._start_check = start_check
        self._check: Resync | None = None
        self.rebuilds: list[Resync] = []

    @property
    def left(self) -> int:
        """Spares that are still unused."""
        return len(self._spares)

    def fail_at(self, at: float, slot: int) -> None:
        """The device in `slot` will fail at time `at` (s)."""
        self._engine.call_at(at, lambda _: self.fail(slot))

    def fail(self, slot: int) -> None:
        """The device in `slot` fails now; `ArrayFailed` if the array does not survive that."""
        array = self._array
        if slot in array.rebuilding:
            raise ModelError(f"{array.name}: slot {slot} is being rebuilt, and cannot fail before it is whole")
        array.fail(slot)
        place = self._place(slot)
        lost = place.take_back()
        place.gone = True
        place.read_elsewhere = partial(read_elsewhere, array, slot)
        if self._check is not None:
            self._check.stopped = True
        elif self._spares and not array.rebuilding:
            self._rebuild(slot)
        for request in lost:
            if request.op == READ:
                read_elsewhere(array, slot, request)
            else:
                request.complete()
        array.unplug()

    def insert(self, spare: Device) -> None:
        """A device stands by from now on; if a slot waits for one, it is rebuilt onto."""
        _check_size(self._array, spare, min(member.capacity for member in self._array.members))
        self._spares.append(spare)
        self.fill()

    def scrub(self) -> Resync:
        """Begin to read and compare everything; the failure of a member ends that.

        Raises
        ------
        ModelError
            If a member is missing, or a check is under way.
        """
        array = self._array
        if array.failed:
            raise ModelError(f"{array.name} is degraded, and is not checked before it is whole")
        if self._check is not None or self._start_check is None:
            raise ModelError(f"{array.name} is being checked already, or has nothing that checks it")
        self._check = check = self._start_check(self._checked)
        self.rebuilds.append(check)
        self._engine.spawn(check.run())
        return check

    def _checked(self) -> None:
        self._check = None
        self.fill()

    def spoil(self, slot: int, start: int, size: int, retry: Retry) -> None:
        """The device in `slot` cannot read a range (bytes) from now on, until all of it is written."""
        place = self._place(slot)
        place.repair = partial(self._repair, slot)
        place.unreadable.append(UnreadableSectors(start, start + size, retry))

    def _repair(self, slot: int, request: Request) -> None:
        """Serve a read that the device in `slot` cannot serve."""
        array = self._array
        if not array.survives(array.failed | {slot}):
            lost = ", ".join(array.members[each].name for each in sorted(array.failed))
            name = array.members[slot].name
            raise ArrayFailed(
                f"{array.name}: {name} cannot read byte {request.offset}, and without {lost} data is lost"
            )
        read_elsewhere(array, slot, request)
        array.unplug()

    def fill(self) -> None:
        """Rebuild onto a spare, if there is one, a slot waits for it, and nothing else is being rebuilt or checked."""
        array = self._array
        if self._spares and array.failed and not array.rebuilding and self._check is None:
            self._rebuild(min(array.failed))

    def _place(self, slot: int) -> MemberSlot:
        place = self._array.members[slot]
        assert isinstance(place, MemberSlot)
        return place

    def _rebuild(self, slot: int) -> None:
        array = self._array
        place = self._place(slot)
        place.replace_device(self._spares.pop(0))
        array.rebuild_onto(slot)
        resync = self._start_rebuild(partial(self._next, slot))
        self.rebuilds.append(resync)
        self._engine.spawn(resync.run())

    def _next(self, slot: int) -> None:
        """The rebuild of `slot` is over: the next failed slot gets the next spare."""
        self._place(slot).read_elsewhere = None
        self.fill()


def _check_size(array: Array, spare: Device, needed: int) -> None:
    if spare.capacity < needed:
        raise ModelError(f"{array.name}: spare {spare.name} of {spare.capacity} bytes; at least {needed}")


def read_elsewhere(array: MirrorArray | Raid10Array | ParityArray, slot: int, request: Request) -> None:
    """Serve a member read of the lost `slot` from the other members."""
    sources = _sources(array, slot, request.offset)
    if not sources:
        raise ArrayFailed(f"{array.name}: nothing holds what slot {slot} held at byte {request.offset}")
    over = Parts(len(sources), request)
    for source, offset in sources:
        array.member_reads += 1
        array.members[source].submit(Request(READ, offset, request.size, over, request.issuer, request.sync))


def _sources(array: Array, slot: int, offset: int) -> list[tuple[int, int]]:
    """(slot, byte) of every member read that together gives what `slot` held from `offset` on, within its chunk."""
    layout = array.striping
    if isinstance(layout, ParityLayout):
        return _row_sources(array, layout, slot, offset)
    if isinstance(layout, Raid10Layout):
        row, inside = divmod(offset, layout.chunk_bytes)
        copies = layout.map_copies(layout.chunk_at(slot, row))
        places = [(copy, at * layout.chunk_bytes + inside) for copy, at in copies]
    else:
        places = [(other, offset) for other in range(len(array.members))]
    return [place for place in places if place[0] not in array.failed][:1]


def _row_sources(array: Array, layout: ParityLayout, slot: int, offset: int) -> list[tuple[int, int]]:
    members = layout.row(offset // layout.chunk_bytes)
    others = [*members.data, members.p] if members.q is None else [*members.data, members.p, members.q]
    return [(other, offset) for other in others if other != slot and other not in array.failed]
