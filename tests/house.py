"""The house: which folder stands on which floor, and what every module imports.

A folder imports only what stands on a lower floor. `tests/test_arrows.py` checks it, and the picture in
`docs/architecture.md` is drawn from it.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import raidsim

ROOT = Path(raidsim.__file__).parent
TOP = ("compiled", "model", "scenarios", "calibration", "validation", "api", "serve", "cli", "web")
FLOORS: tuple[tuple[str, ...], ...] = (
    ("compiled",),
    ("model/waits",),
    ("model/core",),
    ("model/files",),
    ("model/schedulers", "model/readahead", "model/disk/mechanics"),
    ("model/layouts", "model/links", "model/tasks", "model/programs", "model/zfs/map", "model/zfs/arc"),
    (
        *("model/statistics", "model/disk", "model/block", "model/network", "model/programs/fio"),
        *("model/zfs/intent_log", "model/zfs/allocation", "model/zfs/cpu"),
    ),
    (
        "model/disk/actuators",
        "model/solid_state",
        "model/raid/base",
        "model/raid/read_balance",
        "model/raid/metadata",
        "model/raid/stripes",
        "model/zfs/records",
    ),
    ("model/raid/mirrors", "model/raid/parity_until_4_0", "model/raid/parity_6_1", "model/zfs/pool"),
    ("model/raid/striped", "model/raid/parity", "model/zfs/scan"),
    ("model/raid/resync", "model/raid/reshape"),
    ("model/drives", "model/controller", "model/memory"),
    ("model/crypt", "model/file_system", "model/loads"),
    ("model/cache",),
    ("model/cache/dm_cache", "model/cache/writecache", "model/cache/bcache"),
    ("model/kernels", "model/process", "model/fio"),
    ("scenarios/pictures", "scenarios/workers", "scenarios/traces/formats", "scenarios/programs"),
    ("scenarios/traces", "scenarios/description"),
    ("scenarios/documents/changes",),
    ("scenarios/documents", "scenarios/machine"),
    ("scenarios/designs", "scenarios/running/base"),
    ("scenarios/fio",),
    ("scenarios/fio/output",),
    ("scenarios/running",),
    ("scenarios/questions", "scenarios/timeline", "scenarios/traces/replay"),
    ("scenarios/comparison", "scenarios/sweeps"),
    ("scenarios/advice/bounds",),
    ("scenarios/advice",),
    ("calibration/text",),
    ("calibration/formats/benchmarks", "calibration/formats/monitors"),
    ("calibration/formats",),
    ("calibration/inspection/tools",),
    ("calibration/inspection/tools/volumes",),
    (
        *("calibration/inspection/tools/controllers", "calibration/inspection/tools/drives"),
        *("calibration/inspection/tools/host", "calibration/inspection/tools/md", "calibration/inspection/tools/zfs"),
    ),
    ("calibration/measurement", "calibration/inspection/matching"),
    ("calibration/inspection", "calibration/study"),
    ("calibration/simulation", "calibration/fio_study"),
    ("calibration/fit", "calibration/sensitivity"),
    ("calibration/uncertainty",),
    ("calibration/learning",),
    ("calibration/diagnosis",),
    ("validation/conformance", "validation/drives"),
    ("validation/conformance/md",),
    (
        "validation/conformance/file_systems",
        "validation/conformance/rebuilds",
        "validation/conformance/workloads",
        "validation/conformance/pools",
        "validation/conformance/caches",
        "validation/conformance/zfs",
        "validation/prediction",
    ),
    ("validation/report", "validation/laws", "validation/few_shot"),
    ("validation/drift", "validation/laws/hunting"),
    ("api/answer",),
    ("api/support",),
    ("api/tables/parts",),
    ("api/pictures", "api/tables"),
    ("api", "serve"),
    ("cli/support", "web/form"),
    ("web/work",),
    ("web/figures",),
    ("web/views",),
    ("cli/commands", "cli/checking", "cli/serving", "web"),
    ("cli",),
)
"""Folders with code, from the bottom up. The face `web` imports nothing of `cli`, nor `cli` of `web`."""
ITEMS = (
    *("cli/commands", "model/programs", "model/schedulers", "scenarios/traces/formats", "scenarios/programs"),
    *("calibration/formats/benchmarks", "api", "api/tables"),
)
"""Folders with one item a file: a command, a program, a scheduler, a format, a tool, a question of the public API
or its answer."""
ABSOLUTE = "absolute"
API = ""


def sources(root: Path = ROOT) -> dict[str, Path]:
    """Every module below the top folders, by its dotted name without the package's."""
    found = {}
    for folder in TOP:
        for path in sorted((root / folder).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(name: str, path: Path, modules: dict[str, Path]) -> Iterator[tuple[int, str]]:
    """(line, module) of each import from the package itself, also inside functions.

    Instead of a module: `ABSOLUTE` for an absolute import of the package, `API` for its root.
    """
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "raidsim":
                    yield node.lineno, ABSOLUTE
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0:
                if (node.module or "").split(".")[0] == "raidsim":
                    yield node.lineno, ABSOLUTE
                continue
            base = package[: len(package) - node.level + 1]
            target = ".".join([*base, *(node.module or "").split(".")]).strip(".")
            for alias in node.names:
                inner = f"{target}.{alias.name}".strip(".")
                # "from .x import y" needs y itself if that is a module, and x's own file otherwise.
                yield node.lineno, inner if inner in modules or inner in TOP else target


def folder_of(module: str, modules: dict[str, Path], root: Path = ROOT) -> str:
    """The folder that a module's file lies in; for a module that is not there, what its name says."""
    path = modules.get(module)
    return module.replace(".", "/") if path is None else path.parent.relative_to(root).as_posix()


def arrows(root: Path = ROOT) -> dict[tuple[str, str], int]:
    """(importing folder, imported folder) -> number of imports."""
    modules = sources(root)
    found: dict[tuple[str, str], int] = defaultdict(int)
    for name, path in modules.items():
        mine = folder_of(name, modules, root)
        for _, target in imports(name, path, modules):
            if target not in (ABSOLUTE, API) and folder_of(target, modules, root) != mine:
                found[mine, folder_of(target, modules, root)] += 1
    return dict(found)
