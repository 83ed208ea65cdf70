"""An encrypting device: every byte costs CPU time, before a write goes out and after a read has come in.

cryptoloop has one kernel thread per device, which takes what it is given one after the other in order
(drivers/block/loop.c, loop_thread, with drivers/block/cryptoloop.c as its transfer function): one thread here, however
many cores there are. dm-crypt hands its work to a workqueue, since Linux 4.0 an unbound one that spreads over all cores
(drivers/md/dm-crypt.c, kcryptd): as many threads as cores. The cipher (AES-256 in CBC mode for both, in 2004) has a
price per byte, and one per sector for its initialisation vector.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from ..core.discard import DiscardLimits, discard_limits, refused
from ..core.engine import Engine
from ..core.errors import ModelError
from ..core.flush import flush
from ..core.join import forward
from ..core.request import READ, TRIM, Request
from ..tasks.host import Host

SECTOR = 512
"""Both encrypt sector by sector, each with an initialisation vector of its own."""


class CryptDevice:
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
    crypt_s
        CPU time spent (s).
    encrypted_bytes, decrypted_bytes
        What has been through the cipher.
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
        "crypt_s",
        "decrypted_bytes",
        "device",
        "encrypted_bytes",
        "name",
        "threads",
    )

    def __init__(
        self,
        engine: Engine,
        device: Any,
        host: Host,
        s_per_byte: float,
        sector_s: float = 0.0,
        threads: int = 1,
        name: str | None = None,
        allow_discards: bool = False,
    ) -> None:
        self.name = device.name if name is None else name
        if s_per_byte < 0 or sector_s < 0:
            raise ModelError(f"{self.name}: {s_per_byte} s per byte, {sector_s} s per sector; not negative")
        if not 1 <= threads <= host.cpu.cores:
            raise ModelError(f"{self.name}: {threads} threads; allowed: 1 to {host.cpu.cores}, the cores of the CPU")
        self._engine = engine
        self.device = device
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
        self._done: tuple[Callable[[Request], None], ...] = (self._over,)
        self.crypt_s = 0.0
        self.encrypted_bytes = self.decrypted_bytes = 0

    @property
    def capacity(self) -> int:
        """Bytes of the device below."""
        return int(self.device.capacity)

    @property
    def foreground_bytes(self) -> int:
        """What the device below has completed so far, but for resync (bytes)."""
        return int(getattr(self.device, "foreground_bytes", 0))

    @property
    def has_room(self) -> bool:
        """Whether the device below takes more writes."""
        return bool(getattr(self.device, "has_room", True))

    def when_room(self, callback: Callable[[], None]) -> None:
        """Call back when the device below has room again (at once if it is one that always has)."""
        if hasattr(self.device, "when_room"):
            self.device.when_room(callback)
        else:
            callback()

    def plug(self) -> None:
        """Hold requests back below, so that neighbours merge, until :meth:`unplug`."""
        if hasattr(self.device, "plug"):
            self.device.plug()

    def unplug(self) -> None:
        """Let held-back requests go, also those that have still to be encrypted."""
        self._urgent = self._busy > 0
        if hasattr(self.device, "unplug"):
            self.device.unplug()

    def flush(self, done: Callable[[], None]) -> None:
        """Flush the caches below; see :mod:`raidsim.model.core.flush`."""
        flush(self.device, done)

    @property
    def discard_limits(self) -> DiscardLimits:
        """What the device below takes of discards, if they may pass."""
        if self._allow_discards:
            return discard_limits(self.device)
        return refused(f"{self.name} passes discards on only with allow_discards, which is off")

    def submit(self, request: Request) -> None:
        """Serve a request."""
        if self._free_of_cost or request.op == TRIM:
            self._below(request)
            return
        request.submitted = self._engine._now
        if request.op == READ:
            offset, size = request.offset, request.size
            self._below(Request(READ, offset, size, self._arrived, request.issuer, request.sync, request))
        else:
            self._enqueue(request)

    def _arrived(self, below: Request) -> None:
        self._enqueue(below.parent)

    def _enqueue(self, request: Request) -> None:
        if self._busy < self.threads:
            self._busy += 1
            self._start(request)
        else:
            self._queue.append(request)

    def _start(self, request: Request) -> None:
        """A thread takes a request; the CPU is charged now and not when it was queued, so that programs get between."""
        seconds = request.size * self._s_per_byte + request.size / SECTOR * self._sector_s
        self.crypt_s += seconds
        self._cpu.interrupt(seconds)
        self._engine.complete(request, self._done, self._engine._now + seconds)

    def _over(self, request: Request) -> None:
        """A thread is through with a request and takes the next."""
        if self._queue:
            self._start(self._queue.popleft())
        else:
            self._busy -= 1
        if request.op == READ:
            self.decrypted_bytes += request.size
            request.done(request)
            return
        self.encrypted_bytes += request.size
        self._encrypted(request)

    def _encrypted(self, request: Request) -> None:
        """A write can go to the device below."""
        offset, size = request.offset, request.size
        self._below(Request(request.op, offset, size, forward, request.issuer, request.sync, request))
        if self._urgent:
            self.unplug()
