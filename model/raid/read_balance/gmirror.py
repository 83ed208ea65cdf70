"""Read balance of FreeBSD's gmirror, as of FreeBSD 6.2.

Four algorithms, chosen when the mirror is labeled; ``gmirror label`` took `split` with slices of 4,096 bytes if not
told otherwise (sbin/geom/class/mirror/geom_mirror.c). Slots are in gmirror's order, highest priority first. None of the
four keeps a sequential reader on its disk unless asked to (`prefer`). The `load` of FreeBSD 8 and later, which counts
requests and looks at where the last one ended, is another algorithm under the same name.

Source: sys/geom/mirror/g_mirror.c of 2006: g_mirror_get_disk, g_mirror_request_round_robin, _load, _split, _prefer,
g_mirror_update_delay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...core.errors import ModelError
from ...core.request import READ, Request
from .base import SECTOR, ReadBalance
from .gmirror_options import PreferOptions, SplitOptions
from .options import Mirrors


class GmirrorRoundRobin(ReadBalance):
    """Each read to the next mirror, whatever it reads."""

    __slots__ = ("_hint",)
    name = "gmirror-round-robin"

    def __init__(self, mirrors: int) -> None:
        super().__init__(mirrors)
        self._hint = 0

    def choose(self, request: Request, candidates: Sequence[int], offsets: Sequence[int] | None = None) -> int:
        """See the class."""
        hint = self._hint
        slot = hint if hint in candidates else _following(hint, candidates)
        self._hint = _following(slot, candidates)
        return slot


class GmirrorSplit(GmirrorRoundRobin):
    """Each read longer than a slice is cut into equal parts, one for every mirror; others go round robin.

    Parameters
    ----------
    slice_bytes
        Reads up to this long are not cut.
    """

    __slots__ = ("slice_bytes",)
    name = "gmirror-split"
    only_raid1 = True
    Options = SplitOptions

    def __init__(self, mirrors: int, slice_bytes: int = 4096) -> None:
        super().__init__(mirrors)
        self.slice_bytes = slice_bytes

    @classmethod
    def for_members(cls, mirrors: Mirrors, options: SplitOptions) -> GmirrorSplit:
        """See :meth:`ReadBalance.for_members`."""
        return cls(len(mirrors.names), options.slice)

    def divide(self, request: Request, candidates: Sequence[int]) -> list[tuple[int, int, int]]:
        """(slot, offset, size) of the parts; each but the last is the length over the mirrors, in whole sectors."""
        offset, left = request.offset, request.size
        if left <= self.slice_bytes:
            return [(self.choose(request, candidates), offset, left)]
        part = -(-(left // len(candidates)) // SECTOR) * SECTOR
        parts = []
        for slot in candidates:
            size = min(part, left)
            parts.append((slot, offset, size))
            offset += size
            left -= size
            if not left:
                break
        return parts


class GmirrorLoad(ReadBalance):
    """The mirror whose last request took the shortest time; one not read from for two seconds is tried again.

    A request's time runs from when gmirror sends it to its completion and so counts the queue in front of it. Until a
    mirror has completed something its time is zero, and of equals the first is taken. The seconds are whole ones.
    """

    __slots__ = ("_clock", "_delay_s", "_sent_s", "_used_s")
    name = "gmirror-load"
    only_raid1 = True
    RETRY_S = 2

    def __init__(self, mirrors: int) -> None:
        super().__init__(mirrors)
        self._clock: Callable[[], float] = _stopped
        self._delay_s = [0.0] * mirrors
        self._sent_s: list[dict[int, list[float]]] = [{} for _ in range(mirrors)]
        self._used_s = [0.0] * mirrors

    def use_clock(self, clock: Callable[[], float]) -> None:
        """See :meth:`ReadBalance.use_clock`."""
        self._clock = clock

    def choose(self, request: Request, candidates: Sequence[int], offsets: Sequence[int] | None = None) -> int:
        """See the class."""
        if offsets is not None:
            raise ModelError("gmirror-load: the time of a request is known on RAID 1 only, not on RAID 10")
        second = int(self._clock())
        best = candidates[0]
        for slot in candidates:
            if second - int(self._used_s[slot]) >= self.RETRY_S:
                return slot
            if self._delay_s[slot] < self._delay_s[best]:
                best = slot
        return best

    def started(self, slot: int, request: Request) -> None:
        """Remember when the request was sent; reads alone count as use."""
        super().started(slot, request)
        now = self._clock()
        if request.op == READ:
            self._used_s[slot] = now
        self._sent_s[slot].setdefault(request.offset + request.size, []).append(now)

    def ended(self, slot: int, end: int) -> None:
        """The time of the last request of a mirror is all that is kept of it."""
        super().ended(slot, end)
        sent_s = self._sent_s[slot]
        times = sent_s[end]
        self._delay_s[slot] = self._clock() - times.pop(0)
        if not times:
            del sent_s[end]


class GmirrorPrefer(ReadBalance):
    """The mirror of the highest priority that there is.

    Parameters
    ----------
    preferred
        The slot that comes first; the others follow in slot order.
    """

    __slots__ = ("preferred",)
    name = "gmirror-prefer"
    only_raid1 = True
    Options = PreferOptions

    def __init__(self, mirrors: int, preferred: int = 0) -> None:
        super().__init__(mirrors)
        self.preferred = preferred

    @classmethod
    def for_members(cls, mirrors: Mirrors, options: PreferOptions) -> GmirrorPrefer:
        """See :meth:`ReadBalance.for_members`."""
        names = mirrors.names
        return cls(len(names), names.index(options.prefer) if options.prefer in names else 0)

    def choose(self, request: Request, candidates: Sequence[int], offsets: Sequence[int] | None = None) -> int:
        """See the class."""
        return self.preferred if self.preferred in candidates else candidates[0]


def _stopped() -> float:
    """The clock of a policy that was given none."""
    return 0.0


def _following(slot: int, candidates: Sequence[int]) -> int:
    """The candidate after `slot`, around the end."""
    return next((other for other in candidates if other > slot), candidates[0])
