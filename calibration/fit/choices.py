"""Which of some alternatives a study's calibrate cells speak for, where its report does not say: a kernel, how a mirror
balances reads, or how solid-state drives were used before. Each combination is fitted, so that none wins by parameters
that suit it by chance.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from ...model.core.errors import InputError
from ...model.kernels import canonical, choice_of_kernels
from ...model.raid.read_balance import READ_BALANCE, balance
from ...scenarios.description.machine import DriveState, MachineSpec
from ..study.study import StudySpec
from .search import Optimum

ALLOWED = "kernel=NAME,NAME... (of every run), arrays.NAME.balance=POLICY,POLICY..., or state=STATE,STATE... (of flash)"
STATES = get_args(DriveState)
MOST_COMBINATIONS = 24
"""Each takes a fit."""


@dataclass(frozen=True, slots=True)
class Combination:
    """Alternatives that go together, and how well they can be fitted; None where the model refuses them."""

    chosen: Mapping[str, str]
    optimum: Optimum | None
    refusal: str = ""

    @property
    def cost(self) -> float:
        """Of the fit."""
        return math.inf if self.optimum is None else self.optimum.cost

    @property
    def words(self) -> str:
        """What was chosen."""
        return ", ".join(f"{place} {value}" for place, value in self.chosen.items())


def read_choices(texts: Sequence[str]) -> dict[str, list[str]]:
    """Alternatives by place, from ``PLACE=A,B`` as the command line has them."""
    choices: dict[str, list[str]] = {}
    for text in texts:
        place, equals, values = text.partition("=")
        found = [value.strip() for value in values.split(",")]
        keys = place.split(".")
        known = place in ("kernel", "state") or (len(keys) == 3 and keys[0] == "arrays" and keys[2] == "balance")
        if not equals or not known or not all(found):
            raise InputError("--choose", f"{text!r}", f"expected: {ALLOWED}")
        choices[place] = list(dict.fromkeys(found))
    combinations = math.prod(len(values) for values in choices.values())
    if combinations > MOST_COMBINATIONS:
        raise InputError("--choose", f"{combinations} combinations", f"expected: up to {MOST_COMBINATIONS}")
    return choices


def try_all(
    study: StudySpec, choices: Mapping[str, Sequence[str]], search: Callable[[StudySpec], Optimum]
) -> list[Combination]:
    """Every combination, the one that can be fitted best first.

    Raises
    ------
    InputError
        If there is nothing to calibrate on, an alternative is unknown, or the model refuses all combinations.
    """
    if not study.calibrate_cells:
        raise InputError("--choose", "no cell to calibrate on", "expected: one at least")
    tried = []
    for values in itertools.product(*choices.values()):
        chosen = dict(zip(choices, values, strict=True))
        alternative = with_choice(study, chosen)
        try:
            tried.append(Combination(chosen, search(alternative)))
        except InputError as refusal:
            tried.append(Combination(chosen, None, str(refusal)))
    tried.sort(key=lambda each: each.cost)
    if tried[0].optimum is None:
        raise InputError("--choose", f"{tried[0].words}: {tried[0].refusal}", f"expected: {ALLOWED}")
    return tried


def with_choice(study: StudySpec, chosen: Mapping[str, str]) -> StudySpec:
    """The study with some alternatives.

    Raises
    ------
    InputError
        If the study has no such place, or cannot have such a value there.
    """
    changes: dict[str, object] = {}
    arrays = dict(study.arrays)
    for place, value in chosen.items():
        if place == "kernel":
            known = canonical(value)
            if known is None:
                raise InputError("--choose", f"unknown kernel {value!r}", choice_of_kernels(value))
            changes["cases"] = tuple(case.model_copy(update={"kernel": known}) for case in study.cases)
            changes["runs"] = {name: run.model_copy(update={"kernel": known}) for name, run in study.runs.items()}
            continue
        if place == "state":
            if value not in STATES:
                raise InputError("--choose", f"unknown state {value!r}", f"expected: {', '.join(STATES)}")
            changes["machines"] = {name: _used_before(machine, value) for name, machine in study.machines.items()}
            if study.only_machine is not None:
                changes["only_machine"] = _used_before(study.only_machine, value)
            continue
        name = place.split(".")[1]
        if name not in arrays:
            allowed = f"expected: {', '.join(arrays) or 'none, since there are no arrays'}"
            raise InputError("--choose", f"unknown array {name!r}", allowed)
        if value not in READ_BALANCE:
            raise InputError("--choose", f"unknown balance {value!r}", f"expected: {', '.join(sorted(READ_BALANCE))}")
        arrays[name] = arrays[name].model_copy(update={"balance": balance(value)})
    return study.model_copy(update={**changes, "arrays": arrays})


def _used_before(machine: MachineSpec, state: str) -> MachineSpec:
    """A machine with all of its solid-state drives in a state."""
    drives = {
        name: each if each.entry().rotational else each.model_copy(update={"state": state})
        for name, each in machine.drives.items()
    }
    return machine.model_copy(update={"drives": drives})
