"""One reader under the fuzzer: what it is given next, and what is kept of what it does wrong.

A finding does not end the campaign: the first input is kept for each place in the code that findings come from.
"""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections.abc import Callable
from pathlib import Path

from raidsim.tests.fuzz.check import MEGABYTES, Finding, trial
from raidsim.tests.fuzz.mutations import mutated
from raidsim.tests.fuzz.targets import TARGETS

STATISTICS = "statistics.json"
_SLOWER = 4.0
"""Times that a reader is slower where every branch is watched, about; what is slow is looked at again without that."""


class Watched:
    """A reader under the fuzzer.

    Parameters
    ----------
    name
        Of the target.
    folder
        Where findings and :data:`STATISTICS` go.
    known
        Inputs that pieces are taken from.
    change
        The fuzzer's own way to change some bytes into so many at the most.
    """

    def __init__(self, name: str, folder: Path, known: list[bytes], change: Callable[[bytes, int], bytes]) -> None:
        self._target = TARGETS[name]
        self._folder = folder
        self._known = known
        self._change = change
        self._began = self._said = time.monotonic()
        self._runs = 0
        for data in known:  # libraries that are loaded on first use are no memory of the reader's
            trial(self._target, data, _SLOWER)
        self._found: dict[str, str] = {}

    def once(self, data: bytes) -> None:
        """One input."""
        self._runs += 1
        finding = trial(self._target, data, _SLOWER, MEGABYTES << 20)
        if finding is not None:
            self._keep(data, finding)
        if time.monotonic() - self._said > 1:
            self._say()

    def mutated(self, data: bytes, most: int, seed: int) -> bytes:
        """The next input: half of them as the fuzzer makes them, half as :mod:`.mutations` does."""
        if seed % 2:
            return self._change(data, most)
        return mutated(data, random.Random(seed), self._known, self._target.packed)[:most]

    def _keep(self, data: bytes, finding: Finding) -> None:
        key = f"{finding.kind} {finding.where}"
        if key in self._found:
            return
        name = f"{finding.kind}-{hashlib.sha256(data).hexdigest()[:12]}"
        self._found[key] = name
        (self._folder / name).write_bytes(data)
        (self._folder / f"{name}.txt").write_text(f"{key}\n{finding.words}\n", encoding="utf-8", errors="replace")
        self._say()

    def _say(self) -> None:
        self._said = time.monotonic()
        said = {"runs": self._runs, "seconds": round(self._said - self._began, 1), "found": self._found}
        (self._folder / STATISTICS).write_text(json.dumps(said), encoding="utf-8")
