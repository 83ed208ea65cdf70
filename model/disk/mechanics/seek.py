"""How long the arm needs to move: a square root for short seeks, a straight line for long ones.

C. Ruemmler and J. Wilkes, "An introduction to disk drive modeling", IEEE Computer 27(3), 1994: short
seeks are dominated by acceleration (time grows as the square root of the distance), long ones by a coast
at constant speed. A data sheet gives three points of that curve, and with a joint that is smooth in value and
slope they determine it: track-to-track (distance 1), full stroke (the largest distance) and average, which
is the mean over all pairs of cylinders (Hitachi Travelstar 5K320 specification, 4.4.2.1: the weighted average of
all possible seeks). A write begins only when the head has settled better than a read needs, hence its settle time.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import pairwise
from math import sqrt
from typing import Any

import numpy as np
from mypy_extensions import i64

from ...core.brent import find_zero
from ...core.errors import ModelError
from ...core.exact_sums import sum_of_products
from ...core.search import COMPILED


class SeekTimes:
    """Seek time (s) by distance in cylinders, in either direction."""

    __slots__ = ()

    def __getitem__(self, distance: i64) -> float:
        raise NotImplementedError


class Curve(SeekTimes):
    """Times that are worked out when they are asked for, with the very operations that make a table of them."""

    __slots__ = ("_coast_from", "_coast_s", "_settle_s", "_slope", "_square_root", "_start_s")

    def __init__(self, coast_from: float, start_s: float, square_root: float, slope: float, settle_s: float) -> None:
        self._coast_from = coast_from
        self._start_s = start_s
        self._square_root = square_root
        self._coast_s = start_s + square_root * sqrt(coast_from) / 2
        self._slope = slope
        self._settle_s = settle_s

    def __getitem__(self, distance: i64) -> float:
        if distance == 0:
            return 0.0
        whole: int = distance if distance > 0 else -distance
        cylinders = float(whole)
        if cylinders <= self._coast_from:
            return self._start_s + self._square_root * sqrt(cylinders) + self._settle_s
        return self._coast_s + self._slope * cylinders + self._settle_s


class _Table(SeekTimes):
    """Times that were measured."""

    __slots__ = ("_times",)

    def __init__(self, times: list[float]) -> None:
        self._times = times

    def __getitem__(self, distance: i64) -> float:
        return self._times[distance if distance > 0 else -distance]


class SeekCurve:
    """Seek time by distance in cylinders.

    Parameters
    ----------
    cylinders
        Number of cylinders; the longest seek is one less.
    track_to_track_s, average_s, full_stroke_s
        Seek times (s) of a read.
    write_settle_s
        What a write needs beyond that (s).

    Raises
    ------
    ModelError
        If no such curve passes through the three times.
    """

    __slots__ = ("coast_from", "cylinders", "read", "slope", "square_root", "start_s", "write", "write_settle_s")

    read: SeekTimes
    write: SeekTimes

    def __init__(
        self,
        cylinders: int,
        track_to_track_s: float,
        average_s: float,
        full_stroke_s: float,
        write_settle_s: float = 0.0,
    ) -> None:
        if cylinders < 3:
            raise ModelError(f"seek curve: {cylinders} cylinders; at least 3")
        if not 0 <= track_to_track_s <= average_s <= full_stroke_s or write_settle_s < 0:
            raise ModelError(
                f"seek curve: track-to-track {track_to_track_s:g} s, average {average_s:g} s, full stroke "
                f"{full_stroke_s:g} s, write settle {write_settle_s:g} s; not negative, the first three ascending"
            )
        self.cylinders = cylinders
        self.write_settle_s = write_settle_s
        longest = float(cylinders - 1)
        distances, chances = _random_distances(cylinders)

        def curve(joint: float) -> tuple[float, float, float]:
            """Constant a and factor b of a + b sqrt(d), and slope e of the line that touches it at `joint`."""
            root = sqrt(joint)
            factor = (full_stroke_s - track_to_track_s) / (root / 2 + longest / (2 * root) - 1)
            return track_to_track_s - factor, factor, factor / (2 * root)

        def times(joint: float, at: np.ndarray) -> Any:
            start, factor, slope = curve(joint)
            short = start + factor * np.sqrt(at)
            return np.where(at <= joint, short, start + factor * sqrt(joint) / 2 + slope * at)

        def excess(joint: float) -> float:
            return sum_of_products(times(joint, distances), chances) - average_s

        if full_stroke_s == track_to_track_s:
            self.coast_from, self.start_s, self.square_root, self.slope = longest, track_to_track_s, 0.0, 0.0
        else:
            low, high = excess(1.0), excess(longest)
            tolerance = 1e-9 + 1e-3 * average_s
            if low > tolerance or high < -tolerance:
                raise ModelError(
                    f"seek curve: average {average_s:g} s does not lie on a curve from {track_to_track_s:g} s to "
                    f"{full_stroke_s:g} s; expected: {average_s + low:.6g} to {average_s + high:.6g} s"
                )
            if low >= 0:
                joint = 1.0
            elif high <= 0:
                joint = longest
            else:
                joint = find_zero(excess, 1.0, longest, absolute=1e-6, relative=1e-12)
            self.coast_from = joint
            self.start_s, self.square_root, self.slope = curve(joint)
        if COMPILED:
            self.read, self.write = self._curve(0.0), self._curve(write_settle_s)
            return
        all_distances = np.arange(cylinders, dtype=float)
        read = times(self.coast_from, all_distances) if self.square_root else np.full(cylinders, track_to_track_s)
        write = read + write_settle_s
        read[0] = write[0] = 0.0
        self.read, self.write = _mirrored(read), _mirrored(write)

    def _curve(self, settle_s: float) -> SeekTimes:
        """What the head of a compiled drive looks up: reads, with `settle_s` (s) more."""
        return Curve(self.coast_from, self.start_s, self.square_root, self.slope, settle_s)

    def time_s(self, distance: int) -> float:
        """Read seek (s) over `distance` cylinders in either direction, at most the full stroke."""
        return self.read[distance]

    def table(self, writes: bool) -> np.ndarray:
        """Seek times (s) of all distances, from 0 on."""
        times = self.write if writes else self.read
        return np.array([times[distance] for distance in range(self.cylinders)])


class MeasuredSeeks(SeekCurve):
    """Seek times measured at some distances, with straight lines between them.

    Parameters
    ----------
    cylinders
        Number of cylinders; the longest seek is one less.
    points
        Distances (cylinders), ascending from 1, and the seek times (s) of reads measured there.
    write_points
        The same of writes; those of reads plus the settle time if not given.
    write_settle_s
        What a write needs beyond a read (s).
    """

    __slots__ = ()

    def __init__(
        self,
        cylinders: int,
        points: Sequence[tuple[int, float]],
        write_points: Sequence[tuple[int, float]] = (),
        write_settle_s: float = 0.0,
    ) -> None:
        self.cylinders = cylinders
        self.write_settle_s = write_settle_s
        self.coast_from = self.start_s = self.square_root = self.slope = 0.0
        read = _between(cylinders, points)
        write = _between(cylinders, write_points) if write_points else read + write_settle_s
        read[0] = write[0] = 0.0
        self.read, self.write = (_Table(times.tolist()) if COMPILED else _mirrored(times) for times in (read, write))


def _between(cylinders: int, points: Sequence[tuple[int, float]]) -> np.ndarray:
    """Seek times (s) by distance, on straight lines between the measured points."""
    distances = [float(distance) for distance, _ in points]
    if distances[0] != 1 or any(near >= far for near, far in pairwise(distances)):
        raise ModelError(f"seek points: distances {distances[:4]}...; expected: ascending, from 1 cylinder")
    if distances[-1] > cylinders - 1:
        raise ModelError(
            f"seek points: {distances[-1]:g} cylinders; expected: at most {cylinders - 1}, the longest seek"
        )
    times = [time for _, time in points]
    return np.asarray(np.interp(np.arange(cylinders, dtype=float), distances, times))


def _mirrored(times: np.ndarray) -> Any:
    """Times by distance in both directions: a negative index counts from the end, so no abs() is needed.

    This is what the interpreter looks up fastest. An array instead of a list, because a list of this length and its
    numbers would not fit the processor's cache.
    """
    return array("d", np.concatenate([times, times[:0:-1]]).tobytes())


def _random_distances(cylinders: int) -> tuple[np.ndarray, np.ndarray]:
    """Distances between two random cylinders, and the chance of each: 2 (1 - x) at a share x of the stroke."""
    bins = min(cylinders - 1, 4096)
    shares = (np.arange(bins) + 0.5) / bins
    chances = 1.0 - shares
    return np.maximum(shares * (cylinders - 1), 1.0), chances / chances.sum()
