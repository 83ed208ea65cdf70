"""The tree of an answer: columns know their units, and files get full numbers."""

from __future__ import annotations

import math

from raidsim.api.answer.numbers import Sure, fixed, with_interval, with_spread
from raidsim.api.answer.tree import RULE, Answer, Column, Marked, Table, Words, csv_text

_TIME = Column("mean\n", "ms", with_interval, 1e3)


def test_a_cell_is_written_in_the_unit_of_its_heading() -> None:
    """Protects figures from a wrong unit: seconds are shown in ms, with the interval, and words are left alone."""
    assert _TIME.heading == "mean\n(ms)"
    assert _TIME.text(Sure(0.0123456, 0.001)) == "12.3 ±1.0"
    assert _TIME.text(Sure(0.0123456, math.inf)) == "12.3"
    assert _TIME.text("unknown") == "unknown"
    assert _TIME.text(None) == ""
    assert _TIME.text(Marked(Sure(1.0, 0.5), "bad")) == "1,000 ±500"


def test_an_interval_in_percent_follows_its_value() -> None:
    """Protects intervals: their share is of the value, and none is shown where it is not known."""
    assert with_spread(fixed(1))(Sure(20.0, 1.0)) == "20.0 ± 5 %"
    assert with_spread(fixed(1))(Sure(20.0, math.nan)) == "20.0"


def test_a_file_has_full_numbers_and_their_intervals() -> None:
    """Protects who reads the file: all digits, infinite values empty, no formula, and no line that is no row."""
    rows = (("heading",), ("=1+1", Sure(0.0123456789, 0.001)), RULE, ("b", Sure(1.0, math.inf)), ("c", None))
    lines = csv_text([Table("t", (Column("a"), _TIME), rows)]).splitlines()
    assert lines == ["# t", "a,mean (ms),± (90 %)", "'=1+1,12.345678900000001,1.0", "b,1000.0,", "c,,", ""]


def test_a_terminal_leaves_columns_out_that_a_page_has() -> None:
    """Protects narrow media: a column of details goes with its cells; headings and lines between groups stay."""
    table = Table("t", (Column("a"), Column("b", detail=True), Column("c")), (("x", "y", "z"), ("group",), RULE))
    brief = table.brief()
    assert [column.name for column in brief.columns] == ["a", "c"]
    assert [list(row) for row in brief.rows] == [["x", "z"], ["group"], []]


def test_all_tables_of_an_answer_are_found() -> None:
    """Protects downloads: tables in sections are among them, in their order."""
    first, second = (Table(name, (Column("a"),), ()) for name in ("1", "2"))
    assert list(Answer("", [first, Words("x"), Answer("", [second])]).tables()) == [first, second]
