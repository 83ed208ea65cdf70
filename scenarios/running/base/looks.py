"""Utilization of everything during a part of a run: the difference of two looks at its usages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ....model.process.process import Process
from ....model.programs.operation import Kind, Operation
from ....model.statistics.usage import PROGRAM, SATURATED, Usage, bottleneck
from .run import Run
from .supply import drive_supply

_EDGES = (Kind.MARK, Kind.LAP)
"""Where a program looks at the clock."""


@dataclass(frozen=True, slots=True)
class Look:
    """What a run had done at a moment.

    Attributes
    ----------
    span
        Seconds since the measurement began.
    usages
        Utilization of everything since then, by kind and name.
    moved
        Bytes that each drive has read and written since then.
    """

    span: float
    usages: dict[tuple[str, str], Usage]
    moved: dict[str, int]


def look_at(run: Run) -> Look:
    """Look at a run now."""
    span = run.span
    moved = {name: drive.read_bytes + drive.write_bytes for name, drive in run.machine.disks.items()}
    usages = run.usages() if span > 0 else ()
    return Look(span, {(each.kind, each.name): each for each in usages if each.kind != PROGRAM}, moved)


def usages_between(before: Look, after: Look) -> list[Usage]:
    """Utilization of everything between two looks; counts are those of the whole run."""
    span = after.span - before.span
    if span <= 0:
        return []

    def share(now: float, then: float) -> float:
        return min(1.0, max(0.0, (now * after.span - then * before.span) / span))

    found = []
    for key, usage in after.usages.items():
        old = before.usages.get(key)
        old_ways = {way.name: way.utilization for way in old.ways} if old is not None else {}
        ways = tuple(
            replace(way, utilization=share(way.utilization, old_ways.get(way.name, 0.0))) for way in usage.ways
        )
        busy = share(usage.utilization, old.utilization if old is not None else 0.0)
        found.append(replace(usage, utilization=max((way.utilization for way in ways), default=busy), ways=ways))
    return found


class PhaseLooks:
    """Looks at a run where a process begins and ends the phases that its program times.

    Parameters
    ----------
    run
        The run.
    title
        What the process is called where it is the bottleneck itself.

    Attributes
    ----------
    phases
        The name of each phase, the looks at its beginning and its end, and the CPU time (s) of its process in it.
    """

    def __init__(self, run: Run, title: str) -> None:
        self._run = run
        self._title = title
        self._begun: tuple[str, Look, float] | None = None
        self.phases: list[tuple[str, Look, Look, float]] = []

    def watched(self, process: Process, operations: Iterable[Operation]) -> Iterator[Operation]:
        """The operations of a process, with a look at each beginning and end of a phase."""
        self._begun = ("", look_at(self._run), process.cpu_s)
        for operation in operations:
            if operation.kind in _EDGES:
                self._end(process)
                if operation.kind is Kind.MARK:
                    self._begun = (operation.file, look_at(self._run), process.cpu_s)
            yield operation
        self._end(process)

    def _end(self, process: Process) -> None:
        if self._begun is not None:
            name, before, cpu_s = self._begun
            self.phases.append((name, before, look_at(self._run), process.cpu_s - cpu_s))
            self._begun = None

    def bottlenecks(self) -> dict[str, str]:
        """What limits each phase, in words."""
        found = {}
        for name, before, after, cpu_s in self.phases:
            usages, span = usages_between(before, after), after.span - before.span
            if not usages:
                continue
            share = min(1.0, cpu_s / span)
            host = max((usage.utilization for usage in usages if usage.kind == "cpu"), default=0.0)
            if share >= SATURATED > host:
                usages.append(Usage(self._title, PROGRAM, share))
            found[name] = bottleneck(usages)
        return found

    def excess(self, scale: int) -> str | None:
        """A sentence that says so if a drive moves more in a phase than medium and cache can give; None if none does.

        Parameters
        ----------
        scale
            Of the run: times and bytes are that many times larger, and the cache of the drive is not.
        """
        drives = self._run.machine.scenario.machine.drives
        for name, before, after, _ in self.phases:
            for drive, moved in after.moved.items():
                seconds = scale * (after.span - before.span)
                found = drive_supply(drives[drive].spec())
                what = f"{self._title}, {name or 'before its first phase'}, {drive}"
                text = found.excess(what, scale * (moved - before.moved[drive]), seconds)
                if text is not None:
                    return text
        return None
