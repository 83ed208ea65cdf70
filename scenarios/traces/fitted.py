"""A load of `raidsim run` that is like a trace.

What is taken over: rate, arrivals, read share, sizes, runs of I/Os that follow each other, and how much the popular
part of the devices is preferred. What is not: how these depend on each other and on the time of day. The devices of a
trace are put on the targets one after the other.
"""

from __future__ import annotations

import math
from typing import Any

from ...model.core.exact_sums import sum_in_order
from ...model.core.request import READ, WRITE
from .rates import Counts
from .summary import TraceSummary
from .touched import PIECE

_SECTOR = 512
_MOST_SIZES = 16
_LEAST_TO_FIT = 200
_LEAST_PREFERENCE = 0.1
_CLOSE_TO_POISSON = 0.15
_REGULAR = 0.3
_MOST_PIECES = (1 << 63) // PIECE - 1
"""A device of a file has at most 8 EiB."""
_LEAST_IOPS, _MOST_IOPS = 1e-9, 1e7


def fitted_load(summary: TraceSummary, target: str, tick_s: float = 0.0) -> dict[str, Any] | None:
    """The `workload` of a scenario, as YAML has it.

    Parameters
    ----------
    summary
        The trace.
    target
        Where the load goes.
    tick_s
        How coarse the trace's clock is (s), if distances between I/Os say nothing.

    Returns
    -------
    dict or None
        None if all I/Os come at once, or more often than a load has them.
    """
    rate = summary.mean_per_s
    if rate is None or not _LEAST_IOPS < rate <= _MOST_IOPS:
        return None
    load: dict[str, Any] = {"kind": "load", "targets": [target], "total_iops": _rounded(rate)}
    load["arrivals"] = _arrivals(summary, rate, tick_s)
    load["read_share"] = _percent(summary.read_share)
    sizes = {op: _sizes(summary, op) for op in (READ, WRITE)}
    if sizes[READ] and sizes[WRITE]:
        load |= {"read_size": sizes[READ], "write_size": sizes[WRITE]}
    else:
        load["block_size"] = sizes[READ] or sizes[WRITE]
    pieces = sum(-(-device.end // PIECE) for device in summary.devices.values())
    load |= _locality(summary, pieces)
    # Offsets of a trace are multiples of something smaller than most sizes.
    if load["pattern"] != "sequential":
        load["align"] = "4KiB" if all(_whole_pages(size) for size in sizes.values()) else "512B"
    load["span"] = f"{min(pieces, _MOST_PIECES)}MiB"
    return load


def _sizes(summary: TraceSummary, op: int) -> str | dict[str, str]:
    """The most frequent sizes with their shares, in whole sectors; the others are shared out among them."""
    sectors: dict[int, int] = {}
    for size, number in summary.sizes(op).items():
        whole = -(-size // _SECTOR) * _SECTOR
        sectors[whole] = sectors.get(whole, 0) + number
    common = _grouped(sectors)
    total = sum(common.values())
    if len(common) < 2:
        return size_text(next(iter(common))) if common else {}
    shares = {size: round(100 * number / total, 3) for size, number in sorted(common.items())}
    # What rounding leaves goes where it shows least.
    largest = max(shares, key=lambda size: shares[size])
    shares[largest] = round(100 - math.fsum(share for size, share in shares.items() if size != largest), 3)
    return {size_text(size): f"{share:.10g}%" for size, share in shares.items() if share > 0}


def _grouped(sizes: dict[int, int]) -> dict[int, int]:
    """At most 16 sizes: neighbors of the rare ones are put together at their mean, so the bytes stay the same."""
    groups = [(size, number) for size, number in sorted(sizes.items())]
    frequent = {size for size, _ in sorted(groups, key=lambda item: -item[1])[: _MOST_SIZES // 2]}
    kept = {size: number for size, number in groups if size in frequent}
    rare = [(size, number) for size, number in groups if size not in frequent]
    per_group = sum(number for _, number in rare) / (_MOST_SIZES // 2)
    moved = number_in = 0
    for i, (size, number) in enumerate(rare):
        moved += size * number
        number_in += number
        if number_in >= per_group or i == len(rare) - 1:
            mean = max(_SECTOR, round(moved / number_in / _SECTOR) * _SECTOR)
            kept[mean] = kept.get(mean, 0) + number_in
            moved = number_in = 0
    return kept


def _locality(summary: TraceSummary, pieces: int) -> dict[str, Any]:
    """The pattern, its runs, and the locality."""
    runs, records = summary.runs, summary.records
    if runs.following == records - len(summary.devices) and records > len(summary.devices):
        return {"pattern": "sequential"}
    found: dict[str, Any] = {"pattern": "random"}
    if runs.in_runs / records >= 0.001:
        length = _rounded(min(1e6, max(2.0, runs.length)))
        found = {"pattern": "mixed", "sequential_share": _percent(runs.in_runs / records), "run_length": length}
    share, of = summary.touched.hot_part(pieces)
    if records >= _LEAST_TO_FIT and share - of >= _LEAST_PREFERENCE and 0 < of < 0.999:
        found["locality"] = {"kind": "hot", "share": _percent(share), "of": f"{max(0.0001, 100 * of):.4g}%"}
    return found


def _arrivals(summary: TraceSummary, rate: float, tick_s: float) -> dict[str, Any]:
    """Random, regular, in bursts, or with distances as they were."""
    variation = summary.gaps.variation
    if tick_s or summary.records < _LEAST_TO_FIT or variation is None:
        return {"kind": "poisson"}
    curve = [
        (length_s, windows, variance / mean, third, mean)
        for length_s, windows, mean, variance, third in summary.counts.moments(summary.last_s)
    ]
    # The largest windows of which there are enough to know their variance.
    dispersion = max((value for _, windows, value, _, _ in curve if windows >= 50), default=variation**2)
    if variation < _REGULAR and dispersion < 1:
        return {"kind": "constant"}
    if abs(variation - 1) < _CLOSE_TO_POISSON and dispersion < 1.5:
        return {"kind": "poisson"}
    # Distances that know nothing of each other have a dispersion of counts next to their squared variation; Cox and
    # Lewis, "The statistical analysis of series of events", 1966, section 4.5.
    if dispersion > 2 * max(1.0, variation**2):
        return _bursts(summary.counts, summary.last_s, rate)
    # An empty class has a trace of a share, so that it stays there as the lower end of the next.
    gaps = {f"{end:.6g}s": f"{100 * max(share, 1e-9):.9f}%" for end, share in summary.gaps.histogram().items()}
    return {"kind": "histogram", "gaps": gaps}


def _bursts(counts: Counts, duration_s: float, rate: float) -> dict[str, Any]:
    """A Poisson process of two rates with the same dispersion of counts, and the same skewness.

    With mean rate r, a variance v of the rate, and the rate's correlation falling as exp(-s t), counts in windows of
    length t have the dispersion 1 + 2 v / (r s) (1 - (1 - exp(-s t)) / (s t)) (Fischer and Meier-Hellstern 1993). The
    factorial third cumulant of short windows is t^3 times the third central moment of the rate, which says in which
    share of the time there is a burst.
    """
    moments = [item for item in counts.moments(duration_s) if item[1] >= 50]
    best = (math.inf, 1.0, 0.0)
    for step in range(161):
        s = math.pow(10.0, -5 + step / 20)
        shape = [1 - -math.expm1(-s * t) / (s * t) for t, *_ in moments]
        above = [max(0.0, variance / mean - 1) for _, _, mean, variance, _ in moments]
        # Relative errors: the dispersion spans decades.
        weights = [windows**0.5 / (1 + value) for (_, windows, *_), value in zip(moments, above, strict=True)]
        norm = sum_in_order((w * g) ** 2 for w, g in zip(weights, shape, strict=True))
        if not norm:
            continue
        scale = sum_in_order(w * w * g * y for w, g, y in zip(weights, shape, above, strict=True)) / norm
        error = sum_in_order((w * (y - scale * g)) ** 2 for w, g, y in zip(weights, shape, above, strict=True))
        best = min(best, (error, s, scale))
    _, s, scale = best
    variance_of_rate = max(1e-12 * rate**2, scale * rate * s / 2)
    share = _burst_share(moments, s, variance_of_rate)
    factor = 1 + math.sqrt(variance_of_rate * (1 - share) / share) / rate
    if factor > 1 / share:
        # More than all I/Os cannot come in bursts: nothing comes between them then, and the variance sets the share.
        share = max(1e-4, rate**2 / (rate**2 + variance_of_rate))
        factor = 1 / share
    return {
        "kind": "bursty",
        "burst_factor": math.floor(factor * 1000) / 1000,
        "burst_share": f"{math.floor(share * 1e6) / 1e4:.6g}%",
        "burst_length": f"{1 / (s * (1 - share)):.4g}s",
    }


def _burst_share(moments: list[tuple[float, float, float, float, float]], s: float, variance_of_rate: float) -> float:
    """Share of the time at the higher of two rates, by their skewness (1 - 2 p) / sqrt(p (1 - p))."""
    short = [item for item in moments if item[0] * s <= 0.3] or moments[:1]
    length_s, _, mean, variance, third = short[-1]
    cumulant = (third - 3 * variance + 2 * mean) / length_s**3
    skewness = cumulant / (variance_of_rate * math.sqrt(variance_of_rate))
    # (1 - 2p)^2 = g^2 p (1 - p)
    share = 0.5 * (1 - skewness / math.sqrt(4 + skewness**2))
    return min(0.99, max(0.001, share))


def size_text(size: int) -> str:
    """A size in the largest binary unit of which it is a multiple."""
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size % factor == 0:
            return f"{size // factor}{unit}"
    return f"{size}B"


def _whole_pages(sizes: str | dict[str, str]) -> bool:
    return all(
        name.endswith(("KiB", "MiB")) and _kibibytes(name) % 4 == 0
        for name in ([sizes] if isinstance(sizes, str) else sizes)
    )


def _kibibytes(name: str) -> int:
    return int(name[:-3]) * (1024 if name.endswith("MiB") else 1)


def _percent(share: float) -> str:
    return f"{100 * share:.5g}%"


def _rounded(number: float) -> float:
    return float(f"{number:.6g}")
