"""Catalogue files in which every value says where it comes from.

A field is a mapping with ``value`` and either ``source`` (where it was found) or ``assumed`` (why it is taken to be
so), as in the catalogue of drives.
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
from .yaml_files import read_yaml

_Spec = TypeVar("_Spec", bound=Spec)


@dataclass(frozen=True, slots=True)
class SourcedValue:
    """A value as the file has it, and where it comes from: exactly one of `source` and `assumed` is given."""

    value: Any
    source: str | None
    assumed: str | None


def load_sourced(spec: type[_Spec], path: Path, apart: Collection[str] = ()) -> tuple[_Spec, dict[str, SourcedValue]]:
    """A description and the sources of its fields.

    Parameters
    ----------
    spec
        What the fields describe.
    path
        The file.
    apart
        Keys of the file that are no fields of the description, and are left out.

    Raises
    ------
    InputError
        Naming file, line and field, if a value is not allowed, has no source, or is both found and assumed.
    """
    data, positions = read_yaml(path)
    if not isinstance(data, dict):
        raise InputError(positions.place(), "not a mapping", f"expected: {', '.join(spec.model_fields)}")
    values: dict[str, Any] = {}
    sources: dict[str, SourcedValue] = {}
    for key, field in data.items():
        if key in apart:
            continue
        place = f"{positions.place((key,))}: field {key}"
        allowed = "expected: value, and either source (where it was found) or assumed (why it is taken to be so)"
        if not isinstance(field, dict) or "value" not in field:
            raise InputError(place, "it has no value", allowed)
        origin = {word: text for word, text in field.items() if word != "value"}
        if len(origin) != 1 or not origin.keys() <= {"source", "assumed"}:
            raise InputError(place, f"found {', '.join(map(str, field))}", allowed)
        if not all(isinstance(text, str) and text.strip() for text in origin.values()):
            raise InputError(place, "its origin is empty", allowed)
        values[key] = field["value"]
        sources[key] = SourcedValue(field["value"], origin.get("source"), origin.get("assumed"))
    return validate(spec, values, positions), sources


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
