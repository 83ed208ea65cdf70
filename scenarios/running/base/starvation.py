"""I/Os that a load waits for much longer than for those that it has: a stream that starves while another is served.

Latencies are those of I/Os that are complete. A drive that chooses the nearest command may serve one stream for seconds
before the other has its turn (:mod:`raidsim.model.disk.shortest_positioning`). What the other stream waits for is in no
latency until then, so a short measurement shows a mean that is too small.
"""

from __future__ import annotations

from collections.abc import Iterable

from ....model.core.exact_sums import sum_in_order
from ....model.files.quantities import format_duration
from ....model.loads.direct_load import DirectLoad

_TIMES = 10
"""Mean latencies that an I/O has waited for in addition to what is expected, from which it may starve. An I/O that is
under way at a given moment has waited for (1 + v) / 2 mean latencies on average, with v the squared coefficient of
variation of the latencies (D. Cox, "Renewal theory", 1962)."""
_DEVIATIONS = 3
"""Standard deviations of what all I/Os of a job have waited for, from which this is no chance. The one of an I/O is
taken for its mean, as of an exponential distribution."""
_ROUNDS = 2
"""I/Os that must be complete for each that is outstanding: of fewer, nobody knows how long they usually wait."""
_OF_SPAN = 0.05
"""Share of the measurement below which such a wait changes the mean latency little. A wait that is no longer than the
longest latency is not left out either: others like it were counted."""


def starved(loads: Iterable[DirectLoad], now: float, span: float) -> tuple[int, float]:
    """I/Os of jobs that starve at the end of a measurement.

    Parameters
    ----------
    loads
        The jobs; what they have counted is that of the measurement.
    now
        The time at its end (s).
    span
        Its duration (s).

    Returns
    -------
    tuple
        How many I/Os of jobs with such an I/O are not complete, and how long they have waited on average (s); zeros
        without any.
    """
    jobs = list(loads)
    latencies = [each for job in jobs for each in (job.read_latency, job.write_latency) if each.count]
    count = sum(each.count for each in latencies)
    if not count:
        return 0, 0.0
    total_s = sum(each.total_ns for each in latencies) * 1e-9
    squares = sum_in_order(number * (1e-9 * ns) ** 2 for each in latencies for ns, number in each.bins())
    age_s = squares / (2 * total_s) if total_s else 0.0
    least_s = max(_TIMES * total_s / count, _OF_SPAN * span, *(each.max for each in latencies))
    waiting = [job.unfinished(now) for job in jobs]
    if count < _ROUNDS * sum(number for number, _ in waiting):
        return 0, 0.0
    long = [
        (number, waited_s)
        for number, waited_s in waiting
        if waited_s > least_s + age_s * (number + _DEVIATIONS * number**0.5)
    ]
    number = sum(each for each, _ in long)
    return number, sum_in_order(waited_s for _, waited_s in long) / number if number else 0.0


def starvation_note(loads: Iterable[DirectLoad], now: float, span: float) -> str | None:
    """A sentence that says so if I/Os starve; None if not. Parameters as of :func:`starved`."""
    number, waited_s = starved(loads, now, span)
    if not number:
        return None
    return (
        f"of {number} I/Os that are outstanding at the end some starve while others are served: all have waited for "
        f"{format_duration(waited_s)} on average, and no latency counts them before they are complete; measure for "
        "longer"
    )
