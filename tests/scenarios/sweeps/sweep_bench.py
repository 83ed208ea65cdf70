"""Small sweeps, processes that run them and can be killed, and what their stores hold, to the last bit."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import sqlite3
import struct
import time
from pathlib import Path
from typing import Any

import yaml

from raidsim.scenarios.sweeps import sweep as sweep_module
from raidsim.scenarios.sweeps.plan import SweepPlan, read_sweep
from raidsim.scenarios.sweeps.result_store import ResultStore
from raidsim.scenarios.sweeps.sweep import SweepProgress, run_sweep
from raidsim.scenarios.sweeps.workers import ProcessWorkers, SweepWorkers, ThisProcess

SCENARIO: dict[str, Any] = {
    "kernel": "linux-6.1",
    "machine": {"drives": {"model": "WD2500JB", "count": 4}},
    "workload": {"kind": "load", "depth": 2, "read_share": 0.7, "warm_up": "10ms", "duration": "100ms"},
    "arrays": {"md0": {"level": "raid5", "chunk": "64KiB"}},
}
RANGES: dict[str, Any] = {"block_size": {"from": "4KiB", "to": "64KiB", "log": True}, "depth": {"from": 1, "to": 16}}
COMPARED = ("sweeps", "paths", "points", "runs", "figures", "estimates", "usages")
"""All tables but the one of times."""


def sweep_file(folder: Path, points: int = 60, name: str = "sweep.yaml", **changes: Any) -> Path:
    """A sample of a small array."""
    document = {"scenario": SCENARIO, "sample": {"points": points, "seed": 1, "ranges": RANGES}, **changes}
    path = folder / name
    path.write_text(
        yaml.safe_dump({key: value for key, value in document.items() if value is not None}, sort_keys=False),
        encoding="utf-8",
    )
    return path


def plan_of(folder: Path, points: int = 60, **changes: Any) -> SweepPlan:
    """The same, read."""
    return read_sweep(sweep_file(folder, points, **changes))


def run(
    plan: SweepPlan, path: Path | str, workers: SweepWorkers | None = None, **options: Any
) -> tuple[int, SweepProgress]:
    """Run a sweep here, or where it is told to be."""
    with ResultStore(path, write=True) as store, workers or ThisProcess() as team:
        return run_sweep(plan, store, team, **options)


def tables(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """All tables but the times, in the order in which the file has them, with floats as their eight bytes."""
    db = sqlite3.connect(path)
    try:
        return {name: [tuple(map(_exact, row)) for row in db.execute(f"SELECT * FROM {name}")] for name in COMPARED}
    finally:
        db.close()


def _exact(cell: Any) -> Any:
    return struct.pack("<d", cell) if isinstance(cell, float) else cell


def settled(path: Path) -> int:
    """Runs in a store that somebody else may be writing to; 0 while there is none."""
    try:
        db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=10)
    except sqlite3.OperationalError:
        return 0
    try:
        return int(db.execute("SELECT count(*) FROM runs").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
    finally:
        db.close()


def _sweep_process(file: Path, store: Path, workers: int, most: int | None) -> None:
    sweep_module._BATCH_S = 0.02  # so that there are many moments to be killed at

    def stop(progress: SweepProgress) -> None:
        if most is not None and progress.settled >= most:
            os.kill(os.getpid(), signal.SIGKILL)

    with ResultStore(store, write=True) as results, ProcessWorkers(workers) if workers else ThisProcess() as team:
        run_sweep(read_sweep(file), results, team, watch=stop)


def begun(file: Path, store: Path, workers: int, most: int | None = None) -> multiprocessing.process.BaseProcess:
    """A process that runs a sweep; those after the first one begin at once.

    With `most` it kills itself when so many runs are settled, if nobody has done so before.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["raidsim.scenarios.sweeps.sweep", "raidsim.scenarios.sweeps.workers"])
    process = context.Process(target=_sweep_process, args=(file, store, workers, most))
    process.start()
    return process


def kill_and_resume(file: Path, store: Path, kills: int, workers: int, seed: int = 0) -> list[int]:
    """Run a sweep to its end through so many kills at random moments; the runs there were after each."""
    moments = random.Random(seed)
    share = read_sweep(file).runs // (kills + 1)
    found = [0]
    for number in range(1, kills + 1):
        process = begun(file, store, workers, most=number * share)
        enough = found[-1] + moments.randrange(share)
        while process.is_alive() and settled(store) < enough:
            time.sleep(0.005)
        time.sleep(moments.uniform(0.0, 0.1))
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL
        found.append(settled(store))
    process = begun(file, store, workers)
    process.join()
    assert process.exitcode == 0
    return found[1:]
