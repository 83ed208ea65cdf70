"""Jobs of fio as loads of the model: what each did, what was measured of it, and why the model has none like it.

The figures are read by :mod:`raidsim.calibration.formats.benchmarks.fio_json`; the options here are those that fio
repeats in its report ("global options" and "job options", HOWTO section "Job file parameters"). What is not said there
has fio's default.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...model.core.errors import InputError
from ...model.core.exact_sums import sum_in_order
from ...model.programs.fio import values as fio_values
from ...model.tasks.io_call_price import IoEngine
from ..formats.benchmarks import fio_json
from ..formats.detect import read_report
from ..text.report import Report
from .job_text import ReportedJob, why_not

FEWEST_FOR_TAIL = 1000
"""A 99th percentile of fewer I/Os rests on less than ten of them."""

SYNCHRONOUS = ("sync", "psync", "vsync", "pvsync", "pvsync2", "mmap")
"""Engines with one I/O outstanding, whatever ``iodepth`` says."""
_DEFAULT_ENGINE = "psync"
SUBMISSIONS: dict[str, IoEngine] = {
    **dict.fromkeys(("sync", "psync", "vsync", "pvsync", "pvsync2"), "psync"),
    "libaio": "libaio",
    "io_uring": "io_uring",
}
_DEFAULT_BLOCK = 4096
_PATTERNS = {"read": 1.0, "write": 0.0, "rw": 0.5}
_ALIASES = {"readwrite": "rw", "randreadwrite": "randrw"}
_CHANGING = re.compile(
    r"bssplit|bsrange|blocksize_range|bs_unaligned|blocksize_unaligned|percentage_random|rate|rate_iops|rate_min|"
    r"rate_iops_min|rate_process|thinktime.*|zonesize|zonerange|zoneskip|verify.*|trim_.*|"
    r"iodepth_batch.*|iodepth_low|latency_target|read_iolog|replay_.*|flow.*|startdelay|offset_increment|"
    r"file_service_type|io_limit|kb_base"
)
"""Options that make of a job something else than a number of I/Os outstanding."""
_OFF = {"random_distribution": ("random",), "zonemode": ("none",), "sync": ("0", "none")}
"""The same, unless they have one of these values."""
_NUMBER = re.compile(r"[0-9]{1,15}([kmgtp]i?)?b?", re.IGNORECASE)
_SECTOR = 512
_SYNCS = ("fsync", "fdatasync")


@dataclass(frozen=True, slots=True)
class FioJob:
    """One job, or several that did the same together.

    Attributes
    ----------
    name
        Of its own in the folder.
    op
        "read", "write" or, for both, "mixed".
    sequential, read_share, block_size, depth, jobs, start, span
        As a load of the model has them; the span is None for all of the device.
    file
        What it was done to, as fio was told.
    measured
        By name of the model's figure, in SI units.
    ios
        How many there were.
    engine
        How it asked the kernel, where the model tells that apart.
    fsync
        Writes after which it flushed the device; 0: never.
    run
        What the jobs that ran at the same time are called together; the job's own name where it ran alone.
    is_load
        Whether it is a number of I/Os outstanding, in order or at random, which a load of the model has.
    section, text
        Its name in a job file, and the file, which has all jobs of the run.
    unlike
        Why it cannot be simulated; None if it can.
    buffered
        Whether it goes through the page cache.
    """

    name: str
    op: str
    sequential: bool
    read_share: float
    block_size: int
    depth: int
    jobs: int
    start: int
    span: int | None
    file: str | None
    measured: dict[str, float]
    ios: float
    engine: IoEngine | None = None
    fsync: int = 0
    run: str = ""
    is_load: bool = True
    section: str = "job1"
    text: str | None = None
    unlike: str | None = None
    buffered: bool = False

    @property
    def iops(self) -> float:
        """Reads and writes a second."""
        figures = self.measured
        return figures.get("iops") or figures.get("read_iops", 0.0) + figures.get("write_iops", 0.0)

    @property
    def end(self) -> int:
        """The last byte that it is known to use, plus one."""
        return self.start + (self.span or 0)


def read_jobs(folder: Path) -> tuple[list[FioJob], list[str]]:
    """The jobs of all fio reports (``*.json``) in a folder, and notes about files that are none.

    Raises
    ------
    InputError
        If it is no folder, or no report of fio is in it.
    """
    if not folder.is_dir():
        raise InputError(str(folder), "no folder", "expected: a folder with fio's reports in JSON")
    jobs: list[FioJob] = []
    notes: list[str] = []
    runs: dict[tuple[str, str], str] = {}
    for path in sorted(folder.glob("*.json")):
        report = read_report(path)
        if report.format != fio_json.NAME:
            notes.append(f"{path.name} is left out: a report of {report.format}")
            continue
        found = list(jobs_of(path, report))
        several = len(found) > 1
        for job in found:
            name = f"{path.stem}/{job.name}" if several else path.stem
            name = _unused(name, {each.name for each in jobs})
            runs.setdefault((path.stem, job.run), name)
            jobs.append(replace(job, name=name, run=runs[path.stem, job.run]))
    if not jobs:
        raise InputError(str(folder), "no report of fio", "expected: a folder with fio's reports, *.json")
    return jobs, notes


def _unused(name: str, taken: set[str]) -> str:
    count, free = 1, name
    while free in taken:
        count += 1
        free = f"{name} ({count})"
    return free


def jobs_of(path: Path, report: Report, buffered_reads: bool = False, text: str | None = None) -> Iterator[FioJob]:
    """The jobs of a report of fio in JSON that was read from a file.

    Parameters
    ----------
    path, report
        The file, and what was read of it.
    buffered_reads
        If true, jobs that only read may go through the page cache.
    text
        The report's part of the file; all of it unless given.
    """
    yield from jobs_of_groups(path, reported_jobs(path, report, text), buffered_reads)


def jobs_of_groups(path: Path, reported: Sequence[ReportedJob], buffered_reads: bool = False) -> Iterator[FioJob]:
    """The jobs of a report, those of each group together."""
    groups: dict[str | None, list[ReportedJob]] = {}
    for entry in reported:
        groups.setdefault(entry.group, []).append(entry)
    for group, entries in groups.items():
        yield from _together(path, f"{group}", entries, buffered_reads)


def _together(path: Path, group: str, entries: Sequence[ReportedJob], buffered_reads: bool) -> Iterator[FioJob]:
    """The jobs of a group, which ran at the same time."""
    alike: dict[str, list[ReportedJob]] = {}
    for entry in entries:
        alike.setdefault(entry.name, []).append(entry)
    reasons = [reason for same in alike.values() if (reason := _unlike(same, buffered_reads)) is not None]
    text, reason = (None, reasons[0]) if reasons else why_not(entries, path.name)
    if not reasons and len(alike) == 1 and _is_load(entries):
        yield replace(_job(path, entries, None, is_load=True), run=group, text=text)
        return
    for number, same in enumerate(alike.values(), 1):
        found = _job(path, same, reason, is_load=False)
        yield replace(found, run=group, section=f"job{number}", text=text)


def reported_jobs(path: Path, report: Report, text: str | None = None) -> list[ReportedJob]:
    """The jobs of a file's last report: with ``--status-interval`` it counts from the start of the run."""
    roots = list(_objects(path, path.read_text(encoding="utf-8") if text is None else text))
    root, last = roots[-1], str(len(roots))
    shared = root.get("global options", {})
    entries = []
    for number, job in enumerate(root.get("jobs", root.get("client_stats", ())), 1):
        here = {"number": str(number), **({"report": last} if len(roots) > 1 else {})}
        values = {
            figure.name: figure.value
            for figure in report.figures
            if here.items() <= dict(figure.context).items() and not figure.name.endswith("_bin")
        }
        options = {str(key): str(value) for key, value in {**shared, **job.get("job options", {})}.items()}
        group = str(job["groupid"]) if "groupid" in job else None
        entries.append(ReportedJob(str(job.get("jobname", number)), group, options, values))
    return entries


def _whole(digits: str) -> float:
    """A whole number; Python refuses to convert thousands of digits, which are of no use here."""
    return int(digits) if len(digits) < 20 else float(digits)


def _objects(path: Path, text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a file that fio_json has read; each begins a line.

    Python's reader refuses some escapes and control characters that the other one takes.
    """
    decoder, position = json.JSONDecoder(strict=False, parse_int=_whole), 0
    while (begin := re.compile(r"^\{", re.MULTILINE).search(text, position)) is not None:
        try:
            root, position = decoder.raw_decode(text, begin.start())
        except json.JSONDecodeError as error:
            at, what = f"{path}:{error.lineno}:{error.colno}", f"{error.msg[:1].lower()}{error.msg[1:]}"
            raise InputError(at, f"no JSON: {what}", "expected: JSON as fio writes it") from None
        yield root


def _job(path: Path, same: Sequence[ReportedJob], unlike: str | None, is_load: bool) -> FioJob:
    """One job of entries with the same name in the same group."""
    first = same[0]
    options, values = first.options, first.values
    random, kind = _pattern(options)
    counts = {op: sum_in_order(entry.values.get(f"{op}_ios", 0.0) for entry in same) for op in ("read", "write")}
    ios = sum_in_order(counts.values())
    share = counts["read"] / ios if kind == "rw" and ios else _PATTERNS.get(kind, 0.5)
    depth = 1 if _engine(options) in SYNCHRONOUS else int(values.get("iodepth", 1))
    size = options.get("size")
    count = options.get("numjobs", "1")
    syncs = [int(text) for name in _SYNCS if (text := options.get(name, "0")).isdecimal()]
    return FioJob(
        name=first.name,
        op="mixed" if kind == "rw" else kind,
        sequential=not random,
        read_share=round(share, 3),
        block_size=int(values.get("block_size", _DEFAULT_BLOCK)),
        depth=depth,
        jobs=int(count) if count.isdecimal() and unlike is None else 1,
        start=fio_values.size(options.get("offset", "0"), f"{path}: offset of {first.name}") if is_load else 0,
        span=fio_values.size(size, f"{path}: size of {first.name}") if size is not None and _is_number(size) else None,
        file=options.get("filename"),
        measured=_measured(same, counts, is_load),
        ios=ios,
        engine=SUBMISSIONS.get(_engine(options)),
        fsync=max(syncs, default=0) if unlike is None else 0,
        is_load=is_load,
        unlike=unlike,
        buffered=not _is_direct(options),
    )


def _pattern(options: dict[str, str]) -> tuple[bool, str]:
    """Whether a job is random, and "read", "write" or "rw"; other words of fio as they are."""
    rw = options.get("rw", options.get("readwrite", "read")).partition(":")[0]
    rw = _ALIASES.get(rw, rw)
    return rw.startswith("rand"), rw.removeprefix("rand")


def _engine(options: dict[str, str]) -> str:
    return options.get("ioengine", _DEFAULT_ENGINE)


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def _is_direct(options: dict[str, str]) -> bool:
    return options.get("direct", "0") in ("1", "") or options.get("buffered") == "0"


def _unlike(same: Sequence[ReportedJob], buffered_reads: bool) -> str | None:
    """Why a job cannot be simulated, in words that follow "needs"."""
    options = same[0].options
    if _pattern(options)[1] not in _PATTERNS:
        written = options.get("rw", options.get("readwrite", ""))
        return f"another pattern than rw={written}: the model reads and writes, in order or at random"
    if not any(entry.values.get(f"{op}_iops") for entry in same for op in ("read", "write")):
        return "some I/O: it did none"
    if not _is_direct(options) and not (buffered_reads and _pattern(options)[1] == "read"):
        return "direct=1: without it memory answers, and not the disk"
    if _engine(options) == "mmap":
        return "an engine that goes past memory"
    if options.get("fsync", "0") != "0" and not options.get("filename", "").startswith("/dev/"):
        return "fsync on a device, or fdatasync: fsync of a file also writes the file system's journal"
    count = options.get("numjobs", "1")
    if count.isdecimal() and len(same) not in (1, int(count)):
        return "all of its numjobs"
    return None


def _is_load(same: Sequence[ReportedJob]) -> bool:
    """Whether a job is a number of I/Os outstanding, in order or at random, which a load of the model has."""
    options, values = same[0].options, same[0].values
    syncs = [options[name] for name in _SYNCS if options.get(name, "0") != "0"]
    count = options.get("numjobs", "1")
    size = options.get("size", "100%")
    written = options.get("rw", options.get("readwrite", ""))
    plain = not any(_CHANGING.fullmatch(name) for name in options)
    plain &= all(options.get(name, off[0]) in off for name, off in _OFF.items())
    known = not ("bs" in options or "blocksize" in options) or "block_size" in values
    whole = values.get("block_size", _DEFAULT_BLOCK) % _SECTOR == 0
    placed = (_is_number(size) or size == "100%") and _is_number(options.get("offset", "0"))
    alone = count == "1" or (count.isdecimal() and _pattern(options)[0])
    synced = not syncs or (len(syncs) == 1 and syncs[0].isdecimal())
    return plain and known and whole and placed and alone and synced and ":" not in written


def _measured(same: Sequence[ReportedJob], counts: dict[str, float], is_load: bool) -> dict[str, float]:
    """The model's figures of it; a percentile only where one entry has it of all I/Os.

    A load has one rate for reads and writes together, a job of fio one for each.
    """
    found: dict[str, float] = {}
    for figure in ("rate", "iops"):
        totals = {op: sum_in_order(entry.values.get(f"{op}_{figure}", 0.0) for entry in same) for op in counts}
        named = {figure: sum_in_order(totals.values())} if is_load else {f"{op}_{figure}": totals[op] for op in counts}
        found |= {name: total for name, total in named.items() if total}
    for op, count in counts.items():
        means = [(entry.values.get(f"{op}_ios", 0.0), _latency(entry, op, "mean")) for entry in same]
        if count and all(mean is not None for ios, mean in means if ios):
            found[f"{op}_mean_seconds"] = sum_in_order(ios * mean for ios, mean in means if ios and mean) / count
        tail = _latency(same[0], op, "p99")
        if count and len(same) == 1 and tail:
            found[f"{op}_p99_seconds"] = tail
    return found


def _latency(entry: ReportedJob, op: str, which: str) -> float | None:
    """From submission to completion, or from the end of the submission if fio has only that."""
    return entry.values.get(f"{op}_lat_{which}", entry.values.get(f"{op}_clat_{which}"))
