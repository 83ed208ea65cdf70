"""Tasks of files that a visitor brings: jobs of fio, recorded traces, and a machine with what was measured on it."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ... import InputError
from ...api.diagnosis import Diagnosis, diagnose
from ...api.fio import fio
from ...api.replay import Replay, replay
from ...api.scenario import Scenario
from ...api.support.explorer import Compared, Fit, compared, parse
from .task import Progress

FIO_S = 10.0
"""Simulated time (s) after which jobs of fio end here."""
MOST_RECORDS = 100_000
"""Records of a trace that are replayed here."""


@dataclass(frozen=True, slots=True)
class FioAnswer:
    """What fio would report, and the same next to what it measured.

    Attributes
    ----------
    report
        fio's JSON document of the jobs on the model.
    bottleneck, notes
        What limits, and what was assumed.
    compared
        Both sides, figure by figure; empty without a measurement.
    """

    report: dict[str, Any]
    bottleneck: str
    notes: tuple[str, ...]
    compared: tuple[Compared, ...] = ()


@dataclass(frozen=True, slots=True)
class FioTask:
    """Jobs of fio on the machine of a scenario, and what fio measured of them (empty: nothing)."""

    CPU_S: ClassVar[float] = 90.0
    SHORT: ClassVar[bool] = False
    job: str
    scenario: Scenario
    measured: str = ""

    def perform(self, progress: Progress) -> FioAnswer:
        """See :meth:`Task.perform`; a job may not read the environment of the server."""
        if "${" in self.job:
            raise InputError("job", "it uses a variable of the environment", "expected: a job without ${...}")
        with progress.told():
            result = fio(self.job, self.scenario, at_most=FIO_S)
        rows = compared(result.run, parse(self.measured, "results"), "results") if self.measured else ()
        return FioAnswer(result.report, result.bottleneck, result.notes, tuple(rows))


@dataclass(frozen=True, slots=True)
class ReplayTask:
    """A trace on the machine of a scenario.

    Attributes
    ----------
    trace
        The content of the file.
    scenario
        Whose machine and array it is played on.
    fit
        What becomes of I/Os beyond the end of the array.
    speedup
        The times between I/Os are divided by this.
    depth
        I/Os that are kept outstanding, without regard to their times; 0: they come at their times.
    """

    CPU_S: ClassVar[float] = 90.0
    SHORT: ClassVar[bool] = False
    trace: bytes
    scenario: Scenario
    fit: Fit = "refuse"
    speedup: float = 1.0
    depth: int = 0

    def perform(self, progress: Progress) -> Replay:
        """See :meth:`Task.perform`."""
        with progress.told():
            return replay(
                self.trace,
                self.scenario,
                fit=self.fit,
                speedup=1.0 if self.depth else self.speedup,
                depth=self.depth or None,
                limit=MOST_RECORDS,
            )


@dataclass(frozen=True, slots=True)
class DiagnosisTask:
    """What is wrong with a machine: names and texts of outputs of its tools, and of reports of what it reached."""

    CPU_S: ClassVar[float] = 150.0
    SHORT: ClassVar[bool] = False
    texts: tuple[tuple[str, str], ...]

    def perform(self, progress: Progress) -> Diagnosis:
        """See :meth:`Task.perform`."""
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder) / f"{number}" / Path(name).name for number, (name, _) in enumerate(self.texts)]
            for path, (_, text) in zip(paths, self.texts, strict=True):
                path.parent.mkdir()
                path.write_text(text, encoding="utf-8")
            try:
                with progress.told():
                    return diagnose(*paths, workers=0)
            except InputError as error:
                place = error.place
                for path in paths:
                    place = place.replace(str(path), path.name)
                raise InputError(place, error.found, error.expected) from None
