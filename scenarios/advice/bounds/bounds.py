"""Why a design cannot meet a requirement, known without simulating it.

Every bound here is one that no simulation of the design can beat, so that nothing that would do is refused:

=========== ============================================================================ =====================
bound       formula                                                                      from
=========== ============================================================================ =====================
capacity    usable bytes of the layout, also for what the load reaches                   array facts
failures    losses survived, whichever they are                                          array facts
budget      prices of drives, controller, machine and chassis                            array facts
room        rack units, and watts of drives and chassis                                  arithmetic
links       I/Os x bytes <= rate of the controller's host link, of a drive's interface   arithmetic
latency     seek and turn from the best place, and the turn of a read-modify-write       :mod:`.positioning_bound`
drive time  I/Os x (visits x least positioning + transfer) <= number of drives           :mod:`.arm_time`
            of solid-state drives what their busiest part does for them                  :mod:`.flash_time`
=========== ============================================================================ =====================
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from ....model.core.exact_sums import sum_in_order
from ....model.files.quantities import format_duration
from ...comparison.array_facts import ArrayFacts, array_facts
from ...description.scenario import ScenarioSpec
from ...designs.designs import Design
from ...designs.requirement import RequirementSpec
from ...designs.room import room
from .drive_times import drive_time

Bound = Literal["capacity", "failures", "budget", "rack units", "power", "links", "latency", "drive time", "headroom"]
TOO_MANY: tuple[Bound, ...] = ("budget", "rack units", "power")
"""Bounds that fewer drives keep; all others more drives do."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A bound that a design does not keep.

    Attributes
    ----------
    bound
        Which.
    text
        In words, with what is needed and what there is.
    needed, there_is
        The numbers, in SI units.
    commands, most_iops
        Of "drive time": drive commands per second, and I/Os per second that are not exceeded.
    """

    bound: Bound
    text: str
    needed: float
    there_is: float
    commands: float | None = None
    most_iops: float | None = None


def refusals(spec: ScenarioSpec, requirement: RequirementSpec) -> list[Refusal]:
    """Every bound that the design does not keep, those first that say most."""
    facts = design_facts(spec, requirement)
    return [*_facts(facts, requirement), *_links(spec, requirement), *_arms(spec, requirement)]


def design_facts(spec: ScenarioSpec, requirement: RequirementSpec) -> ArrayFacts:
    """The facts of a design; with a file system its files have what that does not keep for itself."""
    facts = array_facts(spec)
    if requirement.file_system is None:
        return facts
    kept = requirement.file_system.kept_bytes(facts.usable_bytes)
    return replace(facts, usable_bytes=max(0, facts.usable_bytes - kept))


def _facts(facts: ArrayFacts, requirement: RequirementSpec) -> Iterator[Refusal]:
    if facts.survives_any < requirement.survives:
        wanted, there = _failures(requirement.survives), _failures(facts.survives_any)
        text = f"survives {there} for sure, not {wanted.split()[0]}"
        yield Refusal("failures", text, requirement.survives, facts.survives_any)
    if requirement.capacity is not None and facts.usable_bytes < requirement.capacity:
        text = f"holds {facts.usable_bytes / 1e12:.3g} TB of the {requirement.capacity / 1e12:.3g} TB required"
        yield Refusal("capacity", text, requirement.capacity, facts.usable_bytes)
    if requirement.load.span is not None and facts.usable_bytes < requirement.load.span:
        text = f"holds {facts.usable_bytes / 1e12:.3g} TB of the {requirement.load.span / 1e12:.3g} TB the load reaches"
        yield Refusal("capacity", text, requirement.load.span, facts.usable_bytes)
    if requirement.budget is not None and facts.cost is not None and facts.cost > requirement.budget:
        text = f"costs {facts.cost:,.0f}, above the budget of {requirement.budget:,.0f}"
        yield Refusal("budget", text, facts.cost, requirement.budget)


def room_refusals(design: Design, requirement: RequirementSpec) -> list[Refusal]:
    """What a design takes more of than there may be: rack units and power."""
    found, taken = [], room(design, requirement)
    most = requirement.rack_units
    if most is not None and taken.rack_units is not None and taken.rack_units > most:
        text = f"takes {taken.rack_units:g} rack units, above {most:g}"
        found.append(Refusal("rack units", text, taken.rack_units, most))
    most = requirement.power
    if most is not None and taken.watts is not None and taken.watts > most:
        found.append(
            Refusal(
                "power",
                f"takes {taken.watts:,.0f} W with all but hot spares busy, above {most:,.0f} W",
                taken.watts,
                most,
            )
        )
    return found


def _failures(count: int) -> str:
    return "no failure" if not count else f"{count} failure{'s' if count > 1 else ''}"


def _links(spec: ScenarioSpec, requirement: RequirementSpec) -> Iterator[Refusal]:
    time = drive_time(spec)
    iops = requirement.load.total_iops
    moved = {
        op: iops * time.shares[op] * sum_in_order(size * share for size, share in time.sizes[op].items())
        for op in ("read", "write")
    }
    most = max(moved.values())
    if time.controller is not None and most > time.controller.host_rate:
        taken = time.controller.host_rate
        text = f"moves {most / 1e6:,.0f} MB/s one way; {time.controller.model} takes {taken / 1e6:,.0f}"
        yield Refusal("links", text, most, taken)
    channels = [spec.machine.channels[spec.machine.drives[name].channel].rate for name in time.below.members]
    rate = min(time.drive.interface_rate, *channels)
    per_drive = moved["write"] / time.members
    if not time.writes_back and per_drive > rate:
        text = f"writes {per_drive / 1e6:,.0f} MB/s to each drive; its cable takes {rate / 1e6:,.0f}"
        yield Refusal("links", text, per_drive, rate)


def _arms(spec: ScenarioSpec, requirement: RequirementSpec) -> Iterator[Refusal]:
    time, limits, load = drive_time(spec), requirement.limits, requirement.load
    for op in load.ops:
        for kind in ("p99", "mean"):
            limit = limits.of(op, kind)
            least = time.least_latency(op, kind) if limit is not None else 0.0
            if limit is not None and least > limit:
                text = f"{op} {kind} {format_duration(least)} or more on idle drives"
                yield Refusal("latency", text, least, limit)
    demand = time.demand(load.total_iops, limits)
    if demand.busy > time.members:
        per_drive = demand.visits / time.members
        most = time.most_iops(limits)
        text = f"{per_drive:,.0f} commands per second for each drive, {1e3 * demand.each_s:.2g} ms or more each"
        if not time.drive.rotational:
            text = f"{per_drive:,.0f} commands per second for each drive, which serves {1 / demand.each_s:,.0f} at most"
        yield Refusal("drive time", text, demand.busy, time.members, demand.visits, most)
    elif requirement.headroom is not None:
        most = time.most_iops()
        if math.isfinite(most) and load.total_iops > requirement.headroom * most:
            share = f"{100 * requirement.headroom:.0f} % of {most:,.0f}, its most at best"
            text = f"{load.total_iops:,.0f} IOPS are above {share}"
            yield Refusal("headroom", text, load.total_iops, requirement.headroom * most)
