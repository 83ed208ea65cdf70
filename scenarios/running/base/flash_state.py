"""What solid-state drives hold before a run, where the scenario does not say: it follows from what the run writes.

The load of a run is taken to have gone on for long. A drive that is only written in order was filled in order: whole
superblocks become invalid together, and garbage collection moves nothing. A drive that is written at random is in its
steady state, in which most superblocks under collection still hold valid units.

Sources: SNIA Solid State Storage Performance Test Specification 2.0 (throughput tests are preconditioned with
sequential writes, IOPS tests with the random load itself); Hu et al., "Write amplification analysis in flash-based
solid state drives", SYSTOR 2009.

Limits: a drive of which only a part is written at random is in its steady state all over. The writes of programs on
a file system, of a resync alone, and of a replayed trace count as random. So do reads without any write.
"""

from __future__ import annotations

from collections.abc import Iterable

from ....model.solid_state.spec import SolidStateSpec
from ...description.any_workload import LoadsSpec, Workload
from ...description.devices import Devices
from ...description.scenario import ScenarioSpec
from ...description.workloads import DdSpec, LoadSpec

Writer = tuple[str, bool]
"""A device that is written, and whether in order."""


def with_states(scenario: ScenarioSpec, writers: Iterable[Writer]) -> tuple[ScenarioSpec, tuple[str, ...]]:
    """The scenario with a state for each solid-state drive that the writers reach and that has none yet.

    Returns
    -------
    ScenarioSpec
        With "sequential" for a drive whose writers all write in order, "steady" for one with another writer.
    tuple
        A sentence for each of the two states that names the drives, for the notes of the result.
    """
    devices, in_order = Devices.of(scenario), dict[str, bool]()
    for device, ordered in writers:
        for name in devices.below(device):
            in_order[name] = in_order.get(name, True) and ordered
    drives = dict(scenario.machine.drives)
    told: dict[str, list[str]] = {}
    for name, instance in scenario.machine.drives.items():
        spec = instance.spec() if name in in_order and instance.state is None else None
        if isinstance(spec, SolidStateSpec) and not spec.in_place:
            state = "sequential" if in_order[name] else "steady"
            drives[name] = instance.model_copy(update={"state": state})
            told.setdefault(state, []).append(name)
    if not told:
        return scenario, ()
    machine = scenario.machine.model_copy(update={"drives": drives})
    return scenario.model_copy(update={"machine": machine}), tuple(_sentence(*each) for each in told.items())


def writers(workload: Workload) -> list[Writer]:
    """What a workload writes: loads with all their phases, and dd. Other workloads say it when they begin."""
    if isinstance(workload, DdSpec):
        return [(target, True) for target in workload.targets if workload.direction == "write"]
    loads: list[LoadSpec] = []
    if isinstance(workload, LoadSpec):
        loads = [load for _, _, load in workload.parts()]
    elif isinstance(workload, LoadsSpec):
        loads = [load for _, _, part in workload.parts() for load in part.loads]
    return [(target, load.pattern == "sequential") for load in loads if load.read_share < 1 for target in load.targets]


def _sentence(state: str, names: list[str]) -> str:
    which = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]} ({len(names)} drives)"
    held = "filled in order, as all writes are" if state == "sequential" else "in long use, as there are random writes"
    return f"{which}: flash assumed {held} (state: {state}); machine.drives.state sets another state"
