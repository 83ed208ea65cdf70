"""The catalogue's drive for a solid-state drive that was found: the same model, one of its family, or the nearest.

The nearest is of the same interface, then of the same class: a drive for servers keeps what it has acknowledged over a
loss of power, and answers a flush about ten times as fast as one for desktops. Then of the nearest rate, as the
model's name or its generation of PCI Express tells it.

What goes with the size in a family follows from a drive's capacity (:meth:`.SolidStateSpec.with_values`).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from ....model.drives.catalogue import drive, solid_state_names
from ....model.files.quantities import format_size
from ....model.solid_state.spec import SolidStateSpec
from ..tools.findings import FoundDrive
from .hard_disk import SMALLEST, Match, rounded
from .models import kind_of_model, pcie_of_model

LARGEST = 2 * 10**14
"""Bytes of the largest drive that the catalogue can stand in for."""
_SAME_SIZE = 0.02
_CLASSES = {"nvme": "PCIe", "sata": "SATA", "sas": "SAS"}
"""How the catalogue's interfaces begin."""
_USUAL_RATE = 5e9
"""Bytes per second of a drive whose model does not tell its generation of PCI Express: between 3.0 and 4.0."""
_NOT_A_DRIVE = ("mmcblk", "pmem")
_NO_CABLE = "memory"
"""How the interface of a RAM disk and of a null block device begins: nothing that is plugged in is one."""
_PREFIXES = {"MZ": 5, "SSD": 8, "MTFD": 7, "CT": 2}
"""Part numbers of a maker, and how many of their letters name the family before the capacity comes."""


@lru_cache(maxsize=1)
def _catalogue() -> dict[str, SolidStateSpec]:
    """Every solid-state drive that is plugged in, by name."""
    found = {name: drive(name) for name in solid_state_names()}
    return {
        name: spec
        for name, spec in found.items()
        if isinstance(spec, SolidStateSpec) and not spec.interface.startswith(_NO_CABLE)
    }


def match_solid_state(found: FoundDrive, at_least: int | None) -> Match | str:
    """The drive to simulate a solid-state drive with, or why there is none.

    Parameters
    ----------
    found
        The drive.
    at_least
        Bytes that an array uses of it, if nothing tells its capacity.
    """
    if found.name.startswith(_NOT_A_DRIVE):
        return "the catalogue has drives with SATA, SAS and NVMe only"
    exact = found.capacity.value if found.capacity is not None else None
    size = exact or rounded(found, at_least)
    if size is not None and not SMALLEST <= size <= LARGEST:
        return f"it has {format_size(size)}; the catalogue stands in for drives of {format_size(SMALLEST)} or more"
    names = _family(found.model.value) if found.model is not None else []
    name = min(names or _catalogue(), key=lambda each: _distance(found, each, size))
    base = _catalogue()[name]
    overrides = _cable(found, base)
    same_size = size is None or _ratio(base.capacity, size) <= _SAME_SIZE
    if not same_size:
        assert size is not None
        overrides["capacity"] = f"{size - size % base.mapping_unit}B"
    elif exact is not None and exact != base.capacity:
        overrides["capacity"] = f"{exact}B"
    if found.logical_sector is not None and found.logical_sector.value != base.logical_sector:
        overrides["logical_sector"] = f"{found.logical_sector.value}B"
    try:
        base.with_values(**overrides)
    except ValueError:
        return f"no drive of the catalogue can be made into {found.name}"
    if names and same_size:
        return Match(name, overrides, "")
    words = [f"the catalogue's {name} is {'of the same family' if names else 'the nearest solid-state drive'}"]
    if not names:
        kind, sure = _class(found)
        bus = f" with {_bus(base)}" if base.interface.startswith("PCIe") else ""
        words.append(f"a drive for {'servers' if kind else 'desktops'}{bus}{'' if sure else ', a guess'}")
    if not same_size:
        words.append("flash and dies follow from the capacity")
    return Match(name, overrides, "; ".join(words))


def _family(model: str) -> list[str]:
    """Drives of the catalogue that are this model but for the capacity: by part number, or by the words of its name."""
    said = model.upper()
    parts = said.replace("-", " ").split()
    found = []
    for name, spec in _catalogue().items():
        number = spec.model.upper()
        letters = next((count for start, count in _PREFIXES.items() if number.startswith(start)), len(number))
        words = name.upper().split("-")[1:-1]
        by_number = letters > 2 and any(part.startswith(number[:letters]) for part in parts)
        if number in said or by_number or all(word in parts or (word in said and len(word) > 4) for word in words):
            found.append(name)
    return found


def _class(found: FoundDrive) -> tuple[bool, bool]:
    """Whether a drive is one for servers, and whether its model or its place says so.

    Behind a RAID controller or on SAS are drives for servers; so is what is behind a virtual disk, by assumption.
    """
    kind = kind_of_model(found.model.value) if found.model is not None else None
    if kind in ("servers", "desktops"):
        return kind == "servers", True
    if found.seat is not None or (found.interface is not None and found.interface.value == "sas"):
        return True, True
    return kind == "virtual" or (found.interface is not None and found.interface.value == "virtual"), False


def _distance(found: FoundDrive, name: str, size: int | None) -> tuple[bool, bool, bool, bool, float, float, str]:
    """First the interface, then the class, the rate over PCI Express, and the capacity; memory that is no flash only if
    nothing else is left.
    """
    spec = _catalogue()[name]
    wanted = _CLASSES.get(found.interface.value, "") if found.interface is not None else ""
    if not wanted and found.name.startswith("nvme"):
        wanted = _CLASSES["nvme"]
    other = not spec.interface.startswith(wanted or _CLASSES["sata"])
    servers, _ = _class(found)
    other_pcie, away = False, 0.0
    if spec.interface.startswith("PCIe"):
        said = pcie_of_model(found.model.value) if found.model is not None else None
        other_pcie = said is not None and spec.interface.split()[1] != said[0]
        away = _ratio(min(spec.interface_rate, spec.channels * spec.channel_rate), said[1] if said else _USUAL_RATE)
    another = spec.power_loss_protection != servers
    return other, another, spec.in_place, other_pcie, away, _ratio(spec.capacity, size), name


def _bus(spec: SolidStateSpec) -> str:
    """Bus and generation: "PCIe 4.0"."""
    return " ".join(spec.interface.split()[:2])


def _ratio(one: float, other: float | None) -> float:
    return abs(math.log(one / other)) if other else 0.0


def _cable(found: FoundDrive, base: SolidStateSpec) -> dict[str, Any]:
    """A slower connector than the drive's own (SATA 3Gb/s), with the same share of it usable."""
    if found.interface_rate is None or not base.interface.startswith("SATA"):
        return {}
    line = found.interface_rate.value
    return {"interface_rate": f"{base.interface_rate * line / 600e6:.0f}B/s"} if line < 0.9 * 600e6 else {}
