"""Lines below tables that say what columns mean: each heading that must be decoded has its words."""

from __future__ import annotations

import re
from collections.abc import Sequence

import raidsim
from raidsim.api.answer.tree import Answer, Part, Table, Words
from raidsim.tests.api.small import small

DECODED = {"p99", "of", "survives", "busiest", "needs", "IOPS", "fail", "of max", "TB", "set by", "drives fail", "why"}
"""Headings that say nothing to a newcomer."""


def unexplained(parts: Sequence[Part]) -> set[str]:
    """Such headings of which no sentence below the table says "heading: ..."."""
    missing = set()
    for place, part in enumerate(parts):
        if isinstance(part, Answer):
            missing |= unexplained(part.parts)
        elif isinstance(part, Table):
            below = " ".join(each.text for each in parts[place + 1 :] if isinstance(each, Words))
            heads = {
                re.sub(r"^(read|write) (?=p99)", "", each.name.replace("\n", " ").strip()) for each in part.columns
            }
            missing |= {head for head in heads & DECODED if not re.search(rf"\b{re.escape(head)}\b[^.:]*:", below)}
    return missing


def test_a_comparison_explains_its_columns() -> None:
    """Protects a newcomer from headings to decode, with the differences, the rebuilds and the risks."""
    two = small(disks=4, machine__drives__price=50)
    found = raidsim.compare(two, layout=["raid5", "raid10"], replications=2, workers=0, progress=False)
    parts = found.answer().parts
    titles = [part.title for part in parts if isinstance(part, Table)]
    assert {"What it holds, and what limits", "Rebuild of a drive", "Probability that data are lost"} <= set(titles)
    assert unexplained(parts) == set()
    assert any("9 % more than design 1" in part.text for part in parts if isinstance(part, Words))


def test_advice_explains_its_columns() -> None:
    """Protects a planner: what meets a requirement and what does not have tables with their words."""
    wanted = {
        "drives": [{"model": "WD2500JS", "count": 4}],
        "levels": ["raid10", "raid5"],
        "chunks": ["64KiB"],
        "bitmap": "none",
        "load": {"total_iops": 120, "read_share": "30%", "block_size": "4KiB"},
        "limits": {"p99": "90ms"},
    }
    parts = raidsim.advise(wanted, workers=0, progress=False).answer().parts
    heads = {column.name.replace("\n", " ") for part in parts for each in _tables(part) for column in each.columns}
    assert heads >= {"of max", "fail", "needs", "why"}
    assert unexplained(parts) == set()


def _tables(part: Part) -> list[Table]:
    return list(part.tables()) if isinstance(part, Answer) else []


def test_a_heading_without_words_is_found() -> None:
    """The counter-test: the same table without the line below it has unexplained headings."""
    found = raidsim.compare([small()], replications=1, rebuild=False, workers=0, progress=False)
    tables = [part for part in found.answer().parts if isinstance(part, Table)]
    assert {"p99", "of", "survives", "busiest"} <= unexplained(tables)
