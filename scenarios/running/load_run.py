"""The run of a load of direct I/O: for a given time, or until its speed is known."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from ...model.core.errors import InputError
from ...model.core.exact_sums import sum_in_order
from ...model.files.quantities import format_duration
from ...model.solid_state.drive import SolidState
from ...model.solid_state.standing_load import can_stand, stands
from ...model.statistics.batch_means import Estimate
from ..description.arrays import ArraySpec
from ..description.workloads import LoadSpec
from ..machine.assemble import Drive
from ..machine.machine import BuiltMachine
from ..machine.observer import UNOBSERVED
from .base.run import Run
from .base.sample import Sample
from .load_windows import LoadWindows, Stores
from .steady_state import SteadyState, backlog_grows

_WINDOWS = 64
"""Windows of a measurement of a given length."""
_FIRST_S = 1e-4
_FIRST_IOS = 1500
"""I/Os that say what is asked of solid-state drives."""
_FIRST_SHARE = 0.1
"""Share of the longest time after which fewer must do."""
_LOOK_S = 0.05
_HOPELESS_S = 0.1
"""Time after which an open load may be hopeless: no I/O that an idle machine serves takes longer."""
_HOPELESS_IOS = 4000
"""Backlog from which it may be."""
_HOPELESS_SHARE = 0.2
"""A load of which less than this share is served is hopeless. What makes the beginning slow, as bits of a bitmap that
are not yet set, costs a smaller factor."""
_HITS = 0.005
"""Share of the reads found in a controller's read cache, above which it matters how full that is."""


class LoadRun(Run):
    """Direct I/O for a given time, or until its speed is known.

    Attributes
    ----------
    estimates
        See :attr:`raidsim.scenarios.running.base.prediction.Prediction.estimates`.
    saturated
        Whether the backlog of an open load grows for ever.
    precision_reached
        See :attr:`raidsim.scenarios.running.base.prediction.Prediction.precision_reached`.
    hopeless
        Whether the run ended early, because less than a fifth of an open load was served.
    """

    def __init__(self, machine: BuiltMachine, sample: Sample) -> None:
        super().__init__(machine, sample)
        workload = machine.scenario.workload
        assert isinstance(workload, LoadSpec)
        self.workload = workload
        self.estimates: dict[str, Estimate] = {}
        self.saturated = self.hopeless = False
        self.precision_reached: float | None = None
        self._steady: SteadyState | None = None
        self._standing: list[SolidState] = []
        if workload.precision is not None:
            ssds = [disk for disk in machine.disks.values() if isinstance(disk, SolidState)]
            if workload.read_share < 1.0:
                self._standing = [disk for disk in ssds if can_stand(disk)]
            after = [failure.at for failure in machine.scenario.failures]
            self._steady = SteadyState(
                machine.engine,
                machine.loads,
                precision=workload.precision,
                warm_up=max([workload.warm_up, *(at for at in after if at < workload.warm_up + workload.duration)]),
                longest=workload.duration,
                restart=self._begin,
                stores=self._stores,
                servers=len(machine.disks),
                least_ios=_filling_ios(workload, [disk for disk in ssds if disk not in self._standing]),
            )

    @property
    def share(self) -> float:
        """See :attr:`Run.share`."""
        if self._steady is not None:
            return self._steady.share
        return self.machine.engine.now / (self.workload.warm_up + self.workload.duration)

    def run(self) -> float:
        """Bytes per second of all jobs together."""
        windows = self._measured_for(self.workload.duration) if self._steady is None else self._measured(self._steady)
        self.estimates = windows.estimates()
        moved = sum(load.bytes for load in self.machine.loads)
        windows.end()
        return moved / (self.workload.duration if self._steady is None else self.span)

    def _measured_for(self, duration: float) -> LoadWindows:
        warm_up, engine = self.workload.warm_up, self.machine.engine
        windows = LoadWindows(engine, self.machine.loads)
        may_end = windows.is_open and self._may_end_early
        for number in range(1, math.ceil(warm_up / _LOOK_S) if may_end else 0):
            engine.run_to(number * _LOOK_S)
            self._look(windows)
            if self.hopeless:
                break
        if warm_up and not self.hopeless:
            engine.run(until=warm_up)
        windows.begin(duration / _WINDOWS, self._begin)
        end = self.began + (warm_up + duration - self.began)
        for _ in range(_WINDOWS - 1):
            if self.hopeless:
                break
            windows.run()
            if may_end:
                self._look(windows)
        if not self.hopeless:
            engine.run(until=end)
        windows.close()
        self.saturated = windows.is_open and backlog_grows(windows)
        return windows

    @property
    def _may_end_early(self) -> bool:
        """Not if there is more to see than the load: a rebuild, drives that fail, a timeline."""
        machine = self.machine
        beside = machine.resyncs or machine.delayed_resyncs or machine.spares or machine.scenario.failures
        return not beside and machine.observer is UNOBSERVED

    def _look(self, windows: LoadWindows) -> None:
        """See whether hardly any of the I/Os that have come were served."""
        backlog = windows.backlog
        served = windows.arrived - backlog
        late = self.machine.engine.now >= _HOPELESS_S and backlog >= _HOPELESS_IOS
        self.hopeless = late and served < _HOPELESS_SHARE * windows.arrived

    def _measured(self, steady: SteadyState) -> LoadWindows:
        if self._standing:
            self._stand()
        steady.run()
        if not self.span:
            found = f"nothing could be measured in {format_duration(self.workload.duration)}"
            raise InputError("workload.duration", found, "expected: as long as the load needs to settle, and more")
        self.saturated = steady.saturated
        self.precision_reached = steady.reached
        return steady.windows

    def _stand(self) -> None:
        """Look at what the first I/Os ask of the drives, and go on as if that had been so for long."""
        engine, loads = self.machine.engine, self.machine.loads
        for drive in self._standing:
            drive.open_long_ago()
        longest, step_s = self.workload.duration * _FIRST_SHARE, _FIRST_S
        while engine.now < longest and sum(load.reads + load.writes for load in loads) < _FIRST_IOS:
            engine.run_to(min(longest, engine.now + step_s))
            step_s = engine.now / 2
        for drives in _alike(self._standing, self.machine.scenario.arrays):
            seconds = engine.now * len(drives)
            read_rate = sum(drive.read_bytes for drive in drives) / seconds
            write_rate = sum(drive.write_bytes for drive in drives) / seconds
            for drive in drives:
                stands(drive, engine, read_rate, write_rate)

    def _stores(self) -> Stores:
        """What controllers and drives hold that has yet to be written, and what read caches hold that helps."""
        machine = self.machine
        drives = sum(_held(disk) for disk in machine.disks.values() if disk not in self._standing)
        buffers = sum(_held(disk) for disk in self._standing)
        controllers = machine.controllers.values()
        dirty = sum(controller.dirty_bytes for controller in controllers)
        kept = sum(
            controller.read_cache_bytes
            for controller in controllers
            if controller.read_hits > _HITS * max(1, controller.reads)
        )
        return Stores(drives, dirty, kept, buffers)


def _held(drive: Drive) -> int:
    """Bytes that a drive has yet to write; of a solid-state drive only if its buffer is half full.

    Below that it goes up and down by a program at a time, which no load notices.
    """
    dirty = drive.dirty_bytes
    return dirty if not isinstance(drive, SolidState) or 2 * dirty >= drive.spec.write_buffer else 0


def _filling_ios(workload: LoadSpec, drives: Iterable[SolidState]) -> int:
    """I/Os of a load that write as much as the buffers of these drives hold, so that they may be full."""
    buffers = sum(drive.spec.write_buffer for drive in drives)
    size = workload.block_size if workload.write_size is None else workload.write_size
    mean = sum_in_order(each * share for each, share in size.items()) if isinstance(size, dict) else size
    written = (1.0 - workload.read_share) * mean
    return int(buffers / written) if written else 0


def _alike(drives: Iterable[SolidState], arrays: Mapping[str, ArraySpec]) -> Iterable[list[SolidState]]:
    """Drives of one kind in the same array, or below it, which share what is asked of them."""
    found: dict[tuple[str, str], list[SolidState]] = {}
    for drive in drives:
        found.setdefault((_highest(drive.name, arrays), drive.spec.model), []).append(drive)
    return found.values()


def _highest(name: str, arrays: Mapping[str, ArraySpec]) -> str:
    """The array that stands on the device called `name` and that no other stands on, or the device itself."""
    for above, array in arrays.items():
        if name in array.members:
            return _highest(above, arrays)
    return name
