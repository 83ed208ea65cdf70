"""The modelled kernel, the CPU core and the controller nearest to what was found."""

from __future__ import annotations

import re
from typing import Any

from ...model.controller.catalogue import controller, controller_names
from ...model.kernels import kernel_names
from .tools.findings import FoundController

NEWEST = "linux-6.1"
FREEBSD = "freebsd-6.2"

_VERSION = re.compile(r"(\d{1,2})\.(\d{1,3})(?:\.(\d{1,3}))?", re.ASCII)
_EPOCHS = (
    ((2, 2), 1999.07, 0.05),
    ((2, 4), 2001.0, 0.11),
    ((2, 6), 2003.96, 0.19),
    ((3, 0), 2011.55, 0.19),
    ((4, 0), 2015.28, 0.19),
    ((5, 0), 2019.17, 0.175),
    ((6, 0), 2022.75, 0.175),
    ((7, 0), 2026.2, 0.175),
)
"""When a series of Linux began, and the years between two of its releases (kernel.org)."""
_USUAL_2_4 = 17
"""Third number of a 2.4 that is not told: before 2.4.10 memory was another, and few stayed with it."""
_SMALL_CORES = re.compile(
    r"Celeron|Atom|Pentium\(R\) Silver|\bN\d{2,4}\b|Cortex|\bARM|Raspberry|Annapurna", re.IGNORECASE
)
_OLD_CORES = re.compile(
    r"Pentium (?:II|III|4|M)\b|Pentium\(R\) (?:III|4|M)\b|Athlon|Opteron\(tm\) Processor \d{3}\b|Xeon\(TM\)|Duron"
    r"|Sempron"
)


def nearest_kernel(release: str) -> str:
    """The modelled kernel that came out nearest to a release ("5.10.0-8-amd64"), of its series if there is one."""
    if release.startswith("FreeBSD"):
        return FREEBSD
    when = _released(release)
    linux = [name for name in kernel_names() if name.startswith("linux-") and _may_be(name, release)]
    if when is None:
        return NEWEST
    server = "-server" in release

    def distance(name: str) -> tuple[bool, float, bool, bool, str]:
        other, away = _series(name) != _series(release), abs((_released(name) or 0.0) - when)
        return other, away, not _is_patched(name), name.endswith("-server") != server, name

    return min(linux, key=distance)


def _is_patched(name: str) -> bool:
    """Whether a modelled kernel is not one of kernel.org."""
    return "-" in name.removeprefix("linux-").removesuffix("-server")


def _may_be(name: str, release: str) -> bool:
    """Whether a modelled kernel is one of kernel.org, or a patched one whose release this is."""
    return not _is_patched(name) or re.match(rf"{re.escape(name.removeprefix('linux-'))}(?!\d)", release) is not None


def _series(release: str) -> tuple[str, str]:
    """What a release belongs to: 2.4 and 2.6 are far apart, 6.1 and 6.12 are not."""
    match = _VERSION.search(release)
    assert match is not None
    return match[1], match[2] if match[1] == "2" else ""


def _released(release: str) -> float | None:
    """About when, in years."""
    match = _VERSION.search(release)
    if match is None:
        return None
    major, minor = int(match[1]), int(match[2])
    patch = int(match[3] or (_USUAL_2_4 if (major, minor) == (2, 4) else 0))
    if major == 2:
        for (first, second), began, step in _EPOCHS[:3]:
            if (first, second) == (major, minor):
                return began + step * patch
        return _EPOCHS[0][1] if minor < 4 else _EPOCHS[2][1]
    for (first, _), began, step in _EPOCHS[3:]:
        if first == major:
            return began + step * minor
    return _EPOCHS[-1][1] if major > 2 else _EPOCHS[0][1]


def is_of_today(kernel: str) -> bool:
    """Whether a modelled kernel runs on machines of today."""
    return kernel.startswith("linux-6")


def nearest_cpu(name: str | None, kernel: str) -> str:
    """The core of the catalogue whose prices are nearest."""
    if name is not None and _OLD_CORES.search(name):
        return "core-2004"
    if name is not None and _SMALL_CORES.search(name):
        return "nas-core"
    old = name is None and not is_of_today(kernel)
    return "core-2004" if old else "server-core"


def nearest_controller(found: FoundController, drives: int, levels: set[str]) -> tuple[str, dict[str, Any], str]:
    """The catalogue's controller, what is different in this one, and how it was chosen.

    Parameters
    ----------
    found
        The controller.
    drives
        How many it has.
    levels
        Those of its arrays.
    """
    product = found.product.value if found.product is not None else ""
    numbers = set(re.findall(r"\w*\d{3,}\w*", product))
    name = next((each for each in controller_names() if numbers & set(each.split("-"))), "LSI-9260-8i")
    entry = controller(name)
    exact = bool(numbers & set(name.split("-")))
    overrides: dict[str, Any] = {}
    if product and not exact:
        overrides["model"] = product
    if found.cache is not None and found.cache.value != entry.cache:
        overrides["cache"] = _size(found.cache.value)
    elif found.memory is not None and not exact:
        overrides["cache"] = _size(int(found.memory.value * _USED_SHARE) >> 20 << 20)
    for field, fact in (
        ("write_policy", found.write_policy),
        ("battery", found.battery),
        ("forced_write_back", found.forced),
        ("keeps_reads", found.keeps_reads),
    ):
        if fact is not None and fact.value != getattr(entry, field):
            overrides[field] = fact.value
    if found.reads_ahead is not None and not found.reads_ahead.value:
        overrides["read_ahead_rows"] = 0
    if found.interface is not None and found.interface.value in _PORTS and found.interface.value != "SAS-6G":
        overrides["drive_interface"], overrides["drive_rate"] = _PORTS[found.interface.value]
    if drives > entry.ports:
        overrides["ports"] = drives
    missing = sorted(levels - set(entry.levels))
    if missing:
        overrides["levels"] = [*entry.levels, *missing]
    why = "" if exact else f"the catalogue's {name} is the nearest; its processor stands in"
    return name, overrides, why


_USED_SHARE = 397 / 512
"""Of the memory on a MegaRAID board the firmware keeps so much as cache (LSI-9260-8i in the catalogue)."""
_PORTS = {
    "SAS-3G": ("SAS 3Gb/s", "300MB/s"),
    "SAS-6G": ("SAS 6Gb/s", "600MB/s"),
    "SAS-12G": ("SAS 12Gb/s", "1200MB/s"),
}


def _size(size: int) -> str:
    return f"{size >> 20}MiB" if size >= 1 << 20 and not size % (1 << 20) else f"{size}B"
