"""The part of the map that is in the controller's memory, where the whole is not.

The map has an entry of four bytes for a mapping unit, so a map page of 4 KiB says where 1,024 units are (4 MiB with
units of 4 KiB). A command on an address whose map page is not in memory reads that from flash first; the least recently
used one goes out. So reads of a small range are as fast as with the whole map in memory, and reads of a wide one
take a second flash read, with probability 1 - reach / range if they are random.

Sources: Gupta, Kim and Urgaonkar, "DFTL: a flash translation layer employing demand-based selective caching of
page-level address mappings", ASPLOS 2009; NVM Express base specification, "Host Memory Buffer" (a larger reach without
memory of its own).

Limits: writing changed map pages back is not charged; at the start of a run nothing of the map is in memory.
"""

from __future__ import annotations

from typing import Final

_ENTRIES: Final = 1024


class MapCache:
    """Least recently used map pages.

    Parameters
    ----------
    reach
        Bytes of the drive whose map fits in memory.
    unit
        Bytes of a mapping unit.

    Attributes
    ----------
    page_bytes
        Bytes of the drive that a map page describes.
    misses
        Map pages read from flash.
    """

    __slots__ = ("_most", "_pages", "misses", "page_bytes")

    def __init__(self, reach: int, unit: int) -> None:
        self.page_bytes = _ENTRIES * unit
        self._most = max(1, reach // self.page_bytes)
        self._pages: dict[int, None] = {}
        self.misses = 0

    def missing(self, offset: int, size: int) -> list[int]:
        """Map pages for [offset, offset + size) that have to be read; they are in memory from now on."""
        pages = self._pages
        missing = []
        for page in range(offset // self.page_bytes, (offset + size - 1) // self.page_bytes + 1):
            if page in pages:
                del pages[page]
            else:
                missing.append(page)
                if len(pages) >= self._most:
                    del pages[next(iter(pages))]
            pages[page] = None
        self.misses += len(missing)
        return missing
