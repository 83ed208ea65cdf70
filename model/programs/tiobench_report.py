"""The table of tiobench.pl 0.3.1 and 0.3.2: a line for each number of threads.

Rates are in megabytes of 2^20 bytes a second, cut to five characters; the CPU time of all threads as a share of the
time, cut to four.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

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
    return _HEADING + "".join(
        _line(settings, {result.name: result for result in results}, directory) for settings, results in runs
    )


def _line(settings: TiobenchSettings, found: Mapping[str, PhaseResult], directory: str) -> str:
    cells = (f"{_cut(found[name].rate / MIB, 5)} {_cut(100 * found[name].cpu_share, 4)}%" for name in _COLUMNS)
    numbers = f"{directory:^7} {settings.megabytes:^6} {settings.block:^7} {settings.threads:^3}"
    return f"{numbers} {' '.join(cells)}\n"


def _cut(value: float, width: int) -> str:
    """The first characters of a number with all its digits."""
    return f"{value:.10f}"[:width]
