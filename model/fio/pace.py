"""When a rate-limited fio job may do its next I/O (backend.c of fio 3.33: usec_for_io; io_u.c: rate_ddir).

After every I/O the job computes when the next one of the same direction is due: in proportion to the bytes sent, at the
rate, or a Poisson process. It never looks back: a job that was late catches up at full speed.
"""

from __future__ import annotations

import math

from ..programs.fio.random import Tausworthe
from ..programs.fio.timing import Rates

_MICROSECONDS = 1e6


class Pace:
    """The rate limit of one job.

    Parameters
    ----------
    rates
        Its limits.

    Attributes
    ----------
    due_s
        When the next read, write and trim may begin (s after the start).
    """

    __slots__ = ("_bytes", "_drawn_us", "_random", "_rates", "due_s", "limited")

    def __init__(self, rates: Rates) -> None:
        self._rates = rates
        self.limited = rates.limited
        self._random = [Tausworthe(seed) for seed in rates.seeds]
        self.due_s = [0.0, 0.0, 0.0]
        self._bytes = [0, 0, 0]
        self._drawn_us = [0, 0, 0]

    def restart(self) -> None:
        """The clock begins again: the ramp time is over, or a new pass begins."""
        self.due_s = [0.0, 0.0, 0.0]
        self._bytes = [0, 0, 0]
        self._drawn_us = [0, 0, 0]

    def issued(self, op: int, size: int) -> None:
        """An I/O has been submitted."""
        rate = self._rates.bytes_per_second[op]
        if not rate:
            return
        self._bytes[op] += size
        if self._rates.poisson:
            iops = max(1, rate // self._rates.smallest[op])
            uniform = (self._random[op].draw() + 1.0) / Tausworthe.span
            self._drawn_us[op] += int(int(_MICROSECONDS / iops) * -math.log(uniform))
            self.due_s[op] = self._drawn_us[op] / _MICROSECONDS
        else:
            self.due_s[op] = math.floor(self._bytes[op] / rate * _MICROSECONDS) / _MICROSECONDS

    def direction(self, op: int, other: int, elapsed_s: float) -> int:
        """Of a mixed job: `op`, unless the other direction is due before."""
        due = self.due_s
        if due[op] <= elapsed_s:
            return op
        if due[other] <= elapsed_s or due[other] < due[op]:
            return other
        return op

    def thought(self, op: int, pause_s: float) -> None:
        """The job has paused: with ``rate_ignore_thinktime`` it does not have to catch up."""
        rate = self._rates.bytes_per_second[op]
        if rate and self._rates.ignores_thinking:
            self._bytes[op] += max(0, int(rate * pause_s) - self._rates.smallest[op])
            self._drawn_us[op] += int(pause_s * _MICROSECONDS)
