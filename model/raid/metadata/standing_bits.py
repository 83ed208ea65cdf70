"""Which bits of a write-intent bitmap are set in the midst of a load that writes evenly over a range.

A bit is set by the first write to its chunk and stays so until one or two passes of the daemon after the last one:
the counter of a chunk without writes under way is 2 after a write, 1 after the next pass, and 0 after one more. Until
as many bits are set as always will be, an array takes many more bitmap writes than it does later, and with millions of
chunks that lasts for minutes. But with writes to random places the number is known as soon as their rate is: they
come to a chunk as a Poisson process. So half a period after a pass as many bits are set as that says, of chunks chosen
at random.

Source: drivers/md/md-bitmap.c (md_bitmap_daemon_work).

Limits: writes that are not spread evenly set their bits as they come.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...core.engine import Engine
from .bitmap import WriteIntentBitmap

_LEAST_CHUNKS = 64
"""Chunks that the first writes have touched, below which nothing is known of where they go."""
_FAR = 2.0
"""Distance of an empirical distribution from its own, in units of one over the root of the sample, which chance hardly
ever reaches (Kolmogorov-Smirnov: one in a thousand)."""
_ERRORS = 4.0


class StandingBits:
    """Sets bits as if an array had been written for long as it is now.

    Fewer bits make an array slower, and then fewer bits stay set. So this is done several times, from all bits set.

    Parameters
    ----------
    bitmap
        The bitmap of the array, which nobody has written yet.
    engine
        Its clock.
    """

    def __init__(self, bitmap: WriteIntentBitmap, engine: Engine) -> None:
        self._bitmap = bitmap
        self._random = engine.streams.generator("bitmap/standing")
        self._among: range | None = None
        self._each = 1.0
        bitmap.open_long_ago()

    @property
    def look_s(self) -> float:
        """How long it may take until the rate of the writes is known (s)."""
        return self._bitmap.daemon_sleep_s / 2

    def stand(self, writes: int, rate: float) -> bool:
        """Set as many bits as there are in the midst of such a load; whether it was one that spreads evenly.

        Parameters
        ----------
        writes
            Writes to the array so far.
        rate
            Writes a second by now.
        """
        bitmap = self._bitmap
        among = self._among
        if among is None:
            touched = sorted(bitmap.idle_bits())
            evenly = _evenly(touched, writes)
            self._among = among = range(evenly.start, min(evenly.stop, bitmap.chunks))
            self._each = max(1.0, len(touched) / max(1, writes))  # chunks that a write touches
        if not among:
            bitmap.stands([], [])
            return False
        mean = rate * self._each * bitmap.daemon_sleep_s / len(among)
        after = -math.expm1(-mean / 2)
        before = (1.0 - after) * -math.expm1(-mean)
        added = round((after + before) * len(among)) - bitmap.bits_written
        if added <= 0:
            idle = bitmap.idle_bits()
            gone = self._random.choice(len(idle), min(-added, len(idle)), replace=False)
            bitmap.stands([], [], [idle[number] for number in gone.tolist()])
        else:
            drawn = self._random.choice(len(among), min(added + bitmap.bits_written, len(among)), replace=False)
            places = bitmap.unset((drawn + among.start).tolist())[:added]
            written = round(added * after / (after + before))
            bitmap.stands(places[:written], places[written:])
        return True


def _evenly(touched: Sequence[int], writes: int) -> range:
    """The range over which writes are spread evenly that have touched these chunks, in order; empty if they are not."""
    count = len(touched)
    if count < _LEAST_CHUNKS:
        return range(0)
    margin = round((touched[-1] - touched[0]) / count)
    among = range(max(0, touched[0] - margin), touched[-1] + margin + 1)
    size = len(among)
    again = writes - size * -math.expm1(writes * math.log1p(-1.0 / size))
    if writes - count > again + _ERRORS * (math.sqrt(again) + 1.0):
        return range(0)
    far = max(abs((place - touched[0]) / size - rank / count) for rank, place in enumerate(touched))
    return among if far * math.sqrt(count) < _FAR else range(0)
