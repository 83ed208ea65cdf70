"""What a law is: its statement, when it applies, its tolerance with the reason, and the check of a scenario."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .trial import Trial

Check = Callable[[Trial], "Iterator[Violation]"]


@dataclass(frozen=True, slots=True)
class Violation:
    """A law that a scenario breaks.

    Attributes
    ----------
    kind
        What is broken, such as "interface": violations of one law and one kind have the same cause more often than not.
    said
        The figures of the simulation, in words.
    expected
        What they must be, in words.
    document
        The scenario that shows it, if it is another one than the scenario that was checked.
    """

    kind: str
    said: str
    expected: str
    document: dict[str, Any] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Law:
    """A law that holds for every machine.

    Attributes
    ----------
    name
        What ``raidsim laws --law`` takes.
    statement
        The law in a sentence.
    applies
        Which scenarios it is about, in words.
    tolerance
        How far figures may be off, and why.
    check
        Yields what breaks the law.
    where
        Whether a scenario is one that the law is about.
    runs
        Simulations that the check takes besides the scenario's own; laws that take none are checked in every scenario.
    """

    name: str
    statement: str
    applies: str
    tolerance: str
    check: Check
    where: Callable[[Trial], bool]
    runs: int = 0
