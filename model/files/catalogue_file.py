"""Catalogue files in which every value says where it comes from.

A field is a mapping with ``value`` and either ``source`` (where it was found) or ``assumed`` (why it is taken to be
so), as in the catalogue of drives. An assumed value may have a ``spread``: the standard deviation of ln of its true
value. A file may name a ``family``, whose file holds the values that its products share; what a file says itself
takes precedence.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from ..core.errors import InputError
from .description import Spec
from .description_errors import validate
from .quantities import parse_fraction
from .yaml_files import Positions, read_yaml

_Spec = TypeVar("_Spec", bound=Spec)


FAMILY = "family"
"""Key of the name of the file with shared values."""
_ORIGIN = "expected: value, and either source (where it was found) or assumed (why it is taken to be so)"


@dataclass(frozen=True, slots=True)
class SourcedValue:
    """A value as the file has it, and where it comes from: exactly one of `source` and `assumed` is given.

    `spread` is the standard deviation of ln of the true value, if the file says how far off an assumption may be.
    """

    value: Any
    source: str | None
    assumed: str | None
    spread: float | None = None


def load_sourced(
    spec: type[_Spec], path: Path, apart: Collection[str] = (), families: Path | None = None
) -> tuple[_Spec, dict[str, SourcedValue]]:
    """A description and the sources of its fields.

    Parameters
    ----------
    spec
        What the fields describe.
    path
        The file.
    apart
        Keys of the file that are no fields of the description, and are left out.
    families
        Folder of the families that a file may name; None if it may name none.

    Raises
    ------
    InputError
        Naming file, line and field, if a value is not allowed, has no source, or is both found and assumed; if there
        is no such family, or a family is among its own.
    """
    data, positions = _mapping(path, spec)
    sources = _sources(data, positions, {*apart, FAMILY} if families is not None else apart)
    passed = [path.stem]
    while families is not None and FAMILY in data:
        place = f"{positions.place((FAMILY,))}: field {FAMILY}"
        if not isinstance(data[FAMILY], str):
            raise InputError(place, f"found {data[FAMILY]!r}", "expected: the name of a family")
        found = catalogue_file(families, place, data[FAMILY])
        if found.stem in passed:
            raise InputError(place, f"{found.stem}, which {passed[-1]} is of", "expected: a family of another kind")
        passed.append(found.stem)
        data, of_family = _mapping(found, spec)
        shared = _sources(data, of_family, (*apart, FAMILY))
        sources |= {key: each for key, each in shared.items() if key not in sources}
    return validate(spec, {key: each.value for key, each in sources.items()}, positions), sources


def _mapping(path: Path, spec: type[Spec]) -> tuple[dict[str, Any], Positions]:
    data, positions = read_yaml(path)
    if not isinstance(data, dict):
        raise InputError(positions.place(), "not a mapping", f"expected: {', '.join(spec.model_fields)}")
    return data, positions


def _sources(data: dict[str, Any], positions: Positions, apart: Collection[str]) -> dict[str, SourcedValue]:
    """The fields of one file."""
    found: dict[str, SourcedValue] = {}
    for key, field in data.items():
        if key in apart:
            continue
        place = f"{positions.place((key,))}: field {key}"
        if not isinstance(field, dict) or "value" not in field:
            raise InputError(place, "it has no value", _ORIGIN)
        origin = {word: text for word, text in field.items() if word not in ("value", "spread")}
        if len(origin) != 1 or not origin.keys() <= {"source", "assumed"}:
            raise InputError(place, f"found {', '.join(map(str, field))}", _ORIGIN)
        if not all(isinstance(text, str) and text.strip() for text in origin.values()):
            raise InputError(place, "its origin is empty", _ORIGIN)
        spread = None
        if "spread" in field:
            if "source" in origin:
                raise InputError(place, "a spread of a value that was found", "expected: a spread with `assumed` only")
            spread = parse_fraction(field["spread"], f"{place}.spread")
        found[key] = SourcedValue(field["value"], origin.get("source"), origin.get("assumed"), spread)
    return found


def catalogue_file(folder: Path, kind: str, name: str, *further: Path) -> Path:
    """The file of `name` in a catalogue of one folder or more, in any case of its letters.

    Raises
    ------
    InputError
        If there is none; names the close ones and all there are.
    """
    by_fold = _files((folder, *further))
    known = by_fold.get(name.casefold())
    if known is None:
        close = get_close_matches(name.casefold(), by_fold, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(by_fold[fold].stem for fold in close)}? " if close else ""
        allowed = f"expected: {', '.join(path.stem for path in by_fold.values())}"
        raise InputError(f"{kind} {name!r}", "not in the catalogue", f"{hint}{allowed}")
    return known


@lru_cache(maxsize=16)
def _files(folders: tuple[Path, ...]) -> dict[str, Path]:
    """The files of a catalogue by name without regard to case, sorted; looked for once."""
    paths = sorted((path for folder in folders for path in folder.glob("*.yaml")), key=lambda path: path.stem)
    return {path.stem.casefold(): path for path in paths}
