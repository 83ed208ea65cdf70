"""`raidsim fio`: a fio job file on the machine of a scenario."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ... import InputError
from ...api.answer.tree import Answer, Verbatim
from ...api.answer.units import parse_size, parse_time
from ...api.fio import (
    Compared,
    FioOptions,
    FioRun,
    chosen,
    compared,
    is_option,
    job_sections,
    jobs_of,
    json_document,
    json_text,
    machine_scenario,
    missing,
    normal_text,
    read_report,
    run_iolog,
    run_jobs,
    write_logs,
)
from ...api.support.files import whole_file
from ...api.tables.fio import fio_comparison, limits
from ..support.files import check_output
from ..support.options import SetOption
from ..support.terminal import show

CONTEXT = {"allow_extra_args": True, "ignore_unknown_options": True}
"""Options that raidsim does not have are fio's."""
_ALIKE = 0.85
"""How much of a misspelt option must be as one of raidsim's (difflib's ratio)."""
_FORMATS = ("normal", "json", "json+")


def fio_command(
    context: typer.Context,
    job: Annotated[
        str, typer.Argument(metavar="JOB", help="A job file of fio, or a command line of fio in quotes; - for stdin.")
    ],
    machine: Annotated[
        str, typer.Option("--machine", help="Scenario file, library name or machine that the jobs run on.")
    ],
    sets: SetOption = None,
    section: Annotated[
        list[str] | None, typer.Option("--section", metavar="NAME", help="Only this job of the file; repeatable.")
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--target", metavar="NAME", help="Device for files, and for devices that the machine has not."),
    ] = None,
    output_format: Annotated[
        str, typer.Option("--output-format", metavar="FORM", help="normal, json or json+, as fio prints them.")
    ] = "normal",
    as_json: Annotated[bool, typer.Option("--json", help="The same as --output-format=json.")] = False,
    files: Annotated[
        list[str] | None,
        typer.Option("--file", metavar="NAME=SIZE", help="A file that is there before, and its size; repeatable."),
    ] = None,
    write_iolog: Annotated[
        str | None, typer.Option("--write_iolog", metavar="FILE", help="Write fio's log of I/Os of all jobs.")
    ] = None,
    logs: Annotated[
        Path | None, typer.Option("--logs", metavar="DIR", help="Write the logs that the jobs ask for to this folder.")
    ] = None,
    at_most: Annotated[
        str | None, typer.Option("--at-most", metavar="TIME", help="End every job after this time of its statistics.")
    ] = None,
    compare: Annotated[
        Path | None, typer.Option("--compare", metavar="FILE", help="fio's JSON of the same jobs, measured.")
    ] = None,
) -> None:
    """Run a fio job file on the machine of a scenario: what fio would report there.

    Options of fio may follow the job file (--filename=/dev/md0 --size=1g), as they do for fio.
    """
    form = "json" if as_json and output_format == "normal" else output_format
    if form not in _FORMATS:
        raise InputError("--output-format", f"found {form!r}", f"expected: {', '.join(_FORMATS)}")
    most_s = None if at_most is None else parse_time(at_most, "--at-most")
    if most_s is not None and not most_s > 0:
        raise InputError("--at-most", f"found {at_most!r}", "expected: more than 0")
    described = machine_scenario(machine, sets or [])
    _check_spelling(context)
    line = jobs_of(job, context.args)
    _check_written(write_iolog, logs, (machine, line.file) if line.file else (machine,))
    spec = described.spec
    jobs = chosen(job_sections(line, spec), section or [], job)
    report = None if compare is None else read_report(compare)
    options = FioOptions(target, _file_sizes(files or []), most_s, logs is not None, write_iolog is not None)
    advice = "" if most_s is not None else "--at-most 2s ends every job after 2 s of its statistics"
    try:
        ran = run_jobs(spec, jobs, options, advice=advice)
    except InputError as error:
        if "," in error.place or error.place.startswith(("--", "job ", "size")):
            raise  # it is about the jobs
        raise described.located(error) from None
    _write(ran, write_iolog, logs)
    if report is None or compare is None:
        _show(ran, form)
    else:
        _compared(ran, compared(ran, report, str(compare)), str(compare), form)


def _file_sizes(given: Sequence[str]) -> dict[str, int]:
    """``--file`` options."""
    sizes = {}
    for text in given:
        name, equals, size = text.partition("=")
        if not name or not equals:
            raise InputError("--file", f"found {text!r}", "expected: NAME=SIZE")
        sizes[name] = parse_size(size, f"--file {name}")
    return sizes


def _check_spelling(context: typer.Context) -> None:
    """Refuse an option that is nearly one of raidsim's and none of fio's."""
    own = [name for param in context.command.params for name in param.opts if name.startswith("--")]
    for word in context.args:
        name = word.partition("=")[0]
        close = difflib.get_close_matches(name, own, 1, _ALIKE) if name.startswith("--") else []
        if close and not is_option(name.removeprefix("--")):
            raise InputError(name, "unknown option", f"did you mean {close[0]!r}? expected: --help lists raidsim's own")


def _check_written(write_iolog: str | None, logs: Path | None, sources: Sequence[str]) -> None:
    """Refuse at once what could not be written after the run."""
    if write_iolog is not None:
        for source in sources:
            check_output(Path(write_iolog), "--write_iolog", source)
    if logs is not None:
        there = next(path for path in (logs.absolute(), *logs.absolute().parents) if path.exists())
        if not there.is_dir() or not os.access(there, os.W_OK):
            raise InputError(
                "--logs", f"{logs} cannot be written: {there} is no folder to write to", "expected: a path"
            )


def _write(run: FioRun, write_iolog: str | None, logs: Path | None) -> None:
    """The logs."""
    place = "--write_iolog" if write_iolog is not None else "--logs"
    try:
        if write_iolog is not None:
            with whole_file(write_iolog) as unfinished, unfinished.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(f"{line}\n" for line in run_iolog(run))
            place = "--logs"
        if logs is not None:
            write_logs(run, logs)
    except OSError as error:
        raise InputError(place, f"{error.filename} cannot be written ({error.strerror})", "expected: a path") from None


def _show(run: FioRun, form: str) -> None:
    """What fio prints, and what limits."""
    told = limits(run)
    if form != "normal":
        typer.echo(json_text(json_document(run, form == "json+")), nl=False)
        for line in told:
            typer.echo(line.text, err=True)
        return
    show(Answer("", [Verbatim(f"{normal_text(run)}\n"), *told]))


def _compared(run: FioRun, rows: Sequence[Compared], measured: str, form: str) -> None:
    """What fio predicts next to what was measured; in JSON, one object that has fio's own document in it."""
    if form == "normal":
        show(fio_comparison(run, rows, measured))
        return
    found = {
        "measured": measured,
        "comparison": [row.document() for row in rows],
        "bottleneck": run.limits,
        "notes": [*run.notes, *missing(rows)],
        "fio": json_document(run, form == "json+"),
    }
    typer.echo(json.dumps(found, allow_nan=False))
