"""Whether latencies at a lock are flat: the sign of a software ceiling.

At a lock all I/Os wait in one queue, so each takes the I/Os outstanding divided by the rate. Drives have a queue each,
and these differ in length.
"""

from __future__ import annotations

from ...model.statistics.usage import LOCK, limit
from ..running.base.prediction import Prediction

FLAT = 1.5
"""99th percentile over median up to which latencies are flat: reported are 1.03 at a lock, and 4 to 20 at drives."""


ARRAYS = "md's"
"""How names of locks of arrays begin."""


def latency_shape(prediction: Prediction) -> str | None:
    """Say whether latencies are flat or steep, and what helps; None unless a lock limits.

    Parameters
    ----------
    prediction
        A run.
    """
    found = limit(prediction.usages)
    if found is None or not found.saturated or prediction.saturated or found.parts[0].kind != LOCK:
        return None
    ratios = [each["p99_s"] / each["p50_s"] for each in prediction.latencies.values() if each.get("p50_s")]
    if not ratios:
        return None
    most = max(ratios)
    shape = "flat, as in one queue" if most <= FLAT else "steep, as other parts have queues too"
    helps = " Several arrays have a lock each." if found.parts[0].name.startswith(ARRAYS) else ""
    return f"Latencies are {shape}: the 99th percentile is {most:.3g} times the median.{helps}"
