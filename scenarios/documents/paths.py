"""Which paths a document has, and which ones a mistyped path was perhaps meant to be."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from ...model.core.errors import InputError
from ...model.files.yaml_files import KeyPath
from ..description.scenario import RENAMED
from .changes.aliases import ALIASES
from .changes.assignment import format_path
from .schema import Schema, document_structure, schema_at

_DEEPEST = 6


def checked(path: KeyPath, place: str, short: Sequence[str] = ALIASES) -> KeyPath:
    """The same path, if it means something in a document.

    Parameters
    ----------
    path
        Keys and places of lists.
    place
        What errors name.
    short
        Short names that could have been meant.

    Raises
    ------
    InputError
        Naming the closest paths that do.
    """
    root = document_structure()
    here: list[Schema] = [root]
    for depth, key in enumerate(path):
        inside = [inner for schema in here for inner in schema_at(schema, root)]
        here = [inner for schema in inside for inner in _inner(schema, key)]
        if not here:
            raise _unknown(path, depth, _keys(inside), place, short)
        if {} in here:
            break
    return path


def _inner(schema: Schema, key: Hashable) -> Iterator[Schema]:
    """What a schema has under a key or at a place of a list."""
    properties = schema.get("properties", {})
    beyond = schema.get("additionalProperties", not properties and "items" not in schema)
    if not schema:
        yield {}
    elif key in properties:
        yield properties[key]
    elif "patternProperties" in schema and str(key).startswith("disk"):
        yield from schema["patternProperties"].values()
    elif "items" in schema and str(key).isdecimal():
        yield schema["items"]
    elif isinstance(beyond, dict):
        yield beyond
    elif beyond and schema.get("type") == "object":
        yield {}


def _keys(schemas: Sequence[Schema]) -> list[str]:
    return list(dict.fromkeys(key for schema in schemas for key in schema.get("properties", {})))


def _unknown(path: KeyPath, depth: int, known: list[str], place: str, short: Sequence[str]) -> InputError:
    """What to say about a path whose key at `depth` is unknown."""
    before, word = path[:depth], str(path[depth])
    if not depth and word in RENAMED:
        renamed = format_path((RENAMED[word], *path[1:]))
        return InputError(place, f"there is no {word!r}", f"expected: {renamed!r}, its new name")
    by_word: dict[str, list[str]] = {}
    for key in known:
        by_word.setdefault(key, []).append(format_path((*before, key)))
    for alias in short:
        by_word.setdefault(alias, []).append(alias)
    near = _near(word, by_word)
    if not near:
        everywhere: dict[str, list[str]] = {}
        for text in known_paths():
            everywhere.setdefault(text.rsplit(".", 1)[-1], []).append(text)
        near = _near(str(path[-1]), everywhere)
    hint = f"did you mean {' or '.join(near[:3])}? " if near else ""
    if depth:
        within = f"allowed in {format_path(before)}: {', '.join(known)}" if known else "nothing is allowed there"
    else:
        first = [key for key in known if key != "extends"]
        within = f"expected: paths that begin with {', '.join(first)}" + (f"; or {', '.join(short)}" if short else "")
    return InputError(place, f"there is no {format_path(path[: depth + 1])!r}", hint + within)


def _near(word: str, by_word: dict[str, list[str]]) -> list[str]:
    close = get_close_matches(word, by_word, n=3, cutoff=0.6)
    close += [key for key in by_word if key not in close and len(word) > 2 and (word in key.split("_") or key in word)]
    return list(dict.fromkeys(path for key in close for path in by_word[key]))


@lru_cache(maxsize=1)
def known_paths() -> tuple[str, ...]:
    """All paths, with NAME for the names that a person gives."""
    root = document_structure()
    found: dict[str, None] = {}

    def below(schema: Schema, path: tuple[Any, ...]) -> None:
        if len(path) > _DEEPEST:
            return
        for inner in schema_at(schema, root):
            for key, value in inner.get("properties", {}).items():
                found[".".join((*path, key))] = None
                below(value, (*path, key))
            named = inner.get("additionalProperties")
            if isinstance(named, dict):
                below(named, (*path, "NAME"))

    below(root, ())
    return tuple(found)
