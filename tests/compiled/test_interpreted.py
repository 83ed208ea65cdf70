"""Nothing that runs for every I/O is left to the interpreter."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from raidsim.compiled.loader import BUILT, PURE, ROOT, CompiledFinder
from raidsim.tests.compiled.interpreted import LIBRARY, MADE


def functions(*arguments: str) -> dict[str, dict[str, float]]:
    """Interpreted functions that are called for every I/O, by run: counted in a process of its own."""
    command = [sys.executable, "-m", "raidsim.tests.compiled.interpreted", *arguments]
    environment = {**os.environ, PURE: ""}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, float]] = json.loads(done.stdout)
    return found


@pytest.mark.slow
@pytest.mark.skipif(not CompiledFinder(BUILT, ROOT).fresh, reason="no whole build of this source: make compiled")
def test_no_interpreted_function_runs_for_every_io() -> None:
    """Protects the speed: one interpreted function a member I/O costs as much as a whole member I/O should."""
    found = functions(str(BUILT))
    assert {*LIBRARY, *MADE} < set(found)
    assert {name: often for name, often in found.items() if often} == {}


def test_from_source_functions_are_seen() -> None:
    """The counter-test: from source a run calls some for each I/O, the clock's among them."""
    for name, often in functions("", "a drive alone", "replay, closed").items():
        assert any(function.startswith("engine.py:") for function in often), name
