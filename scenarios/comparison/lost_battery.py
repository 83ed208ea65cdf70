"""A design whose controllers have lost their batteries, or learn them: write-through; and how much a cache takes."""

from __future__ import annotations

from dataclasses import dataclass

from ...model.core.errors import InputError
from ..description.scenario import ScenarioSpec
from ..running.simulate import simulate

FIGURES = ("iops", "read_mean_seconds", "write_mean_seconds", "write_p99_seconds")


@dataclass(frozen=True, slots=True)
class LostBattery:
    """What write-back does for a design.

    Attributes
    ----------
    write_bytes
        Memory for writes of its controllers.
    figures
        Figures of a run without it: those of :data:`FIGURES` that the load has.
    saturated
        Whether that run got more I/Os than it could do.
    """

    write_bytes: int
    figures: dict[str, float]
    saturated: bool


def with_lost_batteries(spec: ScenarioSpec) -> ScenarioSpec | None:
    """The scenario with every battery failed; None if no array changes by it.

    A controller writes through already without a cache or by its policy, and writes back all the same if it is forced
    to.
    """
    used = {array.controller for array in spec.arrays.values() if array.controller is not None}
    lost = {}
    for name in sorted(used):
        before = spec.machine.controllers[name]
        after = before.model_copy(update={"overrides": {**before.overrides, "battery": "failed"}})
        if before.spec().writes_back and not after.spec().writes_back:
            lost[name] = after
    if not lost:
        return None
    machine = spec.machine.model_copy(update={"controllers": {**spec.machine.controllers, **lost}})
    return spec.model_copy(update={"machine": machine})


def lost_battery(spec: ScenarioSpec) -> LostBattery | InputError | None:
    """Run a design without its batteries; None if it does not depend on them, the reason if it cannot be run."""
    lost = with_lost_batteries(spec)
    if lost is None:
        return None
    controllers = {name for name, each in lost.machine.controllers.items() if each != spec.machine.controllers[name]}
    try:
        found = simulate(lost)
    except InputError as refusal:
        return refusal
    return LostBattery(
        sum(spec.machine.controllers[name].spec().write_bytes for name in controllers),
        {name: found.figures[name] for name in FIGURES if name in found.figures},
        found.saturated,
    )
