"""A plugin of pytest that collects tests once and runs them on one mutant after the other, each in a fork.

It runs in an instrumented checkout (`python -m raidsim.tests.mutation` makes it). A mutant meets the tests of the files
nearest to its module. A test that fails runs again without the mutant; one that fails then, too, is not used. What
is imported while tests are collected is there before any fork, and so is what most simulations read from catalogues;
mutants of code that runs then need a process of their own, or a fork from before.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import resource
import shutil
import signal
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from raidsim.cli.main import main
from raidsim.tests.mutation.switch import ACTIVE, REACHED, install

PLAN = "RAIDSIM_MUTANTS_PLAN"
"""Environment variable: the file of the plan."""
_STARTS_S = 20.0
"""CPU time of a first simulation, at most."""
_HANGS = 30.0
"""Wall-clock time over the limit of CPU time, after which a process does not end."""
_MEMORY = 4 << 30
"""Address space (bytes) of a process with a mutant: a loop without an end may fill memory before its time is over."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a process of pytest is to do.

    Attributes
    ----------
    folder
        Where results are: `mutants.jsonl` and others.
    root
        The instrumented checkout.
    keys
        Names of the mutants, by number.
    near
        For each mutant the test files that import its module, the nearest first.
    alone
        The one mutant that this process runs from its start; None: all that may be forked.
    limit_s
        CPU time of tests for each mutant.
    slow
        If true, tests marked slow run too.
    """

    folder: str
    root: str
    keys: list[str]
    near: list[list[str]] = field(default_factory=list)
    alone: int | None = None
    limit_s: float = 40.0
    slow: bool = False

    @property
    def mutants(self) -> Path:
        """A line for each mutant that is decided."""
        return Path(self.folder, "mutants.jsonl")

    @property
    def unusable(self) -> Path:
        """A line for each test that fails without a mutant, for it looks at the text of the checkout."""
        return Path(self.folder, "unusable.jsonl")

    @property
    def waiting(self) -> Path:
        """A line for each mutant that needs a separate process."""
        return Path(self.folder, "waiting.jsonl")

    @property
    def alone_result(self) -> Path:
        """What the tests of such a process came to."""
        return Path(self.folder, "alone.jsonl")


def lines(path: Path) -> list[dict[str, Any]]:
    """What a file of results has, without a last line that was cut off."""
    if not path.exists():
        return []
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def append(path: Path, **values: Any) -> None:
    """A line more."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(values) + "\n")


def pytest_runtestloop(session: pytest.Session) -> bool:
    """In place of pytest's own loop."""
    plan = Plan(**json.loads(Path(os.environ[PLAN]).read_text(encoding="utf-8")))
    if plan.alone is not None:
        _alone(session, plan)
    else:
        Server(session, plan).run()
    return True


def _file(test: str) -> str:
    return test.partition("::")[0]


def _slow(item: pytest.Item) -> bool:
    """Whether a test takes long, not only all tests of its folder together."""
    return any(not mark.kwargs.get("together") for mark in item.iter_markers("slow"))


def _simulate_once() -> None:
    """Have read what most simulations read."""
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
        main(["run", "home-nas", "--set", "duration=0.05s"])


def _first_failure(items: list[pytest.Item], limit_s: float, running: Path) -> str:
    """The first of some tests that fails, "" if none does, "limit" if some were not run for want of time."""
    began = _cpu_s()
    for item, following in zip(items, [*items[1:], None], strict=False):
        if _cpu_s() - began > limit_s:
            return "limit"
        running.write_text(item.nodeid, encoding="utf-8")
        if any(report.failed for report in runtestprotocol(item, nextitem=following, log=False)):
            return item.nodeid
    return ""


def _cpu_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _alone(session: pytest.Session, plan: Plan) -> None:
    assert plan.alone is not None
    unusable = {each["test"] for each in lines(plan.unusable)}
    items = [item for item in session.items if (plan.slow or not _slow(item)) and item.nodeid not in unusable]
    by = _first_failure(items, plan.limit_s, Path(plan.folder, "running"))
    append(plan.alone_result, by=by, tests=len(items), cpu_s=round(_cpu_s(), 1))


class Server:
    """Forks a process for each mutant."""

    def __init__(self, session: pytest.Session, plan: Plan) -> None:
        self.plan = plan
        self.by_file: dict[str, list[pytest.Item]] = {}
        for item in session.items:
            if plan.slow or not _slow(item):
                self.by_file.setdefault(_file(item.nodeid), []).append(item)
        self.unusable = {each["test"] for each in lines(plan.unusable)}
        self.at_start = set(install().reached)
        self.scratch = Path(str(session.config.option.basetemp))

    def run(self) -> None:
        """Decide the mutants that are not decided yet."""
        gc.collect()
        gc.freeze()  # A collection in a fork would copy all that it looks at.
        decided = {each["mutant"] for each in lines(self.plan.mutants) if each["by"] or each["slow"] >= self.plan.slow}
        left = [number for number, key in enumerate(self.plan.keys) if key not in decided]
        for number in left:
            if number in self.at_start:
                append(self.plan.waiting, number=number)
        left = [number for number in left if number not in self.at_start]
        early = self._read_early()
        for number in left:
            if number in early:
                self._meet(number)
        _simulate_once()
        gc.collect()
        gc.freeze()
        for number in left:
            if number not in early:
                self._meet(number)

    def _read_early(self) -> set[int]:
        """The mutants that a first simulation reaches: what it reads is not read again."""
        reached = Path(self.plan.folder, "reached")
        reached.write_text("", encoding="utf-8")
        os.environ[REACHED] = str(reached)
        self._forked(_simulate_once, -1, _STARTS_S)
        del os.environ[REACHED]
        return {int(line) for line in reached.read_text(encoding="utf-8").split()}

    def _meet(self, number: int) -> None:
        """Run tests on a mutant."""
        items = [item for file in self.plan.near[number] for item in self.by_file.get(file, [])]
        used_s, by = 0.0, ""
        while True:
            items = [item for item in items if item.nodeid not in self.unusable]
            spent_s, by = self._first_failure(items, number)
            used_s += spent_s
            test = by.partition(": ")[0]
            suspect = next((at for at, item in enumerate(items) if item.nodeid == test), None)
            if suspect is None or not self._first_failure(items[suspect : suspect + 1], -1)[1]:
                break
            self.unusable.add(test)
            append(self.plan.unusable, test=test)
            items = items[suspect:]
        append(
            self.plan.mutants,
            mutant=self.plan.keys[number],
            by=by,
            tests=len(items),
            slow=self.plan.slow,
            cpu_s=round(used_s, 1),
        )
        print(f"{self.plan.keys[number]}: {by or 'survives'} ({used_s:.0f} s)", flush=True)

    def _first_failure(self, items: list[pytest.Item], number: int) -> tuple[float, str]:
        """CPU time and the first failure of tests on a mutant, in a fork."""
        result, running = Path(self.plan.folder, "result"), Path(self.plan.folder, "running")
        result.unlink(missing_ok=True)
        running.unlink(missing_ok=True)

        def run() -> None:
            result.write_text(_first_failure(items, self.plan.limit_s, running), encoding="utf-8")

        used_s, ended = self._forked(run, number, 2 * self.plan.limit_s)
        if result.exists():
            return used_s, result.read_text(encoding="utf-8")
        test = running.read_text(encoding="utf-8") if running.exists() else ""
        return used_s, f"{test}: does not end ({ended})"

    def _forked(self, work: Callable[[], object], mutant: int, limit_s: float) -> tuple[float, str]:
        """CPU time of a process that does something with a mutant, and how it ended if it did not end well."""
        before = _cpu_s()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.setsid()
                resource.setrlimit(resource.RLIMIT_CPU, (int(limit_s) + 1, int(limit_s) + 5))
                resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
                install().active = mutant
                os.environ[ACTIVE] = str(mutant)
                work()
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        ends = time.monotonic() + _HANGS * limit_s
        while True:
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > ends:
                os.kill(child, signal.SIGKILL)
                ends += limit_s
            time.sleep(0.02)
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(parents=True, exist_ok=True)
        return _cpu_s() - before, "" if status == 0 else f"status {status}"
