"""A loop device that encrypts, as Linux runs it since 2.6.4: through the page cache of what is below.

Until then a loop device over a block device changed the address of each I/O and handed it down ("loop: remove the bio
remapping capability" in the ChangeLog of 2.6.4; :class:`~.cryptoloop.CryptDevice` does so). Since then its thread
reads the page cache of the device below, with read-ahead of its own, and writes into it (drivers/block/loop.c,
do_lo_receive and do_lo_send): all data are in memory twice, and a write is done when it is encrypted.

The writer to the loop device is throttled at the limit of dirty memory, and the thread a quarter above that, or it
would wait for pages that only it can clean (mm/page-writeback.c, PF_LESS_THROTTLE; loop.c sets it since 4.13. Assumed
for earlier kernels). So the thread sleeps where no page cache above has throttled the writes: direct I/O.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from typing import Any, Final

from ..core.device import Device
from ..core.discard_limits import DiscardLimits, refused
from ..core.engine import Engine
from ..core.errors import ModelError
from ..core.request import DAEMON_ISSUER, READ, Request
from ..core.signal import Signal
from ..memory.page_cache import PageCache
from ..readahead import PAGE
from ..tasks.cpu import Account
from ..tasks.host import Host
from ..waits.causes import PAGE_CACHE

_ABOVE_LIMIT: Final = 1.25
"""Dirty memory at which the thread is throttled, as a multiple of the limit."""
_PAUSE_S: Final = 0.1
"""Time that it sleeps before it looks again (HZ / 10)."""


class LoopDevice(Device):
    """A device that holds another's blocks encrypted, behind that one's page cache.

    Parameters
    ----------
    engine
        The clock.
    host
        Whose CPU encrypts; the thread runs before all programs (set_user_nice -20).
    cache
        Of the device below.
    s_per_byte
        Seconds of one core per byte, the inverse of the cipher's rate.
    name
        Shown in results; that of the device below if not given.

    Attributes
    ----------
    account
        The thread's.
    busy_s, threads
        CPU time (s) used for encryption, by its one thread.
    thread_s
        0: no other thread submits writes.
    """

    __slots__ = (
        "_asleep",
        "_cpu",
        "_engine",
        "_queue",
        "_read_ahead",
        "_s_per_byte",
        "account",
        "busy_s",
        "cache",
        "thread_s",
        "threads",
    )

    def __init__(
        self, engine: Engine, host: Host, cache: PageCache, s_per_byte: float, name: str | None = None
    ) -> None:
        self.name = cache.device.name if name is None else name
        if s_per_byte < 0:
            raise ModelError(f"{self.name}: {s_per_byte} s per byte; not negative")
        self._engine = engine
        self._cpu = host.cpu
        self.cache = cache
        self.capacity = cache.device.capacity
        self._s_per_byte = s_per_byte
        self._read_ahead = cache.open(cache.device_file)
        self._queue: deque[Request] = deque()
        self._asleep: Signal | None = None
        self.account = Account(DAEMON_ISSUER)
        self.busy_s = self.thread_s = 0.0
        self.threads = 1
        engine.spawn(self._thread())

    def start_statistics(self) -> None:
        """Forget what was counted so far."""
        self.busy_s = 0.0

    @property
    def discard_limits(self) -> DiscardLimits:
        """It takes no discards, because it encrypts (drivers/block/loop.c, loop_config_discard)."""
        return refused(f"{self.name} is a loop device that encrypts, which takes no discards")

    def submit(self, request: Request) -> None:
        """Serve a request, after those that came before."""
        request.submitted = self._engine._now
        self._queue.append(request)
        asleep, self._asleep = self._asleep, None
        if asleep is not None:
            asleep.fire()

    def _thread(self) -> Generator[Any, Any, None]:
        """Take one request after the other (loop_thread)."""
        cache, queue = self.cache, self._queue
        file = cache.device_file
        while True:
            if not queue:
                self._asleep = asleep = Signal()
                yield asleep
            request = queue.popleft()
            start, end = request.offset, request.offset + request.size
            if request.op == READ:
                yield from cache.read(file, self._read_ahead, start, end, self.account, 0.0)
                yield self._cipher(request.size)
            else:
                for edge in (start, end):
                    page = edge - edge % PAGE
                    if edge != page:  # a page that is written in part has to be there (prepare_write)
                        yield from cache.fetch(file, page, page + PAGE, self.account)
                yield self._cipher(request.size)
                cache.mark_dirty(file, start, end)
                memory = cache.memory
                while memory.counted > _ABOVE_LIMIT * memory.limits.limit:
                    memory.start_write_back()
                    yield self._engine.timeout(_PAUSE_S)
            request.mark(PAGE_CACHE, self._engine._now)
            request.complete()

    def _cipher(self, size: int) -> Any:
        """The event that ends when `size` bytes have been through the cipher."""
        seconds = size * self._s_per_byte
        self.busy_s += seconds
        finish = self._cpu.interrupt(seconds)
        return self._engine.timeout(finish - self._engine._now)
