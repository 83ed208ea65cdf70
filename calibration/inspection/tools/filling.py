"""Bringing together what several outputs say of the same thing: the first one is believed."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from .facts import Fact


def fill(into: Any, other: Any, notes: list[str], what: str) -> None:
    """Take from `other` what `into` leaves open, and note where both say different things."""
    for each in fields(into):
        mine, theirs = getattr(into, each.name), getattr(other, each.name)
        if each.name in ("notes", "ids"):
            mine += theirs
        elif each.name == "parts" and all(part.start is None for part in (*mine, *theirs)):
            mine += [part for part in theirs if part not in mine]
        elif each.name == "options":
            both = (key for key in mine if key in theirs and mine[key].value != theirs[key].value)
            notes += [_differ(what, key, mine[key], theirs[key]) for key in both]
            into.options = theirs | mine
        elif mine is None or mine is False or (mine in ([], {}) and theirs):
            setattr(into, each.name, theirs)
        elif isinstance(mine, Fact) and isinstance(theirs, Fact) and mine.value != theirs.value:
            if each.name == "bitmap" and not mine.value:
                into.bitmap = theirs
            elif each.name not in _MAY_DIFFER and not (each.name == "algorithm" and into.action_is("reshape")):
                notes.append(_differ(what, each.name, mine, theirs))


def _differ(what: str, key: str, one: Fact[Any], other: Fact[Any]) -> str:
    found = f"{one.value} ({one.where}) and {other.value} ({other.where})"
    return f"{what} has {key.replace('_', ' ')} {found}: the first is taken"


_MAY_DIFFER = {
    "rough_capacity",
    "rough_size",
    "progress",
    "model",
    "bitmap",
    "clock",
    "memory",
    "interface_rate",
    "member_size",
    *("length", "target", "slow", "fast", "metadata", "dirty", "health"),
    *("raw_size", "allocated", "capacity", "used", "available", "referenced", "compressratio"),
}
"""What is rounded, goes on, or has several names."""
