"""A design that is clearly slower than the same one with another chunk is shown, but not run to the end."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from math import inf
from typing import Any

import pytest
from rich.console import Console

from raidsim.api.tables.advice_document import document
from raidsim.api.tables.advise import advice_answer
from raidsim.cli.support.terminal import show
from raidsim.model.statistics.batch_means import Estimate
from raidsim.scenarios.advice.advice import Advice, advise
from raidsim.scenarios.advice.fewest_drives import FewestDrives
from raidsim.scenarios.advice.rivals import Rivals, is_slower
from raidsim.scenarios.advice.runs import Measured, Simulations, Task
from raidsim.scenarios.advice.trials import Trials
from raidsim.scenarios.advice.verdict import Verdict
from raidsim.tests.scenarios.designs.test_requirement import DRIVE, wanted

STREAM: dict[str, Any] = {
    "name": "backup",
    "pattern": "sequential",
    "block_size": "1MiB",
    "read_share": "0%",
    "total_iops": 250,
    "arrivals": "constant",
    "start": "200GB",
    "span": "200GB",
}
QUESTION: dict[str, Any] = {
    "load": {"total_iops": 600, "read_share": "70%", "block_size": "8KiB", "span": "100GB"},
    "beside": [STREAM],
    "limits": {"p99": "500ms"},
    "levels": ["raid0", "raid10"],
    "chunks": ["64KiB", "512KiB"],
    "drives": [{"model": DRIVE, "count": 12}],
    "bitmap": "none",
}


@pytest.fixture(scope="module")
def both() -> tuple[Advice, Advice]:
    """The answer, and that of the full search, where 1 MiB on chunks of 64 KiB keeps all twelve disks busy."""
    return advise(wanted(**QUESTION), workers=1), advise(wanted(**QUESTION, all_chunks=True), workers=1)


def _first_of_each(advice: Advice) -> list[tuple[str, int]]:
    """Layout and chunk of the first design of each kind, in the order of the ranking."""
    first: dict[str, int] = {}
    for each in sorted(advice.ranked, key=lambda each: each.worst_p99):
        first.setdefault(each.design.family.layout_words, each.design.family.chunk)
    return list(first.items())


def test_the_first_of_each_kind_and_all_verdicts_are_those_of_the_full_search(both: tuple[Advice, Advice]) -> None:
    """What is not run further would have been ranked behind the chunk that beats it."""
    found, full = both
    assert _first_of_each(found) == _first_of_each(full)
    assert [each.design.name for each in found.verdicts] == [each.design.name for each in full.verdicts]
    assert found.ranked[0].design.name == full.ranked[0].design.name
    beaten = 0
    for mine, theirs in zip(found.verdicts, full.verdicts, strict=True):
        if mine.status != "beaten":
            assert mine.status == theirs.status
            assert mine.worst_p99 == theirs.worst_p99
            continue
        beaten += 1
        better = next(
            each for each in full.verdicts if mine.reasons == (f"not run further: beaten by {each.design.name}",)
        )
        assert better.status == "meets"
        assert better.worst_p99 < theirs.worst_p99
    assert beaten
    assert all(each.status != "beaten" for each in full.verdicts), "all_chunks runs them all"


def test_what_is_beaten_keeps_its_row_with_its_brief_figures(both: tuple[Advice, Advice]) -> None:
    """In the tables and in the JSON."""
    found = both[0]
    beaten = next(each for each in found.verdicts if each.status == "beaten")
    console = Console(width=120, record=True, file=StringIO())
    show(advice_answer(found), console)
    text = console.export_text()
    assert "Slower than another chunk" in text
    assert f"{1e3 * beaten.worst_p99:.1f}" in text
    row = next(each for each in document(found)["others"] if each["name"] == beaten.design.name)
    assert row["status"] == "beaten"
    assert row["reasons"] == list(beaten.reasons)
    assert row["latencies"]["write_p99"]["mean_s"] > 0


def _measured(**means_ms: float) -> Measured:
    """Latencies of reads and writes with intervals of 10 % of the means; a p99 is three times the mean."""
    latencies = {}
    for op, mean_ms in means_ms.items():
        mean = mean_ms * 1e-3
        latencies[f"{op}_mean"] = Estimate(mean, 0.1 * mean, 0.9, 20, 0.0, 0.0, False)
        latencies[f"{op}_p99"] = Estimate(3 * mean, inf, 0.9, 20, 0.0, 0.0, False)
    design = FewestDrives(Trials(wanted(**QUESTION))).candidates[0].designs[0]
    return Measured(Task(design, "brief", 600, 600), 600.0, latencies, False, 0.0, 0.0, "", None)


def test_only_what_is_clearly_slower_in_both_is_beaten() -> None:
    """Means whose intervals overlap, faster reads, or a p99 that is not longer: the design is run further."""
    fast = _measured(read=10.0, write=20.0)
    ops = ("read", "write")
    assert is_slower(_measured(read=13.0, write=26.0), fast, ops)
    assert not is_slower(_measured(read=11.0, write=26.0), fast, ops)
    assert not is_slower(_measured(read=9.0, write=60.0), fast, ops)
    assert not is_slower(fast, fast, ops)
    slow = _measured(read=13.0, write=26.0)
    short_tail = slow.latencies | {"write_p99": replace(slow.latencies["write_p99"], mean=0.05)}
    assert not is_slower(replace(slow, latencies=short_tail), fast, ops)
    unknown = slow.latencies | {"read_mean": replace(slow.latencies["read_mean"], half_width=inf)}
    assert not is_slower(replace(slow, latencies=unknown), fast, ops)


def test_who_waits_for_whom() -> None:
    """The smaller chunk waits for the larger one, unless all are asked for, or bits, caches or numbers differ."""

    def waiting(**changes: Any) -> list[int]:
        trials = Trials(wanted(**{**QUESTION, **changes}))
        return [each.family.chunk for each in Rivals(trials, FewestDrives(trials).candidates).waiting({})]

    assert waiting() == [65536, 65536]
    assert waiting(all_chunks=True) == []
    assert waiting(chunks=["64KiB"]) == []
    assert waiting(drives=[{"model": DRIVE, "count": "12-14"}]) == []
    small = {**QUESTION["load"], "span": "1GB"}
    assert waiting(load=small, levels=["raid10"]) == [65536]
    assert waiting(load=small, levels=["raid10"], bitmap="64MiB") == []


@pytest.mark.parametrize(("status", "beaten"), [("meets", 1), ("close", 0), ("fails", 0)])
def test_a_design_is_beaten_only_by_one_that_meets_the_requirement(status: Any, beaten: int) -> None:
    """Otherwise it is run to the end like any other."""
    requirement = wanted(**{**QUESTION, "levels": ["raid0"]})
    trials = Trials(requirement)
    small, large = FewestDrives(trials).candidates
    measured = _measured(read=1.0, write=1.0)
    leader = Verdict(large.designs[0], trials.facts(large.designs[0]), status, measured=measured)
    with Simulations(requirement, workers=1) as simulations:
        found = Rivals(trials, [small, large]).beaten(simulations, {id(large.family): leader})
    assert len(found) == beaten
    assert all(each.design is small.designs[0] for each in found)
