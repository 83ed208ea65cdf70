"""Linear arrays and RAID 0 in time: a logical request becomes one member request per extent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mypy_extensions import i64

from ...core.device import Device
from ...core.discard_limits import DiscardLimits
from ...core.engine import Engine
from ...core.errors import ArrayFailed
from ...core.exact_sums import sum_in_order
from ...core.join import FORWARD, Parts
from ...core.request import TRIM, Request
from ...layouts import Layout, StripedLayout
from ...tasks.host import Host
from ..base.array import Array
from ..mirrors.discard_ranges import MemberRange, striped_ranges


class StripeArray(Array):
    """RAID 0 or linear.

    Parameters
    ----------
    layout
        The address arithmetic.
    """

    __slots__ = ("_chunk_bytes", "_extents", "_width", "layout")

    def __init__(
        self,
        engine: Engine,
        name: str,
        members: Sequence[Device],
        layout: Layout,
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
        # The members that chunks are dealt to in turn; 0 for a layout that does not.
        self._chunk_bytes: i64 = layout.chunk_bytes or 1
        self._width: i64 = layout.width if isinstance(layout, StripedLayout) else 0

    @property
    def striping(self) -> Layout | None:
        """See :attr:`Array.striping`."""
        return self.layout

    @property
    def submission_s_per_page(self) -> float:
        """The mean of the members: each page goes to one of them."""
        prices = [member.submission_s_per_page for member in self._members]
        return sum_in_order(prices) / len(prices)

    def submit(self, request: Request) -> None:
        """See :meth:`Array.submit`; reads and writes are served alike."""
        request.submitted = self._engine._now
        op = request.op
        if op == TRIM:
            self._discard(request)
            return
        width, length = self._width, self._chunk_bytes
        chunk = request.offset // length
        inside = request.offset - chunk * length
        if width and self.host is None and inside + request.size <= length and self._holds(request):
            # The path of every small I/O: what Layout.extents() does for one piece.
            if op:
                self.writes += 1
                self.member_writes += 1
            else:
                self.reads += 1
                self.member_reads += 1
            row = chunk // width
            at = row * length + inside
            below = Request(op, at, request.size, FORWARD, request.issuer, request.sync, request, request.trail)
            self._members[chunk - row * width].submit(below)
            return
        pieces = self._extents(request.offset, request.size)
        count = len(pieces)
        if op:
            self.writes += 1
            self.member_writes += count
        else:
            self.reads += 1
            self.member_reads += count
        if self.host is not None:
            self._charge(self.host.prices.bio_s * count, request.issuer)
        if count == 1:
            member, offset, size, _ = pieces[0]
            below = Request(op, offset, size, FORWARD, request.issuer, request.sync, request, request.trail)
            self._members[member].submit(below)
            return
        join = Parts(count, request)
        for member, offset, size, _ in pieces:
            self._members[member].submit(
                Request(op, offset, size, join, request.issuer, request.sync, trail=request.trail)
            )

    def _holds(self, request: Request) -> bool:
        """Whether the request is within the array."""
        return request.offset >= 0 and 0 < request.size <= self.capacity - request.offset

    def _read(self, request: Request) -> None:
        self.submit(request)

    def _write(self, request: Request) -> None:
        self.submit(request)

    @property
    def discard_limits(self) -> DiscardLimits:
        """What its members take of discards."""
        return self._members_limits()

    def _discard(self, request: Request) -> None:
        offset, size = request.offset, request.size
        layout = self.layout
        if isinstance(layout, StripedLayout):
            ranges: list[MemberRange] = striped_ranges(layout, offset, size)
        else:
            ranges = [(slot, at, length) for slot, at, length, _ in self._extents(offset, size)]
        self._discard_on(ranges, request.issuer, request.complete)
