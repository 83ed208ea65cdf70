"""fio's jobs compared with the recorded logs of their I/Os, the statistics of those, and fio's own totals.

The jobs of one run write their logs one after the other as they end, so each log is compared with the job that begins
like it. A job that ends by the clock is compared as far as its log goes. A file has the size that the largest of the
recorded jobs in the same folder needs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ConfigDict

from ....model.core.errors import InputError
from ....model.programs.fio.job import FioJob
from ....model.programs.fio.jobs import jobs
from ....model.programs.fio.offsets import FioOffsets, iolog
from ....model.programs.fio.sections import Section, sections
from ....model.programs.operation import Kind, Operation
from ..base import KindResult, NotSupported, Progress, TruthFile
from ..shapes import Shape
from .files import field_differences, first_difference, lines_of, parsed

_HEADER = "fio version 3 iolog"
_FIRST_LINES = 3
"""Header, added and opened file: the first I/O stands on the line after them."""

_STATISTICS = (
    *("n_ops", "reads", "writes", "syncs", "datasyncs", "bytes_read", "bytes_written", "min_offset", "max_end"),
    *("size_hist", "distinct_offsets", "max_hits"),
)
"""Those that follow from the I/Os alone; the others are shares of these, or have to do with time."""


class _LogTruth(Shape):
    """Statistics of one log, its first reads and writes (time, file, direction, offset, bytes) among them."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)

    first_ops: list[tuple[int, str, str, int, int]]


class _Truth(Shape):
    """A recorded run: its job file, the environment, and statistics of each log."""

    job: str
    jobfile: str
    env: dict[str, str]
    iolog_stats_per_job: list[_LogTruth]


class _DirectionTotals(Shape):
    """I/Os and bytes of one direction."""

    total_ios: int
    io_bytes: int


class _JobTotals(Shape):
    """Both directions of a job, or of all its clones if they report together."""

    jobname: str
    read: _DirectionTotals
    write: _DirectionTotals


class _Totals(Shape):
    """What fio itself counted."""

    jobs: list[_JobTotals]


def check_run(file: TruthFile, files: Sequence[TruthFile], result: KindResult, progress: Progress) -> None:
    """Compare the log of every job of a run, and its statistics."""
    truth = parsed(_Truth, file)
    name = file.path.name
    log = lines_of(file.path.with_name(f"{truth.job}.iolog.gz"))
    if log is None:
        result.record(name, "log", f"there is no log {truth.job}.iolog.gz beside the recording")
        return
    found = _jobs(file.path, truth, _file_bytes(file.path.parent, files))
    waiting = [(section.name, job) for section, job in found]
    parts = _parts(log)
    for number, (line, part) in enumerate(parts):
        if not waiting:
            result.record(name, f"log {number + 1}", "the model has no job for it")
            continue
        recorded = [entry for entry in part if not entry.endswith(" add")]
        added = len(part) - len(recorded)
        named, job = max(waiting, key=lambda each: _common(recorded, each[1]))
        waiting.remove((named, job))
        case = f"{named} (job {job.thread_number})"
        progress(f"{name} {case}")
        operations = list(islice(FioOffsets(job).operations(), len(recorded) + 1))
        if job.time_based:
            operations = operations[: len(recorded) - 1]
            recorded = recorded[:-1]  # it was closed when the time was up
        result.record(name, f"{case} log", first_difference(recorded, iolog(iter(operations)), line + added))
        if number >= len(truth.iolog_stats_per_job):
            result.record(name, f"{case} statistics", "recorded are no statistics of this log")
            continue
        expected = truth.iolog_stats_per_job[number]
        wanted = {key: (expected.model_extra or {}).get(key) for key in _STATISTICS}
        result.record(name, f"{case} statistics", field_differences(wanted, _statistics(operations)))
        first = [" ".join(str(word) for word in entry[1:]) for entry in expected.first_ops]
        moves = [each for each in operations if each.kind in (Kind.READ, Kind.WRITE)]
        result.record(name, f"{case} first operations", first_difference(first, iolog(iter(moves[: len(first)]))))
    for named, job in waiting:
        result.record(name, f"{named} (job {job.thread_number}) log", "recorded is no log of this job")


def check_totals(file: TruthFile, files: Sequence[TruthFile], result: KindResult, progress: Progress) -> None:
    """Compare the I/Os and bytes of every job with what fio counted."""
    totals = parsed(_Totals, file)
    name = file.path.name
    stem = name.removesuffix(".fio.json")
    run = next((other for other in files if other.content.get("job") == stem and "jobfile" in other.content), None)
    if run is None:
        result.record(name, "totals", f"there is no job file {stem} among the recordings")
        return
    found = _jobs(run.path, parsed(_Truth, run), _file_bytes(run.path.parent, files))
    for recorded in totals.jobs:
        job_name = recorded.jobname
        progress(f"{name} {job_name}")
        mine = [job for section, job in found if section.name == job_name]
        if any(job.time_based for job in mine):
            result.notes.append(f"{name}, {job_name}: it ended by the clock, so its totals are not the job's")
            continue
        model = {f"{op} {field}": 0 for op in ("read", "write") for field in ("I/Os", "bytes")}
        for job in mine:
            for operation in FioOffsets(job).operations():
                if operation.kind in (Kind.READ, Kind.WRITE):
                    model[f"{operation.kind} I/Os"] += 1
                    model[f"{operation.kind} bytes"] += operation.size
        counted: dict[str, int] = {}
        for op, totals_of in (("read", recorded.read), ("write", recorded.write)):
            counted |= {f"{op} I/Os": totals_of.total_ios, f"{op} bytes": totals_of.io_bytes}
        result.record(name, f"{job_name} totals", field_differences(counted, model))


def _jobs(path: Path, truth: _Truth, file_bytes: dict[str, int]) -> list[tuple[Section, FioJob]]:
    """The jobs of a run with their sections, clones one by one."""
    try:
        found = _sections(path, truth)
        made = jobs(found, file_bytes)
        clones = [section for section in found for _ in range(len(jobs([section], file_bytes)))]
    except InputError as error:  # fio took this job file, so it is not the file that is wrong
        raise NotSupported(f"{path.name}: {error.place}", f"{error.place}: {error.found}", error.expected) from None
    return list(zip(clones, made, strict=True))


def _sections(path: Path, truth: _Truth) -> list[Section]:
    def include(name: str) -> str:
        lines = lines_of(path.parent / name)
        if lines is None:
            raise InputError(f"{path.name}, field jobfile", f"no file {name}", "expected: files beside the recording")
        return "\n".join(lines)

    return sections(truth.jobfile, truth.job, truth.env, include)


def _file_bytes(folder: Path, files: Sequence[TruthFile]) -> dict[str, int]:
    """Sizes of the files that the runs of a folder share, which the largest of the jobs has made."""
    sizes: dict[str, int] = {}
    for file in files:
        if file.path.parent != folder or "jobfile" not in file.content:
            continue
        try:
            sizes = _largest(sizes, _sections(file.path, parsed(_Truth, file)))
        except InputError:
            continue  # the check of that file says so
    return sizes


def _largest(sizes: dict[str, int], found: Sequence[Section]) -> dict[str, int]:
    """`sizes` with the files of more jobs."""
    sizes = dict(sizes)
    for section in found:
        size = section.options.get("size")
        if size is None or "%" in size.value:
            continue
        for job in jobs([section]):
            for each in job.files:
                sizes[each.name] = max(sizes.get(each.name, 0), each.size)
    return sizes


def _parts(log: Sequence[str]) -> list[tuple[int, list[str]]]:
    """The logs of the single jobs without their times, and the line on which each begins."""
    parts: list[tuple[int, list[str]]] = []
    for number, line in enumerate(log, 1):
        if line == _HEADER:
            parts.append((number + 1, []))
        elif parts:
            parts[-1][1].append(line.partition(" ")[2])
    return parts


def _common(recorded: Sequence[str], job: FioJob) -> int:
    """How many of the first lines of a log are those of a job."""
    equal = 0
    for real, ours in zip(recorded[:_FIRST_LINES], iolog(FioOffsets(job).operations()), strict=False):
        if real != ours:
            break
        equal += 1
    return equal


def _statistics(operations: Sequence[Operation]) -> dict[str, Any]:
    moves = [each for each in operations if each.kind in (Kind.READ, Kind.WRITE)]
    reads = [each for each in moves if each.kind is Kind.READ]
    writes = [each for each in moves if each.kind is Kind.WRITE]
    hits = Counter((each.file, each.offset) for each in moves)
    return {
        "n_ops": len(moves),
        "reads": len(reads),
        "writes": len(writes),
        "syncs": sum(each.kind is Kind.FSYNC for each in operations),
        "datasyncs": sum(each.kind is Kind.FDATASYNC for each in operations),
        "bytes_read": sum(each.size for each in reads),
        "bytes_written": sum(each.size for each in writes),
        "min_offset": min(each.offset for each in moves),
        "max_end": max(each.offset + each.size for each in moves),
        "size_hist": dict(Counter(f"{each.kind}:{each.size}" for each in moves)),
        "distinct_offsets": len(hits),
        "max_hits": max(hits.values()),
    }
