"""The numbers of the five reports, wherever they are told: the same as in the validation report."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from raidsim.tests.manual_pages import DOCS, ROOT

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
    """Protects the README and the story from numbers of yesterday: both are those of the last validation run."""
    cells, median, _, worst, _, claims = row(DOCS / "validation.md", report)
    told, short = row(DOCS / "story.md", report), row(ROOT / "README.md", report)
    assert told[-1] == short[-1] == claims.replace("-", "")
    if report != "freebsd-2007":
        assert told[-4:-1] == [cells, median, rounded(worst)]
        assert [short[0], short[1], short[3]] == [cells, median, rounded(worst)]
