"""What is known of arrays before they are simulated: what they hold, which failures they survive, what they cost."""

from __future__ import annotations

from dataclasses import dataclass

from ...model.core.exact_sums import sum_in_order
from ..description.scenario import ScenarioSpec
from .redundancy import separate_parts


@dataclass(frozen=True, slots=True)
class ArrayFacts:
    """Facts of all arrays of a scenario together.

    Attributes
    ----------
    usable_bytes, raw_bytes
        What can be stored, and what all drives of the machine hold.
    survives_any
        Drives that may be lost, whichever they are, without losing data; of a degraded array further drives.
    survives_at_most
        Drives that may be lost if they are the right ones.
    cost
        Of all drives and controllers, and of the machine if its price is given; None if the price of a drive or
        controller is missing, or all are.
    drives
        Number of drives in the machine.
    """

    usable_bytes: int
    raw_bytes: int
    survives_any: int
    survives_at_most: int
    cost: float | None
    drives: int

    @property
    def cost_per_tb(self) -> float | None:
        """Cost of a usable terabyte (10^12 bytes)."""
        return None if self.cost is None else self.cost / (self.usable_bytes / 1e12)


def array_facts(spec: ScenarioSpec) -> ArrayFacts:
    """The facts of a scenario's arrays (of its drives, if it has none)."""
    tops = separate_parts(spec)
    drives = spec.machine.drives
    return ArrayFacts(
        usable_bytes=sum(part.capacity for part in tops),
        raw_bytes=sum(drive.spec().capacity for drive in drives.values()),
        survives_any=max(0, min((part.fewest_fatal for part in tops), default=0) - 1),
        survives_at_most=sum(part.most_survived for part in tops),
        cost=_cost(spec),
        drives=len(drives),
    )


def _cost(spec: ScenarioSpec) -> float | None:
    machine = spec.machine
    prices = [drive.price for drive in machine.drives.values()]
    prices += [controller.price for controller in machine.controllers.values()]
    known = [price for price in prices if price is not None]
    if not known or len(known) < len(prices):
        return None
    return sum_in_order(known) + (machine.price or 0.0)
