"""The kept scenarios give the kept results, bit by bit, on every Python and numpy that is supported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from difflib import unified_diff
from typing import Any

import pytest

from raidsim.model.layouts import LEVELS
from raidsim.tests.golden.other_platforms import PROCESSORS
from raidsim.tests.golden.runs import RESULTS, SCENARIOS, as_text, result

KEPT: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", SCENARIOS)
def test_results_are_those_that_were_kept(name: str) -> None:
    """Protects every number: no change of code, machine, Python or numpy moves one without being seen."""
    kept, found = as_text(KEPT[name]), as_text(result(name))
    differences = list(unified_diff(kept.splitlines(), found.splitlines(), "kept", "now", lineterm="", n=1))
    assert not differences, "\n".join(
        [*differences[:40], "if it is meant: python -m raidsim.tests.golden.record, and say why in the change"]
    )


def test_another_processor_gives_the_same_bits() -> None:
    """Protects results from numpy, BLAS and the C library, whose code depends on what the processor can do."""
    name = "RAID 50 on a controller with a cache"
    program = f"from raidsim.tests.golden.runs import as_text, result; print(as_text(result({name!r})))"
    variables = {**os.environ, **PROCESSORS["no AVX, no FMA"], **PROCESSORS["other hashes"]}
    answer = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True, env=variables)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.rstrip("\n") == as_text(KEPT[name])


def test_twelve_are_kept_and_every_level_is_among_them() -> None:
    """Protects the spread: a level that none of them uses could change unseen."""
    assert list(KEPT) == sorted(SCENARIOS)
    assert len(SCENARIOS) == 12
    texts = json.dumps(SCENARIOS)
    assert not [level for level in LEVELS if level not in texts]


def test_a_bit_is_seen() -> None:
    """Protects the comparison: the last bit of a float makes another text."""
    assert as_text({"rate": 0.1 + 0.2}) != as_text({"rate": 0.3})
