"""What was measured: jobs of fio with their figures, and how long the members took.

Facts: fio's HOWTO ("Job file parameters"); iostat(1), whose await is the mean time of a request in milliseconds.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...model.core.errors import InputError
from ..fio_study.jobs import SUBMISSIONS, SYNCHRONOUS, FioJob, jobs_of
from ..fio_study.text_jobs import asked_options, dd_jobs, text_jobs
from ..formats.benchmarks import dd_and_time, fio_json, fio_text
from ..formats.detect import detect, read_report
from ..formats.in_paste import Part
from ..formats.monitors import iostat, iostat_json, zpool_iostat
from ..text.report import Report
from ..text.report_text import ReportText

_FIGURES = ("iops", "read_mean_seconds", "write_mean_seconds", "read_p99_seconds", "write_p99_seconds")
_LEAST_IOS_FOR_TAIL = 1000
_READ = (fio_json.NAME, fio_text.NAME, iostat.NAME, iostat_json.NAME, zpool_iostat.NAME)
_AWAITS = ("await", "read_await", "write_await", "read_disk_wait", "write_disk_wait")
"""Of iostat, and of zpool iostat -l."""


_BY_ID = re.compile(r"(?:ata|scsi|wwn|nvme)-\S|[\da-f]{8}-[\da-f]{4}-")
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
    direct
        Whether it goes past the page cache; None if its report does not tell.
    """

    name: str
    device: str | None
    load: dict[str, Any]
    figures: dict[str, float]
    direct: bool | None = True


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

    def named(self, names: Mapping[str, str], drives: Collection[str]) -> Measurements:
        """The same with the machine's names of its drives.

        Parameters
        ----------
        names
            Drives by what udev or a pool calls them.
        drives
            The machine's; a device that is none of them is left out with a note, unless it has no drive at all.
        """
        known = {_WHOLE.sub("", name): drive for name, drive in names.items()}
        awaits = {known.get(name, name): seconds for name, seconds in self.awaits.items()}
        lost = [name for name in awaits if name not in drives and _BY_ID.match(name)]
        notes = [
            f"nothing tells which drive {name} is; give ls -l /dev/disk/by-id, or zpool iostat -L" for name in lost
        ]
        return replace(self, awaits=awaits, left_out=(*self.left_out, *notes))

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


def measurements(paths: Sequence[Path], parts: Sequence[Part] = ()) -> Measurements:
    """Read the reports in files, and those that stand between other outputs.

    Raises
    ------
    InputError
        If a report is damaged or of another program, or if no job is one that the model has.
    """
    found = _Reader()
    for path in paths:
        found.take(path, read_report(path), None, "")
    for part in parts:
        found.take(Path(part.text.name), part.report(), part.lines, part.command)
    if not found.jobs:
        place = str(paths[0]) if paths else parts[0].text.name if parts else "--measured"
        raise InputError(place, "; ".join(found.left_out) or "found no job of fio", "expected: one")
    return Measurements(tuple(found.jobs), tuple(found.left_out), found.awaits)


class _Reader:
    """What was read so far."""

    def __init__(self) -> None:
        self.jobs: list[MeasuredJob] = []
        self.left_out: list[str] = []
        self.awaits: dict[str, float] = {}

    def take(self, path: Path, report: Report, text: str | None, command: str) -> None:
        """Take a report of a file, or of a text in it that a command has printed."""
        if report.format == fio_json.NAME:
            self._keep(path, jobs_of(path, report, buffered_reads=True, text=text))
        elif report.format == fio_text.NAME:
            asked = asked_options(command)
            if asked:
                self._keep(path, text_jobs(path, report, asked))
            else:
                self.jobs += _of_text(path, report, self.jobs, self.left_out)
        elif report.format == dd_and_time.NAME:
            jobs, reasons = dd_jobs(report, command)
            self.left_out += [f"{path.name}: {reason}" for reason in reasons]
            self._keep(path, jobs)
        elif report.format in _READ:
            self.awaits |= _awaits(report)
        else:
            expected = "expected: a report of fio or dd, or of iostat -x or zpool iostat"
            raise InputError(str(path), f"found a report of {report.format}", expected)

    def _keep(self, path: Path, jobs: Iterable[FioJob]) -> None:
        for job in jobs:
            if job.unlike is None and job.is_load:
                self.jobs.append(_measured(job, {each.name for each in self.jobs}))
            else:
                self.left_out.append(f"{job.name} of {path.name} is left out: needs {job.unlike or 'a plain load'}")


def _unused(name: str, taken: set[str]) -> str:
    name = name.replace(".", "-").replace(" ", "-")
    while name in taken:
        name += "+"
    return name


def _measured(job: FioJob, taken: set[str]) -> MeasuredJob:
    name = _unused(job.name, taken)
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
    return MeasuredJob(name, device, load, figures, not job.buffered)


def _of_text(path: Path, report: Report, known: Sequence[MeasuredJob], left_out: list[str]) -> list[MeasuredJob]:
    """Jobs of fio's normal output, which says nothing of the file, nor whether they go past the page cache."""
    entries: dict[tuple[str, str], dict[str, float]] = {}
    options: dict[tuple[str, str], dict[str, str]] = {}
    for figure in report.figures:
        context = dict(figure.context)
        if "rw" in context:
            key = context.get("group", ""), context.get("number", "")
            entries.setdefault(key, {}).setdefault(figure.name, figure.value)
            options[key] = context
    groups: dict[str, list[tuple[str, str]]] = {}
    for key in entries:
        groups.setdefault(key[0], []).append(key)
    made: list[MeasuredJob] = []
    for keys in groups.values():
        first = options[keys[0]]
        taken = {job.name for job in (*known, *made)}
        kind = first["rw"].removeprefix("rand")
        reads, writes = (math.fsum(entries[key].get(f"{op}_iops", 0.0) for key in keys) for op in ("read", "write"))
        if len({options[key]["job"] for key in keys}) > 1 or kind not in ("read", "write", "rw") or not reads + writes:
            left_out.append(f"{first['job']} of {path.name} is left out: needs a plain load")
            continue
        figures = {"iops": reads + writes}
        for op in ("read", "write") if len(keys) == 1 else ():
            for name, what in (("mean", "mean"), ("p99", "p99")):
                values = entries[keys[0]]
                value = values.get(f"{op}_lat_{what}", values.get(f"{op}_clat_{what}"))
                if value:
                    figures[f"{op}_{name}_seconds"] = value
        synchronous = first.get("ioengine") in SYNCHRONOUS
        load: dict[str, Any] = {
            "pattern": "random" if first["rw"].startswith("rand") else "sequential",
            "block_size": f"{int(entries[keys[0]].get('block_size', 4096))}B",
            "read_share": round(reads / (reads + writes), 3),
            "depth": 1 if synchronous else int(first.get("iodepth", "1")),
            "jobs": sum(int(options[key].get("jobs", "1")) for key in keys),
        }
        engine = SUBMISSIONS.get(first.get("ioengine", ""))
        if engine is not None:
            load["engine"] = engine
        made.append(MeasuredJob(_unused(first["job"], taken), None, load, figures, None))
    return made


def _awaits(report: Report) -> dict[str, float]:
    """Mean time of a request by device, over all intervals but the first, which counts since the machine began.

    A direction without requests has the time 0, which is none.
    """
    found: dict[str, list[float]] = {}
    named = {dict(figure.context).get("device", "") for figure in report.figures}
    groups = {name for name in named if any(other.startswith(f"{name}/") for other in named)}
    for figure in report.figures:
        context = dict(figure.context)
        if figure.name in _AWAITS and figure.value and context.get("device", "") not in {"", *groups}:
            device = context["device"].rsplit("/", 1)[-1]
            found.setdefault(_WHOLE.sub("", device), []).append(figure.value)
    return {name: statistics.fmean(values) for name, values in found.items()}
