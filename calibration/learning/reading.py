"""Measurements of a box from tables and fio's reports, and loads as users write them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...model.core.errors import InputError
from ...model.files.quantities import parse_fraction, parse_size
from ..fio_study.jobs import FioJob, jobs_of, read_jobs
from ..formats.benchmarks import fio_json
from ..formats.detect import read_report
from .loads import BoxLoad, Measured
from .table import read_table

FIELDS = ("block_size", "jobs", "depth", "read_share", "pattern")
_PATTERNS = ("random", "sequential")
_EXAMPLE = "block_size=4KiB,jobs=16,depth=8,read_share=70%"


def measurements(paths: Sequence[Path]) -> tuple[list[Measured], list[str]]:
    """All measurements, and notes about jobs that are left out.

    Parameters
    ----------
    paths
        Tables (CSV), reports of fio (JSON), and folders with such reports.

    Raises
    ------
    InputError
        If one is damaged, or nothing in them was measured.
    """
    found: list[Measured] = []
    notes: list[str] = []
    for path in paths:
        if path.is_dir():
            jobs, left_out = read_jobs(path)
            notes += left_out
        elif path.suffix.lower() == ".csv":
            found += read_table(path)
            continue
        else:
            report = read_report(path)
            if report.format != fio_json.NAME:
                expected = "expected: a table (.csv), a report of fio in JSON, or a folder of such reports"
                raise InputError(str(path), f"found a report of {report.format}", expected)
            jobs = list(jobs_of(path, report))
        for job in jobs:
            why = _unlike(job)
            if why is None:
                found.append(_measured(job))
            else:
                notes.append(f"{job.name} is left out: {why}")
    if not found:
        where = str(paths[0]) if paths else "MEASUREMENTS"
        raise InputError(where, "; ".join(notes) or "no measurements", "expected: one or more")
    return found, notes


def _unlike(job: FioJob) -> str | None:
    """Why a job says nothing of a box with a constant number of I/Os outstanding."""
    if job.unlike is not None:
        return f"needs {job.unlike}"
    if not job.is_load or job.iops <= 0:
        return "it is not a number of I/Os outstanding"
    if job.run != job.name:
        return "other jobs ran at the same time"
    return f"it flushes after {job.fsync} writes" if job.fsync else None


def _measured(job: FioJob) -> Measured:
    load = BoxLoad(job.block_size, job.jobs, job.depth, job.read_share, job.sequential)
    means = (job.measured.get(f"{way}_mean_seconds") for way in ("read", "write"))
    return Measured(job.name, load, job.iops, *means)


def load_from(text: str, place: str) -> BoxLoad:
    """A load as users write it: ``block_size=4KiB,jobs=16,depth=8,read_share=70%,pattern=random``.

    Raises
    ------
    InputError
        If a field is unknown, comes twice or is missing, or its value is impossible.
    """
    given: dict[str, str] = {}
    for part in text.split(","):
        name, equals, value = (each.strip() for each in part.partition("="))
        if not equals or name not in FIELDS or name in given:
            raise InputError(
                place, f"found {part.strip()!r}", f"expected: each of {', '.join(FIELDS)} once, as {_EXAMPLE}"
            )
        given[name] = value
    for name in ("block_size", "read_share"):
        if name not in given:
            raise InputError(place, f"no {name} in {text!r}", f"expected: {_EXAMPLE}")
    pattern = given.get("pattern", _PATTERNS[0])
    if pattern not in _PATTERNS:
        raise InputError(f"{place}: pattern", f"found {pattern!r}", f"expected: {' or '.join(_PATTERNS)}")
    return BoxLoad(
        parse_size(given["block_size"], f"{place}: block_size"),
        _count(given.get("jobs", "1"), f"{place}: jobs"),
        _count(given.get("depth", "1"), f"{place}: depth"),
        parse_fraction(given["read_share"], f"{place}: read_share"),
        pattern == "sequential",
    )


def _count(text: str, place: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise InputError(place, f"found {text!r}", "expected: a whole number, 1 or more")
    return int(text)
