"""How a terminal shows an answer."""

from __future__ import annotations

import io
from itertools import pairwise

from rich.console import Console

from raidsim.api.answer.numbers import number
from raidsim.api.answer.tree import Answer, Column, Part, Picture, Table, Words
from raidsim.cli.support.terminal import show


def shown(answer: Answer) -> list[str]:
    """The lines of an answer on a wide console."""
    out = io.StringIO()
    show(answer, Console(file=out, width=80))
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_sections_tables_and_sentences_are_told_apart() -> None:
    """Protects reading: a blank line between words and a table, none doubled; what has no markup is shown as it is."""
    table = Table("Rates [a]", (Column("[b]"), Column("MB/s", show=number, scale=1e-6)), (("x", 1.5e6), ("group",)))
    lines = shown(
        Answer("title", [Words("[c] words"), table, Words("after", apart=True), Answer("more", [Words("m")])])
    )
    assert lines[:4] == ["title", "[c] words", "", "Rates [a]"]
    assert [line.split() for line in lines if "x" in line] == [["x", "1.50"]]
    assert lines[-4:] == ["after", "", "more", "m"]
    assert not any(line == following == "" for line, following in pairwise(lines))


def test_what_needs_room_is_left_out() -> None:
    """Protects a terminal from pictures, and from tables without rows."""
    parts: list[Part] = [Picture("p", lambda: "<svg/>"), Table("none", (Column("a"),), ())]
    assert shown(Answer("", [*parts, Words("there")])) == ["there"]
