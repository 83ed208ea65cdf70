"""A switch that every mutant of an instrumented checkout asks whether it is on."""

from __future__ import annotations

import builtins
import os

ACTIVE = "RAIDSIM_MUTANT"
REACHED = "RAIDSIM_MUTANTS_REACHED"
NAME = "mutant_is_on"
"""The name that instrumented modules call; a built-in one, so that they need no import."""


class Switch:
    """Tell whether a mutant is the one under test, and remember which were asked for.

    Attributes
    ----------
    active
        The number of the mutant under test; -1: none.
    reached
        The mutants whose code ran in this process.
    """

    __slots__ = ("active", "reached")

    def __init__(self) -> None:
        self.active = int(os.environ.get(ACTIVE, "-1"))
        self.reached: set[int] = set()

    def __call__(self, number: int) -> bool:
        """Whether a mutant is on; its number is appended to a file, which other processes share."""
        if number not in self.reached:
            self.reached.add(number)
            path = os.environ.get(REACHED)
            if path:
                with open(path, "a", encoding="utf-8") as file:
                    file.write(f"{number}\n")
        return number == self.active


def install() -> Switch:
    """The process's switch, which is made at the first call."""
    found: Switch | None = getattr(builtins, NAME, None)
    if found is None:
        found = Switch()
        setattr(builtins, NAME, found)
    return found
