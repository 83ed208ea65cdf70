"""What lies between a load and the drives, as far as it bounds them: an array, or a volume or file of a pool.

Of a pool only reads that the ARC cannot hold are bounded. A whole block that is written waits in memory and goes to the
drives in order with others; a part of one is read first. Metadata are left out.
"""

from __future__ import annotations

from typing import Protocol

from ....model.disk.mechanics.geometry import SECTOR
from ....model.layouts import Layout, ParityLayout, Raid10Layout
from ....model.zfs.arc.dbuf_cache import CACHE_SHIFT
from ....model.zfs.map.mirror import Mirror
from ....model.zfs.map.pool import NORMAL
from ...description.devices import Devices
from ...description.scenario import ScenarioSpec
from ...description.workloads import MOST_OUTSTANDING
from ...machine.pool_plan import pool_of, pool_settings
from .member_visits import Visits, visits_for

_STRIPE_CACHE = 32768 * 4096
"""Bytes of each member that md keeps at most (stripe_cache_size)."""


class Below(Protocol):
    """What lies between a load and the drives."""

    @property
    def members(self) -> tuple[str, ...]:
        """The drives."""

    @property
    def capacity(self) -> int:
        """Bytes of the device."""

    @property
    def controller(self) -> str | None:
        """The controller that runs it."""

    @property
    def bitmap(self) -> int | None:
        """Bytes of a member that a bit of a write-intent bitmap covers."""

    @property
    def gathers_writes(self) -> bool:
        """Whether writes wait in memory for others, and are acknowledged before."""

    def visits(self, op: str, size: int, align: int | None) -> Visits:
        """Fewest visits of an I/O."""

    def moved(self, op: str, size: int) -> float:
        """Bytes of a visit, at least."""

    def stored(self, size: float) -> float:
        """Bytes of the drives that hold `size` bytes once."""

    def region(self, span: int) -> int:
        """Bytes of a member that one copy of the first `span` bytes lies in, at least."""

    def held(self, span: int) -> float:
        """Share of the I/Os to `span` bytes that memory of the host may save the drives."""

    def row_bytes(self, size: int) -> int:
        """Bytes of which all are written by one visit more, if one of `size` bytes is."""

    @property
    def unseen(self) -> int:
        """Bytes of a member that need no drive: what memory keeps, without the I/Os that wait."""


def below(spec: ScenarioSpec, device: str) -> Below:
    """What lies below a device that is an array, or a volume or file of a pool."""
    return ArrayBelow(spec, device) if device in spec.arrays else PoolBelow(spec, device)


class ArrayBelow:
    """An array of md or of a controller; see :class:`Below`."""

    gathers_writes = False

    def __init__(self, spec: ScenarioSpec, device: str) -> None:
        array, devices = spec.arrays[device], Devices.of(spec)
        self.layout: Layout = array.layout([devices.capacity(member) for member in array.members])
        self.members, self.controller, self.bitmap = array.members, array.controller, array.bitmap

    @property
    def capacity(self) -> int:
        """See :attr:`Below.capacity`."""
        return self.layout.capacity

    def visits(self, op: str, size: int, align: int | None) -> Visits:
        """See :meth:`Below.visits`."""
        return visits_for(self.layout, op == "write", size, align)

    def moved(self, op: str, size: int) -> float:
        """See :meth:`Below.moved`."""
        return size

    def stored(self, size: float) -> float:
        """See :meth:`Below.stored`."""
        return size

    def region(self, span: int) -> int:
        """See :meth:`Below.region`."""
        apart = isinstance(self.layout, Raid10Layout) and self.layout.algorithm != "near"
        copies = self.layout.copies_per_chunk if isinstance(self.layout, Raid10Layout) and apart else 1
        return max(SECTOR, int(min(self.layout.member_bytes) / copies * min(1.0, span / self.layout.capacity)))

    def held(self, span: int) -> float:
        """See :meth:`Below.held`."""
        return 0.0

    def row_bytes(self, size: int) -> int:
        """See :meth:`Below.row_bytes`."""
        return self.layout.chunk_bytes * len(self.members) or size

    @property
    def unseen(self) -> int:
        """See :attr:`Below.unseen`."""
        groups = getattr(self.layout, "groups", (self.layout,))
        return _STRIPE_CACHE if any(isinstance(group, ParityLayout) for group in groups) else 0


class PoolBelow:
    """A volume or file of a pool; see :class:`Below`."""

    controller = None
    bitmap = None
    gathers_writes = True

    def __init__(self, spec: ScenarioSpec, device: str) -> None:
        name = pool_of(spec, device)
        pool = spec.pools[name]
        self.members = pool.leaves()
        self.capacity = spec.capacity(device)
        self._dataset = pool.datasets[device.removeprefix(f"{name}/")]
        self._settings = pool_settings(spec, pool)
        placed = pool.map()
        data = [(number, placed.vdevs[number]) for number in placed.of_role(NORMAL)]
        self._mirrors = [vdev.members for _, vdev in data if isinstance(vdev, Mirror)]
        self._read = min(
            (placed.reads(number, 0, self._dataset.stored_bytes) for number, _ in data),
            key=lambda pieces: len({piece.member for piece in pieces}),
        )

    def visits(self, op: str, size: int, align: int | None) -> Visits:
        """See :meth:`Below.visits`: one block is read; further ones may lie behind it."""
        block = self._dataset.block_bytes
        if op == "write" and not (size % block or (align or size) % block):
            return Visits()
        return Visits(reads=len({piece.member for piece in self._read}), copies=max(self._mirrors, default=1))

    def moved(self, op: str, size: int) -> float:
        """See :meth:`Below.moved`."""
        return min(piece.sectors for piece in self._read) * SECTOR

    def stored(self, size: float) -> float:
        """See :meth:`Below.stored`."""
        return size / self._dataset.compression

    def region(self, span: int) -> int:
        """See :meth:`Below.region`: parity and other data only spread it."""
        copies = min(self._mirrors, default=1)
        return max(SECTOR, int(self.stored(span) * copies / len(self.members)))

    def held(self, span: int) -> float:
        """See :meth:`Below.held`: the ARC holds blocks as they are stored; above it are buffers, and what is dirty."""
        arc, dirty = self._settings.arc_bytes, self._settings.dirty.limit(self._settings.memory)
        return min(1.0, (arc * self._dataset.compression + (arc >> CACHE_SHIFT) + dirty) / span)

    def row_bytes(self, size: int) -> int:
        """See :meth:`Below.row_bytes`."""
        return 0

    @property
    def unseen(self) -> int:
        """See :attr:`Below.unseen`: reads are joined over a gap."""
        gap = self._settings.queue.read_gap_limit + self._dataset.block_bytes
        return MOST_OUTSTANDING * 2 * gap // len(self.members)
