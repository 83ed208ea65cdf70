"""Binary search in sorted lists of numbers.

Compiled code calls these functions directly, and compares native numbers. From source they are those of
:mod:`bisect`, which the interpreter runs faster than a loop.
"""

from __future__ import annotations

import bisect
import sys
from types import FunctionType
from typing import Final

from mypy_extensions import i64


def right_of(values: list[int], value: i64) -> i64:
    """How many of `values`, ascending, are at most `value`."""
    low: i64 = 0
    high: i64 = len(values)
    while low < high:
        middle = (low + high) >> 1
        found: i64 = values[middle]
        if value < found:
            high = middle
        else:
            low = middle + 1
    return low


def left_of(values: list[int], value: i64) -> i64:
    """How many of `values`, ascending, are below `value`."""
    low: i64 = 0
    high: i64 = len(values)
    while low < high:
        middle = (low + high) >> 1
        found: i64 = values[middle]
        if found < value:
            low = middle + 1
        else:
            high = middle
    return low


def right_of_float(values: list[float], value: float, low: i64) -> i64:
    """How many of `values`, ascending, are at most `value`; the first `low` of them are known to be."""
    high: i64 = len(values)
    while low < high:
        middle = (low + high) >> 1
        if value < values[middle]:
            high = middle
        else:
            low = middle + 1
    return low


def left_of_float(values: list[float], value: float, low: i64) -> i64:
    """How many of `values`, ascending, are below `value`; the first `low` of them are known to be."""
    high: i64 = len(values)
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


COMPILED: Final = not isinstance(right_of, FunctionType)
"""Whether this module, and so the model's hot path, is compiled."""

if not COMPILED:
    for name, function in (
        ("right_of", bisect.bisect_right),
        ("left_of", bisect.bisect_left),
        ("right_of_float", bisect.bisect_right),
        ("left_of_float", bisect.bisect_left),
    ):
        setattr(sys.modules[__name__], name, function)
