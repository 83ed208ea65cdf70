"""How regularly the I/Os of a trace come: distances, and counts in windows of many lengths."""

from __future__ import annotations

import math

FIRST_WINDOW_S = 0.001
_LEVELS = 32
"""Windows of 1 ms to 24 days, each twice as long as the one before."""
_CLASSES_PER_DOUBLING = 2
SHORTEST_GAP_S = 1e-6


class Gaps:
    """Distances between I/Os: mean, variance and a histogram whose classes are half a doubling wide."""

    __slots__ = ("_classes", "_squares", "_sum", "number")

    def __init__(self) -> None:
        self.number = 0
        self._sum = 0.0
        self._squares = 0.0
        self._classes: dict[int, int] = {}

    def add(self, gap_s: float) -> None:
        """Note a distance."""
        self.number += 1
        self._sum += gap_s
        self._squares += gap_s * gap_s
        if gap_s <= SHORTEST_GAP_S:
            step = 0
        else:
            step = math.ceil(_CLASSES_PER_DOUBLING * math.log2(gap_s / SHORTEST_GAP_S))
        self._classes[step] = self._classes.get(step, 0) + 1

    @property
    def variation(self) -> float | None:
        """Coefficient of variation: standard deviation over mean; None if there is no mean above 0."""
        if not self._sum:
            return None
        mean = self._sum / self.number
        return math.sqrt(max(0.0, self._squares / self.number - mean * mean)) / mean

    def histogram(self) -> dict[float, float]:
        """Upper end (s) of each class and the share of the distances in it, without gaps between classes."""
        if not self._classes:
            return {}
        steps = range(min(self._classes) - 1, max(self._classes) + 1)
        shares = {step: self._classes.get(step, 0) / self.number for step in steps if step >= 0}
        return {SHORTEST_GAP_S * 2 ** (step / _CLASSES_PER_DOUBLING): share for step, share in shares.items()}


class Counts:
    """Numbers of I/Os in windows of doubling length, with their second and third moments."""

    __slots__ = ("_cubes", "_numbers", "_squares", "_windows", "total")

    def __init__(self) -> None:
        self.total = 0
        self._windows = [-1] * _LEVELS
        self._numbers = [0] * _LEVELS
        self._squares = [0] * _LEVELS
        self._cubes = [0] * _LEVELS

    def add(self, time_s: float) -> None:
        """Note an I/O; times do not go back."""
        window = int(time_s / FIRST_WINDOW_S)
        self.total += 1
        if window == self._windows[0]:
            self._numbers[0] += 1
            return
        over, number = self._windows[0], self._numbers[0]
        self._windows[0], self._numbers[0] = window, 1
        self._close(0, over, number)

    def moments(self, duration_s: float) -> list[tuple[float, float, float, float, float]]:
        """For each length (s) with 20 windows or more: how many windows, mean, variance and third central moment.

        Empty windows count as well. Nothing can be added after this.
        """
        for level in range(_LEVELS):
            number, self._numbers[level] = self._numbers[level], 0
            self._close(level, self._windows[level], number)
        found = []
        for level in range(_LEVELS):
            length_s = FIRST_WINDOW_S * 2**level
            windows = duration_s / length_s
            if windows < 20:
                break
            mean, square, cube = (total / windows for total in (self.total, self._squares[level], self._cubes[level]))
            found.append((length_s, windows, mean, square - mean**2, cube - 3 * mean * square + 2 * mean**3))
        return found

    def _close(self, level: int, window: int, number: int) -> None:
        """Note that a window is over; it becomes half of one of the next level, which may end another one there."""
        while number:
            self._squares[level] += number**2
            self._cubes[level] += number**3
            level += 1
            if level == _LEVELS:
                return
            window >>= 1
            if window == self._windows[level]:
                self._numbers[level] += number
                return
            over, ended = self._windows[level], self._numbers[level]
            self._windows[level], self._numbers[level] = window, number
            window, number = over, ended
