"""A recorded trace replayed on the machine of a scenario.

Machine, kernel and arrays are the scenario's; its workload is replaced by the trace
(:mod:`raidsim.model.loads.trace_load`). The run ends when the last I/O is complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from ....model.core.errors import ArrayFailed, InputError
from ....model.files.description import Spec
from ....model.loads.trace_load import ClosedTrace, ThinkingTrace, TimedTrace
from ....model.tasks.io_call_price import submission
from ...description.scenario import ScenarioSpec, target_of
from ...description.workloads import MOST_OUTSTANDING, LoadSpec
from ...machine.loads import FIRST_ISSUER
from ...machine.machine import BuiltMachine
from ...machine.mapper_plan import with_workload
from ...running.base.prediction import Prediction
from ...running.base.run import Run
from ...running.base.sample import Sample
from ...running.load_windows import MOST, LoadWindows
from ...running.summary import latency_figures, prediction_of
from ...running.watched_load import LEAST_IOS, backlog_grows
from ..formats.record import TraceColumns
from .discards import TraceDiscards
from .flushes import FlushedDevice
from .per_request import RequestLog
from .placement import Fit, Placement, Selection, Survey, TraceMemory, placed

_FIRST_WINDOW_S = 1e-3
_MOST_IOPS = 1e7
_LATE = 1.25
"""A trace that takes so many times its own length came faster than the devices took it."""


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """How a trace is replayed.

    Attributes
    ----------
    target
        Drive, array or encrypted device; None for the scenario's.
    speedup
        The times between I/Os are divided by this.
    depth
        Keep this number outstanding and ignore the recorded times; None for their own times.
    device
        Only the I/Os of this device of the trace.
    fit
        What becomes of I/Os that lie beyond the end.
    limit
        No more records than this.
    duration
        No longer than this (s of simulated time); I/Os under way then are completed.
    warm_up
        Share of the I/Os that are complete when the measurement begins.
    think
        Send each I/O when the one before is complete and its recorded think time is over; `depth` is 1 then.
    """

    target: str | None = None
    speedup: float = 1.0
    depth: int | None = None
    device: str | None = None
    fit: Fit = "refuse"
    limit: int | None = None
    duration: float | None = None
    warm_up: float = 0.0
    think: bool = False

    def check(self) -> None:
        """Refuse what means nothing.

        Raises
        ------
        InputError
            Naming the option.
        """
        if not 0 < self.speedup < float("inf"):
            raise InputError("--speedup", f"found {self.speedup}", "expected: a number above 0")
        if self.think and self.depth != 1:
            raise InputError("--think", f"found it with a depth of {self.depth}", "expected: one I/O outstanding")
        if self.depth is not None:
            if not 1 <= self.depth <= MOST_OUTSTANDING:
                raise InputError("--depth", f"found {self.depth}", f"expected: 1 to {MOST_OUTSTANDING}")
            if self.speedup != 1:
                raise InputError("--speedup", "found it with --closed, which has no times", "expected: one of the two")
            if self.warm_up and self.duration is not None:
                found = "found it with --closed and --duration"
                raise InputError("--warm-up", found, "expected: with --limit instead of --duration")
        if self.limit is not None and self.limit < 1:
            raise InputError("--limit", f"found {self.limit}", "expected: 1 or more")
        if self.duration is not None and not self.duration > 0:
            raise InputError("--duration", f"found {self.duration}", "expected: more than 0")
        if not 0 <= self.warm_up < 1:
            raise InputError("--warm-up", f"found {self.warm_up}", "expected: 0% or more, below 100%")

    @property
    def selection(self) -> Selection:
        """Which records that chooses."""
        open_until = None if self.duration is None or self.depth is not None else self.duration * self.speedup
        return Selection(self.device, self.limit, open_until)


@dataclass(frozen=True, slots=True)
class Replay:
    """A trace that has been replayed.

    Attributes
    ----------
    spec
        The scenario, with a load of direct I/O like the trace (mean rate, or depth) as its workload.
    target
        The device it was replayed on.
    survey
        What was chosen of the trace.
    completed
        I/Os that were replayed; fewer than were chosen if the time was over.
    starts
        Where on the target each device of the trace begins (bytes).
    drained_s
        Time from the arrival of the last I/O to the completion of all (s); None without times.
    notes
        What was done to the trace, in sentences.
    prediction
        What the run gave.
    log
        Each I/O, if that was asked for.
    """

    spec: ScenarioSpec
    target: str
    survey: Survey
    completed: int
    starts: dict[str, int]
    drained_s: float | None
    notes: tuple[str, ...]
    prediction: Prediction
    log: RequestLog | None = None


class TraceSpec(Spec):
    """The workload of a machine that a trace is replayed on: nothing of its own, on one target."""

    kind: Literal["trace"] = "trace"
    targets: tuple[str]
    """The device that gets the I/Os."""


class ReplayRun(Run):
    """The I/Os of a trace, from the first to the last.

    Attributes
    ----------
    load
        What sends them; it is made with when the warm-up ends.
    saturated
        Whether they came faster than the devices took them, for as long as they came.
    """

    def __init__(
        self, machine: BuiltMachine, load: Callable[..., TimedTrace | ClosedTrace], records: int, counted: int
    ) -> None:
        self.load = load(counted=counted, when_warm=self._warm)
        machine.loads.append(self.load)
        super().__init__(machine, Sample())
        self.saturated = False
        self._warms_up = counted > 0
        self._records = records
        self._windows: LoadWindows | None = None

    @property
    def share(self) -> float:
        """See :attr:`Run.share`."""
        return self.load.completed / self._records

    def run(self) -> float:
        """Bytes per second of the measurement."""
        engine = self.machine.engine
        if not self._warms_up:
            self._warm()
        engine.run(self.load.finished)
        if not self.span > 0:
            raise InputError("--warm-up", "nothing was left to measure after it", "expected: a smaller share")
        if isinstance(self.load, TimedTrace):
            grows = self._windows is not None and backlog_grows(self._windows)
            self.saturated = grows or self.load.stood_still or self._ends_late(self.load)
        return self.load.bytes / self.span

    def _ends_late(self, load: TimedTrace) -> bool:
        """Whether the devices needed much longer for many I/Os than these took to come."""
        came_s = max(0.0, load.last_arrival_s - self.began)
        return load.completed >= LEAST_IOS and self.span > _LATE * came_s

    def _warm(self) -> None:
        """The warm-up is over."""
        if not isinstance(self.load, TimedTrace):
            self._begin()
            return
        self._windows = LoadWindows(self.machine.engine, [self.load])
        self._windows.begin(_FIRST_WINDOW_S, self._begin)
        self._await_window(self._windows, self.load)

    def _await_window(self, windows: LoadWindows, load: TimedTrace) -> None:
        """Look at the end of every window, as long as I/Os come."""

        def look(_: Any) -> None:
            if load.all_arrived:
                return
            windows.close()
            if windows.count >= MOST:
                windows.join()
            self.machine.engine.call_at(windows.next_end, look)

        self.machine.engine.call_at(windows.next_end, look)


def replay(
    scenario: ScenarioSpec,
    source: Callable[[], Iterable[TraceColumns]],
    options: ReplayOptions,
    watch: Callable[[Run], None] | None = None,
    thinks: Callable[[], Iterator[float]] | None = None,
    per_request: bool = False,
) -> Replay:
    """Replay a trace on the machine of a scenario.

    Parameters
    ----------
    scenario
        Whose machine, kernel, arrays and failures are used.
    source
        Gives the records of the trace; called once to look, and once to replay if they are many.
    options
        How.
    watch
        Called with the run before it begins.
    thinks
        Gives the think time (s) after each record, in their order; needed for ``options.think``.
    per_request
        Whether each I/O is logged.

    Raises
    ------
    InputError
        If the trace does not fit on the target or is empty, or if an array fails.
    """
    options.check()
    target = target_of(scenario, options.target)
    machine = BuiltMachine(with_workload(scenario, TraceSpec(targets=(target,))))
    device = machine.opened(machine.targets[0])
    selection = options.selection
    memory = TraceMemory()
    discards = TraceDiscards(device.discard_limits.refusal, options.device)
    source = partial(discards.taken, source)
    survey = Survey.of(selection.of(source()), memory)
    if not survey.records:
        asked = "no I/O" if options.device is None else f"no I/O of a device {options.device!r}"
        raise InputError("trace", asked, "expected: at least one I/O of 1 byte or more")
    if survey.discards + survey.flushes == survey.records:
        what = "flushes" if survey.flushes else "discards"
        raise InputError("trace", f"{what} and nothing else", "expected: a trace with reads or writes, too")
    if survey.flushes:
        device = FlushedDevice(device)
    place = Placement(survey, target, device.capacity, options.fit)
    records = placed(source, selection, survey, place, memory)
    counted = int(options.warm_up * survey.records)

    def load(**warm: Any) -> TimedTrace | ClosedTrace:
        engine, host = machine.engine, machine.host
        common: dict[str, Any] = {"issuer": FIRST_ISSUER, "name": f"{target}/trace", **warm}
        if options.think:
            # What the host did is part of the recorded think times.
            assert thinks is not None
            return ThinkingTrace(engine, device, records, thinks(), **common)
        costs = submission(host.prices)
        common |= {"submit_s": costs.submit_s, "cpu": machine.cpu, "pages": costs.pages}
        if options.depth is None:
            return TimedTrace(engine, device, records, speedup=options.speedup, complete_s=costs.wake_s, **common)
        return ClosedTrace(engine, device, records, depth=options.depth, wake_s=costs.wake_s, host=host, **common)

    run = ReplayRun(machine, load, survey.records, counted)
    log = RequestLog(machine.engine, machine.disks.values()) if per_request else None
    if log is not None:
        run.load.on_sent, run.load.on_ended = log.sent, log.ended
    if options.depth is not None and options.duration is not None:
        machine.engine.call_at(options.duration, lambda _: run.load.stop())
    if watch is not None:
        watch(run)
    try:
        rate = run.run()
    except ArrayFailed as error:
        raise InputError(
            "failures", str(error), "expected: failures that every array survives when they come"
        ) from None
    if not rate > 0:
        raise InputError("--duration", "no I/O was complete in it", "expected: long enough for one")
    prediction = prediction_of(run, run.span, rate)
    figures = prediction.figures | latency_figures(prediction.latencies)
    prediction = replace(prediction, figures=figures, saturated=run.saturated)
    timed = run.load if isinstance(run.load, TimedTrace) else None
    return Replay(
        spec=scenario.model_copy(update={"workload": _like(survey, target, options)}),
        target=target,
        survey=survey,
        completed=run.load.completed,
        starts=place.starts,
        drained_s=None if timed is None else machine.engine.now - timed.last_arrival_s,
        notes=(
            *_trace_notes(survey, place, options),
            *discards.notes(survey),
            *([f"flushes: {survey.flushes:,} of the I/Os"] if survey.flushes else []),
            *([] if timed is None else _run_notes(timed)),
        ),
        prediction=prediction,
        log=log,
    )


def _like(survey: Survey, target: str, options: ReplayOptions) -> LoadSpec:
    """A load of as many outstanding, or of the trace's mean rate."""
    share = survey.reads / (survey.records - survey.discards - survey.flushes)
    if options.depth is not None:
        return LoadSpec(kind="load", targets=(target,), read_share=share, depth=options.depth)
    length_s = survey.length_s / options.speedup
    iops = min(_MOST_IOPS, survey.records / length_s) if length_s > 0 else _MOST_IOPS
    return LoadSpec(kind="load", targets=(target,), read_share=share, total_iops=iops)


def _trace_notes(survey: Survey, place: Placement, options: ReplayOptions) -> list[str]:
    notes = []
    if survey.unaligned:
        notes.append(f"{_ios(survey.unaligned)} did not begin and end at 512 bytes: rounded outwards")
    if survey.empty:
        notes.append(f"records of 0 bytes left out: {survey.empty:,}")
    if survey.earlier and options.depth is None:
        notes.append(f"{_ios(survey.earlier)} earlier than the one before: sent right after it")
    if place.moved:
        how = "wrapped around" if options.fit == "wrap" else "moved by scaling"
        notes.append(f"{_ios(place.moved)} {how} to fit in {place.room:,} bytes")
    return notes


def _run_notes(load: TimedTrace) -> list[str]:
    if not load.stood_still:
        return []
    return ["so many I/Os were behind that the trace had to wait: from there on its times are not kept"]


def _ios(count: int) -> str:
    return f"{count:,} I/O" if count == 1 else f"{count:,} I/Os"
