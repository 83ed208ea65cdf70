"""From a kernel's description to the locks of an array: which of them its I/Os take, and the objects that are taken.

Only arrays without hard disks get any. A hard disk answers some hundred I/Os a second, or some ten thousand from its
cache, where a lock of md serves a million.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...model.core.engine import Engine
from ...model.kernels import KernelSpec
from ...model.kernels.lock_section import LockSection, LockSpec
from ...model.layouts import ByteStripedLayout, Layout, MirroredLayout, ParityLayout, Raid10Layout
from ...model.raid.base.locks import LockedArray
from ...model.raid.parity.array import ParityArray
from ...model.tasks.host import Host
from ...model.tasks.lock import Counter, Lock, QueuedLock, line_transfer_s
from ..description.machine import CpuSpec
from ..description.scenario import ScenarioSpec
from ..description.workloads import LoadSpec

POOL = "kcryptd's pool lock of"
"""How results call the lock of a pool of workers, before the name of the encrypted device."""


@dataclass(frozen=True, slots=True)
class LocksPlan:
    """What md takes for each I/O of an array.

    Attributes
    ----------
    name
        The array.
    kernel, section
        Whose locks they are, as it calls itself, and what it says of them.
    cpu, cycle_s
        The machine's cores, and the time of an instruction (s).
    reads, writes, handles
        What a read takes, a write or discard, and a pass of a thread over stripe heads.
    """

    name: str
    kernel: str
    section: LockSection
    cpu: CpuSpec
    cycle_s: float
    reads: tuple[LockSpec, ...]
    writes: tuple[LockSpec, ...]
    handles: tuple[LockSpec, ...] = ()

    def title(self, spec: LockSpec) -> str:
        """How results call one of its locks."""
        return f"md's {spec.name} of {self.name}"


def locks_plan(
    scenario: ScenarioSpec, known: KernelSpec, name: str, layout: Layout, degraded: bool
) -> LocksPlan | None:
    """The locks of an array of this layout; None if nobody can wait for them, as with a single thread or core."""
    workload = scenario.workload
    if isinstance(workload, LoadSpec) and workload.jobs * len(workload.targets) == 1:
        return None
    section, cpu = known.locks, scenario.machine.cpu
    reads = writes = section.array
    handles: tuple[LockSpec, ...] = ()
    match layout:
        case MirroredLayout():
            reads = writes = (*section.mirror, *section.array)
        case Raid10Layout():
            reads = writes = (*section.mirror10, *section.array)
        case ByteStripedLayout():
            pass
        case ParityLayout():
            # Of an array that has lost a member a read goes through the stripe cache, as a write does.
            reads = (*(section.parity_write if degraded else section.parity_read), *section.array)
            writes, handles = (*section.parity_write, *section.array), section.parity_handle
    if cpu.cores == 1 or not (reads or writes or handles):
        return None
    cycle_s = scenario.path_length / cpu.clock
    return LocksPlan(name, f"Linux {known.version}", section, cpu, cycle_s, reads, writes, handles)


def pool_locks(name: str, kernel: str, cpu: CpuSpec) -> list[Lock]:
    """The locks of the pools of workers that encrypt a device, one for each memory node."""
    nodes = [f" on node {node}" for node in range(cpu.nodes)] if cpu.nodes > 1 else [""]
    return [QueuedLock(f"{POOL} {name}{node}", kernel, cpu.line_transfer) for node in nodes]


def locked(engine: Engine, host: Host, array: LockedArray | ParityArray, plan: LocksPlan) -> LockedArray:
    """An array behind its locks; a parity array's threads take theirs, too."""
    cpu = plan.cpu
    line_s = line_transfer_s(cpu.nodes, cpu.line_transfer, cpu.far_line_transfer)
    made: dict[str, Lock] = {}

    def lock(spec: LockSpec) -> Lock:
        if spec.name not in made:
            kind = Counter if spec.kind == "counter" else QueuedLock
            made[spec.name] = kind(plan.title(spec), plan.kernel, line_s)
        return made[spec.name]

    def taken(specs: tuple[LockSpec, ...]) -> list[tuple[Lock, float, int]]:
        return [(lock(spec), spec.instructions * plan.cycle_s, spec.lines) for spec in specs]

    result = LockedArray(engine, host, array, taken(plan.reads), taken(plan.writes))
    if plan.handles and isinstance(array, ParityArray):
        handles = taken(plan.handles)
        for thread in array.threads:
            thread.locks = handles
        result.own = False
        result.locks += [each for each, _, _ in handles if each not in result.locks]
    return result
