"""What a parsed report holds: figures in SI units, each with the line that it stands in.

Where one of raidsim's own programs prints the same report, its figures have the names of a prediction's
(``putc_rate``, ``seeks_rate``, ``transactions_seconds``), so that the two can be laid side by side.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from ...model.core.errors import InputError

Unit = Literal["bytes", "bytes/s", "s", "1/s", "share", "count"]
"""A share is of 1, and may be above it: CPU time of two processors is a share of 2."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of a report.

    Attributes
    ----------
    name
        What it is.
    value
        In `unit`; finite and never negative.
    unit
        SI: bytes, bytes a second, seconds, times a second, shares of 1, counts.
    line
        Where it stands in the text, from 1.
    context
        What it is of (device, job, number of threads, run), by name.
    """

    name: str
    value: float
    unit: Unit
    line: int
    context: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """The output of one program.

    Attributes
    ----------
    format
        Which program's.
    version
        Of the program, if it says so.
    figures
        In the order of the text.
    warnings
        What a reader should know: lines that are no part of the report, figures that are not there.
    """

    format: str
    version: str | None
    figures: tuple[Figure, ...]
    warnings: tuple[str, ...] = ()

    def value(self, name: str, **context: str) -> float:
        """The value of the only figure of that name and context; raises `InputError` if there is none, or several."""
        found = [
            figure.value
            for figure in self.figures
            if figure.name == name and context.items() <= dict(figure.context).items()
        ]
        if len(found) != 1:
            names = ", ".join(dict.fromkeys(figure.name for figure in self.figures))
            raise InputError(
                f"figure {name}", f"found {len(found)} of that name and context", f"expected: exactly one; has {names}"
            )
        return found[0]

    def document(self) -> dict[str, Any]:
        """The report as plain data, for JSON."""
        figures = [{**asdict(figure), "context": dict(figure.context)} for figure in self.figures]
        return {
            "format": self.format,
            "version": self.version,
            "figures": figures,
            "warnings": list(self.warnings),
        }


class FigureList:
    """Figures as they are found."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: list[Figure] = []

    def add(self, name: str, value: float, unit: Unit, line: int, **context: str) -> None:
        """Keep one more."""
        self._found.append(Figure(name, value, unit, line, tuple(context.items())))

    def __len__(self) -> int:
        return len(self._found)

    def all(self) -> tuple[Figure, ...]:
        """Those that were kept, in order."""
        return tuple(self._found)
