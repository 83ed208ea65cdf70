"""What the tools say of LVM's volumes, devices of the device mapper, and bcache's devices."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .facts import Fact


class Part(NamedTuple):
    """A range of a device below a volume.

    Attributes
    ----------
    device
        Its name, or its numbers ("9:0").
    start, length
        Bytes; None if nothing tells them.
    """

    device: str
    start: int | None = None
    length: int | None = None


@dataclass(slots=True)
class FoundVolume:
    """A device that the kernel puts together from others.

    Attributes
    ----------
    name
        The device mapper's ("vg0-data"), or "bcache0".
    where
        Where it was first named.
    length
        Bytes; rounded if only lvs or lsblk tells them.
    target
        What it is: a target of the device mapper ("linear", "striped", "raid", "cache", "writecache", "flashcache",
        "crypt", "thin", "thin-pool"), or "bcache".
    parts
        What it is on, in order; of a cache only if nothing tells which part is which.
    slow, fast, metadata
        The devices of a cache.
    stripe
        Bytes of a stripe.
    raid
        Level, algorithm and copies of a "raid".
    health
        A letter for each of its members: "A" works, "a" is not in sync, "D" has failed.
    options
        Fields of a cache in a scenario.
    dirty
        Bytes that only the cache has.
    set_id
        bcache's identifier of the devices that belong together.
    notes
        What a reader should know of it.
    """

    name: str
    where: str
    length: Fact[int] | None = None
    target: Fact[str] | None = None
    parts: list[Part] = field(default_factory=list)
    slow: Fact[str] | None = None
    fast: Fact[str] | None = None
    metadata: Fact[str] | None = None
    stripe: Fact[int] | None = None
    raid: Fact[tuple[str, str | None, int | None]] | None = None
    health: Fact[str] | None = None
    options: dict[str, Fact[Any]] = field(default_factory=dict)
    dirty: Fact[int] | None = None
    set_id: str | None = None
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class FoundCache:
    """A cache, with the drives and arrays that it is on.

    Attributes
    ----------
    name, where
        As of its volume.
    kind
        The kind that a scenario has for it.
    named
        What the slow and the fast device are called, and the one of the metadata.
    slow, fast, metadata
        Ranges of drives, partitions and arrays; of several the slow device is made one after the other, or in turn.
    stripe
        Bytes of a stripe on each of them; None: one after the other.
    length
        Bytes of the cached device.
    options, dirty
        As of its volume.
    reason
        Why it cannot be simulated, if so.
    """

    name: str
    where: str
    kind: Fact[str]
    named: tuple[Fact[str] | None, Fact[str] | None, Fact[str] | None] = (None, None, None)
    slow: list[Part] = field(default_factory=list)
    fast: list[Part] = field(default_factory=list)
    metadata: list[Part] = field(default_factory=list)
    stripe: Fact[int] | None = None
    length: Fact[int] | None = None
    options: dict[str, Fact[Any]] = field(default_factory=dict)
    dirty: Fact[int] | None = None
    reason: str | None = None


CACHES = {"cache": "dm-cache", "writecache": "dm-writecache", "bcache": "bcache", "flashcache": "bcache"}
"""Targets that are caches, with the kind of cache that a scenario has for each."""
