"""What an array is made of, from the top down to drives: which losses it survives.

Every array is a tree of parts. RAID 50, 60, 01 and RAID 10 whose mirrors are disjoint become a part of parts, so
levels and stacks by hand are the same thing. A drive that has failed is lost already: only the rest counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

from ...model.core.errors import InputError
from ...model.layouts import Layout, MirroredLayout, NestedLayout, Raid10Layout, StripedLayout
from ...model.zfs.map.draid import Draid
from ...model.zfs.map.mirror import Mirror
from ...model.zfs.map.pool import NORMAL, SPECIAL, PoolMap
from ..description.devices import Devices
from ..description.pools import PoolSpec
from ..description.programs import ProgramsSpec
from ..description.scenario import ScenarioSpec


@dataclass(frozen=True)
class Part:
    """A drive, or an array of parts.

    Attributes
    ----------
    name
        Of the drive, or of the array that it belongs to.
    capacity
        Usable bytes; of a vdev of a pool the bytes that are in use.
    layout
        How the parts make one; None for a drive, and for a pool of ZFS and its vdevs.
    parts
        What it is made of.
    lost
        A drive that has failed.
    spares
        Drives that stand by for it.
    parity
        Losses of parts that a vdev survives.
    """

    name: str
    capacity: int
    layout: Layout | None = None
    parts: tuple[Part, ...] = ()
    lost: bool = False
    spares: int = 0
    parity: int = 0

    @cached_property
    def drives(self) -> int:
        """How many drives in it work."""
        return sum(part.drives for part in self.parts) if self.parts else int(not self.lost)

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """Names of all its drives, lost ones too."""
        return tuple(name for part in self.parts for name in part.leaves) if self.parts else (self.name,)

    @property
    def dead(self) -> bool:
        """Whether its data are gone already."""
        return not self.fewest_fatal

    @property
    def keeps(self) -> int:
        """Losses of parts that it survives, whichever they are."""
        return self.layout.survives if self.layout is not None else self.parity

    @property
    def is_redundant(self) -> bool:
        """Whether it survives the loss of one of its parts."""
        return self.keeps > 0

    @property
    def used_bytes(self) -> float:
        """Bytes of each of its parts that hold data, copies or parity, if it is redundant."""
        size = len(self.parts)
        if isinstance(self.layout, Raid10Layout):
            return self.capacity * self.layout.copies_per_chunk / size
        return self.capacity / (1 if isinstance(self.layout, MirroredLayout) else size - self.keeps)

    def all_parts(self) -> list[Part]:
        """The part and all below it, from the top down."""
        return [self, *(below for part in self.parts for below in part.all_parts())]

    @cached_property
    def groups(self) -> tuple[frozenset[int], ...]:
        """Parts that hold all copies of some data between them: the smallest sets whose loss is fatal.

        Only of a RAID 10 whose copies overlap; the other layouts need no list.
        """
        if not isinstance(self.layout, Raid10Layout):
            return ()
        layout = self.layout
        chunks = range(min(layout.chunks, layout.period))
        return tuple(sorted({frozenset(member for member, _ in layout.map_copies(chunk)) for chunk in chunks}, key=min))

    @cached_property
    def fewest_fatal(self) -> int:
        """The smallest number of further drives whose loss may lose data; 0 if they are gone already."""
        if not self.parts:
            return int(not self.lost)
        fatal = [part.fewest_fatal for part in self.parts]
        if self.groups:
            return min(sum(fatal[member] for member in group) for group in self.groups)
        return sum(sorted(fatal)[: self.keeps + 1])

    @cached_property
    def most_survived(self) -> int:
        """The largest number of further drives that may be lost without losing data, if they are the right ones."""
        if self.dead:
            return self.drives
        gains = [0 if part.dead else part.drives - part.most_survived for part in self.parts]
        inside = sum(part.most_survived for part in self.parts)
        if self.groups:
            kept = [inf if part.dead else gain for part, gain in zip(self.parts, gains, strict=True)]
            return inside + sum(gains) - int(_cheapest_cover(kept, self.groups))
        left = self.keeps - sum(part.dead for part in self.parts)
        return inside + sum(sorted(gains, reverse=True)[:left])


def top_parts(spec: ScenarioSpec) -> list[Part]:
    """What the scenario stores data on: arrays that no other device is built of, and drives that are used alone."""
    devices = Devices.of(spec)
    used = {member for array in spec.arrays.values() for member in array.members}
    used |= {layer.on for layer in spec.encrypted.values()}
    used |= {device for volume in spec.volumes.values() for device in volume.on}
    used |= {device for cached in spec.caches.values() for device in cached.devices}
    used |= {member for pool in spec.pools.values() for member in pool.members}
    tops = [name for name in (*spec.arrays, *spec.encrypted, *spec.volumes, *spec.caches) if name not in used]
    tops = [name for name in tops if devices.one_below(name) not in devices.datasets]
    workload = spec.workload
    loaded = [mounted.on for mounted in spec.file_systems.values()]
    if not isinstance(workload, ProgramsSpec):
        loaded += workload.targets
    alone = [name for name in dict.fromkeys(loaded) if name in spec.machine.drives and name not in used]
    parts = [_part(name, spec, devices, lost=False) for name in (*tops, *alone)]
    return [*parts, *(_pool(name, spec, devices) for name in spec.pools)]


def separate_parts(spec: ScenarioSpec) -> list[Part]:
    """The same, if none of them share a drive by its partitions: then losses are independent.

    Raises
    ------
    InputError
        If they do.
    """
    parts = top_parts(spec)
    seen: dict[str, str] = {}
    for part in parts:
        for drive in part.leaves:
            if drive in seen:
                where = "twice" if seen[drive] == part.name else f"and in {seen[drive]}"
                found = f"{drive} in {part.name} {where}"
                allowed = "expected: each drive in one place; the losses of arrays that share drives are not worked out"
                raise InputError("volumes", found, allowed)
            seen[drive] = part.name
    return parts


def survives(spec: ScenarioSpec, name: str) -> int:
    """Drives of a device that may be lost, whichever they are, before its data are."""
    return max(0, _part(name, spec, Devices.of(spec), lost=False).fewest_fatal - 1)


def _part(name: str, spec: ScenarioSpec, devices: Devices, lost: bool) -> Part:
    while (below := devices.one_below(name)) is not None:
        if name in spec.caches and spec.caches[name].holds_data:
            # What is only in the cache is lost with it.
            needed = [_part(device, spec, devices, lost) for device in spec.caches[name].devices]
            return Part(name, devices.capacity(name), parts=tuple(needed))
        if below in spec.machine.drives:
            return Part(below, devices.capacity(name), lost=lost)
        name = below
    if name in spec.machine.drives:
        return Part(name, devices.capacity(name), lost=lost)
    if name in spec.volumes:
        layout = devices.volume_layout(name)
        joined = [_part(device, spec, devices, lost) for device in spec.volumes[name].on]
        return Part(name, layout.capacity, layout, tuple(joined))
    array = spec.arrays[name]
    members = [_part(member, spec, devices, lost or member in array.failed) for member in array.members]
    layout = array.layout([devices.capacity(member) for member in array.members])
    return _assembled(name, layout, members, len(array.spares))


def _pool(name: str, spec: ScenarioSpec, devices: Devices) -> Part:
    """A pool, all of whose vdevs with data it needs; what is not in use is not rebuilt."""
    pool = spec.pools[name]
    placed, leaves = pool.map(), pool.leaves()
    spares = sum(len(vdev.members) for vdev in pool.vdevs if vdev.use == "spare")
    vdevs = []
    for number in (*placed.of_role(NORMAL), *placed.of_role(SPECIAL)):
        members = [leaves[leaf] for leaf in placed.leaves(number)]
        parts = [_part(member, spec, devices, lost=member in pool.failed) for member in members]
        vdev = placed.vdevs[number]
        used = _used_bytes(pool, placed, number, members, devices)
        held = used if isinstance(vdev, Mirror) else used / vdev.members * (vdev.members - vdev.parity)
        own = vdev.spares if isinstance(vdev, Draid) else 0
        vdevs.append(Part(name, int(held), parts=tuple(parts), spares=spares + own, parity=vdev.parity))
    usable = pool.usable(devices.capacity, spec.zfs_parameters.spa_slop_shift)
    return Part(name, usable, parts=tuple(vdevs))


def _used_bytes(pool: PoolSpec, placed: PoolMap, number: int, members: Sequence[str], devices: Devices) -> float:
    """Bytes of a vdev that are in use, with parity: by other data, and by its part of the volumes and files."""
    vdev, data = placed.vdevs[number], placed.of_role(NORMAL)
    if number not in data:
        return 0.0
    held = sum(
        vdev.asize(spec.stored_bytes) * -(-pool.size(name, devices.capacity) // spec.block_bytes)
        for name, spec in pool.datasets.items()
    )
    return pool.used * vdev.size(min(map(devices.capacity, members))) + held / len(data)


def _assembled(name: str, layout: Layout, members: Sequence[Part], spares: int) -> Part:
    """An array as a part; one level of it each where the layout has several."""
    if isinstance(layout, NestedLayout):
        parts, first = [], 0
        for group in layout.groups:
            parts.append(_assembled(name, group, members[first : first + group.members], spares))
            first += group.members
        return Part(name, layout.capacity, layout.outer, tuple(parts), spares=spares)
    if isinstance(layout, Raid10Layout) and layout.algorithm == "near":
        copies = layout.copies_per_chunk
        if layout.members % copies == 0:
            usable = layout.member_rows * layout.chunk_bytes
            mirrors = [
                Part(name, usable, MirroredLayout([usable] * copies), tuple(members[i : i + copies]), spares=spares)
                for i in range(0, layout.members, copies)
            ]
            outer = StripedLayout([usable] * len(mirrors), layout.chunk_bytes) if len(mirrors) > 1 else None
            if outer is None:
                return mirrors[0]
            return Part(name, layout.capacity, outer, tuple(mirrors), spares=spares)
    return Part(name, layout.capacity, layout, tuple(members), spares=spares)


def _cheapest_cover(costs: Sequence[float], groups: Iterable[frozenset[int]]) -> float:
    """Cost of the cheapest members of which every group has at least one.

    md's groups are runs of neighbors on a circle, so no group may fit between two chosen neighbors.
    """
    size, known = len(costs), frozenset(groups)
    length = max(len(group) for group in known)
    runs = [frozenset((start + i) % size for i in range(length)) for start in range(size)]
    if not known <= set(runs):
        return _cheapest_of_any(costs, sorted(map(sorted, known)))
    starts = [start for start, run in enumerate(runs) if run in known]

    def fits_between(left: int, right: int) -> bool:
        """Whether a group lies strictly between two places on the line that the circle becomes."""
        return any(left < at and at + length - 1 < right for start in starts for at in (start, start + size))

    best = inf
    for first in range(min(size, starts[0] + length)):
        cheapest = {first: costs[first]}
        for place in range(first + 1, first + size):
            before = [cost for other, cost in cheapest.items() if not fits_between(other, place)]
            cheapest[place] = min(before, default=inf) + costs[place % size]
        ends = [cost for place, cost in cheapest.items() if not fits_between(place, first + size)]
        best = min(best, *ends)
    return best


def _cheapest_of_any(
    costs: Sequence[float], groups: Sequence[Sequence[int]], apart: frozenset[int] = frozenset()
) -> float:
    """The same of groups that lie in any way; members that are `apart` cannot be chosen.

    One member of the first group is chosen: its first, or its second and not its first, and so on.
    """
    if not groups:
        return 0.0
    best = inf
    for member in groups[0]:
        if member not in apart:
            left = [group for group in groups if member not in group]
            best = min(best, costs[member] + _cheapest_of_any(costs, left, apart))
            apart |= {member}
    return best
