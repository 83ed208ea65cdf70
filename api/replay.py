"""A recorded trace on a machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from ..calibration.uncertainty.model_interval import run_intervals
from ..model.core.errors import InputError
from ..model.files.quantities import format_duration, format_size
from ..scenarios.questions.without_bottleneck import WithoutBottleneck
from ..scenarios.questions.without_waits import WithoutWait
from ..scenarios.traces.reading import Trace, open_trace
from ..scenarios.traces.replay import replay as replaying
from ..scenarios.traces.replay.other_drive import with_drive
from ..scenarios.traces.replay.per_request import KINDS
from ..scenarios.traces.replay.placement import Fit
from ..scenarios.traces.replay.replay import ReplayOptions
from .answer.tree import Answer, Words, lines
from .result import Result
from .scenario import Scenario, Source, scenario_of
from .support.progress import progress_share
from .support.run_document import document
from .tables.run import sure_lines

__all__ = [
    "KINDS",
    "Fit",
    "Replay",
    "ReplayOptions",
    "open_trace",
    "reading_notes",
    "replay",
    "replay_opened",
]


class Replay(Result):
    """What a replayed trace gave.

    Attributes
    ----------
    found
        Everything that is known of the replay: the device, what was chosen of the trace, how long the rest took.
    """

    schema = "raidsim.replay"

    def __init__(self, scenario: Scenario, found: replaying.Replay, trace: Trace, options: ReplayOptions) -> None:
        super().__init__(scenario, found.prediction, spec=found.spec)
        self.found = found
        self.notes: tuple[str, ...] = (*found.notes, *reading_notes(trace, options))
        self._options = options
        self._name, self._format = trace.path.name, trace.format
        self._trace = {"trace": str(trace.path), "format": trace.format, "left_out": dict(trace.skipped)}

    @property
    def completed(self) -> int:
        """I/Os that were replayed."""
        return self.found.completed

    def measured(self, all_parts: bool = False) -> Answer:
        """See :meth:`Result.measured`; what was replayed comes first."""
        told = lines([*self._how(), *(f"note: {note}" for note in self.notes)])
        return Answer("", [*told, super().measured(all_parts)])

    def sure(self) -> list[Words]:
        """See :meth:`Result.sure`; nothing is known of an array that was kept busy."""
        if self._options.depth is not None:
            return []
        return list(sure_lines(self.prediction, run_intervals(self.spec), offered=True))

    def _how(self) -> list[str]:
        """What was replayed, and how."""
        done, options, survey = self.found, self._options, self.found.survey
        devices = f", {len(done.starts)} devices side by side" if len(done.starts) > 1 else ""
        share = 100 * survey.reads / survey.records
        held = f"{survey.records:,} I/Os, {share:.0f} % reads, {format_size(survey.bytes)}"
        within = format_duration(survey.length_s)
        told = f"{self._name} ({self._format}) on {done.target}: {held} in {within}{devices}"
        if options.depth is not None:
            how = f"{options.depth:,} outstanding, whenever they came"
            if options.think:
                how = "with the recorded think times"
            return [told, f"{done.completed:,} of them, {how}"]
        how = "at their own times" if options.speedup == 1 else f"{options.speedup:g} times as fast as they came"
        return [told, f"{how}; all complete {format_duration(done.drained_s or 0.0)} after the last came"]

    def document(self, without: WithoutBottleneck | None = None, waits: Sequence[WithoutWait] = ()) -> dict[str, Any]:
        """Return the replay as ``raidsim replay --json`` prints it."""
        survey, options = self.found.survey, self._options
        replayed = {
            **self._trace,
            "target": self.found.target,
            "records": survey.records,
            "completed": self.completed,
            "reads": survey.reads,
            "discards": survey.discards,
            "flushes": survey.flushes,
            "bytes": survey.bytes,
            "length_s": survey.length_s,
            "devices": self.found.starts,
            "unaligned": survey.unaligned,
            "speedup": options.speedup,
            "depth": options.depth,
            **({"think": True} if options.think else {}),
            "drained_s": self.found.drained_s,
            "notes": list(self.notes),
        }
        return {**document(self.spec, self.prediction, without=without, waits=waits), "replay": replayed}

    def _document(self) -> Mapping[str, Any]:
        return {
            **super().document(),
            "target": self.found.target,
            "completed": self.completed,
            "drained_s": self.found.drained_s,
            "notes": self.notes,
        }


def replay(
    trace: str | PathLike[str] | bytes,
    machine: Source,
    *,
    format: str | None = None,
    target: str | None = None,
    speedup: float = 1.0,
    depth: int | None = None,
    think: bool = False,
    drive: str | None = None,
    device: str | None = None,
    fit: Fit = "refuse",
    limit: int | None = None,
    duration: float | None = None,
    warm_up: float = 0.0,
    skip_malformed: bool = False,
    progress: bool = True,
) -> Replay:
    """Play a recorded trace on the machine of a scenario.

    Parameters
    ----------
    trace
        A trace file, or its content as bytes, also packed with gzip, xz or zstd.
    machine
        A :class:`Scenario`, a name of the library or a scenario file. The scenario's own load is not run.
    format
        Format of the trace; default: found by its content.
    target
        Drive or array; default: the scenario's.
    speedup
        Divide the times between I/Os by this.
    depth
        Ignore the times and keep this number of I/Os outstanding. Default: at their own times.
    think
        If true, send each I/O when the one before is complete and its recorded think time is over.
    drive
        Name or file of a drive that replaces every drive of the machine.
    device
        Only the I/Os of this device of the trace.
    fit
        What becomes of I/Os beyond the end of the target: "refuse", "wrap" or "scale".
    limit
        Only the first records.
    duration
        Only this much simulated time (s).
    warm_up
        Share of the I/Os (0 to 1) before the measurement.
    skip_malformed
        If true, leave out malformed records; the notes count them. If false, the first one is an error.
    progress
        If true, show progress after a second.

    Raises
    ------
    InputError
        If the trace cannot be read, or does not fit.
    """
    options = ReplayOptions(
        target=target,
        speedup=speedup,
        depth=1 if think and depth is None else depth,
        think=think,
        device=device,
        fit=fit,
        limit=limit,
        duration=duration,
        warm_up=warm_up,
    )
    options.check()
    chosen = scenario_of(machine)
    source = trace if isinstance(trace, bytes) else Path(trace)
    opened = open_trace(source, format, skip_malformed, discards=True, flushes=True)
    done = replay_opened(chosen, opened, options, drive, progress=progress)
    return Replay(chosen, done, opened, options)


def replay_opened(
    scenario: Scenario,
    trace: Trace,
    options: ReplayOptions,
    drive: str | None = None,
    per_request: bool = False,
    progress: bool = True,
) -> replaying.Replay:
    """Replay an opened trace; `per_request` logs each I/O."""
    spec = scenario.spec if drive is None else with_drive(scenario.spec, drive)
    if options.think:
        next(trace.measured(), None)  # the format is refused before anything is simulated
    thinks = (lambda: (io.think_s for io in trace.measured())) if options.think else None
    with progress_share("replaying", progress) as follow:
        try:
            return replaying.replay(
                spec, trace.columns, options, lambda run: follow(lambda: run.share), thinks, per_request
            )
        except InputError as error:
            if error.place == "trace":
                raise InputError(str(trace.path), error.found, error.expected) from None
            raise scenario.located(error) from None


def reading_notes(trace: Trace, options: ReplayOptions) -> list[str]:
    """What the reader left out, and a warning of a coarse clock."""
    notes = [f"left out by the reader: {count:,} {what}" for what, count in trace.skipped.items()]
    notes += [f"left out: {error}" for error in trace.errors]
    if trace.tick_s and options.depth is None:
        notes.append(f"the trace's clock ticks every {format_duration(trace.tick_s)}: I/Os come in bunches")
    return notes
