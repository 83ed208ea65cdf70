"""The dbuf cache: blocks as programs see them. The ARC above which it lies holds them compressed.

A read that finds its block here need not decompress it. Source: OpenZFS 2.3 module/zfs/dbuf.c (dbuf_cache_shift).
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
