"""`raidsim workload`: what a benchmark program asks of the kernel, without simulating time."""

from __future__ import annotations

import gzip
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from ... import InputError
from ...api.answer.numbers import COUNT
from ...api.answer.tree import Column, Row, Table
from ...api.programs import Clock, Kind, Operation, PostMark, log_lines, report, transcript
from ...api.support.workload_programs import OPTIONS, Asked, phases_of
from ..support.files import whole_file
from ..support.terminal import show

_MOST_SIZES, _SIZES_SHOWN = 6, 3


def workload_command(
    program: Annotated[str, typer.Argument(help=f"{', '.join(OPTIONS)} or postmark.")],
    script: Annotated[Path | None, typer.Option(help="postmark: a file of its own commands.")] = None,
    log: Annotated[Path | None, typer.Option(help="postmark: write every file operation here (.gz: packed).")] = None,
    version: Annotated[str | None, typer.Option(help="bonnie, bonnie++, hdparm: which.")] = None,
    size: Annotated[str | None, typer.Option(help="Bytes of a file, of all threads, or of the tree.")] = None,
    volumes: Annotated[int | None, typer.Option(help="bonnie: number of files.")] = None,
    sync: Annotated[bool, typer.Option("--sync", help="bonnie -y, bonnie++ -b, dd conv=fsync.")] = False,
    seeks: Annotated[int | None, typer.Option(help="bonnie, bonnie++: how many.")] = None,
    files: Annotated[int | None, typer.Option(help="tar, cp: files of the tree; bonnie++: small files.")] = None,
    block: Annotated[str | None, typer.Option(help="Bytes a call.")] = None,
    stdio: Annotated[str | None, typer.Option(help="bonnie, bonnie++: buffer of the C library.")] = None,
    threads: Annotated[int | None, typer.Option(help="tiobench: how many.")] = None,
    random: Annotated[int | None, typer.Option(help="tiobench: random operations, of all threads.")] = None,
    scale: Annotated[int | None, typer.Option(help="A run of one N-th: sizes, files, seeks.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Show what a benchmark program asks of the kernel, without simulating time."""
    given: dict[str, Any] = {
        "script": script,
        "log": log,
        "version": version,
        "size": size,
        "volumes": volumes,
        "sync": sync or None,
        "seeks": seeks,
        "files": files,
        "block": block,
        "stdio": stdio,
        "threads": threads,
        "random": random,
        "scale": scale,
    }
    given = {name: value for name, value in given.items() if value is not None}
    taken = {**OPTIONS, "postmark": ("script", "log")}
    if program not in taken:
        raise InputError("workload", f"found the program {program!r}", f"expected: {', '.join(taken)}")
    for name in given:
        if name not in taken[program]:
            allowed = ", ".join(f"--{each}" for each in taken[program])
            raise InputError(f"--{name}", f"{program} has no such option", f"expected: {allowed}")
    if program == "postmark":
        _postmark(script, log, as_json)
        return
    phases = phases_of(program, Asked(given))
    if as_json:
        typer.echo(json.dumps({"phases": phases}))
    else:
        _show(phases)


def _postmark(script: Path | None, log: Path | None, as_json: bool) -> None:
    if script is None:
        raise InputError("--script", "missing", "expected: a file of PostMark's commands")
    text = _script_text(script)
    if log is None:
        printed, runs, moved = _run_script(text, script, None)
    else:
        with whole_file(log, "--log") as unfinished, unfinished.open("wb") as raw, _text_into(raw, log) as lines:
            printed, runs, moved = _run_script(text, script, lines)
            _refuse_no_run(runs, script)
    if not as_json:
        typer.echo(printed, nl=not printed.endswith("\n"))
        return
    _refuse_no_run(runs, script)
    typer.echo(json.dumps(_document(runs[-1], moved)))


def _document(run: PostMark, moved: Mapping[Kind, int]) -> dict[str, Any]:
    return {
        "created": run.created,
        "read": run.read,
        "appended": run.appended,
        "deleted": run.deleted,
        "bytes_read": moved[Kind.READ],
        "bytes_written": moved[Kind.WRITE],
        "report": report(run, Clock()),
    }


def _run_script(text: str, script: Path, lines: IO[str] | None) -> tuple[str, list[PostMark], dict[Kind, int]]:
    """What the script prints, its runs, and the exact bytes that the last one moved."""
    moved: dict[Kind, int] = {}

    def counted(operations: Iterable[Operation]) -> Iterator[Operation]:
        moved.update({Kind.READ: 0, Kind.WRITE: 0})
        for operation in operations:
            if operation.kind in moved:
                moved[operation.kind] += operation.size
            yield operation

    def watch(_: PostMark, operations: Iterator[Operation]) -> None:
        for line in log_lines(counted(operations)):
            if lines is not None:
                lines.write(line)

    printed, runs = transcript(text, str(script), watch=watch)
    return printed, runs, moved


def _refuse_no_run(runs: list[PostMark], script: Path) -> None:
    if not runs:
        raise InputError(str(script), "the script runs nothing", "expected: the command run")


def _script_text(script: Path) -> str:
    allowed = "expected: a text file of PostMark's commands"
    try:
        return script.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(str(script), "there is no such file", allowed) from None
    except IsADirectoryError:
        raise InputError(str(script), "this is a folder", allowed) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise InputError(str(script), f"cannot be read ({reason})", allowed) from None


@contextmanager
def _text_into(raw: IO[bytes], path: Path) -> Iterator[IO[str]]:
    """Text that goes to a file, packed if its name ends in .gz; the same text gives the same bytes at any time."""
    if path.suffix == ".gz":
        with (
            gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed,
            io.TextIOWrapper(packed, encoding="utf-8", newline="\n") as text,
        ):
            yield text
    else:
        with io.TextIOWrapper(raw, encoding="utf-8", newline="\n") as text:
            yield text


def _show(phases: Mapping[str, Mapping[str, int]]) -> None:
    rows: list[Row] = []
    for phase, calls in phases.items():
        counts = _gathered(calls).items()
        rows += [("" if index else phase, call, count) for index, (call, count) in enumerate(counts)]
    columns = (Column("phase", whole=True), Column("call", whole=True), Column("times", show=COUNT))
    show(Table("", columns, rows, keys=2))


def _gathered(calls: Mapping[str, int]) -> dict[str, int]:
    """The calls of a phase; of a call with many sizes, the most frequent ones and the sum of the others."""
    sizes = Counter(call.partition("[")[0] for call in calls)
    shown: dict[str, int] = {}
    for name, kinds in sizes.items():
        found = sorted(
            ((call, calls[call]) for call in calls if call.partition("[")[0] == name), key=lambda each: -each[1]
        )
        kept = found if kinds <= _MOST_SIZES else found[:_SIZES_SHOWN]
        shown.update(kept)
        if len(kept) < kinds:
            shown[f"{name}, {kinds - len(kept):,} other sizes"] = sum(count for _, count in found[len(kept) :])
    return shown
