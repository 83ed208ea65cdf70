"""What bonnie 1.2 and 1.4 print: a line as each phase ends, and the table.

A kilobyte is 1024 bytes, rates are cut to whole ones, and %CPU is of one CPU. The last columns of the table are headed
by the thousands of seeks and the number of processes that seek ("04k (03)").
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .bonnie import KIB, SEEKERS, Bonnie
from .phase_result import PhaseResult

_COLUMNS = ("putc", "write", "rewrite", "getc", "read")
_MACHINE_LETTERS = 6


def report(
    run: Bonnie, results: Iterable[PhaseResult], version: str = "1.4", machine: str = "", file: str | None = None
) -> str:
    """Everything bonnie prints.

    Parameters
    ----------
    run
        The run: its sizes and settings.
    results
        Of all its phases, in any order, named as its marks; those of transfers count bytes, the seeks operations.
    version
        "1.2" or "1.4".
    machine
        ``-m``, or the name of the host; six letters of it are shown.
    file
        What the first line calls the file; the run's name for it unless given.
    """
    found = {result.name: result for result in results}
    settings = run.settings
    lines = [f"Bonnie {version}: File '{file or settings.name}', size: {run.size}, volumes: {settings.files}"]
    lines += [_progress(title, found[name]) for name, title in run.titles.items() if name != "seeks"]
    if settings.files > 1:
        lines.append("Seek numbers calculated on first volume only")
    seekers = "".join(f"Seeker {number}..." for number in range(1, SEEKERS + 1))
    lines.append(f"{seekers}{run.titles['seeks']}{'done...' * SEEKERS}")
    return "\n".join([*lines, *_table(run, found, machine)]) + "\n"


def _progress(title: str, result: PhaseResult) -> str:
    return f"{title:<31}done: {_kib(result):6d} kB/s {100 * result.cpu_share:5.1f} %CPU"


def _table(run: Bonnie, found: Mapping[str, PhaseResult], machine: str) -> list[str]:
    """The heading and the line of figures; a rate of six digits leaves no space before it."""
    settings, seeks = run.settings, found["seeks"]
    synced = "(sync)-----" if settings.sync else "(nosync)---"
    columns = "".join(f"{_kib(found[name]):6d} {100 * found[name].cpu_share:4.1f}" for name in _COLUMNS)
    volumes = f"{settings.files}*{settings.megabytes:4d}"
    sought = f"--{settings.seeks // 1000:02d}k ({SEEKERS:02d})-"
    name = f"{machine[:_MACHINE_LETTERS]:<{_MACHINE_LETTERS}}"
    return [
        f"              ---Sequential Output {synced} ---Sequential Input-- --Rnd Seek-",
        f"              -Per Char- --Block--- -Rewrite-- -Per Char- --Block--- {sought}",
        "Machine    MB K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU   /sec %CPU",
        f"{name} {volumes:>6}{columns} {seeks.per_second:6.1f} {100 * seeks.cpu_share:4.1f}",
    ]


def _kib(result: PhaseResult) -> int:
    return int(result.rate / KIB)
