"""The SSD caches of a scenario, and the logical volumes of several devices below them."""

from __future__ import annotations

from ...scenarios.description.caches import MODES
from .chosen import ChosenCache, Selection
from .commented_yaml import Mapping, size_text

_SIZES = ("size", "block_size", "migration_threshold", "bucket_size", "sequential_cutoff")
_TIMES = ("autocommit_time", "pause_writeback", "writeback_delay")
_MODE_TELLS = {
    "dm-cache": "LVM's usual mode; lvs -o +cache_mode tells it",
    "bcache": "bcache's usual mode; /sys/block/bcache0/bcache/cache_mode tells it",
}


def put_joined(volumes: Mapping, selection: Selection) -> None:
    """Write down the volumes of several devices."""
    for name, joined in selection.joined.items():
        value = {"kind": "linear" if joined.stripe is None else "striped", "on": list(joined.on)}
        stripe = {"stripe": size_text(joined.stripe)} if joined.stripe is not None else {}
        volumes.put(name, {**value, **stripe}, joined.where)


def put_caches(top: Mapping, selection: Selection) -> None:
    """Write down the caches, each value with where it was found or why it is assumed."""
    if not selection.caches:
        return
    caches = top.inner("caches")
    for name, chosen in selection.caches.items():
        _put_cache(caches.inner(name, chosen.found.where), chosen)


def _put_cache(inside: Mapping, chosen: ChosenCache) -> None:
    found, fields = chosen.found, chosen.fields
    for key, value in fields.items():
        said = size_text(value) if key in _SIZES else f"{value:g}s" if key in _TIMES else value
        option = found.options.get(key)
        named = dict(zip(("on", "cache", "metadata"), found.named, strict=True)).get(key)
        fast = found.named[1] if key == "size" else None
        fact = option or named or fast or found.kind
        where = fact.where
        inside.put(key, said, where)
        if key == "kind" and "mode" not in fields and found.kind.value in _MODE_TELLS:
            inside.put("mode", MODES[found.kind.value][0], assumed=_MODE_TELLS[found.kind.value])  # type: ignore[index]
