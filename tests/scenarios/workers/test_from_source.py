"""Work in processes of their own: what they load, and what they leave alone."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType

import pytest

from raidsim.compiled.loader import PURE
from raidsim.model.core.errors import InputError
from raidsim.scenarios.workers import from_source
from raidsim.scenarios.workers.from_source import done_from_source
from raidsim.scenarios.workers.process_setup import main_left_out


def test_it_runs_from_source_and_leaves_this_process_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects what watches the parts: the other process uses no compiled build, whatever this one does."""
    monkeypatch.setenv(PURE, "0")
    assert done_from_source(os.getenv, PURE) == "1"
    assert os.environ[PURE] == "0"


def test_what_it_raises_is_raised_here() -> None:
    """Protects messages: an error of the work reaches the user as it would from this process."""
    with pytest.raises(InputError, match="found -1; expected: more"):
        done_from_source(_refused, -1)


def _refused(value: int) -> int:
    raise InputError("value", f"found {value}", "expected: more")


@pytest.fixture
def marker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that the main program's file writes whenever it is run."""
    written, script = tmp_path / "written", tmp_path / "program.py"
    script.write_text(f"open({str(written)!r}, 'w').close()\n", encoding="utf-8")
    program = ModuleType("__main__")
    program.__file__ = str(script)
    monkeypatch.setitem(sys.modules, "__main__", program)
    return written


@pytest.mark.parametrize(("left_out", "there"), [(main_left_out, False), (nullcontext, True)])
def test_the_main_program_is_not_run_again(
    marker: Path, monkeypatch: pytest.MonkeyPatch, left_out: Callable[[], object], there: bool
) -> None:
    """Protects scripts without a guard: a process does not run their file again. Without our care (counter-test) it
    does.
    """
    monkeypatch.setattr(from_source, "main_left_out", left_out)
    before = sys.modules["__main__"]
    assert done_from_source(abs, -3) == 3
    assert marker.exists() is there
    assert sys.modules["__main__"] is before
