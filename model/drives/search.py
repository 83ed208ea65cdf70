"""Find a drive by what people call it, and the nearest ones if the catalogue does not have it.

Names are compared without case, spaces and punctuation: "WD Red Plus 8TB", "wd-red-plus-8tb" and "WD_RED_PLUS_8TB" are
one name. A name that is not in the catalogue is taken apart into words and a capacity ("18TB", or what the maker's
model number says: ST8000VN004 has 8,000 GB, WD80EFPX 8.0 TB). The words choose the kind (hard disk or solid-state
drive) and the class, the capacity the drives of that class.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import SequenceMatcher

from ..core.errors import InputError
from ..disk.spec import DriveSpec
from ..solid_state.spec import SolidStateSpec

_NOT_PLAIN = re.compile(r"[^0-9a-z]+")
_LEAST, _MOST = 1e6, 1e18
"""Capacities of drives (bytes)."""
_CAPACITY = re.compile(r"(?<![0-9.])(\d+(?:\.\d+)?)\s?(TB|GB)(?![a-z])", re.IGNORECASE)
_SEAGATE = re.compile(r"\bST(\d{3,5})[A-Z]{2}", re.IGNORECASE)
_WESTERN_DIGITAL = re.compile(r"\bWD(\d{2,3})[A-Z]{4}", re.IGNORECASE)
_HITACHI = re.compile(r"\b[HW]U([SH])72\d{2}(\d{2})", re.IGNORECASE)
_TOSHIBA = re.compile(r"\bM[GN]\d{2}[A-Z]{3}(\d{1,2})T", re.IGNORECASE)
_UNITS = {"TB": 1e12, "GB": 1e9}
_MAKERS = re.compile(
    r"(?<![a-z0-9])(seagate|wdc|hgst|hitachi|samsung|toshiba|crucial|intel|kioxia|solidigm|micron|ata)(?![a-z0-9])",
    re.IGNORECASE,
)
_KINDS = re.compile(r"(?<![a-z0-9])(ssd|hdd|nvme|sata|sas|3\.5|2\.5|dc)(?![a-z0-9])", re.IGNORECASE)
"""Words that are written before or after a drive's name and are not always part of it: maker, then bus and kind."""
_PART_NUMBER = re.compile(r"^(.*\b[A-Z]{2}[A-Z0-9]{5,})-[A-Z0-9]+$", re.IGNORECASE)
_FAMILY = re.compile(r"^(st|wd)\d+([a-z]{2})")
_FLASH_WORDS = frozenset({"ssd", "nvme", "m2", "qlc", "tlc", "optane", "evo", "qvo", "pm", "mx", "bx", "sn"})
_DISK_WORDS = frozenset(
    {"hdd", "rpm", "ironwolf", "exos", "barracuda", "skyhawk", "caviar", "ultrastar", "gold", "red"}
)
_MOST_OFFERED = 3
_ALIKE = 0.8
"""Share of letters that two names have in common if one may be a slip of the finger for the other."""
_HARDLY_ALIKE = 0.5
_SHINGLED = 0.5
"""A drive with shingled tracks is offered for another one only if its name has all the words that were said."""
_A_KIND = 1.0
"""What a word that names the kind counts for when the kind is chosen: as much as a word that two drives have."""


Searched = DriveSpec | SolidStateSpec
"""A drive of the catalogue."""


def plain_name(name: str) -> str:
    """A name without case, spaces and punctuation.

    >>> plain_name("WD Red Plus 8TB")
    'wdredplus8tb'
    """
    return _NOT_PLAIN.sub("", name.casefold())


def spellings(name: str) -> Iterator[str]:
    """Plain names to try for a name as people and kernels write it, the name itself first.

    Left out one after the other: what follows the model number in what the drive says of itself
    ("WD80EFPX-68C4ZN0"), and the words for its maker, bus and kind ("Seagate IronWolf 8TB", "ATA ST8000VN004").

    >>> list(spellings("WDC WD80EFPX-68C4ZN0"))
    ['wdcwd80efpx68c4zn0', 'wdcwd80efpx', 'wd80efpx']
    """
    name = re.sub(r"western\s*digital", "WD", name.replace("_", " ").strip(), flags=re.IGNORECASE)
    part = _PART_NUMBER.match(name)
    shorter = name if part is None else part[1]
    unmade = _MAKERS.sub(" ", shorter)
    tried = dict.fromkeys(plain_name(each) for each in (name, shorter, unmade, _KINDS.sub(" ", unmade)))
    return (each for each in tried if each)


def drive_class(spec: Searched) -> str:
    """The class of a drive: what it is compared with and listed under."""
    interface = spec.interface
    if isinstance(spec, SolidStateSpec):
        server = "for servers" if spec.power_loss_protection else "for desktops"
        return "memory without flash" if spec.in_place else f"{_bus(interface)}, {server}"
    bus = next((bus for bus in ("SATA", "SAS", "PATA", "SCSI", "FC") if bus in interface.upper()), "other")
    shingled = ", shingled" if spec.band_size else ""
    arms = f", {spec.actuators} actuators" if spec.actuators > 1 else ""
    return f"{bus} hard disk, {_speed(spec.rotation)}{shingled}{arms}"


def unknown_drive(name: str, specs: Mapping[str, Searched]) -> InputError:
    """The error for a name that the catalogue does not have, with the nearest drives of its kind and class."""
    offered = nearest_drives(name, specs)
    if not offered:
        return InputError(f"drive {name!r}", "not in the catalogue", "expected: a name from `raidsim drives`")
    first = specs[offered[0]]
    capacity = said_capacity(name)
    change = "overrides: {FIELD: VALUE}"
    if capacity is not None and abs(math.log(first.capacity / capacity)) > 0.02:
        change = f"overrides: {{capacity: {_size(capacity)}}}"
    listed = " or ".join(offered)
    return InputError(
        f"drive {name!r}",
        "not in the catalogue",
        f"did you mean {listed} ({drive_class(first)})? For a drive that is not listed, change the fields of the "
        f"nearest: {{model: {offered[0]}, {change}}}; `raidsim drives` lists all {len(specs)}",
    )


def nearest_drives(name: str, specs: Mapping[str, Searched]) -> list[str]:
    """At most three drives, the nearest first: all of one kind and class; none if no name is at all like it."""
    plain = plain_name(name)
    slips = {known: _alike(plain, plain_name(known)) for known in specs}
    closest = max(slips, key=lambda known: (slips[known], known))
    words = _words(name)
    capacity = said_capacity(name)
    called = {known: _called(known, spec) for known, spec in specs.items()}
    score = {known: _shared(words, called[known], called) for known in specs}
    for known, spec in specs.items():
        if isinstance(spec, DriveSpec) and spec.band_size and not words <= called[known]:
            score[known] *= _SHINGLED
    if capacity is None:
        for known in specs:
            score[known] += slips[known] if slips[known] >= _ALIKE else 0.0

    def kind_score(known: str) -> float:
        said = words & (_DISK_WORDS if specs[known].rotational else _FLASH_WORDS)
        return score[known] + (_A_KIND if said else 0.0)

    def away(known: str) -> float:
        return abs(math.log(specs[known].capacity / capacity)) if capacity else 0.0

    first = max(specs, key=lambda known: (round(kind_score(known), 6), -away(known), slips[known], known))
    if kind_score(first) <= 0:
        if slips[closest] < _HARDLY_ALIKE:
            return []
        first = closest
    kind = [known for known in specs if specs[known].rotational == specs[first].rotational]
    most = max(score[known] for known in kind)
    # Of those that are called about the same, the one of about that size tells the class.
    best = min((known for known in kind if score[known] >= 0.75 * most), key=lambda known: (away(known), known))
    if not most or not capacity:
        best = first
    alike = [known for known in specs if drive_class(specs[known]) == drive_class(specs[best])]
    most = max(score[known] for known in alike)
    # Of its class, those whose words are about as near, by capacity if the name says one.
    near = [known for known in alike if score[known] >= 0.5 * most]
    near.sort(key=lambda known: (away(known) if capacity else 0.0, -score[known], -slips[known], known))
    return near[:_MOST_OFFERED]


def said_capacity(name: str) -> float | None:
    """Bytes that a name says the drive has, if it does and a drive could have them.

    >>> said_capacity("WD Red Plus 8TB"), said_capacity("ST8000VN004"), said_capacity("WD101EFBX")
    (8000000000000.0, 8000000000000.0, 10000000000000.0)
    >>> said_capacity("HGST HUS724040ALA640"), said_capacity("WUH721818ALE6L4"), said_capacity("MG08ACA16TE")
    (4000000000000.0, 18000000000000.0, 16000000000000.0)
    >>> said_capacity("0TB"), said_capacity(f"{10**30} TB")
    (None, None)
    """
    found = _capacity_in(name)
    return found if found is not None and _LEAST <= found <= _MOST else None


def _capacity_in(name: str) -> float | None:
    said = _CAPACITY.search(name)
    if said is not None:
        return float(said[1]) * _UNITS[said[2].upper()]
    seagate = _SEAGATE.search(name)
    if seagate is not None:
        return float(seagate[1]) * 1e9
    hitachi = _HITACHI.search(name)
    if hitachi is not None:
        size = float(hitachi[2])
        return size * (1e11 if hitachi[1].upper() == "S" or size >= 30 else 1e12)
    toshiba = _TOSHIBA.search(name)
    if toshiba is not None:
        return float(toshiba[1]) * 1e12
    western = _WESTERN_DIGITAL.search(name)
    return float(western[1][:2]) * (1e12 if len(western[1]) > 2 else 1e11) if western is not None else None


def _size(size: float) -> str:
    """A capacity as a scenario has it, to four digits."""
    return f"{size / 1e12:.4g}TB" if size >= 1e12 else f"{size / 1e9:.4g}GB"


def _words(name: str) -> frozenset[str]:
    """The words of a name, each also without its digits, but for the capacity; of a model number its family too."""
    words = set(_NOT_PLAIN.split(_CAPACITY.sub(" ", name).casefold()))
    families = (_FAMILY.match(word) for word in words)
    words |= {f"{found[1]} {found[2]}" for found in families if found is not None}
    words |= {re.match(r"[a-z]*", word)[0] for word in words}  # type: ignore[index]  # always matches
    return frozenset(word for word in words if len(word) > 1 or word.isdecimal())


def _called(known: str, spec: Searched) -> frozenset[str]:
    """The words for a drive: those of its name and model number, its bus and its rotation ("15k", "7200")."""
    words = _words(f"{known} {spec.model}") | {spec.interface.split()[0].casefold()}
    if isinstance(spec, DriveSpec):
        words |= {f"{round(spec.rotation / 1000)}k" if spec.rotation > 9000 else f"{spec.rotation:.0f}"}
    return words


def _shared(words: Iterable[str], others: frozenset[str], called: Mapping[str, frozenset[str]]) -> float:
    """How much two names have in common: a word counts the more, the fewer drives have it."""
    total = 0.0
    for word in words:
        if word in others:
            drives = sum(word in each for each in called.values())
            total += 1.0 / drives + 0.5
    return total


def _alike(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other).ratio()


def _bus(interface: str) -> str:
    """The bus of a solid-state drive without its speed in words: "SATA", "SAS", "PCIe 4.0"."""
    return " ".join(interface.split()[:2]) if interface.startswith("PCIe") else interface.split(maxsplit=1)[0]


def _speed(rotation: float) -> str:
    if rotation < 6500:
        return "5,400 to 5,900 rpm"
    return f"{round(rotation / 100) * 100:,} rpm"
