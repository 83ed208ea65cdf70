"""Stripe heads that writes are in, as runs: neighboring heads of a row about which the same is known and wanted.

md looks at every 4 KiB head separately; heads of one row that were written together also go the same way, so they are
kept as one run and split only when a write covers a part of them.
"""

from __future__ import annotations

from collections.abc import Callable

from mypy_extensions import i64

from ...core.request import WRITE_THROUGH, Completion, Request
from ...waits.trail import Mark, followed, waited
from ..stripes.owner import Owner


class Piece:
    """The part of a logical write that lies in one chunk.

    Attributes
    ----------
    low, high
        Its bytes in the chunk.
    slot
        The member that holds the chunk; -1 if that has no say.
    left
        How many runs still work on it.
    steps
        Pages of the write to walk along, from its start for each block of this part, to copy it.
    trail
        What its time was spent on so far (:mod:`raidsim.model.waits.trail`); None if that is not accounted.
    """

    __slots__ = ("high", "left", "low", "owner", "row", "slot", "steps", "trail")

    def __init__(self, row: int, low: int, high: int, owner: Owner, steps: int = 0, slot: int = -1) -> None:
        self.row = row
        self.low = low
        self.high = high
        self.slot = slot
        self.owner = owner
        self.left = 0
        self.steps = steps
        self.trail = owner.request.trail

    def mark(self, cause: i64, until: float) -> None:
        """Note that it has waited for `cause` until then (s), if that is accounted."""
        if self.trail is not None:
            self.trail = waited(self.trail, cause, until)


class StripeHeadRun:
    """The heads of bytes [low, high) of the chunks of a row.

    Attributes
    ----------
    full, partial
        Data indices with new data for the whole blocks and for a part of them, as bits.
    spans
        The new bytes of the data indices in `partial`.
    known
        Members whose contents are in the heads, as bits.
    pieces
        Whose new data these are.
    deferred
        (data index, low, high, piece) of writes of a block whose last new data is not yet on its way.
    sync
        Whether somebody waits for one of them.
    through
        Whether one of them has to be on the medium before it is complete.
    active
        Whether the run may be read up though nobody waits.
    queued
        Whether the thread will look at it.
    flush
        The number of the bitmap's flush that it waits for (bm_seq); 0: it waits for none.
    reading, writing
        Whether member I/O is under way.
    """

    __slots__ = (
        "active",
        "deferred",
        "flush",
        "full",
        "high",
        "known",
        "low",
        "partial",
        "pieces",
        "queued",
        "reading",
        "row",
        "spans",
        "sync",
        "write_through",
        "writing",
    )

    def __init__(self, row: int, low: int, high: int, known: int = 0) -> None:
        self.row = row
        self.low = low
        self.high = high
        self.known = known
        self.full = self.partial = self.flush = 0
        self.spans: dict[int, tuple[int, int]] = {}
        self.pieces: list[Piece] = []
        self.deferred: list[tuple[int, int, int, Piece]] = []
        self.sync = self.write_through = self.active = self.queued = self.reading = self.writing = False

    def add(self, index: int, low: int, high: int, piece: Piece) -> None:
        """Put new data of one data index, bytes [low, high), into the heads."""
        bit = 1 << index
        low, high = max(low, self.low), min(high, self.high)
        piece.left += 1
        if (self.full | self.partial) & bit:
            known = self.spans.get(index)
            if known is None or (low != known[1] and high != known[0]):
                self.deferred.append((index, low, high, piece))
                return
            low, high = min(low, known[0]), max(high, known[1])
            self.partial &= ~bit
            del self.spans[index]
        if low == self.low and high == self.high:
            self.full |= bit
        else:
            self.partial |= bit
            self.spans[index] = (low, high)
        self.pieces.append(piece)
        if piece.owner.request.sync:
            self.sync = True
            if piece.owner.request.sync == WRITE_THROUGH:
                self.write_through = True

    def split(self, at: int) -> StripeHeadRun:
        """Cut the run in two at byte `at`; this one keeps the lower part, the upper one is returned."""
        upper = StripeHeadRun(self.row, at, self.high, self.known)
        self.high = at
        for name in (
            "full",
            "partial",
            "spans",
            "sync",
            "write_through",
            "active",
            "queued",
            "reading",
            "writing",
            "flush",
        ):
            setattr(upper, name, getattr(self, name))
        upper.spans = self.spans.copy()
        upper.pieces = self.pieces.copy()
        for piece in self.pieces:
            piece.left += 1
        deferred, self.deferred = self.deferred, []
        for index, low, high, piece in deferred:
            piece.left += (low < at) + (high > at) - 1
            if low < at:
                self.deferred.append((index, low, min(high, at), piece))
            if high > at:
                upper.deferred.append((index, max(low, at), high, piece))
        return upper

    def take(self) -> list[Piece]:
        """The new data is on its way: return whose it was, and be open for more."""
        pieces, self.pieces = self.pieces, []
        self.full = self.partial = 0
        self.spans.clear()
        self.sync = self.write_through = self.active = False
        return pieces

    def like(self, other: StripeHeadRun) -> bool:
        """Whether `other`, the run above, may be one with this one."""
        return (
            self.high == other.low
            and self.queued
            and other.queued
            and self.full == other.full
            and self.known == other.known
            and self.flush == other.flush
            and not (self.partial or other.partial or self.deferred or other.deferred)
            and not (self.reading or self.writing or other.reading or other.writing)
        )

    def join(self, other: StripeHeadRun) -> None:
        """Become one with the run above."""
        self.high = other.high
        self.pieces += other.pieces
        self.sync = self.sync or other.sync
        self.write_through = self.write_through or other.write_through
        self.active = self.active or other.active


class Flight(Completion):
    """Member I/O of bytes [low, high) of a row, however the run that it was sent for is split meanwhile.

    Attributes
    ----------
    slots
        The members.
    pieces
        Whose data are written, without those that were answered.
    full
        Whether whole rows are written.
    ticket
        What the journal knows it by.
    trail
        That of the member I/O that was complete last; before, that with which all of them begin.

    Notes
    -----
    A write is answered when its own member and those with parity have it, although other members of the row may still
    be written (raid5.c, handle_stripe and handle_stripe_clean_event).
    """

    __slots__ = (
        "_answerable",
        "_landed",
        "_left",
        "_parities",
        "full",
        "high",
        "low",
        "pieces",
        "row",
        "slots",
        "ticket",
        "trail",
    )

    def __init__(
        self,
        run: StripeHeadRun,
        slots: tuple[int, ...],
        pieces: list[Piece],
        landed: Callable[[Flight], None],
        parities: tuple[int, ...] = (),
        answerable: Callable[[Flight, list[Piece]], None] | None = None,
    ) -> None:
        self.row = run.row
        self.low = run.low
        self.high = run.high
        self.slots = slots
        self.pieces = pieces
        self.ticket = 0
        self.full = False
        self.trail: Mark | None = None
        self._landed = landed
        self._left: dict[int, int] = dict.fromkeys(slots, 1)
        self._parities = parities
        self._answerable = answerable

    def expect(self, requests: int) -> None:
        """Every member gets this number of requests."""
        self._left = dict.fromkeys(self.slots, requests)

    def done(self, request: Request) -> None:
        """One member request is complete."""
        left, slot = self._left, request.parent
        if request.trail is not None:
            self.trail = request.trail
        requests = left[slot] - 1
        if requests:
            left[slot] = requests
            return
        del left[slot]
        if not left:
            self._landed(self)
            return
        if self._answerable is None or any(parity in left for parity in self._parities):
            return
        early = [piece for piece in self.pieces if piece.slot not in left]
        if early:
            self.pieces = [piece for piece in self.pieces if piece.slot in left]
            self._answerable(self, early)


def any_accounted(pieces: list[Piece]) -> bool:
    """Whether it is noted what any of these waits for."""
    for piece in pieces:  # noqa: SIM110 - compiled, a loop costs no generator
        if piece.trail is not None:
            return True
    return False


def all_waited(pieces: list[Piece], cause: i64, now: float) -> None:
    """Note that these have waited for `cause` until now (s)."""
    for piece in pieces:
        piece.mark(cause, now)


def all_followed(pieces: list[Piece], trail: Mark | None) -> None:
    """Note that these were on the way of which `trail` is."""
    if trail is not None:
        for piece in pieces:
            if piece.trail is not None:
                piece.trail = followed(piece.trail, trail)


def numbers(bits: int) -> list[int]:
    """The numbers of the bits that are set, in order."""
    found = []
    while bits:
        lowest = bits & -bits
        found.append(lowest.bit_length() - 1)
        bits ^= lowest
    return found


def cover(runs: list[StripeHeadRun], row: int, low: int, high: int) -> list[StripeHeadRun]:
    """Return the runs that cover [low, high) exactly; `runs`, in order, is split and filled up for that."""
    found: list[StripeHeadRun] = []
    kept: list[StripeHeadRun] = []
    at = low
    for run in runs:
        if run.high <= low or run.low >= high:
            if run.low >= high and at < high:
                found.append(StripeHeadRun(row, at, high))
                kept.append(found[-1])
                at = high
            kept.append(run)
            continue
        if run.low < low:
            kept.append(run)
            run = run.split(low)
        upper = run.split(high) if run.high > high else None
        if at < run.low:
            found.append(StripeHeadRun(row, at, run.low))
            kept.append(found[-1])
        found.append(run)
        kept.append(run)
        at = run.high
        if upper is not None:
            kept.append(upper)
    if at < high:
        found.append(StripeHeadRun(row, at, high))
        kept.append(found[-1])
    runs[:] = kept
    return found
