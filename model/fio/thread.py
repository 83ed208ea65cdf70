"""A thread of fio: it takes the I/Os of its job one by one, and its engine does them in their time (backend.c, do_io).

Between them it waits for its rate, thinks, syncs, and looks at the clock.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any

from ..core.engine import Engine
from ..core.request import READ, WRITE
from ..core.signal import Signal
from ..programs.fio.timing import FioTiming
from ..programs.operation import Kind, Operation
from ..tasks.host import Host
from .engine import SLEPT_S, TRIM, FioEngine
from .files import CachedFile, FioFile
from .pace import Pace
from .statistics import FioCompletions, FioStatistics

_OPS = {Kind.READ: READ, Kind.WRITE: WRITE, Kind.TRIM: TRIM}
_SETTLING_S = 2.0
"""For so long a job may be as slow as it likes (check_min_rate)."""
_SLOW = 5
"""EIO, with which fio ends a job that is slower than its rate_min."""


class FioThread(FioEngine):
    """One job.

    Parameters
    ----------
    engine, host
        Clock and payer.
    timing
        How and when it does its I/Os.
    operations
        Which: those of :class:`~raidsim.model.programs.fio.offsets.FioOffsets`.
    files
        Where, by name.
    issuer
        By which the block layer knows it.
    pace
        Its rate limit.
    log
        Called with every operation and its time since the start of the job (s) when it begins.
    completions
        Takes every I/O that is complete, those of the ramp time excepted; None if nobody wants to know.
    most_s
        The job ends after this time of its statistics (s).

    Attributes
    ----------
    began_s, epoch_s, ended_s
        When it was started, when its statistics begin, and when it ended (s).
    error
        0, or why it ended.
    cut
        Whether it ended because of `most_s`.
    over
        Whether it has ended.
    """

    __slots__ = (
        "_cut_s",
        "_done_by_rate",
        "_files",
        "_issued",
        "_last_offset",
        "_last_paused",
        "_last_paused_s",
        "_log",
        "_operations",
        "_rate_looked_s",
        "_terminated",
        "began_s",
        "cut",
        "ended_s",
        "epoch_s",
        "error",
        "over",
        "pace",
    )

    def __init__(
        self,
        engine: Engine,
        host: Host,
        timing: FioTiming,
        operations: Iterator[Operation],
        files: Mapping[str, FioFile],
        issuer: int,
        pace: Pace,
        log: Callable[[Operation, float], None] | None = None,
        completions: FioCompletions | None = None,
        most_s: float | None = None,
    ) -> None:
        super().__init__(engine, host, timing, files.values(), issuer, completions)
        self._operations = operations
        self._files = files
        self.pace = pace
        self._log = log
        self._cut_s = most_s
        self._issued = 0
        self._last_offset = 0
        self._last_paused = 0
        self._last_paused_s = 0.0
        self._rate_looked_s = 0.0
        self._done_by_rate = [(0, 0)] * 3
        self._terminated = False
        self.began_s = self.ended_s = self.epoch_s = engine._now
        self.error = 0
        self.cut = False
        self.over = False

    def terminate(self) -> None:
        """End soon: another job has ended."""
        self._terminated = True

    def run(self) -> Generator[Any, Any, None]:
        """Do everything: a SimPy process."""
        engine = self._engine
        self.began_s = self.epoch_s = self._last_paused_s = engine._now
        self.statistics = FioStatistics(engine._now)
        timing = self._timing
        opened: list[str] = []
        depth, batch, polls = timing.depths.most, timing.depths.batch, not timing.depths.least_reaped
        thinks, limited, null = timing.thinking.pause_s > 0, self.pace.limited, timing.kind == "null"
        watched, log = timing.rates.watched, self._log
        for operation in self._operations:
            if self._over():
                break
            kind = operation.kind
            op = _OPS.get(kind, -1)
            if op < 0:
                yield from self._on_file(operation, opened)
                continue
            if limited and not (yield from self._kept_pace(op)):
                break
            if log is not None:
                log(operation, self.now - self.began_s)
            file = self._files[operation.file]
            self._issued += 1
            self._last_offset = operation.offset
            if null:
                yield from self._nothing(op, operation.offset, operation.size)
            elif isinstance(file, CachedFile):
                yield from self._buffered(file, op, operation.offset, operation.size)
            elif op == TRIM:
                yield from self._trim(file, operation.offset, operation.size)
            else:
                self._queued.append((file, op, operation.offset, operation.size, self.now))
                if len(self._queued) >= batch:
                    yield from self._commit()
            if limited:
                self.pace.issued(op, operation.size)
            if self._outstanding + len(self._queued) >= depth:
                yield from self._take_completions()
            elif polls and self._finished:
                self._reap(len(self._finished))
            if thinks:
                yield from self._think(op)
            if watched and self.counting and not self._fast_enough():
                self.error = _SLOW
                break
        counted, cut_s = self.statistics, engine._now
        if self.cut:
            # The measurement was cut off in the middle: what is under way then is not part of it.
            self.counting = False
            self.statistics = FioStatistics(cut_s)
        yield from self._drain()
        yield from self._close_all(opened)
        yield from self._pay()
        self.ended_s = engine._now
        if self.cut:
            self.statistics = counted
        self.statistics.ended_s = cut_s if self.cut else self.ended_s
        self.over = True

    def _over(self) -> bool:
        """Whether the time is over; ends the ramp time, too."""
        timing, elapsed = self._timing, self.now - self.epoch_s
        if not self.counting:
            if elapsed >= timing.ramp_s:
                self._end_ramp()
            return self._terminated
        if self._terminated or (timing.runtime_s and elapsed >= timing.runtime_s):
            return True
        if self._cut_s is not None and elapsed >= self._cut_s:
            self.cut = True
            return True
        return False

    def _end_ramp(self) -> None:
        """Everything counted so far is forgotten, and the clock begins again (reset_all_stats)."""
        self.counting = True
        self.epoch_s = self._last_paused_s = self.now
        self.statistics = FioStatistics(self.epoch_s)
        self.pace.restart()
        self._issued = self._last_paused = 0

    def _note(self, operation: Operation) -> None:
        if self._log is not None:
            self._log(operation, self.now - self.began_s)

    # Files

    def _on_file(self, operation: Operation, opened: list[str]) -> Generator[Any, Any, None]:
        """Open, close, or sync one."""
        kind, file = operation.kind, self._files[operation.file]
        if kind is Kind.CLOSE:
            yield from self._drain()
            yield from self._end_fsync(operation.file)
            if isinstance(file, CachedFile):
                file.close(self.issuer)
            opened.remove(operation.file)
        self._note(operation)
        if kind is Kind.OPEN:
            if isinstance(file, CachedFile):
                file.open(self.issuer)
            opened.append(operation.file)
        elif kind in (Kind.FSYNC, Kind.FDATASYNC):
            if self._queued:
                yield from self._commit()
            began = self.now
            yield from self._fsync(file, kind is Kind.FDATASYNC)
            self.statistics.sync.add(self.now - began)
            self.statistics.syncs += kind is Kind.FSYNC
            self.statistics.depths[0] += 1

    def _close_all(self, opened: list[str]) -> Generator[Any, Any, None]:
        """What is still open when the time is over."""
        for name in opened:
            file = self._files[name]
            yield from self._end_fsync(name)
            if isinstance(file, CachedFile):
                file.close(self.issuer)
            self._note(Operation(Kind.CLOSE, name))

    def _end_fsync(self, name: str) -> Generator[Any, Any, None]:
        """At the end of a pass, as a part of its time (backend.c, do_io)."""
        timing = self._timing
        if (timing.end_fsync or timing.fsync_on_close) and self.statistics.directions[WRITE].ios:
            self._note(Operation(Kind.FSYNC, name, self._last_offset))
            yield from self._fsync(self._files[name], False)

    def _fsync(self, file: FioFile, data_only: bool) -> Generator[Any, Any, None]:
        self._spend(self._host.prices.read_call_s)
        if self._timing.kind == "null":
            return
        if isinstance(file, CachedFile):
            began, spent = self.now, self.cpu_s
            yield from file.sync(self, data_only)
            spent = self.cpu_s - spent
            self.statistics.system_s += spent
            self.statistics.switches += self.now - began > spent + SLEPT_S
        else:
            yield from self._pay()
            done = Signal()
            file.flush(done.fire, self.issuer, data_only)
            if not done.fired:
                self.statistics.switches += 1
                yield done
                self._spend(self._host.prices.switch_s)

    # Pauses

    def _kept_pace(self, op: int) -> Generator[Any, Any, bool]:
        """Wait until the next I/O is due; False if the time is over before."""
        due = self.pace.due_s[op]
        if due <= self.now - self.epoch_s:
            return True
        yield from self._drain()
        wait = self.epoch_s + due - self.now
        if wait <= 0:
            return True
        left = self.left_s
        yield from self._sleep(min(wait, left))
        return wait < left and not self._terminated

    @property
    def left_s(self) -> float:
        """How much time the job has (s)."""
        timing = self._timing
        limits = [limit for limit in (timing.runtime_s, self._cut_s) if limit]
        if not limits:
            return float("inf")
        return max(0.0, self.epoch_s + (timing.ramp_s if not self.counting else 0.0) + min(limits) - self.now)

    def _sleep(self, seconds: float) -> Generator[Any, Any, None]:
        yield from self._pay()
        self.statistics.switches += 1
        if seconds > 0:
            yield self._engine.timeout(seconds)

    def _think(self, op: int) -> Generator[Any, Any, None]:
        thinking, statistics = self._timing.thinking, self.statistics
        done = self._issued if thinking.by_issue else sum(each.ios for each in statistics.directions)
        stalls = bool(thinking.every_s) and self.now - self._last_paused_s >= thinking.every_s
        if not stalls and (thinking.blocks is None or done < self._last_paused + thinking.blocks):
            return
        yield from self._drain()
        left = min(thinking.pause_s, self.left_s)
        spin = min(thinking.spin_s, left)
        if spin:
            self._spend(spin)
            statistics.user_s += spin
            statistics.system_s -= spin
            yield from self._pay()
        if left > spin:
            yield from self._sleep(left - spin)
        self.pace.thought(op, left)
        self._last_paused = done
        self._last_paused_s = self.now

    def _fast_enough(self) -> bool:
        """Whether the job keeps up with its rate_min (backend.c, check_min_rate)."""
        rates, now = self._timing.rates, self.now
        if now - self.epoch_s < _SETTLING_S:
            return True
        if not self._rate_looked_s:
            self._rate_looked_s = now
            self._done_by_rate = [(each.bytes, each.ios) for each in self.statistics.directions]
        span = now - self._rate_looked_s
        if span < rates.cycle_s:
            return True
        fast = True
        counted = []
        for op, direction in enumerate(self.statistics.directions):
            moved, done = self._done_by_rate[op]
            if (direction.bytes - moved) / span < rates.least_bytes_per_second[op] and direction.ios:
                fast = False
            if (direction.ios - done) / span < rates.least_iops[op] and direction.ios:
                fast = False
            counted.append((direction.bytes, direction.ios))
        self._done_by_rate = counted
        self._rate_looked_s = now
        return fast
