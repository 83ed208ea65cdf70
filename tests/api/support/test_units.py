"""Units that tables and pictures name, and the factors beside them."""

from __future__ import annotations

import ast
import re

from raidsim.tests.house import ROOT

FACTORS = {"MB/s": 1e-6, "I/Os per s": 1.0, "1/s": 1.0, "s": 1.0, "ms": 1e3, "%": 100.0}
"""What a figure in SI units is multiplied by."""
SIZES = {"kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "PB": 1e15}
"""What a number of bytes is divided by."""


def test_factors_are_those_of_their_units() -> None:
    """Protects every list of figures: a pair of a heading with a unit and a number has the factor of that unit."""
    found: dict[str, int] = dict.fromkeys([*FACTORS, *SIZES], 0)
    for path in sorted(path for top in ("api", "cli", "web") for path in (ROOT / top).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Tuple(elts=[ast.Constant(value=str() as heading), ast.Constant(value=float() as factor)]):
                    unit = re.fullmatch(r"(?:.*\((\w+)\)|(.*))", heading, re.DOTALL)
                    assert unit is not None
                    named = unit[1] or unit[2]
                    wanted = FACTORS.get(named, SIZES.get(named))
                    if wanted is not None:
                        found[named] += 1
                        assert factor == wanted, f"{path.relative_to(ROOT)}:{node.lineno}: {heading!r}"
    assert sum(found.values()) >= 15
