"""Shingled tracks: bands that are written in order, and a media cache for all other writes.

Drive-managed shingled drives as A. Aghayev and P. Desnoyers describe them ("Skylight: a window on shingled disk
operation", FAST 2015): tracks overlap within a band of 15 to 40 MiB, so nothing in it can be rewritten alone. Blocks
have fixed homes.

- A write that goes on where an open band ends is written there; so is one that leaves out less than a piece, which the
  drive reads and fills in. A band is opened by a write at its start that is as long as a piece of the media cache, or
  that goes on where a band or one of the last pieces ended.
- All other writes go to the media cache at the outer rim, see :mod:`.media_cache`.
- The drive cleans band after band: it reads what the cache has of the band of the oldest write, and the band, and
  writes the band. When the cache is full a write waits for that; in idle time it goes on until the cache is empty.
- At most `open_bands` bands are open. The rest of the one that was written to longest ago is read and written again.

Simplified: a band is rewritten in place, without a copy that would survive a loss of power; all blocks hold data.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from .media_cache import CachingMedia
from .media_log import BLOCK, LogSettings


class ShingledMedia(CachingMedia):
    """A head, platters and buffer of a shingled drive; :meth:`open_log` must be called first.

    Attributes
    ----------
    cleaned_bands
        Bands that were read and written again, whole or in part.
    """

    __slots__ = ("_band", "_ends", "_open", "cleaned_bands")

    def open_log(self, settings: LogSettings, draw: np.random.Generator) -> None:
        """See :meth:`.media_cache.CachingMedia.open_log`."""
        super().open_log(settings, draw)
        self._band = settings.band // BLOCK * BLOCK
        self._open: dict[int, int] = {}  # where each open band goes on, by its number; the last one written to is last
        self._ends: deque[int] = deque(maxlen=settings.open_bands)  # of the last pieces in the media cache, and bands
        self._run = 1  # a band at a time: cleaning many would keep a write waiting for half a minute
        self.cleaned_bands = 0

    def _goes_home(self, offset: int, size: int) -> bool:
        """Whether a write goes on in an open band, or opens one."""
        band = offset // self._band
        pointer = self._open.get(band, -1)
        if pointer >= 0:
            return pointer <= offset <= pointer + self._settings.largest
        return offset == band * self._band and (size >= self._settings.largest or offset in self._ends)

    def _piece(self, offset: int, end: int) -> int:
        """See :meth:`.media_cache.CachingMedia._piece`: none goes beyond a band, where the next one may be opened."""
        return min(end, offset + self._settings.largest, (offset // self._band + 1) * self._band)

    def _enter(self, number: int, start: int, end: int) -> None:
        """See :meth:`.media_cache.CachingMedia._enter`."""
        super()._enter(number, start, end)
        self._goes_on(start, end)

    def _goes_on(self, start: int, end: int) -> None:
        """Remember that what has been written from `start` on may go on at `end`."""
        if start in self._ends:
            self._ends.remove(start)
        self._ends.append(end)

    def _written_home(self, start: int, end: int) -> None:
        """Note that an open band has been written on to `end`; the one that was left longest ago is completed."""
        super()._written_home(start, end)
        pointer = self._open.pop(start // self._band, start)
        if pointer < start:
            self._rewrite(pointer, start)
        if end % self._band and end < self.geometry.capacity:
            self._open[end // self._band] = end
        else:
            self._goes_on(start, end)
        if len(self._open) > self._settings.open_bands:
            band = next(iter(self._open))
            self._rewrite(self._open.pop(band), self._end(band))
            self.cleaned_bands += 1

    def _move(self) -> None:
        """Clean the band of the oldest write in the media cache, from ``_free_s`` on."""
        log = self.log
        band = log.oldest() // self._band
        start, end = band * self._band, self._end(band)
        block, beyond = start // BLOCK, -(-end // BLOCK)
        while block < beyond:
            entry, run = log.entry(block), 1
            if entry is not None:
                while block + run < beyond and log.entry(block + run) is entry:
                    run += 1
                place = entry.place + (block - entry.first) * BLOCK
                self._pass(place, run * BLOCK, self._position(place, self._free_s, self.seeks.read))
                self.moved_bytes += run * BLOCK
            block += run
        self._rewrite(start, end)
        self.cleaned_bands += 1
        self._open.pop(band, None)
        log.forget(start, end)

    def _end(self, band: int) -> int:
        """End of a band (bytes)."""
        return min((band + 1) * self._band, self.geometry.capacity)

    def _rewrite(self, start: int, end: int) -> None:
        """Read [start, end) and write it again, from ``_free_s`` on."""
        self._pass(start, end - start, self._position(start, self._free_s, self.seeks.read))
        self._pass(start, end - start, self._position(start, self._free_s, self.seeks.write))
