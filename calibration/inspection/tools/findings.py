"""What inspected output says, in SI units, each value with the file and line that it was read from.

Several outputs may speak of the same drive or array: the first that says something is believed, and the others fill in
what it left open. Addresses and host names are not kept; serial numbers only tell which drive a pool's device is, and
no scenario has them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from .facts import Fact
from .filling import fill
from .found_pools import FoundDataset, FoundPool
from .found_volumes import FoundCache, FoundVolume
from .seat import Seat
from .volume_policy import VolumePolicy

Interface = Literal["pata", "sata", "sas", "scsi", "fc", "nvme", "usb", "virtual"]
State = Literal["in use", "failed", "missing", "rebuilding"]


@dataclass(slots=True)
class FoundDrive:
    """A disk as something names it.

    Attributes
    ----------
    name
        The kernel's ("sda"), or enclosure and slot behind a controller ("e252s0").
    where
        Where it was first named.
    capacity, rough_capacity
        Bytes; those of a rounded text ("3.6T") are rough.
    rotation
        Turns a minute.
    solid_state
        Whether nothing in it moves.
    interface, interface_rate
        How it is connected, and bytes a second of that.
    write_cache
        Whether its buffer takes writes.
    logical_sector, physical_sector
        Bytes.
    major
        Its Linux block major number.
    logical
        Whether it is what a RAID controller shows of an array.
    loose
        Whether it can be pulled out (USB, card readers).
    device_id
        The controller's number of it.
    seat
        Where it is behind a controller; None for the host's own disks.
    passed
        Whether a controller or an HBA passes it to the host as it is (JBOD).
    ids
        What udev may call it by: serial number, WWN.
    """

    name: str
    where: str
    model: Fact[str] | None = None
    capacity: Fact[int] | None = None
    rough_capacity: Fact[int] | None = None
    rotation: Fact[float] | None = None
    solid_state: Fact[bool] | None = None
    interface: Fact[Interface] | None = None
    interface_rate: Fact[float] | None = None
    write_cache: Fact[bool] | None = None
    logical_sector: Fact[int] | None = None
    physical_sector: Fact[int] | None = None
    major: Fact[int] | None = None
    logical: bool = False
    loose: bool = False
    device_id: int | None = None
    seat: Seat | None = None
    passed: bool = False
    ids: list[str] = field(default_factory=list)


@dataclass(slots=True)
class FoundMember:
    """A device of an array, or the empty place of one.

    Attributes
    ----------
    device
        Its name, perhaps of a partition; None if nothing is there.
    state
        What it does; "missing" is a place without a device.
    """

    device: str | None
    state: State
    where: str
    write_mostly: bool = False


@dataclass(slots=True)
class FoundArray:
    """An array as something describes it.

    Attributes
    ----------
    rank
        How much the source tells: of two that speak of the same array, the higher one's members are taken.
    members
        In slot order, one for each slot, failed and missing ones too.
    spares, journal, stray
        Devices that wait; the journal; failed devices whose place is not known.
    size, rough_size, member_size
        Usable bytes of the array, the same of a rounded text ("3.6T"), and bytes that it uses of each member.
    bitmap
        Bytes per bit of the write-intent bitmap; 0 if there is one and nothing says how large.
    stripe_cache
        md's stripe_cache_size.
    action, progress
        What the resync thread does, and the share that is done.
    sync_action
        What md's file of this name says; "frozen" where the thread has been stopped.
    old_members, old_level, old_chunk, old_algorithm
        What it had before, if it is being reshaped; None: nothing tells it, or it does not change.
    controller, group
        The hardware controller that runs it, and its number of the drive group.
    depth, per_span
        Inner arrays, and drives of each, as the controller counts them.
    policy
        What the controller's cache does for it.
    disk_cache
        Whether the controller turns its drives' write caches on or off.
    shown_as
        The host's name of it, behind a controller.
    container
        Whether it only holds the members of other arrays, as Intel's (IMSM, VROC) and DDF's do.
    letters, events
        One letter for each slot as a member's own metadata has them: "A" is in use, "." is not there; and how many
        changes of the array that member has seen. The member that has seen most of them is right.
    reason
        Why it cannot be simulated, if so.
    notes
        What a reader should know of it.
    """

    name: str
    where: str
    rank: int
    level: Fact[str] | None = None
    members: list[FoundMember] = field(default_factory=list)
    spares: list[str] = field(default_factory=list)
    journal: Fact[str] | None = None
    stray: list[str] = field(default_factory=list)
    chunk: Fact[int] | None = None
    algorithm: Fact[str] | None = None
    copies: Fact[int] | None = None
    groups: Fact[int] | None = None
    size: Fact[int] | None = None
    rough_size: Fact[int] | None = None
    member_size: Fact[int] | None = None
    bitmap: Fact[int] | None = None
    stripe_cache: Fact[int] | None = None
    action: Fact[str] | None = None
    progress: Fact[float] | None = None
    sync_action: Fact[str] | None = None
    old_members: Fact[int] | None = None
    old_level: Fact[str] | None = None
    old_chunk: Fact[int] | None = None
    old_algorithm: Fact[str] | None = None
    controller: str | None = None
    group: int | None = None
    depth: Fact[int] | None = None
    per_span: Fact[int] | None = None
    disk_cache: Fact[bool] | None = None
    policy: VolumePolicy | None = None
    shown_as: str | None = None
    container: bool = False
    letters: str = ""
    events: int = 0
    reason: str | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def bytes(self) -> int:
        """Usable bytes, if need be of a rounded text; 0 if nothing tells them."""
        known = self.size or self.rough_size
        return known.value if known is not None else 0

    @property
    def frozen(self) -> Fact[str] | None:
        """What says that the resync thread has been stopped; None if nothing does."""
        said = self.sync_action
        return said if said is not None and said.value == "frozen" else None

    def action_is(self, action: str) -> bool:
        """Whether this is what the resync thread does."""
        return self.action is not None and self.action.value == action

    @property
    def devices(self) -> set[str]:
        """Every device that it names."""
        named = {member.device for member in self.members if member.device is not None}
        journal = {self.journal.value} if self.journal is not None else set()
        return named | set(self.spares) | set(self.stray) | journal


@dataclass(slots=True)
class FoundController:
    """A hardware RAID controller as its tool describes it.

    Attributes
    ----------
    product
        Its name.
    memory, cache
        Bytes on the board, and those that the firmware uses as cache.
    battery
        "good", "failed", "learning" or "charging".
    policy
        That of its largest volume, once all outputs are read.
    interface
        Of its drives ("SAS-12G").
    chunk
        Strip size of new arrays.
    """

    name: str
    where: str
    product: Fact[str] | None = None
    memory: Fact[int] | None = None
    cache: Fact[int] | None = None
    battery: Fact[str] | None = None
    policy: VolumePolicy = field(default_factory=VolumePolicy)
    interface: Fact[str] | None = None
    chunk: Fact[int] | None = None


@dataclass(slots=True)
class FoundComputer:
    """What /proc says: the processor, its cores and clock, the memory, the kernel's release."""

    cpu: Fact[str] | None = None
    clock: Fact[float] | None = None
    cores: Fact[int] | None = None
    memory: Fact[int] | None = None
    kernel: Fact[str] | None = None


@dataclass(slots=True)
class Findings:
    """Everything that was found.

    Attributes
    ----------
    pools, datasets
        Those of ZFS, by name.
    volumes, caches
        Devices that the kernel puts together from others; those of them that are caches.
    parameters
        Module parameters of ZFS that are known to the description of a scenario.
    parents
        The disk that a partition is on, where something says so.
    partitions
        Bytes of partitions.
    aliases
        The kernel's name of a disk or a partition, by other names ("ata-...", a partition's UUID, its numbers "8:1").
    empty
        Places behind controllers whose drive is gone, with where that is said.
    rebuilds
        How far a drive behind a controller has been rebuilt, as a share.
    notes
        What a reader should know.
    """

    computer: FoundComputer = field(default_factory=FoundComputer)
    drives: dict[str, FoundDrive] = field(default_factory=dict)
    arrays: dict[str, FoundArray] = field(default_factory=dict)
    controllers: dict[str, FoundController] = field(default_factory=dict)
    pools: dict[str, FoundPool] = field(default_factory=dict)
    datasets: dict[str, FoundDataset] = field(default_factory=dict)
    volumes: dict[str, FoundVolume] = field(default_factory=dict)
    caches: dict[str, FoundCache] = field(default_factory=dict)
    parameters: dict[str, Fact[int]] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    partitions: dict[str, Fact[int]] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    empty: list[tuple[Seat, str]] = field(default_factory=list)
    rebuilds: dict[str, Fact[float]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, other: Findings) -> None:
        """Take in what another output says."""
        fill(self.computer, other.computer, self.notes, "the computer")
        for drive in other.drives.values():
            self._add_drive(drive)
        before = list(self.arrays.values())
        for array in other.arrays.values():
            self._add_array(array, before)
        self._add_named(self.controllers, other.controllers, "controller")
        self._add_named(self.pools, other.pools, "pool")
        self._add_named(self.datasets, other.datasets, "dataset")
        self._add_named(self.volumes, other.volumes, "volume")
        self.parameters = other.parameters | self.parameters
        self.parents = other.parents | self.parents
        self.partitions = other.partitions | self.partitions
        self.aliases = other.aliases | self.aliases
        self.empty += [each for each in other.empty if each[0] not in [seat for seat, _ in self.empty]]
        self.rebuilds |= other.rebuilds
        self.notes += other.notes

    def _add_named(self, into: dict[str, Any], others: dict[str, Any], what: str) -> None:
        for name, other in others.items():
            if name in into:
                fill(into[name], other, self.notes, f"{what} {name}")
            else:
                into[name] = other

    def _add_drive(self, drive: FoundDrive) -> None:
        same = self.drives.get(drive.name)
        if same is None and drive.device_id is not None:
            same = next((each for each in self.drives.values() if each.device_id == drive.device_id), None)
        if same is None:
            self.drives[drive.name] = drive
        else:
            fill(same, drive, self.notes, f"drive {same.name}")
            if same.seat is not None and drive.seat is not None:
                same.seat.learn(drive.seat)

    def _add_array(self, array: FoundArray, before: list[FoundArray]) -> None:
        """The same array has the same name, or is alike to one of another output and has a device in common with it."""
        same = self.arrays.get(array.name)
        if same is None:
            same = next((each for each in before if _alike(each, array)), None)
        if same is None:
            self.arrays[array.name] = array
            return
        better, other = (array, same) if array.rank > same.rank else (same, array)
        if better.letters and other.letters:
            _join_examined(better, other)
        fill(better, other, self.notes, f"array {better.name}")
        if better is array:
            self.arrays = {
                (array.name if each is same else name): (array if each is same else each)
                for name, each in self.arrays.items()
            }


def _alike(one: FoundArray, other: FoundArray) -> bool:
    """Whether two arrays of different names can be one: several volumes may be on the same whole drives."""
    if one.container or other.container:
        return one.container and other.container and bool(one.devices & other.devices)
    levels = {each.level.value for each in (one, other) if each.level is not None}
    sizes = [each.size.value for each in (one, other) if each.size is not None and each.size.value]
    near = len(sizes) < 2 or max(sizes) <= _SAME_SIZE * min(sizes)
    return len(levels) < 2 and near and bool(one.devices & other.devices)


_SAME_SIZE = 1.02


def _join_examined(into: FoundArray, other: FoundArray) -> None:
    """Take the members that another output of --examine has seen; the newest metadata tells who is in use."""
    if other.events > into.events:
        into.letters, into.events = other.letters, other.events
    for slot, (mine, theirs) in enumerate(zip(into.members, other.members, strict=False)):
        if mine.device is None and theirs.device is not None:
            into.members[slot] = theirs
    into.spares += [each for each in other.spares if each not in into.spares]
    by_letters(into)


def by_letters(array: FoundArray) -> None:
    """Set the members' states by the letters of an examined array: a member that nobody has seen may be in use."""
    for member, letter in zip(array.members, array.letters, strict=False):
        if letter == GONE:
            member.state = "missing" if member.device is None else "failed"
        elif member.state != "rebuilding":
            member.state = "in use"


GONE = "."
"""The letter of a slot whose member is not there."""
