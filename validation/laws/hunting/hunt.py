"""Draw scenarios, check the laws on each, and find the simplest scenario of each kind of violation."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import seed as seeded

from ....model.core.errors import InputError
from ..broken import Broken, broken_by, failed_answer, violations
from ..law import Law
from ..trial import Trial
from .drawn_devices import Document
from .drawn_scenarios import catalogue_drives, scenarios

MOST_SHRINKS = 80
"""Scenarios that are checked to make one smaller."""
_DRAWING = (Phase.generate,)
_SHRINKING = (Phase.generate, Phase.shrink)
_SEEDS = 1 << 32

Watch = Callable[[int], None]


@dataclass(slots=True)
class Tally:
    """What a hunt has seen so far.

    Attributes
    ----------
    drawn, refused
        Scenarios, and those of them that were refused with a message.
    checked
        Checks by the name of the law.
    broken
        Every violation, in the order found.
    """

    drawn: int = 0
    refused: int = 0
    checked: dict[str, int] = field(default_factory=dict)
    broken: list[Broken] = field(default_factory=list)

    def kinds(self) -> dict[str, list[Broken]]:
        """Violations by kind."""
        found: dict[str, list[Broken]] = {}
        for each in self.broken:
            found.setdefault(each.kind, []).append(each)
        return found


class Hunt:
    """A hunt for violations.

    Parameters
    ----------
    laws
        Those that are checked: in every scenario those that its own simulation tells, and of the others the next one
        that the scenario is about. A single law is checked in every scenario.
    count
        Scenarios to draw.
    seed
        Of all random numbers: the same seed draws the same scenarios.
    """

    def __init__(self, laws: Sequence[Law], count: int, seed: int) -> None:
        self.laws = {law.name: law for law in laws}
        self._compared = [law for law in laws if law.runs]
        self._count = count
        self._turn = 0
        self.tally = Tally()
        drives = catalogue_drives()
        chance = random.Random(seed)
        chance.shuffle(drives)
        each, more = divmod(count, len(drives))
        self._batches = [(name, each + (number < more), chance.randrange(_SEEDS)) for number, name in enumerate(drives)]
        self._seen: dict[str, dict[str, bool]] = {}
        self._batch_of: dict[str, tuple[str, int, int]] = {}

    def run(self, watch: Watch | None = None) -> Iterator[Broken]:
        """Check the scenarios of all drives in turn; yields each violation when it is found.

        Parameters
        ----------
        watch
            Called with the number of scenarios that were drawn.
        """
        for batch in self._batches:
            for scenario in _drawn(*batch):
                self.tally.drawn += 1
                yield from self._check(scenario, batch)
                if watch is not None:
                    watch(self.tally.drawn)

    def _check(self, scenario: Document, batch: tuple[str, int, int]) -> Iterator[Broken]:
        seen = self._seen[_key(scenario)] = {}
        self._batch_of[_key(scenario)] = batch
        for broken in self._broken(scenario):
            if not seen.get(broken.kind):
                seen[broken.kind] = True
                self.tally.broken.append(broken)
                yield broken

    def _broken(self, scenario: Document) -> Iterator[Broken]:
        trial = Trial(scenario)
        try:
            _ = trial.outcome
        except InputError:
            self.tally.refused += 1
            return
        except Exception as error:
            yield failed_answer(error, scenario)
            return
        for law in self.laws.values():
            if not law.runs and law.where(trial):
                yield from self._checked(law, trial)
        for _ in self._compared:
            law = self._compared[self._turn % len(self._compared)]
            self._turn += 1
            if law.where(trial):
                yield from self._checked(law, trial)
                return

    def _checked(self, law: Law, trial: Trial) -> Iterator[Broken]:
        self.tally.checked[law.name] = self.tally.checked.get(law.name, 0) + 1
        yield from broken_by(law, trial)

    def smallest(self, broken: Broken) -> Broken:
        """The simplest scenario that breaks the same law in the same way, of those that were tried.

        The draws of the scenario's drive are repeated until the first one that breaks the law, and hypothesis shrinks
        that one.
        """
        batch = self._batch_of.get(_key(broken.scenario))
        if batch is None:
            return broken
        law = self.laws.get(broken.law)
        found = broken
        known = {key: seen.get(broken.kind, False) for key, seen in self._seen.items()}
        left = MOST_SHRINKS

        def breaks(scenario: Document) -> bool:
            nonlocal found, left
            key = _key(scenario)
            if key not in known:
                if not left:
                    return False
                left -= 1
                same = next((each for each in violations(law, scenario) if each.kind == broken.kind), None)
                known[key] = same is not None
                if same is not None:
                    found = same
            return known[key]

        _shrink(*batch, breaks)
        return found


def _drawn(model: str, count: int, seed: int) -> list[Document]:
    """Scenarios with a drive. Hypothesis tries the simplest one of all first, which is the same for every seed."""
    drawn: list[Document] = []
    if count:
        _attempts(model, count, seed, _DRAWING, drawn.append)
    return drawn[1:]


def _shrink(model: str, count: int, seed: int, breaks: Callable[[Document], bool]) -> None:
    """Let hypothesis shrink the first of the same scenarios that `breaks`."""

    class Found(Exception):
        pass

    def attempt(scenario: Document) -> None:
        if breaks(scenario):
            raise Found

    with suppress(Found):
        _attempts(model, count, seed, _SHRINKING, attempt)


def _attempts(model: str, count: int, seed: int, phases: Sequence[Phase], attempt: Callable[[Document], Any]) -> None:
    @seeded(seed)
    @settings(
        max_examples=count + 1,
        phases=phases,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        print_blob=False,
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
    )
    @given(scenarios(model))
    def attempts(scenario: Document) -> None:
        attempt(scenario)

    attempts()


def _key(scenario: Document) -> str:
    return json.dumps(scenario, sort_keys=True)
