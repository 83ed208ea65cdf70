"""What a synchronous write logs: its data, copied into a log block, or the place of its record in the pool.

Written in place ("indirect") is every write of a dataset with logbias=throughput and, in a pool without a log
device, every write call from zfs_immediate_write_sz bytes on: the whole record goes to its final place at once and
the log gets a pointer. Other data go into the log. Data of a call with O_DSYNC of up to zil_maxcopied bytes stay in
one log block; larger ones may be split between blocks. Source: OpenZFS 2.3 module/zfs/zfs_log.c (zfs_log_write).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .block_sizes import RECORD_BYTES

_ALIGNED = 8


class LogRecord(NamedTuple):
    """One record of the log.

    Attributes
    ----------
    fixed
        Bytes that stay in one log block.
    data
        Bytes after them that may be split between blocks.
    block
        Number of the file's record that is written in place; -1 if none is.
    """

    fixed: int
    data: int = 0
    block: int = -1

    @property
    def size(self) -> int:
        """Bytes of the log."""
        return self.fixed + self.data


class LogRules(NamedTuple):
    """Which way writes are logged.

    Attributes
    ----------
    record_bytes
        recordsize of the dataset, or volblocksize.
    log_device
        If true, the pool has a log device.
    throughput
        If true, the dataset has logbias=throughput.
    immediate_bytes, copied_bytes, largest_block
        Module parameters zfs_immediate_write_sz, zil_maxcopied and zil_maxblocksize.
    """

    record_bytes: int
    log_device: bool = False
    throughput: bool = False
    immediate_bytes: int = 32768
    copied_bytes: int = 7680
    largest_block: int = 131072


def log_records(rules: LogRules, writes: Iterable[tuple[int, int]], synchronous: bool) -> list[LogRecord]:
    """The log records of write calls.

    Parameters
    ----------
    rules
        Of the dataset.
    writes
        (offset, size) of each call in bytes.
    synchronous
        If true, each call itself was synchronous (O_DSYNC, sync=always); if false, an fsync commits them later.
    """
    records = []
    size_of = rules.record_bytes
    for offset, size in writes:
        if rules.throughput or (not rules.log_device and size >= rules.immediate_bytes):
            last = (offset + size - 1) // size_of
            records += [LogRecord(RECORD_BYTES, 0, block) for block in range(offset // size_of, last + 1)]
            continue
        data = -(-size // _ALIGNED) * _ALIGNED
        if synchronous and size <= rules.copied_bytes:
            records.append(LogRecord(RECORD_BYTES + data))
        else:
            records.append(LogRecord(RECORD_BYTES, data))
    return records
