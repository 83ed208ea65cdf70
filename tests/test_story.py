"""The numbers of the five reports, wherever they are told: the same as in the validation report."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from raidsim.tests.manual_pages import DOCS, ELIDED, ROOT, examples, raidsim_command

REPORTS = ("gentoo-2004", "catalan-2005", "gateway-2005", "prinkey-2002", "freebsd-2007")


def row(path: Path, report: str) -> list[str]:
    """The cells of a report's row in the first table that has one, with links and names left out."""
    found = re.search(rf"^\|[^|]*{report}[^|]*\|(.*)\|$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None, f"{path.name} has no row of {report}"
    return [cell.strip() for cell in found[1].split("|")]


def rounded(percent: str) -> str:
    """A figure of the validation report as the shorter tables have it."""
    return f"{float(percent.removesuffix(' %')):.0f} %"


@pytest.mark.parametrize("report", REPORTS)
def test_all_tables_tell_the_same(report: str) -> None:
    """Protects the story from numbers of yesterday: they are those of the last validation run."""
    cells, median, _, worst, _, claims, *_ = row(DOCS / "validation.md", report)
    told = row(DOCS / "story.md", report)
    assert told[-1] == claims.replace("-", "")
    if report != "freebsd-2007":
        assert told[-4:-1] == [cells, median, rounded(worst)]


def test_the_readme_shows_what_the_command_prints() -> None:
    """Protects the README's comparison from numbers of yesterday."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (shown,) = examples(text)
    printed = raidsim_command(ROOT, *shlex.split(shown.command)).stdout
    kept = [line for line in shown.shown.splitlines() if line and line != ELIDED]
    lines = iter(line.rstrip() for line in printed.splitlines())
    assert [line for line in kept if line not in lines] == []
