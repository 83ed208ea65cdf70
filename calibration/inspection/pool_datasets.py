"""Which volumes and files of a pool are simulated: the largest that zfs list or zfs get names.

What the others take is left as used space. A file system is a file as large as its data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...scenarios.description.pools import DatasetSpec, PoolSpec
from .chosen import ChosenPool
from .commented_yaml import size_text
from .tools.found_pools import FoundDataset

_MOST = 4
"""Volumes and files of a pool."""
_LEAST = 64 << 20
"""Bytes of one that is simulated."""
_MIB = 1 << 20
_OTHERS = ("sync", "logbias", "primarycache", "atime", "special_small_blocks")
_ROOM = 0.98
"""Share of the pool that volumes and files may take: sizes are rounded."""
_HALF = 0.5
"""Share of a pool that is assumed to be taken."""
_REST = "all"
"""Size of a volume or file that takes what the others leave."""
_ALONE = "data"
"""What a file is called that has all data, or those of the pool's own file system."""


def choose_datasets(pool: ChosenPool, known: dict[str, FoundDataset], size_of: Callable[[str], int]) -> list[str]:
    """Give a pool its volumes and files, and the share that other data take.

    Parameters
    ----------
    pool
        Gets them.
    known
        All that was found of any pool.
    size_of
        Gives the bytes of a device.

    Returns
    -------
    notes
        What was left out.
    """
    name = pool.found.name
    taken = _allocated(pool, known)
    own = [each for each in known.values() if each.name == name or each.name.startswith(f"{name}/")]
    sized = sorted(((fields_of(each), each) for each in own), key=lambda pair: -_stored(pair[0]))
    sized = [pair for pair in sized if _bytes(pair[0]) >= _LEAST]
    left, notes = _ROOM, list[str]()
    for fields, dataset in sized[:_MOST]:
        share = _share(pool, fields, size_of)
        if share > left and pool.datasets:
            continue
        if share > left:
            key = "volume" if "volume" in fields else "file"
            fields[key] = int(_bytes(fields) * left / share) // _MIB * _MIB
            less = size_text(fields[key])
            notes.append(f"{dataset.name} ({dataset.where}) is larger than its pool; it has {less} here")
            share = left
        short = dataset.name.removeprefix(f"{name}/").replace("/", "-") if dataset.name != name else _ALONE
        pool.datasets[short] = (fields, dataset)
        left -= share
    others = len(sized) - len(pool.datasets)
    if others > 0:
        notes.append(f"{name}: {others} smaller volumes and file systems are simulated as used space only")
    if pool.datasets:
        pool.used = max(0.0, min((taken or 0.0) - (_ROOM - left), left))
        return notes
    whole = PoolSpec.model_validate({"vdevs": pool.vdevs, "ashift": pool.ashift, "datasets": {_ALONE: {"file": _REST}}})
    share = min(taken if taken is not None else _HALF, _ROOM)
    pool.datasets[_ALONE] = ({"file": max(int(share * whole.size(_ALONE, size_of)) // _MIB * _MIB, _MIB)}, None)
    return notes


def _allocated(pool: ChosenPool, known: dict[str, FoundDataset]) -> float | None:
    """Share of the pool that is taken; None if nothing tells it."""
    found, root = pool.found, known.get(pool.found.name)
    if found.raw_size is not None and found.allocated is not None and found.raw_size.value:
        return min(1.0, found.allocated.value / found.raw_size.value)
    if found.capacity is not None:
        return found.capacity.value
    if root is not None and root.used is not None and root.available is not None and root.used.value:
        return root.used.value / (root.used.value + root.available.value)
    return None


def fields_of(found: FoundDataset) -> dict[str, Any]:
    """What a scenario says of a dataset; sizes in bytes."""
    ratio = max(1.0, found.compressratio.value) if found.compressratio is not None else 1.0
    holds = found.referenced or found.used
    held = int(holds.value * ratio) // _MIB * _MIB if holds is not None else 0
    if found.volsize is not None or found.is_volume is not None:
        fields: dict[str, Any] = {"volume": found.volsize.value if found.volsize is not None else held}
        blocks = {"volblocksize": found.volblocksize}
    else:
        fields, blocks = {"file": held}, {"recordsize": found.recordsize}
    given = {key: fact.value for key, fact in blocks.items() if fact is not None}
    for key in _OTHERS:
        fact = getattr(found, key)
        if fact is not None and fact.value != DatasetSpec.model_fields[key].default:
            given[key] = fact.value
    return {**fields, **given, **({"compression": ratio} if ratio > 1.0 else {})}


def _bytes(fields: dict[str, Any]) -> int:
    return int(fields.get("volume", fields.get("file", 0)))


def _stored(fields: dict[str, Any]) -> float:
    return _bytes(fields) / float(fields.get("compression", 1.0))


def _share(pool: ChosenPool, fields: dict[str, Any], size_of: Callable[[str], int]) -> float:
    """Share of the empty pool that it takes."""
    key = "volume" if "volume" in fields else "file"
    alone = {"vdevs": pool.vdevs, "ashift": pool.ashift, "datasets": {_ALONE: {**fields, key: _REST}}}
    return _bytes(fields) / max(PoolSpec.model_validate(alone).size(_ALONE, size_of), 1)
