"""Scrub and resilver: blocks are found by what points to them, sorted by their place, and then read.

Both happen while transaction groups are written. A group either looks for blocks, until they fill a twentieth of
memory, or reads the blocks found, in the order of their places, on all vdevs at once. Each vdev has a limited number of
bytes under way. After a least time the scan leaves the group if somebody waits for it, if much is dirty, or if the
group takes longer than zfs_txg_timeout. Source: OpenZFS 2.3 module/zfs/dsl_scan.c (dsl_scan_sync,
scan_io_queues_run_one, scan_io_queue_check_suspend, dsl_scan_should_clear).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Final

from mypy_extensions import i64

from ...core.engine import Engine
from ...core.signal import Signal, Waits
from ..allocation.allocator import Place, aliquot
from ..map.pool import LOG
from ..pool.dirty_data import DirtyData
from ..pool.member_io import SCRUB
from ..pool.members import Members
from ..pool.transaction_groups import TransactionGroups
from ..records.metadata import POINTERS, indirect_psize
from .allocated import AllocatedBlocks
from .cpu import ScanCpu
from .progress import PoolScan
from .repair import Repair, lacking
from .settings import ScanAction, ScanSettings

FOUND_BYTES: Final = 136
"""Memory of a block that was found (bytes): a scan_io_t with one place (96), and its share of the sorted extents."""
_LEAST_LIMIT: Final = 1 << 20


class Scan(PoolScan):
    """A scrub or a resilver.

    Parameters
    ----------
    engine
        The clock.
    members, groups, dirty
        Of the pool.
    action
        "scrub" or "resilver", which writes to the members that are rebuilding.
    blocks
        What is there on each vdev that is scanned, by its number.
    settings
        Module parameters.
    memory
        Of the machine (bytes).
    issuer
        Of its I/O.
    cpu
        What its work costs.
    found
        If true, blocks have been found when the run begins: it is looked at in the middle of a long scan.
    """

    __slots__ = (
        *("_began", "_changed", "_dirty", "_group_began", "_groups", "_least_s", "_looking", "_queues", "_suspended"),
        *("_under_way", "cpu", "issuer", "new"),
    )

    def __init__(
        self,
        engine: Engine,
        members: Members,
        groups: TransactionGroups,
        dirty: DirtyData,
        action: ScanAction,
        blocks: dict[int, AllocatedBlocks],
        settings: ScanSettings,
        memory: int,
        issuer: i64,
        cpu: ScanCpu,
        found: bool,
    ) -> None:
        total = sum([each.total_bytes for each in blocks.values()])
        super().__init__(
            engine, members, list(blocks), action, total, sum([each.done_bytes for each in blocks.values()])
        )
        self._groups = groups
        self._dirty = dirty
        self.new = members.rebuilding if action == "resilver" else frozenset()
        self._least_s = settings.resilver_min_time_s if self.new else settings.scrub_min_time_s
        self.issuer = issuer
        self.cpu = cpu
        most = max(1, memory // settings.memory_part // FOUND_BYTES // max(1, len(blocks)))
        self._queues = [
            _VdevQueue(self, vdev, each, settings.vdev_limit * aliquot(members.pool.vdevs[vdev]) >> 20, most)
            for vdev, each in blocks.items()
            if members.pool.roles[vdev] != LOG
        ]
        self._looking = not found
        if found:
            for queue in self._queues:
                queue.found = most
        self._began = self._group_began = 0.0
        self._suspended = False
        self._under_way: i64 = 0
        self._changed: Signal | None = None

    def run(self) -> Generator[Any, Any, None]:
        """Scan with each transaction group until all is done."""
        self._groups.begin(self)
        yield from self.wait()

    def sync(self, began: float) -> Waits:
        """Look for blocks, or read those that were found."""
        self._began, self._group_began = self._engine.now, began
        self._suspended = False
        for queue in self._queues:
            queue.fill()
        while self._under_way:
            self._changed = Signal()
            yield self._changed
        if self._suspended:
            return
        self._looking = not self._looking
        if all(queue.blocks.over for queue in self._queues):
            self._groups.task = None
            self.finish()

    @property
    def looking(self) -> bool:
        """Whether it looks for blocks."""
        return self._looking

    def suspended(self) -> bool:
        """Whether it leaves this transaction group (scan_io_queue_check_suspend)."""
        if not self._suspended and self._engine.now - self._began > self._least_s:
            self._suspended = (
                self._dirty.much
                or self._groups.awaited
                or self._engine.now - self._group_began > self._groups.timeout_s
            )
        return self._suspended

    def begun(self) -> None:
        """A block or what points to some is under way."""
        self._under_way += 1

    def ended(self) -> None:
        """It is done."""
        self._under_way -= 1
        changed = self._changed
        if not self._under_way and changed is not None:
            self._changed = None
            changed.fire()


class _VdevQueue:
    """The blocks of one vdev (dsl_scan_io_queue_t), with a thread that issues them.

    Attributes
    ----------
    blocks
        What is on it.
    found
        Blocks that have been found and not been read.
    """

    __slots__ = ("_busy", "_limit", "_most", "_scan", "_under_way", "_vdev", "blocks", "found")

    def __init__(self, scan: Scan, vdev: int, blocks: AllocatedBlocks, limit: int, most: int) -> None:
        self._scan = scan
        self._vdev = vdev
        self.blocks = blocks
        self._limit: i64 = max(limit, _LEAST_LIMIT)
        self._most: i64 = most
        self._under_way: i64 = 0
        self._busy = False
        self.found: i64 = 0

    def fill(self) -> None:
        """Have as much under way as it may."""
        scan = self._scan
        while not self._busy and self._under_way < self._limit and not scan.suspended():
            if not (self._look() if scan.looking else self._read()):
                return
            if scan.cpu.issue_s:
                self._busy = True
                scan.begun()
                scan.cpu.run(scan.cpu.issue_s, self._go_on)

    def _go_on(self) -> None:
        """The thread has issued a block."""
        self._busy = False
        self.fill()
        self._scan.ended()

    def _look(self) -> bool:
        """Read what points to the next blocks; false if enough are found."""
        ahead = self.blocks.ahead(self.found)
        if ahead is None or self.found >= self._most:
            return False
        self.found += POINTERS
        pointers = Place(self._vdev, ahead.offset, indirect_psize(POINTERS))
        part = _Part(self, pointers.psize, 0)
        self._scan.members.read(pointers, SCRUB, self._scan.issuer, part.done)
        return True

    def _read(self) -> bool:
        """Read the next block; false if there is none."""
        scan, blocks = self._scan, self.blocks
        if self.found <= 0:
            return False
        before = blocks.done_bytes
        place = blocks.next()
        self.found -= 1
        if place is None:
            return False
        space = blocks.done_bytes - before
        written = lacking(scan.members, place, scan.new) if scan.new else []
        if scan.new and not written:
            scan.done_bytes += space
            return True
        part = _Part(self, place.psize, space)
        Repair(scan.members, place, written, scan.issuer, scan.cpu, part.done).read()
        return True

    def begin(self, size: i64) -> None:
        """Some bytes are under way."""
        self._under_way += size
        self._scan.begun()

    def end(self, size: i64, space: i64) -> None:
        """They are done, with the space that they take."""
        self._under_way -= size
        self._scan.done_bytes += space
        self.fill()
        self._scan.ended()


class _Part:
    """Bytes under way."""

    __slots__ = ("_queue", "_size", "_space")

    def __init__(self, queue: _VdevQueue, size: i64, space: i64) -> None:
        self._queue = queue
        self._size = size
        self._space = space
        queue.begin(size)

    def done(self) -> None:
        """They are done."""
        self._queue.end(self._size, self._space)
