"""The rule of thumb for a device: how much faster than a single drive it is, by its level or its vdevs.

The rules are what planners say: "a raidz vdev has the IOPS of one disk", "mirrors read like all disks and write like
half of them", "streaming is data disks times the rate of one". They know no queue, block, cache or kernel, so they
stand next to a prediction and never in it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ...model.core.exact_sums import sum_in_order
from ...model.layouts import LEVELS
from ...model.zfs.map.draid import Draid
from ...model.zfs.map.mirror import Mirror
from ...model.zfs.map.pool import NORMAL
from ..description.pools import pool_devices
from ..description.scenario import ScenarioSpec
from ..description.workloads import LoadSpec
from ..running.full_load import as_much_as_it_takes
from ..running.simulate import simulate

Access = Literal["sequential read", "sequential write", "random read", "random write"]
Mix = Mapping[Access, float]
_POOL, _RAIDZ = "pool", "raidz"
_LEVEL_NAMES = {
    "drive": "single drive",
    "side by side": "drives side by side",
    _POOL: "pool of ZFS",
    _RAIDZ: "raidz",
}
_DEFAULT_GROUPS = 2
_USERS = 32
"""Users of the single drive: what a SATA drive queues."""


@dataclass(frozen=True, slots=True)
class Stack:
    """A device and what it is built of.

    Attributes
    ----------
    level
        "drive", "side by side" for several devices that are used at once, "pool", "raidz", or an array's level.
    parts
        Members, those that are whole; none of a drive.
    members
        How many there should be.
    parity
        Drives of a raidz vdev that hold none of its data; of a dRAID its distributed spares too.
    groups, copies
        Of an array of arrays, and of mirrored data; 0 and 2 unless the array says so.
    drives
        Names of the drives in all of it.
    state
        "", "degraded" or "rebuilding".
    """

    level: str
    parts: tuple[Stack, ...] = ()
    members: int = 1
    groups: int = 0
    copies: int = 2
    drives: frozenset[str] = frozenset()
    state: str = ""
    parity: int = 0

    @property
    def name(self) -> str:
        """Level and state, in reports."""
        return f"{self.level_name}, {self.state}" if self.state else self.level_name

    @property
    def level_name(self) -> str:
        """The level in reports."""
        return _LEVEL_NAMES.get(self.level) or LEVELS[self.level].label


def stack_of(scenario: ScenarioSpec, device: str) -> Stack:
    """A device of a scenario, down to its drives."""
    if device in scenario.encrypted:
        return stack_of(scenario, scenario.encrypted[device].on)
    if device in scenario.volumes:
        volume = scenario.volumes[device]
        below = tuple(stack_of(scenario, each) for each in volume.on)
        if len(below) == 1:
            return below[0]
        level = "raid0" if volume.kind == "striped" else "linear"
        return Stack(level, below, len(below), drives=frozenset(drive for part in below for drive in part.drives))
    if device in pool_devices(scenario.pools):
        return _pool(scenario, device.partition("/")[0])
    array = scenario.arrays.get(device)
    if array is None:
        return Stack("drive", drives=frozenset({device}))
    lost = set(array.failed)
    parts = tuple(stack_of(scenario, member) for member in array.members if member not in lost)
    drives = frozenset(drive for member in array.members for drive in stack_of(scenario, member).drives)
    state = "rebuilding" if array.rebuilding else "degraded" if lost else ""
    copies = array.copies or (len(array.members) if LEVELS[array.level].is_mirror else 2)
    return Stack(array.level, parts, len(array.members), array.groups or 0, copies, drives, state)


def _pool(scenario: ScenarioSpec, name: str) -> Stack:
    """A pool, whose vdevs for data add up."""
    pool = scenario.pools[name]
    placed, leaves, vdevs = pool.map(), pool.leaves(), []
    for number in placed.of_role(NORMAL):
        vdev, members = placed.vdevs[number], [leaves[leaf] for leaf in placed.leaves(number)]
        parts = tuple(stack_of(scenario, member) for member in members if member not in pool.failed)
        drives = frozenset(drive for part in parts for drive in part.drives)
        if isinstance(vdev, Mirror):
            vdevs.append(Stack("raid1", parts, len(members), copies=len(members), drives=drives))
            continue
        groups, parity = 1, vdev.parity
        if isinstance(vdev, Draid):
            groups = (len(members) - vdev.spares) // (vdev.data + vdev.parity)
            parity = len(members) - groups * vdev.data
        vdevs.append(Stack(_RAIDZ, parts, len(members), groups, drives=drives, parity=parity))
    drives = frozenset(drive for vdev in vdevs for drive in vdev.drives)
    state = "rebuilding" if pool.rebuilding else "degraded" if pool.failed else ""
    return Stack(_POOL, tuple(vdevs), len(vdevs), drives=drives, state=state)


def speed_up(stack: Stack, access: Access) -> float:
    """How much faster than a single drive a device is, by the rule of thumb.

    Of n drives: RAID 0 reads and writes n times as fast. A mirror reads as fast as its drives together and writes as
    fast as one (RAID 10: n/2). RAID 5 moves long pieces n - 1 times as fast, RAID 6 n - 2 times, and RAID 50 and 60
    lose as many drives in every group; their random reads are spread over all drives, and a random write costs 4 I/Os
    (RAID 6: 6). RAID 3 works like one drive at random I/O, a linear array always. A lost member of a mirror does not
    count; one of an array with parity changes nothing by this rule.
    """
    level, parts = stack.level, stack.parts
    if level == "drive":
        return 1.0
    each = math.exp(sum_in_order(math.log(speed_up(part, access)) for part in parts) / len(parts))
    kind, _, direction = access.partition(" ")
    if level in (_POOL, _RAIDZ):
        if level == _POOL:
            return sum_in_order(speed_up(part, access) for part in parts)
        return each * (stack.members - stack.parity) if kind == "sequential" else each * max(1, stack.groups)
    known = LEVELS.get(level)
    if known is not None and not known.is_redundant and not known.has_chunk:
        return each
    if known is None or not known.is_redundant:
        return each * len(parts)
    if known.has_mirrors:
        mirrored = stack.members / stack.copies
        return each * (len(parts) if direction == "read" else mirrored)
    groups = (stack.groups or _DEFAULT_GROUPS) if known.has_groups else 1
    data = stack.members - groups * known.parities
    if kind == "sequential":
        return each * data
    if not known.has_parity:  # every I/O is on all members
        return each
    return each * (stack.members if direction == "read" else stack.members / known.small_write_ios)


def mixed_speed_up(stack: Stack, mix: Mix) -> float:
    """The same for a mix of accesses, whose times add; 1 for what is not the disks' work."""
    if not mix:
        return 1.0
    return sum_in_order(mix.values()) / sum_in_order(share / speed_up(stack, access) for access, share in mix.items())


@dataclass(frozen=True, slots=True)
class RuleOfThumb:
    """What the rule of thumb says of a pool under a load.

    Attributes
    ----------
    drive_iops
        I/Os per second that one of its drives serves of the load, by simulation, with its queue always full.
    factor
        How much faster the pool is by the rule.
    """

    drive_iops: float
    factor: float

    @property
    def iops(self) -> float:
        """I/Os per second of the pool, by the rule."""
        return self.drive_iops * self.factor


def rule_of_thumb(spec: ScenarioSpec) -> RuleOfThumb | None:
    """The rule for a pool under a load; None of what is no pool, or no load on one device."""
    load = spec.workload
    if not isinstance(load, LoadSpec) or len(load.targets) != 1 or load.targets[0] not in pool_devices(spec.pools):
        return None
    stack = stack_of(spec, load.targets[0])
    name = min(stack.drives)
    if name not in spec.machine.drives:
        return None
    alone = load.model_copy(update={"targets": (name,), "span": None, "start": 0, "precision": None, "phases": ()})
    machine = spec.machine.model_copy(update={"drives": {name: spec.machine.drives[name]}})
    bare = spec.model_copy(update={"machine": machine, "pools": {}, "file_systems": {}, "network": None})
    single = simulate(as_much_as_it_takes(bare.model_copy(update={"workload": alone}), _USERS))
    return RuleOfThumb(single.served_iops, mixed_speed_up(stack, _mix(load)))


def _mix(load: LoadSpec) -> Mix:
    shares: dict[Access, float] = {"random read": load.read_share, "random write": 1.0 - load.read_share}
    if load.pattern == "sequential":
        shares = {"sequential read": load.read_share, "sequential write": 1.0 - load.read_share}
    return {access: share for access, share in shares.items() if share > 0}
