"""Jobs of fio from its normal output, and dd as a job: what the text does not say comes from the command before it.

fio's text has direction, block size, engine and depth of a job, and neither its file nor whether it was direct.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from ...model.core.errors import InputError
from ...model.programs.fio import values as fio_values
from ...model.programs.fio.command_line import command_line
from ...model.programs.fio.sections import sections
from ..text.report import Report
from .job_text import ReportedJob
from .jobs import FioJob, jobs_of_groups

_DD_BLOCK = 512
_DD_NUMBER = re.compile(r"(?P<number>\d{1,15})(?P<unit>[cwbKMGT]?)(?P<binary>i?)B?$")
_DD_POWERS = {"": 1, "c": 1, "w": 2, "b": 512, "k": 1 << 10, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_NO_DISK = ("/dev/zero", "/dev/null", "/dev/urandom", "/dev/random", "")


def text_jobs(path: Path, report: Report, asked: Mapping[str, Mapping[str, str]]) -> Iterator[FioJob]:
    """The jobs of fio's normal output.

    Parameters
    ----------
    path, report
        The file, and what was read of it.
    asked
        Options of its command line, by job.
    """
    entries: dict[str, ReportedJob] = {}
    for figure in report.figures:
        context = dict(figure.context)
        if "number" not in context:
            continue
        known = entries.get(context["number"])
        if known is None:
            job = context["job"]
            options = {**asked.get(job, asked.get("", {}))}
            options |= {key: context[key] for key in ("rw", "iodepth", "ioengine") if key in context}
            options["numjobs"] = context.get("jobs", "1")
            known = entries[context["number"]] = ReportedJob(job, context.get("group"), options, {})
        known.values[figure.name] = figure.value
    for each in entries.values():
        if "block_size" in each.values:
            each.options["bs"] = f"{each.values['block_size']:.0f}"
        same = sum(other.name == each.name and other.group == each.group for other in entries.values())
        if same > 1:
            each.options["numjobs"] = str(same)
    yield from jobs_of_groups(path, list(entries.values()), buffered_reads=True)


def asked_options(command: str) -> dict[str, dict[str, str]]:
    """Options of a command line of fio by job; those of the only job with the name "" too. Empty if none is known."""
    if not command:
        return {}
    try:
        found = sections(command_line(command).text, "command", numbered=False)
    except InputError:
        return {}  # A job file that is not here, or options of another version: the report says what it says.
    jobs = {each.name: {key: option.value or "1" for key, option in each.options.items()} for each in found}
    return jobs | ({"": next(iter(jobs.values()))} if len(jobs) == 1 else {})


def dd_jobs(report: Report, command: str) -> tuple[list[FioJob], list[str]]:
    """Each dd as a job of one sequential stream, and why others are none.

    Parameters
    ----------
    report
        What dd printed.
    command
        Its command line; "" if it is not known.
    """
    words = dict(word.split("=", 1) for word in _split(command) if "=" in word)
    source, sink = words.get("if", ""), words.get("of", "")
    writes = sink not in _NO_DISK
    sizes = [figure for figure in report.figures if figure.name == "rate" and dict(figure.context)["program"] == "dd"]
    whole, part = (_sum(report, each) for each in ("records_in", "partial_records_in"))
    if not command or (source in _NO_DISK and sink in _NO_DISK):
        return [], ["dd is left out: nothing tells what it read and wrote; give the command line before its output"]
    flags = words.get("oflag" if writes else "iflag", "").split(",")
    if "direct" not in flags:
        flag = "oflag=direct" if writes else "iflag=direct"
        return [], [f"dd is left out: needs {flag}, as without it memory answers, and not the disk"]
    moved = _sum(report, "bytes")
    block = _bytes(words.get("bs") or words.get("obs" if writes else "ibs"))
    if block is None and whole and not part:
        block = int(moved / whole)
    if block is None:
        return [], ["dd is left out: nothing tells its block size (bs=)"]
    return [
        FioJob(
            name="dd",
            op="write" if writes else "read",
            sequential=True,
            read_share=0.0 if writes else 1.0,
            block_size=block,
            depth=1,
            jobs=1,
            start=0,
            span=None,
            file=sink if writes else source,
            measured={"iops": figure.value / block, "rate": figure.value},
            ios=moved / block,
            engine="psync",
        )
        for figure in sizes
    ], []


def _split(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def _sum(report: Report, name: str) -> float:
    return sum(figure.value for figure in report.figures if figure.name == name)


def _bytes(text: str | None) -> int | None:
    """Bytes of dd's "1M", "64k", "1MB"; 512 without a block size."""
    if text is None:
        return _DD_BLOCK
    if text.endswith(("kB", "KB", "MB", "GB")):
        return fio_values.size(text, "bs", kb_base=1000)
    match = _DD_NUMBER.fullmatch(text.replace("k", "K").replace("m", "M").replace("g", "G"))
    return int(match["number"]) * _DD_POWERS[match["unit"]] if match is not None and int(match["number"]) else None
