"""What a phase of a recording asked of the devices: counted, and compared with what the model asks.

The recordings count what the file system sent to the array (bios) by class, and what reached the members. Classes are
told by where a bio lies: in the journal, in a file, or in the metadata. ``data_write`` of a recording holds what is
neither in the journal nor flagged as metadata.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

KIB = 1024
BYTES_WITHIN, REQUESTS_WITHIN = 0.03, 0.10
"""Shares by which bytes and numbers of requests may differ."""
_FEW = 2
"""So many requests more or fewer are no difference, and as many blocks of 4 KiB."""
_BLOCK_KIB = 4.0
CLASSES = ("data", "journal", "metadata")


@dataclass(slots=True)
class Counted:
    """Requests and KiB."""

    requests: int = 0
    kib: float = 0.0

    def add(self, size: int) -> None:
        """Count a request of `size` bytes."""
        self.requests += 1
        self.kib += size / KIB


@dataclass(slots=True)
class Traffic:
    """What was asked during a phase.

    Attributes
    ----------
    by_class
        To the array, by "data_write", "journal_read" and so on.
    member_reads, member_writes
        To all members together.
    flushes, fua
        Empty flushes that reached a member, and member writes past a volatile cache.
    """

    by_class: dict[str, Counted] = field(default_factory=dict)
    member_reads: Counted = field(default_factory=Counted)
    member_writes: Counted = field(default_factory=Counted)
    flushes: int = 0
    fua: int = 0

    def count(self, name: str, size: int) -> None:
        """Count a bio of a class."""
        self.by_class.setdefault(name, Counted()).add(size)


def recorded_traffic(phase: Mapping[str, Any]) -> Traffic:
    """The traffic of a recorded phase."""
    found = Traffic()
    for name, (requests, kib) in phase.get("device_classes_n_KiB", {}).items():
        found.by_class[name] = Counted(int(requests), float(kib))
    members = phase.get("member_requests", {})
    for op, counted in (("read", found.member_reads), ("write", found.member_writes)):
        told = members.get(op, {})
        counted.requests, counted.kib = int(told.get("n", 0)), float(told.get("KiB", 0.0))
    found.flushes = int(members.get("flush", 0))
    found.fua = int(members.get("write", {}).get("fua", 0))
    return found


def differences(recorded: Traffic, model: Traffic) -> Iterator[str]:
    """What differs by more than the recording's tolerance, in words."""
    for op in ("read", "write"):
        for kind in CLASSES:
            name = f"{kind}_{op}"
            yield from _differs(
                f"to the array, {kind} {op}s",
                recorded.by_class.get(name, Counted()),
                model.by_class.get(name, Counted()),
            )
    yield from _differs("to members, reads", recorded.member_reads, model.member_reads)
    yield from _differs("to members, writes", recorded.member_writes, model.member_writes)
    for name, one, other in (("flushes", recorded.flushes, model.flushes), ("FUA", recorded.fua, model.fua)):
        if one != other:
            yield f"to members, {name}: recorded {one:,}, model {other:,}"


def _differs(what: str, recorded: Counted, model: Counted) -> Iterator[str]:
    if not _alike(recorded.requests, model.requests, REQUESTS_WITHIN, _FEW):
        yield f"{what}: recorded {recorded.requests:,}, model {model.requests:,}"
    if not _alike(recorded.kib, model.kib, BYTES_WITHIN, _FEW * _BLOCK_KIB):
        yield f"{what}: recorded {recorded.kib:,.0f} KiB, model {model.kib:,.0f} KiB"


def _alike(recorded: float, model: float, within: float, few: float) -> bool:
    return abs(recorded - model) <= max(few, within * recorded) or math.isclose(recorded, model)
