"""What `raidsim advise --json` prints."""

from __future__ import annotations

import math
from typing import Any

from ...scenarios.advice.advice import Advice
from ...scenarios.advice.runs import Measured
from ...scenarios.advice.verdict import Verdict
from ...scenarios.designs.requirement import RequirementSpec
from ...scenarios.designs.room import Room, room


def room_at_load(verdict: Verdict, wanted: RequirementSpec) -> Room:
    """What a design takes at the required load; with all drives busy if it was not simulated."""
    return room(verdict.design, wanted, 1.0 if verdict.measured is None else verdict.measured.busy)


def document(advice: Advice) -> dict[str, Any]:
    """The answer as plain data: SI units, shares of 1."""

    def told(verdict: Verdict) -> dict[str, Any]:
        taken, most = room_at_load(verdict, advice.requirement), room(verdict.design, advice.requirement)
        return _verdict(verdict) | {
            "rack_units": taken.rack_units,
            "watts": taken.watts,
            "watts_all_busy": most.watts,
            "kwh_a_year": taken.kwh_a_year,
            "energy_cost_a_year": taken.energy_cost_a_year,
        }

    return {
        "requirement": advice.requirement.model_dump(mode="json"),
        "meets": [told(each) | {"best": rank < advice.best} for rank, each in enumerate(advice.ranked)],
        "others": [told(each) for each in advice.verdicts if each.status != "meets"],
        "would_do": [told(each) for each in advice.would_do],
        "attainable": [told(each.verdict) | {"iops": each.iops} for each in advice.attainable],
        "chunks_alike": list(advice.alike),
        "impossible": [{"name": design.name, "reason": reason} for design, reason in advice.impossible],
        "left_out": [{"name": each.name, "reason": each.reason} for each in advice.left_out],
        "designs": advice.considered,
        "simulations": advice.simulations,
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    design, facts, measured = verdict.design, verdict.facts, verdict.measured
    family = design.family
    found: dict[str, Any] = {
        "name": design.name,
        "status": verdict.status,
        "level": family.level.level,
        "algorithm": family.level.algorithm,
        "copies": family.level.copies,
        "group_drives": family.group_drives,
        "drive": family.drive.words,
        "drives": design.drives,
        "spares": design.spares,
        "controller": None if family.controller.is_none else family.controller.model,
        "chunk": family.chunk if family.has_chunk or not family.level.is_pool else None,
        "usable_bytes": facts.usable_bytes,
        "survives_any": facts.survives_any,
        "survives_at_most": facts.survives_at_most,
        "cost": facts.cost,
        "reasons": list(verdict.reasons),
        "bounds": [
            {"bound": each.bound, "needed": _finite(each.needed), "there_is": _finite(each.there_is)}
            for each in verdict.refusals
        ],
        "saturation_iops": verdict.saturates_at,
        "rule_of_thumb_iops": verdict.rule_iops,
        "loss_per_year": verdict.loss_per_year,
        "loss_over_life": None if verdict.risk is None else verdict.risk.over_life,
        "rebuild_s": None if verdict.rebuild_s is None else _finite(verdict.rebuild_s),
    }
    lost = verdict.without_battery
    if lost is not None and lost.measured is not None:
        found["without_battery"] = {
            "status": lost.status,
            "reasons": list(lost.reasons),
            "latencies": _latencies(lost.measured),
        }
    if measured is not None:
        found |= {
            "latencies": _latencies(measured),
            "saturated": measured.saturated,
            "commands_per_s": measured.commands,
            "utilization": measured.busiest,
            "bottleneck": measured.bottleneck,
        }
    return found


def _latencies(measured: Measured) -> dict[str, Any]:
    return {
        name: {"mean_s": _finite(each.mean), "half_width_s": _finite(each.half_width)}
        for name, each in measured.latencies.items()
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
