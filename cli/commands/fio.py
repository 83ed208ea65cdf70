"""`raidsim fio`: a fio job file on the machine of a scenario."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from ...api.fio import job_sections, jobs_of, machine_document, run_jobs
from ...calibration.fio_study.comparison import compared
from ...calibration.formats.detect import read_report
from ...model.core.errors import InputError
from ...model.files.atomic_file import whole_file
from ...model.files.description_errors import located
from ...model.files.quantities import parse_size, parse_time
from ...model.programs.fio.options import is_option
from ...scenarios.fio.output.iolog import run_iolog
from ...scenarios.fio.output.json_document import json_document, json_text
from ...scenarios.fio.output.logs import write_logs
from ...scenarios.fio.output.normal_text import normal_text
from ...scenarios.fio.plan import chosen
from ...scenarios.fio.result import FioRun
from ...scenarios.fio.run import FioOptions
from ..support.files import check_output
from ..support.options import SetOption
from ..tables.fio_comparison import show_comparison
from ..tables.run import run_console

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
    described = machine_document(machine, sets or [])
    _check_spelling(context)
    line = jobs_of(job, context.args)
    _check_written(write_iolog, logs, (machine, line.file) if line.file else (machine,))
    spec = described.spec()
    jobs = chosen(job_sections(line, spec), section or [], job)
    report = None if compare is None else read_report(compare)
    options = FioOptions(target, _file_sizes(files or []), most_s, logs is not None, write_iolog is not None)
    advice = "" if most_s is not None else "--at-most 2s ends every job after 2 s of its statistics"
    try:
        ran = run_jobs(spec, jobs, options, advice=advice)
    except InputError as error:
        if "," in error.place or error.place.startswith(("--", "job ", "size")):
            raise  # it is about the jobs
        raise located(error, described.positions) from None
    _write(ran, write_iolog, logs)
    if report is None or compare is None:
        _show(ran, form)
    else:
        show_comparison(ran, compared(ran, report, str(compare)), str(compare), form)


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
    lines = [f"bottleneck: {run.limits}", *(f"note: {note}" for note in run.notes)]
    if form != "normal":
        typer.echo(json_text(json_document(run, form == "json+")), nl=False)
        for line in lines:
            typer.echo(line, err=True)
        return
    typer.echo(normal_text(run), nl=False)
    typer.echo()
    console = run_console()
    for line in lines:
        console.print(Text(line))
