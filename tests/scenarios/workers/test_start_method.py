"""Workers are forked from a server that has imported their work, and give what any other process gives."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import subprocess
import sys
from multiprocessing import get_context

import pytest

from raidsim.scenarios.documents.document import read_document
from raidsim.scenarios.workers import worker_pool
from raidsim.scenarios.workers.process_setup import end_server
from raidsim.scenarios.workers.start_method import worker_context
from raidsim.scenarios.workers.task_pool import TaskPool
from raidsim.tests.processes import PATIENCE_S
from raidsim.tests.scenarios.workers.forked import busy, holds_interrupts_back, origin, simulated

pytestmark = pytest.mark.skipif(
    worker_context(origin).get_start_method() != "forkserver", reason="no server that forks workers here"
)


def test_workers_import_nothing_that_the_server_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects short commands on several processes: each worker would take as long to import as to simulate. Counter-
    test: a worker that is spawned imports its work.
    """
    end_server()
    with TaskPool(2) as pool:
        for own, parent, imported_by in pool.run(origin, [1, 2]):
            assert imported_by == parent not in (own, os.getpid())
    monkeypatch.setattr(worker_pool, "worker_context", lambda _: get_context("spawn"))
    with TaskPool(2) as pool:
        for own, parent, imported_by in pool.run(origin, [1, 2]):
            assert (own, os.getpid()) == (imported_by, parent)


def test_results_do_not_depend_on_how_workers_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects every comparison: forked, spawned or in this process, a run gives the same to the last bit."""
    spec = read_document("home-nas", ["warm_up=0s", "duration=50ms", "depth=4"]).spec()
    with TaskPool(2) as pool:
        found = pool.run(simulated, [spec, spec])
    monkeypatch.setattr(worker_pool, "worker_context", lambda _: get_context("spawn"))
    with TaskPool(2) as pool:
        found += pool.run(simulated, [spec, spec])
    assert [each == simulated(spec) for each in found] == [True] * 4


def test_the_server_is_waited_for() -> None:
    """Protects `time raidsim ...`: the processor time of workers is the command's, once their server has ended."""
    with TaskPool(2) as pool:
        pool.run(busy, [0.3, 0.3])
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    end_server()
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before > 0.2
    end_server()  # there is none any more


FOREIGN_SERVER = """
import multiprocessing
from raidsim.scenarios.workers.task_pool import TaskPool
from raidsim.tests.scenarios.workers.forked import holds_interrupts_back

if __name__ == "__main__":
    multiprocessing.get_context("forkserver").Pool(1).close()
    with TaskPool(2) as pool:
        print(pool.run(holds_interrupts_back, [1, 2]))
"""


def test_ctrl_c_is_left_to_the_parent_whoever_has_started_the_server() -> None:
    """Protects Ctrl-C in programs that have a server of their own: its workers do not print where they were."""
    with TaskPool(2) as pool:
        assert pool.run(holds_interrupts_back, [1, 2]) == [True, True]
    command = [sys.executable, "-c", FOREIGN_SERVER]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE_S)
    assert done.stdout == "[True, True]\n"
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_where_nothing_can_fork_workers_are_spawned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects Windows, which has no server, and macOS, where a fork may crash beside the system's threads."""
    monkeypatch.setattr(sys, "platform", "darwin")
    assert worker_context(origin).get_start_method() == "spawn"
    monkeypatch.undo()
    monkeypatch.setattr(multiprocessing, "get_all_start_methods", lambda: ["spawn"])
    assert worker_context(origin).get_start_method() == "spawn"
