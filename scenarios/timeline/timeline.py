"""A timeline: the first I/Os of a measurement, and every command, transfer and work that came of them.

`record` runs a scenario and takes notes; :func:`.chrome_trace.chrome_trace` gives them the form that Perfetto and
Chrome draw.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from ...compiled.loader import in_use
from ..description.scenario import ScenarioSpec
from ..description.workloads import LoadSpec
from ..running.base.sample import Sample
from ..running.simulate import simulate
from ..workers.from_source import done_from_source
from .causes import RecordedError
from .events import Command, ControllerCommand, CpuWork, LogicalIO, Transfer, Wait
from .length import DEFAULT_IOS
from .recorder import Recorder

__all__ = [
    "Command",
    "ControllerCommand",
    "CpuWork",
    "LogicalIO",
    "Recorder",
    "Timeline",
    "Transfer",
    "Wait",
    "record",
]


@dataclass(frozen=True, slots=True)
class Timeline:
    """What happened from the beginning of a measurement until its first I/Os were complete.

    Attributes
    ----------
    scenario
        Its name.
    began_s, ended_s
        When the first thing in it began and the last was over, by the simulated clock.
    ios
        The workload's I/Os, in order of arrival.
    commands
        What the drives did, in order of completion: those of other I/Os and of a rebuild, too.
    work
        What processors did.
    transfers
        What crossed links.
    controller_commands
        What hardware controllers were given.
    """

    scenario: str
    began_s: float
    ended_s: float
    ios: tuple[LogicalIO, ...]
    commands: tuple[Command, ...]
    work: tuple[CpuWork, ...]
    transfers: tuple[Transfer, ...]
    controller_commands: tuple[ControllerCommand, ...]

    @classmethod
    def of(cls, scenario: str, recorder: Recorder) -> Timeline:
        """What a recorder has noted of a run of `scenario`."""
        return cls(
            scenario=scenario,
            began_s=recorder.began_s,
            ended_s=recorder.ended_s,
            ios=tuple(recorder.ios),
            commands=tuple(recorder.commands),
            work=tuple(recorder.work),
            transfers=tuple(recorder.transfers),
            controller_commands=tuple(recorder.controller_commands),
        )

    def commands_of(self, number: int) -> list[Command]:
        """The drives' commands that served a logical I/O, in the order in which they came to the drives' queues."""
        found = [command for command in self.commands if number in command.causes]
        return sorted(found, key=lambda command: (command.arrived_s, command.started_s, command.drive))


def record(spec: ScenarioSpec, sample: Sample | None = None, ios: int = DEFAULT_IOS) -> Timeline:
    """Run a scenario, as far as that takes, and record the first `ios` I/Os of its measurement.

    Compiled parts cannot be watched: where a compiled build is in use, this runs in a process of its own, from source.

    Parameters
    ----------
    spec
        What to run.
    sample
        How much of a long run; as for :func:`raidsim.scenarios.running.simulate.simulate`.
    ios
        How many logical I/Os.
    """
    task = (spec, sample, ios)
    return done_from_source(_record, task) if in_use() else _record(task)


def _record(task: tuple[ScenarioSpec, Sample | None, int]) -> Timeline:
    spec, sample, ios = task
    workload = spec.workload
    # A run of several parts is recorded in its last one, and one with a precision begins to measure when it is settled.
    stops = isinstance(workload, LoadSpec) and workload.precision is None and not workload.phases
    recorder = Recorder(ios, stops)
    with suppress(RecordedError):
        simulate(spec, sample, observer=recorder)
    return Timeline.of(spec.name, recorder)
