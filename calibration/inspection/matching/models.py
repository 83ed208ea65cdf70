"""What a drive's model tells of a drive that the catalogue lacks: its class, shingled tracks, capacity and rotation.

Seagate's drives for servers until 2010 have both in their number (product manuals of Cheetah 10K.7, ST3300007, and
15K.5, ST3300655, and of Savvio 10K.2, ST9146802): capacity in GB, the generation, and a digit that is 0 at 10,000 rpm
and 5 at 15,000 rpm.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from ....model.files.description import Rate, Spec
from ....model.files.description_errors import load_spec

_FILE = Path(__file__).parent / "catalogue" / "drive_models.yaml"
_OLD_SEAGATE = re.compile(r"\bST[39](?P<gb>\d{2,3})\d(?P<turns>[05])\d(?:SS|FC|LW|LC)\b")
_CAPACITIES: tuple[tuple[re.Pattern[str], float], ...] = (
    (re.compile(r"(?<![\d.])(\d{2,5}) ?GB?\b"), 1e9),
    (re.compile(r"(?<![\d.])(\d{1,2}(?:\.\d{1,2})?) ?TB\b"), 1e12),
    (re.compile(r"\bST(\d{3,5})[A-Z]{2}\d"), 1e9),
    (re.compile(r"\bWD(\d{2,3})[A-Z]"), 1e11),
    (re.compile(r"\bWD(\d{4})[A-Z]"), 1e8),
    (re.compile(r"\bMG\d\d[A-Z]{3}(\d{1,2})T"), 1e12),
    (re.compile(r"\b(?:MG\d\d|DT01)ACA(\d{3})"), 1e10),
    (re.compile(r"\bHU[HS]72[68]0(\d\d)A"), 1e11),
    (re.compile(r"\bHUH721\d(\d\d)A"), 1e12),
    (re.compile(r"\bMZ[A-Z\d]{3}(\d{3})[A-Z]"), 1e9),
    (re.compile(r"\bCT(\d{3,4})[A-Z]"), 1e9),
)
"""What stands in models of makers for the capacity, and its unit (bytes): the makers' notes on how to read a number."""
Kind = Literal["shingled", "virtual", "servers", "desktops"]


class KindOfModels(Spec):
    """Models of one kind: how they begin, and who says so."""

    source: str
    starts: tuple[str, ...]
    """How the models' names begin."""


class RateOfModel(Spec):
    """At how many bytes per second a model reads in order."""

    value: Rate
    """That rate."""
    source: str


class Generations(Spec):
    """Models by their generation of PCI Express, and how fast some read."""

    source: str
    generations: dict[str, tuple[str, ...]]
    """What stands in the models' names, by generation ("4.0")."""
    rates: dict[str, RateOfModel]
    """By what stands in the model's name."""
    typical: dict[str, Rate]
    """Of a generation's fast drives."""


class DriveModels(Spec):
    """The kinds; see the file."""

    shingled: KindOfModels
    virtual: KindOfModels
    servers: KindOfModels
    desktops: KindOfModels
    """Models of drives of this kind."""
    pcie: Generations
    """Generations of drives with NVMe."""


class OldSeagate(NamedTuple):
    """A drive of Seagate's server families until 2010: bytes, and turns a minute."""

    capacity: int
    rotation: float


@cache
def _models() -> DriveModels:
    return load_spec(DriveModels, _FILE)


@cache
def _starts() -> list[tuple[str, Kind]]:
    """All beginnings in capitals, the longest first."""
    models = _models()
    kinds: tuple[Kind, ...] = ("shingled", "virtual", "servers", "desktops")
    found = [(start.upper(), kind) for kind in kinds for start in getattr(models, kind).starts]
    return sorted(found, key=lambda each: -len(each[0]))


def kind_of_model(model: str) -> Kind | None:
    """The kind that a model is known to be; None if it tells nothing.

    Examples
    --------
    >>> kind_of_model("WDC WD40EFAX-68JH4N0"), kind_of_model("Samsung SSD 860 EVO 1TB"), kind_of_model("ST4000NM0035")
    ('shingled', 'desktops', None)
    """
    said = f" {model.upper()}"
    return next((kind for start, kind in _starts() if f" {start}" in said), None)


def pcie_of_model(model: str) -> tuple[str, float] | None:
    """Generation of PCI Express of a drive with NVMe, and bytes per second at which it reads in order.

    The rate is what the model is said to do, else what fast drives of the generation do. The longest words in
    the name count; None if it tells no generation.

    Examples
    --------
    >>> pcie_of_model("Seagate FireCuda 530 ZP4000GM30023"), pcie_of_model("CT2000T700SSD3"), pcie_of_model("NVMe")
    (('4.0', 7300000000.0), ('5.0', 12000000000.0), None)
    """
    said, pcie = model.upper(), _models().pcie
    known = ((words, generation) for generation, models in pcie.generations.items() for words in models)
    found = [(len(words), generation) for words, generation in known if words in said]
    if not found:
        return None
    generation = max(found)[1]
    rated = [(len(words), rate.value) for words, rate in pcie.rates.items() if words in said]
    return generation, max(rated)[1] if rated else pcie.typical[generation]


def capacity_of_model(model: str) -> int | None:
    """Bytes that a model's name or number tells; None if it tells none.

    Examples
    --------
    >>> [
    ...     capacity_of_model(model)
    ...     for model in ("WDC WD40EFRX-68N32N0", "ST4000VN008-2DR166", "Samsung SSD 970 EVO 500GB")
    ... ]
    [4000000000000, 4000000000000, 500000000000]
    """
    old = old_seagate(model)
    if old is not None:
        return old.capacity
    found = ((pattern.search(model.upper()), unit) for pattern, unit in _CAPACITIES)
    return next((int(float(match[1]) * unit) for match, unit in found if match is not None), None)


def old_seagate(model: str) -> OldSeagate | None:
    """Capacity and rotation of a Cheetah or Savvio by its number; None for other drives."""
    match = _OLD_SEAGATE.search(model.upper())
    if match is None:
        return None
    return OldSeagate(int(match["gb"]) * 10**9, 15000.0 if match["turns"] == "5" else 10000.0)
