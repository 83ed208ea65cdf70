"""The table of tiobench.pl 0.3.1 and 0.3.2: a line for each number of threads.

Rates are in megabytes of 2^20 bytes a second, cut to five characters; the CPU time of all threads as a share of the
time, cut to four.

Amounts and times are added up over the runs of --numruns, and begun anew neither for the next number of threads nor
for the next size: a line is of all runs up to it. Since 0.3.3 each number of threads has sums of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from ..core.exact_sums import sum_in_order
from .phase_result import PhaseResult
from .tiobench import MIB, TiobenchSettings

_COLUMNS = ("read", "random read", "write", "random write")
_HEADING = (
    "Size is MB, BlkSz is Bytes, Read, Write, and Seeks are MB/sec\n\n"
    "         File   Block  Num  Seq Read    Rand Read   Seq Write  Rand Write\n"
    "  Dir    Size   Size   Thr Rate (CPU%) Rate (CPU%) Rate (CPU%) Rate (CPU%)\n"
    "------- ------ ------- --- ----------- ----------- ----------- -----------\n"
)


def report(runs: Iterable[tuple[TiobenchSettings, Sequence[PhaseResult]]], directory: str = ".") -> str:
    """The heading and the line of each run; results are named as the marks of :class:`~.tiobench.Tiobench`."""
    made = list(runs)
    sums = accumulate(({result.name: result for result in results} for _, results in made), _added)
    lines = zip((settings for settings, _ in made), sums, strict=True)
    return _HEADING + "".join(_line(settings, found, directory) for settings, found in lines)


def line_figures(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """What the line of the last of some runs says, from the rates and CPU shares of each run.

    Parameters
    ----------
    runs
        In the order in which tiobench.pl made them: ``NAME_rate`` in bytes/s and ``NAME_cpu``, a share of the time.
        All move the same amount in a phase, which the division among threads rounds by less than a megabyte a thread.

    Returns
    -------
    dict
        The same figures: rates are amounts by times, so harmonic means; CPU shares are weighted with the times.
    """
    found: dict[str, float] = {}
    for rate in (name for name in runs[-1] if name.endswith("_rate")):
        cpu = rate.removesuffix("_rate") + "_cpu"
        times = [1.0 / run[rate] for run in runs]
        total = sum_in_order(times)
        found[rate] = len(runs) / total
        found[cpu] = sum_in_order(run[cpu] * time for run, time in zip(runs, times, strict=True)) / total
    return found


def _added(before: Mapping[str, PhaseResult], now: Mapping[str, PhaseResult]) -> dict[str, PhaseResult]:
    return {
        name: result._replace(
            seconds=before[name].seconds + result.seconds,
            bytes=before[name].bytes + result.bytes,
            cpu_s=before[name].cpu_s + result.cpu_s,
        )
        for name, result in now.items()
        if name in _COLUMNS
    }


def _line(settings: TiobenchSettings, found: Mapping[str, PhaseResult], directory: str) -> str:
    cells = (f"{_cut(found[name].rate / MIB, 5)} {_cut(100 * found[name].cpu_share, 4)}%" for name in _COLUMNS)
    numbers = f"{directory:^7} {settings.megabytes:^6} {settings.block:^7} {settings.threads:^3}"
    return f"{numbers} {' '.join(cells)}\n"


def _cut(value: float, width: int) -> str:
    """The first characters of a number with all its digits."""
    return f"{value:.10f}"[:width]
