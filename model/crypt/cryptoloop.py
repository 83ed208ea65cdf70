"""An encrypting device: every byte costs CPU time, before a write goes out and after a read has come in.

cryptoloop has one kernel thread per device, which takes what it is given one after the other in order
(drivers/block/loop.c, loop_thread, with drivers/block/cryptoloop.c as its transfer function): one thread here, however
many cores there are. dm-crypt hands its work to a workqueue, since Linux 4.0 an unbound one that spreads over all cores
(drivers/md/dm-crypt.c, kcryptd): as many threads as cores. The cipher (AES-256 in CBC mode for both, in 2004) has a
price per byte, and one per sector for its initialization vector.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from ..core.device import Device, Wrapper
from ..core.discard_limits import DiscardLimits, refused
from ..core.engine import Engine
from ..core.errors import ModelError
from ..core.join import FORWARD
from ..core.request import READ, TRIM, Call, Request
from ..tasks.host import Host
from ..waits.causes import CIPHER

SECTOR = 512
"""Both encrypt sector by sector, each with an initialisation vector of its own."""


class CryptDevice(Wrapper):
    """A device that holds another's blocks encrypted.

    Parameters
    ----------
    engine
        The clock.
    device
        What is below.
    host
        Whose CPU encrypts, as kernel work.
    s_per_byte
        Seconds of one core per byte, the inverse of the cipher's rate.
    sector_s
        Seconds of one core per sector.
    threads
        How many kernel threads encrypt: 1 for cryptoloop, the number of cores for dm-crypt.
    name
        Shown in results; that of the device below if not given.
    allow_discards
        Whether discards are passed on, as they are; dm-crypt's flag of that name (since 3.1).

    Attributes
    ----------
    busy_s, thread_s
        CPU time (s) used for encryption, and that of the thread that submits writes, if there is one.
    """

    __slots__ = (
        "_allow_discards",
        "_below",
        "_busy",
        "_cpu",
        "_done",
        "_engine",
        "_free_of_cost",
        "_queue",
        "_s_per_byte",
        "_sector_s",
        "_urgent",
        "busy_s",
        "thread_s",
        "threads",
    )

    def __init__(
        self,
        engine: Engine,
        device: Device,
        host: Host,
        s_per_byte: float,
        sector_s: float = 0.0,
        threads: int = 1,
        name: str | None = None,
        allow_discards: bool = False,
    ) -> None:
        super().__init__(device, name)
        if s_per_byte < 0 or sector_s < 0:
            raise ModelError(f"{self.name}: {s_per_byte} s per byte, {sector_s} s per sector; not negative")
        if not 1 <= threads <= host.cpu.cores:
            raise ModelError(f"{self.name}: {threads} threads; expected: 1 to {host.cpu.cores}, the cores of the CPU")
        self._engine = engine
        self._allow_discards = allow_discards
        self._below: Callable[[Request], None] = device.submit
        self._cpu = host.cpu
        self._s_per_byte = s_per_byte
        self._sector_s = sector_s
        self._free_of_cost = not s_per_byte and not sector_s
        self.threads = threads
        self._queue: deque[Request] = deque()
        self._busy = 0
        self._urgent = False
        self._done = Call(self._over)
        self.busy_s = self.thread_s = 0.0

    def start_statistics(self) -> None:
        """Forget what was counted so far."""
        self.busy_s = self.thread_s = 0.0

    def unplug(self) -> None:
        """Let held-back requests go, also those that have still to be encrypted."""
        self._urgent = self._busy > 0
        self.device.unplug()

    @property
    def task_plug(self) -> None:
        """None: its own :meth:`unplug` has more to do than to flush a plug."""
        return None

    @property
    def submission_s_per_page(self) -> float:
        """Nothing: its threads submit what is written back, not the process that wrote it."""
        return 0.0

    @property
    def row_locks(self) -> None:
        """None: its threads submit to the device below and wait there."""
        return None

    @property
    def waiting_readers(self) -> None:
        """None: its threads submit to the device below and wait there."""
        return None

    @property
    def discard_limits(self) -> DiscardLimits:
        """What the device below takes of discards, if they may pass."""
        if self._allow_discards:
            return self.device.discard_limits
        return refused(f"{self.name} passes discards on only with allow_discards, which is off")

    def submit(self, request: Request) -> None:
        """Serve a request."""
        if self._free_of_cost or request.op == TRIM:
            self._below(request)
            return
        request.submitted = self._engine._now
        if request.op == READ:
            offset, size = request.offset, request.size
            below = Request(READ, offset, size, self._arrived, request.issuer, request.sync, request, request.trail)
            self._below(below)
        else:
            self._enqueue(request)

    def _arrived(self, below: Request) -> None:
        if below.trail is not None:
            below.parent.trail = below.trail
        self._enqueue(below.parent)

    def _enqueue(self, request: Request) -> None:
        if self._busy < self.threads:
            self._busy += 1
            self._start(request)
        else:
            self._queue.append(request)

    def _start(self, request: Request) -> None:
        """A thread takes a request; the CPU is charged now and not when it was queued, so that programs get between."""
        size: int = request.size
        seconds = size * self._s_per_byte + size / SECTOR * self._sector_s
        self.busy_s += seconds
        self._engine.complete(request, self._done, self._cpu.interrupt(seconds))

    def _over(self, request: Request) -> None:
        """A thread is through with a request and takes the next."""
        if self._queue:
            self._start(self._queue.popleft())
        else:
            self._busy -= 1
        self._worked(request)

    def _worked(self, request: Request) -> None:
        """A request is decrypted, and complete, or encrypted."""
        request.mark(CIPHER, self._engine._now)
        if request.op == READ:
            request.complete()
            return
        self._encrypted(request)

    def _encrypted(self, request: Request) -> None:
        """A write can go to the device below."""
        offset, size = request.offset, request.size
        self._below(Request(request.op, offset, size, FORWARD, request.issuer, request.sync, request, request.trail))
        if self._urgent:
            self.unplug()
