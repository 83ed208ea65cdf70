"""What the outputs show to be wrong with a machine, and the machine without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...model.disk.spec import DriveSpec
from ...model.files.quantities import format_size
from .cache_causes import BYPASSED
from .case import Case, Change
from .measured import MeasuredJob

_FULL = 0.85
"""Used share of a pool from which it is called full."""
_SMALL_ASHIFT = 9
_SMALL_WINDOW = 64 << 10


@dataclass(frozen=True)
class Seen:
    """Something that is wrong.

    Attributes
    ----------
    name
        Of the cause in the catalogue.
    words
        What it is.
    undone
        The machine without it.
    """

    name: str
    words: str
    undone: Change


def seen_causes(case: Case, jobs: Sequence[MeasuredJob] = ()) -> list[Seen]:
    """What the machine and its jobs are told to have of the causes: failed members, slow links, SMR, buffered jobs."""
    parts = [*_of_the_array(case), *_of_the_pool(case), *_of_the_cache(case), *_of_the_drives(case)]
    return [*parts, *_of_the_controller(case), *_of_the_jobs(case, jobs)]


def _of_the_jobs(case: Case, jobs: Sequence[MeasuredJob]) -> list[Seen]:
    found = []
    buffered = [job for job in jobs if job.direct is False]
    if buffered:
        names = ", ".join(job.name for job in buffered)
        words = f"{names} {'goes' if len(buffered) == 1 else 'go'} through the page cache (direct=0)"
        found.append(Seen("buffered", words, Change({}, {"direct": True})))
    window = case.spec.read_ahead
    if window is not None and window <= _SMALL_WINDOW and any(job.load["pattern"] == "sequential" for job in buffered):
        words = f"{case.target} reads {format_size(window)} ahead"
        found.append(Seen("small read-ahead", words, Change({"read_ahead": None}, {})))
    return found


def _of_the_cache(case: Case) -> list[Seen]:
    cache = case.cache
    if cache is None or cache.written not in BYPASSED:
        return []
    undone = Change({f"caches.{case.target}.mode": None}, {})
    return [
        Seen("bypassed cache", f"{case.target} is in the mode {cache.written}: nothing is read from the SSD", undone)
    ]


def _of_the_array(case: Case) -> list[Seen]:
    array, found = case.array, []
    if array is None:
        return []
    here = f"arrays.{case.array_name}"
    if array.failed:
        found.append(Seen("degraded", f"{', '.join(array.failed)} has failed", Change({f"{here}.failed": None}, {})))
    if array.rebuilding:
        words = f"{', '.join(array.rebuilding)} is being rebuilt"
        undone: dict[str, None] = {f"{here}.rebuilding": None}
        if array.resync is not None:
            undone[f"{here}.resync"] = None
        found.append(Seen("rebuilding", words, Change(undone, {})))
    elif array.resync is not None:
        name, doing = ("checking", "checked") if array.resync.old is None else ("reshaping", "reshaped")
        found.append(Seen(name, f"{case.array_name} is being {doing}", Change({f"{here}.resync": None}, {})))
    return found


def _of_the_pool(case: Case) -> list[Seen]:
    pool, (name, _, dataset) = case.pool, case.target.partition("/")
    if pool is None:
        return []
    found = []
    if pool.failed:
        words = f"{', '.join(pool.failed)} has failed{', and gets its data back' if pool.rebuilding else ''}"
        fields = ("failed", "rebuilding", "scan") if pool.rebuilding else ("failed",)
        undone = Change({f"pools.{name}.{field}": None for field in fields if getattr(pool, field)}, {})
        found.append(Seen("resilvering" if pool.rebuilding else "degraded pool", words, undone))
    elif pool.action is not None:
        words = f"{name} has a {pool.action} going on"
        found.append(Seen("scrubbing", words, Change({f"pools.{name}.scan": None}, {})))
    if pool.used >= _FULL:
        words = f"{name} is {pool.used:.0%} full, and its free space {pool.fragmentation:.0%} fragmented"
        room = {f"pools.{name}.{field}": None for field in ("used", "fragmentation") if getattr(pool, field)}
        found.append(Seen("full pool", words, Change(room, {})))
    if pool.ashift <= _SMALL_ASHIFT:
        words = f"{name} writes units of {1 << pool.ashift} bytes (ashift={pool.ashift})"
        found.append(Seen("small sectors of a pool", words, Change({f"pools.{name}.ashift": None}, {})))
    if pool.datasets[dataset].sync == "always":
        undone = Change({f"pools.{name}.datasets.{dataset}.sync": None}, {})
        found.append(Seen("always synchronous", f"{case.target} has sync=always", undone))
    if pool.datasets[dataset].primarycache != "all":
        undone = Change({f"pools.{name}.datasets.{dataset}.primarycache": None}, {})
        found.append(Seen("data not cached", f"{case.target} keeps no data in memory (primarycache)", undone))
    return found


def _of_the_drives(case: Case) -> list[Seen]:
    found = []
    drives = case.spec.machine.drives
    usual = [name for name in case.drives if not _is_shingled(case, name)]
    off: list[str] = []
    for name in case.drives:
        entry, own = drives[name].entry(), drives[name].spec()
        here = f"machine.drives.{name}"
        if own.interface_rate < 0.99 * entry.interface_rate and "interface_rate" in drives[name].overrides:
            lanes = own.interface.startswith("PCIe")
            part = "PCI Express lanes carry" if lanes else "link runs at"
            words = f"{name}'s {part} {own.interface_rate / entry.interface_rate:.0%} of what the drive has"
            found.append(
                Seen(
                    "slow lanes" if lanes else "slow link",
                    words,
                    Change({f"{here}.overrides.interface_rate": f"{entry.interface_rate:.0f}B/s"}, {}),
                )
            )
        if isinstance(own, DriveSpec) and isinstance(entry, DriveSpec) and entry.write_cache and not own.write_cache:
            off.append(name)
        if _is_shingled(case, name) and usual:
            words = f"{name} is a shingled (SMR) drive"
            found.append(Seen("shingled member", words, Change({f"{here}.model": drives[usual[0]].model}, {})))
    if off:
        undone = {f"machine.drives.{name}.overrides.write_cache": True for name in off}
        verb = "is" if len(off) == 1 else "are"
        found.append(Seen("write cache off", f"the write cache of {', '.join(off)} {verb} off", Change(undone, {})))
    return found


def _is_shingled(case: Case, name: str) -> bool:
    spec = case.spec.machine.drives[name].spec()
    return isinstance(spec, DriveSpec) and spec.media_cache > 0


def _of_the_controller(case: Case) -> list[Seen]:
    name = None if case.array is None else case.array.controller
    if name is None:
        return []
    instance = case.spec.machine.controllers[name]
    wrong = {"write_policy": ("write-through", "off"), "battery": ("failed", "learning", "charging")}
    undone = {
        f"machine.controllers.{name}.overrides.{field}": getattr(instance.entry(), field)
        for field, values in wrong.items()
        if instance.overrides.get(field) in values
    }
    if not undone:
        return []
    return [Seen("no write cache", f"{name} writes through, or its battery has failed", Change(undone, {}))]
