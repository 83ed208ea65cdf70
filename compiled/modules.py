"""Which modules are compiled: what runs for every I/O, and with a class all that it inherits from or that inherit it.

A class written in Python cannot inherit from a compiled one, so a family of classes is compiled as a whole.
Descriptions (pydantic) and what runs once a scenario stay in Python.
"""

from __future__ import annotations

from .loader import ROOT

FOLDERS = (
    *(
        "block",
        "core",
        "disk",
        "disk/actuators",
        "file_system",
        "layouts",
        "memory",
        "process",
        "readahead",
        "schedulers",
        "solid_state",
        "tasks",
    ),
    *("raid/base", "raid/metadata", "raid/mirrors", "raid/parity", "raid/parity_6_1", "raid/parity_until_4_0"),
    *("raid/striped", "raid/stripes"),
)
"""Folders of the model, compiled but for `EXCEPTIONS`."""
EXCEPTIONS = (
    *("core.brent", "core.discard", "core.errors", "core.exact_sums", "core.fixed_service"),
    "disk.spec",
    "file_system.settings",
    *("layouts.bytes_array", "layouts.chart", "layouts.factory", "layouts.levels", "layouts.parity_bytes"),
    *("memory.dirty_balance", "memory.pipe", "memory.settings"),
    *("raid.base.io_limit", "raid.metadata.journal", "raid.mirrors.discard_ranges"),
    *("raid.parity.discards", "raid.parity_until_4_0.row_locks", "raid.parity_until_4_0.waiting_readers"),
    "raid.stripes.settings",
    "schedulers.settings",
    *("solid_state.placement", "solid_state.spec", "solid_state.standing_load", "solid_state.steady_state"),
    *("tasks.io_call_price", "tasks.writer_turns"),
)
ALONE = (
    *(
        "controller.drive_queue",
        "controller.firmware",
        "links.link",
        "loads.closed_loop",
        "loads.direct_load",
        "loads.open_load",
        "loads.thinking_load",
        "raid.read_balance.ataraid",
        "raid.read_balance.base",
        "raid.read_balance.linux24",
        "raid.read_balance.linux26",
        "raid.read_balance.linux61",
        "raid.read_balance.primary",
    ),
    *("loads.trace_load", "loads.user_threads", "statistics.latency_histogram"),
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
