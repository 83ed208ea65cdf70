"""What would help next to a rebuild: the same scenario with other speed limits, queue depths and I/O schedulers.

An upper limit makes the rebuild give way to the load, and a lower limit the load to the rebuild. A quarter of the rate
is tried as the upper one, and the kernel's upper limit as the lower one, which makes md ignore the load. A hard disk
with several commands goes on with the rebuild, which needs no seek, so single reads wait for it; a disk that gets one
command at a time leaves the choice to the scheduler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ...model.kernels import kernel
from ..description.arrays import ArraySpec
from ..description.machine import DriveInstance
from ..description.scenario import ScenarioSpec
from ..description.tuning import ResyncSpec
from ..machine.parts import QueuePlan
from ..machine.plan import machine_plan
from ..running.base.prediction import Prediction
from ..running.base.run import Run
from ..running.base.sample import Sample
from ..running.simulate import simulate

SLOWER = 4
"""The rebuild's rate is divided by this for the upper limit."""


@dataclass(frozen=True, slots=True)
class RebuildRemedy:
    """A rebuild under a load, with a setting changed.

    Attributes
    ----------
    what
        The setting, in words.
    prediction
        What the run gave with it.
    """

    what: str
    prediction: Prediction


def rebuild_remedies(
    scenario: ScenarioSpec,
    rebuilding: Prediction,
    sample: Sample | None = None,
    watch: Callable[[Run], None] | None = None,
) -> tuple[RebuildRemedy, ...]:
    """Run a scenario with a rebuild again with each setting that may help the load or the rebuild.

    Parameters
    ----------
    scenario, rebuilding
        What was run, and what it gave.
    sample, watch
        As for :func:`~raidsim.scenarios.running.simulate.simulate`.

    Returns
    -------
    tuple of RebuildRemedy
        Empty where md rebuilds nothing, or is done with it.
    """
    changes = changed_settings(scenario, rebuilding)
    return tuple([RebuildRemedy(what, simulate(changed, sample, watch)) for what, changed in changes])


def changed_settings(scenario: ScenarioSpec, rebuilding: Prediction) -> list[tuple[str, ScenarioSpec]]:
    """The scenarios that :func:`rebuild_remedies` runs, each with its setting in words."""
    arrays = {name: array for name, array in scenario.arrays.items() if array.moves_data and array.controller is None}
    goes_on = any(each.left_s for each in rebuilding.rebuilds if each.array in arrays)
    if not goes_on or not scenario.kernel.startswith("linux-"):
        return []
    return [*_limits(scenario, arrays, rebuilding), *_queue_depth(scenario), *_schedulers(scenario)]


def _limits(
    scenario: ScenarioSpec, arrays: dict[str, ArraySpec], rebuilding: Prediction
) -> Iterator[tuple[str, ScenarioSpec]]:
    known = kernel(scenario.kernel).resync
    rate = min((each.rate for each in rebuilding.rebuilds if each.array in arrays), default=0.0)
    most = min(_limit(array, "speed_max", known.speed_max) for array in arrays.values())
    least = max(_limit(array, "speed_min", known.speed_min) for array in arrays.values())
    slow = float(f"{min(rate, most) / SLOWER:.1g}")
    if slow > least:
        yield f"sync_speed_max {_rate(slow)}", _limited(scenario, arrays, {"speed_max": slow})
    if most > least:
        yield f"sync_speed_min {_rate(most)}", _limited(scenario, arrays, {"speed_min": most})


def _limit(array: ArraySpec, field: str, own: float) -> float:
    set_by_hand = None if array.resync is None else getattr(array.resync, field)
    return own if set_by_hand is None else float(set_by_hand)


def _rate(rate: float) -> str:
    return f"{rate / 1e6:,.3g} MB/s"


def _limited(scenario: ScenarioSpec, arrays: dict[str, ArraySpec], limits: dict[str, float]) -> ScenarioSpec:
    changed = {
        name: array.model_copy(update={"resync": (array.resync or ResyncSpec()).model_copy(update=limits)})
        for name, array in arrays.items()
    }
    return scenario.model_copy(update={"arrays": {**scenario.arrays, **changed}})


def _host_drives(scenario: ScenarioSpec) -> dict[str, QueuePlan]:
    """The request queues of the drives that the host's kernel serves."""
    plans = [part for part in machine_plan(scenario).parts if isinstance(part, QueuePlan)]
    return {plan.name: plan for plan in plans if plan.name in scenario.machine.drives}


def _queue_depth(scenario: ScenarioSpec) -> Iterator[tuple[str, ScenarioSpec]]:
    """Hard disks that get one command at a time, so that the scheduler chooses and not the drive."""
    single: dict[str, DriveInstance] = {}
    for name, plan in _host_drives(scenario).items():
        instance = scenario.machine.drives[name]
        if instance.spec().rotational and plan.depth > 1:
            overrides = {**instance.overrides, "queue_depth": 1}
            # device/queue_depth leaves queue/nr_requests as it is.
            requests = instance.nr_requests or plan.throttle_requests or None
            single[name] = instance.model_copy(update={"overrides": overrides, "nr_requests": requests})
    if single:
        yield "queue_depth 1", _with_drives(scenario, single)


def _schedulers(scenario: ScenarioSpec) -> Iterator[tuple[str, ScenarioSpec]]:
    """All drives of the host with each scheduler that they may have and do not have now."""
    drives, section, queues = scenario.machine.drives, kernel(scenario.kernel).queue, _host_drives(scenario)
    choices = [section.choices(drives[name].queues()) for name in queues]
    now = {plan.scheduler for plan in queues.values()}
    for scheduler in choices[0] if choices else ():
        if scheduler not in now and all(scheduler in each for each in choices):
            others = {name: drives[name].model_copy(update={"scheduler": scheduler}) for name in queues}
            yield f"scheduler {scheduler}", _with_drives(scenario, others)


def _with_drives(scenario: ScenarioSpec, others: dict[str, DriveInstance]) -> ScenarioSpec:
    machine = scenario.machine
    changed = machine.model_copy(update={"drives": {**machine.drives, **others}})
    return scenario.model_copy(update={"machine": changed})
