"""A damaged line of an output is refused or named, or changes nothing: never another machine in silence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest

from raidsim.calibration.inspection import inspection
from raidsim.calibration.inspection.inspection import Inspection, Source, inspect
from raidsim.calibration.inspection.tools.doubts import edits
from raidsim.model.core.errors import InputError
from raidsim.tests.calibration.inspection.test_refusals import TEXTS

LINES = 14
"""Of each text, spread over it."""
MARK = "~?"
_OTHERS = re.compile(r"[$#] |^> |\x22 ?: ")
"""Commands, and JSON in texts."""


def misspelt(line: str) -> str | None:
    """A character too many in the first word."""
    word = re.search(r"\w\w+", line)
    return None if word is None else f"{line[: word.start() + 1]}~{line[word.start() + 1 :]}"


def unreadable(line: str, which: int) -> str | None:
    """A digit that is a question mark."""
    numbers = [*re.finditer(r"\d+", line)]
    return None if not numbers else f"{line[: numbers[which].start()]}?{line[numbers[which].start() + 1 :]}"


def cut(line: str) -> str | None:
    """Only the first words."""
    words = line.split()
    return line[: line.index(words[len(words) // 2 - 1]) + len(words[len(words) // 2 - 1])] if len(words) > 1 else None


WAYS: dict[str, Callable[[str], str | None]] = {
    "misspelt": misspelt,
    "first number": lambda line: unreadable(line, 0),
    "last number": lambda line: unreadable(line, -1),
    "cut": cut,
}
CUT_AND_WHOLE = ("blocks", "Size", "odel", "Device:")
"""Lines that say less if they are cut, and are whole lines still."""


def machine(text: str) -> Inspection | None:
    """What is made of a text; None if it is refused."""
    try:
        return inspect([Source("x", text)], "x")
    except InputError as error:
        refused = error
    assert re.match(r"x(:\d+){0,2}$", refused.place), refused
    return None


def is_named(made: Inspection, whole: Inspection, number: int) -> bool:
    """Whether notes, assumptions or a value that is shown tell of a line."""
    notes = "\n".join(made.notes)
    listed = [each for said in re.findall(r"lines? ([\d, -]+)", notes) for each in re.findall(r"\d+(?:-\d+)?", said)]
    spans = [tuple(map(int, each.split("-"))) for each in listed]
    noted = re.search(rf"x:{number}\b", notes) or any(span[0] <= number <= span[-1] for span in spans)
    known = {entry["path"] for entry in whole.assumed}
    assumed = any(entry["path"] not in known for entry in made.assumed)
    shown = any(mark in made.text and mark not in whole.text for mark in MARK)
    return bool(noted or assumed or shown)


def damaged(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, way and the text with that line damaged."""
    lines = text.split("\n")
    full = [at for at, line in enumerate(lines) if line.strip() and not _OTHERS.search(line)]
    for at in full[:: max(1, len(full) // LINES)]:
        for way, damage in WAYS.items():
            other = damage(lines[at])
            if other is not None and other != lines[at]:
                yield at + 1, way, "\n".join([*lines[:at], other, *lines[at + 1 :]])


@pytest.mark.parametrize("name", sorted(each for each in TEXTS if not each.endswith(".json")))
def test_a_damaged_line_is_named(name: str) -> None:
    """Protects from a line that is dropped because it is not understood."""
    whole = machine(TEXTS[name])
    if whole is None:
        return
    for number, way, text in damaged(TEXTS[name]):
        made = machine(text)
        line = text.split("\n")[number - 1]
        if made is None or made.document == whole.document or is_named(made, whole, number):
            continue
        legal = way == "cut" and any(word in line for word in CUT_AND_WHOLE)
        assert legal, (number, way, line)


@pytest.mark.parametrize("name", ["smartctl-text.txt", "made-arcconf.txt", "mdadm-detail.txt"])
def test_without_a_second_look_lines_are_lost(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The counter-test: what the readers alone do not name."""
    monkeypatch.setattr(inspection, "doubts", lambda output, found: ())
    whole = machine(TEXTS[name])
    assert whole is not None
    made = [(number, machine(text)) for number, _, text in damaged(TEXTS[name])]
    assert any(
        each is not None and each.document != whole.document and not is_named(each, whole, number)
        for number, each in made
    )


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_a_whole_output_has_no_doubts(name: str) -> None:
    """Protects from notes about lines that are as their program prints them."""
    made = machine(TEXTS[name])
    assert made is None or not [note for note in made.notes if "is not read:" in note]


def test_misspelt_words_are_told_by_their_distance() -> None:
    """Levenshtein's own examples of what is near."""
    assert [edits(*pair) for pair in (("kitten", "sitting"), ("", "abc"), ("layout", "layout"))] == [3, 3, 0]
