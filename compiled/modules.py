"""Which modules are compiled: what runs for every I/O, and with a class all that it inherits from or that inherit it.

A class written in Python cannot inherit from a compiled one, so a family of classes is compiled as a whole.
Descriptions (pydantic) and what runs once a scenario stay in Python.
"""

from __future__ import annotations

from .loader import ROOT

FOLDERS = (
    *(
        "block",
        "cache",
        "cache/bcache",
        "cache/dm_cache",
        "cache/writecache",
        "controller",
        "core",
        "crypt",
        "disk",
        "disk/actuators",
        "disk/mechanics",
    ),
    *("file_system", "layouts", "loads"),
    *("memory", "network", "process", "readahead", "schedulers", "solid_state", "tasks", "waits"),
    *("raid/base", "raid/metadata", "raid/mirrors", "raid/parity", "raid/parity_6_1", "raid/parity_until_4_0"),
    *("raid/read_balance", "raid/reshape", "raid/striped", "raid/stripes"),
    *("zfs/allocation", "zfs/arc", "zfs/cpu", "zfs/pool", "zfs/records", "zfs/scan"),
)
"""Folders of the model, compiled but for `EXCEPTIONS`."""
EXCEPTIONS = (
    *("controller.catalogue", "controller.settings"),
    *("cache.settings", "cache.warm"),
    *("core.brent", "core.discard", "core.errors", "core.exact_sums", "core.fixed_service"),
    *("crypt.ciphers", "disk.spec", "disk.mechanics.zone_spec"),
    "file_system.settings",
    *("layouts.bytes_array", "layouts.chart", "layouts.factory", "layouts.levels", "layouts.parity_bytes"),
    *("loads.dd", "memory.dirty_balance", "memory.pipe", "memory.settings"),
    *("network.protocols", "raid.mirrors.discard_ranges"),
    "raid.metadata.standing_bits",
    *("raid.parity.discards", "raid.parity_until_4_0.row_locks", "raid.parity_until_4_0.waiting_readers"),
    *("raid.read_balance.gmirror_options", "raid.read_balance.options", "raid.stripes.settings"),
    "schedulers.settings",
    *("solid_state.spec", "solid_state.standing_load", "solid_state.steady_state"),
    *("zfs.arc.settings", "zfs.cpu.costs", "zfs.cpu.rates", "zfs.pool.pool", "zfs.pool.settings"),
    *("zfs.scan.begin", "zfs.scan.settings"),
)
ALONE = (
    *("links.link", "programs.copying", "programs.file_io", "programs.operation"),
    "statistics.latency_histogram",
    *("zfs.map.draid", "zfs.map.labels", "zfs.map.mirror", "zfs.map.pool", "zfs.map.raidz", "zfs.map.vdev"),
)
"""Modules of folders that are not compiled otherwise."""


def _modules() -> tuple[str, ...]:
    found = {
        f"{folder.replace('/', '.')}.{path.stem}"
        for folder in FOLDERS
        for path in (ROOT / "model" / folder).glob("*.py")
    }
    kept = {name for name in found if not name.endswith(".__init__")} - set(EXCEPTIONS) | set(ALONE)
    return tuple(sorted(f"model.{name}" for name in kept))


MODULES = _modules()
"""Their names below ``raidsim``."""
