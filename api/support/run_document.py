"""The result of a run as a JSON document, and as rows of data frames."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from typing import Any

from ...calibration.uncertainty.model_interval import UNKNOWN, ModelInterval, RunIntervals
from ...model.statistics.batch_means import Estimate
from ...model.statistics.usage import Usage
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.designs.file_system_words import file_system_geometry
from ...scenarios.questions.rebuild_comparison import RebuildComparison
from ...scenarios.questions.rebuild_remedies import RebuildRemedy
from ...scenarios.questions.without_bottleneck import WithoutBottleneck
from ...scenarios.questions.without_waits import WithoutWait
from ...scenarios.running.base.power import drive_power
from ...scenarios.running.base.prediction import Prediction


def document(
    spec: ScenarioSpec,
    prediction: Prediction,
    found: RebuildComparison | None = None,
    without: WithoutBottleneck | None = None,
    intervals: RunIntervals = UNKNOWN,
    waits: Sequence[WithoutWait] = (),
) -> dict[str, Any]:
    """The result as a JSON document: SI units, names as in :class:`.Prediction`.

    A rebuild that did not move during the measurement has the duration null, and so has an interval that is not known.
    Of a scenario with file systems, `file_systems` has what mkfs chose. `relief` and `model_interval` are null where
    there is none, and so are the intervals of latencies. `waits` are seconds of the mean latency by cause;
    `wait_reliefs` has the run without each of the first causes, with their shares of the time of all I/Os.
    """
    result: dict[str, Any] = {"name": spec.name, "kernel": spec.kernel, **_prediction(prediction)}
    if spec.file_systems:
        result["file_systems"] = file_system_geometry(spec)
    result["power"] = drive_power(spec, prediction.usages).document()
    result["relief"] = None if without is None else _without_bottleneck(without)
    result["wait_reliefs"] = [
        {"causes": {wait.cause: wait.share for wait in each.waits}, **_without_bottleneck(each.without)}
        for each in waits
    ]
    rate = intervals.rate
    result["model_interval"] = None if rate is None else _around(rate, prediction.rate)
    result["latency_intervals"] = {
        "mean": None if intervals.latency is None else _evidence(intervals.latency),
        "percentiles": None if intervals.tail is None else _evidence(intervals.tail),
    }
    if found is not None:
        result["recovery"] = {
            **_finite([("duration_s", found.duration_s)]),
            "degraded_rate": found.degraded.rate,
            "whole_rate": found.whole.rate,
            "degraded_latencies": found.degraded.latencies,
            "whole_latencies": found.whole.latencies,
            "loss": found.loss,
            "loss_to_failure": found.loss_to_failure,
            "remedies": [_remedy(each) for each in found.remedies],
        }
    return result


def _prediction(prediction: Prediction) -> dict[str, Any]:
    """All but the counts that only a picture shows, and what only calibration asks."""
    fields = {field.name: getattr(prediction, field.name) for field in dataclasses.fields(prediction)}
    del fields["latency_bins"], fields["prices_read"], fields["ssd_caches"]
    if prediction.ssd_caches:
        fields["ssd_caches"] = [dataclasses.asdict(each) for each in prediction.ssd_caches]
    fields["usages"] = [dataclasses.asdict(usage) for usage in prediction.usages]
    fields["rebuilds"] = _rebuilds(prediction)
    fields["wear"] = [each.document() for each in prediction.wear]
    fields["drives"] = [dataclasses.asdict(each) for each in prediction.drives]
    fields["estimates"] = {name: _estimate(each) for name, each in prediction.estimates.items()}
    fields["phases"] = {name: _prediction(each) for name, each in prediction.phases.items()}
    fields["loads"] = {name: _prediction(each) for name, each in prediction.loads.items()}
    fields["lost_iops"] = prediction.lost_iops
    fields["drift"] = None if prediction.drift is None else dataclasses.asdict(prediction.drift)
    reached = prediction.precision_reached
    fields["precision_reached"] = reached if reached is None or math.isfinite(reached) else None
    return fields


def _rebuilds(prediction: Prediction) -> list[dict[str, Any]]:
    return [
        {**dataclasses.asdict(each), **_finite({"duration_s": each.duration_s, "left_s": each.left_s}.items())}
        for each in prediction.rebuilds
    ]


def _remedy(remedy: RebuildRemedy) -> dict[str, Any]:
    then = remedy.prediction
    return {"what": remedy.what, **_speeds(then), "rebuilds": _rebuilds(then)}


def _speeds(then: Prediction) -> dict[str, Any]:
    return {"rate": then.rate, "iops": then.iops, "latencies": then.latencies, "saturated": then.saturated}


def _estimate(estimate: Estimate) -> dict[str, Any]:
    return {
        **_finite([("mean", estimate.mean), ("half_width", estimate.half_width)]),
        "confidence": estimate.confidence,
        "batches": estimate.batches,
        "correlated": estimate.correlated,
    }


def _without_bottleneck(without: WithoutBottleneck) -> dict[str, Any]:
    then = without.prediction
    return {
        "what": without.what,
        "kind": without.kind,
        **_speeds(then),
        "seconds": then.seconds,
        "bottleneck": then.bottleneck,
    }


def _around(interval: ModelInterval, rate: float) -> dict[str, Any]:
    low, high = interval.around(rate)
    return {"low": low, "high": high, **_evidence(interval)}


def _evidence(interval: ModelInterval) -> dict[str, Any]:
    return {
        "factor": interval.factor,
        "figures": interval.cells,
        "reports": interval.studies,
        "first_year": interval.years[0],
        "last_year": interval.years[1],
        "kinds": [" ".join(each) for each in interval.classes],
        "own_kind": interval.asked in interval.classes,
    }


def _finite(values: Iterable[tuple[str, float]]) -> dict[str, float | None]:
    return {name: value if math.isfinite(value) else None for name, value in values}


def part_rows(parts: Iterable[Usage]) -> list[dict[str, Any]]:
    """A row for each part of the machine."""
    return [
        {
            "part": usage.name,
            "kind": usage.kind,
            "utilization": usage.utilization,
            "mean_queue": usage.mean_queue,
            "reads": usage.reads,
            "writes": usage.writes,
            "bytes": usage.bytes,
        }
        for usage in parts
    ]


def load_rows(prediction: Prediction) -> list[dict[str, Any]]:
    """A row for all loads together and each of them, over the run and in each phase."""
    rows = [_load_row("", "", prediction)]
    rows += [_load_row("", name, load) for name, load in prediction.loads.items()]
    for name, phase in prediction.phases.items():
        rows.append(_load_row(name, "", phase))
        rows += [_load_row(name, load, each) for load, each in phase.loads.items()]
    return rows


def _load_row(phase: str, load: str, found: Prediction) -> dict[str, Any]:
    """Rates and latencies of a load in a phase; "" for all of them together."""
    row: dict[str, Any] = {"phase": phase, "load": load, "throughput": found.rate, "saturated": found.saturated}
    row |= {"offered_iops": found.offered_iops, "lost_iops": found.lost_iops}
    for op in ("read", "write"):
        known = found.latencies.get(op, {})
        row[f"{op}_iops"] = found.iops.get(op, 0.0)
        for name in ("mean", "p99"):
            row[f"{op}_{name}"] = math.inf if known and found.saturated else known.get(f"{name}_s", math.nan)
    return row
