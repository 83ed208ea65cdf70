"""`raidsim sweep`: a grid or a sample of scenarios, run on all cores or a cluster, kept in one file, resumable."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from ... import InputError
from ...api.answer.units import parse_time
from ...api.pictures.sweep import sweep_figure
from ...api.sweep import (
    ClusterWorkers,
    ProcessWorkers,
    ResultStore,
    ResultTable,
    SweepPlan,
    SweepProgress,
    SweepWorkers,
    ThisProcess,
    parse_assignment,
    read_sweep,
    run_plan,
    write_csv,
    write_parquet,
)
from ...api.tables.sweep import document, sweep_answer
from ..support.files import check_picture, write_picture
from ..support.interrupts import interrupted_status
from ..support.options import SetOption
from ..support.terminal import show

_MOST_WORKERS = 1024
_FAILED = 1


def sweep_command(
    file: Annotated[Path | None, typer.Argument(help="A sweep file (YAML).")] = None,
    store: Annotated[
        Path | None,
        typer.Option("--store", metavar="FILE", help="Where results are kept; default: the sweep file's name .sqlite."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", metavar="N", help="Processes (one per core); 0: in this process.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option("--scheduler", metavar="ADDRESS", help="Run on a Dask cluster: tcp://host:8786.")
    ] = None,
    timeout: Annotated[
        str | None, typer.Option("--timeout", metavar="TIME", help="A run that takes longer, such as 5min, fails.")
    ] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run again what failed before.")] = False,
    recompute: Annotated[
        bool, typer.Option("--recompute", help="Begin anew where another version of raidsim made the results.")
    ] = False,
    status: Annotated[
        Path | None, typer.Option("--status", metavar="STORE", help="Run nothing; show what is in a file of results.")
    ] = None,
    export: Annotated[
        Path | None, typer.Option("--export", metavar="STORE", help="Run nothing; write tables of a file of results.")
    ] = None,
    csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write all results as CSV.")] = None,
    parquet: Annotated[
        Path | None, typer.Option("--parquet", metavar="FILE", help="Write all results as Parquet.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw the results (svg, png, pdf).")
    ] = None,
    sets: SetOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Run a grid or a sample of scenarios; what was done is kept, and the same command goes on where it ended.

    With --status or --export, a sweep file chooses one of several sweeps in the store; otherwise it is the latest.
    """
    timeout_s = None if timeout is None else _seconds(timeout)
    plan = None if file is None else read_sweep(file, dict(map(parse_assignment, sets or ())))
    looked_at = _looked_at(plan, status, export, {"--csv": csv, "--parquet": parquet, "--plot": plot}, store)
    if plot is not None:
        check_picture(plot, "" if file is None else str(file))
    if looked_at is not None:
        with ResultStore(looked_at, write=False) as there:
            number = _chosen(there, plan)
            _export(there, number, plan, csv, parquet)
            _draw(there, number, plan, plot)
            _show(there, number, plan, as_json, whole=status is not None)
        return
    assert plan is not None
    assert file is not None
    place = store if store is not None else Path(f"{file.stem}.sqlite")
    for option, target in (("--csv", csv), ("--parquet", parquet), ("--plot", plot)):
        _check_target(option, target, place)
    with ResultStore(place, write=True) as kept:
        try:
            number, progress = run_plan(plan, kept, _workers(workers, scheduler), timeout_s, retry_failed, recompute)
        except KeyboardInterrupt as error:
            typer.echo(_interrupted(kept, plan), err=True)
            raise typer.Exit(interrupted_status(error)) from None
        _export(kept, number, plan, csv, parquet)
        _draw(kept, number, plan, plot)
        _show(kept, number, plan, as_json, whole=True)
        _tell(progress)
        if kept.record(number).counts["failed"]:
            raise typer.Exit(_FAILED)


def _seconds(timeout: str) -> float:
    seconds = parse_time(timeout, "--timeout")
    if not 0 < seconds <= 1e7:
        raise InputError("--timeout", f"found {timeout}", "expected: a time above 0, such as 5min")
    return seconds


def _looked_at(
    plan: SweepPlan | None,
    status: Path | None,
    export: Path | None,
    targets: Mapping[str, Path | None],
    store: Path | None,
) -> Path | None:
    """The store that is only looked at; None if something is to be run."""
    if status is None and export is None:
        if plan is None:
            raise InputError("raidsim sweep", "no sweep file", "expected: FILE, --status STORE or --export STORE")
        return None
    if status is not None and export is not None:
        raise InputError("--export", "found with --status", "expected: one of the two")
    if store is not None:
        raise InputError("--store", "found with --status or --export", "expected: where a sweep is run")
    if export is not None and not any(targets.values()):
        raise InputError("--export", "nothing to write", "expected: --csv FILE, --parquet FILE or --plot FILE")
    place = status or export
    for option, target in targets.items():
        _check_target(option, target, place)
    return place


def _check_target(option: str, target: Path | None, store: Path | None) -> None:
    """Refuse a table that could not be written, before anything long is computed."""
    if target is None:
        return
    if store is not None and target.absolute() == store.absolute():
        raise InputError(option, f"{target} is the file of results itself", "expected: another file")
    if target.is_dir() or not target.absolute().parent.is_dir():
        found = "is a folder" if target.is_dir() else f"there is no folder {target.parent}"
        raise InputError(option, f"{target}: {found}", "expected: a file in a folder that is there")


def _workers(count: int | None, scheduler: str | None) -> SweepWorkers:
    if scheduler is not None:
        if count is not None:
            raise InputError("--workers", "found with --scheduler", "expected: one of the two")
        return ClusterWorkers(scheduler, lambda text: typer.echo(text, err=True))
    if count is not None and not 0 <= count <= _MOST_WORKERS:
        raise InputError("--workers", f"found {count}", f"expected: 0 to {_MOST_WORKERS}")
    if count == 0:
        return ThisProcess()
    return ProcessWorkers(count or os.cpu_count() or 1)


def _chosen(store: ResultStore, plan: SweepPlan | None) -> int:
    """The sweep of a store that is meant."""
    sweeps = store.sweeps()
    if not sweeps:
        raise InputError(store.name, "no sweep in it yet", "expected: a file that raidsim sweep has written results to")
    if plan is None:
        return sweeps[-1].number
    number = store.find(plan.fingerprint)
    if number is None:
        found = f"no results of the sweep {plan.name} as its file is now"
        raise InputError(store.name, found, f"there are: {', '.join(dict.fromkeys(each.name for each in sweeps))}")
    return number


def _export(store: ResultStore, number: int, plan: SweepPlan | None, csv: Path | None, parquet: Path | None) -> None:
    if csv is None and parquet is None:
        return
    table = ResultTable(store, number, _known_figures(store, number, plan))
    if csv is not None:
        write_csv(table, csv)
    if parquet is not None:
        write_parquet(table, parquet)


def _draw(store: ResultStore, number: int, plan: SweepPlan | None, plot: Path | None) -> None:
    if plot is not None:
        record, figures = store.record(number), _known_figures(store, number, plan)
        write_picture(plot, lambda: sweep_figure(store, record, figures))


def _known_figures(store: ResultStore, number: int, plan: SweepPlan | None) -> tuple[str, ...]:
    """The figures that the sweep's file asks for; those that no run has are told of."""
    wanted = () if plan is None else plan.figures
    known = store.names(number, "figures")
    missing = [figure for figure in wanted if figure not in known]
    if missing and known:
        typer.echo(f"no run has the figure {', '.join(missing)}; there are: {', '.join(known)}", err=True)
    return tuple(figure for figure in wanted if figure in known)


def _show(store: ResultStore, number: int, plan: SweepPlan | None, as_json: bool, whole: bool) -> None:
    record = store.record(number)
    if as_json:
        typer.echo(json.dumps(document(store, record), allow_nan=False))
    else:
        figures = _known_figures(store, number, plan) if whole and plan is not None else ()
        show(sweep_answer(store, record, figures, whole))


def _tell(progress: SweepProgress) -> None:
    """What did not have to be simulated this time."""
    known = progress.settled - progress.simulated - progress.reused
    parts = [f"{known:,} runs were there before"] if known else []
    if progress.reused:
        parts.append(f"{progress.reused:,} were taken over from other sweeps in the store")
    if parts:
        typer.echo("; ".join([*parts, f"{progress.simulated:,} simulated"]), err=True)


def _interrupted(store: ResultStore, plan: SweepPlan) -> str:
    number = store.find(plan.fingerprint)
    done = 0 if number is None else plan.runs - store.record(number).left
    if store.name == ":memory:":
        return f"interrupted: {done:,} of {plan.runs:,} runs were done, and are gone"
    return (
        f"interrupted: {done:,} of {plan.runs:,} runs are in {shlex.quote(store.name)}; the same command goes on there"
    )
