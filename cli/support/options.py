"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from ... import InputError

_ANSWERS = {"stop": False, "skip": True}

OnErrorOption = Annotated[
    str,
    typer.Option("--on-error", metavar="HOW", help="Malformed records: stop at the first, or skip and count them."),
]


def skips_malformed(answer: str) -> bool:
    """Whether malformed records are left out; `InputError` if `answer` is neither stop nor skip."""
    if answer not in _ANSWERS:
        raise InputError("--on-error", f"found {answer!r}", f"expected: {', '.join(_ANSWERS)}")
    return _ANSWERS[answer]


ScenarioArgument = Annotated[
    str, typer.Argument(help="A scenario file (YAML), the name of a library scenario, or - for stdin.")
]
"""For :meth:`raidsim.Scenario.load`."""

SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Change the scenario: depth=32, layout=raid6, machine.memory=8GiB; repeatable.",
        metavar="PATH=VALUE",
    ),
]
"""For the same function's `sets`; None without the option."""

StudiesArgument = Annotated[
    list[str] | None, typer.Argument(help="Studies by name or file; default: all but the modern ones.")
]
EveryStudyOption = Annotated[bool, typer.Option("--all", help="All studies, the modern ones too; takes long.")]
"""For :func:`raidsim.calibration.study.study.chosen_studies`."""

RecalibrateOption = Annotated[bool, typer.Option("--recalibrate", help="Fit again, whatever is stored.")]
WorkersOption = Annotated[
    int | None, typer.Option("--workers", min=0, help="Processes (one per core); 0: in this process.")
]
