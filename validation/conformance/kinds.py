"""The kinds of conformance check, in the order in which they are shown; a check is imported when it runs."""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass

from ...model.core.errors import InputError
from .base import Check


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of check.

    Attributes
    ----------
    name
        Its name.
    place
        The module below this package that has its `check`.
    asks
        What has to be the same for a case to match.
    aim
        Share of the cases (0 to 1) that must match; None if nothing is asked for.
    """

    name: str
    place: str
    asks: str
    aim: float | None

    @property
    def module(self) -> str:
        """Full name of the module with the check."""
        return f"{__package__}.{self.place}"

    @property
    def is_there(self) -> bool:
        """Whether this version has the check."""
        return importlib.util.find_spec(self.module) is not None

    def check(self) -> Check:
        """The check itself."""
        check: Check = importlib.import_module(self.module).check
        return check

    def reached(self, cases: int, matched: int) -> bool:
        """Whether this number of matches is enough."""
        return self.aim is None or matched >= self.aim * cases


KINDS = {
    kind.name: kind
    for kind in (
        Kind("layout", "md.layout", "every chunk, parity, zone and Q order", 1.0),
        Kind("io", "md.io", "the member requests of each I/O", 0.95),
        Kind("readchoice", "md.readchoice", "the member that serves each read", 0.95),
        Kind("readbalance", "md.readbalance", "each mirror's share within 5 points", 0.95),
        Kind("readahead", "md.readahead", "the request sizes of buffered reads", 1.0),
        Kind("resync", "md.resync", "request sizes; rates within 20 %", None),
        Kind("reshape", "rebuilds.reshape", "97 % of the first requests; bytes; rates within 15 %", None),
        Kind("rebuild", "rebuilds.rebuild", "rate, response times and members, within 20 %", 0.85),
        Kind("timing", "md.timing", "IOPS within 10 % or the recorded spread", 0.9),
        Kind("fs", "file_systems.fs", "each phase's traffic; times within 20 %", None),
        Kind("zfs", "zfs.zfs", "99 % of each phase's requests", 0.95),
        Kind("pools", "pools.pools", "hits of the ARC within 3 points, rates within 20 %", 0.85),
        Kind("cache", "caches.caches", "requests within 5 %, hits within 3 points, times within 20 %", 0.8),
        Kind("workloads", "workloads.workloads", "the operations of the real programs", 1.0),
    )
}


def kind(name: str) -> Kind:
    """The kind called `name`; raises `InputError` if there is none, or none in this version."""
    found = KINDS.get(name)
    if found is None:
        raise InputError("--kind", f"unknown kind {name!r}", f"expected: {', '.join(KINDS)}")
    if not found.is_there:
        there = ", ".join(each.name for each in KINDS.values() if each.is_there)
        raise InputError("--kind", f"{name} is not part of this version", f"expected: {there}")
    return found
