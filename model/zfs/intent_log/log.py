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
        self._left = 0

    @property
    def next_bytes(self) -> int:
        """Size of the block that is allocated for the next commit."""
        return self._size

    def begun(self) -> None:
        """The log has been in use before the run: its first commit waits for no transaction group."""
        if not self._size:
            self._size = UNIT_BYTES

    def commit(self, records: Sequence[LogRecord]) -> Commit:
        """Write a burst of records; without any, nothing is written."""
        if not records:
            return Commit([], [], False)
        first = not self._size
        if first:
            self._size = UNIT_BYTES
        total = sum([record.size for record in records])
        largest = max([record.fixed for record in records])
        blocks: list[LogBlock] = []
        self._left = total
        for record in records:
            self._place(record, largest, blocks)
        self._sizes.after(total, largest)
        self._close(self._sizes.predicted(), blocks)
        return Commit(blocks, [record.block for record in records if record.block >= 0], first)

    def _place(self, record: LogRecord, largest: int, blocks: list[LogBlock]) -> None:
        data = record.data
        while True:
            room = self._size - self._used
            whole = self._sizes.room - RECORD_BYTES
            if record.fixed > room or (
                record.fixed + data > room
                and room < self._sizes.waste
                and (data % whole == 0 or room < record.fixed + data % whole)
            ):
                best, _ = self._sizes.plan(self._left, largest)
                self._close(best, blocks)
                room = self._size - self._used
            now = min(data, room - record.fixed)
            self._used += record.fixed + now
            data -= now
            if not data:
                self._left -= record.fixed + now
                return
            self._left -= now

    def _close(self, room: int, blocks: list[LogBlock]) -> None:
        blocks.append(LogBlock(self._size, in_units(self._used)))
        self._size = self._sizes.block(room)
        self._used = CHAIN_BYTES
