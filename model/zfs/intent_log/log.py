"""The intent log of one dataset: commits in, log blocks and records written in place out.

Each block is allocated when the one before it is closed, so a commit's first block has the size that was predicted
for it. A record that does not fit into what is left of a block goes on in the next one, or moves there whole.
Source: OpenZFS 2.3 module/zfs/zil.c (zil_create, zil_process_commit_list, zil_lwb_assign, zil_lwb_write_close).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..map.vdev import Vdev
from .block_sizes import CHAIN_BYTES, RECORD_BYTES, UNIT_BYTES, BlockSizes, in_units
from .records import LogRecord, LogRules


class LogBlock(NamedTuple):
    """A log block.

    Attributes
    ----------
    size
        Bytes allocated.
    used
        Bytes of it that records use, in whole units.
    """

    size: int
    used: int

    def written(self, vdev: Vdev) -> int:
        """Bytes that are written: of a vdev with parity all, because a shorter block could not be rebuilt."""
        return self.size if vdev.asize(self.size) > self.size else self.used


class Commit(NamedTuple):
    """What a commit writes. Then every member of the vdevs that it wrote to is flushed once.

    Attributes
    ----------
    blocks
        Log blocks in order: on the log device if there is one, else in the pool.
    in_place
        Numbers of the file's records that are written whole to the pool, in order.
    waits_for_txg
        If true, the commit first waits for a transaction group, which writes the log's head.
    """

    blocks: list[LogBlock]
    in_place: list[int]
    waits_for_txg: bool


class IntentLog:
    """The intent log of a dataset since the pool's import.

    Parameters
    ----------
    rules
        Of the dataset.
    """

    def __init__(self, rules: LogRules) -> None:
        self.rules = rules
        self._sizes = BlockSizes(rules.largest_block)
        self._size = 0
        self._used = CHAIN_BYTES
        self._burst = 0
        self._left = 0
        self._largest = 0

    @property
    def next_bytes(self) -> int:
        """Size of the block that is allocated for the next commit."""
        return self._size

    @property
    def has_head(self) -> bool:
        """Whether a transaction group has written the head of the log."""
        return self._size > 0

    def begun(self) -> None:
        """The head is written, here or before the run: no commit waits for a transaction group any more."""
        if not self._size:
            self._size = UNIT_BYTES

    def commit(self, records: Sequence[LogRecord]) -> Commit:
        """Write a burst of records; without any, nothing is written.

        The first one waits for a transaction group, which writes its data too; its log block is empty.
        """
        if not records:
            return Commit([], [], False)
        first = not self.has_head
        self.begun()
        self.gather(records)
        blocks: list[LogBlock] = []
        for record in [] if first else records:
            blocks += self.assign(record)
        blocks.append(self.close())
        return Commit(blocks, [record.block for record in records if record.block >= 0 and not first], first)

    def gather(self, records: Sequence[LogRecord]) -> None:
        """Records belong to the present burst."""
        size = sum([record.size for record in records])
        self._burst += size
        self._left += size
        self._largest = max([self._largest, *[record.fixed for record in records]])

    def assign(self, record: LogRecord, parallel: bool = False) -> list[LogBlock]:
        """Put a gathered record into the open block, and into new ones; returns the blocks that this closes.

        With `parallel` commits come from several processes, and another burst is expected after this one.
        """
        data = record.data
        closed = []
        while True:
            room = self._size - self._used
            whole = self._sizes.room - RECORD_BYTES
            if record.fixed > room or (
                record.fixed + data > room
                and room < self._sizes.waste
                and (data % whole == 0 or room < record.fixed + data % whole)
            ):
                best, _ = self._sizes.plan(self._left, self._largest)
                if parallel:
                    more = self._left + self._sizes.predicted(self._burst, self._largest)
                    best = max(best, self._sizes.plan(more, self._largest)[0])
                closed.append(self._next_block(best))
                room = self._size - self._used
            now = min(data, room - record.fixed)
            self._used += record.fixed + now
            data -= now
            if not data:
                self._left -= record.fixed + now
                return closed
            self._left -= now

    def close(self) -> LogBlock:
        """Close the open block, and with it the burst."""
        if self._burst:
            self._sizes.after(self._burst, self._largest)
        self._burst = self._left = self._largest = 0
        return self._next_block(self._sizes.predicted())

    def _next_block(self, room: int) -> LogBlock:
        block = LogBlock(self._size, in_units(self._used))
        self._size = self._sizes.block(room)
        self._used = CHAIN_BYTES
        return block
