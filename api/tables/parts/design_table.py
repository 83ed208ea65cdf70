"""A table with a row for each design of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....scenarios.comparison.side_by_side import Measured
from ...answer.tree import Column, Row, Table

_DESIGN = (Column("", show=str), Column("design"))


def design_table(
    title: str, columns: Sequence[Column], cells: Callable[[Measured], Row | None], of: Sequence[Measured]
) -> Table:
    """A row for each design that has cells."""
    rows = [(str(each.design.number), each.design.label, *row) for each in of if (row := cells(each)) is not None]
    return Table(title, (*_DESIGN, *columns), rows, keys=2)
