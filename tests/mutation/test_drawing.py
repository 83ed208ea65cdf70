"""Mutants behind switches: off, the code is the same; on, one change of it."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pytest

from raidsim.tests.house import ROOT
from raidsim.tests.mutation import drawing
from raidsim.tests.mutation.switch import NAME

USAGE = ROOT / "model" / "statistics" / "usage.py"
FUNCTION = """
def price(reads, writes, each=2.5):
    if reads < 0 or not writes:
        return None
    return reads * each + writes if reads == writes else (reads - writes) // 2
"""


def test_a_switch_turns_on_one_mutant(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Protects `make mutants` from mutants that change nothing: each switch turns one on, and without it all is as
    before.
    """
    path = tmp_path / "price.py"
    path.write_text(FUNCTION, encoding="utf-8")
    monkeypatch.setattr(drawing, "ROOT", tmp_path)
    mutants = list(enumerate(drawing.mutants_of(path)))
    text = drawing.wired(FUNCTION, mutants)

    def results(active: int) -> list[Any]:
        monkeypatch.setattr(builtins, NAME, lambda number: number == active, raising=False)
        module: dict[str, Any] = {}
        exec(compile(text, "price", "exec"), module)
        return [module["price"](reads, writes) for reads, writes in ((2, 2), (7, 2), (8, 3), (0, 5), (-1, 4), (3, 0))]

    plain = [7.0, 2, 2, -3, None, None]
    assert results(-1) == plain
    assert len(mutants) == 11
    assert [number for number, _ in mutants if results(number) == plain] == []


def test_every_change_of_a_module_is_valid() -> None:
    """Protects the copy of the checkout: with all mutants of a module at once it compiles."""
    compile(drawing.wired(USAGE.read_text(encoding="utf-8"), enumerate(drawing.mutants_of(USAGE))), "usage", "exec")


def test_the_nearest_tests_come_first() -> None:
    """Protects the choice of tests: a module's own test is the first, and those of its folder are the next ones."""
    assert drawing.tests_of("model/core/extents.py")[0] == "tests/model/core/test_extents.py"
    assert "tests/model/disk/test_media_cache.py" in drawing.tests_of("model/disk/media_log.py")[:12]
