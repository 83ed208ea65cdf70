"""The words of raidsim: plain expressions, US spelling, and sentences that are understood at first reading."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from raidsim.tests.house import TOP
from raidsim.tests.manual_pages import DOCS, ROOT, pages

LONGEST = 35
"""Words in a sentence of the manual."""
_FENCE = re.compile(r"^( *)(`{3,}|~{3,}|:{3,}).*?^ *\2 *$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`]*`")
_BLOCK = re.compile(r"\n\s*\n|\n(?= *(?:[-*]|\d+\.) )|^#.*$", re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[.!?])[)*\"]*\s+|(?<=:)\s+(?=[A-Z*\[(0-9{-])")
_NOT_PROSE = re.compile(r"\s*(?:[|%<]|\([\w-]+\)=)")
_SOURCES = re.compile(r"\s*(?:\*\*)?Sources?\b")


@cache
def vocabulary() -> tuple[tuple[re.Pattern[str], str], ...]:
    """The expressions of docs/vocabulary.txt, with what to write instead."""
    text = (DOCS / "vocabulary.txt").read_text(encoding="utf-8")
    rules = (line.split(" -> ") for line in text.splitlines() if line and not line.startswith("#"))
    return tuple((re.compile(rf"\b(?:{expression})\b", re.IGNORECASE), instead) for expression, instead in rules)


def misused(text: str) -> list[str]:
    """Each expression in `text` that the vocabulary does not have, in its context, and what to write instead."""
    plain = re.sub(r"`[^`]*`", "x", " ".join(text.split()))
    return [
        f"{plain[max(0, found.start() - 40) : found.end() + 30]!r}: write {instead}"
        for expression, instead in vocabulary()
        for found in expression.finditer(plain)
    ]


def prose(text: str) -> str:
    """A page without its examples and comments."""
    return re.sub(r"(?s)<!--.*?-->|\$\$.*?\$\$", "", _FENCE.sub("\n\n", text))


def sentences(text: str) -> Iterator[str]:
    """The sentences of a page and its lists, without those on sources; code and formulas do not count as words."""
    for block in _BLOCK.split(prose(text)):
        if _SOURCES.match(block):
            continue
        line = " ".join(each for each in block.splitlines() if not _NOT_PROSE.match(each))
        line = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`|\$[^$]*\$", "X", line))
        yield from _SENTENCE.split(line)


def words(sentence: str) -> int:
    """How many words a sentence has."""
    return sum(re.fullmatch(r"\W*X?\W*", each) is None for each in sentence.split())


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Where the docstrings of a module are, and what they say."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            said = ast.get_docstring(node)
            if said:
                yield node.body[0].lineno, said


def shown(path: Path) -> Iterator[tuple[int, str]]:
    """Texts of a module that people see: every string of two words or more, those of docstrings included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value


PAGES = [*pages(), ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "SECURITY.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_uses_the_vocabulary(page: Path) -> None:
    """Protects readers from idioms that must be decoded."""
    assert misused(prose(page.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_sentences_of_a_page_are_short(page: Path) -> None:
    """Protects readers from sentences that they must read twice."""
    found = list(sentences(page.read_text(encoding="utf-8")))
    assert [each for each in found if words(each) > LONGEST] == []


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(DOCS).as_posix())
def test_a_page_has_one_title_and_no_level_left_out(page: Path) -> None:
    """Protects the table of contents: one heading of the first level, and no jump from the first to the third."""
    levels = [
        len(each) for each in re.findall(r"^(#+) ", _FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    ]
    assert levels.count(1) == 1
    assert all(below - above <= 1 for above, below in pairwise(levels))


@pytest.mark.parametrize("folder", TOP)
def test_docstrings_use_the_vocabulary(folder: str) -> None:
    """Protects readers of the code and of the reference."""
    found = [
        f"{path.relative_to(ROOT)}:{line}: {each}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line, text in docstrings(path)
        for each in misused(text)
    ]
    assert found == []


@pytest.mark.parametrize("folder", ["cli", "web", "api"])
def test_what_is_shown_uses_the_vocabulary(folder: str) -> None:
    """Protects users: help texts, headings of tables, notes, labels of the page."""
    found = [
        f"{path.relative_to(ROOT)}:{line}: {each}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line, text in shown(path)
        for each in misused(text)
    ]
    assert found == []


def test_what_is_misused_is_found() -> None:
    """Protects the tests above from finding nothing."""
    assert len(misused("Who reads has so many requests, beside the others.")) == 3
    assert misused("The reader waits for `so many` of them, a cheapened word.") == []
    page = "# Title\n\n" + "word " * 36 + "end. `code` is short.\n\n```text\n" + "word " * 50 + "\n```\n"
    assert [words(each) for each in sentences(page) if each.strip()] == [37, 2]


def comments(path: Path) -> str:
    """The comments and docstrings of a module, a line each."""
    with path.open("rb") as source:
        said = [each.string for each in tokenize.tokenize(source.readline) if each.type == tokenize.COMMENT]
    return "\n".join([*said, *(text for _, text in docstrings(path))])


def test_spelling_is_that_of_us_english(tmp_path: Path) -> None:
    """Protects searches of the manual and of the code: a word has one spelling. Exceptions are in pyproject.toml."""
    for path in [*PAGES, *(path for folder in (*TOP, "tests") for path in sorted((ROOT / folder).rglob("*.py")))]:
        text = _CODE.sub("", prose(path.read_text(encoding="utf-8")) if path.suffix == ".md" else comments(path))
        (tmp_path / "__".join(path.relative_to(ROOT).parts)).with_suffix(".txt").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "codespell_lib", "--toml", str(ROOT / "pyproject.toml"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout + done.stderr).replace(f"{tmp_path}/", "") == ""
