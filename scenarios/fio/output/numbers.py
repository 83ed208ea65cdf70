"""How fio writes numbers and counts time (num2str.c, stat.h and stat.c of fio 3.33)."""

from __future__ import annotations

import math

from ..result import DirectionResult, JobResult, Series

_SI = ("", "k", "M", "G", "T", "P")
_IEC = ("", "Ki", "Mi", "Gi", "Ti", "Pi")


def short(number: int, digits: int = 4, binary: bool = False, unit: str = "") -> str:
    """A number of at most `digits` characters with its prefix: "1024KiB", "9.77MiB", "69.6k" (num2str).

    Parameters
    ----------
    number
        A whole number of `unit`.
    digits
        Characters before the prefix, the point included (``significant_figures``).
    binary
        Powers of 1024 ("Ki") instead of 1000 ("k").
    unit
        Written after the prefix. "bit" and "bit/s" count bits where `number` counts bytes.
    """
    thousand, prefixes = (1024, _IEC) if binary else (1000, _SI)
    if unit.startswith("bit"):
        number *= 8
    power, rest = 0, 0
    while len(str(number)) > digits and power < len(prefixes) - 1:
        number, rest = divmod(number, thousand)
        power += 1
    decimals = digits - len(str(number)) - 1
    if not power:
        return f"{number}{unit}"
    if decimals < 1:
        return f"{number + (rest >= thousand // 2)}{prefixes[power]}{unit}"
    # Only the digits after the point, as fio does: a remainder that rounds up to 1 reads ".0".
    return f"{number}.{f'{rest / thousand:.{decimals}f}'[2:]}{prefixes[power]}{unit}"


def size(job: JobResult, number: int, other: bool = False) -> str:
    """Bytes; `other` is the prefix that the job does not count in."""
    return short(number, binary=(job.kb_base == 1024) != other, unit="B")


def rate(job: JobResult, number: int, other: bool = False) -> str:
    """Bytes a second, in bits if the job says so (``unit_base=1``)."""
    return short(number, binary=(job.kb_base == 1024) != other, unit="bit/s" if job.unit_base == 1 else "B/s")


def whole_ns(seconds: float) -> int:
    """Nanoseconds."""
    return round(seconds * 1e9)


def whole_ms(seconds: float) -> int:
    """Milliseconds that have passed, as most of fio's clocks count them."""
    return int(seconds * 1000 + 1e-6)


def run_ms(direction: DirectionResult) -> int:
    """``runtime``: milliseconds, each one begun counted (time.c, update_runtime)."""
    return math.ceil(direction.runtime_s * 1000 - 1e-6)


def bytes_per_second(direction: DirectionResult) -> int:
    """``bw_bytes``."""
    milliseconds = run_ms(direction)
    return 1000 * direction.io_bytes // milliseconds if milliseconds else 0


def share_of_group(series: Series, group_rate: int) -> float:
    """``bw_agg``: the mean of the samples as a percentage of all the group moves, 100 at the most."""
    if not series.n:
        return 0.0
    if group_rate <= 1024:
        return 100.0
    return min(100.0, int(series.mean) * 100.0 / (group_rate / 1024.0))


def group_rates(jobs: tuple[JobResult, ...], groupid: int) -> dict[str, int]:
    """Bytes a second of a group by direction: all its bytes in the time of its longest job (0: nothing moved)."""
    rates = {}
    for name in ("read", "write", "trim"):
        members = [job.directions[name] for job in jobs if job.groupid == groupid]
        longest = max((run_ms(each) for each in members), default=0)
        rates[name] = sum(each.io_bytes for each in members) * 1000 // longest if longest else 0
    return rates


def percentages(counts: tuple[int, ...], total: int, least: float) -> list[float]:
    """Counts as percentages of `total`; what is there at all is at least `least` (stat_calc_dist, stat_calc_lat)."""
    if not total:
        return [0.0] * len(counts)
    return [max(100.0 * count / total, least) if count else 0.0 for count in counts]


def depth_shares(job: JobResult) -> tuple[list[float], list[float], list[float]]:
    """``iodepth_level``, ``iodepth_submit`` and ``iodepth_complete`` in percent.

    fsyncs count as I/Os of a level but not in the total, so that levels may add up to more than 100.
    """
    return (
        percentages(job.iodepth_level, all_ios(job), 0.1),
        percentages(job.iodepth_submit, sum(job.iodepth_submit), 0.1),
        percentages(job.iodepth_complete, sum(job.iodepth_complete), 0.1),
    )


def all_ios(job: JobResult) -> int:
    """I/Os of all directions."""
    return sum(direction.total_ios for direction in job.directions.values())


def elapsed_s(jobs: tuple[JobResult, ...]) -> int:
    """``elapsed``: seconds since fio began, each one begun counted; of the whole run when it is over."""
    return math.ceil(max((job.elapsed_s for job in jobs), default=0.0) - 1e-9)
