"""How long commands take to answer: `--help`, the import, and the first result of every scenario of the library."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter

from raidsim.scenarios.documents.library import library_names

AIMS_S = {"help": 0.3, "import": 0.05, "run": 1.0}
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Answer:
    """One command.

    Attributes
    ----------
    first_s, cpu_s
        Until the first byte of its answer (s), or until it has ended if it says nothing, and CPU time (s) of the whole
        command, which says what the first would be on an idle machine; medians of three.
    """

    name: str
    first_s: float
    cpu_s: float
    aim_s: float


def measure() -> list[Answer]:
    """All of them, one after the other, in processes of their own."""
    python = [sys.executable, "-m", "raidsim"]
    commands: list[tuple[str, Sequence[str], float]] = [
        ("raidsim --help", [*python, "--help"], AIMS_S["help"]),
        ("import raidsim", [sys.executable, "-c", "import raidsim"], AIMS_S["import"]),
    ]
    commands += [
        (f"raidsim run {name}", [*python, "run", name, "--no-relief"], AIMS_S["run"]) for name in library_names()
    ]
    return [Answer(name, *_seconds(command), aim_s) for name, command, aim_s in commands]


def _seconds(command: Sequence[str]) -> tuple[float, float]:
    taken, worked = [], []
    for _ in range(_ROUNDS):
        begin, before = perf_counter(), _children_s()
        # Of this module, for raidsim itself.
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:  # nosec B603
            assert process.stdout is not None
            process.stdout.read(1)
            taken.append(perf_counter() - begin)
            process.stdout.read()
        worked.append(_children_s() - before)
    return median(taken), median(worked)


def _children_s() -> float:
    """CPU time (s) of all commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def as_text(answers: list[Answer]) -> str:
    """The table."""
    lines = [f"{'command':<34} {'first result':>12} {'CPU':>9} {'aim':>7}  met"]
    for one in answers:
        met = "yes" if one.first_s < one.aim_s else "no"
        lines.append(f"{one.name:<34} {one.first_s:>10.2f} s {one.cpu_s:>7.2f} s {one.aim_s:>5.1f} s  {met}")
    return "\n".join(lines)
