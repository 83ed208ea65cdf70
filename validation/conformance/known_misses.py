"""Why some recorded cases are not reproduced: explanations as data, shown with their misses."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from ...model.files.description import Spec
from ...model.files.description_errors import load_spec
from .base import KindResult, Miss

_MARKS = re.compile(r"_(degraded|lost|bm)")
"""In an array's name: members that are lost, or a bitmap."""

_FILE = Path(__file__).parent / "known_misses.yaml"


class KnownMiss(Spec):
    """An explanation."""

    kind: str
    file: str
    case: str
    """Kind of check, name of the truth file, and pattern of the cases (`*` matches anything)."""
    clean: bool = False
    """If true, it is only about arrays that have all members and no bitmap, as the array's name says (`_degraded`,
    `_lost0`, `_bm1M`)."""
    why: str
    """What is different about the recording, or what the model lacks; it begins with "Known", "Suspected (no
    experiment)" or "Unknown"."""

    def is_about(self, kind: str, miss: Miss) -> bool:
        """Whether it explains a miss."""
        if self.kind != kind or not (fnmatchcase(miss.file, self.file) and fnmatchcase(miss.case, self.case)):
            return False
        return not (self.clean and _MARKS.search(miss.case.partition(" ")[0]))


class KnownMisses(Spec):
    """All explanations; the first that fits a miss is shown."""

    misses: tuple[KnownMiss, ...]
    """In the order in which they are tried."""


@cache
def known_misses() -> tuple[KnownMiss, ...]:
    """The explanations that come with raidsim."""
    return load_spec(KnownMisses, _FILE).misses


def explain(result: KindResult) -> None:
    """Give the misses of a result their explanations, unless the check gave one."""
    for number, miss in enumerate(result.misses):
        why = next((known.why for known in known_misses() if known.is_about(result.kind, miss)), "")
        if why and not miss.why:
            result.misses[number] = replace(miss, why=" ".join(why.split()))


def stale(results: Iterable[KindResult]) -> list[KnownMiss]:
    """The explanations, of the kinds in `results`, that no miss needs any more."""
    by_kind = {result.kind: result.misses for result in results}
    return [
        known
        for known in known_misses()
        if known.kind in by_kind and not any(known.is_about(known.kind, miss) for miss in by_kind[known.kind])
    ]
