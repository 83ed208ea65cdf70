"""dm-crypt as it works since Linux 4.0: workers on all cores, a thread that sorts writes, or neither.

A read goes down as it is; when it has come back, a worker (kcryptd) is woken and decrypts it. A write is encrypted by a
worker, and then the thread dmcrypt_write is woken, which submits what has been encrypted meanwhile in the order of its
addresses, so that workers that overtake each other do not scatter a stream. Each waking costs a switch, which a fast
drive's I/O notices. Large I/Os are split, so that several workers have something of one.

The workers of a memory node are one pool (since Linux 6.5 those of a cache). Whoever hands work over holds the lock of
the pool while it wakes a worker, and so does the worker that takes it (kernel/workqueue.c, __queue_work and
process_one_work): a pool takes half a million items a second, however many cores it has.

With no_read_workqueue the core that a read interrupts decrypts it in a tasklet, with no_write_workqueue the submitter
encrypts, and submits at once. With same_cpu_crypt a worker stays on the core that submitted the I/O, and with
submit_from_crypt_cpus the workers submit what they have encrypted. Source: drivers/md/dm-crypt.c (crypt_map,
kcryptd_queue_crypt, kcryptd_crypt_write_io_submit, dmcrypt_write, crypt_ctr).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final

from ..core.device import Device
from ..core.engine import Engine
from ..core.join import FORWARD, Parts
from ..core.request import CRYPT_THREADS, READ, TRIM, WRITE, Call, Request
from ..tasks.host import Host
from ..tasks.lock import QUEUE_LINES, Lock
from ..waits.causes import CIPHER
from .cryptoloop import CryptDevice

POOL_CYCLES: Final = 3_900
"""Cycles for which an item of work holds the lock of its pool: two wakings inside it, 1.3 us at 3 GHz. In the kernel's
own benchmark (lib/test_workqueue.c; B. Leitao, "workqueue: Shrink the lock time", linux-kernel, 16 June 2026) a pool
takes 525,000 to 540,000 items a second on 72 cores at that clock, 1.9 us each; twelve cache lines of 50 ns that move
from core to core for the two times that it is taken are 0.6 us of them."""

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
    same_core: bool = False
    """If true, a worker stays on the core that submitted the I/O (same_cpu_crypt)."""
    sorts_writes: bool = True
    """If true, a thread submits what workers have encrypted, in order; otherwise they do (submit_from_crypt_cpus)."""
    pool_s: float = 0.0
    """Seconds for which an item of work holds the lock of its pool, besides the cache lines that move."""
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
    pools
        The locks of the workers' pools, each of which has the same number of cores. Without any, handing over work
        never waits.
    """

    __slots__ = (
        "_bio_s",
        "_cores",
        "_handed_over",
        "_host",
        "_inline_until",
        "_issuer",
        "_pools",
        "_settings",
        "_sorting",
        "_spins",
        "_spreads",
        "_submits",
        "_switch_s",
        "_worked_inline",
    )

    def __init__(
        self,
        engine: Engine,
        device: Device,
        host: Host,
        settings: CryptSettings,
        name: str | None = None,
        pools: Sequence[Lock] = (),
    ) -> None:
        cores, discards = host.cpu.cores, settings.allow_discards
        super().__init__(engine, device, host, settings.s_per_byte, settings.sector_s, cores, name, discards)
        self._settings = settings
        self._switch_s = host.prices.switch_s
        self._bio_s = host.prices.bio_s
        self._sorting: list[Request] = []
        self._submits = False
        self._worked_inline = Call(self._inline_over)
        self._handed_over = Call(self._enqueue)
        self._inline_until: dict[int, float] = {}
        self._issuer = engine.thread_issuer(CRYPT_THREADS)
        self._host = host
        # md's work for what the thread submits is the thread's own.
        host.passing_s[self._issuer] = 0.0
        self._cores = cores
        self._pools = list(pools)
        # Until when (s) cores spin for the lock of their pool.
        self._spins: dict[int, float] = {}
        self._spreads = any(queue.spreads for queue in device.queues())

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
            size, issuer, sync = min(most, end - at), request.issuer, request.sync
            self._enter(Request(request.op, at, size, join, issuer, sync, trail=request.trail))

    def _enter(self, request: Request) -> None:
        if request.op == READ:
            offset, size = request.offset, request.size
            below = Request(READ, offset, size, self._arrived, request.issuer, request.sync, request, request.trail)
            self._below(below)
        elif self._settings.queues_writes:
            self._hand_over(request)
        else:
            self._work_inline(request)

    def _arrived(self, below: Request) -> None:
        if below.trail is not None:
            below.parent.trail = below.trail
        if self._settings.queues_reads:
            self._hand_over(below.parent)
        else:
            self._work_inline(below.parent)

    def _seconds(self, request: Request) -> float:
        settings = self._settings
        size: int = request.size
        return size * settings.s_per_byte + -(-size // settings.sector_bytes) * settings.sector_s + self._bio_s

    def _core_of(self, request: Request) -> int | None:
        """The core that submitted a request, which the drive interrupts where it has a queue for each; else any."""
        return request.issuer % self._cores if self._spreads else None

    def _hand_over(self, request: Request) -> None:
        """Queue a request for a worker, with the lock of its pool."""
        if self._settings.same_core:
            self._start(request)
            return
        pools = self._pools
        if pools:
            core, now = request.issuer % self._cores, self._engine._now
            until = pools[core % len(pools)].take(core, now, self._settings.pool_s, QUEUE_LINES)
            if until > now:
                # The core spins for one item at a time; those that come meanwhile wait behind it.
                spins = self._spins
                self._cpu.interrupt(until - max(now, spins.get(core, 0.0)), self._core_of(request))
                spins[core] = until
                self._engine.complete(request, self._handed_over, until)
                return
        self._enqueue(request)

    def _start(self, request: Request) -> None:
        """A worker is woken and takes a request, in its turn among programs."""
        seconds = self._switch_s + self._seconds(request)
        self.busy_s += seconds
        core = request.issuer % self._cores if self._settings.same_core else None
        self._engine.complete(request, self._done, self._cpu.book(seconds, core))

    def _over(self, request: Request) -> None:
        """A worker is through with a request and takes the next; those of single cores have queues of their own."""
        if self._settings.same_core:
            self._worked(request)
        else:
            super()._over(request)

    def _work_inline(self, request: Request) -> None:
        """The core that is interrupted for a read, or submits a write, does the work ahead of programs.

        Where any core may be interrupted, work for one program is done after the work for it that came before, as
        that of one thread is, and nobody who computes is interrupted.
        """
        seconds, issuer = self._seconds(request), request.issuer
        self.busy_s += seconds
        core = self._core_of(request)
        if core is not None:
            finish = self._cpu.interrupt(seconds, core)
        else:
            begin = max(self._engine._now, self._inline_until.get(issuer, 0.0))
            finish = max(self._cpu.book(seconds), begin + seconds)
            self._inline_until[issuer] = finish
        self._engine.complete(request, self._worked_inline, finish)

    def _inline_over(self, request: Request) -> None:
        request.mark(CIPHER, self._engine._now)
        if request.op == READ:
            request.complete()
        else:
            self._write_below(request, request.issuer)

    def _encrypted(self, request: Request) -> None:
        """A write waits for the thread that submits, which is woken by the first; or its worker submits it."""
        if not self._settings.sorts_writes:
            self._write_below(request, self._issuer)
            return
        self._sorting.append(request)
        if not self._submits:
            self._submits = True
            self._run_thread(self._switch_s)

    def _run_thread(self, seconds: float) -> None:
        """The thread computes; then it submits what is there."""
        self.thread_s += seconds
        self.busy_s += seconds
        self._engine.call_at(self._cpu.book(seconds), self._submit_sorted)

    def _submit_sorted(self, _: Any) -> None:
        """The thread submits what has been encrypted, in order, and sleeps when there is no more."""
        sorting, self._sorting = self._sorting, []
        if not sorting:
            self._submits = False
            return
        self.plug()
        for request in sorted(sorting, key=_address):
            self._write_below(request, self._issuer)
        self.unplug()
        # What a drive does meanwhile it does before the thread has paid for it: a bio, and what md takes of each.
        self._run_thread(len(sorting) * self._bio_s + self._host.take_passing_s(self._issuer))

    def _write_below(self, request: Request, issuer: int) -> None:
        request.mark(CIPHER, self._engine._now)
        offset, size = request.offset, request.size
        self._below(Request(WRITE, offset, size, FORWARD, issuer, request.sync, request, request.trail))
