"""Sweeps that are killed, on this computer and on a cluster: what was done is kept, and the tables are the same."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path

import pytest

from raidsim.model.core.errors import InputError
from raidsim.scenarios.sweeps.point import Batch, BatchReport
from raidsim.scenarios.sweeps.sweep import SweepProgress
from raidsim.scenarios.sweeps.workers import ClusterWorkers, ProcessWorkers
from raidsim.tests.processes import PATIENCE_S, is_there
from raidsim.tests.scenarios.sweeps.sweep_bench import kill_and_resume, plan_of, run, settled, sweep_file, tables

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")


UNDISTURBED = """
import signal
for name in ("SIGTERM", "SIGHUP"):
    signal.signal(getattr(signal, name), signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
from raidsim.cli.main import main
main()
"""
"""The command line with the signals of a terminal: what runs in the background of a shell inherits that some are
ignored."""


def test_a_killed_sweep_goes_on_to_the_same_tables(tmp_path: Path) -> None:
    """Nothing that was reported as done is lost, and nothing is there twice or differs in a bit."""
    file = sweep_file(tmp_path, 60)
    found = kill_and_resume(file, tmp_path / "killed.sqlite", kills=3, workers=0)
    run(plan_of(tmp_path, 60), tmp_path / "whole.sqlite")
    assert found == sorted(found)
    assert tables(tmp_path / "killed.sqlite") == tables(tmp_path / "whole.sqlite")


@pytest.mark.slow
def test_a_sweep_on_two_processes_is_killed_again_and_again(tmp_path: Path) -> None:
    """The same with workers, which end with the process that they work for."""
    file = sweep_file(tmp_path, 200)
    found = kill_and_resume(file, tmp_path / "killed.sqlite", kills=4, workers=2)
    run(plan_of(tmp_path, 200), tmp_path / "whole.sqlite")
    assert found == sorted(found)
    assert 0 < found[-1] < 200
    assert tables(tmp_path / "killed.sqlite") == tables(tmp_path / "whole.sqlite")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_sweep_that_is_asked_to_end_leaves_nothing_but_its_results(tmp_path: Path, number: signal.Signals) -> None:
    """Protects folders and terminals: no locks, journals or warnings are left, and the status is the signal's."""
    file, store = sweep_file(tmp_path, 4000), tmp_path / "results" / "a.sqlite"
    store.parent.mkdir()
    command = [sys.executable, "-c", UNDISTURBED, "sweep", str(file), "--store", str(store), "--workers", "2"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and settled(store) == 0:
            time.sleep(0.02)
        process.send_signal(number)
        _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 128 + number, said
    assert "Traceback" not in said
    assert "semaphore" not in said
    assert [path.name for path in store.parent.iterdir()] == [store.name]
    assert settled(store) > 0


class _KilledOnce(ProcessWorkers):
    """Two processes, of which one is killed while it works on the third batch."""

    def __init__(self) -> None:
        super().__init__(2)
        self.restarts = self.batches = 0

    def submit(self, batch: Batch) -> Future[BatchReport]:
        future = super().submit(batch)
        self.batches += 1
        if self.batches == 3:
            assert self._executor is not None
            processes = self._executor._processes  # type: ignore[attr-defined]
            os.kill(next(iter(processes)), signal.SIGKILL)
        return future

    def restart(self) -> None:
        self.restarts += 1
        super().restart()


@pytest.mark.slow
def test_a_killed_worker_costs_nothing(tmp_path: Path) -> None:
    """Its points are run again by those that take its place, and the tables are those of one process."""
    plan = plan_of(tmp_path, 40)
    workers = _KilledOnce()
    run(plan, tmp_path / "killed.sqlite", workers)
    run(plan, tmp_path / "whole.sqlite")
    assert workers.restarts == 1
    assert tables(tmp_path / "killed.sqlite") == tables(tmp_path / "whole.sqlite")


@contextmanager
def _cluster(processes: int) -> Iterator[str]:
    """A Dask cluster on this computer; its address."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=processes, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=60
    ) as cluster:
        yield cluster.scheduler_address


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_gives_the_same_tables_though_a_worker_is_killed(tmp_path: Path) -> None:
    """Dask runs what a dead worker had on another one, and the bits are the same."""
    plan = plan_of(tmp_path, 150)
    with _cluster(2) as address, ClusterWorkers(address) as workers:
        pids = list(workers._client.run(os.getpid).values())
        killed: list[int] = []

        def kill_one(progress: SweepProgress) -> None:
            if progress.simulated >= 20 and not killed:
                killed.append(progress.simulated)
                os.kill(pids[0], signal.SIGKILL)

        number, progress = run(plan, tmp_path / "cluster.sqlite", workers, watch=kill_one)
    run(plan, tmp_path / "whole.sqlite")
    assert (number, progress.failed) == (1, 0)
    assert killed
    assert killed[0] < 150
    assert tables(tmp_path / "cluster.sqlite") == tables(tmp_path / "whole.sqlite")


@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_that_is_not_there_is_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong address is refused after a moment, and so is what is none."""
    pytest.importorskip("distributed")
    monkeypatch.setattr(ClusterWorkers, "_CONNECT_S", 0.3)
    for address in ("tcp://127.0.0.1:1", "nonsense://x", "tcp://"):
        with pytest.raises(InputError, match=r"--scheduler: (no scheduler at|.* is no address)"):
            ClusterWorkers(address)


def test_processes_end_with_the_one_they_work_for(tmp_path: Path) -> None:
    """Leaving a sweep by an interrupt leaves no process behind."""
    workers = ProcessWorkers(1)
    pids: list[int] = []

    def stop(_: SweepProgress) -> None:
        if workers._executor is not None:
            pids.extend(workers._executor._processes)  # type: ignore[attr-defined]
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(plan_of(tmp_path, 8), tmp_path / "a.sqlite", workers, watch=stop)
    assert pids
    until = time.monotonic() + PATIENCE_S
    while any(is_there(pid) for pid in pids) and time.monotonic() < until:
        time.sleep(0.01)
    assert not any(is_there(pid) for pid in pids)
    assert threading.active_count() < 20
