"""Which process or thread waits for a new bit of a write-intent bitmap, by level and kernel.

No member is written before the bit of its chunk is on all members. Somebody sleeps for that, and what that task would
have done meanwhile is done later:

- **md's thread of a mirror** (:class:`ThreadWaits`): writes go on a list, and raid1d or raid10d flushes the bitmap
  before it submits the list (flush_pending_writes). New bits of all writes on the list share one bitmap write.
- **The task that submits to a mirror** (:class:`TaskWaits`), since Linux 3.6: md holds its writes in the task's plug,
  and flushes the bitmap when the task unplugs (raid1_unplug and raid10_unplug, which call md_bitmap_unplug in the
  task). The task sleeps, so what it would submit next waits too. Up to Linux 6.4 each write to a block device is
  plugged on its own (block/fops.c, blkdev_write_iter), from 6.5 on each of more than 1 MiB (__blkdev_direct_IO). A
  task that has not plugged leaves the bitmap to md's thread, as a task does that unplugs because it goes to sleep.
- **md's thread of RAID 4, 5 and 6** (:class:`StripeWaits`, :class:`RowWaits`): stripe heads with new data wait on a
  list of their own (raid5.c, __add_stripe_bio: bm_seq; do_release_stripe: bitmap_list). Before each pass raid5d flushes
  the bitmap for those on the list (seq_flush, seq_write). It handles no other stripe head meanwhile.

Sources: Linux 2.6.20 and 6.1 drivers/md/raid1.c, raid10.c, raid5.c, md-bitmap.c; 6.12 drivers/md/raid1-10.c
(raid1_add_bio_to_plug, raid1_prepare_flush_writes).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

from ...core.engine import Engine
from ...core.errors import ModelError
from ...core.request import WRITE, Request
from ...tasks.host import Host, SleepingThread
from ...tasks.submitting_threads import go_on
from ...waits.causes import BITMAP
from .bitmap import WriteIntentBitmap
from .superblock import Redundant

MirrorWaits = Literal["thread", "task", "plugged-task"]
"""Who waits for a mirror's bitmap: md's thread, the task, or the task only if it has plugged several writes."""


class BitmapWaits:
    """What stands between a write and the members while its bits are not on them.

    Parameters
    ----------
    bitmap
        The bitmap.

    Attributes
    ----------
    over
        Called each time when a wait is over.
    """

    __slots__ = ("_bitmap", "over")

    def __init__(self, bitmap: WriteIntentBitmap) -> None:
        self._bitmap = bitmap
        self.over: Callable[[], None] = _nothing

    def start(self, request: Request, low: int, high: int, write: Callable[[Request], None]) -> None:
        """Set the bits of [low, high) and call ``write(request)`` when the level may go on with it."""
        raise ModelError("this kind of array has no write-intent bitmap")

    def plug(self) -> None:
        """A task begins to submit several writes."""

    def unplug(self) -> None:
        """It has submitted all, or goes to sleep."""

    def begin_call(self, issuer: int) -> None:
        """The pieces of one write of the task `issuer` follow, which is larger than what the queue takes."""

    def end_call(self, issuer: int) -> None:
        """All pieces have come."""

    @property
    def plugged(self) -> bool:
        """Whether a task has begun to submit several writes, for whose bits it will wait together."""
        return False

    @property
    def holds_writers(self) -> bool:
        """Whether a task that writes back is asleep."""
        return False

    @property
    def holds_thread(self) -> bool:
        """Whether md's thread is asleep, and does not take what the members complete."""
        return False


class ThreadWaits(BitmapWaits):
    """md's thread flushes the bitmap for all writes that have come, and then submits them."""

    __slots__ = ("_asleep", "_going", "_pending")

    def __init__(self, bitmap: WriteIntentBitmap) -> None:
        super().__init__(bitmap)
        self._asleep = False
        self._pending: list[Callable[[], None]] = []
        self._going: list[Callable[[], None]] = []

    def start(self, request: Request, low: int, high: int, write: Callable[[Request], None]) -> None:
        """See :meth:`BitmapWaits.start`."""
        self._bitmap.mark(low, high)
        self.hold(partial(self._go_on, request, write))

    def _go_on(self, request: Request, write: Callable[[Request], None]) -> None:
        request.mark(BITMAP, self._bitmap._engine._now)
        write(request)

    def hold(self, go: Callable[[], None]) -> None:
        """Call `go` when the bits that are set now are on the members and the thread is awake."""
        if not self._asleep and not self._bitmap.dirty:
            go()
            return
        self._pending.append(go)
        if not self._asleep:
            self._flush()

    def _flush(self) -> None:
        self._asleep = True
        self._going, self._pending = self._pending, []
        self._bitmap.flush(self._flushed)

    def _flushed(self) -> None:
        """Submit what the flush was for; what has come meanwhile waits for the next one if it has new bits."""
        going = self._going
        if self._bitmap.dirty:
            self._flush()
        else:
            self._asleep = False
            going += self._pending
            self._pending = []
        for go in going:
            go()
        self.over()


class TaskWaits(ThreadWaits):
    """The task that submits flushes the bitmap when it unplugs, and sleeps meanwhile.

    Parameters
    ----------
    engine, host
        The clock, and the host whose tasks submit.
    array
        The mirror.
    bitmap
        Its bitmap.
    only_plugged
        If true, a write that comes while neither the task nor the kernel has plugged is left to md's thread; otherwise
        each such write is flushed for on its own.
    """

    __slots__ = (
        "_array",
        "_call",
        "_engine",
        "_held",
        "_host",
        "_only_plugged",
        "_open",
        "_pieces",
        "_sleepers",
        "_sleeping",
    )

    def __init__(
        self, engine: Engine, host: Host, array: Redundant, bitmap: WriteIntentBitmap, only_plugged: bool
    ) -> None:
        super().__init__(bitmap)
        self._array = array
        self._engine = engine
        self._host = host
        self._sleepers: dict[int, SleepingThread] = host.sleepers
        self._only_plugged = only_plugged
        self._open = False
        self._call: int | None = None  # the task whose call comes in pieces, under a plug of its own
        self._held: list[tuple[Request, Callable[[Request], None]]] = []
        self._pieces: list[tuple[Request, Callable[[Request], None]]] = []  # of that call
        self._sleeping = 0

    def start(self, request: Request, low: int, high: int, write: Callable[[Request], None]) -> None:
        """See :meth:`BitmapWaits.start`."""
        thread = self._sleepers.get(request.issuer)
        if thread is not None and thread.sleeps:
            start = partial(self._start_late, low, high, write)
            thread.backlog.append(thread.later(self._engine, request, start))
        elif request.issuer == self._call:
            self._bitmap.mark(low, high)
            self._pieces.append((request, write))
        elif self._open:
            self._bitmap.mark(low, high)
            self._held.append((request, write))
        elif self._plugs_call(request.issuer):
            self._bitmap.mark(low, high)
            self._submit_held([(request, write)])
        else:
            super().start(request, low, high, write)

    def _start_late(self, low: int, high: int, write: Callable[[Request], None], request: Request) -> None:
        self.start(request, low, high, write)

    def _plugs_call(self, issuer: int) -> bool:
        """Whether the kernel has plugged the call in which the task `issuer` writes."""
        return not self._only_plugged or issuer in self._host.thread_plugs

    def plug(self) -> None:
        """See :meth:`BitmapWaits.plug`."""
        self._open = True

    def begin_call(self, issuer: int) -> None:
        """See :meth:`BitmapWaits.begin_call`: the plug is around the whole call, if there is one."""
        if not self._open and self._call is None and self._plugs_call(issuer):
            self._call = issuer

    def end_call(self, issuer: int) -> None:
        """See :meth:`BitmapWaits.end_call`."""
        if self._call == issuer:
            self._call = None
            pieces, self._pieces = self._pieces, []
            self._submit_held(pieces)

    @property
    def plugged(self) -> bool:
        """See :attr:`BitmapWaits.plugged`."""
        return self._open or self._call is not None

    def unplug(self) -> None:
        """Flush the bitmap and submit what was held; the task sleeps if there are new bits."""
        self._open = False
        held, self._held = self._held, []
        self._submit_held(held)

    def _submit_held(self, held: list[tuple[Request, Callable[[Request], None]]]) -> None:
        if not held:
            return
        if not self._bitmap.dirty:
            for request, write in held:
                write(request)
            return
        issuer = held[-1][0].issuer
        thread = self._sleepers.setdefault(issuer, SleepingThread())
        thread.sleeps += 1
        thread.cause = BITMAP
        self._sleeping += 1
        plug = self._host.thread_plugs.get(issuer)
        if plug is not None:
            plug.flush()
        self._bitmap.flush(partial(self._written, held, issuer))

    @property
    def holds_writers(self) -> bool:
        """See :attr:`BitmapWaits.holds_writers`."""
        return self._sleeping > 0

    def _written(self, held: list[tuple[Request, Callable[[Request], None]]], issuer: int) -> None:
        wakes = self._engine._now + self._host.prices.switch_s
        self._engine.call_at(wakes, partial(self._awake, held, issuer))

    def _awake(self, held: list[tuple[Request, Callable[[Request], None]]], issuer: int, _: Any = None) -> None:
        """The task submits what it held, and then goes on with what comes after that."""
        self._sleeping -= 1
        thread = self._sleepers[issuer]
        thread.sleeps -= 1
        after, thread.backlog = thread.backlog, deque(partial(self._go_on, request, write) for request, write in held)
        self._array.plug()
        thread.go_on()
        self._array.unplug()
        thread.backlog.extend(after)
        go_on(self._engine, self._sleepers, self._host.thread_plugs, issuer)
        self.over()


class RowWaits(ThreadWaits):
    """md's thread of RAID 4, 5 and 6 flushes the bitmap for rows that have their stripe heads, up to Linux 4.0.

    The array calls :meth:`has_heads` for a write whose data come into stripe heads, and :meth:`hold` for each row that
    is to be read up or written. So no more waits than there are heads for. While the thread sleeps it does not take
    what the members complete.
    """

    __slots__ = ("_without_heads",)

    def __init__(self, bitmap: WriteIntentBitmap) -> None:
        super().__init__(bitmap)
        self._without_heads: dict[Request, tuple[int, int]] = {}

    def start(self, request: Request, low: int, high: int, write: Callable[[Request], None]) -> None:
        """See :meth:`BitmapWaits.start`."""
        if request.op == WRITE:
            self._without_heads[request] = low, high
        else:
            self._bitmap.mark(low, high)
        write(request)

    def has_heads(self, request: Request) -> None:
        """Data of `request` are in stripe heads: its bits are set, the first time."""
        span = self._without_heads.pop(request, None)
        if span is not None:
            self._bitmap.mark(*span)

    @property
    def bitmap(self) -> WriteIntentBitmap:
        """The bitmap."""
        return self._bitmap

    @property
    def holds_thread(self) -> bool:
        """See :attr:`BitmapWaits.holds_thread`."""
        return self._asleep


class StripeWaits(RowWaits):
    """The same for drivers whose thread makes passes: it keeps a list of the heads, and flushes before each pass."""

    __slots__ = ()

    @property
    def holds_thread(self) -> bool:
        """See :attr:`BitmapWaits.holds_thread`: the thread sleeps without a request."""
        return False


def mirror_waits(
    engine: Engine, host: Host | None, array: Redundant, bitmap: WriteIntentBitmap, who: MirrorWaits
) -> BitmapWaits:
    """Which process or thread waits for the bitmap of a mirror; without a host there are no tasks that could sleep."""
    if host is None or who == "thread":
        return ThreadWaits(bitmap)
    return TaskWaits(engine, host, array, bitmap, who == "plugged-task")


def _nothing() -> None:
    pass
