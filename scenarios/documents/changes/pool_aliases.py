"""`layout=raidz2` where an array is, and `layout=raid6` where a pool is: one in the place of the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ....model.core.errors import InputError
from ....model.files.yaml_files import KeyPath
from ....model.zfs.map.words import DATA, MIRRORS, are_alike, shared_out, vdev_words

POOL, VOLUME = "tank", "data"
"""What a pool and its volume are called that come in place of an array."""
POOL_LAYOUTS = (MIRRORS, "raidz1", "raidz2", "raidz3", "draid2")
"""What `layout` may be for a pool; also several vdevs ("2 x raidz2") and dRAID with its columns and spares."""
Changes = list[tuple[KeyPath, Any]]
_STATE = ("failed", "rebuilding")
"""Fields that a pool and an array have."""
_NAMES = ("on", "target", "targets")
"""Fields that name devices."""


def only_pool(data: Mapping[Any, Any]) -> str | None:
    """The pool of a document that has no array; None if there is none, or several."""
    pools = data.get("pools")
    if data.get("arrays") or not isinstance(pools, Mapping) or len(pools) != 1:
        return None
    return str(next(iter(pools)))


def pool_for_array(data: Mapping[Any, Any], name: str, array: Mapping[Any, Any], layout: str, place: str) -> Changes:
    """A pool of the array's drives with one volume of all its space, and on that what was on the array."""
    members, spares = array.get("members"), array.get("spares")
    for field, given in (("members", members), ("spares", spares)):
        if given is not None and not isinstance(given, list):
            found = f"{given!r} {field} of {name}, of which it is not known which they are"
            raise InputError(place, found[:200], f"expected: their names in arrays.{name}.{field}, or an array of all")
    pool: dict[str, Any] = {"vdevs": layout} if members is None else pool_of(layout, members, spares or (), place)
    pool["datasets"] = {VOLUME: {"volume": "all"}}
    pool |= {field: array[field] for field in _STATE if array.get(field) is not None}
    return [(("arrays", name), None), (("pools", POOL), pool), *_renamed(data, name, f"{POOL}/{VOLUME}", ())]


def pool_of(layout: str, members: Sequence[object], spares: Sequence[object], place: str) -> dict[str, Any]:
    """A pool whose vdevs share out its members, with hot spares."""
    try:
        words = shared_out(layout, list(map(str, members))) or layout
    except InputError as error:
        raise InputError(place, error.found, error.expected) from None
    return {"vdevs": " ".join((words, "spare", *map(str, spares))) if spares else words}


def array_for_pool(data: Mapping[Any, Any], name: str, array: str, options: Mapping[str, Any], place: str) -> Changes:
    """An array of the drives of the pool's data, and on that what was on its one volume or file."""
    given = data["pools"][name]
    pool = given if isinstance(given, Mapping) else {"vdevs": given}
    datasets = pool.get("datasets")
    if not isinstance(datasets, Mapping) or len(datasets) != 1:
        found = f"{name} has {len(datasets or ())} volumes and files"
        raise InputError(place, found, "expected: one, whose place an array can take")
    level = dict(options)
    vdevs = pool.get("vdevs")
    if not (isinstance(vdevs, str) and are_alike(vdevs)):
        level["members"] = [member for use, of_vdev in members_of(vdevs) if use == DATA for member in of_vdev]
    level |= {field: pool[field] for field in _STATE if pool.get(field) is not None}
    volume = f"{name}/{next(iter(datasets))}"
    return [(("pools", name), None), (("arrays", array), level), *_renamed(data, volume, array, ())]


def members_of(vdevs: object) -> Iterator[tuple[str, list[Any]]]:
    """(use, members) of each vdev, given in words or one by one; `InputError` if the words have no meaning."""
    if isinstance(vdevs, str):
        yield from ((each.use, list(each.members)) for each in vdev_words(vdevs.split()))
    elif isinstance(vdevs, list):
        for each in vdevs:
            members = each.get("members") if isinstance(each, Mapping) else None
            if isinstance(members, list):
                yield each.get("use", DATA), members


def _renamed(data: Any, old: str, new: str, path: KeyPath) -> Iterator[tuple[KeyPath, Any]]:
    """What makes every field that names the device `old` name `new`."""
    if isinstance(data, list):
        for number, inner in enumerate(data):
            yield from _renamed(inner, old, new, (*path, number))
    elif isinstance(data, Mapping):
        for key, inner in data.items():
            if key in _NAMES and inner == old:
                yield (*path, key), new
            elif key in _NAMES and isinstance(inner, list) and old in inner:
                yield (*path, key), [new if each == old else each for each in inner]
            else:
                yield from _renamed(inner, old, new, (*path, key))
