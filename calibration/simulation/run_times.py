"""How long runs are expected to take: what is begun first, and how much time is left.

What is expected are CPU times that were measured on another machine, maybe with another model. The first runs that are
done tell how much faster or slower this one is.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from statistics import median

_UNKNOWN_S = 1.0
"""Expected of a run if nothing is known of any."""


class RunTimes:
    """Expected times of runs.

    Parameters
    ----------
    expected_s
        CPU time (s) of each run, by its hash; None where nobody has measured it. It counts as the median of the others.
    workers
        Processes that share the runs.
    """

    def __init__(self, expected_s: Mapping[str, float | None], workers: int) -> None:
        known = [seconds for seconds in expected_s.values() if seconds is not None]
        usual = median(known) if known else _UNKNOWN_S
        self._left = {key: usual if seconds is None else max(seconds, 1e-3) for key, seconds in expected_s.items()}
        self._workers = max(1, workers)
        self.total_s = math.fsum(self._left.values())
        self._done_s = self._taken_s = 0.0
        self._told_at = time.monotonic()

    @property
    def share(self) -> float:
        """How much of the work is done (0 to 1)."""
        return self._done_s / self.total_s if self.total_s else 1.0

    def order(self, groups: Sequence[Sequence[str]]) -> list[str]:
        """The order in which to begin runs, given the hashes of those of each study.

        Studies that take little go first, so that they are complete early; of a study, the longest runs. A run that
        would take longer than a fair share of all that is left is begun before everything else, so that no process
        waits for it in the end.
        """
        ranked = sorted(groups, key=lambda group: math.fsum(self._left[key] for key in group))
        by_study = dict.fromkeys(key for group in ranked for key in sorted(group, key=lambda key: -self._left[key]))
        longest_first = sorted(by_study, key=lambda key: -self._left[key])
        left_s = math.fsum(self._left[key] for key in by_study)
        order: list[str] = []
        while by_study:
            while longest_first and longest_first[0] not in by_study:
                longest_first.pop(0)
            longest = longest_first[0]
            key = longest if self._left[longest] * self._workers > left_s else next(iter(by_study))
            del by_study[key]
            left_s -= self._left[key]
            order.append(key)
        return order

    def done(self, key: str, wall_s: float) -> None:
        """Note that a run is done, and how long it took (s); 0 if it was not simulated now."""
        expected_s = self._left.pop(key, 0.0)
        if wall_s > 0:
            self._done_s += expected_s
            self._taken_s += wall_s
        else:
            self.total_s -= expected_s
        self._told_at = time.monotonic()

    def left_s(self) -> float:
        """Time (s) until all runs are done."""
        pace = self._taken_s / self._done_s if self._done_s else 1.0
        in_all_s = pace * math.fsum(self._left.values()) / self._workers
        longest_s = pace * max(self._left.values(), default=0.0)
        return max(0.0, max(in_all_s, longest_s) - (time.monotonic() - self._told_at))
