"""Binary search: what compiled code runs finds what the interpreter's bisect finds."""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right
from pathlib import Path
from typing import Any

import raidsim
from raidsim.model.core import search


def _loops() -> dict[str, Any]:
    """The functions as they are written, which the interpreter replaces."""
    source = (Path(raidsim.__file__).parent / "model" / "core" / "search.py").read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": "loops"}
    exec(source.partition("\nCOMPILED")[0], names)
    return names


def test_the_loops_find_what_bisect_finds() -> None:
    """Protects the same bits compiled: equal values, none, one, and many, at both ends and outside."""
    draw, loops = random.Random(3), _loops()
    for length in (0, 1, 2, 3, 50):
        for _ in range(200):
            whole = sorted(draw.randrange(20) for _ in range(length))
            value = draw.randrange(-1, 22)
            assert loops["right_of"](whole, value) == bisect_right(whole, value) == search.right_of(whole, value)
            assert loops["left_of"](whole, value) == bisect_left(whole, value) == search.left_of(whole, value)
            low = draw.randrange(length + 1)
            parts = [each / 4 for each in whole]
            at = parts[low - 1] + draw.randrange(8) / 8 if low else value / 4
            assert loops["right_of_float"](parts, at, low) == bisect_right(parts, at, low)
            assert loops["left_of_float"](parts, at, low) == bisect_left(parts, at, low)
            assert search.right_of_float(parts, at, low) == bisect_right(parts, at, low)
