"""What commands that read traces have in common."""

from __future__ import annotations

from typing import Annotated

import typer

from ...model.core.errors import InputError

_ANSWERS = {"stop": False, "skip": True}

OnErrorOption = Annotated[
    str,
    typer.Option("--on-error", metavar="HOW", help="Malformed records: stop at the first, or skip and count them."),
]


def skips_malformed(answer: str) -> bool:
    """Whether malformed records are left out; `InputError` if `answer` is neither stop nor skip."""
    if answer not in _ANSWERS:
        raise InputError("--on-error", f"found {answer!r}", f"allowed: {', '.join(_ANSWERS)}")
    return _ANSWERS[answer]
