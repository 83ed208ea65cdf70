"""What bonnie++ 1.03 and 1.9x print at the end: the table, and the same figures as a line of CSV.

A kilobyte is 1024 bytes; rates and shares of a CPU are cut to whole ones. What took less than half a second is shown as
"+++++". The older version prints no latencies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .bonnie_plus_plus import KIB, BonniePlusPlus
from .phase_result import PhaseResult

_SHORTEST_S = 0.5
_TRANSFERS = ("putc", "write", "rewrite", "getc", "read")
_SMALL = tuple(f"{verb} {order}" for order in ("in order", "at random") for verb in ("create", "stat", "delete"))
_NAME_COLUMNS = 19
_MARGIN = 20 * " "
_SMALL_HEADING = "------Sequential Create------ --------Random Create--------"
_VERBS = "-Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--"


def report(
    run: BonniePlusPlus, results: Iterable[PhaseResult], version: str = "1.03", machine: str = "", time: int = 0
) -> str:
    """The table and the line of CSV.

    Parameters
    ----------
    run
        The run: its sizes and settings.
    results
        Of its phases, named as its marks; those of transfers count bytes, the others operations.
    version
        "1.03", or a later one ("1.96").
    machine
        ``-m``, or the name of the host.
    time
        What later versions put into the line of CSV: seconds since 1970.
    """
    found = {result.name: result for result in results}
    newer = version != "1.03"
    lines = []
    if run.size:
        lines += _file_table(run, found, version, machine, newer)
    if run.settings.small_files:
        lines += _small_table(run, found, version, machine, newer)
    lines.append(_csv(run, found, version, machine, time, newer))
    return "\n".join(lines) + "\n"


def _file_table(
    run: BonniePlusPlus, found: Mapping[str, PhaseResult], version: str, machine: str, newer: bool
) -> list[str]:
    size = _size(run)
    width = _NAME_COLUMNS - 1 - len(size)
    margin = "Concurrency   1     " if newer else _MARGIN
    rates = [cell for name in _TRANSFERS for cell in _kib(found[name])]
    lines = [
        f"Version {version:>5}       ------Sequential Output------ --Sequential Input- --Random-",
        f"{margin}-Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--",
        "Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP",
        f"{machine[:width]:<{width}} {size}{_cells(rates + _seeks(found['seeks'], rounded=True))}",
    ]
    return [*lines, _latencies(found, (*_TRANSFERS, "seeks"))] if newer else lines


def _small_table(
    run: BonniePlusPlus, found: Mapping[str, PhaseResult], version: str, machine: str, newer: bool
) -> list[str]:
    first = f"Version {version:>5}       " if newer else _MARGIN
    second = f"{machine[:_NAME_COLUMNS]:<{_NAME_COLUMNS}} " if newer else _MARGIN
    lines = [
        first + _SMALL_HEADING,
        second + _VERBS,
        "              files " + " ".join(6 * [" /sec %CP"]),
        f"{_thousands(run):>{_NAME_COLUMNS}}{_cells([cell for name in _SMALL for cell in _counted(found[name])])}",
    ]
    return [*lines, _latencies(found, _SMALL)] if newer else lines


def _csv(
    run: BonniePlusPlus, found: Mapping[str, PhaseResult], version: str, machine: str, time: int, newer: bool
) -> str:
    transfers = [cell for name in _TRANSFERS for cell in (_kib(found[name]) if run.size else ["", ""])]
    seeks = _seeks(found["seeks"], rounded=newer) if run.size else ["", ""]
    small = bool(run.settings.small_files)
    counted = [cell for name in _SMALL for cell in (_counted(found[name]) if small else ["", ""])]
    number, size = _thousands(run) if small else "", _size(run) if run.size else ""
    if not newer:
        return ",".join([machine, size, *transfers, *seeks, number, *counted])
    latencies = [_latency(found[name].longest_s) if name in found else "" for name in (*_TRANSFERS, "seeks", *_SMALL)]
    head = [version, version, machine, "1", str(time), size, ""]
    return ",".join([*head, *transfers, *seeks, number, "", "", "", "", *counted, *latencies])


def _size(run: BonniePlusPlus) -> str:
    megabytes = run.settings.megabytes
    return f"{megabytes}M" if megabytes % KIB else f"{megabytes // KIB}G"


def _thousands(run: BonniePlusPlus) -> str:
    return str(run.settings.small_files * run.settings.small_unit // KIB)


def _cells(pairs: list[str]) -> str:
    return "".join(f" {cell:>{3 if index % 2 else 5}}" for index, cell in enumerate(pairs))


def _kib(result: PhaseResult) -> list[str]:
    return _shown(result, str(int(result.rate / KIB)))


def _counted(result: PhaseResult) -> list[str]:
    return _shown(result, str(int(result.per_second)))


def _seeks(result: PhaseResult, rounded: bool) -> list[str]:
    rate = result.per_second
    return _shown(result, f"{rate:.0f}" if rounded and rate >= 1000 else f"{rate:.1f}")


def _shown(result: PhaseResult, rate: str) -> list[str]:
    if result.seconds < _SHORTEST_S:
        return ["+++++", "+++"]
    return [rate, str(int(100 * result.cpu_share))]


def _latencies(found: Mapping[str, PhaseResult], names: Iterable[str]) -> str:
    return f"{'Latency':<17}" + "".join(f"{_latency(found[name].longest_s):>10}" for name in names)


def _latency(seconds: float) -> str:
    """The longest call, in the smallest unit that takes no more than five digits; "+++++" if nobody measured it."""
    if not seconds:
        return "+++++"
    for unit, factor in (("us", 1e6), ("ms", 1e3)):
        if seconds * factor < 99_999.5:
            return f"{seconds * factor:.0f}{unit}"
    return f"{seconds:.0f}s"
