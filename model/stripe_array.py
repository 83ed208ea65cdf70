"""Linear arrays and RAID 0 in time: a logical request becomes one member request per extent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from .array import Array, Join, forward
from .engine import Engine
from .errors import ArrayFailed
from .host import Host
from .request import Device, Request


class ExtentLayout(Protocol):
    """A layout without redundancy: where each logical byte is."""

    @property
    def capacity(self) -> int:
        """Usable bytes."""

    def extents(self, offset: int, size: int) -> Iterable[tuple[int, int, int, int]]:
        """(member, member offset, size, logical offset) for every contiguous piece."""


class StripeArray(Array):
    """RAID 0 or linear.

    Parameters
    ----------
    layout
        The address arithmetic.
    """

    __slots__ = ("_extents", "layout")

    def __init__(
        self,
        engine: Engine,
        name: str,
        members: Sequence[Device],
        layout: ExtentLayout,
        host: Host | None = None,
        failed: Iterable[int] = (),
    ) -> None:
        super().__init__(engine, name, members, layout.capacity, host, failed)
        if self.failed:
            raise ArrayFailed(
                f"{name}: RAID 0 and linear arrays survive no failed member, slot {min(self.failed)} has failed"
            )
        self.layout = layout
        self._extents = layout.extents

    def _read(self, request: Request) -> None:
        pieces = list(self._extents(request.offset, request.size))
        op = request.op
        if op:
            self.member_writes += len(pieces)
        else:
            self.member_reads += len(pieces)
        if self.host is not None:
            self._charge(self.host.prices.bio_s * len(pieces))
        if len(pieces) == 1:
            member, offset, size, _ = pieces[0]
            self._submit[member](Request(op, offset, size, forward, request.stream, request.sync, request))
            return
        join = Join(len(pieces), lambda: request.done(request))
        for member, offset, size, _ in pieces:
            self._submit[member](Request(op, offset, size, join.done, request.stream, request.sync))

    _write = _read
