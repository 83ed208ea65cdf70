"""The catalogue of drives, hard disks and solid-state drives: one file a drive, every number with where it comes from.

A field of a drive's file is a mapping with ``value`` and either ``source`` or ``assumed`` (why it is
taken to be so). What a data sheet does not give is assumed, never left out in silence.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from ..core.errors import InputError
from ..disk.spec import DriveSpec
from ..files.catalogue_file import SourcedValue, catalogue_file, load_sourced
from ..solid_state.spec import SolidStateSpec

CATALOGUE = Path(__file__).parent / "catalogue" / "hard_disks"
SOLID_STATE = Path(__file__).parent / "catalogue" / "solid_state"


AnyDrive = DriveSpec | SolidStateSpec
"""A hard disk or a solid-state drive; `rotational` tells which."""


def drive_names() -> tuple[str, ...]:
    """Names of all drives in the catalogue, sorted: hard disks, then solid-state drives."""
    return (*hard_disk_names(), *solid_state_names())


def hard_disk_names() -> tuple[str, ...]:
    """Names of the hard disks in the catalogue, sorted."""
    return tuple(sorted(path.stem for path in CATALOGUE.glob("*.yaml")))


def solid_state_names() -> tuple[str, ...]:
    """Names of the solid-state drives in the catalogue, sorted."""
    return tuple(sorted(path.stem for path in SOLID_STATE.glob("*.yaml")))


def drive(name: str) -> AnyDrive:
    """The drive called `name` in the catalogue, in any case of its letters; `InputError` if there is none.

    >>> disk = drive("wd5000aaks")
    >>> disk.model, disk.capacity, disk.rotation
    ('WD5000AAKS', 500107862016, 7200.0)
    """
    return load_drive(_file(name))[0]


def hard_disk(name: str) -> DriveSpec:
    """The hard disk called `name`; `InputError` if there is none, or it is a solid-state drive."""
    found = drive(name)
    if isinstance(found, DriveSpec):
        return found
    raise InputError(f"drive {name!r}", "a solid-state drive", f"allowed: {', '.join(hard_disk_names())}")


def drive_sources(name: str) -> dict[str, SourcedValue]:
    """Where each number of a drive in the catalogue comes from, by field."""
    return load_drive(_file(name))[1]


def _file(name: str) -> Path:
    return catalogue_file(CATALOGUE, "drive", name, SOLID_STATE)


@lru_cache(maxsize=64)
def load_drive(path: Path) -> tuple[AnyDrive, dict[str, SourcedValue]]:
    """A drive's description and the sources of its fields from a file in the catalogue's format.

    Raises
    ------
    InputError
        Naming file, line and field, if a value is not allowed, has no source, or is both found and assumed.
    """
    if path.parent == SOLID_STATE:
        return load_sourced(SolidStateSpec, path)
    return load_sourced(DriveSpec, path)
