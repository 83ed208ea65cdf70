"""A recorded trace on a machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from ..model.core.errors import InputError
from ..model.files.quantities import format_duration
from ..scenarios.description.other_drive import with_drive
from ..scenarios.traces.reading import Trace, open_trace
from ..scenarios.traces.replay import replay as replaying
from ..scenarios.traces.replay.placement import Fit
from ..scenarios.traces.replay.replay import ReplayOptions
from .result import Result
from .scenario import Scenario, Source, scenario_of
from .support.progress import progress_share


class Replay(Result):
    """What a replayed trace gave.

    Attributes
    ----------
    found
        Everything that is known of the replay: the device, what was chosen of the trace, how long the rest took.
    """

    schema = "raidsim.replay"

    def __init__(self, scenario: Scenario, found: replaying.Replay, notes: Sequence[str] = ()) -> None:
        super().__init__(scenario, found.prediction, spec=found.spec)
        self.found = found
        self._notes = notes

    @property
    def completed(self) -> int:
        """I/Os that were replayed."""
        return self.found.completed

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done to the trace, and what was left out of it."""
        return (*self.found.notes, *self._notes)

    def _document(self) -> Mapping[str, Any]:
        return {
            **super()._document(),
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
    return Replay(chosen, done, reading_notes(opened, options))


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
