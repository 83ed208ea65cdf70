"""This source beside another revision, or its compiled build, in alternating runs on the same machine.

Both sources run the loads of this one, from source, each in separate processes. A pair of runs follows each other at
once, so that a machine that is slower for some time is slower for both; the median over the pairs counts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from raidsim.compiled.loader import PURE, ROOT

from .history import REGRESSION
from .measure import spread

_ERRORS = 2.0


@dataclass(frozen=True, slots=True)
class Pairs:
    """One load or component in all pairs of runs.

    Attributes
    ----------
    factors
        How many times as fast this source is as the other one, by pair.
    """

    name: str
    factors: tuple[float, ...]

    @property
    def factor(self) -> float:
        """The median."""
        return median(self.factors)

    @property
    def error(self) -> float:
        """Standard error of the median, as a share of it."""
        return spread(list(self.factors))

    @property
    def is_regression(self) -> bool:
        """Whether it is slower by more than a tenth, and not by chance."""
        return self.factor < 1.0 - REGRESSION and self.factor * (1.0 + _ERRORS * self.error) < 1.0


def usual_revision() -> str:
    """What is compared with unless a revision is given: the last commit, or the one before if nothing has changed."""
    return "HEAD" if _git("status", "--porcelain", "--", "model").strip() else "HEAD~1"


def compare(revision: str, pairs: int) -> list[Pairs]:
    """Run `pairs` pairs of runs of this source and of `revision`."""
    factors: dict[str, list[float]] = {}
    with _checkout(revision) as other, tempfile.TemporaryDirectory(prefix="raidsim-bench-") as name:
        paths = [_path_of(Path(name) / which, root) for which, root in (("this", ROOT), ("other", other))]
        for _ in range(pairs):
            these, others = (_speeds(path) for path in paths)
            for each, speed in these.items():
                if each in others:
                    factors.setdefault(each, []).append(speed / others[each])
    return [Pairs(each, tuple(found)) for each, found in factors.items()]


def compare_build(pairs: int) -> list[Pairs]:
    """Run `pairs` pairs of runs of the compiled build and of its source."""
    factors: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="raidsim-bench-") as name:
        path = _path_of(Path(name) / "this", ROOT)
        for _ in range(pairs):
            compiled, source = _speeds(path, pure=False), _speeds(path)
            for each, speed in compiled.items():
                factors.setdefault(each, []).append(speed / source[each])
    return [Pairs(each, tuple(found)) for each, found in factors.items()]


def as_text(found: Sequence[Pairs], other: str) -> str:
    """The comparison with `other`, a revision or the source, to read."""
    lines = [f"{'load or component':<44} {'times as fast as ' + other:>28} {'+-':>6}"]
    lines += [
        f"{one.name:<44} {one.factor:>28.3f} {one.error:>6.1%}{'  slower' if one.is_regression else ''}"
        for one in found
    ]
    return "\n".join(lines)


def _path_of(folder: Path, root: Path) -> Path:
    """A folder from which the source below `root` is imported as raidsim."""
    folder.mkdir()
    (folder / "raidsim").symlink_to(root)
    return folder


def _speeds(path: Path, pure: bool = True) -> dict[str, float]:
    """Return the ratios to bare SimPy by name, measured in a separate process; from source if `pure`."""
    environment = {**os.environ, "PYTHONPATH": str(path), PURE: "1" if pure else ""}
    command = [sys.executable, "-m", "benchmarks", "--speeds", "--rounds", "1"]
    # Of this module, for raidsim itself.
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)  # nosec B603
    return {str(name): float(ratio) for name, ratio in json.loads(done.stdout).items()}


@contextmanager
def _checkout(revision: str) -> Iterator[Path]:
    """The files of a revision in a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="raidsim-bench-") as name:
        root = Path(name) / "source"
        _git("worktree", "add", "--detach", str(root), revision)
        try:
            yield root
        finally:
            _git("worktree", "remove", "--force", str(root))


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # nosec B603
    if done.returncode:
        raise SystemExit(f"benchmarks: git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout
