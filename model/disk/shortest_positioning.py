"""The order of a drive with command queuing: by access time from where the head is now, less a credit for age.

M. Seltzer, P. Chen and J. Ousterhout, "Disk scheduling revisited", USENIX Winter 1990; D. Jacobson and J. Wilkes,
HPL-CSP-91-7, 1991 (aged shortest access time first); B. Worthington, G. Ganger and Y. Patt, "Scheduling algorithms for
modern disk drives", SIGMETRICS 1994: the effective time of a command is its positioning time less a credit for its age.
Here the credit is a weight times the square of the wait (assumed): reads of a deep queue are overtaken freely, as the
tails of measured disks show (p99 four to five times the mean), and yet a read next to a stream waits 2 to 3 s and not
for ever. The order changes smoothly from shortest positioning time first (weight 0) to first come, first served. A
limit of age would not: once a queue takes longer than the limit, every command is over age, and the drive stays first
come, first served.

Only work for the head is ordered by position. A cached write waits for room in the buffer, not for its own place on
the platters: cached writes and flushes are taken first in, first out. They compete with the reads through the dirty
extent that the head would write next to make room.
"""

from __future__ import annotations

from collections import deque
from math import floor
from typing import Final

from ..core.request import READ, WRITE, WRITE_THROUGH, Request
from ..core.search import right_of
from .mechanics.head import EARLY
from .mechanics.seek import SeekTimes
from .media import Media

_EARLY_S: Final = 1e-9
"""Time (s) by which a place counts as still ahead although rounding says it has just passed."""


class _Known:
    """A command: its cylinder, angle (s of a turn), seek times, the request, and when it came (s)."""

    __slots__ = ("angle_s", "came_s", "cylinder", "offset", "request", "table")

    def __init__(self, cylinder: int, angle_s: float, table: SeekTimes, request: Request, came_s: float) -> None:
        self.cylinder = cylinder
        self.angle_s = angle_s
        self.table = table
        self.request = request
        self.offset = request.offset
        self.came_s = came_s


class ShortestPositioning:
    """The command whose first byte the head reaches soonest, less a credit for its age.

    Parameters
    ----------
    media
        Whose head it is.
    depth
        Commands the drive knows at once, 1 to 256; later ones wait in the host.
    age_weight
        Credit (s of positioning time) for a wait of one second; it grows with the square of the wait. 0: a command that
        lies badly starves.
    effort
        Share of the waiting commands, the oldest, that the firmware weighs before it chooses: 1 is all of them; near 0
        the order is first come, first served.
    caches
        If true, writes go to the buffer: they are taken first in, first out.
    margin_s
        Time (s) that is added to each seek where commands are compared, as a seek sometimes settles late.
    """

    __slots__ = (
        "_age_weight",
        "_caches",
        "_depth",
        "_early_s",
        "_effort",
        "_held",
        "_known",
        "_landing",
        "_margin_s",
        "_media",
        "_remainder",
    )

    def __init__(
        self,
        media: Media,
        depth: int,
        age_weight: float,
        effort: float = 1.0,
        caches: bool = False,
        margin_s: float = 0.0,
    ) -> None:
        self._known: list[_Known] = []
        self._landing: deque[tuple[Request, float]] = deque()  # cached writes and flushes, and when each came (s)
        self._media = media
        self._depth = depth
        self._age_weight = age_weight
        self._effort = effort
        self._remainder = 0.0  # of the number of commands to weigh, which is carried to the next choice
        self._caches = caches
        # A transfer may begin EARLY turns late (see .mechanics.head), which below 6,000 rpm is more than _EARLY_S.
        late_s = EARLY * media.geometry.revolution_s
        self._early_s = _EARLY_S if late_s < _EARLY_S else 2.0 * late_s
        self._held: deque[Request] = deque()
        self._margin_s = margin_s

    def __len__(self) -> int:
        return len(self._known) + len(self._landing)

    @property
    def full(self) -> bool:
        """Whether the drive has no tag left: one is taken by the command that it serves."""
        return len(self._known) + len(self._landing) >= self._depth - 1

    @property
    def landing(self) -> Request | None:
        """The cached write or flush that is taken first, if any waits."""
        return self._landing[0][0] if self._landing else None

    @property
    def refills(self) -> bool:
        """Whether a cached write waits for room in the buffer, or a command in the host for a tag."""
        return bool(self._landing or self._held)

    def hold(self, request: Request) -> None:
        """Keep a command in the host until the drive has a tag for it."""
        self._held.append(request)

    def release(self) -> Request | None:
        """The command that has waited longest in the host, if the drive has a tag for it now."""
        return self._held.popleft() if self._held and not self.full else None

    def push(self, request: Request) -> None:
        """Tell the drive of a command that has come now."""
        self.tell(request, request.submitted)

    def tell(self, request: Request, now: float) -> None:
        """Tell the drive of a command at `now` (s), from when on it ages."""
        op = request.op
        if op != READ and (self._caches or op != WRITE):
            self._landing.append((request, now))
            return
        geometry = self._media.geometry
        offset: int = request.offset
        # The same as Geometry.cylinder() and turns(), inlined.
        first_byte, inverse, first_turn, first_cylinder = geometry.rows[right_of(geometry.edges, offset) - 1]
        tracks = (offset - first_byte) * inverse
        whole = int(tracks)
        across = whole // geometry.heads
        turns = first_turn + tracks + whole * geometry.head_skew + across * geometry.cylinder_step
        seeks = self._media.seeks
        table = seeks.read if op == READ else seeks.write
        angle_s = (turns - floor(turns)) * geometry.revolution_s
        self._known.append(_Known(first_cylinder + across, angle_s, table, request, now))

    def next(self, now: float) -> Request:
        """Take the best command; there is one."""
        known = self._known
        if not known:
            return self.land()
        if not self._landing:
            return known.pop(self._choose(now)[0] if len(known) > 1 else 0).request
        best, effective_s = self._choose(now)
        return self.land() if self._destages_first(effective_s, now) else known.pop(best).request

    def land(self) -> Request:
        """Take the cached write or flush that came first; there is one."""
        return self._landing.popleft()[0]

    def _destages_first(self, effective_s: float, now: float) -> bool:
        """Whether the head makes room for the first cached write before a command with this effective time (s)."""
        media, (first, came_s) = self._media, self._landing[0]
        if first.op == WRITE and first.sync != WRITE_THROUGH and media.fits(first.offset, first.size, now):
            return False
        return media.reach_of_destaging(now) - self._age_weight * (now - came_s) ** 2 < effective_s

    def _choose(self, now: float) -> tuple[int, float]:
        """The best of the commands that need the head: its number, and its effective time (s).

        That is the positioning time, less the credit for its age; the same credit for `now` is left out of all.
        """
        media, known = self._media, self._known
        weighed = len(known)
        best, soonest = 0, 1e9
        stream = media.stream
        if stream is not None:
            # A read that is in the buffer, or that the head is reading now, needs no move at all.
            low, first, best = stream.start, stream.reach + 1, -1
            for i, command in enumerate(known):
                if low <= command.offset < first:
                    best, first = i, command.offset
            if best < 0:
                best = 0
            else:
                request = known[best].request
                if request.op == READ and media.has_begun(first, request.size, now):
                    soonest = -self._age_weight * (now - known[best].came_s) ** 2
                else:
                    best = 0
        if self._effort < 1.0:
            exact = self._effort * weighed + self._remainder
            weighed = int(exact)
            self._remainder = exact - weighed
            if not weighed:
                weighed = 1
            known = known[:weighed]
        arm = media.head_cylinder(now)
        revolution_s = media.geometry.revolution_s
        margin_s, age_weight = self._margin_s, self._age_weight
        passed_s = media.angle(media.free_from(now)) * revolution_s - self._early_s
        for i, command in enumerate(known):
            reach = command.table[command.cylinder - arm]
            waited_s = now - command.came_s
            credit_s = age_weight * waited_s * waited_s
            if reach - credit_s < soonest:
                if reach:  # an arm that stays where it is has settled
                    reach += margin_s
                reach += (command.angle_s - passed_s - reach) % revolution_s - credit_s
                if reach < soonest:
                    best, soonest = i, reach
        return best, soonest
