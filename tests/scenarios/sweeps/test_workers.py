"""Workers of a sweep, without any: what the command does about a cluster that has none."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from raidsim.model.core.errors import InputError
from raidsim.scenarios.sweeps import workers


class Scheduler:
    """A scheduler's client; `threads` are those of its workers."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.status = "running"
        self.threads: dict[str, int] = {}

    def nthreads(self) -> dict[str, int]:
        """Threads of each worker."""
        return self.threads

    def get_executor(self) -> None:
        """Nothing is submitted."""


def test_a_cluster_is_waited_for_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects a sweep from a cluster that is gone, and from giving up one that starts again: a worker that comes back
    begins another minute.
    """
    clock = [1000.0]
    scheduler = Scheduler()
    module = SimpleNamespace(Client=lambda *_, **__: scheduler, scheduler=SimpleNamespace(KilledWorker=OSError))
    monkeypatch.setitem(sys.modules, "distributed", module)
    monkeypatch.setattr(workers, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    told: list[str] = []
    cluster = workers.ClusterWorkers("tcp://head:8786", told.append)

    def waited(seconds: float) -> None:
        clock[0] += seconds
        cluster.check()

    waited(0.0)
    waited(59.0)
    scheduler.threads = {"a": 4}
    waited(2.0)
    assert cluster.count == 4
    scheduler.threads = {}
    waited(2.0)
    waited(59.0)
    assert told == ["the cluster at tcp://head:8786 has no workers; waiting for 60 s"] * 2
    with pytest.raises(InputError, match="has been without workers for 60 s"):
        waited(2.0)
