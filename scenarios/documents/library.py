"""The scenarios that come with raidsim, by name."""

from __future__ import annotations

import re
from difflib import get_close_matches
from itertools import takewhile
from pathlib import Path

from ...model.core.errors import InputError

LIBRARY = Path(__file__).parent / "catalogue" / "library"
PREFIX = "library:"


def library_names() -> tuple[str, ...]:
    """Names of all scenarios in the library, sorted."""
    return tuple(sorted(path.stem for path in LIBRARY.glob("*.yaml")))


def library_file(name: str, place: str = "scenario") -> Path:
    """The file of a scenario in the library, by its name in any case of its letters.

    Raises
    ------
    InputError
        If there is none; names close ones, and all there are.
    """
    by_fold = {known.casefold(): known for known in library_names()}
    known = by_fold.get(name.casefold())
    if known is None:
        close = get_close_matches(name.casefold(), by_fold, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise InputError(
            place, f"no scenario {name!r} in the library", f"{hint}expected: {', '.join(by_fold.values())}"
        )
    return LIBRARY / f"{known}.yaml"


def library_summary(name: str) -> str:
    """What a scenario is, in one sentence: the first of the comment that its file begins with."""
    lines = library_file(name).read_text(encoding="utf-8").splitlines()
    comment = takewhile(lambda line: line.startswith("#"), lines)
    words = " ".join(line.lstrip("# ").rstrip() for line in comment)
    return re.split(r"(?<=\.)\s", words, maxsplit=1)[0].removesuffix(".")
