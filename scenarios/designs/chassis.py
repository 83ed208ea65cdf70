"""What drives are put into: bays, height in the rack, power and price of one, as in a requirement."""

from __future__ import annotations

from pydantic import Field

from ...model.files.description import Spec


class ChassisSpec(Spec):
    """What drives are put into; as many of them as the drives need.

    Attributes
    ----------
    bays
        Drives that one takes.
    rack_units
        Height of one in the rack.
    watts
        What one takes without drives (W).
    price
        What one costs.
    """

    bays: int = Field(ge=1, le=1000)
    rack_units: float = Field(gt=0, le=100)
    watts: float = Field(default=0.0, ge=0)
    price: float = Field(default=0.0, ge=0)

    def needed(self, drives: int) -> int:
        """How many are needed for a number of drives."""
        return -(-drives // self.bays)
