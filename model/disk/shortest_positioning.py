"""The order of a drive with command queuing: by access time, from where the head is now.

M. Seltzer, P. Chen and J. Ousterhout, "Disk scheduling revisited", USENIX Winter 1990; D. Jacobson and J. Wilkes,
HPL-CSP-91-7, 1991, who also age the commands.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import deque
from typing import TypeAlias

from ..core.request import READ, Request
from .media import Media

_Known: TypeAlias = "tuple[int, float, array[float], Request, float]"
"""A command: its cylinder, angle (s of a turn), seek table, the request, and since when (s) the drive knows it."""


class ShortestPositioning:
    """The command whose first byte the head reaches soonest, among the oldest `depth`.

    Parameters
    ----------
    media
        Whose head it is.
    depth
        Commands the drive knows at once; later ones wait in the host.
    age_limit_s
        A command the drive has known for longer than this (s) goes first, so that none starves.
    """

    __slots__ = ("_age_limit_s", "_depth", "_known", "_media", "_unknown")

    def __init__(self, media: Media, depth: int, age_limit_s: float) -> None:
        self._known: list[_Known] = []
        self._media = media
        self._depth = depth
        self._age_limit_s = age_limit_s
        self._unknown: deque[Request] = deque()

    def __len__(self) -> int:
        return len(self._known)

    def push(self, request: Request) -> None:
        """Tell the drive of a command, or keep it until it has room for one."""
        # The command being served takes one of the drive's tags.
        if len(self._known) < self._depth - 1:
            self._tell(request, request.submitted)
        else:
            self._unknown.append(request)

    def _tell(self, request: Request, now: float) -> None:
        geometry, offset = self._media.geometry, request.offset
        # The same as Geometry.cylinder() and turns(), inlined.
        first_byte, inverse, first_turn, first_cylinder = geometry.rows[bisect_right(geometry.edges, offset) - 1]
        tracks = (offset - first_byte) * inverse
        whole = int(tracks)
        across = whole // geometry.heads
        turns = first_turn + tracks + whole * geometry.head_skew + across * geometry.cylinder_step
        seeks = self._media.seeks
        table = seeks.read if request.op == READ else seeks.write
        self._known.append((first_cylinder + across, turns % 1.0 * geometry.revolution_s, table, request, now))

    def next(self, now: float) -> Request:
        """The best command; what the host kept back takes its place."""
        known = self._known
        request = known.pop(self._choose(now) if len(known) > 1 else 0)[3]
        if self._unknown:
            self._tell(self._unknown.popleft(), now)
        return request

    def _choose(self, now: float) -> int:
        media, known = self._media, self._known
        if now - known[0][4] > self._age_limit_s:
            return 0
        stream = media.stream
        if stream is not None and stream.hits:
            # What the head is about to read, or has just read ahead, needs no move at all.
            low, best_offset, best = stream.start, stream.reach + 1, -1
            for i, (_, _, _, request, _) in enumerate(known):
                if low <= request.offset < best_offset:
                    best, best_offset = i, request.offset
            if best >= 0:
                return best
        arm = media.head_cylinder(now)
        revolution_s = media.geometry.revolution_s
        passed_s = media.angle(now) * revolution_s - 1e-9
        best, soonest = 0, 1e9
        for i, (cylinder, angle_s, table, _, _) in enumerate(known):
            reach = table[cylinder - arm]
            if reach < soonest:
                reach += (angle_s - passed_s - reach) % revolution_s
                if reach < soonest:
                    best, soonest = i, reach
        return best
