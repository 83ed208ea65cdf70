"""What a rebuild costs: how long it takes under the load, and what the load loses to it.

The scenario is run as it is, with the rebuild; once more degraded but without the rebuild; and whole. All three see
the same stream of requests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...model.core.errors import InputError
from ..description.any_workload import IdleSpec
from ..description.scenario import ScenarioSpec
from ..machine.observer import UNOBSERVED, Observer
from ..running.base.prediction import Prediction
from ..running.base.run import Run
from ..running.base.sample import Sample
from ..running.simulate import simulate
from .rebuild_remedies import RebuildRemedy


@dataclass(frozen=True, slots=True)
class RebuildComparison:
    """A rebuild under a load.

    Attributes
    ----------
    rebuilding, degraded, whole
        What the load gets during the rebuild, with the members lost but nothing being rebuilt, and before anything
        was lost.
    remedies
        The rebuild with other settings, where these were tried.
    """

    rebuilding: Prediction
    degraded: Prediction
    whole: Prediction
    remedies: tuple[RebuildRemedy, ...] = ()

    @property
    def duration_s(self) -> float:
        """How long the slowest rebuild takes from beginning to end under the load (s)."""
        return max(each.duration_s for each in self.rebuilding.rebuilds if each.moves_data)

    @property
    def what(self) -> str:
        """What it is called: a "rebuild", or a "reshape" where nothing is rebuilt."""
        return "reshape" if all(each.action == "reshape" for each in self.rebuilding.rebuilds) else "rebuild"

    @property
    def lost_members(self) -> bool:
        """Whether the array is another one without the rebuild and before the failure: not if it is only reshaped."""
        return self.whole is not self.degraded

    @property
    def loss(self) -> float:
        """Share of the degraded array's throughput that the load loses to the rebuild."""
        return 1.0 - self.rebuilding.rate / self.degraded.rate

    @property
    def loss_to_failure(self) -> float:
        """Share of the whole array's throughput that the load loses to the missing members alone."""
        return 1.0 - self.degraded.rate / self.whole.rate


def compare_rebuild(
    scenario: ScenarioSpec,
    sample: Sample | None = None,
    watch: Callable[[Run], None] | None = None,
    observer: Observer = UNOBSERVED,
) -> RebuildComparison:
    """Run a scenario with a rebuild, without it, and without the failure; `sample` and `watch` as for `simulate`.

    `observer` sees the run with the rebuild.

    Raises
    ------
    InputError
        If nothing is being rebuilt in the scenario, or nothing loads it.
    """
    if not scenario.rebuilds:
        allowed = "expected: an array or a pool with `failed` and `rebuilding`, or an array that is being reshaped"
        raise InputError("arrays", "no member is being rebuilt", allowed)
    if isinstance(scenario.workload, IdleSpec):
        raise InputError("workload.kind", "found idle", "expected: a load, which a rebuild can slow down")
    degraded = scenario.with_each(lambda each: each.at_rest() if each.moves_data else each)
    whole = scenario.with_each(lambda each: each.whole() if each.moves_data else each)
    rebuilding = simulate(scenario, sample, watch, observer)
    without = simulate(degraded, sample, watch)
    return RebuildComparison(rebuilding, without, without if whole == degraded else simulate(whole, sample, watch))
