"""What a scenario is made of: the arrays and drives that were chosen, and notes on what was left out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .matching.hard_disk import Match
from .tools.facts import Fact
from .tools.findings import FoundArray, FoundMember
from .tools.found_pools import FoundDataset, FoundPool
from .tools.found_volumes import FoundCache


@dataclass(slots=True)
class Chosen:
    """An array that is simulated.

    Attributes
    ----------
    found
        What was found of it.
    members, spares, journal
        Names of devices in the scenario.
    spare_parts
        The partition that each spare is, by its drive.
    fields
        What :class:`~raidsim.scenarios.description.arrays.ArraySpec` takes of it, for checking.
    """

    found: FoundArray
    members: list[tuple[str, FoundMember]]
    spares: list[str] = field(default_factory=list)
    journal: str | None = None
    spare_parts: dict[str, str] = field(default_factory=dict)

    @property
    def partitions(self) -> list[tuple[str, str, str]]:
        """Drive, partition, and where it was found, of all members and spares that are there."""
        members = [(drive, each.device, each.where) for drive, each in self.members if each.device is not None]
        return [*members, *((drive, self.spare_parts[drive], self.found.where) for drive in self.spares)]

    @property
    def failed(self) -> list[str]:
        """Members that are lost, those that are being rebuilt too."""
        return [name for name, member in self.members if member.state != "in use"]

    @property
    def rebuilding(self) -> list[str]:
        """Those on whose place a device is being rebuilt."""
        return [name for name, member in self.members if member.state == "rebuilding"]

    @property
    def fields(self) -> dict[str, Any]:
        """The array without what belongs to a kernel."""
        found = self.found
        given: dict[str, Any] = {
            "level": found.level.value if found.level is not None else None,
            "members": tuple(name for name, _ in self.members),
            "failed": tuple(self.failed),
            "rebuilding": tuple(self.rebuilding),
            "spares": tuple(self.spares),
        }
        for key in ("chunk", "algorithm", "copies", "groups"):
            fact: Fact[Any] | None = getattr(found, key)
            if fact is not None:
                given[key] = fact.value
        return given


@dataclass(frozen=True, slots=True)
class Slice:
    """A partition.

    Attributes
    ----------
    drive, start, size
        What it is on, and its range (bytes).
    where
        Where it was found.
    """

    drive: str
    start: int
    size: int
    where: str


@dataclass(slots=True)
class ChosenPool:
    """A pool that is simulated.

    Attributes
    ----------
    found
        What was found of it.
    vdevs
        The words of `zpool create`, with names of devices in the scenario.
    failed, rebuilding
        Devices that serve nothing, each with where that is said, and those of them that get their data back.
    ashift
        log2 of its smallest block.
    datasets
        Volumes and files, each with its fields in the scenario and what was found of it; None: nothing was.
    used
        Share of its data vdevs that other data take.
    """

    found: FoundPool
    vdevs: str
    members: list[str]
    failed: dict[str, str]
    rebuilding: list[str]
    ashift: int
    datasets: dict[str, tuple[dict[str, Any], FoundDataset | None]] = field(default_factory=dict)
    used: float = 0.0

    @property
    def scan(self) -> dict[str, Any] | None:
        """What goes over its blocks."""
        action = self.found.action
        if action is None or (action.value == "scrub") == bool(self.rebuilding):
            return None
        done = {"done": round(self.found.progress.value, 4)} if self.found.progress is not None else {}
        return {"action": action.value, **done}

    @property
    def fields(self) -> dict[str, Any]:
        """What :class:`~raidsim.scenarios.description.pools.PoolSpec` takes of it."""
        return {
            "vdevs": self.vdevs,
            "ashift": self.ashift,
            "failed": tuple(self.failed),
            "rebuilding": tuple(self.rebuilding),
            "scan": self.scan,
            "used": self.used,
            "datasets": {name: fields for name, (fields, _) in self.datasets.items()},
        }


@dataclass(frozen=True, slots=True)
class Joined:
    """A logical volume of several devices.

    Attributes
    ----------
    on
        The devices, in order.
    stripe
        Bytes on each in turn; None: one after the other.
    where
        Where it was found.
    """

    on: tuple[str, ...]
    stripe: int | None
    where: str


@dataclass(slots=True)
class ChosenCache:
    """A cache that is simulated.

    Attributes
    ----------
    found
        What was found of it.
    drives
        Drives and arrays that it is on.
    volumes
        Volumes that are there for it.
    fields
        What :class:`~raidsim.scenarios.description.caches.CacheSpec` takes of it.
    """

    found: FoundCache
    drives: list[str]
    volumes: list[str] = field(default_factory=list)
    fields: dict[str, Any] = field(default_factory=dict)

    @property
    def devices(self) -> list[str]:
        """Everything that it is made of."""
        named = [self.fields[key] for key in ("on", "cache", "metadata") if key in self.fields]
        return [*named, *self.volumes, *self.drives]


@dataclass(slots=True)
class Selection:
    """What the scenario is made of.

    Attributes
    ----------
    arrays
        By name, in the order they were found.
    drives
        The catalogue's drive for each.
    single
        Drives that a mirror of one member is on; each is used as the drive that it is.
    copies
        Drives that nobody has seen: the places of members that are gone, or that the output does not name, each with a
        catalogue drive that stands in for it.
    volumes
        Partitions of drives that several arrays, pools or caches share, by name.
    joined
        Logical volumes of several devices, by name.
    pools, caches
        By name.
    notes
        What was left out, and why.
    """

    arrays: dict[str, Chosen] = field(default_factory=dict)
    drives: dict[str, Match] = field(default_factory=dict)
    single: list[str] = field(default_factory=list)
    copies: dict[str, str] = field(default_factory=dict)
    volumes: dict[str, Slice] = field(default_factory=dict)
    joined: dict[str, Joined] = field(default_factory=dict)
    pools: dict[str, ChosenPool] = field(default_factory=dict)
    caches: dict[str, ChosenCache] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def top(self) -> list[str]:
        """Caches, volumes and files of pools, and arrays that are not part of anything; without these all drives."""
        inner = {name for array in self.arrays.values() for name, _ in array.members}
        inner |= {name for pool in self.pools.values() for name in pool.members}
        inner |= {name for cache in self.caches.values() for name in cache.devices}
        outer = [
            *(name for name in self.caches if name not in inner),
            *(f"{name}/{dataset}" for name, pool in self.pools.items() for dataset in pool.datasets),
            *(name for name in self.arrays if name not in inner),
            *(name for name in self.single if name not in inner),
        ]
        return outer or list(self.drives)
