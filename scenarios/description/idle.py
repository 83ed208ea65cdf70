"""No workload: a machine that nobody uses."""

from __future__ import annotations

from typing import Literal

from ...model.files.description import Duration, PositiveDuration, Spec


class IdleSpec(Spec):
    """Nothing: the machine does what it does by itself, a rebuild or a check.

    Attributes
    ----------
    targets
        Arrays that do something. Only a study has to name them, whose runs have the devices that they use.
    warm_up, duration
        Simulated time before the measurement, and of the measurement.
    """

    kind: Literal["idle"]
    targets: tuple[str, ...] = ()
    warm_up: Duration = 1.0
    duration: PositiveDuration = 10.0
