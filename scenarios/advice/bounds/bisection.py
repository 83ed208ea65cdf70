"""Bisection over designs that are alike but for one number."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def first_that(count: int, holds: Callable[[int], bool]) -> int | None:
    """The first number below `count` for which something holds that holds from there on."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low if low < count else None


def at_least(counts: Sequence[int], wanted: float, first: int) -> int:
    """Where the first number from `first` on is that is `wanted` or more; the last place if none is."""
    return next((i for i in range(first, len(counts)) if counts[i] >= wanted), len(counts) - 1)
