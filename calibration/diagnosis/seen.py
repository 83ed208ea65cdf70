"""What the outputs show to be wrong with a machine, and the machine without it."""

from __future__ import annotations

from dataclasses import dataclass

from ...model.disk.spec import DriveSpec
from .case import Case, Change


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


def seen_causes(case: Case) -> list[Seen]:
    """What the description of a machine has of the causes: failed members, slow links, caches that are off, SMR."""
    return [*_of_the_array(case), *_of_the_pool(case), *_of_the_drives(case), *_of_the_controller(case)]


def _of_the_array(case: Case) -> list[Seen]:
    array, found = case.array, []
    if array is None:
        return []
    here = f"arrays.{case.target}"
    if array.failed:
        found.append(Seen("degraded", f"{', '.join(array.failed)} has failed", Change({f"{here}.failed": None}, {})))
    if array.rebuilding:
        words = f"{', '.join(array.rebuilding)} is being rebuilt"
        undone: dict[str, None] = {f"{here}.rebuilding": None}
        if array.resync is not None:
            undone[f"{here}.resync"] = None
        found.append(Seen("rebuilding", words, Change(undone, {})))
    elif array.resync is not None:
        found.append(Seen("checking", f"{case.target} is being checked", Change({f"{here}.resync": None}, {})))
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
        found.append(Seen("degraded pool", words, undone))
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
            words = f"{name}'s link runs at {own.interface_rate / entry.interface_rate:.0%} of what the drive has"
            found.append(Seen("slow link", words, Change({f"{here}.overrides.interface_rate": None}, {})))
        if isinstance(own, DriveSpec) and isinstance(entry, DriveSpec) and entry.write_cache and not own.write_cache:
            off.append(name)
        if _is_shingled(case, name) and usual:
            words = f"{name} is a shingled (SMR) drive"
            found.append(Seen("shingled member", words, Change({f"{here}.model": drives[usual[0]].model}, {})))
    if off:
        undone = {f"machine.drives.{name}.overrides.write_cache": None for name in off}
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
        f"machine.controllers.{name}.overrides.{field}": None
        for field, values in wrong.items()
        if instance.overrides.get(field) in values
    }
    if not undone:
        return []
    return [Seen("no write cache", f"{name} writes through, or its battery has failed", Change(undone, {}))]
