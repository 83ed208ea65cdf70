"""The modeled kernel, the CPU core and the controller nearest to what was found."""

from __future__ import annotations

import re
from typing import Any

from ....model.controller.catalogue import controller, controller_names
from ....model.kernels import distributions, kernel_names
from ....model.kernels.distributions import of_build
from ....model.kernels.releases import released, series
from ..tools.findings import FoundController

NEWEST = "linux-6.1"
FREEBSD = "freebsd-6.2"

_SMALL_CORES = re.compile(
    r"Celeron|Atom|Pentium\(R\) Silver|\bN\d{2,4}\b|Cortex|\bARM|Raspberry|Annapurna", re.IGNORECASE
)
_OLD_CORES = re.compile(
    r"Pentium (?:II|III|4|M)\b|Pentium\(R\) (?:III|4|M)\b|Athlon|Opteron\(tm\) Processor \d{3}\b|Xeon\(TM\)|Duron"
    r"|Sempron"
)


def nearest_kernel(release: str) -> str:
    """The modeled kernel nearest to a release ("5.10.0-8-amd64").

    A build of RHEL means that distribution; others are the one that came out nearest, of their series if
    there is one.
    """
    if release.startswith("FreeBSD"):
        return FREEBSD
    distribution = of_build(release)
    if distribution is not None:
        return distributions()[distribution].kernel
    when = released(release)
    linux = [name for name in kernel_names() if name.startswith("linux-") and _may_be(name, release)]
    if when is None:
        return NEWEST
    server = "-server" in release

    def distance(name: str) -> tuple[bool, float, bool, bool, str]:
        other, away = series(name) != series(release), abs((released(name) or 0.0) - when)
        return other, away, not _is_patched(name), name.endswith("-server") != server, name

    return min(linux, key=distance)


def _is_patched(name: str) -> bool:
    """Whether a modeled kernel is not one of kernel.org."""
    return "-" in name.removeprefix("linux-").removesuffix("-server")


def _may_be(name: str, release: str) -> bool:
    """Whether a modeled kernel is one of kernel.org, or a patched one whose release this is."""
    return not _is_patched(name) or re.match(rf"{re.escape(name.removeprefix('linux-'))}(?!\d)", release) is not None


def is_of_today(kernel: str) -> bool:
    """Whether a modeled kernel runs on machines of today: Linux from 3 on."""
    return kernel.startswith("linux-") and not kernel.startswith("linux-2.")


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
    made = [each for each in controller_names() if each.startswith(_MAKERS) and product.startswith(each.split("-")[0])]
    names = [each for each in controller_names() if numbers & set(each.split("-"))] or made
    name = names[0] if names else "LSI-9260-8i"
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


_MAKERS = ("Adaptec", "3ware")
"""Whose controllers have firmware of their own: one of them is nearer than MegaRAID."""
_USED_SHARE = 397 / 512
"""Of the memory on a MegaRAID board the firmware keeps so much as cache (LSI-9260-8i in the catalogue)."""
_PORTS = {
    "SAS-3G": ("SAS 3Gb/s", "300MB/s"),
    "SAS-6G": ("SAS 6Gb/s", "600MB/s"),
    "SAS-12G": ("SAS 12Gb/s", "1200MB/s"),
}


def _size(size: int) -> str:
    return f"{size >> 20}MiB" if size >= 1 << 20 and not size % (1 << 20) else f"{size}B"
