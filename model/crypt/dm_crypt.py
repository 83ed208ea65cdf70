"""dm-crypt as it works today: workers on all cores, a thread that sorts writes, or neither.

A read goes down as it is; when it has come back, a worker (kcryptd) is woken and decrypts it. A write is encrypted by a
worker, and then the thread dmcrypt_write is woken, which submits what has been encrypted meanwhile in the order of its
addresses, so that workers that overtake each other do not scatter a stream. Each waking costs a switch, which a fast
drive's I/O notices; with no_read_workqueue and no_write_workqueue whoever is interrupted or submits does the work at
once, one I/O after the other. Large I/Os are split, so that several workers have something of one. Source:
drivers/md/dm-crypt.c (crypt_map, kcryptd_queue_crypt, kcryptd_crypt_write_io_submit, dmcrypt_write).
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from ..core.device import Device
from ..core.engine import Engine
from ..core.join import FORWARD, Parts
from ..core.request import CRYPT_THREADS, READ, TRIM, WRITE, Call, Request
from ..tasks.host import Host
from .cryptoloop import CryptDevice

_address = attrgetter("offset")


@dataclass(frozen=True, slots=True)
class CryptSettings:
    """What dm-crypt does for an I/O."""

    s_per_byte: float
    sector_s: float = 0.0
    """Seconds of a core for a byte, and for a sector besides."""
    sector_bytes: int = 512
    """Bytes of a sector."""
    largest_bytes: int = 0
    splits_reads: bool = False
    """Larger writes are split, and reads or not; 0: none are."""
    queues_reads: bool = True
    queues_writes: bool = True
    """Whether workers decrypt and encrypt, or whoever comes with the I/O."""
    allow_discards: bool = False
    """Whether discards are passed on."""


class CryptPipeline(CryptDevice):
    """A device that holds another's blocks encrypted, by workers on all cores.

    Parameters
    ----------
    engine, device, host, name
        As of a :class:`CryptDevice`.
    settings
        What it does.
    """

    __slots__ = ("_bio_s", "_inline_until", "_issuer", "_settings", "_sorting", "_switch_s", "_worked_inline")

    def __init__(
        self, engine: Engine, device: Device, host: Host, settings: CryptSettings, name: str | None = None
    ) -> None:
        cores, discards = host.cpu.cores, settings.allow_discards
        super().__init__(engine, device, host, settings.s_per_byte, settings.sector_s, cores, name, discards)
        self._settings = settings
        self._switch_s = host.prices.switch_s
        self._bio_s = host.prices.bio_s
        self._sorting: list[Request] = []
        self._worked_inline = Call(self._inline_over)
        self._inline_until: dict[int, float] = {}
        self._issuer = engine.thread_issuer(CRYPT_THREADS)

    def unplug(self) -> None:
        """Let held-back requests below go; the thread that submits writes has a plug of its own."""
        self.device.unplug()

    def submit(self, request: Request) -> None:
        """Serve a request."""
        if request.op == TRIM:
            self._below(request)
            return
        request.submitted = self._engine._now
        settings = self._settings
        size: int = request.size
        most = settings.largest_bytes
        if not most or size <= most or (request.op == READ and not settings.splits_reads):
            self._enter(request)
            return
        join = Parts(-(-size // most), request)
        end = request.offset + size
        for at in range(request.offset, end, most):
            self._enter(Request(request.op, at, min(most, end - at), join, request.issuer, request.sync))

    def _enter(self, request: Request) -> None:
        if request.op == READ:
            offset, size = request.offset, request.size
            self._below(Request(READ, offset, size, self._arrived, request.issuer, request.sync, request))
        elif self._settings.queues_writes:
            self._enqueue(request)
        else:
            self._work_inline(request)

    def _arrived(self, below: Request) -> None:
        if self._settings.queues_reads:
            self._enqueue(below.parent)
        else:
            self._work_inline(below.parent)

    def _seconds(self, request: Request) -> float:
        settings = self._settings
        size: int = request.size
        return size * settings.s_per_byte + -(-size // settings.sector_bytes) * settings.sector_s + self._bio_s

    def _start(self, request: Request) -> None:
        """A worker is woken and takes a request, in its turn among programs."""
        finish = self._cpu.book(self._switch_s + self._seconds(request))
        self._engine.complete(request, self._done, finish)

    def _work_inline(self, request: Request) -> None:
        """The submitter of a request does the work, after the work that it has already; nobody who computes is
        interrupted.
        """
        seconds, issuer = self._seconds(request), request.issuer
        begin = max(self._engine._now, self._inline_until.get(issuer, 0.0))
        finish = max(self._cpu.book(seconds), begin + seconds)
        self._inline_until[issuer] = finish
        self._engine.complete(request, self._worked_inline, finish)

    def _inline_over(self, request: Request) -> None:
        if request.op == READ:
            request.complete()
        else:
            self._write_below(request, request.issuer)

    def _encrypted(self, request: Request) -> None:
        """A write waits for the thread that submits, which is woken by the first."""
        if not self._sorting:
            self._engine.call_at(self._cpu.book(self._switch_s), self._submit_sorted)
        self._sorting.append(request)

    def _submit_sorted(self, _: Any) -> None:
        """The thread submits what has been encrypted, in order."""
        sorting, self._sorting = self._sorting, []
        self.plug()
        for request in sorted(sorting, key=_address):
            self._write_below(request, self._issuer)
        self.unplug()

    def _write_below(self, request: Request, issuer: int) -> None:
        self._below(Request(WRITE, request.offset, request.size, FORWARD, issuer, request.sync, request))
