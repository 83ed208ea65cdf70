"""The catalogue of drives, hard disks and solid-state drives: one file a drive, every number with where it comes from.

A field of a drive's file is a mapping with ``value`` and either ``source`` or ``assumed`` (why it is
taken to be so). What a data sheet does not give is assumed, never left out in silence. ``aliases`` lists
further names that people write for it.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from ..core.errors import InputError
from ..disk.spec import DriveSpec
from ..files.catalogue_file import SourcedValue, load_sourced
from ..files.yaml_files import read_yaml
from ..solid_state.spec import SolidStateSpec
from .search import plain_name, spellings, unknown_drive

CATALOGUE = Path(__file__).parent / "catalogue" / "hard_disks"
SOLID_STATE = Path(__file__).parent / "catalogue" / "solid_state"
ALIASES = "aliases"
"""Field of a drive's file with further names of it; it has no source."""


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
    """The drive called `name` in the catalogue; see :func:`drive_name` for what counts as its name.

    >>> disk = drive("wd5000aaks")
    >>> disk.model, disk.capacity, disk.rotation
    ('WD5000AAKS', 500107862016, 7200.0)
    """
    return load_drive(_file(name))[0]


def drive_name(name: str) -> str:
    """The catalogue's name of the drive that is called `name`: by its name, an alias or the maker's model number.

    Case, spaces and punctuation do not matter, nor do the words for maker, bus and kind around the name.

    Raises
    ------
    InputError
        If there is none. The message offers the nearest drives of the same kind and class.

    >>> drive_name("wd 5000 aaks")
    'WD5000AAKS'
    """
    return _file(name).stem


def hard_disk(name: str) -> DriveSpec:
    """The hard disk called `name`; `InputError` if there is none, or it is a solid-state drive."""
    found = drive(name)
    if isinstance(found, DriveSpec):
        return found
    raise InputError(f"drive {name!r}", "a solid-state drive", f"expected: {', '.join(hard_disk_names())}")


def drive_sources(name: str) -> dict[str, SourcedValue]:
    """Where each number of a drive in the catalogue comes from, by field."""
    return load_drive(_file(name))[1]


def is_drive_file(name: str) -> bool:
    """Whether a drive is named by its file's path, which ends with .yaml or .yml."""
    return Path(name).suffix in (".yaml", ".yml")


def named_drive(name: str) -> tuple[AnyDrive, dict[str, SourcedValue]]:
    """A drive and the sources of its fields, by its name in the catalogue or by its file's path.

    Raises
    ------
    InputError
        If there is no such drive or file, or something in it is wrong.
    """
    if is_drive_file(name):
        path = Path(name)
        if not path.is_file():
            found = "this is a folder" if path.is_dir() else "there is no such file"
            raise InputError(str(path), found, "expected: a drive's file, or a name of the catalogue")
        return _read(path)
    return load_drive(_file(name))


def drive_aliases(name: str) -> tuple[str, ...]:
    """Further names of a drive in the catalogue, as its file has them."""
    return _aliases(_file(name))


@lru_cache(maxsize=1)
def _by_stem() -> dict[str, Path]:
    """The files by name without case and punctuation."""
    paths = sorted((*CATALOGUE.glob("*.yaml"), *SOLID_STATE.glob("*.yaml")), key=lambda path: path.stem)
    return {plain_name(path.stem): path for path in paths}


@lru_cache(maxsize=1)
def _by_alias() -> dict[str, Path]:
    """The files by alias and by the maker's model number, without case and punctuation."""
    found: dict[str, Path] = {}
    for path in _by_stem().values():
        for name in (*_model(path), *_aliases(path)):
            if found.setdefault(plain_name(name), path) is not path:
                other = found[plain_name(name)].stem
                raise InputError(f"{path}: field aliases", f"{name!r}, which {other} has", "expected: one drive a name")
    return found


def _model(path: Path) -> tuple[str, ...]:
    """The maker's model number in a drive's file, read without the rest: a drive's mechanics take time to build."""
    data, _ = read_yaml(path)
    field = data.get("model") if isinstance(data, dict) else None
    named = field.get("value") if isinstance(field, dict) else None
    return (named,) if isinstance(named, str) else ()


@lru_cache(maxsize=256)
def _aliases(path: Path) -> tuple[str, ...]:
    data, positions = read_yaml(path)
    given = data.get(ALIASES, []) if isinstance(data, dict) else []
    if not isinstance(given, list) or not all(isinstance(name, str) and plain_name(name) for name in given):
        place = f"{positions.place((ALIASES,))}: field {ALIASES}"
        raise InputError(place, f"found {given!r}", "expected: a list of names")
    return tuple(given)


def _file(name: str) -> Path:
    found = _by_stem().get(plain_name(name))
    if found is None:
        files = {**_by_alias(), **_by_stem()}
        found = next((files[plain] for plain in spellings(name) if plain in files), None)
    if found is None:
        specs = {path.stem: load_drive(path)[0] for path in _by_stem().values()}
        raise unknown_drive(name, specs)
    return found


@lru_cache(maxsize=256)
def load_drive(path: Path) -> tuple[AnyDrive, dict[str, SourcedValue]]:
    """A drive's description and the sources of its fields from a file in the catalogue's format.

    Raises
    ------
    InputError
        Naming file, line and field, if a value is not allowed, has no source, or is both found and assumed.
    """
    return _read(path)


def _read(path: Path) -> tuple[AnyDrive, dict[str, SourcedValue]]:
    if path.parent == SOLID_STATE or (path.parent != CATALOGUE and _is_solid_state(path)):
        return load_sourced(SolidStateSpec, path, (ALIASES,))
    return load_sourced(DriveSpec, path, (ALIASES,))


def _is_solid_state(path: Path) -> bool:
    """Whether a file has fields that only solid-state drives have."""
    data, _ = read_yaml(path)
    only = SolidStateSpec.model_fields.keys() - DriveSpec.model_fields.keys()
    return isinstance(data, dict) and not only.isdisjoint(data)
