"""From a recording of a cache to the model's device: the table of the device mapper says how it was set up."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

from ....model.cache.bcache.cached_device import Bcache
from ....model.cache.device import CacheDevice
from ....model.cache.dm_cache.target import DmCache
from ....model.cache.settings import BcacheMode, BcacheSettings, CacheMode, DmCacheSettings, WritecacheSettings
from ....model.cache.writecache.target import Writecache
from ....model.core.device import Device
from ....model.core.engine import Engine
from ....model.tasks.host import Host
from ..base import NotSupported

SECTOR = 512
Build = Callable[[Engine, Sequence[Device], Host], CacheDevice]


def build_of(content: Mapping[str, Any], place: str) -> Build:
    """What makes the cached device of a recording.

    Raises
    ------
    NotSupported
        If it is set up as the model has it not.
    """
    if str(content["tables"]).startswith("cache_mode"):
        return _bcache(str(content["tables"]), str(content.get("created", "")), place)
    words = str(content["tables"]).split()
    if len(words) > 2 and words[2] == "cache":
        return _dm_cache(words[3:], place)
    if len(words) > 2 and words[2] == "writecache":
        return _writecache(words[3:], place)
    raise NotSupported(place, f"table {content['tables']!r}"[:90], "expected: one of cache, writecache or bcache")


def build_of_jobs(content: Mapping[str, Any], variant: str, place: str) -> Build:
    """What makes the cached device of recorded jobs: the description says it in words, and the variant the mode.

    Raises
    ------
    NotSupported
        If it is set up as the model has it not.
    """
    tables = str(content["tables"])
    kind, _, mode = variant.rpartition("_")
    if kind == "bcache":
        settings = "\n".join(json.loads(tables[tables.index("{") :])[variant])
        return _bcache(settings, tables, place)
    blocks = re.search(r"dm-cache: (\d+) KiB blocks, smq", tables)
    if kind != "cache" or blocks is None:
        raise NotSupported(place, f"{variant}, {tables!r}"[:90], "expected: dm-cache with smq, or bcache")
    return _dm_cache(f"- - - {int(blocks[1]) * 2} 1 {mode} smq 0".split(), place)


def _dm_cache(words: Sequence[str], place: str) -> Build:
    """``METADATA CACHE ORIGIN BLOCK #FEATURES [FEATURES] POLICY #ARGUMENTS [ARGUMENTS]``."""
    block, features = int(words[3]) * SECTOR, words[5 : 5 + int(words[4])]
    policy, arguments = words[5 + len(features)], words[7 + len(features) :]
    options = dict(zip(arguments[::2], arguments[1::2], strict=False))
    modes = [feature for feature in features if feature in get_args(CacheMode)]
    unknown = [feature for feature in features if feature not in (*modes, "metadata2", "no_discard_passdown")]
    unknown += [name for name in options if name != "migration_threshold"]
    if policy not in ("smq", "mq", "default") or unknown:
        found = f"policy {policy}, {', '.join(unknown) or 'no option'}"
        raise NotSupported(place, found, "expected: smq with a mode and a migration_threshold")
    threshold = int(options.get("migration_threshold", 2048)) * SECTOR
    mode: CacheMode = next((known for known in get_args(CacheMode) if known in modes), "writeback")

    def build(engine: Engine, devices: Sequence[Device], host: Host) -> DmCache:
        settings = DmCacheSettings(block, mode, threshold)
        return DmCache(engine, "cache", devices[:2], devices[2], host, settings)

    return build


def _writecache(words: Sequence[str], place: str) -> Build:
    """``s ORIGIN CACHE BLOCK #OPTIONS [OPTIONS]``."""
    options = dict(zip(words[5::2], words[6::2], strict=False))
    known = {"high_watermark", "low_watermark", "autocommit_blocks", "autocommit_time", "pause_writeback"}
    unknown = [name for name in options if name not in known]
    if words[0] != "s" or unknown:
        found = f"mode {words[0]}, {', '.join(unknown) or 'no option'}"
        raise NotSupported(place, found, f"expected: s with {', '.join(sorted(known))}")
    usual = WritecacheSettings()
    settings = WritecacheSettings(
        int(words[3]),
        int(options.get("high_watermark", 50)) / 100,
        int(options.get("low_watermark", 45)) / 100,
        int(options.get("autocommit_blocks", usual.autocommit_blocks)),
        int(options.get("autocommit_time", 1000)) / 1000,
        int(options.get("pause_writeback", 3000)) / 1000,
    )
    return lambda engine, devices, host: Writecache(engine, "cache", devices[:2], host, settings)


def _bcache(settings: str, created: str, place: str) -> Build:
    """The settings of sysfs, and the options of make-bcache."""
    found = dict(line.split(maxsplit=1) for line in settings.splitlines() if " " in line)
    made = re.search(r"--block (\S+) --bucket (\S+?)[, ]", f"{created} ")
    mode = next((known for known in get_args(BcacheMode) if f"[{known}]" in found["cache_mode"]), None)
    if made is None or mode is None:
        raise NotSupported(place, f"cache_mode {found['cache_mode']}, {created}", "expected: --block and --bucket")
    known = BcacheSettings(
        _bytes(made[1]),
        _bytes(made[2]),
        mode,
        _bytes(found["sequential_cutoff"]),
        int(found["writeback_percent"]),
        float(found["writeback_delay"]),
    )
    return lambda engine, devices, host: Bcache(engine, "cache", devices[:2], host, known)


def _bytes(text: str) -> int:
    units = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
    number, unit = text.rstrip("kKmMgG"), text[-1].lower()
    return int(float(number) * units.get(unit, 1))
