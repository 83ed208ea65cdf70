"""How much of their time the drives of a design need at least for a load; what bounds I/Os per second and latencies.

Only random I/O whose places are all as likely is bounded by what drives do for each: what is read in order, or again
and again, may come out of some cache. What a hard disk needs is in :mod:`.arm_time`, what a solid-state drive does in
:mod:`.flash_time`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

from ....model.core.exact_sums import sum_in_order
from ....model.drives.catalogue import AnyDrive
from ...description.scenario import ScenarioSpec
from ...description.workloads import MOST_OUTSTANDING, LoadSpec
from ...designs.requirement import Limits
from .below import below
from .member_visits import Visits

_UNIFORM = (None, "uniform")
OPS = ("read", "write")


@dataclass(frozen=True, slots=True)
class Demand:
    """What the drives need at least, at some I/Os per second.

    Attributes
    ----------
    visits
        Commands per second that need a head or a die, of all drives together.
    each_s
        Time (s) of a drive per command, at least.
    busy
        Drives' seconds per second; more than there are drives cannot be.
    """

    visits: float
    each_s: float
    busy: float


class DriveTime(ABC):
    """The least time of the drives for the load of a scenario with one array, or pool, of equal drives.

    Parameters
    ----------
    spec
        The scenario; its workload is a load on one array, or volume or file of a pool.
    drive
        Each of its drives, or the first one.

    Attributes
    ----------
    equal
        Whether all drives are of one kind.
    """

    def __init__(self, spec: ScenarioSpec, drive: AnyDrive) -> None:
        assert isinstance(spec.workload, LoadSpec)
        self.load = spec.workload
        self.equal = True
        self.below = below(spec, self.load.targets[0])
        self.members = len(self.below.members)
        name = self.below.controller
        controlling = spec.machine.controllers[name] if name is not None else None
        self.drive = drive if controlling is None else controlling.attached(drive)
        self.controller = controlling.spec() if controlling is not None else None
        self.sizes = {op: _sizes(self.load, op) for op in OPS}
        self.shares = {"read": self.load.read_share, "write": 1.0 - self.load.read_share}

    @property
    def is_bounded(self) -> bool:
        """Whether the drives bound this load."""
        kind = None if self.load.locality is None else self.load.locality.kind
        return self.equal and self.load.pattern == "random" and kind in _UNIFORM

    @property
    def writes_back(self) -> bool:
        """Whether writes are acknowledged before the medium has them."""
        if self.below.gathers_writes and self.shares["write"] > 0:
            return True
        return self.caches_writes or (self.controller is not None and self.controller.writes_back)

    @property
    @abstractmethod
    def caches_writes(self) -> bool:
        """Whether a drive acknowledges writes before its medium has them."""

    @abstractmethod
    def kept_writes(self, size: float) -> tuple[float, float]:
        """Writes of this size (bytes) that a drive's memory holds at most: by its bytes, and by its entries."""

    @cached_property
    def made(self) -> dict[str, Visits]:
        """Visits of one read, and of one write, on average, if no memory keeps any."""
        found = {}
        for op, sizes in self.sizes.items():
            each = [self.below.visits(op, size, self.load.align).times(share) for size, share in sizes.items()]
            found[op] = sum(each[1:], each[0])
        return found

    @cached_property
    def visits(self) -> dict[str, Visits]:
        """Visits of one read, and of one write, on average, at least: memory keeps all that it can."""
        kept = {"read": self._read_again, "write": self._rewritten}
        return {op: each.times(1.0 - kept[op]) for op, each in self.made.items()}

    @cached_property
    def _span(self) -> int:
        """Bytes of the device that the load reaches."""
        return self.load.span or self.below.capacity - self.load.start

    @cached_property
    def _region(self) -> int:
        """Bytes of a drive that one copy of the data lies in."""
        return self.below.region(self._span)

    @cached_property
    def _read_again(self) -> float:
        """Share of the reads that the memory of a controller or of the host may hold."""
        held = self.below.held(self._span)
        return min(1.0, held + self.controller.cache / self._span) if self.controller is not None else held

    @cached_property
    def _held_writes(self) -> float:
        """Writes that may wait in the memory of a controller or of the drives."""
        smallest = min(self.sizes["write"])
        in_controller = self.controller.cache if self.controller is not None and self.writes_back else 0
        in_drives = self.members * self.kept_writes(smallest)[0] if self.caches_writes else 0.0
        return in_controller / smallest + in_drives

    @property
    def settles_after(self) -> float:
        """I/Os in which everything is as it stays, at least, if more come than are served.

        The memory that takes writes fills, is replaced, and is replaced again while it is measured
        (:mod:`~raidsim.scenarios.running.steady_state`). Drives keep no more writes than they have entries for.
        """
        share = self.shares["write"]
        if not share or not self.writes_back:
            return 0.0
        size = sum_in_order(size * part for size, part in self.sizes["write"].items())
        in_controller = min(self.controller.cache, self._span) / size if self.controller is not None else 0.0
        in_drive = min(self.kept_writes(size)) if self.caches_writes else 0.0
        return 3.0 * (in_controller + self.members * in_drive) / share

    def bits_s(self, bitmap: int, iops: float) -> float:
        """Time (s) in which the load's writes set most bits of a bitmap, of which each covers these bytes of a member.

        With N bits, each write sets one of them; after four times N writes 98 % are set.
        """
        writes = iops * self.shares["write"]
        return 4.0 * self._region / bitmap / writes if writes else 0.0

    @cached_property
    def _rewritten(self) -> float:
        """Share of the writes that go to a row of which something waits to be written, or that memory holds."""
        row = self.below.row_bytes(max(self.sizes["write"]))
        return min(1.0, self.below.held(self._span) + self._held_writes * row / self._span)

    @cached_property
    def _unseen(self) -> float:
        """Bytes of a member that need no drive: what the host keeps, or is merged with another command."""
        smallest = min(min(sizes) for sizes in self.sizes.values())
        largest = max(max(sizes) for sizes in self.sizes.values())
        return self.below.unseen + (MOST_OUTSTANDING + self._held_writes) * 2 * max(smallest, largest) / self.members

    @abstractmethod
    def demand(self, iops: float, limits: Limits | None = None) -> Demand:
        """What the drives need.

        Parameters
        ----------
        iops
            I/Os per second.
        limits
            Limits of their latency.
        """

    @abstractmethod
    def least_latency(self, op: str, kind: str) -> float:
        """Latency (s) that "read" or "write" cannot stay below, "p99" or "mean", on drives that do nothing else."""

    def most_iops(self, limits: Limits | None = None) -> float:
        """I/Os per second beyond which the drives need more time than there is; infinite if nothing says so."""
        high = 1.0
        while self.demand(high, limits).busy < self.members:
            high *= 2.0
            if high > 1e9:
                return math.inf
        low = high / 2.0
        for _ in range(40):
            middle = (low + high) / 2.0
            if self.demand(middle, limits).busy < self.members:
                low = middle
            else:
                high = middle
        return high


def _sizes(load: LoadSpec, op: str) -> dict[int, float]:
    """Sizes of the reads or writes, with their shares."""
    own = load.read_size if op == "read" else load.write_size
    size = load.block_size if own is None else own
    return dict(size) if isinstance(size, dict) else {size: 1.0}
