"""What every kind of conformance check gives: how many cases there are, how many match, and each miss readable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple


class TruthFile(NamedTuple):
    """A parsed file of recorded behaviour."""

    path: Path
    content: Any


@dataclass(frozen=True, slots=True)
class Miss:
    """A recorded case that the model does not reproduce.

    Attributes
    ----------
    file, case
        The truth file, and the case in it ("raid5_n4_rmw1 w4k@0k").
    difference
        What was recorded and what the model gives; several lines if need be.
    why
        The explanation, where one is known; else "".
    """

    file: str
    case: str
    difference: str
    why: str = ""


@dataclass(slots=True)
class KindResult:
    """The result of one kind of check.

    Attributes
    ----------
    kind
        Its name.
    cases, matched
        How many recorded cases were compared, and how many the model reproduces.
    misses
        The others.
    notes
        What a reader of the report must know, such as what was left out.
    """

    kind: str
    cases: int = 0
    matched: int = 0
    misses: list[Miss] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def record(self, file: str, case: str, difference: str) -> None:
        """Count a case; an empty `difference` is a match."""
        self.cases += 1
        if difference:
            self.misses.append(Miss(file, case, difference))
        else:
            self.matched += 1


Progress = Callable[[str], None]
"""Called with the name of each case before it runs."""

Check = Callable[[Sequence[TruthFile], Progress], KindResult]
"""A kind of check: compares the model with every case of the given files."""
