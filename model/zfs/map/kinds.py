"""The kinds of vdevs by the words of `zpool create`: `raidz2`, `mirror`, `stripe`, `draid2:4d:8c:1s`."""

from __future__ import annotations

import re

from ...core.errors import InputError
from .draid import Draid
from .draid_orders import FEWEST, MOST
from .mirror import Mirror
from .raidz import Raidz
from .vdev import Vdev

STRIPE, MIRROR, DRAID = "stripe", "mirror", "draid"
RAIDZ = {"raidz": 1, "raidz1": 1, "raidz2": 2, "raidz3": 3}
_DRAID = re.compile(r"draid([123]?)((?::\d+[dcs])*)")
_DEFAULT_DATA = 8
EXPECTED = "expected: stripe, mirror, raidz1, raidz2, raidz3, or such as draid2:4d:8c:1s"


def vdevs_for(kind: str, members: int, ashift: int) -> list[Vdev]:
    """The top-level vdevs that `members` members make: one, or one a member if `kind` is "stripe".

    Raises
    ------
    InputError
        If there is no such kind, or it cannot have that number of members.
    """
    if kind == STRIPE:
        return [Mirror(1, ashift) for _ in range(_enough(kind, members, 1))]
    if kind == MIRROR:
        return [Mirror(_enough(kind, members, 2), ashift)]
    if kind in RAIDZ:
        # zpool takes a raidz of p + 1 members; each data unit then has a copy or two, at the price of a mirror.
        parity = RAIDZ[kind]
        return [Raidz(_enough(kind, members, parity + 1), parity, ashift)]
    if kind.startswith(DRAID):
        return [_draid(kind, members, ashift)]
    raise InputError("vdev", f"unknown kind {kind!r}", EXPECTED)


def _draid(kind: str, members: int, ashift: int) -> Draid:
    match = _DRAID.fullmatch(kind)
    if match is None:
        raise InputError("vdev", f"found {kind!r}", "expected: draid, draid1, draid2 or draid3, then :4d :8c :1s")
    parity = int(match[1] or 1)
    counts = {part[-1]: int(part[:-1]) for part in match[2].split(":") if part}
    children, spares = counts.get("c", members), counts.get("s", 0)
    if children != members:
        raise InputError("vdev", f"{kind} says {children} members, found {members}", "expected: the same")
    if not FEWEST <= members <= MOST:
        raise InputError("vdev", f"found {kind} with {members} members", f"expected: {FEWEST} to {MOST}")
    room = members - spares - parity
    data = counts.get("d", min(room, _DEFAULT_DATA))
    if not 1 <= data <= room:
        found = f"{kind} of {members} members has {data} + {parity} columns and {spares} spares"
        raise InputError("vdev", found, "expected: a data column at least, and members for all")
    return Draid(members, parity, data, spares, ashift)


def _enough(kind: str, members: int, fewest: int) -> int:
    if members < fewest:
        raise InputError("vdev", f"found {kind} with {members} members", f"expected: at least {fewest}")
    return members
