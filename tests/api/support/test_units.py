"""Units that tables and pictures name, and the factors beside them."""

from __future__ import annotations

import ast
import re

import pytest

from raidsim.tests.house import ROOT

FACTORS = {"MB/s": 1e-6, "I/Os per s": 1.0, "1/s": 1.0, "s": 1.0, "ms": 1e3, "µs": 1e6, "%": 100.0}
"""What a figure in SI units is multiplied by."""
SIZES = {"kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "PB": 1e15}
"""What a number of bytes is divided by."""


def test_factors_are_those_of_their_units() -> None:
    """Protects every list of figures: a heading with a unit, as a pair or a column, has the factor of that unit."""
    found = 0
    for path in sorted(path for top in ("api", "cli", "web") for path in (ROOT / top).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            unit, factor, wanted = _told(node)
            if wanted is not None:
                found += 1
                assert factor == pytest.approx(wanted, abs=0), f"{path.relative_to(ROOT)}:{node.lineno}: {unit!r}"  # type: ignore[attr-defined]
    assert found >= 40


def _told(node: ast.AST) -> tuple[str, float, float | None]:
    """A unit, its factor, and what the factor should be; None for what names no unit."""
    match node:
        case ast.Tuple(elts=[ast.Constant(value=str() as heading), ast.Constant(value=float() as factor)]):
            unit = re.fullmatch(r"(?:.*\((\w+)\)|(.*))", heading, re.DOTALL)
            assert unit is not None
            named = unit[1] or unit[2]
            return named, factor, FACTORS.get(named, SIZES.get(named))
        case ast.Call(func=ast.Name(id="Column")):
            said = dict(zip(("name", "unit", "show", "scale"), node.args, strict=False))
            said |= {each.arg: each.value for each in node.keywords if each.arg is not None}
            head, scale = said.get("unit", said["name"]), said.get("scale", ast.Constant(1.0))
            if "show" in said and isinstance(head, ast.Constant) and isinstance(scale, ast.Constant):
                named = str(head.value)
                return named, float(str(scale.value)), FACTORS.get(named, 1 / SIZES[named] if named in SIZES else None)
    return "", 1.0, None
