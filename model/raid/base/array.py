"""What every array has: members, some of them lost or being rebuilt, and the way back to a logical request.

Arrays nest: RAID 50 is a stripe over parity arrays. An array issues one request per member run and joins them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence

from ...block.kernel_thread import compute
from ...core.device import Device, SubmissionQueue, flush_all, unplugs
from ...core.discard import stacked
from ...core.discard_limits import DiscardLimits, refused
from ...core.engine import Engine
from ...core.errors import ArrayFailed, ModelError
from ...core.join import Join
from ...core.request import ASYNC, FLUSHER_ISSUER, READ, TRIM, Request
from ...layouts import Layout
from ...tasks.host import Host
from ...tasks.prices import UNPAID, NotedPrices
from ...tasks.task_plug import TaskPlug
from .array_load import ArrayLoad, UnderWay
from .metadata import Metadata
from .mismatches import Mismatches
from .submitter import Submitter


class Array(Device):
    """Base of the arrays.

    Parameters
    ----------
    engine
        The clock.
    name
        Shown in results ("md0").
    members
        The devices, in slot order.
    capacity
        Usable bytes.
    host
        Pays for the software's work; None for an array whose work costs nothing.
    failed
        Slots whose device is lost.

    Attributes
    ----------
    daemon_resync_bytes, resync_under_way
        Resync I/O of each member (bytes): what the thread of a parity array has issued so far, which members count as
        anybody's; and what a mirror's threads have issued that is not complete.
    load
        Counts of the array's own I/O; None while nobody asks for them.
    mismatches
        What a repair finds wrong.
    """

    __slots__ = (
        "_engine",
        "_members",
        "_pluggable",
        "_task_plug",
        "_thread_until",
        "_unpluggable",
        "daemon_resync_bytes",
        "failed",
        "host",
        "load",
        "member_reads",
        "member_writes",
        "metadata",
        "mismatches",
        "reads",
        "rebuilding",
        "resync_thread",
        "resync_under_way",
        "writes",
    )

    def __init__(
        self,
        engine: Engine,
        name: str,
        members: Sequence[Device],
        capacity: int,
        host: Host | None = None,
        failed: Iterable[int] = (),
    ) -> None:
        self._engine = engine
        self.name = name
        self._members = list(members)
        self._pluggable: list[Callable[[], None]] = [member.plug for member in members if unplugs(member)]
        self._unpluggable: list[Callable[[], None]] = [member.unplug for member in members if unplugs(member)]
        # What tells whether any of them is plugged, if they all stand on the same.
        shared = {member.task_plug for member in members}
        plug = shared.pop() if len(shared) == 1 else None
        self._task_plug = plug if isinstance(plug, TaskPlug) else None
        self.capacity = capacity
        self.host = host
        self.failed = frozenset(failed)
        self.rebuilding: frozenset[int] = frozenset()
        self.metadata: Metadata | None = None
        self.load: ArrayLoad | None = None
        self.resync_thread: Submitter | None = None
        self._thread_until = 0.0
        self.daemon_resync_bytes = [0] * len(self._members)
        self.resync_under_way = [0] * len(self._members)
        self.mismatches = Mismatches()
        self.reads = self.writes = self.member_reads = self.member_writes = 0
        for slot in self.failed:
            if not 0 <= slot < len(self._members):
                raise ArrayFailed(f"{name}: failed slot {slot} of {len(self._members)} members")

    @property
    def members(self) -> list[Device]:
        """The member devices in slot order."""
        return self._members

    @property
    def striping(self) -> Layout | None:
        """The address arithmetic; None for an array whose members all hold the same."""
        return None

    @property
    def daemon_submits(self) -> bool:
        """Whether md's own thread submits what the resync thread asks for."""
        return False

    @property
    def resync_bytes(self) -> int:
        """Bytes per member to rebuild; 0 for a level without redundancy."""
        return 0

    @property
    def check_bytes(self) -> int:
        """Bytes to check, of the address space that a check counts in."""
        return self.resync_bytes

    def resync(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """Rebuild one range."""
        raise ModelError(f"{self.name}: nothing is rebuilt on an array of this kind")

    def check(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """Read and compare one range."""
        raise ModelError(f"{self.name}: a level without redundancy has nothing to check")

    def synchronise(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """Make one range consistent after a crash: where all is equal already, what :meth:`check` does."""
        self.check(offset, size, done)

    @property
    def reshape_bytes(self) -> int:
        """Bytes to reshape, of the address space that a reshape counts in; 0 for an array that is in one layout."""
        return 0

    def reshape(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """Bring one range into the new layout."""
        raise ModelError(f"{self.name}: the array is in one layout, so there is nothing to reshape")

    @property
    def prices(self) -> NotedPrices:
        """The host's price list, or a free one."""
        return self.host.prices if self.host is not None else UNPAID

    @property
    def foreground_bytes(self) -> int:
        """What the members have completed so far, but for resync (bytes)."""
        return sum(member.foreground_bytes for member in self._members)

    @property
    def has_room(self) -> bool:
        """Whether every member's queue takes more writes, and no writer sleeps for a superblock or a bitmap."""
        if self.metadata is not None and self.metadata.holds_writers:
            return False
        return all(member.has_room for member in self._members)

    def when_room(self, callback: Callable[[], None]) -> None:
        """Call back when superblocks are written, or the first full member has room again."""
        if self.metadata is not None and self.metadata.holds_writers:
            self.metadata.when_written(callback)
            return
        for member in self._members:
            if not member.has_room:
                member.when_room(callback)
                return
        callback()

    def sleeps(self, issuer: int) -> bool:
        """Whether the thread that issues as `issuer` blocks at a member."""
        return any(member.sleeps(issuer) for member in self._members)

    def when_awake(self, issuer: int, callback: Callable[[], None]) -> None:
        """Call back when the first member at which it blocks has let it go on."""
        for member in self._members:
            if member.sleeps(issuer):
                member.when_awake(issuer, callback)
                return
        callback()

    def queues(self) -> tuple[SubmissionQueue, ...]:
        """The queues of all members."""
        return tuple(queue for member in self._members for queue in member.queues())

    @property
    def plugs(self) -> bool:
        """Whether any member does."""
        return any(member.plugs for member in self._members)

    def plug(self) -> None:
        """Hold requests back on all members that can, so that neighbors merge, until :meth:`unplug`."""
        if self.metadata is not None:
            self.metadata.plug()
        for plug in self._pluggable:
            plug()

    def unplug(self) -> None:
        """Let held-back requests of all members go."""
        if self.metadata is not None:
            self.metadata.unplug()
        if self._task_plug is not None and not self._task_plug.queues:
            return
        for unplug in self._unpluggable:
            unplug()

    def flush(self, done: Callable[[], None]) -> None:
        """Flush the caches of all members that are there; see :func:`raidsim.model.core.device.flush_all`.

        A work item submits a bio for each member, and after the last one a second work item tells whoever waits. A
        kernel thread is woken for each (drivers/md/md.c: md_flush_request, submit_flushes, md_submit_flush_data).
        """
        absent, prices = self.failed - self.rebuilding, self.prices
        members = [member for slot, member in enumerate(self._members) if slot not in absent]

        def flushed() -> None:
            compute(self.host, prices.switch_s, done)

        compute(self.host, prices.switch_s + prices.bio_s * len(members), lambda: flush_all(members, flushed))

    @property
    def logical_sector(self) -> int:
        """That of the member with the largest."""
        return max(member.logical_sector for member in self._members)

    @property
    def discard_limits(self) -> DiscardLimits:
        """What it takes of discards: nothing, unless its level passes them on."""
        return refused(f"{self.name} passes no discards on")

    def _members_limits(self, granularity: int = 0) -> DiscardLimits:
        """What the members that are there take of discards, if the array has this granularity (bytes)."""
        present = [each for slot, each in enumerate(self._members) if slot not in self.failed - self.rebuilding]
        return stacked(self.name, present, granularity)

    def submit(self, request: Request) -> None:
        """Serve a logical request."""
        request.submitted = self._engine._now
        if self.load is not None:
            self.load.add(request)
        if request.op == READ:
            self.reads += 1
            self._read(request)
            return
        trims = request.op == TRIM
        if not trims:
            self.writes += 1
        if self.metadata is not None:
            self.metadata.before_write(request, self._discard if trims else self._write)
        elif trims:
            self._discard(request)
        else:
            self._write(request)

    @abstractmethod
    def _read(self, request: Request) -> None:
        """Serve a read."""
        raise ModelError(f"{self.name}: this kind of array serves no reads")

    @abstractmethod
    def _write(self, request: Request) -> None:
        """Serve a write."""
        raise ModelError(f"{self.name}: this kind of array serves no writes")

    def _discard(self, request: Request) -> None:
        """Pass a discard on."""
        raise ModelError(f"{self.name}: {request!r}; {self.discard_limits.refusal}")

    def _discard_on(self, ranges: Iterable[tuple[int, int, int]], issuer: int, done: Callable[[], None]) -> None:
        """Discard ranges of members (slot, byte, bytes) but for those that are lost or take none; then `done`."""
        absent = self.failed - self.rebuilding
        taken = [
            (slot, offset, size)
            for slot, offset, size in ranges
            if slot not in absent and not self._members[slot].discard_limits.refusal
        ]
        self._charge(self.prices.bio_s * len(taken), issuer)
        if not taken:
            self._engine.call_at(self._engine._now, lambda _: done())
            return
        over = Join(len(taken), done)
        for slot, offset, size in taken:
            self._members[slot].submit(Request(TRIM, offset, size, over, issuer, ASYNC))

    def keep_metadata(self, metadata: Metadata) -> None:
        """From now on `metadata` (superblock, bitmap) goes before each write."""
        self.metadata = metadata

    def resync_range(self, offset: int, size: int) -> tuple[int, int]:
        """From where to where a logical range lies in the address space that resync counts in (bytes)."""
        return offset, offset + size

    def watch_load(self) -> ArrayLoad:
        """Count the array's own I/O from now on."""
        self.load = self.load or ArrayLoad()
        self._members_changed()
        return self.load

    def fail(self, slot: int) -> None:
        """The device in `slot` is lost; `ArrayFailed` if the array does not survive that.

        What is under way at the device is not the array's business: see
        :class:`~raidsim.model.raid.resync.spares.HotSpares`.
        """
        if not 0 <= slot < len(self._members) or slot in self.failed - self.rebuilding:
            raise ArrayFailed(f"{self.name}: slot {slot} of {len(self._members)} members cannot fail (again)")
        failed = self.failed | {slot}
        if not self.survives(failed):
            names = ", ".join(self._members[lost].name for lost in sorted(failed))
            raise ArrayFailed(f"{self.name}: with {names} lost, data is lost")
        self.failed = failed
        self.rebuilding = self.rebuilding - {slot}
        self._members_changed()

    def survives(self, failed: frozenset[int]) -> bool:
        """Whether all data are still there without the members `failed`."""
        return False

    def _members_changed(self) -> None:
        """A hook: :attr:`failed`, :attr:`rebuilding` or :attr:`load` has changed during a run."""

    def rebuild_onto(self, slot: int) -> None:
        """A fresh device stands in `slot`: it takes writes, but is not read until it is rebuilt."""
        if slot not in self.failed:
            raise ArrayFailed(f"{self.name}: slot {slot} has not failed, so nothing is rebuilt onto it")
        self.rebuilding = self.rebuilding | {slot}

    def rebuilt(self, slot: int) -> None:
        """The device in `slot` holds everything again."""
        self.failed = self.failed - {slot}
        self.rebuilding = self.rebuilding - {slot}

    def count_resync(self, slot: int, request: Request) -> None:
        """Count a request of a resync as under way at a member, where the resync thread looks at that."""
        if self.resync_thread is not None:
            self.resync_under_way[slot] += request.size
            request.completion = UnderWay(self.resync_under_way, slot, request.completion)

    def prepare_resync(self, pages: int, then: Callable[[], None]) -> None:
        """Have the resync thread allocate pages for a range, then submit it."""
        self.compute_resync(pages * self.prices.buffer_page_s, then)

    def compute_resync(self, seconds: float, then: Callable[[], None]) -> None:
        """Have the resync thread compute for so long (s), then go on with `then`."""
        if seconds and self.resync_thread is not None:
            self.resync_thread.compute(seconds, then)
        else:
            then()

    def submit_resync(self, slot: int, request: Request) -> None:
        """Send what the resync thread submits to a member; a thread that plugs lets it go when it goes to sleep."""
        if self.resync_thread is None:
            self._members[slot].submit(request)
        else:
            self.count_resync(slot, request)
            self.resync_thread.submit(slot, request)

    def resync_submitted(self) -> None:
        """A range has been submitted."""
        if self.resync_thread is None:
            self.unplug()
        else:
            self.resync_thread.end_range()

    def _charge(self, seconds: float, issuer: int = FLUSHER_ISSUER) -> None:
        """Charge the thread of a stream for what the array does inside its submission; a kernel thread unless given."""
        if seconds and self.host is not None:
            self.host.pass_on(seconds, issuer)

    def _charge_before(self, seconds: float, then: Callable[[], None]) -> None:
        """Charge the host for work of the array's kernel thread, and go on with `then` when it is done.

        The thread does one work after the other.
        """
        if seconds and self.host is not None:
            finish = max(self.host.cpu.interrupt(seconds), self._thread_until + seconds)
            self._thread_until = finish
            self._engine.call_at(finish, lambda _: then())
        else:
            then()
