"""What was measured: jobs of fio with their figures, and how long the members took.

Facts: fio's HOWTO ("Job file parameters"); iostat(1), whose await is the mean time of a request in milliseconds.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...model.core.errors import InputError
from ..fio_study.jobs import FioJob, jobs_of
from ..formats.benchmarks import fio_json
from ..formats.detect import detect, read_report
from ..formats.monitors import iostat, iostat_json, zpool_iostat
from ..text.report import Report
from ..text.report_text import ReportText

_FIGURES = ("iops", "read_mean_seconds", "write_mean_seconds", "read_p99_seconds", "write_p99_seconds")
_LEAST_IOS_FOR_TAIL = 1000
_READ = (fio_json.NAME, iostat.NAME, iostat_json.NAME, zpool_iostat.NAME)
_AWAITS = ("await", "read_await", "write_await", "read_disk_wait", "write_disk_wait")
"""Of iostat, and of zpool iostat -l."""


_WHOLE = re.compile(r"(?<=\A[shv]d[a-z])1\Z|p1\Z|-part1\Z")
"""The partition that ZFS makes on a whole drive."""


@dataclass(frozen=True)
class MeasuredJob:
    """A job and what it reached.

    Attributes
    ----------
    name
        What it is called in tables.
    device
        What it was done to, as fio was told; None if that is not known.
    load
        The fields of a load of the model that does the same.
    figures
        By name of the model's figure: "iops", latencies (s).
    """

    name: str
    device: str | None
    load: dict[str, Any]
    figures: dict[str, float]


@dataclass(frozen=True)
class Measurements:
    """All that was measured.

    Attributes
    ----------
    jobs
        Those that the model has.
    left_out
        Jobs that it has not, each with the reason.
    awaits
        Mean time of a request (s) by device.
    """

    jobs: tuple[MeasuredJob, ...]
    left_out: tuple[str, ...]
    awaits: dict[str, float]

    @property
    def slowest(self) -> str | None:
        """The device whose requests take twice as long as those of the others, if there is one."""
        if len(self.awaits) < 3:
            return None
        worst = max(self.awaits, key=lambda name: self.awaits[name])
        others = [seconds for name, seconds in self.awaits.items() if name != worst]
        return worst if self.awaits[worst] > 2 * statistics.median(others) else None

    @property
    def device(self) -> str | None:
        """The device that all jobs name; None if they name none."""
        named = {job.device for job in self.jobs} - {None}
        return named.pop() if len(named) == 1 else None


def is_measured(path: Path) -> bool:
    """Whether a file is a report that this module reads; anything else describes the machine."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
        return detect(ReportText(text, str(path))).name in _READ
    except (OSError, InputError):
        return False  # Whoever reads it as an output of the machine says what is wrong with it.


def measurements(paths: Sequence[Path]) -> Measurements:
    """Read the reports in files.

    Raises
    ------
    InputError
        If a report is damaged or none of fio or iostat, or if no job is one that the model has.
    """
    jobs: list[MeasuredJob] = []
    left_out: list[str] = []
    awaits: dict[str, float] = {}
    for path in paths:
        report = read_report(path)
        if report.format == fio_json.NAME:
            for job in jobs_of(path, report):
                if job.unlike is None and job.is_load:
                    jobs.append(_measured(job, {each.name for each in jobs}))
                else:
                    left_out.append(f"{job.name} of {path.name} is left out: needs {job.unlike or 'a plain load'}")
        elif report.format in _READ:
            awaits |= _awaits(report)
        else:
            expected = "expected: fio's JSON (--output-format=json) or iostat -x"
            raise InputError(str(path), f"found a report of {report.format}", expected)
    if not jobs:
        raise InputError(
            str(paths[0]) if paths else "--measured", "; ".join(left_out) or "found no job of fio", "expected: one"
        )
    return Measurements(tuple(jobs), tuple(left_out), awaits)


def _measured(job: FioJob, taken: set[str]) -> MeasuredJob:
    name = job.name.replace(".", "-").replace(" ", "-")
    while name in taken:
        name += "+"
    load: dict[str, Any] = {
        "pattern": "sequential" if job.sequential else "random",
        "block_size": f"{job.block_size}B",
        "read_share": job.read_share,
        "depth": job.depth,
        "jobs": job.jobs,
    }
    if job.engine is not None and (job.engine != "psync" or job.depth == 1):
        load["engine"] = job.engine
    if job.fsync:
        load["fsync"] = job.fsync
    if job.start:
        load["start"] = f"{job.start}B"
    if job.span is not None:
        load["span"] = f"{job.span}B"
    figures = {what: value for what, value in job.measured.items() if what in _FIGURES}
    if "iops" not in figures and job.iops:
        figures["iops"] = job.iops
    if job.ios < _LEAST_IOS_FOR_TAIL:
        figures = {what: value for what, value in figures.items() if "p99" not in what}
    device = None if job.file is None else job.file.removeprefix("/dev/")
    return MeasuredJob(name, device, load, figures)


def _awaits(report: Report) -> dict[str, float]:
    """Mean time of a request by device, over all intervals but the first, which counts since the machine began."""
    found: dict[str, list[float]] = {}
    named = {dict(figure.context).get("device", "") for figure in report.figures}
    groups = {name for name in named if any(other.startswith(f"{name}/") for other in named)}
    for figure in report.figures:
        context = dict(figure.context)
        if figure.name in _AWAITS and "device" in context and context["device"] not in groups:
            device = context["device"].rsplit("/", 1)[-1]
            found.setdefault(_WHOLE.sub("", device), []).append(figure.value)
    return {name: statistics.fmean(values) for name, values in found.items() if any(values)}
