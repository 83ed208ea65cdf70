"""The vdevs of a pool from its indented list, as zpool status and zpool list -v print it (zpool_main.c).

A group is named after its kind ("raidz2-0", "draid2:4d:8c:1s-0"), a place with two devices is "replacing-3" or
"spare-3". A paste may have lost its indent; then a device belongs to the group above it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .....model.core.errors import InputError
from ..found_pools import FoundLeaf, FoundVdev

SECTIONS = {
    "logs": "log",
    "log": "log",
    "cache": "cache",
    "spares": "spare",
    "spare": "spare",
    "special": "special",
    "dedup": "special",
}
"""Headings in the list, and what the vdevs below them are for."""
_VDEV = re.compile(r"(?P<kind>mirror|raidz[123]?|draid[123]?(?::\w+)*)(?:-\d+)?", re.ASCII)
_PLACE = re.compile(r"(?:replacing|spare)-\d+", re.ASCII)
_DISTRIBUTED = re.compile(r"draid[123]-\d+-\d+", re.ASCII)
"""A spare that is spread over the members of a dRAID."""
_REMOVED = re.compile(r"(?:indirect|hole|missing)-\d+", re.ASCII)
_GROUPS = "a group of zpool: mirror, raidz1 to raidz3, draid, replacing or spare"
_WAS = re.compile(r"\bwas (/\S+)")
_RESILVERED = ("resilver", "rebuild")
_STEP = 2


@dataclass(slots=True)
class Row:
    """A line of the list below the pool's own.

    Attributes
    ----------
    indent
        Columns before its name, more than the pool's name has.
    name, state, note, where
        What it says, and the place of that.
    """

    indent: int
    name: str
    state: str
    note: str
    where: str


def vdevs(rows: Sequence[Row]) -> list[FoundVdev]:
    """The top-level vdevs; a stripe has one device."""
    depths = _depths(rows)
    found: list[FoundVdev] = []
    use, at = "data", 0
    while at < len(rows):
        row, after = rows[at], _after(depths, at)
        vdev = _VDEV.fullmatch(row.name)
        if row.name in SECTIONS:
            use, after = SECTIONS[row.name], at + 1
        elif vdev is not None:
            kind = "raidz1" if vdev["kind"] == "raidz" else vdev["kind"]
            leaves = _leaves(rows, depths, at + 1, after)
            if not leaves:
                raise InputError(row.where, f"found {row.name} without devices", "expected: its devices below it")
            found.append(FoundVdev(row.name, use, kind, row.where, leaves))
        elif not _REMOVED.fullmatch(row.name) and not _DISTRIBUTED.fullmatch(row.name):
            leaves = _leaves(rows, depths, at, after)
            found.append(FoundVdev(leaves[0].name, use, "stripe", row.where, leaves))
        at = after
    return found


def _depths(rows: Sequence[Row]) -> list[int]:
    """How deep each row is; of a list without indents, by the names of its groups."""
    if len({row.indent for row in rows}) > 1:
        return [max(row.indent + 1, 0) // _STEP for row in rows]
    found: list[int] = []
    inside, places = 1, 0
    for row in rows:
        if row.name in SECTIONS:
            inside, depth = 1, 0
        elif _VDEV.fullmatch(row.name):
            inside, depth = 2, 1
        elif _PLACE.fullmatch(row.name):
            places, depth = 2, inside
        else:
            depth = inside + 1 if places else inside
            places = max(places - 1, 0)
        found.append(depth)
    return found


def _after(depths: Sequence[int], at: int) -> int:
    """The row behind those that are below one."""
    return next((row for row in range(at + 1, len(depths)) if depths[row] <= depths[at]), len(depths))


def _leaves(rows: Sequence[Row], depths: Sequence[int], first: int, end: int) -> list[FoundLeaf]:
    """A device for each place."""
    found, at = [], first
    while at < end:
        after = _after(depths, at)
        if _PLACE.fullmatch(rows[at].name) and after > at + 1:
            found.append(_serving(_leaves(rows, depths, at + 1, min(after, end))))
        elif after > at + 1:
            raise InputError(rows[at].where, f"found {rows[at].name} with devices below it", f"expected: {_GROUPS}")
        else:
            found.append(_leaf(rows[at]))
        at = after
    return found


def _serving(several: list[FoundLeaf]) -> FoundLeaf:
    """Of the devices of one place that which serves; without one, the last that is a drive."""
    drives = [leaf for leaf in several if not _DISTRIBUTED.fullmatch(leaf.name)] or several
    chosen = next((leaf for leaf in drives if leaf.serves), drives[-1])
    if not chosen.serves:
        chosen.resilvering = any(leaf.resilvering for leaf in several)
    return chosen


def _leaf(row: Row) -> FoundLeaf:
    was = _WAS.search(row.note) if row.name.isdecimal() else None
    name = base_name(was[1] if was is not None else row.name)
    return FoundLeaf(name, row.state, row.where, any(word in row.note for word in _RESILVERED))


def base_name(name: str) -> str:
    """A device without its folder."""
    return name.rstrip("/").rsplit("/", 1)[-1]
