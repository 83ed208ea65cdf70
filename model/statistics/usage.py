"""Utilization of each part of the machine, and which one is the bottleneck."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ..links.link import DuplexLink, Link

SATURATED = 0.9
"""Utilization from which a part counts as the bottleneck. Below it, adding load would still add throughput:
an open queue at 90 % waits nine service times, which no closed workload of a few outstanding I/Os reaches."""
_TIE = 0.03
PLACES = "places"
"""Kind of what is no part, but a number of requests that may be under way: busy while another one waits."""
DISK, SSD = "disk", "SSD"
DRIVES = (DISK, SSD)
"""Kinds of drives."""
CORE = "core"
"""Kind of a core that has no time left for the programs that stay on it, though others may."""
PROGRAM = "program"
"""Kind of programs each of which is as busy as one core can be, though others may have time left."""
THREAD = "thread"
"""Kind of a kernel thread that is as busy as one core can be."""
ENCRYPTION = "encryption"
"""Kind of the cores that encrypt a device: their share of all that may. They are cores of the CPU, which may limit."""
BITMAP = "write-intent bitmap"
"""Kind of the bitmap of an array whose thread waits for bits, and does nothing else meanwhile."""
BITMAP_OF = "bitmap of "
"""How results call it, before the name of the array."""
LOCK = "lock"
"""Kind of what one core at a time may hold, in memory: all others that need it spin meanwhile."""
HOST_MEMORY = "host memory"
"""Name and kind of the usage of memory: what all cores copy from and to it."""
COMMANDS = "commands"
"""What an adapter takes only so many of."""


@dataclass(frozen=True, slots=True)
class WayUsage:
    """What one direction of a link did, or what an adapter did for all commands, or a part inside an SSD.

    Attributes
    ----------
    name
        "to the host", "to the drives", "commands"; "flash dies".
    utilization
        Share of the time it was busy, 0 to 1.
    rate
        Bytes per second that it moves at most; of commands, how many a second it takes; 0 of a part of an SSD.
    bytes
        Bytes moved.
    """

    name: str
    utilization: float
    rate: float
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """What one part of the machine did.

    Attributes
    ----------
    name, kind
        "sda" and "disk", "nvme0" and "SSD", "pci" and "link", "cpu" and "CPU".
    utilization
        Share of the time it was busy, 0 to 1 (of all cores together, for a CPU; of its busiest part, for an SSD).
    mean_queue
        Mean number of requests waiting or being served.
    reads, writes
        Requests served.
    bytes
        Bytes moved.
    what
        What a link is, if it is one of the catalogue: "PCIe 3.0 x8". Of a hard disk what limits it, if that is not its
        mechanics.
    ways
        Of a link that moves data both ways at once: each direction that was used, and the commands of an adapter; of an
        SSD its parts. Its own `utilization` is that of the busiest.
    """

    name: str
    kind: str
    utilization: float
    mean_queue: float = 0.0
    reads: int = 0
    writes: int = 0
    bytes: int = 0
    what: str = ""
    ways: tuple[WayUsage, ...] = ()


@dataclass(frozen=True, slots=True)
class Limit:
    """The parts that limit, or are nearest to it.

    Attributes
    ----------
    parts
        The busiest part, with all parts of its kind that are within three points of it.
    saturated
        Whether they are `SATURATED` busy, so that they do limit.
    words
        They in words.
    """

    parts: tuple[Usage, ...]
    saturated: bool
    words: str


def link_usage(link: Link, span: float) -> Usage:
    """What a link did in `span` seconds."""
    if not isinstance(link, DuplexLink):
        kind = HOST_MEMORY if link.name == HOST_MEMORY else "link"
        return Usage(link.name, kind, min(1.0, link.busy_s / span), bytes=link.bytes_moved, what=link.what)
    ways = [
        WayUsage(end, min(1.0, way.busy_s / span), way.rate, way.bytes_moved)
        for end, way in zip(link.ends, link.ways, strict=True)
        if way.bytes_moved
    ]
    if link.commands is not None:
        ways.append(WayUsage(COMMANDS, min(1.0, link.commands.busy_s / span), link.commands.rate))
    busiest = max((way.utilization for way in ways), default=0.0)
    return Usage(link.name, "link", busiest, bytes=link.bytes_moved, what=link.what, ways=tuple(ways))


def limit(usages: Iterable[Usage]) -> Limit | None:
    """The parts that limit; None if nothing was busy.

    Notes
    -----
    A disk without command queuing is busy from a command's start to its end, also while the command waits for a bus or
    for the CPU's interrupt. A link or CPU that is as busy as the busiest disk is therefore what the disks wait for. A
    number of places for requests is what limits only where all that serves them has time left. Cores that wait for a
    lock or for memory are busy, so where a lock is always held, or memory always moves, that is what limits.
    """
    known = list(usages)
    held = _limit([usage for usage in known if usage.kind in (LOCK, HOST_MEMORY)])
    if held is not None and held.saturated:
        return held
    parts = [usage for usage in known if usage.kind not in (PLACES, LOCK, ENCRYPTION)]
    found = _limit(parts)
    if found is None or found.saturated:
        return found
    places = _limit([usage for usage in known if usage.kind == PLACES])
    return places if places is not None and places.saturated else found


def _limit(usages: list[Usage]) -> Limit | None:
    """The busiest of parts that are all alike in what being busy means."""
    ranked = sorted(usages, key=lambda usage: (-usage.utilization, usage.name))
    if not ranked or ranked[0].utilization <= 0:
        return None
    least = max(SATURATED, ranked[0].utilization - _TIE)
    awaited = [usage for usage in ranked if usage.kind != "disk" and usage.utilization >= least]
    ranked = awaited or ranked
    first = ranked[0]
    tied = [usage for usage in ranked if usage.kind == first.kind and first.utilization - usage.utilization <= _TIE]
    return Limit(tuple(tied), first.utilization >= SATURATED, _named(tied))


def bottleneck(usages: Iterable[Usage], longest_wait: str = "") -> str:
    """The part that limits, or else what I/Os spend most of their time on, in words.

    Parameters
    ----------
    usages
        Of all parts.
    longest_wait
        What I/Os spend most of their time on; "" if that is not known.

    Returns
    -------
    str
        What :func:`limit` finds. If even that is less than `SATURATED` busy, the latency of each I/O limits: its
        largest part, and the part of the machine that is busiest.
    """
    found = limit(usages)
    if found is None:
        return "nothing was busy"
    if found.saturated:
        return found.words
    return f"{longest_wait or 'latency of one I/O after the other'}; busiest is {found.words}"


def _named(tied: list[Usage]) -> str:
    first = tied[0]
    if first.kind == PLACES:
        names = " and ".join(usage.name for usage in tied)
        return f"{names} (all in use, others wait {_percent(first)} of the time)"
    if first.kind == LOCK:
        names = " and ".join(usage.name for usage in tied)
        return f"{names} ({first.what}, held {_percent(first)} of the time)"
    if first.kind == BITMAP:
        names = " and ".join(usage.name for usage in tied)
        return f"{names} (md's thread waits for its bits {_percent(first)} of the time)"
    if first.kind == PROGRAM:
        return f"{first.kind} {first.name} ({_percent(first)} of a core)"
    if len(tied) == 1:
        name = first.kind if first.kind == first.name else f"{first.kind} {first.name}"
        return f"{name}{_described(first)} ({_percent(first)} busy)"
    least, most = _percent(tied[-1]), _percent(first)
    span = most if least == most else f"{least.removesuffix(' %')} to {most}"
    names = ", ".join(sorted((usage.name for usage in tied), key=_numbered))
    inside = {_described(usage) for usage in tied} if first.kind == SSD else {""}
    part = f"{inside.pop().removeprefix(': ')} " if len(inside) == 1 and inside != {""} else ""
    return f"{len(tied)} {first.kind}s ({names}: {part}{span} busy)"


def _described(link: Usage) -> str:
    """What a link is, and which of its limits is nearest: ": PCIe 3.0 x8, 7.1 GB/s to the host"; ": flash dies"."""
    words = [link.what] if link.what else []
    if link.ways:
        nearest = max(link.ways, key=lambda way: way.utilization)
        if nearest.name == COMMANDS:
            words.append(f"{nearest.rate:,.0f} commands a second")
        elif not nearest.rate:
            words.append(nearest.name)
        else:
            words.append(f"{_rate_words(nearest.rate)} {nearest.name}")
    return f": {', '.join(words)}" if words else ""


def _rate_words(rate: float) -> str:
    return f"{rate / 1e9:.3g} GB/s" if rate >= 1e9 else f"{rate / 1e6:.3g} MB/s"


def _numbered(name: str) -> list[tuple[int, str]]:
    """What sorts disk2 before disk10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


def _percent(usage: Usage) -> str:
    return f"{100 * usage.utilization:.0f} %"
