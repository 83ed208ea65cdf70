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

from ...model.files.description import Rate, Spec
from ...model.files.description_errors import load_spec

_FILE = Path(__file__).parent / "catalogue" / "drive_models.yaml"
_OLD_SEAGATE = re.compile(r"\bST[39](?P<gb>\d{2,3})\d(?P<turns>[05])\d(?:SS|FC|LW|LC)\b")
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


def old_seagate(model: str) -> OldSeagate | None:
    """Capacity and rotation of a Cheetah or Savvio by its number; None for other drives."""
    match = _OLD_SEAGATE.search(model.upper())
    if match is None:
        return None
    return OldSeagate(int(match["gb"]) * 10**9, 15000.0 if match["turns"] == "5" else 10000.0)
