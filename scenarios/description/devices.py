"""All devices of a scenario, drives, arrays and encrypted ones: how they build on each other, and whether they fit."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Protocol

from ...model.core.errors import InputError
from ...model.disk.mechanics.geometry import SECTOR
from ...model.files.description import refusal
from ...model.files.quantities import format_size
from ...model.layouts import LEVELS, Layout
from ..workers.process_setup import DEEPEST, allow_nesting
from .arrays import ArraySpec, EncryptedSpec, FailureSpec, VolumeSpec
from .caches import CacheSpec
from .machine import MachineSpec
from .pools import PoolSpec, pool_devices
from .workloads import DdSpec, LoadSpec

_PART = re.compile(r"(.+)\.\d+")
_Below = str | tuple[str, ...] | None
_LEAST_VOLUME = 1 << 20
_MOST_WAYS = 100_000
"""From a device down to its drives; each is gone several times."""


class Described(Protocol):
    """A scenario, as far as its devices go."""

    @property
    def machine(self) -> MachineSpec:
        """Has the drives."""

    @property
    def arrays(self) -> Mapping[str, ArraySpec]:
        """By name."""

    @property
    def encrypted(self) -> Mapping[str, EncryptedSpec]:
        """By name."""

    @property
    def volumes(self) -> Mapping[str, VolumeSpec]:
        """By name."""

    @property
    def pools(self) -> Mapping[str, PoolSpec]:
        """By name."""

    @property
    def caches(self) -> Mapping[str, CacheSpec]:
        """By name."""


class Devices:
    """All devices of a scenario by name, and whether they fit together.

    Parameters
    ----------
    machine
        Whose drives they are built of.
    arrays, encrypted, volumes, pools, caches
        What is built.
    """

    def __init__(
        self,
        machine: MachineSpec,
        arrays: Mapping[str, ArraySpec],
        encrypted: Mapping[str, EncryptedSpec] | None = None,
        volumes: Mapping[str, VolumeSpec] | None = None,
        pools: Mapping[str, PoolSpec] | None = None,
        caches: Mapping[str, CacheSpec] | None = None,
    ) -> None:
        self.machine = machine
        self.arrays = arrays
        self.encrypted = encrypted or {}
        self.volumes = volumes or {}
        self.pools = pools or {}
        self.caches = caches or {}
        self.datasets = pool_devices(self.pools)
        self._capacities: dict[str, int] = {}
        allow_nesting(len(self.arrays) + len(self.encrypted) + len(self.volumes) + len(self.caches))

    @classmethod
    def of(cls, scenario: Described) -> Devices:
        """The devices of a scenario."""
        built = scenario.arrays, scenario.encrypted, scenario.volumes, scenario.pools, scenario.caches
        return cls(scenario.machine, *built)

    @property
    def _groups(self) -> dict[str, Mapping[str, object]]:
        """What is built, by the name of its part of a scenario."""
        return {group: getattr(self, group) for group in ("arrays", "encrypted", "volumes", "pools", "caches")}

    @property
    def names(self) -> list[str]:
        """Every device that can be loaded or built upon."""
        return [*self.machine.drives, *self.arrays, *self.encrypted, *self.volumes, *self.datasets, *self.caches]

    def one_below(self, name: str) -> str | None:
        """The device below an encrypted or cached device, or a volume on one device; None of all others."""
        if name in self.encrypted:
            return self.encrypted[name].on
        if name in self.caches:
            return self.caches[name].on
        volume = self.volumes.get(name)
        return volume.on[0] if volume is not None and len(volume.on) == 1 else None

    @property
    def hidden(self) -> dict[str, str]:
        """Drives that the host does not see, with the controller in front of them."""
        return {
            member: array.controller
            for array in self.arrays.values()
            if array.controller is not None
            for member in (*array.members, *array.spares)
        }

    def check(self) -> None:
        """Refuse devices that mean nothing or cannot be.

        Raises
        ------
        PydanticCustomError
            Naming what is wrong, and what is allowed.
        """
        groups = self._groups
        for group, named in groups.items():
            for name in named:
                if name in self.machine.drives or sum(name in other for other in groups.values()) > 1:
                    raise refusal("another device has the same name", "expected: names of their own", (group, name))
                part = _PART.fullmatch(name)
                if part is not None and part[1] in self.arrays:
                    found = f"{name}, as a part of {part[1]} may be called"
                    raise refusal(found, "expected: names of their own", (group, name))
        depths = self._depths()
        for name, array in self.arrays.items():
            self._check_known(array.members, "arrays", name, "members", depths is None)
            self._check_drives(array, name)
        for name, pool in self.pools.items():
            self._check_known(pool.members, "pools", name, "vdevs", depths is None)
        below = {"encrypted": ("on",), "volumes": ("on",), "caches": ("on", "cache", "metadata")}
        for group, fields in below.items():
            for name, layer in groups[group].items():
                for field in fields:
                    self._check_known(getattr(layer, field), group, name, field, depths is None)
        assert depths is not None
        self._check_depth(depths)
        self._check_ranges()
        for name in self.arrays:
            self.capacity(name)
            self.arrays[name].check_failed(name, self.capacity)
        for name, pool in self.pools.items():
            pool.check_room(name, self.capacity)
        for name, cached in self.caches.items():
            cached.check_room(name, self.capacity(cached.cache))

    def _check_known(self, below: _Below, group: str, name: str, field: str, circular: bool) -> None:
        known = set(self.names)
        for member in (below,) if isinstance(below, str) else below or ():
            if member not in known:
                raise refusal(f"unknown device {member!r}", f"expected: {', '.join(self.names)}", (group, name, field))
            if circular and name in self.below(member):
                raise refusal(f"{name} is built of itself", "expected: devices below it", (group, name, field))

    def below(self, name: str) -> set[str]:
        """`name` and all it is built of."""
        found = {name}
        waiting = [name]
        while waiting:
            members = self._members(waiting.pop())
            waiting += [member for member in members if member not in found]
            found.update(members)
        return found

    def _members(self, name: str) -> tuple[str, ...]:
        """What a device is built of, at once."""
        if name in self.arrays:
            return self.arrays[name].members
        if name in self.volumes:
            return self.volumes[name].on
        if name in self.datasets:
            return self.datasets[name][0].members
        if name in self.caches:
            return self.caches[name].devices
        return (self.encrypted[name].on,) if name in self.encrypted else ()

    def _depths(self) -> dict[str, int] | None:
        """How many devices each is built on, itself among them; None if one is built of itself."""
        built = {name: self._members(name) for name in self.names if name not in self.machine.drives}
        above: dict[str, list[str]] = {name: [] for name in built}
        left = {}
        for name, members in built.items():
            below = [member for member in members if member in built]
            left[name] = len(below)
            for member in below:
                above[member].append(name)
        ready = [name for name, count in left.items() if not count]
        depths = dict.fromkeys(built, 1)
        for name in ready:
            for other in above[name]:
                depths[other] = max(depths[other], depths[name] + 1)
                left[other] -= 1
                if not left[other]:
                    ready.append(other)
        return depths if len(ready) == len(built) else None

    def _check_depth(self, depths: Mapping[str, int]) -> None:
        """Refuse more devices on each other than calls inside each other have room for."""
        for name, depth in depths.items():
            if depth > DEEPEST:
                at = next(((group, name) for group, there in self._groups.items() if name in there), ("pools",))
                raise refusal(f"more than {DEEPEST:,} devices on each other", f"expected: up to {DEEPEST:,}", at)
        ways: dict[str, int] = {}
        for name in sorted(depths, key=depths.__getitem__):
            ways[name] = sum(ways.get(member, 1) for member in self._members(name))
            if ways[name] > _MOST_WAYS:
                found = f"{name} reaches its drives in {ways[name]:,} ways, over volumes that share devices"
                raise refusal(found, f"expected: up to {_MOST_WAYS:,}", ("volumes",))

    def _check_drives(self, array: ArraySpec, name: str) -> None:
        """Spares, journal, backup file and a controller's members are drives; a spare of md may be a part of one."""
        named = array.other_drives
        if array.controller is not None:
            if array.controller not in self.machine.controllers:
                known = ", ".join(self.machine.controllers) or "none"
                found = f"unknown controller {array.controller!r}"
                raise refusal(found, f"expected: {known}", ("arrays", name, "controller"))
            self._check_controller(array, array.controller, name)
            named["members"] = array.members
        for field, devices in named.items():
            for device in devices:
                part = field == "spares" and array.controller is None and device in self.volumes
                if device not in self.machine.drives and not part:
                    found = f"{device!r} is no drive"
                    raise refusal(found, f"expected: {', '.join(self.machine.drives)}", ("arrays", name, field))

    def _check_controller(self, array: ArraySpec, controller: str, name: str) -> None:
        """Refuse levels that the controller does not offer, and more drives than it has ports."""
        spec = self.machine.controllers[controller].spec()
        if array.level not in spec.levels:
            found = f"{array.level} on {spec.model}"
            raise refusal(found, f"expected: {', '.join(spec.levels)}", ("arrays", name, "level"))
        behind = [other for other in self.arrays.values() if other.controller == controller]
        drives = sum(len(other.members) + len(other.spares) for other in behind)
        if drives > spec.ports:
            found = f"{drives} drives on {spec.model}"
            raise refusal(found, f"expected: up to {spec.ports}", ("arrays", name, "members"))

    def capacity(self, name: str) -> int:
        """Usable bytes of a device."""
        if name in self.machine.drives:
            return self.machine.drives[name].spec().capacity
        below = self.one_below(name)
        if below is not None and name not in self.volumes:
            return self.capacity(below) - (self.caches[name].header_bytes if name in self.caches else 0)
        if name in self.datasets:
            pool, _, dataset = name.partition("/")
            return self.pools[pool].size(dataset, self.capacity)
        if name not in self._capacities and name in self.volumes:
            self._capacities[name] = self.volume_layout(name).capacity
        if name not in self._capacities:
            array = self.arrays[name]
            try:
                capacity = min(each.capacity for each in array.layouts([self.capacity(name) for name in array.members]))
            except InputError as error:
                raise refusal(f"{error.place}: {error.found}", error.expected, ("arrays", name)) from None
            self._capacities[name] = capacity
        return self._capacities[name]

    def volume_layout(self, name: str) -> Layout:
        """The map of a volume; a partition is one range."""
        volume = self.volumes[name]
        return volume.layout([volume.range(self.capacity(device))[1] for device in volume.on])

    def _check_ranges(self) -> None:
        """Refuse volumes beyond the end of a device, or over each other, or of what the host does not see."""
        taken: dict[str, list[tuple[int, int, str]]] = {}
        hidden = self.hidden
        for name, volume in self.volumes.items():
            for device in volume.on:
                at = ("volumes", name)
                if device in hidden:
                    found = f"{device}, which is behind {hidden[device]}"
                    raise refusal(found, "expected: devices that the host sees", (*at, "on"))
                capacity = self.capacity(device)
                start, size = volume.range(capacity)
                if size < _LEAST_VOLUME or start + size > capacity or (start | size) % self.sector(device):
                    found = f"{size} bytes from byte {start} of {device}"
                    least = format_size(_LEAST_VOLUME)
                    allowed = f"expected: whole sectors, {least} or more, within its {capacity} bytes"
                    raise refusal(found, allowed, (*at, "size"))
                taken.setdefault(device, []).append((start, start + size, name))
        for device, ranges in taken.items():
            for (_, end, name), (start, _, other) in pairwise(sorted(ranges)):
                if start < end:
                    found = f"{other} over {name} on {device}"
                    raise refusal(found, "expected: `start` and `size` apart", ("volumes", other, "start"))

    def sector(self, name: str) -> int:
        """Bytes of the smallest I/O that a device takes: the largest logical sector of the drives below it."""
        if name in self.machine.drives:
            return self.machine.drives[name].spec().logical_sector
        least = self.caches[name].least_io if name in self.caches else SECTOR
        below = () if name in self.datasets else self._members(name)
        return max(least, *(self.sector(member) for member in below)) if below else least

    def check_workload(
        self, workload: DdSpec | LoadSpec, reach: Callable[[int], int], place: tuple[str | int, ...] = ("workload",)
    ) -> None:
        """Refuse a workload on something that does not exist, that the host does not see, or that is too small.

        `reach` gives the bytes of a device that the workload can get at, from its capacity; `place` is where it stands
        in the scenario.
        """
        hidden = self.hidden
        for i, target in enumerate(workload.targets):
            at = (*place, "targets", i)
            if target not in self.names:
                raise refusal(f"unknown target {target!r}", f"expected: {', '.join(self.names)}", at)
            if target in hidden:
                seen = [name for name in self.names if name not in hidden]
                raise refusal(f"{target}, which is behind {hidden[target]}", f"expected: {', '.join(seen)}", at)
            if isinstance(workload, LoadSpec):
                workload.check_sectors(self.sector(target), target, place)
            capacity = reach(self.capacity(target))
            beyond = workload.beyond(target, capacity)
            if beyond is not None:
                field, found = beyond
                allowed = f"expected: within the device {target}, which has {capacity}"
                raise refusal(found, allowed, (*place, field))

    def check_users(self) -> None:
        """Refuse a device that two others are built of."""
        user: dict[str, str] = {}
        for name, array in self.arrays.items():
            for field, devices in {"members": array.members, **array.other_drives}.items():
                for device in devices:
                    self._take(user, device, name, ("arrays", name, field))
        for name, pool in self.pools.items():
            for device in pool.members:
                self._take(user, device, name, ("pools", name, "vdevs"))
        for name, layer in self.encrypted.items():
            self._take(user, layer.on, name, ("encrypted", name, "on"))
        for name, cached in self.caches.items():
            for device in cached.devices:
                self._take(user, device, name, ("caches", name))
        divided: dict[str, str] = {}
        for name, volume in self.volumes.items():
            for device in volume.on:
                if divided.setdefault(device, name) == name:
                    self._take(user, device, name, ("volumes", name, "on"))

    @staticmethod
    def _take(user: dict[str, str], device: str, name: str, at: tuple[str, ...]) -> None:
        if device in user:
            raise refusal(f"{device} is part of {user[device]} already", "expected: each device in one place", at)
        user[device] = name

    def check_failures(self, failures: Sequence[FailureSpec]) -> None:
        """Refuse failures of what is in no array with redundancy, and more of them than an array survives.

        What a spare has replaced by then is known only to the run.
        """
        lost: dict[str, set[str]] = {}
        for i in sorted(range(len(failures)), key=lambda i: failures[i].at):
            member, at = failures[i].member, ("failures", i, "member")
            name = self._holder(member, at)
            array = self.arrays[name]
            if member in array.failed:
                raise refusal(f"{member}, which has failed already", "expected: a member that works", at)
            gone = lost.setdefault(name, set(array.failed) - set(array.rebuilding))
            if member in gone:
                raise refusal(f"{member} twice", "expected: each member once", at)
            gone.add(member)
            layout = array.layout([self.capacity(other) for other in array.members])
            slots = frozenset(array.members.index(other) for other in gone)
            if not array.spares and not layout.tolerates(slots):
                found = f"{member}, the {_nth(len(gone))} loss of {name} ({array.level})"
                raise refusal(found, "expected: what the level survives, or spares", at)

    def _holder(self, member: str, at: tuple[str | int, ...]) -> str:
        """The array that survives the loss of `member`."""
        for name, array in self.arrays.items():
            if member in array.members:
                if not LEVELS[array.level].failures_in_a_run:
                    found = f"{member} in {array.level}, all of which is lost with it"
                    raise refusal(found, "expected: a member of an array that survives", at)
                return name
        members = sorted({member for array in self.arrays.values() for member in array.members})
        raise refusal(f"{member!r}, which is in no array", f"expected: {', '.join(members) or 'none'}", at)


def _nth(number: int) -> str:
    return {1: "first", 2: "second", 3: "third"}.get(number, f"{number}th")
