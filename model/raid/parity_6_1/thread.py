"""md's thread of a parity array (raid5d): ready heads are handled in passes, and the requests of a pass merge.

Submitters and completions only put stripe heads on a list and wake the thread. A pass takes the first few of the list;
what comes while it computes is taken by a later one, which is why a busy array sees more full stripes. The member I/O
of the passes is plugged until nothing is left to do, so blocks of neighboring heads become one request. A thread that
finds no tag at a member sleeps, and so does all that it would have sent after that request. Source: Linux 6.1
drivers/md/raid5.c, raid5d and handle_active_stripes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from ...core.device import Device, unplugs
from ...core.engine import Engine
from ...core.request import PARITY_THREADS, WRITE, Request
from ...tasks.fair_share import FairShare
from ...tasks.host import GIVE_WAY_S, Host
from ...tasks.lock import Lock
from ...tasks.task_plug import TaskPlug
from ...waits.causes import MD_THREAD
from ..stripes.stripe_cache import StripeCache
from .bitmap_list import BitmapList
from .block_turns import BlockTurns

STRIPE_BATCH = 8
"""The thread takes so many heads from its list at a time (MAX_STRIPE_BATCH)."""


class ParityThread:
    """The thread of one array.

    Parameters
    ----------
    engine
        The clock.
    host
        Whose CPU it runs on; None for a thread that needs no time.
    members
        The member devices.
    cache
        Grows by a head after a pass if somebody waits for one.

    Attributes
    ----------
    awake
        Whether it has something to do.
    busy_s
        How long it has computed (s).
    heads
        How many the pass has dealt with so far; who does the work counts (full stripes of a chunk as one).
    passes
        How often it ran.
    issuer
        The stream of its I/O.
    bitmap_list
        Heads for which the thread writes the bitmap before each pass; None without a bitmap.
    flushing
        Whether it sleeps until the bitmap is written.
    slept_until
        When it last went on after that (s).
    locks
        What it takes for each pass: the lock, the time (s) that it computes for each head meanwhile, and the cache
        lines that move for each head.
    """

    __slots__ = (
        "_block_bytes",
        "_cache",
        "_engine",
        "_host",
        "_later",
        "_members",
        "_most_members",
        "_out",
        "_over",
        "_pluggable",
        "_plugged",
        "_queues",
        "_sent",
        "_share",
        "_task_plug",
        "_turns",
        "_unpluggable",
        "_until",
        "_work",
        "awake",
        "bitmap_list",
        "busy_s",
        "flushing",
        "heads",
        "issuer",
        "locks",
        "passes",
        "slept_until",
    )

    def __init__(self, engine: Engine, host: Host | None, members: Sequence[Device], cache: StripeCache) -> None:
        self._engine = engine
        self._host = host
        self._cache = cache
        self._pluggable: list[Callable[[], None]] = [member.plug for member in members if unplugs(member)]
        self._unpluggable: list[Callable[[], None]] = [member.unplug for member in members if unplugs(member)]
        self._members = list(members)
        self.awake = False
        self.busy_s = 0.0
        self._until = 0.0
        self._work: deque[Callable[[], float]] = deque()
        self._out: list[tuple[int, Request]] = []
        self._sent = 0
        self._plugged = False
        limits = None if host is None else host.plug_limits
        self._task_plug = TaskPlug(cache.head_bytes, limits)
        # Rows of more requests than this, one for each member, do not merge in the plug; 0: all do.
        self._most_members = 0
        if limits is not None and limits.overflows(len(members)):
            self._most_members = limits.of_several
        self._block_bytes = cache.head_bytes
        self._queues = [member.queues() for member in members]
        self._turns: BlockTurns | None = None
        self._over: list[Callable[[], None]] = []
        self._later: list[Callable[[], None]] = []
        self._share = None if host is None else FairShare(host.cpu)
        self.heads = self.passes = 0
        self.issuer = engine.thread_issuer(PARITY_THREADS)
        if host is not None:
            host.pays_for_commands(self.issuer)
        self.bitmap_list: BitmapList | None = None
        self.flushing = False
        self.slept_until = 0.0
        self.locks: list[tuple[Lock, float, int]] = []

    def add(self, work: Callable[[], float], heads: int = 1) -> None:
        """Have `work` done in its turn; it calls :meth:`send` and :meth:`then`, and returns its CPU time (s).

        Workers are woken by the number of `heads` that it handles; a single thread ignores it.
        """
        self._work.append(work)
        if not self.awake:
            self.wake()

    def wake(self) -> None:
        """There is something to do."""
        self.awake = True
        now = self._engine._now
        self._until = now + GIVE_WAY_S
        self._engine.call_at(now, self._begin)

    def filled(self, heads: int, issuer: int) -> None:
        """Charge the thread of a stream: it has found these heads for an I/O, and has put its blocks into them.

        It also has cloned the I/O to account for it (md_account_bio, since 5.14), and wakes the thread. All of that is
        done inside the submission (raid5_make_request).
        """
        if self._host is not None and self._share is not None:
            prices = self._host.prices
            seconds = prices.bio_s + prices.clone_s + prices.wake_s + heads * prices.head_s
            self._host.pass_on(seconds, issuer)
            if issuer not in self._host.passing_s:  # else the program's own CPU time has it
                self._share.ran(-seconds)

    def finishes(self, heads: int) -> None:
        """Handle a number of heads once more, of which nothing is wanted any more."""
        if heads and self._host is not None and self._share is not None:
            seconds = heads * self._host.prices.stripe_s
            self._host.cpu.interrupt(seconds)
            self.busy_s += seconds
            self._share.ran(seconds)

    def send(self, slot: int, request: Request) -> None:
        """Send `request` to a member at the end of the pass."""
        self._out.append((slot, request))

    def then(self, callback: Callable[[], None]) -> None:
        """Call `callback` at the end of the pass."""
        self._over.append(callback)

    def when_asleep(self, callback: Callable[[], None]) -> None:
        """Have what is woken after this thread run when the thread sleeps or gives way; at once if it sleeps."""
        if self.awake:
            self._later.append(callback)
        else:
            callback()

    def _let_others_run(self) -> None:
        later, self._later = self._later, []
        for callback in later:
            callback()

    def _begin(self, _: Any) -> None:
        if self._host is not None and self._share is not None:
            self._share.ran(self._host.take_commands_s(self.issuer))
            free = self._host.cpu.free_from
            if self._engine._now < free and self._engine._now < self._until:
                self._engine.call_at(min(free, self._until), self._begin)
                return
        self._run()

    def _bits_written(self) -> None:
        """The bitmap is on the members: make the pass, after the time that it takes to wake."""
        seconds = self._host.prices.switch_s if self._host is not None else 0.0
        self._engine.call_at(self._engine._now + seconds, self._run_on)

    def _run_on(self, _: Any) -> None:
        self.flushing = False
        self.slept_until = self._engine._now
        self._run(True)

    def _run(self, flushed: bool = False) -> None:
        """Go through the list, a few heads at a time: they are computed, and then what that made is sent.

        If `flushed`, the bitmap has been written for the first of these passes.
        """
        while self._work or (self.bitmap_list is not None and self.bitmap_list.rows):
            if self.bitmap_list is not None and not flushed and self.bitmap_list.must_sleep():
                if self._plugged and self._host is not None:
                    self._task_plug.flush()
                self.flushing = True
                self.bitmap_list.flush(self._bits_written)
                return
            flushed = False
            self.passes += 1
            self.heads = 0
            seconds = 0.0
            while self._work and self.heads < STRIPE_BATCH:
                seconds += self._next_work()()
            if self._host is not None:
                seconds += self._host.take_owed_s(self.issuer)
                if self.locks:
                    seconds += self._wait_for_locks(self._host.cpu.cores)
            if seconds and self._host is not None:
                self.busy_s += seconds
                if self._share is not None:
                    self._share.ran(seconds)
                self._engine.call_at(self._host.cpu.interrupt(seconds), self._go_on)
                return
            if not self._send_all():
                return
        self._rest()

    def _next_work(self) -> Callable[[], float]:
        """Take the first piece of work off the list."""
        return self._work.popleft()

    def _wait_for_locks(self, cores: int) -> float:
        """For how long (s) the pass waits for locks and holds them, if it has to wait."""
        now = at = self._engine._now
        heads = max(1, self.heads)
        for lock, hold_s, lines in self.locks:
            at = lock.take(self.issuer % cores, at, heads * hold_s, heads * lines)
        return at - now

    def _go_on(self, _: Any = None) -> None:
        """The pass is computed: send, and take the next heads unless a program is to run first (cond_resched)."""
        if not self._send_all():
            return
        if self._work and self._share is not None and self._share.gives_way:
            self._let_others_run()
            now = self._engine._now
            self._until = now + GIVE_WAY_S
            self._engine.call_at(now, self._begin)
        else:
            self._run()

    def _rest(self) -> None:
        """Nothing is left to do, but what drivers do inside the submission of what the plug held."""
        if self._plugged:
            self._unplug()
        if self._host is not None and self._drivers_work():
            self._host.sleepers[self.issuer].backlog.append(self._run)
        else:
            self.awake = False
        self._let_others_run()

    def _send_all(self) -> bool:
        """Send what was made, from where the thread fell asleep if it did; whether it does not sleep over that."""
        out, members = self._out, self._members
        if out and not self._plugged:
            self._plug()
        row = -1
        if self._turns is not None:
            if not self._turns.send():
                return False
            self._turns = None
        while self._sent < len(out):
            slot, request = out[self._sent]
            if request.offset != row:
                row = request.offset
                self._task_plug.start_row()
                if request.size > self._block_bytes and self._in_turns(request.op, out):
                    if not self._take_turns(out):
                        return False
                    continue
            self._sent += 1
            request.mark(MD_THREAD, self._engine._now)
            members[slot].submit(request)
            if self._blocks_at(members[slot]):
                self._block(slot)
                return False
        out.clear()
        self._sent = 0
        self._cache.grow()
        over, self._over = self._over, []
        for callback in over:
            callback()
        return True

    def _blocks_at(self, member: Device) -> bool:
        """Whether the thread is still inside its submission to a member: it waits for a tag, or the driver works."""
        return self._drivers_work() or (not member.has_room and member.sleeps(self.issuer))

    def _drivers_work(self) -> bool:
        """Count the time of drivers inside a submission of the thread; whether it has just begun one with such time."""
        host = self._host
        if host is None or self.issuer not in host.computing:
            return False
        seconds = host.computing[self.issuer] - self._engine._now
        self.busy_s += seconds
        if self._share is not None:
            self._share.ran(seconds)
        return True

    def _block(self, slot: int) -> None:
        """The thread blocks inside its submission to a member, and goes on when that is over."""
        if self._host is None:  # else the block layer has flushed its plug, which stays open
            self._unplug()
        self._members[slot].when_awake(self.issuer, self._go_on)
        self._let_others_run()

    def _row_of(self, out: list[tuple[int, Request]]) -> list[tuple[int, Request]]:
        """The requests from the next one on that are of one row: the same direction, offset and size."""
        first = out[self._sent][1]
        end = self._sent
        while end < len(out):
            other = out[end][1]
            if other.op != first.op or other.offset != first.offset or other.size != first.size:
                break
            end += 1
        return out[self._sent : end]

    def _in_turns(self, op: int, out: list[tuple[int, Request]]) -> bool:
        """Whether the next row goes block by block: it overflows the plug, or a member has no tag for a write."""
        most = self._most_members
        if op != WRITE and not most:
            return False
        row = self._row_of(out)
        if most and len(row) > most:
            return True
        queues = self._queues
        return op == WRITE and any(not queue.has_write_tag for slot, _ in row for queue in queues[slot])

    def _take_turns(self, out: list[tuple[int, Request]]) -> bool:
        """Send the next row block by block; whether the thread does not block over that."""
        row = self._row_of(out)
        self._sent += len(row)
        overflows = 0 < self._most_members < len(row)
        turns = BlockTurns(row, self._submit_block, self._block_bytes, overflows)
        if turns.send():
            return True
        self._turns = turns
        return False

    def _submit_block(self, slot: int, request: Request) -> bool:
        self._members[slot].submit(request)
        if not self._blocks_at(self._members[slot]):
            return False
        self._block(slot)
        return True

    def _plug(self) -> None:
        """Hold back what this thread sends, and nothing that others send meanwhile."""
        self._plugged = True
        if self._host is not None:
            self._host.thread_plugs[self.issuer] = self._task_plug
            self._task_plug.start()
            return
        for plug in self._pluggable:
            plug()

    def _unplug(self) -> None:
        self._plugged = False
        if self._host is not None:
            del self._host.thread_plugs[self.issuer]
            self._task_plug.flush()
            return
        for unplug in self._unpluggable:
            unplug()
