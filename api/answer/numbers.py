"""How numbers are written for people: three digits that count, the unit of their size, and the interval next to it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from ...model.statistics.batch_means import Estimate

_SIZES = (("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3))
_LEAST_LIKELY = 1e-9
"""Probability below which no figure is given: nobody has watched drives for that long."""
_MOST_YEARS = 10_000


@dataclass(frozen=True, slots=True)
class Sure:
    """A value, and half of its 90 % interval; NaN or infinite where that is not known."""

    value: float
    half: float

    @classmethod
    def of(cls, estimate: Estimate | None) -> Sure | None:
        """An estimate of a simulation; None if there is none."""
        return None if estimate is None else cls(estimate.mean, estimate.half_width)


def places_of(value: float) -> int:
    """Decimal places with which a number has three significant digits."""
    return min(9, max(0, 2 - math.floor(math.log10(abs(value))))) if value else 0


def number(value: float) -> str:
    """A number with three digits that count, and no fewer before the point.

    >>> number(1234.5), number(0.0123456), number(float("inf"))
    ('1,234', '0.0123', 'inf')
    """
    if not value or not math.isfinite(value):
        return f"{value:g}"
    return f"{value:,.{places_of(value)}f}"


def known_number(value: float) -> str:
    """The same; "unknown" for what is infinite or no number."""
    return number(value) if math.isfinite(value) else "unknown"


def fixed(places: int, unit: str = "") -> Callable[[float], str]:
    """Write numbers with `places` decimal places and commas between thousands."""
    return lambda value: f"{value:,.{places}f}{unit}"


COUNT = fixed(0)
PERCENT = fixed(0, " %")
PERCENTS = fixed(1, " %")


def percent(share: float) -> str:
    """A share of 1 in percent, with two digits."""
    return f"{100 * share:.2g} %" if share < 1 else f"{100 * share:.0f} %"


def milliseconds(seconds: float) -> str:
    """A time in ms with three digits."""
    return f"{number(1e3 * seconds)} ms"


def megabytes(rate: float) -> str:
    """A rate in MB/s with three digits."""
    return f"{number(rate / 1e6)} MB/s"


def decimal_size(size: float) -> str:
    """Bytes in the unit that drives are sold by (1 TB = 10^12 bytes)."""
    for unit, factor in _SIZES:
        if size >= factor:
            return f"{number(size / factor)} {unit}"
    return f"{size:,} bytes"


def watts(power: float) -> str:
    """A power with three digits."""
    return f"{power:,.0f} W" if power >= 100 else f"{power:.3g} W"


def spread(value: float, half: float) -> str:
    """Half of an interval as a share of the value; "" where it is not known."""
    return "" if not math.isfinite(half) or not value else f" ± {percent(half / abs(value))}"


def with_spread(show: Callable[[float], str]) -> Callable[[Sure], str]:
    """Write a value and its interval in percent: "3.442 ± 6.4 %"."""
    return lambda sure: f"{show(sure.value)}{spread(sure.value, sure.half)}"


def with_half(show: Callable[[float], str]) -> Callable[[Sure], str]:
    """Write a value and half of its interval alike: "213 ±1.20"."""
    return lambda sure: show(sure.value) + (f" ±{show(sure.half)}" if math.isfinite(sure.half) else "")


def with_interval(sure: Sure) -> str:
    """A value and its interval, as many digits of it as are known: "213.4 ±1.2"."""
    value, half = sure.value, sure.half
    if not math.isfinite(half):
        return known_number(value)
    places = places_of(half) - 1 if half else places_of(value)
    places = max(0, min(places, places_of(value) + 1))
    return f"{value:,.{places}f} ±{half:,.{places}f}"


def counted(count: int, what: str, several: str = "") -> str:
    """A number of things: "1 run", "1,000 runs"."""
    return f"{count:,} {what if count == 1 else several or f'{what}s'}"


def probability(value: float) -> str:
    """A probability as people compare it, with two digits, as no more are known.

    >>> [probability(value) for value in (0, 2.2e-11, 3.1e-7, 0.0032, 0.46)]
    ['0', 'under 1 in 1,000,000,000', '1 in 3,200,000', '1 in 310', '46 in 100']
    """
    if not value:
        return "0"
    if value < _LEAST_LIKELY:
        return f"under 1 in {1 / _LEAST_LIKELY:,.0f}"
    return f"{100 * value:.0f} in 100" if value >= 0.1 else f"1 in {float(f'{1 / value:.2g}'):,.0f}"


def once_in(years: float) -> str:
    """Years between losses of data, with two digits; nobody knows a failure rate well enough for very many.

    >>> [once_in(years) for years in (1666, 2.4, 16e6)]
    ['1,700 years', '2.4 years', 'over 10,000 years']
    """
    if years > _MOST_YEARS:
        return f"over {_MOST_YEARS:,} years"
    rounded = float(f"{years:.2g}")
    return f"{rounded:,.0f} years" if rounded >= 10 else f"{rounded:g} years"


def listed(words: list[str] | tuple[str, ...]) -> str:
    """Words with "and" before the last one."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
