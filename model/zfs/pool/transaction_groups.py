"""Transaction groups: what is written together, when a group is closed, and the order in which it goes to the members.

One group is open, one may be closed and wait, and one is written. A group is closed after 5 s, when its dirty data
pass a fifth of the limit, or when somebody waits for it. Its blocks are written first, then the blocks that point to
them, then the pool's own metadata in several passes; two flushes and the uberblocks end it. Source: OpenZFS 2.3
module/zfs/txg.c, spa.c (spa_sync), vdev_label.c (vdev_config_sync).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Protocol

from mypy_extensions import i64

from ...core.engine import Engine
from ...core.signal import Signal, Waits
from ...tasks.host import Host
from ..allocation.allocator import Allocator, Place
from ..cpu.task_queue import TaskQueue
from ..map.pool import NORMAL, SPECIAL
from ..records.metadata import DATASET_STEPS, METADATA_BYTES, METADATA_COPIES, POOL_COPIES, POOL_STEPS
from .dirty_data import DirtyData
from .member_io import ASYNC_WRITE
from .members import Members

BLOCKS_UNDER_WAY: Final = 32
"""Blocks of each vdev that are being written at once (zfs_vdev_def_queue_depth)."""


class Owner(Protocol):
    """A file or volume with dirty blocks."""

    def close_group(self) -> None:
        """The open group is closed: what is dirty belongs to it."""

    def take_dirty(self) -> Iterator[tuple[int, int]]:
        """The closed group's blocks that are not on disk yet, with their physical size; each is written once."""

    def written(self, block: int, places: list[Place]) -> None:
        """A block of the closed group has been written."""

    @property
    def write_s(self) -> float:
        """CPU time (s) to write one of its blocks."""

    def pointers(self) -> list[int]:
        """Physical sizes of the indirect blocks that point to what the group has written."""

    def group_done(self) -> None:
        """The closed group is on disk."""


class SyncTask(Protocol):
    """Work that is done while a transaction group is written: a scrub or a resilver."""

    def sync(self, began: float) -> Waits:
        """Do some of it in a group that is written since `began` (s)."""


class TransactionGroups:
    """The groups of one pool.

    Parameters
    ----------
    engine
        The clock.
    members, allocator, dirty
        Where it writes, what space it takes, and what is dirty.
    timeout_s
        Longest time (s) from one group to the next.
    issuer
        Of its I/O.
    host
        The CPU that compresses blocks and computes checksums and parity; None: these take no time.

    Attributes
    ----------
    number
        The open group.
    synced
        The last group that is on disk.
    changed
        The files and volumes that are dirty in the open group.
    group_bytes
        Dirty bytes of the open group.
    task
        What is done with each group; while there is something, one group follows the other. None: nothing.
    timeout_s
        See the parameter.
    """

    __slots__ = (
        "_allocator",
        "_dirty",
        "_ended",
        "_engine",
        "_issuer",
        "_kicked",
        "_members",
        "_more",
        "_started",
        "_threads",
        "_waiting",
        "changed",
        "group_bytes",
        "number",
        "synced",
        "task",
        "timeout_s",
    )

    def __init__(
        self,
        engine: Engine,
        members: Members,
        allocator: Allocator,
        dirty: DirtyData,
        timeout_s: float,
        issuer: i64,
        host: Host | None = None,
    ) -> None:
        self._engine = engine
        self._members = members
        self._allocator = allocator
        self._dirty = dirty
        self.timeout_s = timeout_s
        self._issuer = issuer
        self._threads = TaskQueue(host)
        self._kicked = False
        self._more: Signal | None = None
        self._started = 0.0
        self._waiting: list[tuple[int, Callable[[], None]]] = []
        self._ended: Signal | None = None
        self.changed: list[Owner] = []
        self.group_bytes: i64 = 0
        self.number: i64 = 1
        self.synced: i64 = 0
        self.task: SyncTask | None = None
        engine.spawn(self._run())

    def dirtied(self, owner: Owner, size: i64) -> None:
        """Bytes of a file or volume became dirty in the open group."""
        if owner not in self.changed:
            self.changed.append(owner)
        self.group_bytes += size
        self._dirty.add(size)
        if self.group_bytes > self._dirty.sync_threshold:
            self._kick()

    def when_synced(self, callback: Callable[[], None]) -> None:
        """Close the open group and call back when it is on disk."""
        self._waiting.append((self.number, callback))
        self._kick()

    def next_end(self) -> Signal:
        """Fires when the next group has been written."""
        if self._ended is None:
            self._ended = Signal()
        return self._ended

    @property
    def awaited(self) -> bool:
        """Whether somebody waits for a group to be on disk."""
        return bool(self._waiting)

    def begin(self, task: SyncTask) -> None:
        """Do something with each group from now on."""
        self.task = task
        self._kick()

    def _kick(self) -> None:
        self._kicked = True
        more = self._more
        if more is not None:
            self._more = None
            more.fire()

    def _run(self) -> Any:
        """Write one group after the other."""
        engine = self._engine
        while True:
            due = self._started + self.timeout_s
            while not self._kicked and self.task is None and engine.now < due:
                self._more = Signal()
                timer = engine.call_at(due, self._more.fire)
                yield self._more
                engine.cancel(timer)
                self._more = None
            self._kicked = False
            self._started = engine.now
            owners, self.changed = self.changed, []
            self.group_bytes = 0
            for owner in owners:
                owner.close_group()
            self.number += 1
            if owners or self._waiting or self.task is not None:
                yield from self._sync(owners)
            else:
                self._allocator.group_done()
            self.synced = self.number - 1
            due_callbacks = [call for group, call in self._waiting if group <= self.synced]
            self._waiting = [each for each in self._waiting if each[0] > self.synced]
            if self._waiting:
                self._kicked = True
            for call in due_callbacks:
                call()
            ended = self._ended
            if ended is not None:
                self._ended = None
                ended.fire()

    def _sync(self, owners: Sequence[Owner]) -> Waits:
        for owner in owners:
            yield from self._blocks(owner)
        if self.task is not None:
            yield from self.task.sync(self._started)
        yield from self._metadata([size for owner in owners for size in owner.pointers()], METADATA_COPIES)
        for blocks in DATASET_STEPS:
            yield from self._metadata([METADATA_BYTES] * blocks * len(owners), METADATA_COPIES)
        for blocks in POOL_STEPS:
            yield from self._metadata([METADATA_BYTES] * blocks, POOL_COPIES)
        members, vdevs = self._members, range(len(self._members.pool.vdevs))
        for step in range(3):
            done = Signal()
            if step == 1:
                members.write_uberblocks(self.number - 1, self._issuer, done.fire)
            else:
                members.flush(vdevs, done.fire)
            if not done.fired:
                yield done
        self._allocator.group_done()
        for owner in owners:
            owner.group_done()

    def _blocks(self, owner: Owner) -> Waits:
        """Write a file's or volume's blocks, some at a time, and wait for them."""
        most = BLOCKS_UNDER_WAY * len(self._members.pool.of_role(NORMAL))
        under_way, write_s = _UnderWay(), owner.write_s
        for block, psize in owner.take_dirty():
            places = self._allocator.allocate(psize)
            write = _BlockWrite(owner, block, places, under_way)
            under_way.count += 1
            self._threads.run(write_s, _Issue(self._members, places, self._issuer, write).run)
            if under_way.count >= most:
                yield under_way.one_less()
        while under_way.count:
            yield under_way.one_less()

    def _metadata(self, sizes: Sequence[int], copies: int) -> Waits:
        """Write metadata blocks, and wait for them."""
        places = [place for size in sizes for place in self._allocator.allocate(size, SPECIAL, copies)]
        if not places:
            return
        done = Signal()
        left = len(places)

        def one() -> None:
            nonlocal left
            left -= 1
            if not left:
                done.fire()

        for place in places:
            self._members.write(place, ASYNC_WRITE, self._issuer, one)
            self._allocator.free(place)
        if not done.fired:
            yield done


class _UnderWay:
    """Blocks of a group that are being written."""

    __slots__ = ("_changed", "count")

    def __init__(self) -> None:
        self.count: i64 = 0
        self._changed: Signal | None = None

    def one_less(self) -> Signal:
        """Fires when one of them is complete."""
        self._changed = Signal()
        return self._changed

    def done(self) -> None:
        """One is complete."""
        self.count -= 1
        changed = self._changed
        if changed is not None:
            self._changed = None
            changed.fire()


class _BlockWrite:
    """A block of a group that is being written."""

    __slots__ = ("_block", "_left", "_owner", "_places", "_under_way")

    def __init__(self, owner: Owner, block: int, places: list[Place], under_way: _UnderWay) -> None:
        self._owner = owner
        self._block = block
        self._places = places
        self._left: i64 = len(places)
        self._under_way = under_way

    def part(self) -> None:
        """One of its places is written."""
        self._left -= 1
        if not self._left:
            self._owner.written(self._block, self._places)
            self._under_way.done()


class _Issue:
    """Sends a block to its members."""

    __slots__ = ("_issuer", "_members", "_places", "_write")

    def __init__(self, members: Members, places: list[Place], issuer: i64, write: _BlockWrite) -> None:
        self._members = members
        self._places = places
        self._issuer = issuer
        self._write = write

    def run(self) -> None:
        """Send it."""
        for place in self._places:
            self._members.write(place, ASYNC_WRITE, self._issuer, self._write.part)
