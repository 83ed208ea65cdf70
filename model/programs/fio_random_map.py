"""fio's random map: which blocks of a file a random job has had (lib/axmap.c)."""

from __future__ import annotations


class RandomMap:
    """One flag a block.

    Parameters
    ----------
    blocks
        Number of blocks.
    """

    __slots__ = ("_had",)

    def __init__(self, blocks: int) -> None:
        self._had = bytearray(blocks)

    def clear(self) -> None:
        """Forget them all."""
        self._had = bytearray(len(self._had))

    def free_from(self, block: int) -> int | None:
        """The first block from `block` on that was not had, going on at the start of the file; None: all were."""
        found = self._had.find(0, block)
        if found < 0:
            found = self._had.find(0, 0, block)
        return None if found < 0 else found

    def take(self, block: int, count: int) -> int:
        """Take blocks up to the first that was had; returns how many."""
        end = min(block + count, len(self._had))
        stop = self._had.find(1, block, end)
        if stop >= 0:
            end = stop
        self._had[block:end] = b"\1" * (end - block)
        return end - block
