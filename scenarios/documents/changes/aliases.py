"""Short names for the parts of a document that people change most: ``disks=6``, ``layout=raid6``, ``depth=32``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....model.core.errors import InputError
from ....model.files.yaml_files import KeyPath
from ....model.layouts import LEVELS, level_options
from ....model.zfs.map.words import are_alike
from ...description.arrays import KERNEL_OPTIONS, NONE
from ...description.caches import MODES
from .merge import as_mapping, drives_in_short
from .pool_aliases import array_for_pool, only_pool, pool_for_array

ONLY_ARRAY = "md0"
"""What the array is called that an alias makes where there is none."""

_OF_ARRAY = (
    "level",
    "chunk",
    "groups",
    "algorithm",
    "balance",
    "controller",
    "failed",
    "rebuilding",
    "spares",
    "copies",
    "bitmap",
    "stripe_cache",
)
_OF_WORKLOAD = (
    "depth",
    "fsync",
    "jobs",
    "iops",
    "total_iops",
    "read_share",
    "block_size",
    "span",
    "pattern",
    "precision",
    "duration",
    "warm_up",
)
_PACE = ("depth", "iops", "total_iops")
"""What sets the pace of a load, one instead of the other."""
_ELSEWHERE: dict[str, KeyPath] = {
    "memory": ("machine", "memory"),
    "cores": ("machine", "cpu", "cores"),
    "cpu": ("machine", "cpu"),
}
_USES = ("on", "targets", "loads")
"""Keys of workloads and file systems that name devices, or hold what names them."""
STATES = {"whole": (None, None), "degraded": (1, None), "rebuilding": (1, 1)}
_RESHAPING, _OLD = "reshaping", {"from": "old"}
"""A state with particulars, and what they are called otherwise."""
_SHAPE = ("algorithm", "copies", "groups", "outer_chunk")
"""What belongs to one level and is left behind when `layout` chooses another."""

ALIASES = tuple(sorted((*_OF_ARRAY, *_OF_WORKLOAD, *_ELSEWHERE, "layout", "disks", "drive", "state", "cache")))
"""All of them."""


def resolved(data: Mapping[Any, Any], alias: str, value: Any, place: str) -> list[tuple[KeyPath, Any]]:
    """What an alias with this value changes in a document: paths and their values, in order.

    Raises
    ------
    InputError
        If the document has several things that the alias could mean, or none.
    """
    if alias in _OF_WORKLOAD:
        others = _PACE if alias in _PACE and value is not None else ()
        return [*((("workload", other), None) for other in others if other != alias), (("workload", alias), value)]
    if alias in _ELSEWHERE:
        return [(_ELSEWHERE[alias], value)]
    if alias in ("disks", "drive"):
        return _drives(data, alias, value, place)
    if alias == "cache":
        return _cache(data, value, place)
    pool = only_pool(data)
    if pool is not None and alias in ("layout", "failed", "rebuilding", "state"):
        return _of_pool(data, pool, alias, value, place)
    array = ("arrays", _only_array(data, alias, place))
    if alias == "layout":
        if isinstance(value, str) and are_alike(value):
            return pool_for_array(data, array[1], _array_fields(data, array), value, place)
        return _layout(data, array, value)
    if alias == "state":
        return _state(array, "resync", value, place)
    if alias == "controller":
        return _controller(data, array, value)
    return [((*array, alias), value)]


def _state(at: tuple[str, str], work: str, value: Any, place: str) -> list[tuple[KeyPath, Any]]:
    """Which members of an array or a pool have failed; `work` is the key of what is done to rebuild them."""
    return [((*at, field), inner) for field, inner in state_fields(value, place, work).items()]


def state_fields(value: Any, place: str, work: str = "resync") -> dict[str, Any]:
    """The fields of an array or a pool in a state, None for those that it is without; `work` is as in :func:`_state`.

    Raises
    ------
    InputError
        If there is no such state.
    """
    if (
        work == "resync"
        and isinstance(value, Mapping)
        and set(value) == {_RESHAPING}
        and isinstance(value[_RESHAPING], Mapping)
    ):
        said = {_OLD.get(key, key): inner for key, inner in value[_RESHAPING].items()}
        return {"failed": None, "rebuilding": None, "bitmap": NONE, "resync": {"action": "reshape", **said}}
    if not isinstance(value, str) or value not in STATES:
        allowed = f"expected: {', '.join(STATES)}"
        if work == "resync":
            allowed += f" or {{{_RESHAPING}: {{from: {{members: 3}}, at: 40%}}}}"
        raise InputError(place, f"found {value!r}"[:80], allowed)
    failed, rebuilding = STATES[value]
    return {"failed": failed, "rebuilding": rebuilding} | ({work: None} if rebuilding is None else {})


def _drives(data: Mapping[Any, Any], alias: str, value: Any, place: str) -> list[tuple[KeyPath, Any]]:
    """The number of the drives, or the model of all of them."""
    key = "count" if alias == "disks" else "model"
    machine = data.get("machine")
    drives = machine.get("drives") if isinstance(machine, Mapping) else None
    if isinstance(drives, Mapping) and drives and not drives_in_short(drives):
        if key == "model":
            return [(("machine", "drives", name, "model"), value) for name in drives]
        found = f"the drives are listed one by one: {', '.join(map(str, drives))}"
        raise InputError(place, found[:200], "expected: with machine.drives: {model: ..., count: ...}")
    return [(("machine", "drives", key), value)]


def _of_pool(data: Mapping[Any, Any], pool: str, alias: str, value: Any, place: str) -> list[tuple[KeyPath, Any]]:
    """What the aliases that a pool has, too, change in a document with one pool and no array."""
    if alias == "layout" and isinstance(value, str) and are_alike(value):
        return [(("pools", pool, "vdevs"), value)]
    if alias == "layout":
        options = dict(value) if isinstance(value, Mapping) else {"level": value}
        return array_for_pool(data, pool, ONLY_ARRAY, options, place)
    if alias == "state":
        return _state(("pools", pool), "scan", value, place)
    return [(("pools", pool, alias), value)]


def _only_array(data: Mapping[Any, Any], alias: str, place: str) -> str:
    arrays = data.get("arrays") or {}
    if not isinstance(arrays, Mapping) or len(arrays) > 1:
        names = ", ".join(map(str, arrays)) if isinstance(arrays, Mapping) else "no mapping"
        key = "level" if alias in ("layout", "state") else alias
        raise InputError(place, f"there are several arrays: {names}", f"expected: arrays.NAME.{key}")
    return str(next(iter(arrays), ONLY_ARRAY))


def _cache(data: Mapping[Any, Any], value: Any, place: str) -> list[tuple[KeyPath, Any]]:
    """Another size, mode or kind of the only cache; or none, and what was on it is on the device that it caches."""
    caches = data.get("caches") or {}
    if not isinstance(caches, Mapping) or len(caches) != 1:
        found = f"there are several caches: {', '.join(map(str, caches))}" if caches else "there is no cache"
        raise InputError(place, found, "expected: a scenario with one cache, or caches.NAME.size")
    name, fields = next(iter(caches.items()))
    if value is not None and value != "none":
        return _of_cache(("caches", name), value)
    below = fields.get("on") if isinstance(fields, Mapping) else None
    changes: list[tuple[KeyPath, Any]] = [(("caches", name), None)]
    if isinstance(fields, Mapping):
        changes += _alone(data, name, fields)
    users: list[tuple[KeyPath, Any]] = [(("workload",), data.get("workload"))]
    users += [(("file_systems", each), inner) for each, inner in (data.get("file_systems") or {}).items()]
    for path, user in users:
        if isinstance(user, Mapping):
            changes += [((*path, key), _renamed(user[key], name, below)) for key in _USES if key in user]
    return changes


def _of_cache(at: tuple[str, Any], value: Any) -> list[tuple[KeyPath, Any]]:
    """What `200GiB bcache writeback` changes: each word is a kind, a mode, or else the size."""
    modes = {mode for of_kind in MODES.values() for mode in of_kind}
    changes: list[tuple[KeyPath, Any]] = []
    for word in value.split() if isinstance(value, str) else [value]:
        field = "kind" if word in MODES else "mode" if word in modes else "size"
        changes += [((*at, "mode"), None)] if field == "kind" else []
        changes.append(((*at, field), word))
    # A mode that is said belongs to the kind that is said, whichever comes first.
    return sorted(changes, key=lambda change: change[0][-1] == "mode" and change[1] is not None)


def _alone(data: Mapping[Any, Any], name: Any, fields: Mapping[Any, Any]) -> list[tuple[KeyPath, Any]]:
    """The drives by name that only the cache has, itself or as members of an array: they are not bought without it."""
    rest = {**data, "caches": {name: {**fields, "cache": None, "metadata": None}}}
    machine = data.get("machine")
    left: list[KeyPath] = []
    drives = machine.get("drives") if isinstance(machine, Mapping) else None
    if not isinstance(drives, Mapping) or drives_in_short(drives):
        return []
    arrays = data.get("arrays") or {}
    for part in (fields.get("cache"), fields.get("metadata")):
        members = arrays[part].get("members") if part in arrays and isinstance(arrays[part], Mapping) else None
        if isinstance(members, list) and not _names(rest, part):
            rest["arrays"] = {key: inner for key, inner in rest["arrays"].items() if key != part}
            left.append(("arrays", part))
        others = members if isinstance(members, list) else [part]
        left += [("machine", "drives", each) for each in others if each in drives and not _names(rest, each)]
    return [(path, None) for path in left]


def _names(value: Any, name: Any) -> bool:
    """Whether a value of a document names a device."""
    if isinstance(value, Mapping):
        return any(_names(inner, name) for inner in value.values())
    return value == name or (isinstance(value, list) and any(_names(inner, name) for inner in value))


def _renamed(value: Any, name: Any, below: Any) -> Any:
    """What names devices, with another one instead of `name`: a name, a list of them, or loads that have some."""
    if isinstance(value, list):
        return [_renamed(each, name, below) for each in value]
    if isinstance(value, Mapping):
        return {key: _renamed(inner, name, below) if key in _USES else inner for key, inner in value.items()}
    return below if value == name else value


def _controller(data: Mapping[Any, Any], array: tuple[str, str], value: Any) -> list[tuple[KeyPath, Any]]:
    """A controller, without what the kernel's arrays alone have; or the kernel."""
    if value is None or value == "none":
        return [((*array, "controller"), None)]
    left = [field for field in _array_fields(data, array) if field in (*KERNEL_OPTIONS, "algorithm", "journal")]
    return [*(((*array, field), None) for field in left), ((*array, "controller"), value)]


def _array_fields(data: Mapping[Any, Any], array: tuple[str, str]) -> Mapping[Any, Any]:
    given = (data.get("arrays") or {}).get(array[1])
    return given if isinstance(given, Mapping) else as_mapping(array, given) or {}


def _layout(data: Mapping[Any, Any], array: tuple[str, str], value: Any) -> list[tuple[KeyPath, Any]]:
    """Another level, without what belongs to the old one only; a mapping is a level with its options."""
    fields = _array_fields(data, array)
    options = dict(value) if isinstance(value, Mapping) else {"level": value}
    level = options.get("level", fields.get("level"))
    known = LEVELS.get(level) if isinstance(level, str) else None
    changes: list[tuple[KeyPath, Any]] = []
    for field in fields:
        elsewhere = field in level_options() and (known is None or field not in known.options)
        plain = known is not None and not known.is_redundant
        if field not in options and (field in _SHAPE or elsewhere or (field == "resync" and plain)):
            changes.append(((*array, field), None))
    return [*changes, *(((*array, field), inner) for field, inner in options.items())]
