"""How busy each part of the machine was, and which one set the pace."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

SATURATED = 0.85
"""Utilisation from which a part counts as the bottleneck. Below it, adding load would still add throughput:
an open queue at 85 % waits about six service times, which no closed workload of a few outstanding I/Os reaches."""
_TIE = 0.03


@dataclass(frozen=True, slots=True)
class Usage:
    """What one part of the machine did.

    Attributes
    ----------
    name, kind
        "sda" and "disk", "pci" and "link", "cpu" and "CPU".
    utilisation
        Share of the time it was busy, 0 to 1 (of all cores together, for a CPU).
    mean_queue
        Mean number of requests waiting or being served.
    reads, writes
        Requests served.
    bytes
        Bytes moved.
    """

    name: str
    kind: str
    utilisation: float
    mean_queue: float = 0.0
    reads: int = 0
    writes: int = 0
    bytes: int = 0


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


def limit(usages: Iterable[Usage]) -> Limit | None:
    """The parts that limit; None if nothing was busy.

    Notes
    -----
    A disk is busy from a command's start to its end, also while the command waits for a bus or for the CPU's
    interrupt. A link or CPU that is as busy as the busiest disk is therefore what the disks wait for.
    """
    ranked = sorted(usages, key=lambda usage: (-usage.utilisation, usage.name))
    if not ranked or ranked[0].utilisation <= 0:
        return None
    least = max(SATURATED, ranked[0].utilisation - _TIE)
    awaited = [usage for usage in ranked if usage.kind != "disk" and usage.utilisation >= least]
    ranked = awaited or ranked
    first = ranked[0]
    tied = [usage for usage in ranked if usage.kind == first.kind and first.utilisation - usage.utilisation <= _TIE]
    return Limit(tuple(tied), first.utilisation >= SATURATED, _named(tied))


def bottleneck(usages: Iterable[Usage]) -> str:
    """The part that limits, in words.

    Returns
    -------
    str
        What :func:`limit` finds. If even that is less than `SATURATED` busy, nothing limits but the latency of the
        I/Os outstanding, and it says so.
    """
    found = limit(usages)
    if found is None:
        return "nothing was busy"
    if found.saturated:
        return found.words
    return f"nothing is saturated: the latency of the I/Os outstanding sets the pace; busiest is {found.words}"


def _named(tied: list[Usage]) -> str:
    first = tied[0]
    if len(tied) == 1:
        name = first.kind if first.kind == first.name else f"{first.kind} {first.name}"
        return f"{name} ({_percent(first)} busy)"
    least, most = _percent(tied[-1]), _percent(first)
    span = most if least == most else f"{least.removesuffix(' %')} to {most}"
    names = ", ".join(sorted((usage.name for usage in tied), key=_numbered))
    return f"{len(tied)} {first.kind}s ({names}: {span} busy)"


def _numbered(name: str) -> list[tuple[int, str]]:
    """What sorts disk2 before disk10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


def _percent(usage: Usage) -> str:
    return f"{100 * usage.utilisation:.0f} %"
