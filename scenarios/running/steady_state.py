"""How long a load runs until its speed is known: when it has settled, and when the interval is tight enough.

First the run settles. Nothing is measured until neither what the load sees nor how full the caches are rises or falls
any more (:func:`~raidsim.model.statistics.batch_means.trend` over the second half of the run so far). A write-back
cache that fills takes every write at its own speed, and nothing in the latencies says that this will end; the cache
itself does. When it is full, as much again is written as it holds, because what it writes first is not what it writes
later. Then all statistics begin anew, and the run goes on until the 90 % interval of the throughput, or of the mean
latency if the load sends at its own times, is within the precision.

To stop as soon as an interval happens to be narrow makes it wrong too often. So it is looked at only when the run has
become a quarter longer, and must be narrow enough twice in a row, from at least :data:`LEAST_IOS` I/Os in batches that
are not correlated and show no trend. If a cache is found to rise or fall during the measurement, it begins anew.

An open load that sends more than the devices take has latencies that never settle: its backlog rises as fast in the
second half of the run as in the first. Then what the devices can take is measured, not closer than
:data:`SATURATED_PRECISION`, from when neither the reads nor the writes that they complete in a second rise or fall any
more. At first there are only reads to be seen, because writes of a parity array take longer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ...model.core.engine import Engine
from ...model.core.exact_sums import sum_in_order
from ...model.loads.closed_load import ClosedLoad
from ...model.loads.direct_load import DirectLoad
from ...model.statistics.batch_means import Estimate, ratio_estimate, trend, warmup_cut
from .base.slow_stores import Stores
from .load_windows import MOST, LoadWindows

LEAST_IOS = 1000
"""I/Os of a measurement at least."""
LEAST_BATCHES = 16
SATURATED_PRECISION = 0.05
"""A throughput that nobody asked for, because more was to be had, is not measured closer than this."""
_SETTLING_IOS = 500
_ROUNDS = 4
"""Times that every I/O outstanding has been replaced, at least."""
_WINDOW_IOS = 8
_LEAST_WINDOWS = 64
_LONGER = 1.25
"""How much longer a run has become when it is looked at again."""
_SETTLING_SHARE = 0.5
"""Share of the longest time, and of the most I/Os, after which a run that has not settled is measured nevertheless."""
MOST_IOS = 4_000_000
"""I/Os of all loads together after which a run ends that has not become known as well as it should: a minute or less of
a machine's time."""
_FIRST_S = 1e-3
_TREND_ERRORS = 3.5
_LEVEL_CHANGE = 0.02
"""A store that changes by less than this share of what it holds is full, or as full as it gets."""
_LONGEST_BACKLOG = 1 << 16
"""I/Os of a load that wait after which a run that has not settled is measured nevertheless: no program has more."""
_BACKLOG_ERRORS = 5.0
_BACKLOG_IOS = 1000
_BACKLOG_SHARE = 0.003
"""Share of the I/Os that come and stay, below which a backlog is not said to grow for ever."""
_AS_FAST = 0.7
_MEMORIES = 5


class _Watched:
    """One load among those that run: its windows, and what must be known of it to a precision.

    Attributes
    ----------
    saturated, growing
        Whether its backlog grows for ever, and whether it grew when the run was last looked at.
    """

    def __init__(self, windows: LoadWindows, precision: float) -> None:
        self.windows = windows
        self._precision = precision
        self.saturated = self.growing = False

    @property
    def criterion(self) -> Estimate:
        """What must be known: throughput, or the mean latency of an open load that is not saturated."""
        if self.windows.is_open and not self.saturated:
            return self.windows.mean_latency()
        return self.windows.throughput()

    @property
    def goal(self) -> float:
        """How well :attr:`criterion` must be known, as a share of it."""
        return max(self._precision, SATURATED_PRECISION) if self.saturated else self._precision

    @property
    def is_precise(self) -> bool:
        """Whether the interval is narrow enough, and of enough batches to be believed."""
        known = self.criterion
        return (
            self.windows.ios >= LEAST_IOS
            and known.batches >= LEAST_BATCHES
            and not known.correlated
            and known.relative <= self.goal
        )

    def window(self, now: float) -> float:
        """Seconds in which a few I/Os are complete."""
        elapsed = now - self.windows.began
        return _WINDOW_IOS * elapsed / self.windows.ios if self.windows.ios else max(elapsed, _FIRST_S)

    def memory_s(self, servers: int) -> float:
        """How long an open load is measured at least (s), so that the queues have forgotten several times.

        A queue of one server forgets within 4 W (L + 1), with L requests in it that take W seconds each (its relaxation
        time, 1 / (1 - sqrt(utilization))^2 service times, for Poisson arrivals and exponential service); while it grows
        that slowly, neither correlation nor trend of a short run shows it. And an open load is measured for no less
        than half of what came before, so that a slow rise of a long backlog is seen.
        """
        windows = self.windows
        if not windows.is_open or self.saturated or not windows.ios:
            return 0.0
        backlog = float(windows.stores[:, 0].mean())
        queues_s = _MEMORIES * 4 * windows.mean_latency().mean * (backlog / servers + 1)
        return max(queues_s, windows.began / 2)

    def written(self, first: int) -> float:
        """Bytes written in the windows from `first` on, about."""
        moved, reads, writes = self.windows.flows[first:, :3].sum(axis=0)
        return float(moved * writes / max(1.0, reads + writes))

    def drifts(self, first: int) -> bool:
        """Whether what the load sees rises or falls from the window `first` on."""
        return any(_drifts(seen[first:], self.goal) for seen in self.seen())

    def seen(self) -> list[NDArray[np.float64]]:
        """What the load sees in every window; of a saturated one how many reads and writes are completed."""
        return self.windows.served() if self.saturated else [self.windows.seen()]

    def backlog_grows(self) -> bool:
        """Whether the backlog of open loads grows in the second half of the windows as it did in the first."""
        return self.windows.is_open and backlog_grows(self.windows)


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
        self._servers = servers
        self.windows = LoadWindows(engine, loads, stores)
        self.all_windows = (self.windows, *(LoadWindows(engine, each) for each in others))
        self._each = [_Watched(windows, precision) for windows in self.all_windows]
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
            windows.begin(_FIRST_S)
        step = _FIRST_S
        while min(windows.ios for windows in self.all_windows) < _WINDOW_IOS and engine.now < self._latest:
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
            if not self._fills(half) and not self._drifts(half) and not self._begins_late():
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
        return self.settled and self.windows.span >= memory_s and all(each.is_precise for each in self._each)

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
        series = [*(seen for each in self._each for seen in each.seen()), *self.windows.stores[:, 1:].T]
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


def backlog_grows(windows: LoadWindows) -> bool:
    """Whether more I/Os come than are completed, for ever as far as one can see.

    In the second half of the windows significantly more must come than go, and nearly as many as in the first half:
    the backlog of a device that takes what comes rises ever more slowly to where it stays.
    """
    flows = windows.flows
    half = windows.count // 2
    if half < LEAST_BATCHES or flows[:, 5].sum() < _BACKLOG_IOS:
        return False
    more = flows[:, 5] - flows[:, 1] - flows[:, 2]
    first, second = float(more[-2 * half : -half].sum()), float(more[-half:].sum())
    known = ratio_estimate(more[-half:], np.ones(half), 0.9)
    # Half a 90 % interval is 1.645 standard errors, and a little more with few batches.
    surely = known.mean * 1.645 > _BACKLOG_ERRORS * known.half_width
    return surely and second >= _AS_FAST * first and second > _BACKLOG_SHARE * float(flows[-half:, 5].sum())


def _drifts(seen: NDArray[np.float64], goal: float) -> bool:
    """Whether a series rises or falls by more than a share `goal` of its mean; one of zeros has yet to begin."""
    change, errors = trend(seen)
    return not seen.any() or bool(abs(errors) > _TREND_ERRORS and abs(change) > goal * abs(float(seen.mean())))


def _level_moves(level: NDArray[np.float64]) -> bool:
    change, errors = trend(level)
    return abs(errors) > _TREND_ERRORS and abs(change) > _LEVEL_CHANGE * float(level.mean())
