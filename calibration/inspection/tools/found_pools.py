"""What inspected output says of ZFS: pools, their vdevs and devices, and the datasets on them."""

from __future__ import annotations

from dataclasses import dataclass, field

from .facts import Fact

LOST = frozenset(("FAULTED", "OFFLINE", "UNAVAIL", "REMOVED"))
"""States of a device that serves nothing (zpool-status(8))."""


@dataclass(slots=True)
class FoundLeaf:
    """A device of a pool.

    Attributes
    ----------
    name
        As the pool calls it, without its folder ("sda1", "ata-WDC_WD40EFRX-68N32N0_WD-WCC7K0000000-part1"); of one that
        is gone, what it was called.
    state
        Its word in zpool status.
    where
        File and line.
    resilvering
        Whether it, or a distributed spare in its place, gets the data that it does not have yet.
    device, part
        The drive or array that it is on, and the number of its partition there.
    """

    name: str
    state: str
    where: str
    resilvering: bool = False
    device: str = ""
    part: int | None = None

    @property
    def serves(self) -> bool:
        """Whether all its data are there."""
        return self.state not in LOST and not self.resilvering


@dataclass(slots=True)
class FoundVdev:
    """A top-level vdev.

    Attributes
    ----------
    name
        As the pool calls it ("raidz2-0"); a stripe has that of its device.
    use, kind
        Words of `zpool create`: "data" or "log", "raidz2" or "draid2:4d:8c:1s".
    leaves
        A device for each place; of a place that is replaced, the one that serves, or else the new one.
    """

    name: str
    use: str
    kind: str
    where: str
    leaves: list[FoundLeaf]


@dataclass(slots=True)
class FoundDataset:
    """A file system or a volume: its properties of ZFS's names, sizes in bytes."""

    name: str
    where: str
    recordsize: Fact[int] | None = None
    volblocksize: Fact[int] | None = None
    volsize: Fact[int] | None = None
    referenced: Fact[int] | None = None
    used: Fact[int] | None = None
    available: Fact[int] | None = None
    special_small_blocks: Fact[int] | None = None
    compressratio: Fact[float] | None = None
    sync: Fact[str] | None = None
    logbias: Fact[str] | None = None
    primarycache: Fact[str] | None = None
    atime: Fact[bool] | None = None
    is_volume: Fact[bool] | None = None


@dataclass(slots=True)
class FoundPool:
    """A pool as something describes it.

    Attributes
    ----------
    vdevs
        In the order that it lists them.
    raw_size, allocated
        Bytes of its data vdevs, with parity, and of what is taken of them.
    capacity, fragmentation
        CAP and FRAG of `zpool list`, shares.
    sizes
        Bytes of its vdevs and devices by name, rounded.
    action, progress
        "scrub", "resilver" or "rebuild" (in the order of space) while it runs, and the share that is done.
    """

    name: str
    where: str
    vdevs: list[FoundVdev] = field(default_factory=list)
    raw_size: Fact[int] | None = None
    allocated: Fact[int] | None = None
    capacity: Fact[float] | None = None
    fragmentation: Fact[float] | None = None
    ashift: Fact[int] | None = None
    autotrim: Fact[bool] | None = None
    sizes: dict[str, Fact[int]] = field(default_factory=dict)
    action: Fact[str] | None = None
    progress: Fact[float] | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def leaves(self) -> list[FoundLeaf]:
        """All its devices."""
        return [leaf for vdev in self.vdevs for leaf in vdev.leaves]
