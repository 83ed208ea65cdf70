"""A recorded trace on a machine."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from ..model.core.errors import InputError
from ..scenarios.traces.reading import open_trace
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

    def __init__(self, scenario: Scenario, found: replaying.Replay) -> None:
        super().__init__(scenario, found.prediction, spec=found.spec)
        self.found = found

    @property
    def completed(self) -> int:
        """I/Os that were replayed."""
        return self.found.completed

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done to the trace."""
        return self.found.notes

    def _document(self) -> Mapping[str, Any]:
        return {
            **super()._document(),
            "target": self.found.target,
            "completed": self.completed,
            "drained_s": self.found.drained_s,
            "notes": self.notes,
        }


def replay(
    trace: str | PathLike[str],
    machine: Source,
    *,
    format: str | None = None,
    target: str | None = None,
    speedup: float = 1.0,
    depth: int | None = None,
    device: str | None = None,
    fit: Fit = "refuse",
    limit: int | None = None,
    duration: float | None = None,
    warm_up: float = 0.0,
    progress: bool = True,
) -> Replay:
    """Play a recorded trace on the machine of a scenario.

    Parameters
    ----------
    trace
        A trace file, also packed with gzip, xz or zstd.
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
        depth=depth,
        device=device,
        fit=fit,
        limit=limit,
        duration=duration,
        warm_up=warm_up,
    )
    options.check()
    chosen = scenario_of(machine)
    opened = open_trace(Path(trace), format, discards=True)
    with progress_share("replaying", progress) as follow:
        try:
            done = replaying.replay(chosen.spec, opened.records, options, lambda run: follow(lambda: run.share))
        except InputError as error:
            if error.place == "trace":
                raise InputError(str(trace), error.found, error.expected) from None
            raise chosen.located(error) from None
    return Replay(chosen, done)
