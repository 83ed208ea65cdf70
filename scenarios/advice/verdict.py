"""What is known of a design: whether it meets the requirement, and why not."""

from __future__ import annotations

from dataclasses import dataclass
from math import expm1, inf
from typing import Literal

from ..comparison.array_facts import ArrayFacts
from ..comparison.reliability import LossRisk
from ..designs.designs import Design
from .bounds.bounds import Refusal
from .runs import Measured

Status = Literal["meets", "close", "beaten", "fails"]


@dataclass(frozen=True, eq=False)
class Verdict:
    """What is known of a design.

    Attributes
    ----------
    design, facts
        What it is, and what holds without simulation.
    status
        "meets", "close" (part of an interval is beyond a limit, or it has not settled), "beaten" (after its brief run
        another chunk is clearly faster, so it was not run further) or "fails".
    reasons
        Why it does not.
    refusals
        Bounds that it does not keep; it was not simulated then.
    measured
        The last simulation under the load.
    needed
        Drive commands per second that the load needs at least.
    seems
        Whether it keeps the limits but for the intervals.
    full_at
        About as many I/Os per second as it serves if it is too slow, from a brief run with as many as it takes.
    saturation
        The simulation with as many I/Os as it takes; None if it was not run, or memory takes too long to fill.
    rule_iops
        I/Os per second of a pool at most, by the rule of thumb; None if it was not asked.
    without_battery
        Whether it keeps the limits with the controller's battery lost; None if it does not depend on one.
    risk, rebuild_s
        Risk of losing data, and time to rebuild a member (s) under the load; None if not known.
    """

    design: Design
    facts: ArrayFacts
    status: Status
    reasons: tuple[str, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    measured: Measured | None = None
    needed: float = 0.0
    seems: bool = False
    full_at: float | None = None
    saturation: Measured | None = None
    rule_iops: float | None = None
    without_battery: Verdict | None = None
    risk: LossRisk | None = None
    rebuild_s: float | None = None

    @property
    def loss_per_year(self) -> float | None:
        """Probability of losing data within a year, in the long run; None if not known."""
        return None if self.risk is None else -expm1(-self.risk.losses_per_year)

    @property
    def saturates_at(self) -> float | None:
        """I/Os per second of which more do not get through."""
        return self.saturation.iops if self.saturation is not None and self.saturation.settled else None

    @property
    def worst_p99(self) -> float:
        """The slower p99 (s) of reads and writes."""
        if self.measured is None:
            return inf
        found = [each.mean for name, each in self.measured.latencies.items() if name.endswith("p99")]
        return max(found, default=inf)


@dataclass(frozen=True)
class Attainable:
    """The most I/Os per second that a design of the requirement's drives serves within the limits."""

    verdict: Verdict
    iops: float
