"""Drives that a design may be built of: of one kind, or pairs of two kinds that mirror each other."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from ...model.core.errors import InputError
from ...model.drives.catalogue import AnyDrive, drive
from ...model.drives.power import PowerClass, power_class
from ...model.drives.power import watts as drive_watts
from ...model.files.description import Spec, refusal
from ...model.files.description_errors import changed

MOST_DRIVES = 256
"""Of one design: more are several arrays."""
_RANGE = re.compile(r"\s*(\d{1,4})\s*-\s*(\d{1,4})\s*")
_ALLOWED_COUNTS = f"expected: 12, [8, 12, 16] or 4-24, from 1 to {MOST_DRIVES}"


def _counts(value: Any) -> Any:
    """Numbers of drives from a number, a range or a list of either."""
    parts = value if isinstance(value, (list, tuple)) else [value]
    found: set[int] = set()
    for part in parts:
        match = _RANGE.fullmatch(part) if isinstance(part, str) else None
        if match is not None:
            low, high = int(match[1]), int(match[2])
        elif isinstance(part, int) and not isinstance(part, bool):
            low = high = part
        else:
            raise refusal(repr(part)[:60], _ALLOWED_COUNTS)
        if not 1 <= low <= high <= MOST_DRIVES:
            raise refusal(repr(part)[:60], _ALLOWED_COUNTS)
        found.update(range(low, high + 1))
    if not found:
        raise refusal("no number of drives", _ALLOWED_COUNTS)
    return tuple(sorted(found))


Counts = Annotated[tuple[int, ...], BeforeValidator(_counts)]
"""Numbers of drives, in rising order: ``12``, ``4-24``, ``[8, 12, 16-20]``."""


class DriveKind(Spec):
    """A drive in the catalogue, and what one costs and takes."""

    model: str
    """Name in the catalogue of drives."""
    price: float | None = Field(default=None, ge=0)
    """What one costs."""
    watts: float | None = Field(default=None, gt=0)
    """What one takes (W), idle or busy, in place of what the catalogue says of it or of its class."""
    overrides: dict[str, Any] = Field(default_factory=dict)
    """Fields of the catalogue's entry that are different."""

    @model_validator(mode="after")
    def _known(self) -> Self:
        check_entry(drive, self.model, self.overrides)
        return self

    def spec(self) -> AnyDrive:
        """The catalogue's drive with the overrides."""
        return drive(self.model).with_values(**self.overrides) if self.overrides else drive(self.model)

    def document(self) -> dict[str, Any]:
        """One of them, as a scenario has it."""
        found: dict[str, Any] = {"model": self.model}
        if self.price is not None:
            found["price"] = self.price
        if self.overrides:
            found["overrides"] = self.overrides
        return found

    def power(self, busy: float) -> float | None:
        """What one takes (W) at a utilization; None if there is no figure."""
        return drive_watts(self.spec(), busy) if self.watts is None else self.watts

    @property
    def power_class(self) -> PowerClass | None:
        """The class whose power is taken for it; None if it has its own."""
        return power_class(self.spec()) if self.watts is None else None


class DriveChoice(DriveKind):
    """A drive that may be used, and how many there may be; or the two kinds of mirrored pairs."""

    count: Counts
    """How many there may be: a number, a range, or a list."""
    mirror: DriveKind | None = None
    """The second drive of every mirrored pair; the other levels cannot be built of this choice."""

    @property
    def kinds(self) -> tuple[DriveKind, ...]:
        """Its kinds of drives, which take turns in an array."""
        return (self,) if self.mirror is None else (self, self.mirror)

    @property
    def words(self) -> str:
        """What it is called."""
        return " + ".join(each.model for each in self.kinds)

    @property
    def identity(self) -> str:
        """What tells it from every other choice."""
        return repr([(each.model, each.overrides) for each in self.kinds])

    def machine_drives(self, members: int, spares: int) -> dict[str, Any]:
        """The drives as a scenario has them: a group of equal ones, or each by its name. Spares are the first kind."""
        if self.mirror is None:
            return {**self.document(), "count": members + spares}
        kinds = [self.kinds[number % 2] for number in range(members)] + [self] * spares
        return {f"disk{number}": each.document() for number, each in enumerate(kinds)}

    def write_mostly(self, members: int) -> list[str]:
        """Hard disks that mirror solid-state drives, which md reads only if it must."""
        rotational = [each.spec().rotational for each in self.kinds]
        if all(rotational) or not any(rotational):
            return []
        return [f"disk{number}" for number in range(members) if rotational[number % 2]]


def check_entry(catalogue: Any, model: str, overrides: Mapping[str, Any]) -> None:
    """Refuse what the catalogue does not have, and overrides that its entries do not take."""
    try:
        entry = catalogue(model)
    except InputError as error:
        raise refusal(f"{model!r} is {error.found}", error.expected, ("model",)) from None
    try:
        changed(entry, overrides, units_required=True)
    except InputError as error:
        field = (error.place,) if error.place else ()
        raise refusal(error.found.removeprefix("found "), error.expected, ("overrides", *field)) from None
