"""What a device takes of discards (TRIM, UNMAP, deallocate)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DiscardLimits:
    """What a device takes of discards.

    Attributes
    ----------
    granularity
        What is freed begins and ends at multiples of this (bytes); 0 if it takes none.
    most_bytes
        The largest at once; 0 if it takes none.
    refusal
        Why it takes none; empty if it does.
    """

    granularity: int
    most_bytes: int
    refusal: str = ""


def refused(why: str) -> DiscardLimits:
    """The limits of a device that takes none."""
    return DiscardLimits(0, 0, why)
