"""A machine that nobody uses: what its rebuild or check does without a load."""

from __future__ import annotations

from ..description.any_workload import IdleSpec
from ..machine.machine import BuiltMachine
from .base.run import Run
from .base.sample import Sample


class IdleRun(Run):
    """Simulated time without a load."""

    def __init__(self, machine: BuiltMachine, workload: IdleSpec) -> None:
        super().__init__(machine, Sample())
        self._workload = workload

    @property
    def share(self) -> float:
        """See :attr:`Run.share`."""
        return self.machine.engine.now / (self._workload.warm_up + self._workload.duration)

    def run(self) -> None:
        """Let the time pass."""
        engine, workload = self.machine.engine, self._workload
        if workload.warm_up:
            engine.run(until=workload.warm_up)
        self._begin()
        engine.run(until=workload.warm_up + workload.duration)
