"""The cells of bonnie++'s reports, which its tables and its lines of CSV have in common."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from ...text.report import Figure, Unit
from ...text.report_text import Cell

KIB = 1024
TRANSFERS = ("putc", "write", "rewrite", "getc", "read")
COUNTED = tuple(f"{verb}_{order}" for order in ("in_order", "at_random") for verb in ("create", "stat", "delete"))

_SIZE = re.compile(
    r"(?P<count>\d{1,12})(?P<unit>[KMGTkmgt]?)(?::(?P<chunk>\d{1,12}[kKmM]?))?(?::(?P<rest>\d*))?", re.ASCII
)
_LATENCY = re.compile(r"(?P<count>\d+)(?P<unit>us|ms|s)", re.ASCII)
_A_SECOND = {"us": 1e6, "ms": 1e3, "s": 1.0}
_PREFIXES = {"k": 1, "m": KIB, "g": KIB * KIB}


class Found(NamedTuple):
    """A figure of a run: its value, where it stands, and what its last digit is worth."""

    value: float
    unit: Unit
    line: int
    step: float


@dataclass(slots=True)
class Run:
    """One run of bonnie++ as a report tells it."""

    found: dict[str, Found] = field(default_factory=dict)
    context: dict[str, str] = field(default_factory=dict)
    too_fast: list[str] = field(default_factory=list)
    tables: set[str] = field(default_factory=set)

    def figures(self, context: dict[str, str]) -> list[Figure]:
        """All figures, each with the run's context and this one."""
        pairs = tuple({**self.context, **context}.items())
        return [Figure(name, found.value, found.unit, found.line, pairs) for name, found in self.found.items()]


def add_size(run: Run, cell: Cell) -> None:
    """The size of all files ("3100M", "63G", "300M:16k"); a bare number is in MiB, as of ``-s``."""
    match = _SIZE.fullmatch(cell.text)
    if match is None:
        raise cell.refused("the size of the files, such as 3100M, 63G or 300M:16k")
    power = " KMGT".index((match["unit"] or "M").upper())
    run.found["size"] = Found(cell._replace(text=match["count"]).number(KIB**power), "bytes", cell.line, 0)
    if match["chunk"]:
        run.context["chunk"] = match["chunk"]


def add_rate(run: Run, name: str, rate: Cell, cpu: Cell, times: float, prefixed: bool = False) -> None:
    """A rate and its share of a CPU.

    Parameters
    ----------
    run
        Where to.
    name
        Of the phase.
    rate, cpu
        The cells; both are plus signs if it was too fast.
    times
        What one of the column's unit is in SI.
    prefixed
        Whether the rate may have a prefix after it, as in the tables of version 2.00: "962k".
    """
    if set(rate.text) == {"+"} or set(cpu.text) == {"+"}:
        if set(rate.text) != {"+"} or set(cpu.text) != {"+"}:
            raise rate.refused("a rate and its %CP, or plus signs for both")
        run.too_fast.append(name)
        return
    step = times
    if prefixed and rate.text[-1:] in _PREFIXES:
        step = times * _PREFIXES[rate.text[-1]]
        rate = rate._replace(text=rate.text[:-1])
    unit: Unit = "bytes/s" if times == KIB else "1/s"
    run.found[f"{name}_rate"] = Found(rate.number(step), unit, rate.line, step)
    run.found[f"{name}_cpu"] = Found(cpu.number(per=100), "share", cpu.line, 0.01)


def add_latency(run: Run, name: str, cell: Cell) -> None:
    """The longest call of a phase; plus signs if nobody measured it."""
    if set(cell.text) == {"+"}:
        return
    match = _LATENCY.fullmatch(cell.text)
    if match is None:
        raise cell.refused("a latency in us, ms or s, such as 8631us")
    a_second = _A_SECOND[match["unit"]]
    seconds = cell._replace(text=match["count"]).number(per=a_second)
    run.found[f"{name}_latency"] = Found(seconds, "s", cell.line, 1 / a_second)
