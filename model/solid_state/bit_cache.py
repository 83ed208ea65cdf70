"""Cells written with one bit first (the SLC cache), and folded into the others later.

One bit is programmed several times as fast as three or four. So a drive writes to cells with one bit while there
are some, and moves (folds) the oldest of it to the others when the dies have nothing else to do. A burst is
fast until the cells are used up, then writes go to the other cells at once. Data overwritten before they are folded are
never written a second time.

What was folded in idle time is worked out when the next write comes: the time for which the dies had nothing
booked since the last look, at the price of a read with one bit and a program with all bits for each unit. Where only a
limited number of dies may program at once, the power that programs left over limits it too.

Sources: Micron, "Optimized client computing with dynamic write acceleration" (technical brief, 2014); Samsung,
"TurboWrite technology" (white paper, 2013): the cache is emptied in idle time, and passed by when it is full.

Limits: folding in idle time does not delay reads; pages wasted by flushes do not use up the cells; erasing them takes
no time.
"""

from __future__ import annotations

from typing import Final

from .flash import Flash
from .spec import SolidStateSpec
from .translation import Translation

_LOOK_S: Final = 1e-3
"""How long (s) idle time adds up before it is used."""


class BitCache:
    """The cells with one bit.

    Parameters
    ----------
    spec
        The drive.
    flash, translation
        Where folding is booked, and what it does to the map.
    """

    __slots__ = (
        "_busy_s",
        "_flash",
        "_fold_s",
        "_look_again",
        "_looked",
        "_power_s",
        "_powered_s",
        "_room",
        "_translation",
        "_unit",
    )

    def __init__(self, spec: SolidStateSpec, flash: Flash, translation: Translation) -> None:
        self._flash = flash
        self._translation = translation
        self._unit = spec.mapping_unit
        self._room = spec.slc_cache // spec.mapping_unit
        line = spec.planes * spec.page // spec.mapping_unit
        # Of one unit: power, and the die's time.
        self._power_s = spec.program_time / (line * spec.bits_per_cell)
        on_die = self._power_s + flash.cached_read_s / line
        on_channel = 2 * spec.mapping_unit / spec.channel_rate
        self._fold_s = max(on_die, on_channel * spec.dies / spec.channels)
        self._looked = self._look_again = 0.0
        self._busy_s = self._powered_s = 0.0

    def takes(self, now: float, units: int) -> bool:
        """Whether `units` that are written now go to cells with one bit."""
        if now >= self._look_again:
            self._fold_idle(now)
        return self._translation.cached_units + units <= self._room

    def _fold_idle(self, now: float) -> None:
        """Fold what the dies had time for since the last look."""
        self._look_again = now + _LOOK_S
        flash = self._flash
        idle_s = (now - self._looked) * len(flash.dies) - (flash.die_busy_s - self._busy_s)
        if idle_s <= 0:
            return  # what is booked reaches into the future
        units = idle_s / self._fold_s
        limited = flash.programs_at_once < len(flash.dies)
        if limited:
            power_s = (now - self._looked) * flash.programs_at_once - (flash.powered_s - self._powered_s)
            if power_s <= 0:
                return
            units = min(units, power_s / self._power_s)
        if self._translation.cached_units:
            moved = self._translation.fold(int(units))
            flash.folded_s += moved * self._fold_s
            if limited:
                flash.powered_s += moved * self._power_s
            flash.programmed_bytes += moved * self._unit
        self._looked = now
        self._busy_s = flash.die_busy_s
        self._powered_s = flash.powered_s
