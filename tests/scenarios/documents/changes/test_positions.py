"""Positions of a merged document: a value that is not written has the place of the nearest value around it."""

from __future__ import annotations

import pytest

from raidsim.model.files.yaml_files import KeyPath, Positions, parse_yaml
from raidsim.scenarios.documents.changes.positions import DocumentPositions

TEXT = """machine:
  drives:
    sda:
      model: WD5000AAKS
"""
WRITTEN: list[tuple[KeyPath, int]] = [
    ((), 1),
    (("machine",), 1),
    (("machine", "drives"), 2),
    (("machine", "drives", "sda"), 3),
    (("machine", "drives", "sda", "model"), 4),
]


@pytest.mark.parametrize("further", range(4))
@pytest.mark.parametrize(("path", "line"), WRITTEN)
def test_what_is_not_written_is_placed_where_it_would_be(path: KeyPath, line: int, further: int) -> None:
    """Protects messages about a missing value, however deep below a written one it belongs: they name the line of the
    nearest value around it, or the option that gave that.
    """
    _, plain = parse_yaml(TEXT, "some.yaml")
    missing = (*path, *range(further))
    assert plain.place(missing) == f"some.yaml:{line}"
    merged = DocumentPositions("some.yaml", plain.lines)
    assert (merged.line(missing), merged.place(missing)) == (line, f"some.yaml:{line}")
    option = DocumentPositions("some.yaml", plain.lines, {path: "--set it"})
    assert option.place(missing) == "--set it"


def test_an_empty_document_has_a_first_line() -> None:
    """The counter-test: where nothing is written, the first line of the file."""
    for empty in (Positions("some.yaml"), DocumentPositions("some.yaml")):
        assert (empty.line(("a", "b")), empty.place(("a", "b"))) == (1, "some.yaml:1")
