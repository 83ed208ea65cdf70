"""What a redundant md array writes in addition to the data: its superblock, and the write-intent bitmap.

The first write to a clean array marks it dirty in the superblock of every member and waits for that; after
``safe_mode_delay`` without writes it is marked clean again. The bits of the write come after that. Sources:
drivers/md/md.c (md_write_start, md_write_end, md_update_sb).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.engine import Engine
from ...core.request import Call, Request
from ...waits.causes import SUPERBLOCK
from .bitmap import SAFE_MODE_DELAY_S, WriteIntentBitmap
from .bitmap_waits import BitmapWaits, RowWaits, ThreadWaits
from .superblock import DATA_OFFSET_SECTORS, VERSION_1_2, MemberMetadata, Redundant, Superblock


class ArrayMetadata:
    """Superblock and bitmap of one array, between it and its writes.

    Parameters
    ----------
    engine
        The clock.
    array
        Whose metadata they are; it calls :meth:`before_write`.
    bitmap
        Its write-intent bitmap, or None.
    safe_mode_delay_s
        Idle time after which the array is marked clean; 0: never, once it is dirty (``safe_mode_delay`` 0).
    data_offset_sectors
        Where the data begin on the members.
    superblock
        Where it is, and how it is written.
    waits
        The process or thread that waits for a new bit; None: md's thread, for all writes that have come.
    """

    __slots__ = (
        "_array",
        "_bitmap",
        "_engine",
        "_first_since_event",
        "_idle_since",
        "_on_written",
        "_plugged",
        "_safe_mode_delay_s",
        "_superblock",
        "_supers",
        "_timer",
        "_updating",
        "_waiting",
        "_waits",
        "_writes",
        "clean",
        "has_bitmap",
    )

    def __init__(
        self,
        engine: Engine,
        array: Redundant,
        bitmap: WriteIntentBitmap | None = None,
        safe_mode_delay_s: float = SAFE_MODE_DELAY_S,
        data_offset_sectors: int = DATA_OFFSET_SECTORS,
        superblock: Superblock = VERSION_1_2,
        waits: BitmapWaits | None = None,
    ) -> None:
        self._engine = engine
        self._array = array
        self._bitmap = bitmap
        self.has_bitmap = bitmap is not None
        self._superblock = superblock
        self._safe_mode_delay_s = safe_mode_delay_s
        self._supers = MemberMetadata(array, data_offset_sectors)
        self.clean = True
        self._updating = False
        self._first_since_event = False
        self._writes = 0
        self._idle_since = 0.0
        self._timer = False
        self._waiting: list[tuple[Request, Callable[[Request], None]]] = []
        self._on_written: list[Callable[[], None]] = []
        self._plugged = False
        self._waits: BitmapWaits | None = None
        if bitmap is not None:
            self._waits = ThreadWaits(bitmap) if waits is None else waits
            self._waits.over = self._tell

    @property
    def holds_writers(self) -> bool:
        """Whether a task that writes back sleeps: until superblocks are written (md_write_start), or for new bits."""
        return self._updating or (self._waits is not None and self._waits.holds_writers)

    @property
    def holds_thread(self) -> bool:
        """Whether md's thread sleeps: it marks arrays clean, while writers mark them dirty themselves."""
        return (self._updating and self.clean) or (self._waits is not None and self._waits.holds_thread)

    def when_written(self, callback: Callable[[], None]) -> None:
        """Call back once, when superblocks are being written no more, or a wait for new bits is over."""
        self._on_written.append(callback)

    @property
    def bitmap(self) -> WriteIntentBitmap | None:
        """The write-intent bitmap."""
        return self._bitmap

    @property
    def stops_thread(self) -> bool:
        """Whether md's thread does nothing else while it waits for bits of the bitmap."""
        return isinstance(self._waits, RowWaits)

    def plug(self) -> None:
        """A task begins to submit several writes."""
        if self._waits is not None:
            self._waits.plug()

    def unplug(self) -> None:
        """It has submitted all, or goes to sleep."""
        if self._waits is not None:
            self._waits.unplug()

    def begin_call(self, issuer: int) -> None:
        """The pieces of one write of the task `issuer` follow."""
        if self._waits is not None:
            self._waits.begin_call(issuer)

    def end_call(self, issuer: int) -> None:
        """All pieces have come."""
        if self._waits is not None:
            self._waits.end_call(issuer)

    def before_write(self, request: Request, write: Callable[[Request], None]) -> None:
        """Call ``write(request)`` once the array is marked dirty and the request's bits are set."""
        self._writes += 1
        if self._updating or self.clean:
            self._waiting.append((request, write))
            self._plugged = self._waits is not None and self._waits.plugged
            if not self._updating:
                self.clean = False
                self._update_superblock()
            return
        self._marked(request, write)

    def _marked(self, request: Request, write: Callable[[Request], None]) -> None:
        bitmap, waits, done = self._bitmap, self._waits, request.completion
        if bitmap is None or waits is None:

            def over(_: Request) -> None:
                self._over()
                request.completion = done
                done.done(request)

            request.completion = Call(over)
            write(request)
            return
        low, high = self._array.resync_range(request.offset, request.size)

        def over_and_noted(_: Request) -> None:
            first, self._first_since_event = self._first_since_event, False
            bitmap.end(low, high, first and not self._array.failed)
            self._over()
            request.completion = done
            done.done(request)

        request.completion = Call(over_and_noted)
        waits.start(request, low, high, write)

    def _over(self) -> None:
        self._writes -= 1
        if not self._writes and self._safe_mode_delay_s:
            self._idle_since = self._engine._now
            if not self._timer:
                self._timer = True
                self._engine.call_at(self._idle_since + self._safe_mode_delay_s, self._safe_mode)

    def _safe_mode(self, _: Any) -> None:
        self._timer = False
        if self._writes or self.clean:
            return
        due = self._idle_since + self._safe_mode_delay_s
        if due > self._engine._now:
            self._timer = True
            self._engine.call_at(due, self._safe_mode)
            return
        self.clean = True
        self._update_superblock()

    def _update_superblock(self) -> None:
        self._updating = True
        if self._bitmap is not None:
            self._bitmap.superblock_changed(self._write_superblock)
        else:
            self._write_superblock()

    def _write_superblock(self) -> None:
        self._supers.write_superblock(self._superblock, self._superblock_written)

    def _superblock_written(self) -> None:
        self._updating = False
        self._first_since_event = not self.clean
        if self._waiting and self.clean:  # marked clean while a write arrived
            self.clean = False
            self._update_superblock()
        elif self._waiting:
            waiting, self._waiting = self._waiting, []
            if self._plugged and self._waits is not None:  # the task that slept is still in its plug
                self._waits.plug()
            for request, write in waiting:
                request.mark(SUPERBLOCK, self._engine._now)
                self._marked(request, write)
            self._array.unplug()
        self._tell()

    def _tell(self) -> None:
        """Whoever slept goes on."""
        sleepers, self._on_written = self._on_written, []
        for callback in sleepers:
            callback()
