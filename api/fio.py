"""fio's jobs on a machine."""

from __future__ import annotations

import math
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..calibration.fio_study.comparison import Compared, compared, missing
from ..calibration.formats.detect import read_report
from ..model.core.errors import InputError
from ..model.files.quantities import format_size, parse_size
from ..model.programs.fio.command_line import CommandLine, command_line, is_command_line, of_words
from ..model.programs.fio.options import is_option
from ..model.programs.fio.sections import Section, sections
from ..model.readahead import PAGE
from ..scenarios.description.scenario import ScenarioSpec
from ..scenarios.documents.document import document_from
from ..scenarios.documents.machine_catalogue import machine_names
from ..scenarios.fio.output.iolog import run_iolog
from ..scenarios.fio.output.json_document import json_document, json_text
from ..scenarios.fio.output.logs import write_logs
from ..scenarios.fio.output.normal_text import normal_text
from ..scenarios.fio.plan import chosen
from ..scenarios.fio.result import FioRun
from ..scenarios.fio.run import FioOptions, run_fio
from .answer.numbers import number
from .answer.tree import Answer, Verbatim
from .base import Drawn
from .scenario import Scenario
from .support.progress import progress_share
from .tables.fio import limits

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "Compared",
    "FioOptions",
    "FioResult",
    "FioRun",
    "chosen",
    "compared",
    "fio",
    "is_option",
    "job_sections",
    "jobs_of",
    "json_document",
    "json_text",
    "machine_scenario",
    "missing",
    "normal_text",
    "read_report",
    "run_iolog",
    "run_jobs",
    "write_logs",
]


_LARGEST = 1 << 20
"""Characters of a job file."""
_NS = 1e-9
_P99 = "99.000000"


class FioResult(Drawn):
    """What fio would report of its jobs on a machine.

    Attributes
    ----------
    run
        Everything that was measured.
    """

    schema = "raidsim.fio"

    def __init__(self, machine: str, run: FioRun) -> None:
        self.machine = machine
        self.run = run

    @property
    def iops(self) -> float:
        """I/Os per second of all jobs."""
        return math.fsum(row[f"{op}_iops"] for row in self._rows() for op in ("read", "write"))

    @property
    def throughput(self) -> float:
        """Bytes per second of all jobs."""
        return math.fsum(row[f"{op}_throughput"] for row in self._rows() for op in ("read", "write"))

    @property
    def bottleneck(self) -> str:
        """The part that limits, in words."""
        return self.run.limits

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed or left out."""
        return self.run.notes

    @property
    def text(self) -> str:
        """What fio prints, in its normal form."""
        return normal_text(self.run)

    @property
    def report(self) -> dict[str, Any]:
        """What ``fio --output-format=json`` prints, as plain data."""
        return json_document(self.run, False)

    def answer(self) -> Answer:
        """See :meth:`Value.answer`."""
        return Answer(f"fio on {self.machine}", [Verbatim(self.text), *limits(self.run)])

    def figure(self) -> Figure:
        from .pictures.fio import fio_figure

        return fio_figure(f"fio on {self.machine}", self._rows())

    def _document(self) -> Mapping[str, Any]:
        return {"machine": self.machine, "bottleneck": self.bottleneck, "notes": self.notes, "report": self.report}

    def _rows(self) -> Sequence[Mapping[str, Any]]:
        return [_row(job) for job in self.report["jobs"]]

    def __repr__(self) -> str:
        names = ", ".join(row["job"] for row in self._rows())
        return f"FioResult({names} on {self.machine!r}: {number(self.iops)} IOPS; bottleneck: {self.bottleneck})"


def _row(job: Mapping[str, Any]) -> dict[str, Any]:
    """A job of fio's report, in SI units."""
    row: dict[str, Any] = {"job": job["jobname"]}
    for op in ("read", "write"):
        figures = job[op]
        row[f"{op}_iops"] = float(figures["iops"])
        row[f"{op}_throughput"] = float(figures["bw_bytes"])
        none = math.nan if not figures["total_ios"] else 1.0
        row[f"{op}_latency_mean"] = none * _NS * figures["lat_ns"]["mean"]
        row[f"{op}_latency_p99"] = none * _NS * figures["clat_ns"].get("percentile", {}).get(_P99, math.nan)
    return row


def fio(
    job: str | PathLike[str],
    machine: Scenario | str | PathLike[str],
    *,
    only: Sequence[str] = (),
    target: str | None = None,
    files: Mapping[str, str | int] | None = None,
    at_most: float | None = None,
    progress: bool = True,
) -> FioResult:
    """Run jobs of fio on the machine of a scenario.

    Parameters
    ----------
    job
        A job file, its text (of several lines), or a command line of fio.
    machine
        A :class:`Scenario`, a name of the library or of a machine of the catalogue, or a scenario file. The scenario's
        own load is not run.
    only
        Names of jobs of the file; default: all.
    target
        Device for files, and for devices that the machine does not have.
    files
        Files that are there before, and their sizes.
    at_most
        End every job after this time (s) of its statistics.
    progress
        If true, show progress after a second.

    Raises
    ------
    InputError
        If a job cannot be run on the machine.
    """
    described = machine if isinstance(machine, Scenario) else machine_scenario(machine)
    text = str(job)
    found = _from_text(text, described.spec) if "\n" in text else job_sections(jobs_of(text), described.spec)
    sizes = {name: parse_size(size, f"files {name}") for name, size in (files or {}).items()}
    options = FioOptions(target, sizes, at_most)
    return FioResult(described.name, run_jobs(described.spec, chosen(found, list(only), "job"), options, progress))


def run_jobs(
    spec: ScenarioSpec, jobs: Sequence[Section], options: FioOptions, progress: bool = True, advice: str = ""
) -> FioRun:
    """Run jobs; after a minute the progress shows `advice`."""
    with progress_share("running fio's jobs", progress, advice) as follow:
        return run_fio(spec, jobs, options, lambda run: follow(lambda: run.share))


def _from_text(text: str, spec: ScenarioSpec) -> list[Section]:
    """The jobs of a text, which includes no other files."""

    def include(path: str) -> str:
        raise InputError("job", f"it includes {path}", "expected: a job file, or a text that includes none")

    return sections(text, "job", os.environ, include, _keywords(spec), numbered=True)


def _keywords(spec: ScenarioSpec) -> dict[str, int]:
    """What the words of fio's job files mean on the machine."""
    return {"pagesize": PAGE, "mb_memory": spec.machine.memory >> 20, "ncpus": spec.machine.cpu.cores}


def machine_scenario(source: str | PathLike[str], sets: Sequence[str] = ()) -> Scenario:
    """A scenario, or a machine of the catalogue."""
    name = str(source)
    if name in machine_names() and not Path(name).is_file():
        return Scenario.of(document_from(f"machine: {name}\nworkload: {{kind: load}}\n", name, sets))
    return Scenario.load(name, sets)


def jobs_of(job: str, more: Sequence[str] = ()) -> CommandLine:
    """A job file with the options next to it, or the jobs of a command line."""
    if is_command_line(job):
        line = command_line(job)
        return command_line(f"{job} {shlex.join(more)}") if more else line
    beside = of_words(list(more))
    if beside.file or "\n[" in beside.text:
        found = beside.file or "--name"
        raise InputError("JOB", f"found {found!r} with {job!r}", "expected: one job file, and options for its jobs")
    return CommandLine(beside.text if more else "", {"": "JOB"}.get(job, job))


def job_sections(line: CommandLine, spec: ScenarioSpec) -> list[Section]:
    """The jobs of a file or of a command line; what it includes lies next to it or in the current folder."""
    name = "<stdin>" if line.file == "-" else line.file
    folder = Path(line.file).parent if line.file not in ("", "-") else Path()

    def include(path: str) -> str:
        here = Path(path)
        return _text(here if here.is_file() or here.is_absolute() else folder / here)

    if not line.file:
        return sections(line.text, "command line", os.environ, include, _keywords(spec), numbered=False)
    try:
        text = sys.stdin.read(_LARGEST + 1) if line.file == "-" else _text(Path(line.file))
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise InputError(name, f"it cannot be read ({why})", "expected: a job file of fio") from None
    if len(text) > _LARGEST:
        raise InputError(name, "it is too long", f"expected: a job file of fio, up to {format_size(_LARGEST)}")
    return sections(text, name, os.environ, include, _keywords(spec), defaults=line.text)


def _text(path: Path) -> str:
    """The text of a file, but of an endless one no more than shows that it is too long."""
    with path.open(encoding="utf-8") as file:
        return file.read(_LARGEST + 1)
