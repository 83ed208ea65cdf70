"""The table of levels says of every level what its layout does."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import raidsim
from raidsim.model.layouts import ALGORITHMS, LEVELS, Layout, NestedLayout, layout_for, levels_where, levels_with

MEMBER = 64 << 20
ROOT = Path(raidsim.__file__).parent


def smallest(level: str) -> Layout:
    """The smallest array of a level."""
    return layout_for(level, LEVELS[level].least, 64 << 10, MEMBER)


@pytest.mark.parametrize("level", LEVELS)
def test_a_row_agrees_with_the_layout(level: str) -> None:
    """Protects the table from saying of a level what its arithmetic does not do."""
    row, layout = LEVELS[level], smallest(level)
    assert row.name == level == layout.level
    assert row.is_redundant == (layout.survives > 0)
    if row.parities:
        assert layout.survives == row.parities
    assert isinstance(layout, NestedLayout) == row.has_groups
    assert row.has_algorithms == (level in ALGORITHMS and not row.inner)
    twice = layout_for(level, row.least, 128 << 10, MEMBER)
    assert row.has_chunk == (layout.extents(0, 96 << 10) != twice.extents(0, 96 << 10))


def test_lists_keep_the_order_of_the_table() -> None:
    """Protects messages and forms: what is allowed stands in the order in which levels are shown everywhere."""
    assert levels_with("write_mostly") == ("raid1", "raid10")
    assert levels_where(lambda level: level.has_mirrors) == ("raid1", "raid10", "raid01")
    assert levels_where(lambda level: level.has_parity) == ("raid4", "raid5", "raid6", "raid50", "raid60")
    assert [LEVELS[level].small_write_ios for level in ("raid5", "raid6", "raid50", "raid60")] == [4, 6, 4, 6]


def test_nobody_else_keeps_a_list_of_levels() -> None:
    """Protects the way to a new level: no other module has a tuple or a mapping of three levels or more.

    Lists of what a program or a firmware prints, names of sections, the levels that a search for designs begins with,
    those of a lesson, and what drawn scenarios are made of are separate choices.
    """
    own = {
        "model/layouts/levels.py",
        "model/layouts/parity.py",
        "scenarios/designs/requirement.py",
        "calibration/inspection/tools/controllers/hardware.py",
        "calibration/inspection/tools/controllers/megacli.py",
        "calibration/inspection/tools/controllers/storcli.py",
        "validation/conformance/md/resync.py",
        "calibration/simulation/touched_runs.py",
        "web/views/lessons.py",
        "validation/laws/hunting/drawn_devices.py",
        "validation/laws/hunting/drawn_scenarios.py",
    }
    found = set()
    for top in ("model", "scenarios", "calibration", "validation", "cli", "web"):
        for path in (ROOT / top).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                parts = node.elts if isinstance(node, ast.Tuple) else node.keys if isinstance(node, ast.Dict) else ()
                named = [part.value for part in parts if isinstance(part, ast.Constant) and part.value in LEVELS]
                if len(named) > 2:
                    found.add(path.relative_to(ROOT).as_posix())
    assert found <= own, f"ask model/layouts/levels.py instead: {sorted(found - own)}"
