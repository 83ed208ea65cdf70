"""fio's random map: which blocks of a file a random job has had (lib/axmap.c)."""

from __future__ import annotations

_PAGE = 1024
"""Flags kept together; pages of which nothing was had are not kept, so that a job on a large device takes no memory
for what it never touches."""


class RandomMap:
    """One flag a block.

    Parameters
    ----------
    blocks
        Number of blocks.
    """

    __slots__ = ("_blocks", "_pages")

    def __init__(self, blocks: int) -> None:
        self._blocks = blocks
        self._pages: dict[int, bytearray] = {}

    def clear(self) -> None:
        """Forget them all."""
        self._pages.clear()

    def free_from(self, block: int) -> int | None:
        """The first block from `block` on that was not had, going on at the start of the file; None: all were."""
        found = self._free_in(block, self._blocks)
        return self._free_in(0, block) if found is None else found

    def _free_in(self, block: int, end: int) -> int | None:
        pages = self._pages
        while block < end:
            number, place = divmod(block, _PAGE)
            page = pages.get(number)
            if page is None:
                return block
            found = page.find(0, place)
            if found >= 0:
                return block - place + found if block - place + found < end else None
            block += _PAGE - place
        return None

    def take(self, block: int, count: int) -> int:
        """Take blocks up to the first that was had; returns how many."""
        pages, start, end = self._pages, block, min(block + count, self._blocks)
        while block < end:
            number, place = divmod(block, _PAGE)
            page = pages.get(number)
            if page is None:
                page = pages[number] = bytearray(_PAGE)
            most = min(_PAGE, place + end - block)
            stop = page.find(1, place, most)
            upto = most if stop < 0 else stop
            page[place:upto] = b"\1" * (upto - place)
            block += upto - place
            if stop >= 0:
                break
        return block - start
