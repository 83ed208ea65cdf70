"""What it costs a program to send I/Os and to take their completions, by the way it asks the kernel.

A program sleeps when it has nothing to do, so what it costs to be woken is not a price of an I/O: whoever finds the
next completion there already pays nothing for it. With one I/O outstanding that makes no difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .prices import NotedPrices

IoEngine = Literal["psync", "libaio", "io_uring"]
"""Names that fio has for pread and pwrite, for io_submit and io_getevents, and for io_uring_enter."""


@dataclass(frozen=True, slots=True)
class Submission:
    """CPU time of a program.

    Attributes
    ----------
    submit_s
        To submit an I/O and to take its completion (s).
    wake_s
        To be woken after it has slept (s).
    """

    submit_s: float
    wake_s: float


def submission(prices: NotedPrices, engine: IoEngine | None = None) -> Submission:
    """What it costs with an I/O engine; without one as with io_submit or a call of its own."""
    call_s = prices.uring_call_s if engine == "io_uring" else prices.read_call_s
    return Submission(call_s + prices.bio_s, prices.switch_s)
