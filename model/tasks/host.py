"""The host: a CPU and what the kernel and the program charge it for each kind of work.

Work done in interrupts and kernel threads is charged when the I/O completes, so that whoever waits for the data also
waits for the work.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import ClassVar, Final

from ..core.engine import Engine
from ..core.request import Request
from ..waits.causes import CPU
from .cpu import Cpu
from .fair_share import FairShare
from .prices import FREE, NotedPrices, Prices
from .task_plug import PlugLimits, TaskPlug
from .writer_turns import WriterTurns


class SleepingThread:
    """A thread that sleeps in the middle of submitting I/O.

    Attributes
    ----------
    sleeps
        For how many I/Os.
    cause
        What it sleeps for (:mod:`raidsim.model.waits.causes`).
    backlog
        What it submits when it is awake again, in order.
    plugged
        If true, it fell asleep with an open plug. That was sent, but stays open: what the thread submits after it has
        slept merges with what follows (block/blk-core.c, blk_flush_plug; kernel/sched/core.c, sched_submit_work).
    """

    __slots__ = ("backlog", "cause", "plugged", "sleeps")

    def __init__(self) -> None:
        self.sleeps = 0
        self.cause = CPU
        self.plugged = False
        self.backlog: deque[Callable[[], None]] = deque()

    def later(self, engine: Engine, request: Request, submit: Callable[[Request], None]) -> Callable[[], None]:
        """What the backlog has of a request: to `submit` it, which has waited for what the thread sleeps for now."""
        if request.trail is None:
            return partial(submit, request)
        return partial(_submitted_late, engine, request, submit, self.cause)

    def go_on(self) -> None:
        """Submit the backlog in order; what is left of an item over which the thread falls asleep comes first then."""
        while self.backlog and not self.sleeps:
            rest = self.backlog
            item = rest.popleft()
            left = self.backlog = deque()
            item()
            left.extend(rest)


def _submitted_late(engine: Engine, request: Request, submit: Callable[[Request], None], cause: int) -> None:
    request.mark(cause, engine._now)
    submit(request)


GIVE_WAY_S: Final = 0.001
"""A program that is running when a kernel thread is woken is not preempted before (CFS, sched_wakeup_granularity)."""


class Host:
    """A CPU with its price list.

    Parameters
    ----------
    cpu
        The cores.
    prices
        What work costs on them.
    plug_limits
        How much a task's plug holds; None: as in Linux 6.1.
    line_s
        Time (s) that a cache line takes from one core to another.

    Attributes
    ----------
    thread_an_array
        Whether all work of an array is done by one thread, on one core at a time; otherwise any core takes it.
    commands
        Commands completed.
    sleepers
        Its threads that sleep in the block layer, by the stream they issue: see
        :mod:`raidsim.model.tasks.submitting_threads`.
    plug
        What its tasks hold back while they plug a queue or an array: each unplugs before another one plugs.
    thread_plugs
        The open plugs of kernel threads that compute while they are plugged, by the stream they issue.
    owed_s
        CPU time (s) that kernel threads owe for commands to drives, by the stream they issue: a thread that is here
        pays for its own commands. It makes them, and the drive interrupts the core that it runs on (block/blk-mq.c,
        blk_mq_complete_need_ipi). The commands of the others cost any core.
    commands_s
        CPU time (s) of the commands of kernel threads on a machine of one core, by the stream they issue. Such a thread
        does not wait for it in its own work, but the scheduler counts it as the thread's: the thread submits them, and
        their interrupts hit the thread that the first of them has woken.
    passing_s
        CPU time (s) that arrays took inside the submissions of programs' threads and that these have not yet paid for,
        by the stream they issue. md maps, clones and passes on an I/O in the context of its submitter, so a thread that
        is here pays for that; the others cost any core.
    copied_bytes
        Bytes that a kernel thread has copied from buffers of programs' threads and that these have not written to
        since, by the stream they issue: their cache lines are on another core. Only threads that are here care.
    computing
        The threads for which a driver works inside their submission, by the stream they issue, and until when (s) that
        is known to last (:mod:`raidsim.model.block.in_submission`). I/Os that complete meanwhile wake no thread.
    shares
        The threads that the scheduler compares with programs for the tags of queues, by the stream they issue.
    shrinkers
        What gives back the memory that caches of the kernel have grown by, when caches are dropped.
    writer_turns
        Whose turn it is of the programs that write files side by side.
    stalled_issuer, stalled_until
        The stream whose thread spun last for a lock inside its submission, and until when (s). A load that has a CPU
        looks at it after each submission, and spends the time.
    """

    __slots__ = (
        "_command_s",
        "commands",
        "commands_s",
        "computing",
        "copied_bytes",
        "cpu",
        "line_s",
        "owed_s",
        "passing_s",
        "plug",
        "plug_limits",
        "prices",
        "shares",
        "shrinkers",
        "sleepers",
        "stalled_issuer",
        "stalled_until",
        "thread_plugs",
        "writer_turns",
    )

    thread_an_array: ClassVar[bool] = True

    def __init__(
        self, cpu: Cpu, prices: Prices = FREE, plug_limits: PlugLimits | None = None, line_s: float = 0.0
    ) -> None:
        self.cpu = cpu
        self.line_s = line_s
        self.prices = NotedPrices(prices)
        self._command_s = self.prices.command_s
        self.commands = 0
        self.sleepers: dict[int, SleepingThread] = {}
        self.plug_limits = PlugLimits() if plug_limits is None else plug_limits
        self.plug = TaskPlug(limits=self.plug_limits)
        self.thread_plugs: dict[int, TaskPlug] = {}
        self.owed_s: dict[int, float] = {}
        self.commands_s: dict[int, float] = {}
        self.passing_s: dict[int, float] = {}
        self.copied_bytes: dict[int, int] = {}
        self.computing: dict[int, float] = {}
        self.shares: dict[int, FairShare] = {}
        self.shrinkers: list[Callable[[], None]] = []
        self.writer_turns = WriterTurns(cpu.cores)
        self.stalled_issuer = 0
        self.stalled_until = 0.0

    def stalled_s(self, issuer: int, now: float) -> float:
        """For how long (s) from `now` on the thread of this stream spins for locks that it needs to submit."""
        return self.stalled_until - now if self.stalled_issuer == issuer and self.stalled_until > now else 0.0

    def looks_again_at(self, issuer: int, now: float, runs_until: float) -> float:
        """When the sleeper of a stream that is woken now looks for a tag again (s), since another one runs before it.

        Negative if none does. `runs_until` is when the program has used the CPU that ran when the tag was freed.
        """
        if issuer >= 0:
            for share in self.shares.values():
                if share.runs_at >= now and not share.is_ahead:
                    return share.runs_at
            return -1.0
        share_of = self.shares.get(issuer)
        free = self.cpu.free_from if share_of is None or share_of.is_ahead else runs_until
        return free if free > now else -1.0

    def works(self, seconds: float, issuer: int, now: float) -> None:
        """Count CPU time (s) inside a submission for the thread that submits."""
        if issuer in self.shares:
            share = self.shares[issuer]
            share.ran(seconds)
            share.busy_until = max(now, share.busy_until) + seconds
        elif issuer >= 0:
            for share in self.shares.values():
                share.ran(-seconds)

    def pays_for_commands(self, issuer: int) -> None:
        """Have the kernel thread of a stream pay for its commands, if an array has one.

        With one core the choice makes a difference only for the scheduler (:attr:`commands_s`).
        """
        if self.thread_an_array and self._command_s:
            (self.owed_s if self.cpu.cores > 1 else self.commands_s)[issuer] = 0.0

    def pass_on(self, seconds: float, issuer: int) -> None:
        """Charge the thread of a stream for what an array does inside its submission, or any core."""
        if issuer in self.passing_s:
            self.passing_s[issuer] += seconds
        else:
            self.cpu.interrupt(seconds)

    def take_passing_s(self, issuer: int) -> float:
        """What arrays took inside the submissions of a thread (s), which it pays now."""
        passing_s = self.passing_s.get(issuer, 0.0)
        if passing_s:
            self.passing_s[issuer] = 0.0
        return passing_s

    def has_copied(self, size: int, issuer: int) -> None:
        """Note that a kernel thread has copied `size` bytes from a buffer of the thread of a stream."""
        if issuer in self.copied_bytes:
            self.copied_bytes[issuer] += size

    def take_copied_bytes(self, issuer: int, size: int) -> int:
        """Of `size` bytes of its buffers that a thread writes to, those that a kernel thread has copied before."""
        copied = self.copied_bytes.get(issuer, 0)
        if not copied:
            return 0
        taken = min(copied, size)
        self.copied_bytes[issuer] = copied - taken
        return taken

    def take_owed_s(self, issuer: int) -> float:
        """What a kernel thread owes for its commands (s), which it pays now."""
        owed_s = self.owed_s.get(issuer, 0.0)
        if owed_s:
            self.owed_s[issuer] = 0.0
        return owed_s

    def take_commands_s(self, issuer: int) -> float:
        """CPU time (s) of a kernel thread's commands that was not its own work, since the last call."""
        commands_s = self.commands_s.get(issuer, 0.0)
        if commands_s:
            self.commands_s[issuer] = 0.0
        return commands_s

    def complete_command_of(self, issuer: int) -> None:
        """Charge a kernel thread for its command and interrupt, if it pays for them, or any core."""
        if issuer in self.owed_s:
            self.commands += 1
            self.owed_s[issuer] += self._command_s
            return
        if issuer in self.commands_s:
            self.commands_s[issuer] += self._command_s
        self.complete_command()

    def complete_command(self, core: int | None = None) -> None:
        """Charge the CPU for a drive's command and its interrupt, which a `core` takes, or any."""
        self.commands += 1
        if self._command_s:
            self.cpu.interrupt(self._command_s, core)
