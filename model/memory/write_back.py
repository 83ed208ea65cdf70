"""Writing dirty memory back: the flusher's passes, and what a writer has to do when too much is dirty.

What the page cache of a raw device and the one of a file system have in common (bdflush of Linux 2.4,
mm/page-writeback.c since 2.6); which run of dirty bytes is next is the cache's.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator
from typing import Any

from ..core.device import Device
from ..core.engine import Engine
from ..core.extents import ExtentSet
from ..core.request import DAEMON_ISSUER, FLUSHER_ISSUER
from ..core.signal import Signal, fire_all
from ..readahead import PAGE
from ..tasks.cpu import Account
from ..tasks.host import Host
from ..tasks.task_plug import TaskPlug
from .dirty_balance import DirtyBalance
from .dirty_memory import DirtyMemory


class WriteBack:
    """The dirty bytes of one device.

    Parameters
    ----------
    engine, host
        Clock and payer.
    device
        The block device underneath.
    memory
        The host's dirty memory.
    block_bytes
        Bytes for which the kernel makes a bio or moves a buffer head.
    task_plug
        Whether a pass is held back until all of it has been submitted.
    yields
        Whether the flusher leaves the device's queue to whoever submits writes and waits for room in it.

    Attributes
    ----------
    balance
        What slows writers down, on kernels that do not stop them at a limit.
    """

    __slots__ = (
        "_alone",
        "_block_bytes",
        "_engine",
        "_host",
        "_plug",
        "_submission_s",
        "_submitters",
        "_yields",
        "balance",
        "device",
        "memory",
    )

    def __init__(
        self,
        engine: Engine,
        host: Host,
        device: Device,
        memory: DirtyMemory,
        block_bytes: int,
        task_plug: bool,
        yields: bool = False,
    ) -> None:
        self._engine = engine
        self._host = host
        self.balance = DirtyBalance(engine, memory) if memory.limits.balance else None
        self.device = device
        self.memory = memory
        self._block_bytes = block_bytes
        self._plug: Callable[[], None] | None = device.plug if task_plug else None
        self._submission_s = device.submission_s_per_page
        self._yields = yields
        self._submitters = 0
        self._alone: list[Signal] = []

    def _start_plug(self, issuer: int) -> bool:
        """Open the plug of a task that writes back, which stays open while the task computes; returns whether it did.

        The task closes it before it waits for anything else. The journal's threads share an issuer, so none of them
        has one (Linux fs/fs-writeback.c, wb_writeback; kernel/sched/core.c, sched_submit_work).
        """
        plugs = self._host.thread_plugs
        if self._plug is None or issuer == DAEMON_ISSUER or issuer in plugs:
            return False
        plugs[issuer] = TaskPlug(limits=self._host.plug_limits)
        return True

    def _finish_plug(self, issuer: int, own: bool) -> None:
        """Send what the task's plug holds, and close it if it is the caller's `own`."""
        plug = self._host.thread_plugs.get(issuer) if self._plug is not None else None
        if plug is not None:
            if own:
                del self._host.thread_plugs[issuer]
            plug.flush()

    def _pause(self, issuer: int, own: bool) -> Generator[Any, Any, bool]:
        """Wait until the task may go on, without its plug; one that blocks in its submission keeps it.

        Returns whether it has its own plug.
        """
        if own and self.device.sleeps(issuer):
            awake = Signal()
            self.device.when_awake(issuer, awake.fire)
            yield awake
            return True
        self._finish_plug(issuer, own)
        yield self._room()
        return self._start_plug(issuer)

    def plug(self) -> None:
        """Hold requests back until the device is unplugged, where the task that submits can do that."""
        if self._plug is not None:
            self._plug()

    @abstractmethod
    def is_dirty(self) -> bool:
        """Whether there is anything to write back."""

    @abstractmethod
    def _write_run(self) -> int:
        """Submit the next dirty run; returns its bytes."""

    def _dirtied(self, size: int) -> None:
        """`size` more bytes are dirty."""
        self.memory.dirtied(size)
        if self.balance is not None:
            self.balance.dirtied(size)

    def _dropped(self, size: int) -> None:
        """Subtract dirty bytes that are gone without having been written."""
        self.memory.dirty_bytes -= size
        if self.balance is not None:
            self.balance.dropped(size)

    def _submitted(self, size: int) -> None:
        """`size` bytes that were dirty are under write-back."""
        self.memory.dirty_bytes -= size
        self.memory.writeback_bytes += size
        if self.balance is not None:
            self.balance.submitted(size)

    def _reached(self, size: int) -> None:
        """`size` bytes have been written back."""
        if self.balance is not None:
            self.balance.written(size)
        self.memory.written(size)

    def throttle(self, by: Account | None = None, dirtied: int = 0) -> Generator[Any, Any, None]:
        """Slow down a writer that has just dirtied these bytes, or make it write back.

        The duty is to write back some of its own device's first. The writer does not wait for the writes, but for
        their place in the device's queue, so that what stops it is a full queue (balance_dirty_pages of 2.6,
        balance_dirty of 2.4). Without a duty it leaves the writing to the flusher and pauses until enough has been
        written; since 3.2 it pauses before, and more often (:class:`.DirtyBalance`).
        """
        memory = self.memory
        if self.balance is not None:
            yield from self.balance.throttle(0 if by is None else by.issuer, dirtied)
            return
        if not memory.limits.duty:
            while memory.over_limit:
                memory.start_write_back()
                yield memory.below_limit()
        submitted = 0
        self._submitters += 1
        while memory.over_limit and submitted < memory.limits.duty:
            if not self.is_dirty():
                yield memory.below_limit()
            elif not self.device.has_room:
                yield self._room()
            else:
                size = self._write_run()
                submitted += size
                price = self._bio_price(size)
                if by is not None:
                    by.cpu_s += price
                yield self._host.cpu.run(price)
        self._through()

    def _through(self) -> None:
        """One who submitted writes and waited for room in the queue is through."""
        self._submitters -= 1
        if not self._submitters and self._alone:
            fire_all(self._alone)

    @property
    def _keeps_out(self) -> bool:
        """Whether the flusher has no business in the queue now.

        It does not wait for room (background_writeout of 2.6: `nonblocking`), and who does takes every place that gets
        free, so that the queue stays as full as keeps the flusher out of it (mm/page-writeback.c; fs/fs-writeback.c,
        sync_sb_inodes; drivers/block/ll_rw_blk.c, freed_request).
        """
        return self._yields and self._submitters > 0

    def _undisturbed(self) -> Signal:
        """A signal that fires when nobody else submits writes."""
        signal = Signal()
        self._alone.append(signal)
        return signal

    def _flusher(self) -> Generator[Any, Any, None]:
        """The kernel thread that writes dirty bytes back (bdflush, pdflush)."""
        memory, device = self.memory, self.device
        while True:
            if memory.dirty_bytes <= memory.limits.flush_above or not self.is_dirty():
                yield memory.above_background()
            own = self._start_plug(FLUSHER_ISSUER)
            while self.is_dirty() and memory.dirty_bytes > memory.limits.flush_below:
                written = 0
                while self.is_dirty() and written < memory.limits.pass_bytes:
                    if self._keeps_out:
                        yield self._undisturbed()
                    elif device.has_room:
                        size = self._write_run() if self._plug is None else self._write_plugged()
                        written += size
                        yield self._host.cpu.run(self._bio_price(size))
                    else:
                        own = yield from self._pause(FLUSHER_ISSUER, own)
            self._finish_plug(FLUSHER_ISSUER, own)
            device.unplug()

    def _write_plugged(self) -> int:
        """Submit a pass of dirty runs under one plug, as far as the device's queue has room; returns their bytes."""
        assert self._plug is not None
        self._plug()
        written = self._write_run()
        while self.is_dirty() and written < self.memory.limits.pass_bytes and self.device.has_room:
            written += self._write_run()
        self.device.unplug()
        return written

    def _bio_price(self, size: int) -> float:
        price = self._host.prices.bio_s * max(1, size // self._block_bytes)
        return price + self._submission_s * max(1, size // PAGE) if self._submission_s else price

    def _room(self) -> Signal:
        """A signal that fires when the device's queue has room."""
        room = Signal()
        self.device.when_room(room.fire)
        return room


def next_run(dirty: ExtentSet, cursor: int, most: int) -> tuple[int, int]:
    """The first dirty run from `cursor` on, around the end, cut where the address is a multiple of `most`."""
    end = dirty.run_from(cursor)
    if end == cursor:
        following = dirty.next_start(cursor)
        cursor = dirty.first()[0] if following is None else following
        end = dirty.run_from(cursor)
    return cursor, min(end, cursor - cursor % most + most)
