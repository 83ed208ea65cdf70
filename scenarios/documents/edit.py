"""Changes of documents: what a typed path means, and putting a value there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...model.core.errors import InputError
from ...model.files.yaml_files import KeyPath
from .changes.aliases import ALIASES, resolved
from .changes.assignment import format_path, parse_path
from .changes.merge import DRIVES_ALIKE, as_mapping, drives_in_short
from .machine_catalogue import DEFAULT_MACHINE, machine
from .paths import checked

_NAMED_GROUPS = ("arrays", "encrypted", "volumes", "pools", "caches", "file_systems")
_MACHINE_DEPTH = 4
"""Of ``machine.drives.disk0.FIELD`` and its like."""


def meaning(data: Mapping[Any, Any], typed: str, value: Any, place: str) -> list[tuple[KeyPath, Any]]:
    """What is to be put where, in order, so that `typed` has the value; None removes.

    Parameters
    ----------
    data
        The document as it is.
    typed
        A dotted path or an alias.
    place
        What errors name.

    Raises
    ------
    InputError
        If the path means nothing in this document.
    """
    path = parse_path(typed, place)
    if path[0] == "extends":
        raise InputError(place, "found extends, which is followed when a file is read", "expected: in a file")
    if len(path) == 1 and path[0] in ALIASES:
        changes = resolved(data, str(path[0]), value, place)
    else:
        changes = [(checked(path, place), value)]
    for changed, inner in changes:
        _check_name(data, changed, place)
        if inner is not None:
            before = _before(data, changed)
            changes = [*(before if before is not None else ()), *changes]
    return changes


def _check_name(data: Mapping[Any, Any], path: KeyPath, place: str) -> None:
    """Refuse a field of an array or the like that does not exist: a slip of the pen must not make a second one."""
    group = data.get(str(path[0])) if path[0] in _NAMED_GROUPS else None
    if len(path) > 2 and isinstance(group, Mapping) and group and path[1] not in group:
        allowed = f"expected: {', '.join(map(str, group))}; or {path[0]}.{path[1]}={{...}} for a new one"
        raise InputError(place, f"there is no {path[1]!r} in {path[0]}", allowed)
    if len(path) > 2 and path[:2] == ("machine", "drives") and path[2] in DRIVES_ALIKE:
        listed = _listed_drives(data.get("machine"))
        if listed:
            field = format_path((*path[:2], listed[0], *path[2:]))
            raise InputError(place, "the drives are given one by one", f"expected: {field} and the like")


def _listed_drives(machine: object) -> list[Any]:
    """Names of drives that are given one by one, each with its model."""
    drives = machine.get("drives") if isinstance(machine, Mapping) else None
    if not isinstance(drives, Mapping) or drives_in_short(drives):
        return []
    return [
        name for name, one in drives.items() if isinstance(one, str) or (isinstance(one, Mapping) and "model" in one)
    ]


def _before(data: Mapping[Any, Any], path: KeyPath) -> list[tuple[KeyPath, Any]] | None:
    """What must be written out first, because only a part of something with a default is given."""
    if path[0] != "machine" or len(path) == 1:
        return None
    there = data.get("machine")
    if there is None:
        there = {"model": DEFAULT_MACHINE}
    changes: list[tuple[KeyPath, Any]] = [] if "machine" in data else [(("machine",), there)]
    one_drive = path[1] == "drives" and len(path) >= _MACHINE_DEPTH
    drives = there.get("drives") if isinstance(there, Mapping) else None
    if one_drive and drives is None:
        name = there if isinstance(there, str) else there.get("model", DEFAULT_MACHINE)
        usual = machine(name, "machine") if isinstance(name, str) else {}
        if drives_in_short(usual.get("drives")):
            changes.append((("machine", "drives"), usual["drives"]))
    return changes


def put(data: dict[Any, Any], path: KeyPath, value: Any, place: str, null: bool = False) -> KeyPath:
    """Put a value into a document, making the mappings on the way.

    Parameters
    ----------
    data
        What is changed.
    path
        Where; numbers are places in a list if there is one.
    value
        None removes what stands there.
    place
        What errors name.
    null
        Write null instead of removing: it takes effect on what a document extends.

    Returns
    -------
    tuple
        The path with the places of lists as numbers.
    """
    inside: Any = data
    taken: list[Any] = []
    for depth, key in enumerate(path):
        key = _key(inside, path, depth, place)
        taken.append(key)
        if depth == len(path) - 1:
            if value is not None or null or "overrides" in path[:-1]:
                inside[key] = value
            elif key in inside or isinstance(inside, list):
                del inside[key]
            break
        there = inside[key] if isinstance(inside, list) else inside.get(key)
        if there is None and value is None and not null:
            return path
        if not isinstance(there, (dict, list)):
            there = {} if there is None else as_mapping(path[: depth + 1], there)
            if there is None:
                found = f"{format_path(path[: depth + 1])} is a value with nothing inside"
                raise InputError(place, found, "expected: the path of a mapping or a list")
            inside[key] = there
        inside = there
    return tuple(taken)


def _key(inside: Any, path: KeyPath, depth: int, place: str) -> Any:
    """The key at `depth` of a path: a number in a list, and what it is in a mapping."""
    key, within = path[depth], format_path(path[:depth])
    number = str(key).isdecimal()
    if isinstance(inside, list):
        if not number or int(str(key)) >= len(inside):
            allowed = f"expected: 0 to {len(inside) - 1}" if inside else "expected: the whole list"
            raise InputError(place, f"no item {key!r} in {within}", allowed)
        return int(str(key))
    if number and key not in inside and not inside:
        raise InputError(place, f"no item {key!r} in {within}, which is not given", f"expected: {within}=[...]")
    return key
