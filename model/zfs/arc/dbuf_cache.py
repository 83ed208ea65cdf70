"""The dbuf cache: blocks as programs see them. The ARC above which it lies holds them compressed.

A read that finds its block here need not decompress it. Of a dataset whose data are not cached (primarycache) it holds
blocks of which only the beginning was read, for the reads that probably follow. Source: OpenZFS 2.3 module/zfs/dbuf.c
(dbuf_cache_shift, dbuf_read, dbuf_rele_and_unlock) and dmu.c (dmu_buf_hold_array_by_dnode).
"""

from __future__ import annotations

from collections import OrderedDict

from mypy_extensions import i64

CACHE_SHIFT = 5
"""Binary logarithm of the ARC's size over that of this cache."""


class DbufCache:
    """The blocks that were used last.

    Parameters
    ----------
    size
        Bytes that it holds.
    """

    __slots__ = ("_blocks", "_left")

    def __init__(self, size: i64) -> None:
        self._left = size
        self._blocks: OrderedDict[int, int] = OrderedDict()

    def missing(self, first: i64, last: i64, size: i64) -> int:
        """Use the blocks with the keys from `first` to `last`, of `size` bytes; returns how many were not there."""
        blocks, missing = self._blocks, 0
        for key in range(first, last + 1):
            if key in blocks:
                blocks.move_to_end(key)
                continue
            missing += 1
            blocks[key] = size
            self._left -= size
        while self._left < 0:
            _, freed = blocks.popitem(last=False)
            self._left += freed
        return missing

    def missing_uncached(self, first: i64, last: i64, size: i64, begins: bool, ends: bool) -> int:
        """Use blocks of a dataset whose data are not cached, and drop all but the last one, if more of it is read soon.

        Parameters
        ----------
        first, last, size
            See :meth:`missing`.
        begins, ends
            Whether the last block is read from its beginning, and to its end. It stays from a read of its beginning
            until one that reaches its end.
        """
        stays = not ends and (begins or last in self._blocks)
        missing = self.missing(first, last, size)
        for key in range(first, last if stays else last + 1):
            self.drop(key)
        return missing

    def holds(self, key: i64) -> bool:
        """Whether a block is there."""
        return key in self._blocks

    def drop(self, key: i64) -> None:
        """Drop a block, if it is there."""
        self._left += self._blocks.pop(key, 0)
