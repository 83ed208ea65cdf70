"""How long commands take to answer: `--help`, the import, and the first result of every scenario of the library.

Beside that, the CPU time that they take before they simulate: of a run and a replay that are over at once, and of a
worker process. Libraries take part of it, and the machine may be busy, so it is given as a ratio, too: to the CPU time
of a Python that only imports numpy, SimPy and pydantic, in turn with the commands.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.documents.library import library_names
from raidsim.scenarios.running.simulate import simulate
from raidsim.scenarios.workers.task_pool import TaskPool

from .loads import DRIVE

AIMS_S = {"help": 0.3, "import": 0.05, "run": 1.0}
_ROUNDS = 3
_STARTS = 7
_CPU_AIMS_S = {"run": 0.35, "replay": 0.35, "worker": 0.2}
_LIBRARIES = "import numpy, simpy, pydantic"
_TINY = f"""
machine: {{model: server, drives: {{model: {DRIVE}, count: 4}}}}
arrays: {{md0: {{level: raid5, chunk: 64KiB}}}}
workload: {{kind: load, pattern: random, block_size: 4KiB, warm_up: 10ms, duration: 100ms}}
"""


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


@dataclass(frozen=True, slots=True)
class Start:
    """What is simulated at once.

    Attributes
    ----------
    cpu_s
        CPU time (s), median of seven.
    ratio
        To that of importing the libraries.
    aim_s
        CPU time (s) at most; None for the libraries.
    """

    name: str
    cpu_s: float
    ratio: float
    aim_s: float | None


def starts() -> list[Start]:
    """The libraries, a run and a replay in turn, and a worker process."""
    with TemporaryDirectory(prefix="raidsim-bench-") as folder:
        scenario, trace = Path(folder) / "tiny.yaml", Path(folder) / "tiny.spc"
        scenario.write_text(_TINY, encoding="ascii")
        lines = [f"0,{1000 * number},4096,r,{number / 1000:.3f}" for number in range(50)]
        trace.write_text("\n".join(lines) + "\n", encoding="ascii")
        raidsim = [sys.executable, "-m", "raidsim"]
        commands = {
            _LIBRARIES: [sys.executable, "-c", _LIBRARIES],
            "run": [*raidsim, "run", str(scenario)],
            "replay": [*raidsim, "replay", str(trace), "--machine", str(scenario)],
        }
        worked: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(_STARTS):
            for name, command in commands.items():
                before = _children_s()
                subprocess.run(command, stdout=subprocess.DEVNULL, check=True)  # nosec B603 - of this module
                worked[name].append(_children_s() - before)
    spec = document_from(_TINY).spec()
    worked["worker"] = []
    for _ in range(_STARTS):
        with TaskPool(2) as pool:
            worked["worker"] += pool.run(_cpu_s_of_worker, [spec, spec])
    libraries_s = median(worked[_LIBRARIES])
    return [
        Start(name, median(each), median(each) / libraries_s, _CPU_AIMS_S.get(name)) for name, each in worked.items()
    ]


def _cpu_s_of_worker(spec: ScenarioSpec) -> float:
    """CPU time (s) of a worker until it has simulated a tiny scenario."""
    simulate(spec)
    return process_time()


def starts_as_text(found: list[Start]) -> str:
    """The table."""
    lines = [f"{'start-up':<34} {'CPU':>12} {'ratio':>9} {'aim':>7}  met"]
    for one in found:
        aim = "" if one.aim_s is None else f"{one.aim_s:.2f} s"
        met = "" if one.aim_s is None else "yes" if one.cpu_s <= one.aim_s else "no"
        lines.append(f"{one.name:<34} {one.cpu_s:>10.3f} s {one.ratio:>9.2f} {aim:>7}  {met}".rstrip())
    return "\n".join(lines)


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
