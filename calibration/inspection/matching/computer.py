"""The modeled kernel, the CPU core and the controller nearest to what was found."""

from __future__ import annotations

import re
from typing import Any

from ....model.controller.catalogue import controller, controller_names, controller_relatives
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
    name, how = _nearest_entry(product, found.interface.value if found.interface is not None else "")
    entry = controller(name)
    overrides: dict[str, Any] = {}
    if product and how:
        overrides["model"] = product
    if found.cache is not None and found.cache.value != entry.cache:
        overrides["cache"] = _size(found.cache.value)
    elif found.cache is None and found.memory is not None and found.memory.value:
        left = int(found.memory.value * _LEFT_SHARE) >> 20 << 20
        if not entry.cache or not 1 / _OTHER_MEMORY < left / entry.cache < _OTHER_MEMORY:
            overrides["cache"] = _size(left)
    has_cache = bool(overrides.get("cache", entry.cache))
    for field, fact in (
        ("write_policy", found.policy.write_policy),
        ("battery", found.battery if has_cache else None),
        ("forced_write_back", found.policy.forced),
        ("keeps_reads", found.policy.keeps_reads if has_cache else None),
    ):
        if fact is not None and fact.value != getattr(entry, field):
            overrides[field] = fact.value
    reads_ahead = found.policy.reads_ahead
    if reads_ahead is not None and not reads_ahead.value and entry.read_ahead_rows:
        overrides["read_ahead_rows"] = 0
    elif reads_ahead is not None and reads_ahead.value and has_cache and not entry.read_ahead_rows:
        overrides["read_ahead_rows"] = _ROWS_AHEAD
    ports = _PORTS.get(found.interface.value) if found.interface is not None else None
    if ports is not None and ports[0] != entry.drive_interface:
        overrides["drive_interface"], overrides["drive_rate"] = ports
    if drives > entry.ports:
        overrides["ports"] = drives
    missing = sorted(levels - set(entry.levels))
    if missing:
        overrides["levels"] = [*entry.levels, *missing]
    why = f"the catalogue's {name} is the nearest{how}; its processor stands in" if how else ""
    return name, overrides, why


def _nearest_entry(product: str, interface: str) -> tuple[str, str]:
    """The entry for a product, and what is alike; "" if it is the product itself.

    By its number, then by the numbers of products with the same chip, then by its maker, and by the drives' interface.
    """
    numbers = {each.replace("/", "").casefold() for each in _NUMBER.findall(product)}
    words = {each.casefold() for each in re.split(r"[\s-]+", product)}
    own = {name: {part.casefold() for part in name.split("-")} for name in controller_names()}
    named = [name for name, parts in own.items() if numbers & parts]
    if named:
        return max(named, key=lambda name: len(words & own[name])), ""
    for name in controller_names():
        if numbers & {each.casefold() for each in controller_relatives(name)}:
            return name, ", of the same chip or its generation"
    maker = next((entry for words_of, entry in _MAKERS.items() if re.search(words_of, product)), None)
    if maker is not None:
        return maker, " of its maker's"
    return _BY_INTERFACE.get(interface, "LSI-9260-8i"), " by the interface of its drives" if interface else " usual one"


_NUMBER = re.compile(r"\w*\d{3,}\w*|\b\d/[iE]\b")
"""What tells a product: "9361", "P408i", "H730P", and the "6/i" of a PERC."""
_MAKERS = {
    "Adaptec": "Adaptec-3154-8i",
    "3ware": "3ware-8500",
    "Smart (?:Array|HBA).*Gen1": "HPE-P408i-a",
    "Smart (?:Array|HBA)": "HPE-P410i",
    "Areca|^ARC": "Areca-1880i",
}
"""Whose controllers have firmware of their own: one of them is nearer than MegaRAID."""
_BY_INTERFACE = {"SAS-3G": "Dell-PERC-6i", "SAS-6G": "LSI-9260-8i", "SAS-12G": "LSI-9361-8i"}
"""A MegaRAID of the generation."""
_LEFT_SHARE = 0.82
"""Of the memory on a board the firmware leaves so much as cache: the median of nine listings of the catalogue's cards
(397 and 400 of 512 MB; 873 of 1,024; 1,374, 1,843 and 1,931 of 2,048; 3,891 of 4,096; 6,319 and 6,678 of 8,192)."""
_OTHER_MEMORY = 1.4
"""A board with a cache this many times as large as the entry's has another size of memory."""
_ROWS_AHEAD = 2
"""Rows of a controller that is set to read ahead: one stripe sent, one being read."""
_PORTS = {
    "SAS-3G": ("SAS 3Gb/s", "300MB/s"),
    "SAS-6G": ("SAS 6Gb/s", "600MB/s"),
    "SAS-12G": ("SAS 12Gb/s", "1200MB/s"),
}


def _size(size: int) -> str:
    return f"{size >> 20}MiB" if size >= 1 << 20 and not size % (1 << 20) else f"{size}B"
