"""Members that fail during a run, and hot spares that take their place.

A `MemberSlot` stands between an array and the device in one of its slots. When the device fails, what was under way at
it is finished without it: reads are served from the redundancy, writes count as done, since the others hold the data.
A spare is put into the slot at once and rebuilt onto, as md does (drivers/md/md.c, remove_and_add_spares).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ...core.device import Device, Wrapper
from ...core.engine import Engine
from ...core.errors import ArrayFailed, ModelError
from ...core.join import Join
from ...core.request import READ, TRIM, Request
from ...layouts import ParityLayout, Raid10Layout
from ..base.array import Array
from ..mirrors.mirror import MirrorArray
from ..mirrors.raid10 import Raid10Array
from ..parity.array import ParityArray
from .thread import Resync


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
    """

    __slots__ = ("_under_way", "gone", "read_elsewhere")

    def __init__(self, device: Device) -> None:
        super().__init__(device)
        self._under_way: dict[Request, Callable[[Request], None]] = {}
        self.gone = False
        self.read_elsewhere: Callable[[Request], None] | None = None

    def replace_device(self, device: Device) -> None:
        """Put another device into the slot."""
        self.device = device
        self.capacity = device.capacity
        self.gone = False

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
                request.done(request)
                return
        self._under_way[request] = request.done
        request.done = self._done
        self.device.submit(request)

    def _done(self, request: Request) -> None:
        done = self._under_way.pop(request, None)
        if done is not None:  # else the device failed, and the request has been finished without it
            request.done = done
            done(request)

    def take_back(self) -> list[Request]:
        """The device has failed: what was under way at it, as fresh requests."""
        lost = [
            Request(request.op, request.offset, request.size, done, request.issuer, request.sync, request.parent)
            for request, done in self._under_way.items()
        ]
        self._under_way.clear()
        return lost


StartRebuild = Callable[[Callable[[], None]], Resync]
"""Makes a rebuild's thread from what it calls when it is over."""


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
    start_rebuild
        Makes the thread that rebuilds the array; it is to call what it is given when it is over.

    Attributes
    ----------
    rebuilds
        The resync threads started so far.
    """

    __slots__ = ("_array", "_engine", "_spares", "_start_rebuild", "rebuilds")

    def __init__(
        self,
        engine: Engine,
        array: MirrorArray | Raid10Array | ParityArray,
        spares: list[Device],
        start_rebuild: StartRebuild,
    ) -> None:
        needed = min(member.capacity for member in array.members)
        for spare in spares:
            if spare.capacity < needed:
                raise ModelError(f"{array.name}: spare {spare.name} of {spare.capacity} bytes; at least {needed}")
        if not all(isinstance(member, MemberSlot) for member in array.members):
            raise ModelError(f"{array.name}: members that can fail stand in slots")
        self._engine = engine
        self._array = array
        self._spares = spares
        self._start_rebuild = start_rebuild
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
        if self._spares and not array.rebuilding:
            self._rebuild(slot)
        for request in lost:
            if request.op == READ:
                read_elsewhere(array, slot, request)
            else:
                request.done(request)
        array.unplug()

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
        if self._spares and self._array.failed:
            self._rebuild(min(self._array.failed))


def read_elsewhere(array: MirrorArray | Raid10Array | ParityArray, slot: int, request: Request) -> None:
    """Serve a member read of the lost `slot` from the other members."""
    sources = _sources(array, slot, request.offset)
    if not sources:
        raise ArrayFailed(f"{array.name}: nothing holds what slot {slot} held at byte {request.offset}")
    over = Join(len(sources), lambda: request.done(request)).done
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
