"""Answers as HTML: whole, harmless, and readable on a telephone."""

from __future__ import annotations

from html.parser import HTMLParser

from raidsim.api.answer.html import html, page, table_html
from raidsim.api.answer.numbers import number
from raidsim.api.answer.tree import Answer, Column, Marked, Picture, Table, Verbatim, Words


class Tags(HTMLParser):
    """Counts what is opened and closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.cells.append(data)


def test_long_text_in_a_table_has_room() -> None:
    """Protects telephones from a bottleneck of a word a line, which makes its row as high as the screen."""
    words = "write-intent bitmap: 61 % of a write's time; busiest is disk disk0 (12 % busy)"
    columns = (Column("design"), Column("bottleneck"), Column("I/Os", show=number))
    text = table_html(Table("t", columns, (("a", words, 1.0), ("b", "disk", 2.0))))
    cells = text.split("<td ")[1:]
    assert ["min-width" in cell for cell in cells] == [True, False, False, False]


def test_only_columns_with_a_name_have_a_header() -> None:
    """Protects who listens to a page: a header without words is announced as nothing."""
    text = table_html(Table("t", (Column(""), Column("rate", show=number)), (("read", 1.0),)))
    assert text.count('scope="col"') == 1
    assert "></th>" not in text


def test_tables_are_whole_and_their_text_is_only_text() -> None:
    """Protects the page from names in files: what looks like HTML is shown letter by letter."""
    columns = (Column("a"), Column("b", "ms", number, 1e3))
    table = Table("t", columns, (("<img src=x onerror=alert(1)>", 1.2345), ("x", None)))
    parser = Tags()
    parser.feed(table_html(table, "<script>"))
    assert parser.open == []
    assert "<img src=x onerror=alert(1)>" in parser.cells
    assert "1,234" in parser.cells
    assert "b (ms)" in parser.cells
    assert "<script>" in parser.cells
    assert "-" in parser.cells


ANSWER = Answer(
    "the answer",
    [
        Words("a sentence", "bad"),
        Answer("one", [Table("", (Column("a", show=number),), ()), Verbatim("a\n  b")]),
        Answer("two: more", [Picture("a picture", lambda: "<svg></svg>")]),
        Answer("three", []),
    ],
)


def test_a_page_has_all_parts_and_links_to_them() -> None:
    """Protects pages: what a terminal leaves out is there, every heading has its link, empty tables are left out."""
    text = page(ANSWER)
    for words in ("a sentence", "<svg", "a\n  b", '<a href="#two">', 'id="two"', "<figcaption>a picture"):
        assert words in text
    assert "<table" not in text
    assert text.count("<h2") == 3


def test_a_part_alone_has_no_page_around_it() -> None:
    """Protects notebooks: a part brings no head, no style sheet and no links of its own."""
    text = html(ANSWER)
    assert text.startswith("<section><h3")
    assert "<style" not in text
    assert "<nav" not in text


def test_bad_news_is_marked() -> None:
    """Protects readers from overlooking what is wrong; a cell that is as it should be has no color."""
    table = Table("t", (Column("a"), Column("b", show=number)), (("x", Marked(1.0, "bad")), ("y", 1.0)))
    assert table_html(table).count("color:#b42318") == 1
