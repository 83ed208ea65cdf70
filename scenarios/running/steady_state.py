"""How long a load runs until its speed is known: when it has settled, and when the interval is tight enough.

First the run settles. Nothing is measured until neither what the load sees nor how full the caches are rises or falls
any more (:func:`~raidsim.model.statistics.batch_means.trend` over the second half of the run so far). A write-back
cache that fills takes every write at its own speed, and nothing in the latencies says that this will end; the cache
itself does. When it is full, as much again is written as it holds, because what it writes first is not what it writes
later. Then all statistics begin anew, and the run goes on until the 90 % interval of the throughput, or of the mean
latency if the load sends at its own times, is within the precision.

To stop as soon as an interval happens to be narrow makes it wrong too often. So it is looked at only when the run has
become a quarter longer, and must be narrow enough twice in a row, from a thousand I/Os at least in batches that are not
correlated and show no trend. If a cache is found to rise or fall during the measurement, it begins anew.

An open load that sends more than the devices take has latencies that never settle: its backlog rises as fast in the
second half of the run as in the first. Then what the devices can take is measured, not closer than 5 %, from when
neither the reads nor the writes that they complete in a second rise or fall any more. At first there are only reads to
be seen, because writes of a parity array take longer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ...model.core.engine import Engine
from ...model.core.exact_sums import sum_in_order
from ...model.loads.closed_load import ClosedLoad
from ...model.loads.direct_load import DirectLoad
from ...model.statistics.batch_means import trend, warmup_cut
from .base.slow_stores import Stores
from .load_windows import MOST, LoadWindows
from .watched_load import FIRST_S, LEAST_IOS, TREND_ERRORS, WINDOW_IOS, WatchedLoad

_SETTLING_IOS = 500
_ROUNDS = 4
"""Times that every I/O outstanding has been replaced, at least."""
_LEAST_WINDOWS = 64
_LONGER = 1.25
"""How much longer a run has become when it is looked at again."""
_SETTLING_SHARE = 0.5
"""Share of the longest time, and of the most I/Os, after which a run that has not settled is measured nevertheless."""
MOST_IOS = 4_000_000
"""I/Os of all loads together after which a run ends that has not become known as well as it should: a minute or less of
a machine's time."""
_TURNS = 2
_LEVEL_CHANGE = 0.02
"""A store that changes by less than this share of what it holds is full, or as full as it gets."""
_LONGEST_BACKLOG = 1 << 16
"""I/Os of a load that wait after which a run that has not settled is measured nevertheless: no program has more."""


class SteadyState:
    """One load or several that run until their speed is known.

    Parameters
    ----------
    engine
        The clock.
    loads
        What runs.
    others
        The jobs of each further load that runs at the same time. All loads have the same windows; the run ends when
        each is known to the precision.
    precision
        Half-width of the 90 % interval as a share of the value.
    warm_up
        Simulated time (s) before which nothing is settled.
    longest
        Simulated time (s) after that in which it ends.
    restart
        Called when the measurement begins, once or several times: other statistics begin anew.
    stores
        How full slow stores are, if there are any.
    turns
        How often what is collected and written by turns has been written: nothing is settled before the first, and
        known before two more.
    servers
        Queues that the I/Os spread over.
    least_ios
        I/Os of all loads together before which nothing is settled.
    stops_saturated
        Whether it ends as soon as a load is found to be saturated, because that is answered otherwise.

    Attributes
    ----------
    windows
        The measurement of the first load.
    all_windows
        Those of all loads.
    settled
        Whether nothing rose or fell when the run was last looked at.
    saturated
        Whether the backlog of open loads grows for ever.
    reached
        Half-width over value, infinite if it had not settled; of several loads the largest.
    share
        How much of the run is done, about (0 to 1).
    enough
        Asked whether a settled run may end, with whether it is precise; None: if it is. Not asked of saturated loads.
    """

    def __init__(
        self,
        engine: Engine,
        loads: Sequence[DirectLoad],
        *,
        precision: float,
        others: Sequence[Sequence[DirectLoad]] = (),
        warm_up: float = 0.0,
        longest: float,
        restart: Callable[[], None] | None = None,
        stores: Callable[[], Stores] | None = None,
        turns: Callable[[], float] = lambda: math.inf,
        servers: int = 1,
        least_ios: int = 0,
        stops_saturated: bool = False,
    ) -> None:
        self._engine = engine
        self._stops_saturated = stops_saturated
        self._warm_up = warm_up
        self._end = warm_up + longest
        self._latest = warm_up + _SETTLING_SHARE * longest
        self._restart = restart
        self._turns = turns
        self._known_turns: float = _TURNS
        self._servers = servers
        self.windows = LoadWindows(engine, loads, stores)
        self.all_windows = (self.windows, *(LoadWindows(engine, each) for each in others))
        self._each = [WatchedLoad(windows, precision) for windows in self.all_windows]
        self.settled = False
        self.reached, self._share = float("inf"), 0.0
        # Programs that all begin at once need a while to get out of step.
        self._rounds = [
            _ROUNDS * sum(load.depth for load in jobs if isinstance(load, ClosedLoad)) for jobs in (loads, *others)
        ]
        self._least_ios = least_ios
        self.enough: Callable[[bool], bool] | None = None

    @property
    def share(self) -> float:
        """See the class."""
        return max(self._share, self._engine.now / self._end)

    @property
    def saturated(self) -> bool:
        """See the class."""
        return any(self.saturates)

    @property
    def saturates(self) -> tuple[bool, ...]:
        """Of each load, whether its backlog grows for ever."""
        return tuple(each.saturated for each in self._each)

    def run(self) -> None:
        """Settle and measure."""
        if self._warm_up > self._engine.now:
            self._engine.run_to(self._warm_up)
        self._settle()
        if not self._stops:
            self._measure()
        self._share = 1.0

    @property
    def _stops(self) -> bool:
        return self._stops_saturated and self.saturated

    def _settle(self) -> None:
        """Run until nothing rises or falls, or a backlog grows for ever, or it takes too long."""
        engine = self._engine
        for windows in self.all_windows:
            windows.begin(FIRST_S)
        step = FIRST_S
        while min(windows.ios for windows in self.all_windows) < WINDOW_IOS and engine.now < self._latest:
            engine.run_to(min(self._latest, engine.now + step))
            step *= 2
        length = self._window()
        for windows in self.all_windows:
            windows.begin(length)
        while self._go_on(_SETTLING_IOS, self._latest, self._least_ios, most_ios=_SETTLING_SHARE * MOST_IOS):
            if self._backlogs_grow() and not self.saturated:
                continue
            if self._stops:
                return
            half = self.windows.count // 2
            if self._turns() and not (self._fills(half) or self._drifts(half) or self._begins_late()):
                self.settled = True
                engine.run_to(min(self._latest, engine.now + self._replaced_s(half)))
                return

    def _measure(self) -> None:
        engine = self._engine
        self._begin()
        met = filling = False
        more = True
        while more:
            more = self._go_on(LEAST_IOS, self._end)
            before = self.saturated
            self._backlogs_grow()
            if self._stops:
                return
            met = met and self.saturated == before
            fills = self._fills(0)
            if fills and filling and engine.now < self._latest and self._ios < _SETTLING_SHARE * MOST_IOS:
                self._begin()
                met = filling = False
                continue
            filling = fills
            self.settled = not fills and not self._drifts(0)
            precise = self._precise()
            asked = self.enough if self.settled and not self.saturated else None
            enough = precise if asked is None else asked(precise)
            if enough and met:
                break
            met = enough
        self.reached = max(each.criterion.relative for each in self._each) if self.settled else float("inf")

    def _begin(self) -> None:
        length, restart = self._window(), self._restart
        self._known_turns = self._turns() + _TURNS
        completed = [windows.completed for windows in self.all_windows]
        for each, done in zip(self._each, completed, strict=True):
            each.windows.begin(length, restart, done)
            each.growing = False
            restart = None

    def _window(self) -> float:
        """Seconds in which each load completes a few I/Os."""
        return max(each.window(self._engine.now) for each in self._each)

    @property
    def _ios(self) -> int:
        """I/Os of all loads so far."""
        return sum(windows.completed for windows in self.all_windows)

    def _go_on(self, least_ios: int, end: float, together: int = 0, most_ios: float = MOST_IOS) -> bool:
        """Run until there is something to look at, a quarter more than there is already.

        There are at least `least_ios` of each load then, and as many of all `together`. False at the `end`, when all
        loads have completed `most_ios` since the run began, or when more wait than any program has outstanding.
        """
        first = self.windows
        wanted = max(_LEAST_WINDOWS * first.length, _LONGER * first.span)
        while first.span < wanted or self._too_few(least_ios, together):
            if first.count >= MOST:
                for windows in self.all_windows:
                    windows.join()
            if first.next_end > end or self._ios > most_ios or self._too_many_wait():
                return False
            first.run()
            for windows in self.all_windows[1:]:
                windows.close()
        return True

    def _too_few(self, least_ios: int, together: int) -> bool:
        counts = [windows.ios for windows in self.all_windows]
        least = [max(least_ios, rounds) for rounds in self._rounds]
        return sum(counts) < together or any(count < few for count, few in zip(counts, least, strict=True))

    def _too_many_wait(self) -> bool:
        return any(windows.is_open and windows.backlog > _LONGEST_BACKLOG for windows in self.all_windows)

    def _precise(self) -> bool:
        """Whether each load is known well enough; how far it is from there goes into :attr:`share`."""
        done = 1.0
        for each in self._each:
            known = each.criterion
            if known.mean and np.isfinite(known.relative):
                done = min(done, (each.goal / known.relative) ** 2 if known.relative else 1.0)
            else:
                done = 0.0
        self._share = max(self._share, min(0.99, done))
        memory_s = max([self._replaced_s(0), *(each.memory_s(self._servers) for each in self._each)])
        lasts = self.windows.span >= memory_s and self._turns() >= self._known_turns
        return self.settled and lasts and all(each.is_precise for each in self._each)

    def _replaced_s(self, first: int) -> float:
        """How long the loads take to write as much as write-back caches hold (s), by the windows from `first` on.

        What a write-back cache held at the beginning of a measurement has been replaced by its end: the cache writes
        its data in sweeps, and a part of one sweep is no sample of all.
        """
        windows = self.windows
        if windows.count <= first:
            return 0.0
        unwritten = float(windows.stores[first:, 1:3].sum(axis=1).mean())
        written = sum_in_order(each.written(first) for each in self._each)
        return unwritten / written * (windows.count - first) * windows.length if written else 0.0

    def _fills(self, first: int) -> bool:
        """Whether a store fills or empties from the window `first` on."""
        return any(_level_moves(column) for column in self.windows.stores[first:, 1:].T)

    def _drifts(self, first: int) -> bool:
        return any(each.drifts(first) for each in self._each)

    def _begins_late(self) -> bool:
        """Whether the steady part of anything begins in the second half of the windows, if it has begun."""
        half = self.windows.count // 2
        moved = (level for level in self.windows.stores[:, 1:].T if np.ptp(level) > _LEVEL_CHANGE * level.mean())
        series = [*(seen for each in self._each for seen in each.seen()), *moved]
        return any(warmup_cut(values) >= half for values in series)

    def _backlogs_grow(self) -> bool:
        """Look at the backlogs: one that grows now, and grew when it was last looked at, is saturated."""
        grows = False
        for each in self._each:
            if each.saturated:
                continue
            now = each.backlog_grows()
            each.saturated = now and each.growing
            each.growing = now
            grows = grows or now
        return grows


def _level_moves(level: NDArray[np.float64]) -> bool:
    change, errors = trend(level)
    return abs(errors) > TREND_ERRORS and abs(change) > _LEVEL_CHANGE * float(level.mean())
