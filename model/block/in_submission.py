"""A block device whose driver does the work itself, inside the submission: a RAM disk, a null block device.

The thread that submits copies the data, and only then its call returns. So the copy takes CPU time of that thread, and
all that the thread submits to whichever device comes after it. The I/O is complete when the copy is, before the
thread goes on, so nobody has to be woken for it. The copies of different threads run at the same time, each on a core.

A thread that copies is in :attr:`raidsim.model.tasks.host.Host.sleepers`, as one that sleeps in the middle of its
submission is: every submitter (a program, raid5d, a resync, write-back) waits for that already. Two things differ.
The thread uses the CPU meanwhile, and its plug stays as it is.

Sources: Linux drivers/block/brd.c (brd_submit_bio; brd_make_request until 5.8), which calls bio_endio after its loop
over the pages. drivers/block/null_blk/main.c (null_queue_rq, null_handle_cmd, nullb_complete_cmd) ends a request there
with irqmode=0. With irqmode=1 it does so through blk_mq_complete_request on the same CPU: at once with several hardware
queues, by a softirq with one (block/blk-mq.c, blk_mq_complete_request_remote). The delay of a softirq is left out.
"""

from __future__ import annotations

from typing import Final

from ..core.engine import Engine
from ..core.request import CRYPT_THREADS, FLUSH, PARITY_THREADS, READ, TRIM, Request
from ..links.link import Link
from ..tasks.host import Host, SleepingThread
from ..tasks.submitting_threads import wake_thread
from ..waits.causes import CPU

_PAGE = 4096
MOVED: Final = 3
"""Bytes that a copied byte moves through memory: the source is read, the target is read before it is overwritten, and
written back later (lmbench, bw_mem(8), "memory utilization")."""


class SubmissionWork:
    """What the driver of one device does inside submissions, with CPU time of the submitting thread.

    Parameters
    ----------
    engine, host
        The clock; whose threads submit, and whose CPU copies.
    read_s, write_s
        CPU time (s) of a read, and of a write or a discard, without the copy.
    copies
        If true, the CPU copies the data, at its price of a copied byte. If false, nothing is moved.
    command_s
        CPU time (s) of a program's request above the driver, which ends in the submission as well. md's threads pay for
        their requests themselves (:attr:`raidsim.model.tasks.host.Host.owed_s`).
    by_page
        If true, md's threads of RAID 4, 5 and 6 submit one I/O per page, as nothing merges them. If false, a request is
        one command.
    memory
        What the copies of all cores go through; None: as fast as the cores copy.

    Attributes
    ----------
    busy_s
        CPU time (s) of the device's commands.
    """

    __slots__ = (
        "_by_page",
        "_byte_s",
        "_command_s",
        "_computing",
        "_cpu",
        "_engine",
        "_host",
        "_memory",
        "_read_s",
        "_write_s",
        "busy_s",
    )

    def __init__(
        self,
        engine: Engine,
        host: Host,
        read_s: float,
        write_s: float,
        *,
        copies: bool,
        by_page: bool = False,
        command_s: float = 0.0,
        memory: Link | None = None,
    ) -> None:
        self._engine = engine
        self._host = host
        self._cpu = host.cpu
        self._computing = host.computing
        self._read_s = read_s
        self._write_s = write_s
        self._byte_s = host.prices.copy_s_per_byte if copies else 0.0
        self._by_page = by_page
        self._command_s = command_s
        self._memory = memory if copies else None
        self.busy_s = 0.0

    @property
    def cores(self) -> int:
        """Cores that may copy at the same time."""
        return self._cpu.cores

    def begin(self, request: Request, now: float) -> float:
        """Have the thread of a request do its work, after what the thread does already; returns when (s) it is done.

        A flush finds nothing to do.
        """
        op, issuer = request.op, request.issuer
        size: int = request.size
        if op == FLUSH:
            return now
        seconds = self._read_s if op == READ else self._write_s
        if self._by_page and CRYPT_THREADS < issuer <= PARITY_THREADS and op != TRIM:
            seconds *= -(-size // _PAGE)
        copy_s = size * self._byte_s if op != TRIM else 0.0
        seconds += copy_s
        if issuer >= 0:
            seconds += self._command_s
        computing = self._computing
        at = max(computing.get(issuer, now) + seconds, self._cpu.interrupt(seconds))
        if copy_s and self._memory is not None:
            moved = self._memory.reserve(now, at - copy_s, MOVED * request.size)[1]
            if moved > at:
                # A core that waits for memory does nothing else.
                self._cpu.interrupt(moved - at)
                seconds += moved - at
                at = moved
        self.busy_s += seconds
        computing[issuer] = at
        thread = self._host.sleepers.get(issuer)
        if thread is None:
            thread = self._host.sleepers[issuer] = SleepingThread()
        thread.sleeps += 1
        thread.cause = CPU
        return at

    def end(self, request: Request) -> None:
        """The work is done and its I/O is complete: the thread goes on where it was."""
        if request.op == FLUSH:
            return
        issuer, computing = request.issuer, self._computing
        if computing.get(issuer, 0.0) <= self._engine._now:
            computing.pop(issuer, None)  # work of no time ends several times in one moment
        wake_thread(self._engine, self._host.sleepers, self._host.thread_plugs, issuer)
