"""What the programs of a run print: their own reports, from the phases of the simulated process.

A run at a scale shows the whole program: its sizes and counts, and the times multiplied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...model.process.process import Phase
from ...model.programs import bonnie_plus_plus_report, bonnie_report, iozone_report, postmark_report, tiobench_report
from ...model.programs.phase_result import PhaseResult
from ...model.programs.time_report import dd_lines, time_lines
from ..description.program_steps import (
    BonniePlusPlusStep,
    BonnieStep,
    DropCacheStep,
    IozoneStep,
    PostMarkStep,
    Step,
    TiobenchStep,
    WriteFileStep,
)
from .program_jobs import Setting, bonnie, bonnie_plus_plus, iozone, tiobench, whole_postmark

_LATER_BONNIE = "1.96"
_PHASES = ("create", "transactions", "delete", "end")


@dataclass(frozen=True, slots=True)
class Ran:
    """A step that one process has run.

    Attributes
    ----------
    setting
        What it found.
    phases
        What it did, as simulated.
    seconds, cpu_s
        Of all of it, of the whole program.
    machine, directory
        What the report calls the machine, and where the program worked.
    """

    setting: Setting
    phases: Sequence[Phase]
    seconds: float
    cpu_s: float
    machine: str
    directory: str

    @property
    def whole(self) -> Setting:
        """The setting of the run that is reported."""
        return replace(self.setting, scale=1)

    def results(self, seeks: int = 0) -> list[PhaseResult]:
        """The phases of the whole program; `seeks` is how many there were in the simulated one."""
        scale = self.setting.scale
        return [
            PhaseResult(
                phase.name,
                phase.seconds * scale,
                phase.bytes * scale,
                (seeks if phase.name == "seeks" else phase.operations) * scale,
                phase.cpu_s * scale,
            )
            for phase in self.phases
        ]


def program_report(step: Step, ran: Ran) -> str:
    """What the program of a step prints; "" for one that prints nothing."""
    if isinstance(step, DropCacheStep):
        return ""
    return _REPORTS.get(type(step), _timed)(step, ran)


def _bonnie(step: BonnieStep, ran: Ran) -> str:
    run, seeks = bonnie(step, ran.whole), bonnie(step, ran.setting).settings.seeks
    file = f"{ran.directory.rstrip('/')}/Bonnie"
    return bonnie_report.report(run, ran.results(seeks), step.version, ran.machine, file)


def _bonnie_plus_plus(step: BonniePlusPlusStep, ran: Ran) -> str:
    run, seeks = bonnie_plus_plus(step, ran.whole), bonnie_plus_plus(step, ran.setting).settings.seeks
    version = step.version if step.version == "1.03" else _LATER_BONNIE
    return bonnie_plus_plus_report.report(run, ran.results(seeks), version, ran.machine)


def _postmark(step: PostMarkStep, ran: Ran) -> str:
    run = whole_postmark(step)
    began = {phase.name: phase.began for phase in ran.phases}
    start = began[_PHASES[0]]
    clock = postmark_report.Clock(*(int((began[name] - start) * ran.setting.scale) for name in _PHASES))
    return postmark_report.progress(run) + postmark_report.report(run, clock)


def _tiobench(step: TiobenchStep, ran: Ran) -> str:
    return tiobench_report.report([(tiobench(step, ran.whole).settings, ran.results())])


def _iozone(step: IozoneStep, ran: Ran) -> str:
    return iozone_report.report(iozone(step, ran.whole), ran.results())


def _dd(step: WriteFileStep, ran: Ran) -> str:
    size = step.size // step.block_size * step.block_size or step.block_size
    result = PhaseResult("", ran.seconds, size, cpu_s=ran.cpu_s)
    return dd_lines(result, step.block_size) + time_lines(result)


def _timed(_: Step, ran: Ran) -> str:
    return time_lines(PhaseResult("", ran.seconds, cpu_s=ran.cpu_s)).removeprefix("\n")


_REPORTS: dict[type, Callable[[Any, Ran], str]] = {
    BonnieStep: _bonnie,
    BonniePlusPlusStep: _bonnie_plus_plus,
    PostMarkStep: _postmark,
    TiobenchStep: _tiobench,
    IozoneStep: _iozone,
    WriteFileStep: _dd,
}
