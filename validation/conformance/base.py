"""What every kind of conformance check gives: how many cases there are, how many match, and each miss readable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ...model.core.errors import InputError


class TruthFile(NamedTuple):
    """A parsed file of recorded behavior."""

    path: Path
    content: Any


class NotSupported(InputError):
    """A recording is sound, but raidsim has no model of what was recorded: a kernel, a level, a load, a program."""


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


@dataclass(frozen=True, slots=True)
class NotChecked:
    """Recorded cases that were not compared: they count neither as matches nor as misses.

    Attributes
    ----------
    file
        The file.
    case
        The case, or what its cases have in common (an array, a file); "" for a whole file.
    reason
        What raidsim does not support, or what the recording lacks.
    cases
        Number of cases; 0 where the file does not tell.
    """

    file: str
    case: str
    reason: str
    cases: int = 1


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
        What a reader of the report must know about the figures.
    not_checked
        Cases that were not compared, with the reason.
    """

    kind: str
    cases: int = 0
    matched: int = 0
    misses: list[Miss] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    not_checked: list[NotChecked] = field(default_factory=list)

    def record(self, file: str, case: str, difference: str) -> None:
        """Count a case; an empty `difference` is a match."""
        self.cases += 1
        if difference:
            self.misses.append(Miss(file, case, difference))
        else:
            self.matched += 1

    def compare(self, file: str, case: str, difference: Callable[[], str]) -> None:
        """Count a case by the difference that `difference` finds; a case that is not supported is not checked."""
        try:
            found = difference()
        except NotSupported as error:
            self.skip(file, case, error)
        else:
            self.record(file, case, found)

    def skip(self, file: str, case: str, reason: NotSupported | str, cases: int = 1) -> None:
        """Count `cases` cases as not checked."""
        words = f"{reason.found}; {reason.expected}" if isinstance(reason, NotSupported) else reason
        self.not_checked.append(NotChecked(file, case, words, cases))

    @property
    def cases_not_checked(self) -> int:
        """How many cases were not compared."""
        return sum(each.cases for each in self.not_checked)


Progress = Callable[[str], None]
"""Called with the name of each case before it runs."""

Check = Callable[[Sequence[TruthFile], Progress], KindResult]
"""A kind of check: compares the model with every case of the given files."""
