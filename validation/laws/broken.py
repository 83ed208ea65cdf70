"""Scenarios that break a law: found by checking one, or kept from a hunt with whether its cause is mended."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from ...model.core.errors import InputError, RaidsimError
from ...model.files.description import Spec
from ...model.files.description_errors import load_spec
from .law import Law, Violation
from .trial import Trial

FOUND = Path(__file__).parent / "found"
ANSWERS = "answers"
"""Name of the law that every scenario is refused with a message or gives a result."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A scenario that breaks a law.

    Attributes
    ----------
    law
        Name of the law.
    violation
        What breaks it.
    scenario
        The scenario as it was drawn, or made smaller.
    """

    law: str
    violation: Violation
    scenario: dict[str, Any]

    @property
    def kind(self) -> str:
        """Law and kind: the same for violations that most likely have the same cause."""
        return self.law if self.violation.kind == self.law else f"{self.law}: {self.violation.kind}"

    @property
    def shown(self) -> dict[str, Any]:
        """The scenario that shows it."""
        return self.violation.document or self.scenario


def broken_by(law: Law, trial: Trial) -> list[Broken]:
    """What a scenario breaks of a law; a failure of the program meanwhile breaks the law `answers`."""
    try:
        return [Broken(law.name, each, trial.data) for each in law.check(trial)]
    except InputError:
        return []
    except RaidsimError as error:
        return [failed_answer(error, trial.data)]


def violations(law: Law | None, scenario: dict[str, Any]) -> list[Broken]:
    """What a scenario breaks of a law, or of `answers`."""
    trial = Trial(scenario)
    try:
        _ = trial.outcome
    except InputError:
        return []
    except Exception as error:
        return [failed_answer(error, scenario)]
    return broken_by(law, trial) if law is not None and law.where(trial) else []


def failed_answer(error: Exception, scenario: dict[str, Any]) -> Broken:
    """A failure of the program, which no scenario may cause."""
    said = f"{type(error).__name__}: {error}"[:200]
    expected = "a result, or one message with what was found and what is expected"
    return Broken(ANSWERS, Violation(type(error).__name__, said, expected), scenario)


class Kept(Spec):
    """A scenario that was found to break a law."""

    law: str
    """Name of the law."""
    kind: str
    """Kind of the violation."""
    status: Literal["open", "mended"]
    """Whether the scenario still breaks the law."""
    reason: str
    """The mechanism that is wrong or missing, or the one that was mended."""
    scenario: dict[str, Any]
    """The scenario, as a user writes it."""


@lru_cache(maxsize=1)
def kept() -> dict[str, Kept]:
    """The scenarios that come with raidsim, by the name of the file."""
    return {path.stem: load_spec(Kept, path) for path in sorted(FOUND.glob("*.yaml"))}


def open_kinds() -> set[str]:
    """Kinds of violations that are known and not mended, as :attr:`Broken.kind`."""
    return {
        Broken(each.law, Violation(each.kind, "", ""), {}).kind for each in kept().values() if each.status == "open"
    }
