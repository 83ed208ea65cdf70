"""All figures of a prediction by name."""

from __future__ import annotations

from ..running.base.prediction import Prediction


def figure_values(prediction: Prediction) -> dict[str, float]:
    """All figures of a prediction by name, in SI units."""
    latencies = {
        f"{op}_{name.removesuffix('_s')}_seconds": value
        for op, values in prediction.latencies.items()
        for name, value in values.items()
        if name.endswith("_s")
    }
    return {
        "rate": prediction.rate,
        "seconds": prediction.seconds,
        **{f"{op}_iops": value for op, value in prediction.iops.items()},
        **latencies,
        **{f"{rebuild.array}.rebuild_rate": rebuild.rate for rebuild in prediction.rebuilds},
        **prediction.figures,
    }
