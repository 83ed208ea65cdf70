"""bcache's writeback: a thread that scans for dirty blocks in the order of their offsets, at a rate that is controlled.

Every five seconds a PI controller sets the rate by how much more than `writeback_percent` of the cache is dirty; it is
never below four KiB a second, and without limit once there was no I/O for 30 seconds. Neighbors are read together and
then written. Once all has been looked at, the thread rests for `writeback_delay`.
Source: Linux 6.1, drivers/md/bcache/writeback.c (__update_writeback_rate, set_at_max_writeback_rate, read_dirty,
bch_writeback_thread).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from ...core.device import Device
from ...core.engine import Engine
from ...core.request import ASYNC, DAEMON_ISSUER, READ, WRITE, Request
from ..levels import NONE
from .buckets import Buckets

UPDATE_S: Final = 5.0
_PROPORTIONAL: Final = 40
_INTEGRAL: Final = 10_000
LEAST_RATE: Final = 8 * 512.0
"""Bytes a second (writeback_rate_minimum)."""
_IDLE_UPDATES: Final = 6
_MOST_RUN: Final = 5000 * 512
"""Bytes of neighbors that are written back together (MAX_WRITESIZE_IN_PASS)."""
_KEYS: Final = 500
"""Keys that a scan collects (KEYBUF_NR)."""


class BcacheWriteback:
    """The thread.

    Parameters
    ----------
    engine
        The clock.
    origin, cache
        The devices.
    buckets
        What is dirty, and where.
    block_bytes, data
        Bytes of a block, and where the buckets begin on the cache (bytes).
    target
        Bytes that may be dirty (writeback_percent of the cache); 0: the rate is not limited.
    delay_s
        Rest after a scan (s).
    cleaned
        Told the number of keys that have become clean.

    Attributes
    ----------
    blocks
        Blocks written back so far.
    rate
        Bytes a second.
    """

    __slots__ = (
        "_block",
        "_buckets",
        "_cache",
        "_cleaned",
        "_data",
        "_delay_s",
        "_engine",
        "_idle",
        "_integral",
        "_next",
        "_origin",
        "_runs",
        "_scanned_to",
        "_target",
        "_updated",
        "_writing",
        "blocks",
        "rate",
    )

    def __init__(
        self,
        engine: Engine,
        origin: Device,
        cache: Device,
        buckets: Buckets,
        block_bytes: int,
        data: int,
        target: float,
        delay_s: float,
        cleaned: Callable[[int], None],
    ) -> None:
        self._engine = engine
        self._origin = origin
        self._cache = cache
        self._buckets = buckets
        self._block = block_bytes
        self._data = data
        self._target = target
        self._delay_s = delay_s
        self._cleaned = cleaned
        self._runs = False
        self._idle = 0
        self._integral = 0.0
        self._next = 0.0
        self._scanned_to = 0
        self._updated = 0.0
        self._writing: set[int] = set()
        self.blocks = 0
        self.rate = LEAST_RATE

    def overlaps(self, first: int, end: int) -> bool:
        """Whether a block of these is being written back."""
        return bool(self._writing) and any(block in self._writing for block in range(first, end))

    def active(self) -> None:
        """There is I/O: the rate is the controlled one again."""
        self._idle = 0
        if self.rate == math.inf:
            self.rate = LEAST_RATE

    def wake(self) -> None:
        """There is something dirty."""
        if not self._runs:
            self._runs = True
            self._updated = self._engine._now
            self._engine.call_at(self._engine._now, self._scan)
            self._engine.call_at(self._engine._now + UPDATE_S, self._update)

    def _update(self, _: Any) -> None:
        """Set the rate."""
        if not self._buckets.dirty:
            self._integral = 0.0
            self._runs = False
            return
        self._idle += 1
        if self._idle >= _IDLE_UPDATES:
            self.rate = math.inf
        else:
            error = len(self._buckets.dirty) * self._block - self._target
            if error < 0 < self._integral or error > 0:
                self._integral += error * UPDATE_S
            rate = error / _PROPORTIONAL + self._integral / _INTEGRAL
            self.rate = max(LEAST_RATE, rate)
        self._engine.call_at(self._engine._now + UPDATE_S, self._update)

    def _scan(self, _: Any) -> None:
        """Collect dirty blocks from where the last scan ended, around, and write them back run by run."""
        dirty = sorted(self._buckets.dirty)
        if not dirty:
            return
        chosen = [block for block in dirty if block >= self._scanned_to][:_KEYS]
        whole = len(chosen) < _KEYS
        if whole:
            chosen += [block for block in dirty if block < self._scanned_to][: _KEYS - len(chosen)]
            whole = len(chosen) == len(dirty)
        self._scanned_to = chosen[-1] + 1
        runs: list[tuple[int, int]] = []
        most = _MOST_RUN // self._block
        for block in chosen:
            if runs and runs[-1][1] == block and block - runs[-1][0] < most:
                runs[-1] = runs[-1][0], block + 1
            else:
                runs.append((block, block + 1))
        self._go_on(runs, 0, whole)

    def _go_on(self, runs: list[tuple[int, int]], number: int, whole: bool) -> None:
        """Write back the next run when the rate allows it."""
        now = self._engine._now
        if number == len(runs):
            # Having seen all it rests; a wait for the next keys otherwise.
            if self._buckets.dirty:
                self._engine.call_at(now + (self._delay_s if whole and self.rate != math.inf else 0.0), self._scan)
            return
        begin, end = runs[number]
        if self._next > now and self.rate != math.inf:
            # It looks again at least every second, since the rate may have changed.
            self._engine.call_at(min(self._next, now + 1.0), lambda _: self._go_on(runs, number, whole))
            return
        rate = self.rate if self._target else math.inf
        self._next = max(now, self._next) + (end - begin) * self._block / rate
        blocks = [block for block in range(begin, end) if block in self._buckets.dirty]
        if not blocks:
            self._go_on(runs, number + 1, whole)
            return
        places = {block: self._buckets.find(block) for block in blocks}
        self._writing.update(blocks)
        pieces = self._pieces(blocks, places)
        left = len(pieces)

        def read(_: Request) -> None:
            nonlocal left
            left -= 1
            if not left:
                first, last = blocks[0], blocks[-1] + 1
                size = (last - first) * self._block
                self._origin.submit(Request(WRITE, first * self._block, size, written, DAEMON_ISSUER, ASYNC))

        def written(_: Request) -> None:
            for block in blocks:
                if self._buckets.find(block) == places[block]:
                    self._buckets.clean(block)
            self.blocks += len(blocks)
            self._writing.difference_update(blocks)
            self._cleaned(len(pieces))
            self._go_on(runs, number + 1, whole)

        for place, count in pieces:
            offset, size = self._data + place * self._block, count * self._block
            self._cache.submit(Request(READ, offset, size, read, DAEMON_ISSUER, ASYNC))

    @staticmethod
    def _pieces(blocks: list[int], places: dict[int, int]) -> list[tuple[int, int]]:
        """Runs of the cache: where each begins, and its blocks."""
        pieces: list[tuple[int, int]] = []
        for block in blocks:
            place = places[block]
            if place == NONE:
                continue
            if pieces and pieces[-1][0] + pieces[-1][1] == place:
                pieces[-1] = pieces[-1][0], pieces[-1][1] + 1
            else:
                pieces.append((place, 1))
        return pieces
