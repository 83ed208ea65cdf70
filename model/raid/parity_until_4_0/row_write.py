"""What is written of a row of RAID 4, 5 and 6 at once: what it lacks is read up, then data and parity are written.

Source: drivers/md/raid5.c, handle_stripe.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial

from mypy_extensions import mypyc_attr

from ...core.device import Device, unplugs
from ...core.join import Join
from ...core.request import ASYNC, PREREAD_ISSUER, READ, WAITED, WRITE, Completion, Request
from ...waits.causes import PREREAD
from ..base.array import Array
from ..stripes.stripe_cache import StripeCache
from ..stripes.write_plan import WritePlan
from .daemon import ParityDaemon
from .gathered_row import GatheredRow


class RowState:
    """What the writes of an array have in common.

    Parameters
    ----------
    array
        Whose members are written.
    chunk_bytes, head_bytes
        Of its chunks and stripe heads.
    cache, daemon
        The array's.

    Attributes
    ----------
    prereading
        Rows that are being read up.
    parity_reads
        Member reads for that purpose.
    row_writes
        Ranges of rows written in each mode.
    """

    __slots__ = (
        "array",
        "cache",
        "chunk_bytes",
        "daemon",
        "head_bytes",
        "members",
        "parity_reads",
        "prereading",
        "row_writes",
        "unplug_members",
        "unpluggable",
    )

    def __init__(
        self, array: Array, chunk_bytes: int, head_bytes: int, cache: StripeCache, daemon: ParityDaemon
    ) -> None:
        self.array = array
        self.chunk_bytes = chunk_bytes
        self.head_bytes = head_bytes
        self.cache = cache
        self.daemon = daemon
        self.members: list[Device] = array.members
        self.unpluggable: list[Callable[[], None]] = [each.unplug for each in array.members if unplugs(each)]
        self.unplug_members = partial(Array.unplug, array)
        self.prereading = 0
        self.parity_reads = 0
        self.row_writes = {"full": 0, "rmw": 0, "rcw": 0}

    @abstractmethod
    def thread_read_up(self) -> None:
        """md's thread has read up what a range of a row lacked."""


class SmallPlan:
    """What a small write reads and writes: a :class:`~..stripes.write_plan.WritePlan` in native fields.

    Attributes
    ----------
    reads, writes
        Members to read before and to write after the parity is computed.
    known
        All of them, of which the stripe cache then knows the contents.
    mode
        "full", "rmw" or "rcw".
    """

    __slots__ = ("known", "mode", "reads", "writes")

    def __init__(self, plan: WritePlan) -> None:
        self.reads = list(plan.reads)
        self.writes = list(plan.writes)
        self.known = (*plan.reads, *plan.writes)
        self.mode = plan.mode


@mypyc_attr(free_list_len=1)
class SmallWrite(Completion):
    """A write that somebody waits for, of whole heads in one chunk of a row of which nothing is known."""

    __slots__ = ("_left", "_low", "_plan", "_reading", "_request", "_row", "_writer")

    def __init__(self, writer: RowState, request: Request, row: int, low: int, plan: SmallPlan) -> None:
        self._writer = writer
        self._request = request
        self._row = row
        self._low = low
        self._plan = plan
        self._reading = True
        reads = plan.reads
        self._left = count = len(reads)
        writer.row_writes[plan.mode] += 1
        writer.prereading += 1
        writer.array.member_reads += count
        writer.parity_reads += count
        offset, size = row * writer.chunk_bytes + low, request.size
        members = writer.members
        for slot in reads:
            members[slot].submit(Request(READ, offset, size, self, PREREAD_ISSUER))
        for unplug in writer.unpluggable:
            unplug()

    def done(self, request: Request) -> None:
        """A member has read or written."""
        self._left -= 1
        if self._left:
            return
        owner = self._request
        if not self._reading:
            if request.trail is not None:
                owner.trail = request.trail
            owner.complete()
            return
        self._reading = False
        owner.mark(PREREAD, self._writer.array._engine._now)
        writer, row, low, plan = self._writer, self._row, self._low, self._plan
        writer.prereading -= 1
        size = self._request.size
        writer.cache.remember_all(row, plan.known, low, low + size)
        self._left = count = len(plan.writes)
        writer.array.member_writes += count
        offset = row * writer.chunk_bytes + low
        members = writer.members
        for slot in plan.writes:
            members[slot].submit(Request(WRITE, offset, size, self, 0, WAITED, trail=owner.trail))
        for unplug in writer.unpluggable:
            unplug()


class RangeWrite(Completion):
    """A range of a gathered row: missing blocks are read, then data and parity are written."""

    __slots__ = ("_copied", "_gathered", "_heads", "_left", "_low", "_over", "_plan", "_size", "_slots", "_writer")

    def __init__(
        self,
        writer: RowState,
        gathered: GatheredRow,
        low: int,
        size: int,
        plan: WritePlan,
        slots: tuple[int, ...],
        copied: int,
        over: Join,
    ) -> None:
        self._writer = writer
        self._gathered = gathered
        self._low = low
        self._size = size
        self._heads = -(-size // writer.head_bytes)
        self._plan = plan
        self._slots = slots
        self._copied = copied
        self._over = over
        self._left = 0
        reads = plan.reads
        if not reads:
            self._write()
            return
        count = len(reads)
        array = writer.array
        writer.prereading += 1
        array.member_reads += count
        writer.parity_reads += count
        host = array.host
        if host is not None:
            host.cpu.interrupt(count * self._heads * host.prices.bio_s)
        base = gathered.row * writer.chunk_bytes + low
        members, done = writer.members, Join(count, writer.daemon.takes(self._read))
        for slot in reads:
            members[slot].submit(Request(READ, base, size, done, PREREAD_ISSUER))
        writer.unplug_members()

    def _read(self) -> None:
        writer = self._writer
        writer.prereading -= 1
        self._gathered.waited(PREREAD, writer.array._engine._now)
        self._write()
        writer.thread_read_up()

    def _write(self) -> None:
        writer, gathered, plan, low, size = self._writer, self._gathered, self._plan, self._low, self._size
        writes = plan.writes
        host = writer.array.host
        if host is not None:
            prices = host.prices
            host.cpu.interrupt(
                self._heads * (3 * prices.stripe_s + len(writes) * prices.bio_s)
                + self._copied * size * prices.copy_s_per_byte
                + plan.sources * size * prices.xor_s_per_byte
            )
        if self._slots:
            writer.cache.remember_all(gathered.row, self._slots, low, low + size)
        base = gathered.row * writer.chunk_bytes + low
        self._left = len(writes)
        writer.array.member_writes += len(writes)
        # An array below must not hold what somebody waits for.
        sync = WAITED if gathered.sync else ASYNC
        members = writer.members
        trail = gathered.trail()
        for slot in writes:
            members[slot].submit(Request(WRITE, base, size, self, 0, sync, trail=trail))
        if gathered.sync:
            writer.unplug_members()

    def done(self, request: Request) -> None:
        """A member has written."""
        self._left -= 1
        if not self._left:
            self._gathered.followed(request)
            self._over.part()
