"""The power that the drives of a machine take under a load, from their data sheets, or those of drives of their class,
and their simulated utilization.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ....model.core.exact_sums import sum_in_order
from ....model.drives.power import kwh_a_year, power_class, watts
from ....model.statistics.usage import DRIVES, Usage
from ...description.scenario import ScenarioSpec


@dataclass(frozen=True, slots=True)
class DrivePower:
    """The power of all drives of a machine, without the rest of it.

    Attributes
    ----------
    drives
        How many they are.
    watts
        At the utilization of the run (W); None if the catalogue has no figure for one of them.
    idle_watts, active_watts
        With all of them idle, and all of them busy.
    unknown
        Models for which the catalogue has no figure, nor for their class.
    all_unknown
        Whether it has none for any of them.
    assumed
        Models that are taken for drives of their class, by the factor that those differ by.
    """

    drives: int
    watts: float | None
    idle_watts: float | None
    active_watts: float | None
    unknown: tuple[str, ...] = ()
    all_unknown: bool = False
    assumed: Mapping[str, float] = field(default_factory=dict)

    @property
    def kwh_a_year(self) -> float | None:
        """Energy of a year under this load (kWh)."""
        return None if self.watts is None else kwh_a_year(self.watts)

    def document(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {
            "drives": self.drives,
            "watts": self.watts,
            "idle_watts": self.idle_watts,
            "active_watts": self.active_watts,
            "kwh_a_year": self.kwh_a_year,
            "unknown": list(self.unknown),
            "assumed": dict(self.assumed),
        }


def drive_power(spec: ScenarioSpec, usages: Iterable[Usage]) -> DrivePower:
    """The power of a scenario's drives.

    Parameters
    ----------
    spec
        The scenario.
    usages
        Of its parts in a run; a drive that is not among them is idle.
    """
    busy = _busy(usages)
    drives = spec.machine.drives
    specs = {name: instance.spec() for name, instance in drives.items()}
    classes = {drives[name].model: power_class(each) for name, each in specs.items()}
    missing = [drives[name].model for name, each in specs.items() if watts(each, 0.0) is None]

    def together(shares: Mapping[str, float], otherwise: float) -> float | None:
        found = [watts(each, shares.get(name, otherwise)) for name, each in specs.items()]
        known = [each for each in found if each is not None]
        return sum_in_order(known) if known and len(known) == len(found) else None

    return DrivePower(
        len(specs),
        together(busy, 0.0),
        together({}, 0.0),
        together({}, 1.0),
        tuple(dict.fromkeys(missing)),
        len(missing) == len(specs),
        {model: each.spread for model, each in classes.items() if each is not None},
    )


def _busy(usages: Iterable[Usage]) -> dict[str, float]:
    """Share of the time that each drive was busy."""
    return {usage.name: usage.utilization for usage in usages if usage.kind in DRIVES}
