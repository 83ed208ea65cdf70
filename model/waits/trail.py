"""An I/O's way through the machine: its response time split, without remainder, into service and waits by cause.

An I/O whose waits are accounted has a trail (:attr:`raidsim.model.core.request.Request.trail`): marks, each of which
says what the time since the mark before was spent on. Marks are never changed, so a member I/O goes on from its
parent's trail without a copy, and the member that is complete last gives its own trail back: it is the critical path.
Where one operation serves several I/Os (a merged request, a row of parity), each takes those of its marks that are
later than its own (:func:`followed`). The times of a trail add up to the response time, because each begins where the
one before ends.

Of a load few I/Os have a trail: the first :data:`WHOLE` of a measurement, then one in :data:`SAMPLED` by their order,
which counts for as many. All others have None, and cost a comparison.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from .causes import CAUSES

WHOLE: Final = 500
"""I/Os of a load that are accounted from the beginning of a measurement on."""
SAMPLED: Final = 13
"""After them one in this number is; no power of two is in step with it."""


class Mark:
    """The end of a wait, or of a service.

    Attributes
    ----------
    before
        The mark before; None for the beginning of a trail.
    cause
        What the time since then was spent on; of the beginning of a trail, how many I/Os this one represents.
    until
        When it was over (s).
    """

    __slots__ = ("before", "cause", "until")

    def __init__(self, before: Mark | None, cause: i64, until: float) -> None:
        self.before = before
        self.cause = cause
        self.until = until


def waited(trail: Mark, cause: i64, until: float) -> Mark:
    """The trail, if the time from its last mark until now (s) was spent on `cause`."""
    return Mark(trail, cause, until) if until > trail.until else trail


def followed(own: Mark, other: Mark | None) -> Mark:
    """The trail of an I/O that shared what `other` is the trail of: its own marks, and then the later ones of that."""
    later: list[Mark] = []
    while other is not None and other.until > own.until:
        later.append(other)
        other = other.before
    if other is own and later:
        return later[0]
    for mark in reversed(later):
        own = Mark(own, mark.cause, mark.until)
    return own


def spans(trail: Mark | None) -> list[tuple[int, float, float]]:
    """Cause, beginning and end (s) of all that a trail says, in order."""
    found: list[tuple[int, float, float]] = []
    while trail is not None:
        before = trail.before
        if before is not None:
            found.append((trail.cause, before.until, trail.until))
        trail = before
    found.reverse()
    return found


class WaitTotals:
    """What the I/Os of one direction spent their time on, in sum.

    Attributes
    ----------
    ios
        I/Os that are accounted.
    seconds
        Their time (s) by the number of the cause; each counts as often as it represents others.
    off_s
        The most (s) by which the parts of a response time were off in sum.
    """

    __slots__ = ("ios", "off_s", "seconds")

    def __init__(self) -> None:
        self.ios = 0
        self.seconds: list[float] = [0.0] * len(CAUSES)
        self.off_s = 0.0

    def add(self, trail: Mark, response_s: float) -> None:
        """Count an I/O that took `response_s` (s)."""
        first = trail
        while first.before is not None:
            first = first.before
        if not first.cause:
            return
        self.ios += 1
        weight, seconds = float(first.cause), self.seconds
        mark, before = trail, trail.before
        while before is not None:
            part = mark.until - before.until
            seconds[mark.cause] += weight * part
            response_s -= part
            mark, before = before, before.before
        off_s = abs(response_s)
        if off_s > self.off_s:
            self.off_s = off_s


class IoWaits:
    """What the I/Os spend their time on that one part issues, such as a load.

    Attributes
    ----------
    reads, writes
        Since the measurement began.
    """

    __slots__ = ("_begun", "reads", "writes")

    _begun: i64

    def __init__(self) -> None:
        self._begun = 0
        self.reads, self.writes = WaitTotals(), WaitTotals()

    def begin(self, now: float) -> Mark | None:
        """The beginning of the next I/O's trail; None if it is not accounted."""
        self._begun += 1
        if self._begun <= WHOLE:
            return Mark(None, 1, now)
        return None if self._begun % SAMPLED else Mark(None, SAMPLED, now)

    def end(self, op: i64, trail: Mark, response_s: float) -> None:
        """An I/O is complete, `response_s` (s) after it began."""
        (self.writes if op & 1 else self.reads).add(trail, response_s)
