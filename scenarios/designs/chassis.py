"""What drives are put into: bays, height in the rack, power and price of one, as in a requirement."""

from __future__ import annotations

from pydantic import Field

from ...model.files.description import Spec


class ChassisSpec(Spec):
    """What drives are put into; as many of them as the drives need."""

    bays: int = Field(ge=1, le=1000)
    """Drives that one takes."""
    rack_units: float = Field(gt=0, le=100)
    """Height of one in the rack."""
    watts: float = Field(default=0.0, ge=0)
    """What one takes without drives (W)."""
    price: float = Field(default=0.0, ge=0)
    """What one costs."""

    def needed(self, drives: int) -> int:
        """How many are needed for a number of drives."""
        return -(-drives // self.bays)
