"""What a sweep varies: lists and ranges of values, with units, on a grid or sampled.

Everything is computed in decimal arithmetic, whose logarithms and exponentials are rounded correctly, and the
numbers are the raw ones of a generator that is specified to the bit: a sweep has the same points on any machine and
with any release of the libraries.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal, localcontext
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.core.errors import InputError
from ...model.files.description import refusal
from ...model.files.quantities import (
    parse_fraction,
    parse_frequency,
    parse_power,
    parse_rate,
    parse_rotation,
    parse_size,
    parse_time,
)

Number = int | float
Cell = int | float | str
"""What stands in a table for a value: a number in SI units, or text."""

_PARSERS = {
    "size": (parse_size, "B"),
    "time": (parse_time, "s"),
    "rate": (parse_rate, "B/s"),
    "rotation": (parse_rotation, "rpm"),
    "frequency": (parse_frequency, "Hz"),
    "power": (parse_power, "W"),
    "share": (parse_fraction, None),
}
_SECTOR = 512
_DIGITS = 12
"""Significant digits of a value between the ends of a range: as many as nobody minds, and no dust behind them."""
_LEAST, _MOST = Decimal("1e-18"), Decimal("1e18")
_EXACT = Context(prec=60, rounding=ROUND_HALF_EVEN, Emin=-9999, Emax=9999)
_ROUNDED = Context(prec=_DIGITS, rounding=ROUND_HALF_EVEN, Emin=-9999, Emax=9999)


def quantity(value: object) -> tuple[str, Decimal] | None:
    """What a value measures ("size", "time", ... or "number") and how much in SI units; None if it is no quantity."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    if not isinstance(value, str):
        return "number", Decimal(repr(value))
    if not value[:1].isdecimal() and value[:1] != ".":
        return None
    for kind, (parse, _) in _PARSERS.items():
        if value.endswith("%") != (kind == "share"):
            continue  # 0 is 0 in any unit
        try:
            parsed = parse(value, "")
        except InputError:
            continue
        return kind, Decimal(repr(parsed))
    return None


def _number(kind: str, amount: Decimal) -> Number:
    """A number in SI units as a table holds it: bytes are whole."""
    return int(amount) if kind == "size" else float(amount)


@dataclass(frozen=True)
class Choices:
    """A list of values.

    Attributes
    ----------
    values
        As the scenario takes them.
    """

    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        if not self.values:
            raise refusal("an empty list", "expected: one value or more")
        seen: dict[Cell, int] = {}
        for i, value in enumerate(self.values):
            if not _is_finite(value):
                raise refusal("a number that is not finite", "expected: finite numbers, text, lists and mappings", (i,))
            cell = self.cell(value)
            if cell in seen and type(cell) is type(self.cell(self.values[seen[cell]])):
                raise refusal(f"{value!r} twice", "expected: each value once", (i,))
            seen[cell] = i

    @property
    def count(self) -> int:
        """How many values there are."""
        return len(self.values)

    def at(self, position: int) -> Any:
        """The value at a position of the grid."""
        return self.values[position]

    def sampled(self, share: float) -> Any:
        """The value at a share (0 to 1, less than 1) of the way through the list."""
        return self.values[min(int(share * len(self.values)), len(self.values) - 1)]

    @cached_property
    def _kind(self) -> str | None:
        """What all values measure; None if they are not all of one kind."""
        found = [quantity(value) for value in self.values]
        kinds = {each[0] if each is not None else None for each in found}
        if len(kinds) == 1:
            return kinds.pop()
        return None

    def cell(self, value: Any) -> Cell:
        kind = self._kind
        if kind is None:
            return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
        if kind == "number":
            whole = all(isinstance(each, int) for each in self.values)
            return int(value) if whole else float(value)
        measured = quantity(value)
        assert measured is not None
        return _number(kind, measured[1])

    def told(self) -> Any:
        """What says which values these are, as plain data."""
        return list(self.values)


class Range:
    """Values from one end to another.

    Parameters
    ----------
    first, last
        The ends, as they were written: numbers, or quantities with units.
    steps
        Values on a grid; None for a range that is sampled.
    log
        Equal distances are equal factors.
    step
        Values are multiples of this. Unless given, whole numbers and bytes are whole, and sizes whose ends are whole
        sectors of 512 bytes are so too.

    Raises
    ------
    PydanticCustomError
        About ends that mean nothing together.
    """

    def __init__(self, first: Cell, last: Cell, steps: int | None, log: bool = False, step: Cell | None = None) -> None:
        self.kind, self._whole, (self._low, self._high) = _ends(first, last)
        self._log = log
        self.count = steps or 0
        with localcontext(_EXACT):
            self._check_and_compute(first, last, step)

    def _check_and_compute(self, first: Cell, last: Cell, step: Cell | None) -> None:
        if not self._low < self._high:
            raise refusal(f"from {first} to {last}", "expected: from below to", ("to",))
        if self._log and not self._low > 0:
            raise refusal(f"from {first} with log: true", "expected: above 0, as every step is a factor", ("from",))
        self._step = self._default_step() if step is None else self._given_step(step)
        if self._step is not None:
            self._check_step(first, last)
        self._values = [self._on_grid(i) for i in range(self.count)]
        if len(set(self._values)) < self.count:
            self._refuse_doubles()

    def _default_step(self) -> Decimal | None:
        if self.kind == "size":
            sectors = not self._low % _SECTOR and not self._high % _SECTOR
            return Decimal(_SECTOR if sectors else 1)
        return Decimal(1) if self._whole else None

    def _given_step(self, step: Cell) -> Decimal:
        found = quantity(step)
        if found is None or (found[0] != self.kind and found[0] != "number") or not _LEAST <= found[1] <= _MOST:
            raise refusal(repr(step), f"expected: a {self.kind} above 0, as from and to are", ("step",))
        self._whole = self._whole and found[1] == int(found[1])
        return found[1]

    def _check_step(self, first: Cell, last: Cell) -> None:
        assert self._step is not None
        for name, end, written in (("from", self._low, first), ("to", self._high, last)):
            if end % self._step:
                raise refusal(f"{written}", f"expected: a multiple of the step, {self._written(self._step)}", (name,))
        if not self.count and self._whole and (self._high - self._low) / self._step < 2:
            found = f"from {first} to {last}, between which there is no whole number"
            fractions = f"or {float(self._low)} and {float(self._high)} for fractions"
            raise refusal(found, f"expected: a list of the two, {fractions}", ("to",))

    def _refuse_doubles(self) -> None:
        different = len(set(self._values))
        if self._whole:
            fractions = f"or from: {float(self._low)} for fractions"
            found = f"{self.count} steps, of which {different} are different whole numbers"
            raise refusal(found, f"expected: {different} at most, {fractions}", ("steps",))
        raise refusal(f"{self.count} steps, of which {different} are different", "expected: fewer steps", ("steps",))

    def at(self, position: int) -> Cell:
        """The value at a position of the grid."""
        return self._written(self._values[position])

    def sampled(self, share: float) -> Cell:
        """The value at a share (0 to 1, less than 1) of the range."""
        with localcontext(_EXACT):
            return self._written(self._at_share(Decimal(share)))

    def _at_share(self, exact: Decimal) -> Decimal:
        if self._log:
            return self._snapped(self._between(exact))
        if self._step is None:
            return _ROUNDED.plus(self._between(exact))
        # Every multiple is as likely as any other, also the two at the ends.
        last = (self._high - self._low) / self._step
        return self._low + self._step * min(last, (exact * (last + 1)).to_integral_value(ROUND_FLOOR))

    def _on_grid(self, position: int) -> Decimal:
        if not position:
            return self._low
        if position == self.count - 1:
            return self._high
        return self._snapped(self._between(Decimal(position) / (self.count - 1)))

    def _between(self, share: Decimal) -> Decimal:
        if not self._log:
            return self._low + (self._high - self._low) * share
        return self._low * ((self._high.ln() - self._low.ln()) * share).exp()

    def _snapped(self, value: Decimal) -> Decimal:
        if self._step is None:
            return _ROUNDED.plus(value)
        least = (self._low / self._step).to_integral_value(ROUND_CEILING)
        most = (self._high / self._step).to_integral_value(ROUND_FLOOR)
        return self._step * min(most, max(least, (value / self._step).to_integral_value(ROUND_HALF_EVEN)))

    def _written(self, value: Decimal) -> Cell:
        """A value as a scenario file has it."""
        number: Cell = int(value) if self.kind == "size" or self._whole else float(value)
        unit = _PARSERS[self.kind][1] if self.kind in _PARSERS else None
        return number if unit is None else f"{number}{unit}"

    def cell(self, value: Any) -> Cell:
        if not isinstance(value, str):
            number: Cell = value
            return number
        measured = quantity(value)
        assert measured is not None
        return _number(self.kind, measured[1])

    def told(self) -> Any:
        """What says which values these are, as plain data."""
        if self.count:
            return [self._written(value) for value in self._values]
        ends = {"from": self._written(self._low), "to": self._written(self._high), "log": self._log}
        return {**ends, "step": None if self._step is None else str(self._step)}


def _is_finite(value: object) -> bool:
    """Whether plain data holds no infinity and nothing that is no number."""
    if isinstance(value, Mapping):
        return all(_is_finite(inner) for inner in value.values())
    if isinstance(value, list):
        return all(_is_finite(inner) for inner in value)
    return not isinstance(value, float) or math.isfinite(value)


def _ends(first: Cell, last: Cell) -> tuple[str, bool, tuple[Decimal, Decimal]]:
    """What two ends measure, whether they are bare whole numbers, and how much they are."""
    found = []
    for name, end in (("from", first), ("to", last)):
        measured = quantity(end)
        if measured is None or not measured[1].is_finite():
            allowed = "expected: a number, or a quantity such as 64KiB, 8ms, 60MB/s or 30%"
            raise refusal(f"{end!r:.60}", allowed, (name,))
        if measured[1] and not _LEAST <= abs(measured[1]) <= _MOST:
            raise refusal(f"{end!r:.60}", f"expected: {_LEAST} to {_MOST}", (name,))
        found.append(measured)
    (kind, low), (other, high) = found
    if kind == "number" and (other == "size" or not low) and other != "number":
        kind = other  # bytes may be bare, and 0 is 0 in any unit
    if other == "number" and kind == "size":
        other = kind
    if kind != other:
        raise refusal(f"from {first}, a {kind}, to {last}, a {other}", "expected: two of one kind", ("to",))
    return kind, isinstance(first, int) and isinstance(last, int), (low, high)


def latin_hypercube(points: int, seed: int, path: str) -> NDArray[np.float64]:
    """Shares (0 to 1) of a range for each of `points`: one in every part of `points` equal ones, in random order.

    Every path has numbers of its own, so one more range leaves the others as they are. (McKay, Beckman and Conover,
    Technometrics 21 (1979), 239-245.)
    """
    name = int.from_bytes(hashlib.sha256(path.encode()).digest()[:16])
    raw = np.random.PCG64(np.random.SeedSequence([seed, name])).random_raw(2 * points)
    order = np.argsort(raw[:points], kind="stable")
    inside = (raw[points:] >> np.uint64(11)).astype(np.float64) * 2.0**-53
    shares: NDArray[np.float64] = (order + inside) / points
    return np.minimum(shares, np.nextafter(1.0, 0.0))


def canonical(data: Mapping[str, Any] | Sequence[Any]) -> str:
    """Plain data as the one JSON text that says it."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
