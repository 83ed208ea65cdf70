"""How far a run's figures may be off because no data sheet gives the firmware times of its controllers.

The catalogue says how far off such a time may be (``spread``, standard deviation of ln). Of a load that keeps its I/Os
outstanding the share of an I/O's time that it spends at the controller's processor is the elasticity of the mean
latency, and of the rate by Little's law: both change by this share of a change of the firmware times, while the queues
stay alike. Where the processor limits the rate, the rate is as uncertain as its times.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...model.controller.catalogue import controller_sources
from ...model.core.exact_sums import sum_in_order
from ...model.waits.causes import CAUSES, CONTROLLER, MD_THREAD
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.running.base.prediction import Prediction
from ...scenarios.running.base.waits import WaitTimes

TIMES = ("command", "fast_path", "drive_command")
"""Fields of a controller that most of its firmware time is made of."""
SATURATED = 0.95
"""A processor that is busier than this limits the rate."""
_LEAST = 0.01
"""Standard deviation of ln of a figure that is not worth telling."""


@dataclass(frozen=True, slots=True)
class ControllerSpread:
    """What the firmware times of a run's controllers leave open.

    Attributes
    ----------
    rate_sd, latency_sd
        Standard deviation of ln of the rate, and of the latency of the direction that depends most on them.
    models
        The controllers, by their names in the catalogue.
    times_sd
        Standard deviation of ln of their firmware times, the largest of them.
    """

    rate_sd: float
    latency_sd: float
    models: tuple[str, ...]
    times_sd: float


def firmware_sd(spec: ScenarioSpec, name: str) -> float:
    """Standard deviation of ln of a controller's firmware times: the largest that the catalogue has; 0 if none."""
    used = spec.machine.controllers[name]
    sources = controller_sources(used.model)
    spreads = [sources[field].spread for field in TIMES if field in sources and field not in used.overrides]
    return max((spread for spread in spreads if spread is not None), default=0.0)


def firmware_sds(spec: ScenarioSpec) -> dict[str, float]:
    """The same of all controllers that arrays stand on and that have one, by their names in the scenario."""
    used = sorted({array.controller for array in spec.arrays.values() if array.controller is not None})
    return {name: sd for name in used if (sd := firmware_sd(spec, name))}


def controller_spread(spec: ScenarioSpec, prediction: Prediction) -> ControllerSpread | None:
    """What the controllers' firmware times leave open of a run; None if they have next to no part in it.

    Of a scenario with arrays of the kernel as well nothing is told, because the times are not told apart.
    """
    sds = firmware_sds(spec)
    if not sds or any(array.controller is None for array in spec.arrays.values()):
        return None
    times_sd = max(sds.values())
    busy = {usage.name for usage in prediction.usages if usage.utilization > SATURATED}
    limits = any(f"{name} cpu" in busy for name in sds)
    shares = {op: _share(seconds) for op, seconds in prediction.waits.items()}
    rate_share, latency_share = (
        (1.0, 1.0) if limits else (_of_all(prediction, shares), max(shares.values(), default=0.0))
    )
    if latency_share * times_sd < _LEAST:
        return None
    models = tuple(spec.machine.controllers[name].model for name in sds)
    return ControllerSpread(rate_share * times_sd, latency_share * times_sd, models, times_sd)


def _share(seconds: WaitTimes) -> float:
    """Of the mean latency of one direction, what it spends at the processors of controllers, also for stripes."""
    own = seconds.get(CAUSES[CONTROLLER], 0.0)
    stripes = seconds.get(CAUSES[MD_THREAD], 0.0)
    return (own + stripes) / sum_in_order(seconds.values())


def _of_all(prediction: Prediction, shares: dict[str, float]) -> float:
    """The same of the time of all I/Os together."""
    times = {op: prediction.iops.get(op, 0.0) * sum_in_order(prediction.waits[op].values()) for op in shares}
    whole = sum_in_order(times.values())
    return sum_in_order(times[op] * share for op, share in shares.items()) / whole if whole else 0.0
