"""A value that was read, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from ...text.report_text import Cell

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Fact(Generic[T]):
    """A value and where it was read ("mdstat.txt:3")."""

    value: T
    where: str


def fact(value: T, cell: Cell) -> Fact[T]:
    """A value read from a piece of a line."""
    return Fact(value, place(cell))


def place(cell: Cell) -> str:
    """File and line."""
    return f"{cell.file}:{cell.line}"
