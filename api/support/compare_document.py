"""A comparison as one JSON object."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from ...model.statistics.batch_means import Estimate
from ...scenarios.comparison.side_by_side import CONFIDENCE, Comparison, Measured, Settings
from ...scenarios.questions.load_curve import CurvePoint, LoadCurve


def comparison_document(title: str, found: Comparison, settings: Settings, span: int | None) -> dict[str, Any]:
    """All that a comparison knows, in SI units; what is infinite or unknown is null."""
    return {
        "name": title,
        "confidence": CONFIDENCE,
        "replications": found.replications,
        "precision": settings.precision,
        "precise": found.precise,
        "baseline": found.baseline,
        "span_bytes": span,
        "designs": [_design(each) for each in found.designs],
    }


def _design(each: Measured) -> dict[str, Any]:
    design = each.design
    head = {"number": design.number, "name": design.name, "values": design.values, "refused": design.refused}
    if each.facts is None:
        return head
    return {
        **head,
        "facts": {**dataclasses.asdict(each.facts), "cost_per_tb": each.facts.cost_per_tb},
        "cost_per_iops": each.cost_per_iops,
        "figures": {name: _estimate(estimate) for name, estimate in each.estimates.items()},
        "replications": each.figures,
        "against_baseline": {name: _estimate(estimate) for name, estimate in each.against.items()},
        "bottleneck": each.bottleneck,
        "utilization": each.utilization,
        "saturated": each.saturated,
        "offered_iops": each.offered_iops,
        "lost_iops": each.lost_iops,
        "settled": each.settled,
        **({"ssd_caches": [dataclasses.asdict(cache) for cache in each.ssd_caches]} if each.ssd_caches else {}),
        "rebuild_s": _finite(each.rebuild_s),
        "rebuild": None
        if each.rebuild is None
        else {k: _finite(v) if isinstance(v, float) else v for k, v in dataclasses.asdict(each.rebuild).items()},
        "rebuild_stands_still": each.rebuild_s is not None and math.isinf(each.rebuild_s),
        "rebuild_refused": each.rebuild_refused,
        "data_loss": None if each.risk is None else {k: _finite(v) for k, v in dataclasses.asdict(each.risk).items()},
        "unknown_failure_rates": list(each.unknown_rates),
        "power": None if each.power is None else each.power.document(),
        "rule_of_thumb": None if each.rule is None else {**dataclasses.asdict(each.rule), "iops": each.rule.iops},
        "curve_refused": each.curve_refused,
        "curve": None if each.curve is None else curve_document(each.curve),
        **_on_controllers(each),
    }


def _on_controllers(each: Measured) -> dict[str, Any]:
    """What only designs on hardware controllers have."""
    if each.design.spec is None or not any(array.controller for array in each.design.spec.arrays.values()):
        return {}
    lost = each.without_battery
    known = None if lost is None else {**dataclasses.asdict(lost), "holds_s": each.holds_s}
    return {"waits": each.waits, "without_battery": known}


def _estimate(estimate: Estimate) -> dict[str, float | None]:
    known = math.isfinite(estimate.half_width)
    return {
        "mean": _finite(estimate.mean),
        "low": estimate.low if known else None,
        "high": estimate.high if known else None,
    }


def curve_document(curve: LoadCurve) -> dict[str, Any]:
    """A load curve, in SI units."""
    return {
        "saturation_iops": curve.saturation_iops,
        "knee": None if curve.knee is None else _point(curve.knee),
        "points": [_point(point) for point in curve.points],
    }


def _point(point: CurvePoint) -> dict[str, Any]:
    return {**dataclasses.asdict(point), "lost_iops": point.lost_iops, "power": point.power}


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
