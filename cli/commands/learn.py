"""`raidsim learn`: what a box does with other loads, learnt from a few measurements of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ... import InputError
from ...api.base import plain
from ...api.learning import MOST_NEXT, BoxLoad, learn, loads_in, usual_candidates
from ...api.measuring import job_file
from ..support.files import check_output, write_file
from ..support.options import WorkersOption
from ..support.terminal import show


def learn_command(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="MEASUREMENTS", help="Tables (.csv), reports of fio (JSON), folders of such reports."),
    ],
    ask: Annotated[
        list[str] | None,
        typer.Option(
            "--ask",
            metavar="LOAD",
            help="Predict block_size=4KiB,jobs=16,depth=8,read_share=70%[,pattern=sequential]; repeatable.",
        ),
    ] = None,
    wanted: Annotated[
        int, typer.Option("--next", metavar="N", min=0, max=MOST_NEXT, help="Name N jobs to measure next.")
    ] = 0,
    jobs_file: Annotated[
        Path | None,
        typer.Option("--jobs", metavar="FILE", help="Write those of --next as a job file, for measure --job."),
    ] = None,
    verify: Annotated[
        list[Path] | None,
        typer.Option("--verify", metavar="FILE", help="Compare with measurements that were made later; repeatable."),
    ] = None,
    machine: Annotated[
        str | None,
        typer.Option("--machine", metavar="SCENARIO", help="What is known of it: its uncertain numbers are learnt."),
    ] = None,
    card: Annotated[
        Path | None,
        typer.Option("--card", metavar="FILE", help="Write the controllers of --machine as learnt, to extend."),
    ] = None,
    workers: WorkersOption = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of the samples.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Learn a box from about ten measurements of it, and predict what was not measured."""
    if jobs_file is not None and not wanted:
        raise InputError("--jobs", "no --next", "expected: --next N, the jobs that are written")
    if jobs_file is not None:
        check_output(jobs_file, "--jobs", str(files[0]))
    if card is not None:
        if machine is None:
            raise InputError("--card", "no --machine", "expected: --machine SCENARIO, with the card in it")
        check_output(card, "--card", str(files[0]))
    loads = ask or []
    together: list[str | BoxLoad] = [
        *loads,
        *(usual_candidates(machine is not None) if wanted else ()),
        *(loads_in(*verify) if verify else ()),
    ]
    box = learn(*files, machine=machine, loads=together, seed=seed, workers=workers)
    verified = box.verify(*verify) if verify else None
    jobs = box.next_jobs(*loads, count=wanted) if wanted else None
    if jobs is not None and jobs_file is not None:
        write_file(jobs_file, job_file([gain.load for gain in jobs.gains]), force=True, option="--jobs")
        typer.echo(f"to measure them: raidsim measure DEVICE --job {jobs_file}", err=True)
    if card is not None:
        write_file(card, box.cards(), force=True, option="--card")
        typer.echo(f"to use it: extends: {card.name}", err=True)
    if not as_json:
        show(box.answer(loads, jobs, verified))
        return
    found: dict[str, Any] = box.document()
    found["predicted"] = [
        {"load": load, **each._asdict()} for load, each in zip(loads, box.predict(*loads), strict=True)
    ]
    if jobs is not None:
        found["next"] = [{**gain.load._asdict(), "spread": gain.spread} for gain in jobs.gains]
        found["spread"] = jobs.spread
    if verified is not None:
        found["verified"] = [
            {"name": each.measured.name, "rate": each.measured.rate, **each.predicted._asdict(), "inside": each.inside}
            for each in verified.checks
        ]
        found["moved"] = [each._asdict() for each in verified.moved]
    typer.echo(json.dumps(plain(found), allow_nan=False))
