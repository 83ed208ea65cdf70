"""One measured number of a report in SI units, and what the units of a report are."""

from __future__ import annotations

from dataclasses import dataclass

from .document import Conventions, Use
from .figures import SI_VALUES, Unit


@dataclass(frozen=True, slots=True)
class Cell:
    """One measured number of a report.

    Attributes
    ----------
    run, figure
        Which simulation gives it, and how it is called there.
    measured, unit
        As the report prints it.
    value
        The same in SI units: bytes/s, 1/s, s, or a share of 1.
    seconds
        How long the run took, where the report has it in addition to the rate.
    within
        Of a measured 0: the largest prediction that agrees with it, in the report's unit.
    unit_value
        SI value of one of the report's unit; None: as `value` and `measured` have it.
    """

    id: str
    use: Use
    run: str
    figure: str
    measured: float
    unit: Unit
    value: float
    seconds: float | None = None
    within: float | None = None
    unit_value: float | None = None

    @property
    def scale(self) -> float:
        """SI value of one of the report's unit."""
        return self.value / self.measured if self.unit_value is None else self.unit_value

    @property
    def name(self) -> str:
        """``RUN:FIGURE``, as claims name it."""
        return f"{self.run}:{self.figure}"


def unit_value(unit: Unit, conventions: Conventions) -> float | None:
    """SI value of 1 of a unit; None if the conventions do not say it."""
    kilo, mega = conventions.KB, conventions.MB
    giga = None if mega is None else mega * (1000 if mega == 10**6 else 1024)
    by_convention: dict[Unit, float | None] = {"MB/s": mega, "KB/s": kilo, "GB/s": giga}
    return by_convention[unit] if unit in by_convention else SI_VALUES[unit]
