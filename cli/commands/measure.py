"""`raidsim measure`: a short suite of fio jobs on a disk of this machine, for `raidsim calibrate --from-fio`."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ... import InputError
from ...api.answer.numbers import COUNT
from ...api.answer.tree import Answer, Column, Row, Table, Words
from ...api.answer.units import format_duration, format_rate, format_size, parse_size
from ...api.measuring import (
    Job,
    Kernel,
    Measurement,
    Report,
    Target,
    default_folder,
    describe,
    find_fio,
    find_target,
    make_file,
    read_job_file,
    takes_direct,
)
from ...api.support.progress import progress_bar
from ..support.terminal import WIDE, console_of, show

_LONGEST_S = 3600.0


def measure_command(
    target: Annotated[str, typer.Argument(help="A block device, or a file; made if there is none.")],
    output: Annotated[Path | None, typer.Option("--output", help="Folder of the results; default: fio-NAME.")] = None,
    seconds: Annotated[float, typer.Option("--seconds", help="How long each job runs.", metavar="N")] = 5.0,
    size: Annotated[
        str | None, typer.Option("--size", help="How much is used (64GiB); default: all, and 1 GiB of a new file.")
    ] = None,
    job_file: Annotated[
        Path | None,
        typer.Option("--job", metavar="FILE", help="The loads of a job file, as learn --jobs writes it, instead."),
    ] = None,
    allow_write: Annotated[
        bool, typer.Option("--allow-write", help="Also jobs that write. DESTROYS what is there; asks for the name.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Measure a disk with short fio jobs that read (and, if allowed, write) it."""
    if not (math.isfinite(seconds) and 1 <= seconds <= _LONGEST_S):
        raise InputError("--seconds", f"{seconds:g}", f"expected: 1 to {_LONGEST_S:.0f}")
    wanted = _size(size)
    fio = find_fio()
    kernel = Kernel()
    jobs = None if job_file is None else read_job_file(job_file)
    writes = allow_write if jobs is None else _writes(jobs, target, allow_write)
    found = find_target(target, wanted, writes, kernel)
    if writes and found.exists:
        _confirm(found)
    if not found.exists:
        what = f"{found.path.name} does not exist and is made: {format_size(found.size)} of random bytes"
        typer.echo(what, err=True)
        with progress_bar("writing the file") as progress:
            make_file(found, progress)
    direct = takes_direct(found.path)
    if not direct:
        typer.echo("note: its file system has no direct I/O; memory answers, and a model cannot be fitted", err=True)
    machine = describe(found, fio, seconds, direct, writes, kernel)
    if machine.device is None:
        typer.echo("note: the kernel names no disk behind it; it may be memory, or another machine", err=True)
    folder = output or default_folder(found, "" if job_file is None else job_file.stem)
    measurement = Measurement(folder, found, fio, machine, jobs)
    if measurement.resumed:
        typer.echo(f"{len(measurement.resumed)} of {len(measurement.jobs)} jobs have been measured before", err=True)
    try:
        with progress_bar("measuring") as progress:
            measurement.run(progress)
    except KeyboardInterrupt:
        done = f"{len(measurement.reports)} of {len(measurement.jobs)} jobs are kept in {measurement.folder}"
        typer.echo(f"{done}; the same command goes on from there", err=True)
        raise
    if as_json:
        typer.echo(json.dumps(document(measurement), allow_nan=False))
    else:
        _show(measurement, learns=jobs is not None)


def _writes(jobs: Sequence[Job], target: str, allowed: bool) -> bool:
    """Whether any job writes, which has to be allowed."""
    writing = next((job.name for job in jobs if job.writes), None)
    if writing is not None and not allowed:
        expected = f"expected: jobs that read, or --allow-write, which DESTROYS what is on {target}"
        raise InputError("--job", f"{writing} writes", expected)
    return writing is not None


def _size(text: str | None) -> int | None:
    if text is None:
        return None
    if text.strip().isdecimal():
        raise InputError("--size", f"{text!r} has no unit", "expected: a size with its unit, such as 64GiB or 500GB")
    return parse_size(text, "--size")


def _confirm(target: Target) -> None:
    """Ask for the name of what is about to be overwritten."""
    name = target.path.name
    what = f"ALL DATA in the first {format_size(target.size)} of {target.path} will be overwritten."
    typer.echo(f"{what} Type its name, {name}, to go on: ", nl=False, err=True)
    typed = sys.stdin.readline().strip()
    if typed not in (name, str(target.path)):
        typer.echo("", err=True)
        raise InputError("--allow-write", f"{typed!r} was typed", f"expected: {name}; nothing has been written")


def document(measurement: Measurement) -> dict[str, Any]:
    """The results in SI units: ``folder``, ``machine`` as it is described there, and ``jobs`` by name."""
    return {
        "folder": str(measurement.folder),
        "machine": measurement.machine.model_dump(mode="json"),
        "jobs": {job.name: _figures(job, report) for job, report in measurement.reports.items()},
        "measured_before": [job.name for job in measurement.resumed],
    }


def _figures(job: Job, report: Report) -> dict[str, float]:
    """What is shown of a job: rate, I/Os a second, mean and 99th percentile of the latency."""
    names = {"rate": "rate", "iops": "iops", "mean_seconds": "lat_mean", "p99_seconds": "lat_p99"}
    ops = ("read", "write") if job.read_percent is not None else ("write" if job.writes else "read",)
    found = [{name: report.value(f"{op}_{figure}", job=job.name) for name, figure in names.items()} for op in ops]
    if len(found) == 1:
        return found[0]
    read, write = found
    # Of reads and writes together: sums of rates, the mean of all, and the longer of the two tails.
    iops = read["iops"] + write["iops"]
    mean = sum(each["iops"] * each["mean_seconds"] for each in found) / iops
    tail = max(each["p99_seconds"] for each in found)
    return {"rate": read["rate"] + write["rate"], "iops": iops, "mean_seconds": mean, "p99_seconds": tail}


def _show(measurement: Measurement, learns: bool) -> None:
    settings, device = measurement.machine.suite, measurement.machine.device
    on = "" if device is None else f" {'of' if settings.target == 'device' else 'on'} {device.name}"
    what = f"{format_size(settings.size)}{' of a file' if settings.target == 'file' else ''}{on}"
    how = f"{settings.engine}, {'direct' if settings.direct else 'buffered'}, {format_duration(settings.seconds)} a job"
    rows: list[Row] = [(job.name, *_figures(job, report).values()) for job, report in measurement.reports.items()]
    columns = [Column("job"), Column("rate", show=format_rate), Column("I/Os a second", show=COUNT)]
    columns += [Column(name, show=format_duration) for name in ("mean", "p99")]
    command = "learn MEASUREMENTS" if learns else "calibrate --from-fio"
    next_step = f"in {measurement.folder}; to fit a model: raidsim {command} {measurement.folder}"
    show(Answer("", [Words(f"{what}: {how}"), Table("", columns, rows), Words(next_step)]), console_of(WIDE))
