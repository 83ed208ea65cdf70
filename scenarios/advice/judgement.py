"""Compares a simulation of a design with a requirement's limits.

A design meets a limit if the whole 90 % interval keeps it, and fails if none of the interval does; if part of it does,
the design is too close to call. So it is if the simulation has not settled: a cache that is still filling takes every
write at once, and nothing in the latencies says that this will end.
"""

from __future__ import annotations

from math import inf, isfinite

from ...model.files.quantities import format_duration
from ..description.scenario import ScenarioSpec
from ..designs.requirement import RequirementSpec
from .bounds.bounds import design_facts
from .bounds.drive_times import drive_time
from .runs import Measured
from .verdict import Status, Verdict

_CLEARLY = 2.0
"""A percentile without interval that is so many times the limit is beyond it."""


def judged(requirement: RequirementSpec, spec: ScenarioSpec, measured: Measured) -> Verdict:
    """Compare a simulation of a design with the limits.

    Parameters
    ----------
    requirement
        Whose limits.
    spec
        The design's scenario.
    measured
        The simulation.
    """
    needed = drive_time(spec).demand(measured.task.iops).visits
    status: Status = "meets"
    reasons: list[str] = []
    near: list[str] = []
    brief = measured.task.kind == "brief"
    seems = not measured.saturated
    if measured.saturated:
        status = "fails"
        reasons.append(f"saturated, serves {measured.iops:,.0f} IOPS")
    for op in requirement.load.ops:
        for kind in ("p99", "mean"):
            limit = requirement.limits.of(op, kind)
            estimate = measured.latencies.get(f"{op}_{kind}")
            if limit is None or estimate is None:
                continue
            known = isfinite(estimate.half_width)
            low = estimate.low if known else estimate.mean / _CLEARLY
            high = estimate.high if known else inf
            what = f"{op} {kind}"
            if estimate.mean > limit:
                seems = False
            if low > limit or (kind == "p99" and op in measured.late):
                status = "fails"
                more = " and rising" if brief else ""
                reasons.append(f"{what} {format_duration(estimate.mean)}{more}")
            elif high > limit:
                status = worse(status, "close")
                width = format_duration(estimate.half_width) if known else "?"
                near.append(f"{what} {format_duration(estimate.mean)} ± {width}, limit {format_duration(limit)}")
    if not measured.settled and not measured.saturated:
        status = worse(status, "close")
        near.append("not settled within the longest run")
    why = tuple(reasons if status == "fails" else near)
    return Verdict(measured.task.design, design_facts(spec, requirement), status, why, (), measured, needed, seems)


def is_known(requirement: RequirementSpec, measured: Measured) -> bool:
    """Whether there are intervals of all that is limited."""
    limits = requirement.limits
    return all(
        isfinite(each.half_width)
        for name, each in measured.latencies.items()
        if limits.of(*name.split("_")) is not None
    )


def worse(one: Status, other: Status) -> Status:
    """The worse of two."""
    order: tuple[Status, ...] = ("meets", "close", "fails")
    return max(one, other, key=order.index)
