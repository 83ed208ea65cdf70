"""Disks, partitions and md's arrays from lsblk (util-linux, lsblk.c: columns KNAME, TYPE, SIZE, ROTA, TRAN ...).

As JSON (-J), as pairs (-P), or as the table that it prints without either. Without -b a size is rounded ("3.6T"); older
versions write numbers and truths as texts ("1").
"""

from __future__ import annotations

import re

from .....model.layouts import levels_where
from ....text.positioned_json import Value
from ....text.report_text import Cell
from ..facts import Fact, fact, place
from ..findings import Findings, FoundArray, FoundDrive, FoundMember, Interface
from ..found_volumes import FoundVolume, Part
from ..output_text import bounded, has_unit, said, size_of
from ..outputs import Output
from .lsblk_table import tree

RANK = 1
_TRANSPORTS: dict[str, Interface] = {
    "sata": "sata",
    "ata": "pata",
    "sas": "sas",
    "spi": "scsi",
    "fc": "fc",
    "nvme": "nvme",
    "usb": "usb",
    "virtio": "virtual",
}
_LEVELS = levels_where(lambda level: level.md)
_LOGICAL = re.compile(
    r"PERC|RAID|LOGICAL VOLUME|Logical Drv|^(?:MR|SMC)\d{4}|\bMR9\d{3}|Smart Array|^Virtual Disk|^LSI$"
)
"""Models of a disk that a RAID controller shows: they name the controller."""
_CONTROLLER_VENDORS = ("DELL", "AVAGO", "LSI", "BROADCOM")
_HYPER_V = "Msft"
"""The vendor of Hyper-V's disks, whose model is that of a controller's too: "Virtual Disk"."""
_DISK, _PART, _CIPHER = "disk", "part", "crypt"
_MAPPED = ("lvm", "crypt", "dm", "mpath")
_BCACHE = "bcache"
_MOST = 5000


def read(output: Output) -> Findings:
    """The disks, and the arrays that lsblk shows above them."""
    found = Findings()
    listed = output.root.members["blockdevices"] if output.root is not None else tree(output)
    if listed.kind != "list":
        raise output.text.refused(output.first, "a list with the key 'blockdevices'")
    todo: list[tuple[Value, str | None]] = [(item, None) for item in reversed(listed.items)]
    seen = 0
    while todo:
        item, above = todo.pop()
        seen += 1
        if seen > _MOST:
            raise item.cell.refused(f"at most {_MOST} devices")
        name = _device(item, above, found)
        below = item.members.get("children")
        if below is not None and below.kind == "list":
            todo += [(child, name) for child in reversed(below.items)]
    for array in found.arrays.values():
        if array.level is not None and array.level.value != "raid1":
            array.notes.append(f"{array.name}: lsblk does not tell the order of its members; by name")
        array.members.sort(key=lambda member: member.device or "")
    return found


def _device(item: Value, above: str | None, found: Findings) -> str:
    if item.kind != "object":
        raise item.cell.refused("an object for each device")
    named = said(item, "kname") or said(item, "name") or said(item, "path")
    if named is None:
        raise item.cell.refused("a device with a name or kname")
    name = named.text.rsplit("/", 1)[-1]
    if len(name.split()) != 1:
        raise named.refused("a device's name, without blanks")
    kind = said(item, "type")
    word = kind.text if kind is not None else _DISK if above is None else _PART
    shown, numbers = said(item, "name"), said(item, "maj:min")
    if word in _MAPPED or name.startswith(_BCACHE):
        title = shown.text.rsplit("/", 1)[-1] if shown is not None else name
        found.aliases[name] = title
        _stands_on(item, title, above, found, named)
        name = title
    if numbers is not None:
        found.aliases[numbers.text.strip()] = name
    if name.startswith(_BCACHE):
        pass
    elif word == _DISK:
        if name not in found.drives and not name.startswith(("zram", "ram", "loop", "nbd")):
            found.drives[name] = _disk(item, name, place(named))
    elif word == _PART:
        if above is not None:
            found.parents[name] = above
        size = said(item, "size")
        if size is not None:
            found.partitions[name] = fact(size_of(size), size)
        for key in ("partuuid", "partlabel"):
            alias = said(item, key)
            if alias is not None:
                found.aliases[alias.text] = name
    elif word == _CIPHER and above is not None:
        found.notes.append(f"{place(named)}: something on {above} is encrypted; the cipher is not in the scenario")
    elif word in _LEVELS and above is not None:
        array = found.arrays.setdefault(name, FoundArray(name, place(named), RANK))
        array.level = fact(word, kind) if kind is not None else None
        size = said(item, "size")
        if size is not None and not has_unit(size):
            array.size = fact(size_of(size), size)
        elif size is not None:
            array.rough_size = fact(size_of(size), size)
        if above not in array.devices:
            array.members.append(FoundMember(above, "in use", place(named)))
    return name


def _stands_on(item: Value, name: str, above: str | None, found: Findings, named: Cell) -> None:
    """A volume, with the device that it is shown on."""
    volume = found.volumes.setdefault(name, FoundVolume(name, place(named)))
    size = said(item, "size")
    if size is not None and volume.length is None:
        volume.length = fact(size_of(size), size)
    if above is not None and above not in [part.device for part in volume.parts]:
        volume.parts.append(Part(above))


def _disk(item: Value, name: str, where: str) -> FoundDrive:
    drive = FoundDrive(name, where)
    size = said(item, "size")
    if size is not None:
        if has_unit(size):
            drive.rough_capacity = fact(size_of(size), size) if size_of(size) else None
        else:
            drive.capacity = fact(size_of(size), size) if size_of(size) else None
    model, vendor = said(item, "model"), said(item, "vendor")
    if model is not None:
        drive.model = fact(model.text, model)
        maker = vendor.text if vendor is not None else ""
        drive.logical = bool(_LOGICAL.search(model.text)) or maker in _CONTROLLER_VENDORS
        if maker == _HYPER_V:
            drive.logical, drive.interface = False, Fact("virtual", where)
    rota = said(item, "rota")
    if rota is not None and rota.text in ("false", "0"):
        drive.solid_state = fact(True, rota)
    transport = said(item, "tran")
    if transport is not None and transport.text in _TRANSPORTS and drive.interface is None:
        drive.interface = fact(_TRANSPORTS[transport.text], transport)
    if name.startswith(("vd", "xvd")):
        drive.interface = Fact("virtual", where)
    logical, physical = said(item, "log-sec"), said(item, "phy-sec")
    if logical is not None and logical.text.isdecimal():
        drive.logical_sector = fact(bounded(logical, 1 << 16), logical)
    if physical is not None and physical.text.isdecimal():
        drive.physical_sector = fact(bounded(physical, 1 << 16), physical)
    drive.ids += [each.text for key in ("serial", "wwn") if (each := said(item, key)) is not None]
    removable = said(item, "rm")
    drive.loose = (removable is not None and removable.text in ("true", "1")) or (
        transport is not None and transport.text == "usb"
    )
    numbers = said(item, "maj:min")
    if numbers is not None:
        major = numbers._replace(text=numbers.text.partition(":")[0])
        drive.major = fact(bounded(major, 4095), numbers)
    return drive
