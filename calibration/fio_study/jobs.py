"""Jobs of fio as loads of the model: what each did, what was measured of it, and why the model has none like it.

The figures are read by :mod:`raidsim.calibration.formats.fio_json`; the options here are those that fio repeats in its
report ("global options" and "job options", HOWTO section "Job file parameters"). What is not said there has fio's
default.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...model.core.errors import InputError
from ...model.core.exact_sums import sum_in_order
from ...model.programs.fio import values as fio_values
from ...model.tasks.io_call_price import IoEngine
from ..formats import fio_json
from ..formats.detect import read_report
from ..formats.report import Report

FEWEST_FOR_TAIL = 1000
"""A 99th percentile of fewer I/Os rests on less than ten of them."""

_SYNCHRONOUS = ("sync", "psync", "vsync", "pvsync", "pvsync2", "mmap")
"""Engines with one I/O outstanding, whatever ``iodepth`` says."""
_DEFAULT_ENGINE = "psync"
_SUBMISSIONS: dict[str, IoEngine] = {
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
    unlike
        Why the model has no such load; None if it has.
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
    unlike: str | None = None

    @property
    def end(self) -> int:
        """The last byte that it is known to use, plus one."""
        return self.start + (self.span or 0)


@dataclass(frozen=True, slots=True)
class ReportedJob:
    """A job as it stands in a report."""

    name: str
    group: str | None
    options: dict[str, str]
    values: dict[str, float]


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
    for path in sorted(folder.glob("*.json")):
        report = read_report(path)
        if report.format != fio_json.NAME:
            notes.append(f"{path.name} is left out: a report of {report.format}")
            continue
        found = list(_jobs_of(path, report))
        several = len(found) > 1
        for job in found:
            name = f"{path.stem}/{job.name}" if several else path.stem
            jobs.append(_named(job, _unused(name, {each.name for each in jobs})))
    if not jobs:
        raise InputError(str(folder), "no report of fio", "expected: a folder with fio's reports, *.json")
    return jobs, notes


def _unused(name: str, taken: set[str]) -> str:
    count, free = 1, name
    while free in taken:
        count += 1
        free = f"{name} ({count})"
    return free


def _named(job: FioJob, name: str) -> FioJob:
    return FioJob(**{**{field: getattr(job, field) for field in FioJob.__slots__}, "name": name})


def _jobs_of(path: Path, report: Report) -> Iterator[FioJob]:
    entries = reported_jobs(path, report)
    groups: dict[str | None, set[str]] = {}
    for entry in entries:
        groups.setdefault(entry.group, set()).add(entry.name)
    together: dict[tuple[str | None, str], list[ReportedJob]] = {}
    for entry in entries:
        together.setdefault((entry.group, entry.name), []).append(entry)
    for (group, _), same in together.items():
        yield _job(path, same, groups[group])


def reported_jobs(path: Path, report: Report) -> list[ReportedJob]:
    """The jobs of a file's last report: with ``--status-interval`` it counts from the start of the run."""
    roots = list(_objects(path.read_text(encoding="utf-8")))
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


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a text that :mod:`raidsim.calibration.formats.fio_json` has read; each begins a line."""
    decoder, position = json.JSONDecoder(), 0
    while (begin := re.compile(r"^\{", re.MULTILINE).search(text, position)) is not None:
        root, position = decoder.raw_decode(text, begin.start())
        yield root


def _job(path: Path, same: list[ReportedJob], beside: set[str]) -> FioJob:
    """One job of entries with the same name in the same group."""
    first = same[0]
    options, values = first.options, first.values
    rw = options.get("rw", options.get("readwrite", "read")).partition(":")[0]
    rw = _ALIASES.get(rw, rw)
    random, kind = rw.startswith("rand"), rw.removeprefix("rand")
    counts = {op: sum_in_order(entry.values.get(f"{op}_ios", 0.0) for entry in same) for op in ("read", "write")}
    ios = sum_in_order(counts.values())
    share = counts["read"] / ios if kind == "rw" and ios else _PATTERNS.get(kind, 0.5)
    depth = 1 if _engine(options) in _SYNCHRONOUS else int(values.get("iodepth", 1))
    size = options.get("size")
    unlike = _unlike(same, rw, beside)
    plain = unlike is None
    return FioJob(
        name=first.name,
        op="mixed" if kind == "rw" else kind,
        sequential=not random,
        read_share=round(share, 3),
        block_size=int(values.get("block_size", _DEFAULT_BLOCK)),
        depth=depth,
        jobs=int(options.get("numjobs", "1")) if plain else 1,
        start=fio_values.size(options.get("offset", "0"), f"{path}: offset of {first.name}") if plain else 0,
        span=fio_values.size(size, f"{path}: size of {first.name}") if plain and size not in (None, "100%") else None,
        file=options.get("filename"),
        measured=_measured(same, counts),
        ios=ios,
        engine=_SUBMISSIONS.get(_engine(options)),
        fsync=max(int(options.get(name, "0")) for name in _SYNCS) if plain else 0,
        unlike=unlike,
    )


def _engine(options: dict[str, str]) -> str:
    return options.get("ioengine", _DEFAULT_ENGINE)


def _unlike(same: list[ReportedJob], rw: str, beside: set[str]) -> str | None:
    """Why the model has no such load, in words that follow "needs"."""
    options, values = same[0].options, same[0].values
    written = options.get("rw", options.get("readwrite", ""))
    if rw.removeprefix("rand") not in _PATTERNS or ":" in written:
        return f"another pattern than rw={written}: the model reads and writes, in order or at random"
    if not any(entry.values.get(f"{op}_iops") for entry in same for op in ("read", "write")):
        return "some I/O: it did none"
    if options.get("direct", "0") not in ("1", "") and options.get("buffered") != "0":
        return "direct=1: without it memory answers, and not the disk"
    if _engine(options) == "mmap":
        return "an engine that goes past memory"
    if len(beside) > 1:
        return f"to run alone: {', '.join(sorted(beside))} ran at the same time"
    syncs = [name for name in _SYNCS if options.get(name, "0") != "0"]
    if any(not options[name].isdecimal() for name in syncs):
        return f"{syncs[0]} as a number"
    if len(syncs) > 1:
        return "one of fsync and fdatasync"
    if syncs == ["fsync"] and not options.get("filename", "").startswith("/dev/"):
        return "fsync on a device, or fdatasync: fsync of a file also writes the file system's journal"
    changing = sorted(name for name in options if _CHANGING.fullmatch(name))
    changing += sorted(name for name, off in _OFF.items() if options.get(name, off[0]) not in off)
    if changing:
        return f"a load without {', '.join(changing)}"
    if ("bs" in options or "blocksize" in options) and "block_size" not in values:
        return "one block size"
    if values.get("block_size", _DEFAULT_BLOCK) % _SECTOR:
        return "whole sectors"
    for name in ("size", "offset"):
        said = options.get(name, "1")
        if not (_NUMBER.fullmatch(said) or (name == "size" and said == "100%")):
            return f"{name} as a number"
    count = options.get("numjobs", "1")
    if not count.isdecimal():
        return "numjobs as a number"
    if len(same) not in (1, int(count)):
        return "all of its numjobs"
    if int(count) > 1 and not rw.startswith("rand"):
        return "jobs that begin at different places: all of them read the same part in order"
    return None


def _measured(same: list[ReportedJob], counts: dict[str, float]) -> dict[str, float]:
    """The model's figures of it; a percentile only where one entry has it of all I/Os."""
    found: dict[str, float] = {}
    for figure in ("rate", "iops"):
        total = sum_in_order(entry.values.get(f"{op}_{figure}", 0.0) for entry in same for op in counts)
        if total:
            found[figure] = total
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
