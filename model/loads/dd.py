"""dd between a raw block device and /dev/zero or /dev/null, through the page cache.

``dd bs=512 of=/dev/hde`` overwrites a block of the page cache piece by piece. The first piece finds the block
neither cached nor whole, so the kernel reads it and dd waits; the write itself happens later, in runs. A
device that streams reads at 60 MiB/s then writes at 11 (1 KiB blocks) or 19 MiB/s (4 KiB blocks).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from ..memory.raw_cache import RawCache
from ..readahead import PAGE
from ..tasks.host import Host

_RUN_BYTES = 64 * 1024
"""Whole blocks are written in runs of this size: one charge of CPU time each."""


class Dd:
    """One dd process on a raw block device.

    Parameters
    ----------
    host
        Pays for the system calls.
    cache
        The page cache of the device.
    block_size
        dd's ``bs`` in bytes.
    start, size
        First byte (``skip``/``seek``) and number of bytes.
    issuer
        Tells processes apart in I/O schedulers.
    """

    __slots__ = ("block_size", "cache", "host", "issuer", "position", "size", "start")

    def __init__(self, host: Host, cache: RawCache, block_size: int, start: int, size: int, issuer: int) -> None:
        self.host = host
        self.cache = cache
        self.block_size = block_size
        self.start = start
        self.size = size
        self.issuer = issuer
        self.position = start

    @property
    def bytes_done(self) -> int:
        """Bytes read or written so far."""
        return self.position - self.start

    def read(self) -> Generator[Any, Any, None]:
        """``dd if=DEVICE of=/dev/null``: a SimPy process."""
        prices = self.host.prices
        per_byte = prices.read_call_s / self.block_size + prices.read_copy_s_per_byte(self.block_size)
        return self.cache.stream_read(self.start, self.start + self.size, self.issuer, per_byte, self._moved)

    def _moved(self, position: int) -> None:
        self.position = position

    def write(self) -> Generator[Any, Any, None]:
        """``dd if=/dev/zero of=DEVICE``: a SimPy process."""
        cache, prices = self.cache, self.host.prices
        block = cache.settings.block_bytes
        copy_s = prices.write_copy_s_per_byte(self.block_size)
        per_byte = prices.write_call_s / self.block_size + copy_s + prices.page_s / PAGE
        if self.in_pieces:
            return self._write_pieces(block, per_byte)
        return self._write_whole_blocks(max(block, _RUN_BYTES), per_byte)

    @property
    def in_pieces(self) -> bool:
        """Whether writes do not cover whole blocks of the page cache, so that it reads blocks first."""
        block = self.cache.settings.block_bytes
        return self.block_size % block != 0 or self.start % block != 0

    def close(self) -> Generator[Any, Any, None]:
        """Close the device that nobody else has open: a SimPy process.

        The kernel writes all its dirty blocks back and waits for them, also without ``conv=fsync`` (fs/block_dev.c:
        __block_fsync in blkdev_put of Linux 2.4, sync_blockdev since 2.6; until 2.2 fsync_dev in the release of each
        driver). dd closes its output before it prints how long it took. The caches of the drives are not flushed.
        """
        return self.cache.sync(self.issuer)

    def _write_whole_blocks(self, run: int, per_byte: float) -> Generator[Any, Any, None]:
        cache, memory, end = self.cache, self.cache.memory, self.start + self.size
        while self.position < end:
            stop = min(end, self.position + run)
            yield self.host.cpu.run((stop - self.position) * per_byte)
            dirtied = cache.mark_dirty(self.position, stop)
            self.position = stop
            if memory.over_limit:
                yield from cache.throttle(None, dirtied)

    def _write_pieces(self, block: int, per_byte: float) -> Generator[Any, Any, None]:
        cache, memory, end = self.cache, self.cache.memory, self.start + self.size
        cpu_run, read_block, cached, mark_dirty = self.host.cpu.run, cache.read_block, cache.cached, cache.mark_dirty
        issuer = self.issuer
        bigger = self.block_size > block
        hit_s = block * per_byte
        miss_s = hit_s + self.host.prices.bio_s + self.host.prices.switch_s
        position = self.position - self.position % block
        while position < end:
            if cached.run_from(position) > position or (bigger and self._overwrites(position, block)):
                yield cpu_run(hit_s)
            else:
                yield cpu_run(miss_s)
                yield read_block(position, issuer)
            position += block
            dirtied = mark_dirty(position - block, position)
            self.position = position if position < end else end
            if memory.over_limit:
                yield from cache.throttle(None, dirtied)

    def _overwrites(self, position: int, block: int) -> bool:
        """Whether a single write covers the whole block at `position`."""
        inside = position - self.start
        last = inside + block - 1
        return inside >= 0 and last < self.size and inside // self.block_size == last // self.block_size
