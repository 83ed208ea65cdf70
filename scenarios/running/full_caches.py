"""Write-back caches of controllers that a load keeps full: they begin full, as the load would leave them.

A controller is first given enough dirty data that it destages at its full rate, and still has room. If the load then
writes faster than the drives, the cache is full in the long run, and the run begins with a full one. Otherwise the data
is removed again, and the cache fills as far as the load fills it.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from ...model.core.exact_sums import sum_in_order
from ..description.workloads import LoadSpec
from ..machine.loads import pattern_of, share_of_a_job
from ..machine.machine import BuiltMachine

if TYPE_CHECKING:
    from ...model.controller.controller import RaidController
    from ...model.controller.standing_rows import Extents

_LEAST_WRITES = 512
"""Writes of the load that a cache holds, below which it fills soon enough."""
_LEAST_AGES = 3.0
"""Times that rows are old enough to be written before the drives would take the whole cache: below that, most of what
it holds is younger, and is not written in one sweep."""
_ROWS = 256
"""Rows that are destaged to see how fast."""
_FIRST_ROWS = 64
"""Of these, rows before which the drives may still be getting into step."""
_CLEAR = 2.0
"""A rate that is higher by this factor tells before all of `_ROWS` have been destaged."""


class FullCaches:
    """The write-back caches that a load writes to.

    Parameters
    ----------
    machine
        Whose.
    workload
        The load.

    Attributes
    ----------
    full
        Controllers whose cache the load keeps full; they began so.
    """

    def __init__(self, machine: BuiltMachine, workload: LoadSpec) -> None:
        self._machine = machine
        self._workload = workload
        self.full: set[str] = set()

    def candidates(self, longest: float) -> list[RaidController]:
        """Controllers whose cache the load may fill within `longest` seconds, and not soon.

        Only random writes directly on the volume: those in order leave a cache as they come.
        """
        workload, scenario = self._workload, self._machine.scenario
        if workload.read_share >= 1.0 or workload.pattern == "sequential" or scenario.network is not None:
            return []
        mean = sum_in_order(size * share for size, share in workload.sizes[1].items())
        rate = (workload.job_iops or np.inf) * workload.jobs * (1.0 - workload.read_share) * mean
        found = []
        for name in workload.targets:
            volume = self._machine.controllers.get(name)
            if volume is None or not volume.settings.writes_back:
                continue
            capacity = volume.cache.capacity_bytes
            if capacity > _LEAST_WRITES * mean and rate * longest > capacity:
                found.append(volume)
        return found

    def settle(self, longest: float) -> None:
        """Have each cache full that the load keeps full.

        Parameters
        ----------
        longest
            Simulated time (s) in which the run ends at the latest.
        """
        for volume in self.candidates(longest):
            cache, settings = volume.cache, volume.settings
            span = share_of_a_job(self._workload, volume.capacity)
            # The level above which it destages all that it has, and half of the room above that.
            level = (1.0 + settings.high_water) / 2.0
            self._hold(volume, span, int(level * cache.capacity_bytes) - cache.unwritten_bytes)
            rate = self._full_rate(volume, self._machine.engine.now + longest / 10.0)
            if 0.0 < rate * _LEAST_AGES * settings.partial_age < cache.capacity_bytes:
                self._hold(volume, span, cache.capacity_bytes - self._beside(volume))
                self.full.add(volume.name)
            else:
                cache.give_up_standing()

    def _beside(self, volume: RaidController) -> int:
        """Bytes of a cache that the load itself has filled."""
        cache = volume.cache
        cache.give_up_standing()
        return cache.unwritten_bytes + cache.reserved_bytes

    def _full_rate(self, volume: RaidController, until: float) -> float:
        """Rate (bytes/s) at which the controller destages, if the load writes faster; otherwise 0."""
        engine, cache = self._machine.engine, volume.cache
        waits, first_rows, step_s = volume.waits, cache.landed_rows + _FIRST_ROWS, 1e-4
        while cache.landed_rows < first_rows and engine.now < until:
            engine.run_to(engine.now + step_s)
            step_s *= 1.5
        began, landed, held = engine.now, cache.landed_bytes, cache.unwritten_bytes
        last_rows = cache.landed_rows + _ROWS
        taken = out = 0
        while cache.landed_rows < last_rows and engine.now < until:
            engine.run_to(engine.now + max(1e-3, 0.25 * (engine.now - began)))
            out = cache.landed_bytes - landed
            taken = cache.unwritten_bytes - held + out
            if cache.landed_rows > last_rows - 3 * _ROWS // 4 and not out / _CLEAR < taken < out * _CLEAR:
                break
        fills = volume.waits > waits or taken > out
        return out / (engine.now - began) if fills and engine.now > began else 0.0

    def _hold(self, volume: RaidController, span: int, held_bytes: int) -> None:
        """Give a cache what it holds after long sweeps, next to what it has already."""
        from ...model.controller.standing_rows import StandingRows, cut_at_rows, long_held, within

        cache, row_bytes, workload, engine = volume.cache, volume.row_bytes, self._workload, self._machine.engine
        if held_bytes <= 0:
            return
        writes = replace(pattern_of(engine, workload, volume.name, span), read_share=0.0)
        ios = writes.ios(engine.streams, f"{volume.name} standing {len(self.full)}", workload.start, span)

        def draw(count: int) -> Extents:
            drawn = np.array([(offset, size) for _, offset, size in islice(ios, count)], np.int64)
            return drawn[:, 0], drawn[:, 0] + drawn[:, 1]

        # The middle of the volume is neither its fastest nor its slowest part.
        first_row = (workload.start + span // 2) // row_bytes
        starts, ends = cut_at_rows(long_held(draw, row_bytes, first_row, held_bytes), row_bytes)
        known = np.array([*cache.rows, *cache.flights], np.int64)
        fresh = ~np.isin(starts // row_bytes, known)
        starts, ends = within((starts[fresh], ends[fresh]), held_bytes)
        cache.stand(StandingRows(starts.tolist(), ends.tolist(), row_bytes), first_row)
        volume.destage()


def settle_caches(machine: BuiltMachine, workload: LoadSpec, longest: float) -> set[str]:
    """Fill the caches that a load keeps full; their names."""
    if not machine.controllers:
        return set()
    caches = FullCaches(machine, workload)
    caches.settle(longest)
    return caches.full
