"""How today's kernel slows writers down to what their device writes, instead of stopping them at a limit.

Once dirty memory exceeds (background + limit) / 2, each writer is throttled to the device's rate limit times a ratio,
which falls from 2 to 0 around the setpoint, halfway between that point and the limit (:func:`position_ratio`). The rate
limit follows what the device writes and what all its writers dirty, so that they share it alike
(:meth:`DirtyBalance._update`). A device gets as large a share of the dirty memory as it had of what was written lately,
so a slow one does not take it all. Source: Linux mm/page-writeback.c since 3.2 (balance_dirty_pages, wb_position_ratio,
wb_update_dirty_ratelimit, wb_update_write_bandwidth, wb_min_pause), lib/flex_proportions.c.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any

from ..core.engine import Engine
from .dirty_memory import DirtyMemory, Recent

PAGE = 4096
LONGEST_PAUSE_S = 0.2
"""MAX_PAUSE."""
FIRST_RATE = 100 << 20
"""What a device is taken to write before anything has been seen of it (INIT_BW, bytes/s)."""
LEAST_BYTES = 32 * PAGE
"""A writer is looked at after no less than this (DIRTY_POLL_THRESH)."""
_INTERVAL_S = 0.2
"""BANDWIDTH_INTERVAL."""
_HERTZ = 250
"""Ticks of the clock in a second (CONFIG_HZ of the distributions' kernels)."""
_MEMORY_S = 1024 / _HERTZ
"""Over how long the write bandwidth is averaged: three seconds, rounded up to a power of two of ticks."""
_PERIOD_S = 3.0
"""Every so often what a device wrote before counts half (VM_COMPLETIONS_PERIOD_LEN)."""
_TICK_S = 1 / _HERTZ
_USUAL_PAUSE_S = max(1, _HERTZ // 100) * _TICK_S
"""What one writer's pauses aim at: 10 ms, in whole ticks (wb_min_pause)."""
_POOL_S = 32 / _HERTZ
"""A pause is shorter than an eighth of the time in which a device writes its dirty pages."""
_GAP_S = 1.0
"""A writer that did something else for so long begins afresh."""


def position_ratio(
    dirty: float, freerun: float, limit: float, own_dirty: float, own_share: float, rate: float, pace: float = 1.0
) -> float:
    """By what the rate limit of a device is multiplied, so that dirty memory comes back to the setpoint.

    Parameters
    ----------
    dirty, freerun, limit
        Dirty memory of the host with what is under write-back; where writers begin and where they stop (bytes).
    own_dirty
        The part of it that is the device's.
    own_share
        The device's share of what was written lately.
    rate
        What the device writes (bytes/s).
    pace
        Times are as much shorter.
    """
    if dirty >= limit:
        return 0.0
    setpoint = (freerun + limit) / 2
    x = (setpoint - dirty) / (limit - setpoint)
    ratio = min(2.0, max(0.0, 1.0 + x * x * x))
    # The device's own part has a line of its own, which is the flatter the more the device may have.
    own_limit = max(own_share * limit, (limit - dirty) / 8)
    share = own_limit / limit
    own_setpoint = setpoint * share
    span = (limit - own_limit + 8 * pace * rate) * share
    end = own_setpoint + span
    if own_dirty < end - span / 4:
        ratio *= (end - own_dirty) / span
    else:
        ratio /= 4
    reserve = own_limit / 2
    if own_dirty < reserve:
        ratio *= min(8.0, reserve / own_dirty) if own_dirty > 0 else 8.0
    return ratio


class _Writer:
    """What a device's throttle knows of one task."""

    __slots__ = ("dirtied", "pause_bytes", "paused_at")

    def __init__(self, now: float) -> None:
        self.dirtied = 0
        self.pause_bytes = LEAST_BYTES
        self.paused_at = now


class DirtyBalance:
    """The throttle of one device's writers (the kernel's bdi_writeback).

    Parameters
    ----------
    engine
        The clock.
    memory
        The host's dirty memory.

    Attributes
    ----------
    held
        Bytes of the device that are dirty or under write-back.
    rate, rate_limit
        What it writes, smoothed, and what one writer may dirty at the setpoint (bytes/s).
    pauses
        How often a writer was made to sleep.
    """

    __slots__ = (
        "_balanced",
        "_dirtied",
        "_dirtied_before",
        "_engine",
        "_looked_at",
        "_memory",
        "_recent",
        "_recent_rate",
        "_under_way",
        "_writers",
        "_written",
        "_written_before",
        "held",
        "pauses",
        "rate",
        "rate_limit",
    )

    def __init__(self, engine: Engine, memory: DirtyMemory) -> None:
        self._engine = engine
        self._memory = memory
        self.held = 0
        self.pauses = 0
        self.rate = self.rate_limit = self._balanced = self._recent_rate = float(FIRST_RATE)
        self._recent = Recent()
        self._writers: dict[int, _Writer] = {}
        self._under_way = self._dirtied = self._dirtied_before = self._written = self._written_before = 0
        self._looked_at = engine.now

    def dirtied(self, size: int) -> None:
        """`size` more bytes of the device are dirty."""
        self.held += size
        self._dirtied += size

    def dropped(self, size: int) -> None:
        """Subtract dirty bytes that are gone without having been written."""
        self.held -= size

    def submitted(self, size: int) -> None:
        """`size` bytes are under write-back."""
        now = self._engine._now
        if not self._under_way and now - self._looked_at > _INTERVAL_S * self._memory.limits.pace:
            self._start_again(now)  # it was idle, which says nothing about how fast it is
        self._under_way += size

    def written(self, size: int) -> None:
        """`size` bytes have reached the device."""
        self._under_way -= size
        self.held -= size
        self._written += size
        period = self._period
        self._recent.add(size, period)
        self._memory.recent.add(size, period)

    @property
    def _period(self) -> int:
        return int(self._engine._now / (_PERIOD_S * self._memory.limits.pace))

    @property
    def share(self) -> float:
        """The device's share of what all devices have written lately."""
        period = self._period
        everything = self._memory.recent.at(period)
        return self._recent.at(period) / everything if everything > 0 else 0.0

    def _start_again(self, now: float) -> None:
        self._looked_at = now
        self._dirtied_before, self._written_before = self._dirtied, self._written

    def throttle(self, writer: int, size: int) -> Generator[Any, Any, None]:
        """Make the task `writer` (its stream), which has just dirtied `size` bytes, pause as often as it has to."""
        task = self._writers.get(writer)
        if task is None:
            task = self._writers[writer] = _Writer(self._engine._now)
        task.dirtied += size
        while task.dirtied >= task.pause_bytes:
            pause_s = self._look(task)
            if pause_s > 0:
                self.pauses += 1
                yield self._engine.timeout(pause_s)

    def _look(self, task: _Writer) -> float:
        """What balance_dirty_pages does once: for how long (s) the writer sleeps now; 0 for not at all."""
        engine, memory = self._engine, self._memory
        now, limits, dirty = engine._now, memory.limits, memory.counted
        limit, freerun = limits.limit, limits.freerun
        if dirty <= freerun:
            task.paused_at = now
            task.dirtied = 0
            task.pause_bytes = max(LEAST_BYTES, math.isqrt(max(0, limit - dirty) // PAGE) * PAGE)
            return 0.0
        memory.start_write_back()
        ratio = position_ratio(dirty, freerun, limit, self.held, self.share, self.rate, limits.pace)
        if now - self._looked_at > _INTERVAL_S * limits.pace:
            self._update(now, ratio, dirty < (freerun + limit) // 2)
        rate = self.rate_limit * ratio
        longest = min(LONGEST_PAUSE_S, self.held / self.rate * _POOL_S + _TICK_S)
        least, pause_bytes = self._least_pause(longest, rate)
        if rate < PAGE:
            task.paused_at = now + longest
            return longest  # and then it is looked at again: nobody goes on at the limit
        size = min(task.dirtied, task.pause_bytes)
        period = size / rate
        pause = period - (now - task.paused_at)
        task.dirtied -= size
        if pause < least:
            if pause < -_GAP_S:
                task.paused_at = now
                task.dirtied = 0
            else:
                task.paused_at += period
            return 0.0
        credit = min(max(0.0, pause - longest), longest)
        pause = min(pause, longest)
        task.paused_at = now + credit + pause
        task.pause_bytes = pause_bytes
        return pause

    def _least_pause(self, longest: float, rate: float) -> tuple[float, int]:
        """How long (s) a pause is worth the trouble, and after how many bytes the writer is looked at again."""
        target = _USUAL_PAUSE_S
        higher = math.log2(max(1.0, self.rate / PAGE)) // 1 - math.log2(max(1.0, self.rate_limit / PAGE)) // 1
        if higher > 0:  # many writers: each pauses longer, and less often
            target += int(higher) * 10 * _HERTZ // 1024 * _TICK_S
        target = min(target, _TICK_S + longest / 2)
        size = self.rate_limit * target * _HERTZ / 256
        if size < LEAST_BYTES:
            target = longest
            size = self.rate_limit * target * _HERTZ / 256
            if size > LEAST_BYTES:
                size = float(LEAST_BYTES)
                target = LEAST_BYTES / self.rate_limit
        if size / (rate + PAGE) > longest:
            target = longest
            size = rate * target * _HERTZ / 256
        pages = int(size) // PAGE
        least = _TICK_S + target / 2 if pages * PAGE >= LEAST_BYTES else target
        return least, max(1, pages) * PAGE

    def _update(self, now: float, ratio: float, below_setpoint: bool) -> None:
        """Follow what the device writes and what its writers dirty."""
        elapsed = now - self._looked_at
        self._update_limit((self._dirtied - self._dirtied_before) / elapsed, ratio, below_setpoint)
        memory_s = _MEMORY_S * self._memory.limits.pace
        written = self._written - self._written_before
        if elapsed > memory_s:
            self._recent_rate = self.rate = max(float(PAGE), written / elapsed)
        else:
            # Bursts are filtered out: the average moves only when old and new are on the same side of it.
            old, new = self._recent_rate, (written + self._recent_rate * (memory_s - elapsed)) / memory_s
            average = self.rate
            if average > old >= new:
                average -= (average - old) / 8
            if average < old <= new:
                average += (old - average) / 8
            self._recent_rate, self.rate = new, max(float(PAGE), average)
        self._start_again(now)

    def _update_limit(self, dirty_rate: float, ratio: float, below_setpoint: bool) -> None:
        """Move the rate limit towards what makes all writers together dirty as much as the device writes."""
        limit = int(self.rate_limit) // PAGE
        task = int(limit * ratio) + 1
        device = int(self.rate) // PAGE
        balanced = min(device, task * device // (int(dirty_rate) // PAGE or 1))
        before = int(self._balanced) // PAGE
        step = 0
        if below_setpoint:
            step = max(0, min(before, balanced, task) - limit)
        else:
            step = max(0, limit - max(before, balanced, task))
        shift = limit // (2 * step + 1)
        step = -(-(step >> shift) // 8) if shift < 64 else 0
        limit += step if limit < balanced else -step
        self.rate_limit = float(max(1, limit) * PAGE)
        self._balanced = float(balanced * PAGE)
