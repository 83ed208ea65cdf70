"""The place of a drive behind a controller, as one or several outputs tell it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SeatState = Literal["in use", "failed", "missing", "rebuilding", "spare", "free"]


@dataclass(slots=True)
class Seat:
    """The place of a drive behind a controller.

    Attributes
    ----------
    controller
        Its name.
    state
        What the drive does there; "spare", or "free" if it is in no array.
    group, span, arm
        Number of the drive group, of the inner array in it, and of the place in that.
    """

    controller: str
    state: SeatState
    group: int | None = None
    span: int = 0
    arm: int | None = None

    def learn(self, other: Seat) -> None:
        """Take over what another output knows better."""
        if self.state == "free":
            self.state = other.state
        if self.group is None:
            self.group = other.group
        if self.arm is None and other.arm is not None:
            self.span, self.arm = other.span, other.arm
