"""RAID 4, 5 and 6 that are being reshaped: chunk by chunk of the members, through the stripe cache.

For one chunk of every member in the new layout the resync thread takes the stripe heads of the new row, then those of
all old rows that its data lie in. md's thread reads these in full, parity too, copies their data over, and when a new
head has all of it computes parity and writes the head to every member; beyond the end of the old data it holds zeros.
While the array is being reshaped every read goes through the stripe cache. Source: Linux 6.1 drivers/md/raid5.c,
reshape_request, handle_stripe_expansion, make_stripe_request; mdadm 4.2 Grow.c, update_cache_size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import lcm

from ...core.device import Device
from ...core.engine import Engine
from ...core.errors import ModelError
from ...core.request import READ, RESYNC_ISSUER, Call, Request
from ...layouts.parity import ParityLayout
from ...tasks.host import Host
from ..parity.array import ParityArray
from ..stripes.settings import ParitySettings
from .array import ReshapingArray
from .backup import WINDOW_BYTES, BackupFile
from .geometry import Geometry
from .rows import RowMover


class ReshapingParityArray(ReshapingArray):
    """RAID 4, 5 or 6.

    Parameters
    ----------
    settings
        How the driver works.
    unit_bytes
        Bytes of a chunk that are read and written as one: a stripe head to do as md does, or more for a faster run.
    """

    __slots__ = ("_fresh", "_mover", "_new", "_old", "_step", "_used")

    def __init__(
        self,
        engine: Engine,
        name: str,
        members: Sequence[Device],
        geometry: Geometry,
        settings: ParitySettings,
        host: Host | None = None,
        position: int = 0,
        unit_bytes: int | None = None,
    ) -> None:
        old, new, shifted = geometry.old, geometry.new, geometry.shifted
        if not (isinstance(old, ParityLayout) and isinstance(new, ParityLayout) and isinstance(shifted, ParityLayout)):
            raise ModelError(f"{name}: {new!r} is no RAID 4, 5 or 6")
        if settings.hold is not None:
            raise ModelError(f"{name}: a reshape needs md's thread as it is since Linux 4.4 (hold None)")
        self._step = max(old.chunk_bytes, new.chunk_bytes)
        position -= position % (self._step * new.data_members)
        super().__init__(engine, name, members, geometry, host, position)
        cached = settings.model_copy(
            update={"direct_reads": False, "heads": max(settings.heads, heads_needed(old, new, settings.head))}
        )
        self._new = ParityArray(engine, name, self._members, new, cached, host)
        self._old = ParityArray(engine, name, self._members[: old.members], shifted, cached, host, partner=self._new)
        self._fresh = partial(ParityArray, engine, name, self._members, new, settings, host)
        unit = unit_bytes or min(old.chunk_bytes, new.chunk_bytes)
        self._mover = RowMover(self, self._new, geometry, unit)
        self._used = old.data_members, new.data_members
        self._per_byte = new.data_members

    @property
    def old(self) -> ParityArray:
        """See :attr:`ReshapingArray.old`."""
        return self._old

    @property
    def new(self) -> ParityArray:
        """See :attr:`ReshapingArray.new`."""
        return self._new

    @property
    def daemon_submits(self) -> bool:
        """See :attr:`Array.daemon_submits`."""
        return True

    @property
    def cache(self) -> object:
        """The stripe cache, which both layouts share."""
        return self._new.cache

    def _waits(self, request: Request) -> bool:
        """Between the positions: until superblocks are written (STRIPE_SCHEDULE_AND_RETRY)."""
        return request.offset >= self.safe

    @property
    def reshape_bytes(self) -> int:
        """See :attr:`Array.reshape_bytes`: rows are counted, in bytes per member."""
        new = self._new.layout
        return new.rows * new.chunk_bytes

    def _overwrites(self) -> bool:
        """See :meth:`ReshapingArray._overwrites`.

        If what is read lies behind what is written it cannot be helped, and a backup file has to protect it.
        """
        old_data, new_data = self._used
        write = self.progress // new_data + self._step
        read = max(0, self.progress // old_data - self._step)
        safe = max(0, self.safe // old_data - self._step)
        return safe < write < read

    def _read_before(self, position: int) -> int:
        old, new = self._used
        return position // old * new

    def keep_backup(self, device: Device) -> None:
        """Have mdadm copy what is overwritten to a file on `device`; the data offset must not move.

        If the data members stay as many, all windows are copied, else only the critical section at the beginning.
        """
        old, new = self.geometry.old, self.geometry.new
        assert isinstance(old, ParityLayout)
        assert isinstance(new, ParityLayout)
        if self.geometry.moved:
            raise ModelError(f"{self.name}: a backup file, though the data offset moves")
        window = lcm(old.stripe_bytes, new.stripe_bytes)
        end = window
        if old.data_members == new.data_members:
            end = old.capacity
            while window < WINDOW_BYTES and 32 * window < old.capacity:
                window *= 2
        if self.progress < end:
            start = self.progress - self.progress % old.chunk_bytes
            self.backup = BackupFile(device, self._copy_chunk, old.chunk_bytes, window, start, end)

    def _copy_chunk(self, at: int, then: Callable[[], None]) -> None:
        """Read one chunk of the old layout, as mdadm does."""

        def done(_: Request) -> None:
            then()

        old = self._old.layout
        ((slot, offset, size, _),) = old.extents(self.geometry.old_shift + at, old.chunk_bytes)
        self._members[slot].submit(Request(READ, offset, size, Call(done), RESYNC_ISSUER, True))
        self.unplug()

    def _move(self, offset: int, size: int, done: Callable[[], None]) -> None:
        self._mover.move(offset, size, done)

    def _finish(self, done: Callable[[], None]) -> None:
        """What comes now finds an array of the new layout, which reads past the stripe cache."""
        self._new = self._fresh()
        super()._finish(done)


def heads_needed(old: ParityLayout, new: ParityLayout, head: int) -> int:
    """To how many stripe heads mdadm enlarges a smaller cache, with `head` bytes a head and member."""
    chunks = 4 * max(old.chunk_bytes, new.chunk_bytes)
    stripes = lcm(old.stripe_bytes, new.stripe_bytes) // min(old.data_members, new.data_members)
    return max(chunks, 16 * 512 + stripes) // head + 1
