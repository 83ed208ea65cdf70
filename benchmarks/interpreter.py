"""Which Python the virtual environment is made from: the first on the PATH, unless another one is clearly faster.

One that was built without profile-guided optimization, as pyenv builds it unless told otherwise, takes a fifth longer
for every simulation than a distribution's. A script for before anything is installed; prints the interpreter's path.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import NamedTuple

OLDEST = (3, 11)
NEWEST_TRIED = (3, 13)
"""The newest whose results are known to be the same, bit by bit (``make golden``)."""
CLEARLY = 0.85
"""Share of the first one's time."""
ROUNDS = 5
TIMEOUT_S = 30.0

PROBE = """
import ensurepip, os, sys, time, venv
def chore():
    seen, calls = {}, 0
    def count():
        for i in range(40000):
            seen[i % 100] = seen.get(i % 100, 0.0) + i * 0.5
            yield i
    for _ in count():
        calls = max(calls, 1)
times = []
for _ in range(5):
    began = time.perf_counter()
    chore()
    times.append(time.perf_counter() - began)
print(*sys.version_info[:2], min(times), os.path.realpath(sys.executable))
"""


class Probed(NamedTuple):
    """What an interpreter said of itself."""

    version: tuple[int, int]
    seconds: float
    program: str
    """Its own path: a launcher has many names."""


def main() -> None:
    """Print the interpreter to use; "python3" if none will do, which then says itself what it lacks."""
    found: dict[str, str] = {}
    tried = []
    for path in _on_path():
        probed = _probed(path)
        if probed is None or probed.version < OLDEST or probed.program in found:
            continue
        found[probed.program] = path
        if len(found) == 1 or probed.version <= NEWEST_TRIED:
            tried.append(path)
    print(_fastest(tried) if tried else "python3")


def _fastest(paths: list[str]) -> str:
    """The first one, unless another is clearly faster."""
    first = paths[0]
    seconds = dict.fromkeys(paths, float("inf"))
    # In turns: what else the machine does must not fall on one of them.
    for _ in range(ROUNDS if len(paths) > 1 else 0):
        for path in paths:
            probed = _probed(path)
            if probed is not None:
                seconds[path] = min(seconds[path], probed.seconds)
    best = min(paths, key=seconds.__getitem__)
    if best == first or seconds[best] >= CLEARLY * seconds[first]:
        return first
    share = seconds[best] / seconds[first]
    print(f"Python: {best}, {share:.0%} of the time of {first} (that one: make PYTHON={first} ...)", file=sys.stderr)
    return best


def _on_path() -> list[str]:
    """Pythons on the PATH, in its order, a folder's plain python3 first."""
    paths = []
    for folder in os.get_exec_path():
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        paths += [os.path.join(folder, name) for name in names if re.fullmatch(r"python3(\.\d+)?", name)]
    return paths


def _probed(path: str) -> Probed | None:
    """None for what cannot make an environment: no venv, or a launcher without its Python."""
    try:
        done = subprocess.run([path, "-c", PROBE], capture_output=True, text=True, timeout=TIMEOUT_S, check=False)  # nosec B603 # no shell
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode:
        return None
    major, minor, seconds, program = done.stdout.rstrip("\n").split(" ", 3)
    return Probed((int(major), int(minor)), float(seconds), program)


if __name__ == "__main__":
    main()
