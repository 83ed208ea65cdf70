"""The catalogue's drive for a hard disk that was found: the same model, one of its family, or the nearest of its class.

Known values replace those of the nearest one: capacity, rotation, interface. The media rate follows the capacity,
because drives of one size class grow by denser tracks and more of them: between two drives of the catalogue that turn
alike it is interpolated on logarithmic scales, and beyond them it goes on with the same slope.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ....model.disk.spec import DriveSpec
from ....model.drives.catalogue import hard_disk, hard_disk_names
from ....model.drives.search import plain_name
from ....model.files.quantities import format_size
from ..tools.facts import Fact
from ..tools.findings import FoundDrive, Interface
from .models import capacity_of_model, kind_of_model, old_seagate

SMALLEST, LARGEST = 10**9, 5 * 10**13
"""Bytes of the disks that the catalogue can stand in for."""

_SAME_SIZE = 0.02
_FILLED = 0.005
"""Of a disk that is one partition, so much at most is lost to the beginning, the end and the superblock."""
_SLOPE_FROM = ("WD5000AAKS", "IronWolf-Pro-20TB")
"""Of drives that nothing brackets, the rate grows with the capacity as between these two, of 2006 and 2021."""
_TURNS_ALIKE = 0.1
_WRONG_INTERFACE, _WRONG_ROTATION = 0.7, 5.0
"""What counts as much as a capacity that differs by e to this power; the second of a rotation that differs by e.

A drive of 10,000 rpm also seeks in half the time of one of 7,200, whatever their capacities.
"""
_SOLD_GB = (
    *(36, 40, 60, 73, 80, 120, 146, 160, 180, 200, 250, 300, 320, 400, 450, 500, 600, 640, 750, 800, 900),
    *(1000, 1200, 1500, 1800, 2000, 2400, 3000, *range(4000, 32000, 1000)),
    *(240, 480, 960, 1920, 3840, 7680, 15360, 30720, 61440, 1600, 3200, 6400, 12800),
)
"""Capacities that are sold; the last line is of solid-state drives for servers."""
_ROUNDED = 0.015
_OLD_SCSI = 147 * 10**9
_FAST_SAS = (300e9, 450e9, 600e9, 900e9, 1200e9, 1800e9, 2400e9)
_SEAGATE = re.compile(r"ST(\d{2,6})([A-Z]{2})")
_WESTERN = re.compile(r"WD(\d{2,6})([A-Z]{2})(?![A-Z])")
_BY_CODE = {"MM": 10000.0, "MP": 15000.0, "NM": 7200.0, "NE": 7200.0}
"""Seagate's letters after the capacity: 10,000 and 15,000 rpm of the server families, 7,200 rpm nearline and NAS."""
_SECTORS = ("logical_sector", "physical_sector")
_GONE: tuple[Interface, ...] = ("pata", "scsi", "fc")
"""Interfaces of no drive made after 2012."""
_VIRTUAL_SIZE = 4 * 10**12
"""Of a virtual disk nothing tells what it is a part of: a drive of this capacity is assumed, as servers have them."""
_INTERFACES: dict[Interface, tuple[str, float]] = {
    "pata": ("PATA", 100e6),
    "sata": ("SATA", 600e6),
    "sas": ("SAS", 1200e6),
    "scsi": ("SCSI", 320e6),
    "fc": ("FC", 400e6),
}
"""How the catalogue's texts begin, and the usual rate."""
_TOKEN = re.compile(r"[A-Z0-9][A-Z0-9-]{4,}")


@lru_cache(maxsize=1)
def _catalogue() -> dict[str, DriveSpec]:
    """Every hard disk by name."""
    return {name: hard_disk(name) for name in hard_disk_names()}


@lru_cache(maxsize=1)
def _scalable() -> tuple[str, ...]:
    """Drives that others can be derived from.

    Those that were measured track by track have one capacity only. Shingled tracks and two actuators do not follow from
    the capacity: only drives whose model is known have them.
    """
    return tuple(
        name
        for name, spec in _catalogue().items()
        if isinstance(spec.zones, int) and not spec.band_size and spec.actuators == 1
    )


@dataclass(frozen=True, slots=True)
class Match:
    """A catalogue drive in place of a disk.

    Attributes
    ----------
    model
        Its name in the catalogue.
    overrides
        What is different in this one.
    why
        How it was chosen; "" for the very model.
    """

    model: str
    overrides: dict[str, Any] = field(default_factory=dict)
    why: str = ""


def match(found: FoundDrive, at_least: int | None) -> Match | str:
    """The drive to simulate a hard disk with, or why there is none.

    Parameters
    ----------
    found
        The disk.
    at_least
        Bytes that an array uses of it, if nothing tells its capacity.
    """
    exact = found.capacity.value if found.capacity is not None else None
    rough = exact or rounded(found, at_least)
    if rough is not None and not SMALLEST <= rough <= LARGEST:
        least, most = (format_size(size) for size in (SMALLEST, LARGEST))
        return f"it has {format_size(rough)}; the catalogue stands in for disks of {least} to {most}"
    model = found.model.value if found.model is not None else None
    same = _same_model(model) if model is not None else None
    if same is not None:
        return _checked(same, _known(found, _catalogue()[same], exact), "", found)
    if is_virtual(found):
        return _part_of_another(found, rough)
    if model is not None and kind_of_model(model) == "shingled":
        return _shingled(found, rough, exact)
    relative = _relative(model, rough) if model is not None else None
    rotation, assumed = _rotation(found, rough)
    filled = _filled(found, rough) if assumed and exact is None and relative is None else None
    name = relative or filled or _nearest(found, rough, rotation)
    base = _catalogue()[name]
    if filled is not None:
        rotation = base.rotation
    overrides = _known(found, base, exact)
    fits = rough is not None and base.capacity >= rough and base.capacity <= rough * (1 + _SAME_SIZE)
    words = [f"the catalogue's {name} is {'of the same family' if relative else 'the nearest'}"]
    if rough is not None and exact is None and not fits:
        overrides["capacity"] = f"{rough}B"
    if abs(base.rotation / rotation - 1) > 1e-3:
        overrides["rotation"] = f"{rotation:g}rpm"
    words.append(f"{rotation:,.0f} rpm{' assumed' if assumed and filled is None else ''}")
    if rough is not None and abs(math.log(base.capacity / rough)) > _SAME_SIZE:
        rate = _media_rate(rough, rotation, base)
        overrides["outer_media_rate"] = f"{rate / 1e6:.0f}MB/s"
        overrides["inner_media_rate"] = f"{rate * base.inner_media_rate / base.outer_media_rate / 1e6:.0f}MB/s"
        words.append("media rates follow from the capacity")
    elif exact is None and rough is not None and fits:
        words.append("the array would fill it")
    if not relative:
        words.append(_sureness(found, assumed))
    return _checked(name, overrides, "; ".join(words), found)


def warning_of(found: FoundDrive, array: str) -> str | None:
    """What a reader should know of a drive in an array: that its tracks are shingled."""
    if found.model is None or kind_of_model(found.model.value) != "shingled":
        return None
    said = f"{found.name}: {found.model.value} ({found.model.where}) is shingled (SMR)"
    return f"{said}: long random writes and rebuilds of {array} are slow with such a drive"


def _sureness(found: FoundDrive, assumed: bool) -> str:
    """How much is known of a drive that is none of the catalogue's family."""
    known = [word for word, fact in (("interface", found.interface), ("model", found.model)) if fact is not None]
    known += [] if assumed else ["rotation"]
    known += ["capacity"] if found.capacity is not None or found.rough_capacity is not None else []
    return f"by its {' and '.join(known)}" if known else "a guess: only what arrays use of it is known"


def is_virtual(found: FoundDrive) -> bool:
    """Whether something else shows a disk that is not a drive: a hypervisor, a cloud, a network target."""
    shown = found.interface is not None and found.interface.value == "virtual"
    return shown or (found.model is not None and kind_of_model(found.model.value) == "virtual")


def _part_of_another(found: FoundDrive, size: int | None) -> Match | str:
    """A virtual disk: a part of a drive for servers of today, with that one's media rates and seeks."""
    bare = FoundDrive(found.name, found.where)
    name = _nearest(bare, _VIRTUAL_SIZE, 7200.0)
    base = _catalogue()[name]
    overrides = {} if size is None or size == base.capacity else {"capacity": f"{size}B"}
    return _checked(name, overrides, f"a virtual disk; a guess: as if it were a part of the catalogue's {name}", found)


def _shingled(found: FoundDrive, size: int | None, exact: int | None) -> Match | str:
    """A shingled drive: the catalogue's shingled drive nearest in capacity."""
    names = [name for name, spec in _catalogue().items() if spec.band_size]
    name = min(names, key=lambda each: (_ratio(_catalogue()[each].capacity, size), each))
    base = _catalogue()[name]
    overrides = _known(found, base, exact)
    if size is not None and exact is None and abs(math.log(base.capacity / size)) > _SAME_SIZE:
        overrides["capacity"] = f"{size}B"
    why = f"its tracks are shingled (SMR); the catalogue's {name} is the nearest shingled drive"
    return _checked(name, overrides, why, found)


def rounded(found: FoundDrive, at_least: int | None) -> int | None:
    """Bytes of a disk of which only a rounded size, or an array's part, is known: of the size that is sold, if any.

    Disks of N GB have 97,696,368 + 1,953,504 (N - 50) sectors (IDEMA LBA1-03).
    """
    rough = found.rough_capacity.value if found.rough_capacity is not None else at_least
    known = found.rough_capacity is not None
    if not known and found.model is not None and (told := capacity_of_model(found.model.value)) is not None:
        rough, known = told, True
    if rough is None:
        return None
    low, high = (1 - _ROUNDED, 1 + _ROUNDED) if known else (1.0, 1 + _FILLED)
    sold = [512 * (97_696_368 + 1_953_504 * (size - 50)) for size in _SOLD_GB]
    near = [size for size in sold if low * rough <= size <= high * rough]
    return min(near, key=lambda size: abs(size - rough), default=-(-rough // 4096) * 4096)


def _checked(name: str, overrides: dict[str, Any], why: str, found: FoundDrive) -> Match | str:
    """The match if a drive like that can be; first without what only goes with another geometry."""
    speeds = ("write_cache", "outer_media_rate", "inner_media_rate", "rotation")
    for left_out in ((), _SECTORS, (*_SECTORS, "write_cache"), (*_SECTORS, *speeds)):
        tried = {key: value for key, value in overrides.items() if key not in left_out}
        try:
            _catalogue()[name].with_values(**tried)
        except ValueError:
            continue
        return Match(name, tried, why)
    return f"no drive of the catalogue can be made into {found.name}"


def _known(found: FoundDrive, base: DriveSpec, exact: int | None) -> dict[str, Any]:
    """What the disk itself says, where the catalogue's is different."""
    overrides: dict[str, Any] = {}
    if exact is not None and exact != base.capacity:
        overrides["capacity"] = f"{exact}B"
    if found.interface is not None and found.interface.value in _INTERFACES:
        word, usual = _INTERFACES[found.interface.value]
        rate = found.interface_rate.value if found.interface_rate is not None else None
        if _interface_of(base) != found.interface.value:
            overrides["interface"] = word
            overrides["interface_rate"] = f"{(rate or usual) / 1e6:g}MB/s"
        elif rate is not None and abs(rate / base.interface_rate - 1) > 0.01:
            overrides["interface_rate"] = f"{rate / 1e6:g}MB/s"
    for name in _SECTORS:
        size: Fact[int] | None = getattr(found, name)
        if size is not None and size.value != getattr(base, name):
            overrides[name] = f"{size.value}B"
    if found.write_cache is not None and found.write_cache.value != base.write_cache:
        overrides["write_cache"] = found.write_cache.value
    return overrides


def _interface_of(spec: DriveSpec) -> Interface:
    if "SCSI" in spec.interface:
        return "scsi"
    return next((kind for kind, (word, _) in _INTERFACES.items() if spec.interface.startswith(word)), "sata")


def _is_gone(name: str) -> bool:
    """Whether a drive of the catalogue has an interface of which no drives are made any more."""
    return _interface_of(_catalogue()[name]) in _GONE


def _tokens(model: str) -> Iterable[str]:
    """The words of a model that can be a model number, with and without what is behind a dash."""
    for token in _TOKEN.findall(model.upper()):
        if any(letter.isdecimal() for letter in token):
            yield token
            yield token.partition("-")[0]
            yield token.rpartition("-")[0]


def _same_model(model: str) -> str | None:
    said = {token for token in _tokens(model) if len(token) >= 6}
    for name in _catalogue():
        if name.startswith("Generic"):
            continue
        known = {token for token in (*_tokens(_catalogue()[name].model), *_tokens(name)) if len(token) >= 6}
        if known & said and not any(token.endswith(("GB", "TB")) for token in known & said):
            return name
    # A model that is known by words only, "SkyHawk AI 20 TB".
    plain = plain_name(model)
    worded = [name for name in _catalogue() if plain_name(_catalogue()[name].model) in plain]
    return max(worded, key=lambda name: len(_catalogue()[name].model), default=None)


def _relative(model: str, size: int | None) -> str | None:
    """A drive of the same family: Seagate's capacity and letters, or Western Digital's two letters."""
    seagate, western = _SEAGATE.search(model.upper()), _WESTERN.search(model.upper())
    candidates = []
    for name in _scalable():
        known = _catalogue()[name].model.upper()
        other_seagate, other_western = _SEAGATE.search(known), _WESTERN.search(known)
        if (seagate is not None and other_seagate is not None and seagate.groups() == other_seagate.groups()) or (
            western is not None and other_western is not None and western[2] == other_western[2]
        ):
            candidates.append(name)
    return min(candidates, key=lambda name: _ratio(_catalogue()[name].capacity, size), default=None)


def _ratio(one: float, other: float | None) -> float:
    return abs(math.log(one / other)) if other else 0.0


def _rotation(found: FoundDrive, size: int | None) -> tuple[float, bool]:
    """Turns a minute, and whether they are assumed."""
    if found.rotation is not None:
        return found.rotation.value, False
    letters = _SEAGATE.search(found.model.value.upper()) if found.model is not None else None
    if letters is not None and letters[2] in _BY_CODE:
        return _BY_CODE[letters[2]], False
    old = old_seagate(found.model.value) if found.model is not None else None
    if old is not None:
        return old.rotation, False
    serial = found.interface is not None and found.interface.value in ("sas", "scsi", "fc")
    if not serial or size is None:
        return 7200.0, True
    fast = size <= _OLD_SCSI or min(_ratio(size, usual) for usual in _FAST_SAS) < _SAME_SIZE
    return (10000.0 if fast else 7200.0), True


def _filled(found: FoundDrive, size: int | None) -> str | None:
    """The drive whose capacity an array's member would fill; its model then is a fair guess."""
    kind = found.interface.value if found.interface is not None else None
    fitting = [
        name
        for name in _scalable()
        if size is not None
        and size <= _catalogue()[name].capacity <= size * (1 + _FILLED)
        and (_interface_of(_catalogue()[name]) == kind or (kind is None and not _is_gone(name)))
    ]

    def strange(name: str) -> tuple[int, bool, float, str]:
        spec = _catalogue()[name]
        return spec.capacity, _interface_of(spec) != "sata", abs(spec.rotation - 7200.0), name

    return min(fitting, key=strange, default=None)


def _nearest(found: FoundDrive, size: int | None, rotation: float) -> str:
    """The catalogue's drive nearest in capacity, interface and rotation.

    A drive of which no interface is known is not one of the last century, whatever its size.
    """
    kind = found.interface.value if found.interface is not None else None
    names = [name for name in _scalable() if kind in _GONE or not _is_gone(name)]

    def distance(name: str) -> tuple[float, str]:
        spec = _catalogue()[name]
        wanted = found.interface.value if found.interface is not None else "sata"
        away = _ratio(spec.capacity, size) + _WRONG_ROTATION * _ratio(spec.rotation, rotation)
        return away + (_WRONG_INTERFACE if _interface_of(spec) != wanted else 0.0), name

    return min(names, key=distance)


def _media_rate(size: int, rotation: float, base: DriveSpec) -> float:
    """Bytes a second at the rim of a drive of this capacity and rotation."""
    alike = [_catalogue()[name] for name in _scalable() if _ratio(_catalogue()[name].rotation, rotation) < _TURNS_ALIKE]
    below = max((each for each in alike if each.capacity <= size), key=lambda each: each.capacity, default=None)
    above = min((each for each in alike if each.capacity >= size), key=lambda each: each.capacity, default=None)
    if below is not None and above is not None and below.capacity < above.capacity:
        share = math.log(size / below.capacity) / math.log(above.capacity / below.capacity)
        return float(below.outer_media_rate * (above.outer_media_rate / below.outer_media_rate) ** share)
    small, large = (_catalogue()[name] for name in _SLOPE_FROM)
    slope = math.log(large.outer_media_rate / small.outer_media_rate) / math.log(large.capacity / small.capacity)
    nearest = below or above or base
    turning = 1.0 if below is not None or above is not None else rotation / base.rotation
    return float(nearest.outer_media_rate * turning * (size / nearest.capacity) ** slope)
