"""Which of the arrays that were found can be simulated, of which drives, and what is said of the others.

Arrays on partitions of the same drives share these where the sizes of their partitions are known; of others the
largest stays. The drive is as large as all of them need. A mirror of one member is its drive. What the model does not
know is left out with a note, never put in as something else.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from pydantic import ValidationError

from ...model.drives.catalogue import drive as catalogue_drive
from ...model.files.quantities import format_size
from ...model.layouts import ALGORITHMS, LEVELS
from ...scenarios.description.arrays import ArraySpec
from .cache_selection import CacheSelection
from .chosen import Chosen, Selection
from .matching.hard_disk import Match, match, warning_of
from .matching.solid_state import match_solid_state
from .pool_selection import PoolSelection
from .refusal import listed, nothing_left
from .slices import bytes_needed, is_on_partitions, member_bytes, only_member, slices
from .tools.facts import Fact
from .tools.findings import Findings, FoundArray, FoundDrive, FoundMember

_PARTITION = re.compile(r"(?P<disk>(?:[hsv]d|xvd)[a-z]{1,3})\d{1,3}|(?P<numbered>[\w!-]*\d)p\d{1,3}", re.ASCII)
_NEVER_TURNS = ("nvme", "mmcblk", "pmem")
_VIRTUAL = ("vd", "xvd")
_ONLY_SCSI = ("2.0", "2.2", "2.4")
"""Kernels whose disks sda, sdb ... are SCSI disks."""
_PART_USED = 0.9


def select(
    found: Findings, ignore_solid_state: bool, refused: Mapping[str, str] | None = None, where: str = "inspect"
) -> Selection:
    """Choose.

    Parameters
    ----------
    found
        Everything that was found.
    ignore_solid_state
        Leave out arrays of drives without moving parts.
    refused
        Why arrays and drives cannot be simulated, by name.
    where
        The first output.

    Raises
    ------
    InputError
        If nothing is left to simulate.
    """
    return _Selecting(found, ignore_solid_state, refused or {}, where).result()


class _Selecting:
    def __init__(self, found: Findings, ignore_solid_state: bool, refused: Mapping[str, str], where: str) -> None:
        self.found = found
        self.refused = refused
        self.where = where
        self.ignore = ignore_solid_state
        self.selection = Selection(notes=list(found.notes))
        self.shown = {each.shown_as: name for name, each in found.arrays.items() if each.shown_as is not None}
        self.users: dict[str, str] = {}
        self.alone: dict[str, str] = {}
        self.needed: dict[str, int] = {}
        self.sharing: list[str] = []
        self.part_used: dict[str, str] = {}

    def result(self) -> Selection:
        candidates = [array for array in self.found.arrays.values() if not self._left_out(array)]
        self._leave_out_solid_state(candidates)
        self.alone = {array.name: self._device(device) for array in candidates if (device := only_member(array))}
        self.needed = bytes_needed(self.found.arrays.values(), self._device)
        for array in sorted(candidates, key=lambda each: (-each.bytes, each.name)):
            self._choose(array)
        self._drop_headless()
        self._slice()
        PoolSelection(self.found, self.selection, self.users, self._matched, self.refused).choose()
        CacheSelection(self.found, self.selection, self.users, self._matched, self._device, self.refused).choose()
        order = list(self.found.arrays)
        chosen = self.selection.arrays
        self.selection.arrays = {name: chosen[name] for name in order if name in chosen}
        for name in self.selection.arrays:
            self.selection.notes += [note for note in self.found.arrays[name].notes if note not in self.selection.notes]
        self._other_drives()
        if not self.selection.drives:
            solid = [name for name in self.found.drives if self._solid(name)] if self.ignore else []
            raise nothing_left(self.found, self.selection, solid, self.where)
        return self.selection

    def _note(self, text: str) -> None:
        self.selection.notes.append(text)

    def _left_out(self, array: FoundArray) -> bool:
        reason = array.reason or self.refused.get(array.name)
        level = array.level.value if array.level is not None else None
        if level in LEVELS and len(ALGORITHMS.get(level, ())) < 2:
            array.algorithm = None  # md prints one that it does not use
        if reason is None and level is None:
            reason = "nothing tells its level"
        elif reason is None and level not in LEVELS:
            reason = f"the model has no level {level}"
        elif reason is None and not array.members:
            reason = "nothing tells its members"
        elif reason is None and not any(member.device for member in array.members):
            told = f"its members are not described, only {listed(sorted(array.devices))}"
            if array.journal is not None and array.devices == {array.journal.value}:
                told = f"only its journal ({array.journal.value}) is described"
            reason = f"{told}; give mdadm --examine of its members too, or /proc/mdstat"
        if reason is not None:
            self._note(f"{array.name} ({array.where}) is left out: {reason}")
        return reason is not None

    def _device(self, device: str) -> str:
        """The drive or array that a member is, or is a part of."""
        name = self.found.parents.get(device, device)
        if name in self.shown:
            return self.shown[name]
        if name in self.alone:
            return self.alone[name]
        if name in self.found.arrays:
            return name
        part = _PARTITION.fullmatch(name)
        if part is not None:
            name = part["disk"] or part["numbered"]
        return self.shown.get(name, name)

    def _solid(self, device: str) -> bool:
        drive = self.found.drives.get(device, FoundDrive(device, ""))
        if drive.solid_state is not None:
            return drive.solid_state.value
        return device.startswith(_NEVER_TURNS) or (
            drive.interface is not None and drive.interface.value in _NEVER_TURNS
        )

    def _leave_out_solid_state(self, candidates: list[FoundArray]) -> None:
        """Arrays whose members or journal have no moving parts, where they are not wanted."""
        for array in list(candidates) if self.ignore else ():
            solid = sorted({each for each in map(self._device, array.devices) if self._solid(each)})
            if solid:
                self._note(f"{array.name} is left out: {listed(solid)} have no moving parts")
                candidates.remove(array)

    def _by_name(self, drive: FoundDrive) -> None:
        """What the kernel's name of a disk tells: hda is parallel ATA, vda a virtual disk, sda of Linux 2.4 is SCSI."""
        kernel = self.found.computer.kernel
        if drive.interface is not None:
            return
        if drive.name.startswith("hd"):
            drive.interface = Fact("pata", drive.where)
        elif drive.name.startswith(_VIRTUAL):
            drive.interface = Fact("virtual", drive.where)
        elif drive.name.startswith("sd") and kernel is not None and kernel.value.startswith(_ONLY_SCSI):
            drive.interface = Fact("scsi", kernel.where)

    def _matched(self, drive: FoundDrive, needed: int | None) -> Match | str:
        """The catalogue's drive for one, or why there is none."""
        if drive.name in self.refused:
            return self.refused[drive.name]
        return match_solid_state(drive, needed) if self._solid(drive.name) else match(drive, needed)

    def _is_on_partitions(self, array: FoundArray) -> bool:
        return is_on_partitions(array, self._device, member_bytes(array))

    def _shares(self, array: FoundArray, names: list[str]) -> bool:
        """Whether an array can be on other partitions of drives that larger arrays use."""
        every = [*names, *(self._device(each) for each in array.spares)]
        if any(array.devices & chosen.found.devices for chosen in self.selection.arrays.values()):
            return False
        users = [self.selection.arrays.get(self.users[name]) for name in every if name in self.users]
        fits = bool(users) and all(user is not None and self._is_on_partitions(user.found) for user in users)
        return fits and len(set(every)) == len(every) and self._is_on_partitions(array)

    def _share(self, chosen: Chosen, names: list[str]) -> None:
        """Take an array that shares its drives."""
        known = LEVELS[chosen.found.level.value] if chosen.found.level is not None else None
        if chosen.spares and (known is None or not known.spares):
            self._note(f"{chosen.found.name}: {listed(chosen.spares)} cannot wait as a spare here; left out")
            chosen.spares = []
        self.selection.arrays[chosen.found.name] = chosen
        every = [*names, *chosen.spares]
        users = [self.users[name] for name in every if name in self.users]
        self.sharing = list(dict.fromkeys([*self.sharing, *users, chosen.found.name]))
        for name in every:
            self.users.setdefault(name, chosen.found.name)
        self._match(chosen, names, [])

    def _slice(self) -> None:
        """Lay out the partitions of arrays that share drives, or leave the largest alone if they do not fit."""
        arrays = [self.selection.arrays[name] for name in self.sharing if name in self.selection.arrays]
        found = slices([(chosen, member_bytes(chosen.found) or 0) for chosen in arrays])
        over = sorted({each.drive for each in found.values() if each.start + each.size > self._capacity(each.drive)})
        if over:
            for chosen in arrays:
                name = chosen.found.name
                if any(self.users.get(drive) != name for drive, _, _ in chosen.partitions):
                    self._note(f"{name} is left out: its partitions do not fit on {listed(over)}")
                    self._forget(name)
            arrays, found = [], {}
        self.selection.volumes = found
        for chosen in arrays:
            chosen.members = [(member.device or name, member) for name, member in chosen.members]
            chosen.spares = [chosen.spare_parts[name] for name in chosen.spares]
            self.part_used.pop(chosen.found.name, None)
        self.selection.notes += self.part_used.values()

    def _capacity(self, name: str) -> int:
        if name in self.found.arrays:
            return self.found.arrays[name].bytes
        matched = self.selection.drives[name]
        return catalogue_drive(matched.model).with_values(**matched.overrides).capacity

    def _take_drive(self, array: FoundArray, name: str) -> None:
        """Take the drive of a mirror of one member as what it is."""
        reason = self._taken([name])
        if reason is not None or name in self.found.arrays:
            why = reason or f"it is a mirror of {name} alone"
            self._note(f"{array.name} ({array.where}) is left out: {why}")
            return
        self.users[name] = array.name
        self._match(Chosen(array, [(name, array.members[0])]), [name], [])
        if name in self.selection.drives:
            self.selection.single.append(name)
            self._note(f"{array.name} is a mirror of one member; it is simulated as its drive, {name}")

    def _choose(self, array: FoundArray) -> None:
        """Take an array if its drives are free and the model can make it."""
        if array.name in self.alone:
            self._take_drive(array, self.alone[array.name])
            return
        taken: list[tuple[str, FoundMember]] = []
        for slot, member in enumerate(array.members):
            name = self._device(member.device) if member.device is not None else f"{array.name}-slot{slot}"
            taken.append((name, member))
        chosen = Chosen(array, taken, [self._device(spare) for spare in array.spares])
        chosen.spare_parts = {self._device(spare): spare for spare in array.spares}
        if array.journal is not None:
            chosen.journal = self._device(array.journal.value)
        names = [name for name, member in taken if member.device is not None]
        shares = self._shares(array, names)
        reason = (None if shares else self._taken(names)) or self._impossible(chosen)
        if reason is None and shares:
            self._share(chosen, names)
            return
        if reason is not None:
            self._note(f"{array.name} ({array.where}) is left out: {reason}")
            return
        chosen.spares = [each for each in dict.fromkeys(chosen.spares) if self._spare(each, chosen)]
        if chosen.journal is not None and not self._spare(chosen.journal, chosen):
            chosen.journal = None
        self.selection.arrays[array.name] = chosen
        extra = [chosen.journal] if chosen.journal is not None else []
        for name in [*names, *chosen.spares, *extra]:
            self.users[name] = array.name
        self._match(chosen, names, extra)
        if array.stray:
            self._note(f"{array.name}: {listed(sorted(array.stray))} failed and are in no slot any more; left out")

    def _taken(self, names: list[str]) -> str | None:
        twice = next((name for name, times in Counter(names).items() if times > 1), None)
        if twice is not None:
            return f"two of its members are on {twice}"
        used = sorted({self.users[name] for name in names if name in self.users})
        rule = "arrays share a drive only on partitions of known size"
        return f"its drives are in {listed(used)} too, and {rule}" if used else None

    def _spare(self, name: str, chosen: Chosen) -> bool:
        """Whether a spare or journal can be used; drives only, that nothing else uses."""
        level = chosen.found.level.value if chosen.found.level is not None else ""
        free = name not in self.users and name not in [member for member, _ in chosen.members]
        if not free or name in self.found.arrays or level not in LEVELS or not LEVELS[level].spares:
            self._note(f"{chosen.found.name}: {name} cannot wait as a spare or be its journal here; left out")
            return False
        return True

    def _impossible(self, chosen: Chosen) -> str | None:
        """Why the model cannot make an array, if so."""
        fields = {key: value for key, value in chosen.fields.items() if key != "spares"}
        fields["controller"] = chosen.found.controller
        lost = len(chosen.failed)
        try:
            spec = ArraySpec.model_validate(fields)
            size = 1 << 40
            layout = spec.layout([size] * len(chosen.members))
            gone = frozenset(slot for slot, (_, member) in enumerate(chosen.members) if member.state != "in use")
            if gone and not layout.tolerates(gone):
                return f"it has lost {lost} of {len(chosen.members)} members, more than {spec.level} survives"
        except ValidationError as error:
            return "; ".join(str(each["msg"]) for each in error.errors()[:2])
        return None

    def _match(self, chosen: Chosen, names: list[str], extra: list[str]) -> None:
        """Find a drive of the catalogue for every drive of an array."""
        used = member_bytes(chosen.found)
        own = [name for name in names if name not in self.found.arrays]
        short: list[str] = []
        for name in [*own, *chosen.spares, *extra]:
            if name in self.selection.drives:
                continue
            drive = self.found.drives.setdefault(name, FoundDrive(name, chosen.found.where))
            self._by_name(drive)
            needed = self.needed.get(name, used)
            matched = self._matched(drive, needed)
            if isinstance(matched, str):
                self._note(f"{chosen.found.name} is left out: {name}: {matched}")
                self._forget(chosen.found.name)
                return
            self.selection.drives[name] = matched
            warning = warning_of(drive, chosen.found.name)
            self.selection.notes += [warning] if warning is not None else []
            whole = drive.capacity.value if drive.capacity is not None else needed
            if whole is not None and used is not None and used < _PART_USED * whole:
                short.append(name)
        if short and used is not None:
            part = f"{chosen.found.name} uses {format_size(used)} of each drive"
            self.part_used[chosen.found.name] = f"{part}; the scenario gives it all of {listed(short)}"
        like = next((name for name in own if name in self.selection.drives), None)
        for name, member in chosen.members:
            if member.device is None and like is not None:
                self.selection.drives[name] = self.selection.drives[like]
                self.selection.copies[name] = like
            elif member.device is None:
                self._note(f"{chosen.found.name} is left out: nothing tells what its missing members are")
                self._forget(chosen.found.name)
                return

    def _forget(self, name: str) -> None:
        """Take an array out again, with the drives that only it has."""
        self.selection.arrays.pop(name, None)
        self.users = {device: user for device, user in self.users.items() if user != name}
        kept = {member for array in self.selection.arrays.values() for member, _ in array.members}
        kept |= set(self.selection.single)
        kept |= {device for array in self.selection.arrays.values() for device in (*array.spares, array.journal or "")}
        self.selection.drives = {device: each for device, each in self.selection.drives.items() if device in kept}

    def _drop_headless(self) -> None:
        """Arrays of arrays that have been left out go too."""
        while True:
            gone = [
                (name, member)
                for name, array in self.selection.arrays.items()
                for member, _ in array.members
                if member in self.found.arrays and member not in self.selection.arrays
            ]
            if not gone:
                return
            name, member = gone[0]
            self._note(f"{name} is left out: {member}, a part of it, is")
            self._forget(name)

    def _other_drives(self) -> None:
        """The host's own disks that are in no array."""
        solid, loose, bare = [], [], []
        own = {each.model.value for each in self.found.drives.values() if each.seat is None and each.model is not None}
        behind = [name for name, drive in self.found.drives.items() if drive.seat is not None and not drive.passed]
        in_arrays = {device for array in self.found.arrays.values() for device in map(self._device, array.devices)}
        in_arrays |= {leaf.device for pool in self.found.pools.values() for leaf in pool.leaves}
        for name, drive in self.found.drives.items():
            disk = self._device(name)
            known = disk in self.users or disk in self.found.arrays or disk in in_arrays or disk != name
            numbered = drive.device_id is not None and bool(self.found.controllers)
            if known or name in behind or (numbered and not drive.passed):
                continue
            if drive.passed and drive.model is not None and drive.model.value in own:
                self._note(f"{name} ({drive.where}) is one of the disks that the host names; left out")
                continue
            if self.ignore and self._solid(name):
                solid.append(name)
            elif drive.logical or drive.loose or name.startswith(("sr", "fd", "nbd", "rbd", "drbd", "dm-")):
                loose.append(name)
            elif drive.capacity is not None or drive.rough_capacity is not None or drive.model is not None:
                matched = self._matched(drive, None)
                if isinstance(matched, str):
                    self._note(f"{name} is left out: {matched}")
                else:
                    self.selection.drives[name] = matched
                    if drive.interface is not None and drive.interface.value == "virtual":
                        self._note(f"{name} is a virtual disk: nothing tells what is behind it")
            else:
                bare.append(name)
        if solid:
            self._note(f"{listed(solid)}: no moving parts, and in no array; left out")
        if loose:
            self._note(f"{listed(loose)}: not disks of this machine's own, or shown by a RAID controller; left out")
        if bare:
            self._note(f"{listed(bare)}: nothing tells size or model; left out (lsblk -b -o NAME,SIZE,ROTA,MODEL does)")
        free = [name for name in behind if name not in self.users]
        if free:
            self._note(f"{listed(free)}: behind a controller, and in no array that is simulated; left out")
