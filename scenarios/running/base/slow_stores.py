"""What fills or wears slowly under loads: caches of drives and controllers, flash that is written for long, and
write-intent bitmaps.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ....model.core.exact_sums import sum_in_order
from ...description.arrays import ArraySpec
from ...description.workloads import LoadSpec
from ...machine.drives import is_solid_state
from ...machine.machine import BuiltMachine

if TYPE_CHECKING:
    from ....model.raid.metadata.bitmap import WriteIntentBitmap
    from ....model.raid.metadata.standing_bits import StandingBits
    from ....model.solid_state.drive import SolidState
    from ...machine.drives import Drive

_FIRST_S = 1e-4
_FIRST_IOS = 1500
"""I/Os that say what is asked of drives and arrays."""
_FIRST_SHARE = 0.1
"""Share of the longest time after which fewer must do."""
_ROUNDS = 3
"""Times that the bits of bitmaps are set as many as the writes keep, before they change hardly any more."""
_HITS = 0.005
"""Share of the reads found in a controller's read cache, above which it matters how full that is."""


class Stores(NamedTuple):
    """How full slow stores are (bytes).

    Attributes
    ----------
    drives, controllers
        Writes that are done for whoever sent them and wait in the buffers of drives, and in the caches of controllers
        that the run did not begin with full.
    read_caches
        What controllers keep of what was read.
    flash_buffers
        Writes that wait in the buffers of solid-state drives which the load found as it would leave them.
    bitmap_bits
        Bits that are set in the write-intent bitmaps of arrays (their number).
    pools
        Dirty data of pools and the most that they may have. Each transaction group empties them, and what matters is
        whether they fill, group by group, as a share of that limit.
    """

    drives: float = 0.0
    controllers: float = 0.0
    read_caches: float = 0.0
    flash_buffers: float = 0.0
    bitmap_bits: float = 0.0
    pools: float = 0.0


class SlowStores:
    """The slow stores of a machine under loads that run until their speed is known.

    Parameters
    ----------
    machine
        Whose.
    workloads
        The loads.

    Attributes
    ----------
    full
        Controllers whose cache the run began with full.
    """

    def __init__(self, machine: BuiltMachine, workloads: Sequence[LoadSpec]) -> None:
        self._machine = machine
        self._workloads = workloads
        self.full: set[str] = set()
        if machine.pools:
            from .settled_pools import settle_pools

            settle_pools(machine, workloads)
        self._pools = list(machine.pools.values()) if any(each.read_share < 1.0 for each in workloads) else []
        self._ssds = [disk for disk in machine.disks.values() if is_solid_state(disk)]
        writes = any(each.read_share < 1.0 for each in workloads)
        self._standing: list[SolidState] = []
        if writes and self._ssds:
            from ....model.solid_state.standing_load import can_stand

            self._standing = [disk for disk in self._ssds if can_stand(disk)]
        arrays = list(machine.arrays.values()) if writes else []
        kept = [array.metadata for array in arrays if array.metadata is not None]
        self._bitmaps: list[WriteIntentBitmap] = [each.bitmap for each in kept if each.bitmap is not None]

    @property
    def filling_ios(self) -> int:
        """I/Os of all loads together before which the buffers of the drives may not be full.

        Of several loads nobody knows beforehand how often each writes, so each counts as if it were alone.
        """
        drives = [disk for disk in self._ssds if disk not in self._standing]
        return sum(_filling_ios(each, drives) for each in self._workloads)

    def turns(self) -> float:
        """How many transaction groups each pool that is written has on its members; infinite without any."""
        return min([float(pool.groups.synced) for pool in self._pools], default=math.inf)

    def stand(self, longest: float) -> None:
        """Look at what the first I/Os ask of drives and arrays, and go on as if that had been so for long.

        Parameters
        ----------
        longest
            Simulated time (s) in which the run ends at the latest.
        """
        if not self._standing and not self._bitmaps:
            return
        engine = self._machine.engine
        for drive in self._standing:
            drive.open_long_ago()
        bits: list[StandingBits] = []
        if self._bitmaps:
            from ....model.raid.metadata.standing_bits import StandingBits

            bits = [StandingBits(bitmap, engine) for bitmap in self._bitmaps]
        if self._standing:
            self._first_ios(longest * _FIRST_SHARE)
        for drives in _alike(self._standing, self._machine.scenario.arrays):
            seconds = engine.now * len(drives)
            read_rate = sum(drive.read_bytes for drive in drives) / seconds
            write_rate = sum(drive.write_bytes for drive in drives) / seconds
            from ....model.solid_state.standing_load import stands

            for drive in drives:
                stands(drive, engine, read_rate, write_rate)
        for _ in range(_ROUNDS):  # the drives take what they will always take by now
            if not bits:
                break
            began, before = engine.now, self._writes
            self._first_ios(min([longest * _FIRST_SHARE, *(each.look_s for each in bits)]))
            rate = (self._writes - before) / (engine.now - began) / len(bits)
            bits = [each for each in bits if each.stand(self._writes // len(self._bitmaps), rate)]

    @property
    def _writes(self) -> int:
        return sum(load.writes for load in self._machine.loads)

    def _first_ios(self, longest: float) -> None:
        """Run until what is asked of drives and arrays now is known, or for a time (s)."""
        engine, loads = self._machine.engine, self._machine.loads
        until = engine.now + longest
        wanted = sum(load.reads + load.writes for load in loads) + _FIRST_IOS
        step_s = _FIRST_S
        while engine.now < until and sum(load.reads + load.writes for load in loads) < wanted:
            engine.run_to(min(until, engine.now + step_s))
            step_s *= 1.5

    def look(self) -> Stores:
        """What has yet to be written, what helps in read caches, and bits that are set."""
        machine = self._machine
        drives = sum(_held(disk) for disk in machine.disks.values() if disk not in self._standing)
        buffers = sum(_held(disk) for disk in self._standing)
        controllers = machine.controllers.values()
        dirty = sum(controller.dirty_bytes for controller in controllers if controller.name not in self.full)
        pools = float(sum(int(pool.dirty.total + pool.dirty.limit) for pool in machine.pools.values()))
        kept = sum(
            controller.read_cache_bytes
            for controller in controllers
            if controller.read_hits > _HITS * max(1, controller.reads)
        )
        bits = sum(bitmap.bits_set for bitmap in self._bitmaps)
        return Stores(drives, dirty, kept, buffers, bits, pools)


def _held(drive: Drive) -> int:
    """Bytes that a drive has yet to write; of a solid-state drive only if its buffer is half full.

    Below that it goes up and down by a program at a time, which no load notices.
    """
    dirty = drive.dirty_bytes
    return dirty if not is_solid_state(drive) or 2 * dirty >= drive.spec.write_buffer else 0


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
