"""What cannot be simulated: which array or drive the scenario's own check blames, and the error if nothing is left.

A scenario that inspect has made is no file of the user's: what is wrong with it is said of the array or the drive that
the user's output names, with the line of that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...model.core.errors import InputError
from .chosen import Selection
from .tools.findings import Findings

_FIELD = re.compile(r"field (?:arrays|pools|caches|volumes|machine\.drives|machine\.controllers)\.(?P<name>[^.\s:]+)")
_MOST_LISTED = 6
_TELLS = "/proc/mdstat, mdadm --detail /dev/md0, or lsblk -b -o NAME,TYPE,SIZE,ROTA,TRAN,MODEL"


def blamed(error: InputError, selection: Selection) -> tuple[str, str] | None:
    """The array or the drive that is left out because the scenario with it is refused, and why.

    Parameters
    ----------
    error
        The scenario's.
    selection
        What the scenario is made of.
    """
    match = _FIELD.search(error.place)
    name = match["name"] if match is not None else ""
    why = f"{error.found.removeprefix('found ')}; {error.expected}"
    if name in selection.arrays or name in selection.pools or name in selection.caches:
        return name, why
    for cache, cached in selection.caches.items():
        if name in cached.volumes:
            return cache, why
    for array, chosen in selection.arrays.items():
        if name in [*(member for member, _ in chosen.members), *chosen.spares, chosen.found.controller]:
            return array, why
    for pool, of in selection.pools.items():
        if name in of.members:
            return pool, why
    return (name, why) if name in selection.drives else None


def nothing_left(found: Findings, selection: Selection, solid: list[str], where: str) -> InputError:
    """The error about a machine without anything to simulate.

    Parameters
    ----------
    found, selection
        What was found, and the notes on why it was left out.
    solid
        Drives without moving parts that were not wanted.
    where
        The first output, for a machine of which nothing has a place.
    """
    places = [array.where for array in found.arrays.values()]
    places += [pool.where for pool in found.pools.values()]
    places += [drive.where for drive in found.drives.values()]
    said = "found nothing to simulate"
    if solid:
        said = f"found only drives without moving parts: {listed(solid)}"
    elif selection.notes:
        said += f" ({'; '.join(selection.notes[:3])})"
    wanted = f"expected: an array or a drive, with its level, members and sizes, as {_TELLS} tells them"
    return InputError(places[0] if places else where, said, wanted)


def listed(names: Iterable[str]) -> str:
    """The first few of some names."""
    all_names = list(names)
    more = len(all_names) - _MOST_LISTED
    return ", ".join(all_names) if more <= 0 else f"{', '.join(all_names[:_MOST_LISTED])} and {more} more"
