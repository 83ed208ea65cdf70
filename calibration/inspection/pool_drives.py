"""Which drive each device of a pool is: a pool calls it by the kernel's name, or by one of udev's or FreeBSD's.

"ata-WDC_WD40EFRX-68N32N0_WD-WCC7K0000000-part1" has bus, model, serial number and partition. The drive is the one that
a link of /dev/disk or its serial number or WWN tells; else one of the same model that nothing else uses; else a new one
of that model.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from .tools.facts import Fact
from .tools.findings import Findings, FoundDrive, Interface
from .tools.found_pools import FoundLeaf, FoundPool, FoundVdev

_PART = re.compile(r"(?P<disk>.+)-part(?P<number>\d{1,3})", re.ASCII)
_LETTERS, _NUMBERS = r"(?:[hsv]d|xvd)[a-z]{1,3}", r"(?:(?:ada|da|nvd|nda|vtbd)\d{1,4}|nvme\d+n\d+|c\d+t\w+d\d+)"
_KERNEL = re.compile(rf"{_LETTERS}|{_NUMBERS}|md\w*", re.ASCII)
"""Names of Linux, FreeBSD and illumos."""
_KERNEL_PART = re.compile(rf"(?P<disk>{_LETTERS}|{_NUMBERS}(?=[ps]))[ps]?(?P<number>\d{{1,3}})", re.ASCII)
_BY_ID = re.compile(
    r"(?P<bus>ata|scsi-SATA|scsi-S|nvme|virtio|usb)[-_]?(?P<model>\S+)_(?P<serial>[^_]{4,})(?:_\d{1,2})?"
)
_UNNAMED = re.compile(r"(?:eui|uuid|nvme)\.\w+")
_INTERFACES: dict[str, Interface] = {
    "ata": "sata",
    "scsi-SATA": "sata",
    "scsi-S": "sas",
    "nvme": "nvme",
    "virtio": "virtual",
    "usb": "usb",
}
_LEAST_ID = 4
"""Characters of a serial number that is looked for."""


def name_drives(found: Findings) -> None:
    """Tell of each device of all pools which drive it is; new drives are added."""
    taken: dict[str, str] = {}
    for pool in found.pools.values():
        for leaf in pool.leaves:
            leaf.device, leaf.part = _known(leaf.name, found) or ("", None)
            if leaf.device:
                taken.setdefault(_disk(leaf.name)[0], leaf.device)
    for pool in found.pools.values():
        for leaf in pool.leaves:
            if not leaf.device:
                disk, leaf.part = _disk(leaf.name)
                leaf.device = taken.get(disk) or _of_its_model(disk, leaf, pool, found, set(taken.values()))
                taken[disk] = leaf.device
        _sizes(pool, found)


def _disk(name: str) -> tuple[str, int | None]:
    """The name without its partition, and the number of that."""
    match = _PART.fullmatch(name) or (None if _KERNEL.fullmatch(name) else _KERNEL_PART.fullmatch(name))
    return (name, None) if match is None else (match["disk"], int(match["number"]))


def _known(name: str, found: Findings) -> tuple[str, int | None] | None:
    """The drive and the partition that a name means; None if nothing tells."""
    disk, part = _disk(name)
    if name in found.aliases:
        name = found.aliases[name]
        disk, part = found.parents.get(name, _disk(name)[0]), _disk(name)[1]
    elif disk in found.aliases:
        disk = found.aliases[disk]
    elif name in found.parents:
        disk = found.parents[name]
    if _KERNEL.fullmatch(disk) or disk in found.drives or disk in found.arrays:
        return disk, part
    return next(((drive.name, part) for drive in found.drives.values() if _is(disk, drive)), None)


def _is(name: str, drive: FoundDrive) -> bool:
    """Whether a name of udev's ends with a number of the drive's."""
    for each in drive.ids:
        number = "_".join(each.split())
        ends = rf"(?:^|[_.-]3?){re.escape(number.removeprefix('0x'))}(?:_\d+)?$"
        if len(number) >= _LEAST_ID and (name == f"wwn-{number}" or re.search(ends, name)):
            return True
    return False


def _of_its_model(disk: str, leaf: FoundLeaf, pool: FoundPool, found: Findings, taken: set[str]) -> str:
    """A drive of the model in a name that no device is yet; a new one if there is none."""
    match = None if _UNNAMED.search(disk) else _BY_ID.fullmatch(disk)
    model = match["model"].strip("_") if match is not None else None
    if model is not None:
        for drive in found.drives.values():
            said = "_".join(drive.model.value.split()) if drive.model is not None else ""
            alike = bool(said) and (model.endswith(said) or said.endswith(model))
            if alike and drive.name not in taken and drive.seat is None:
                return drive.name
    name = next(each for each in _names(model, pool.name) if each not in found.drives)
    drive = found.drives[name] = FoundDrive(name, leaf.where)
    if match is not None and model is not None:
        drive.model = Fact(model.replace("_", " "), leaf.where)
        drive.interface = Fact(_INTERFACES[match["bus"]], leaf.where)
        drive.loose = match["bus"] == "usb"
        drive.solid_state = Fact(True, leaf.where) if match["bus"] == "nvme" else None
    return name


def _names(model: str | None, pool: str) -> Iterator[str]:
    """Names for a drive: without its serial number."""
    start = re.sub(r"[^\w-]+", "-", model or f"{pool}-disk")
    number = 0
    while True:
        number += 1
        yield f"{start}-{number}"


def _sizes(pool: FoundPool, found: Findings) -> None:
    """Rounded sizes of drives that nothing else tells: of those that have one device of a pool."""
    several = Counter(leaf.device for each in found.pools.values() for leaf in each.leaves)
    parts = sum(_parts(vdev) for vdev in pool.vdevs if vdev.use == "data")
    for vdev in pool.vdevs:
        whole = pool.sizes.get(vdev.name)
        share = Fact(whole.value // _parts(vdev), whole.where) if whole is not None else None
        if share is None and vdev.use == "data" and pool.raw_size is not None:
            share = Fact(pool.raw_size.value // parts, pool.raw_size.where)
        for leaf in vdev.leaves:
            if leaf.device in found.arrays:
                continue
            drive = found.drives.setdefault(leaf.device, FoundDrive(leaf.device, leaf.where))
            if drive.capacity is None and drive.rough_capacity is None and several[leaf.device] == 1:
                drive.rough_capacity = pool.sizes.get(leaf.name) or share


def _parts(vdev: FoundVdev) -> int:
    """Devices whose sizes together are the vdev's: those of a mirror are the same."""
    return 1 if vdev.kind in ("mirror", "stripe") else len(vdev.leaves)
