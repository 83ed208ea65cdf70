"""Simulations for advice end as soon as their answer is known, and the answer is the one of the full ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from raidsim.model.statistics.batch_means import Estimate
from raidsim.scenarios.advice.endings import Endings
from raidsim.scenarios.advice.fewest_drives import FewestDrives
from raidsim.scenarios.advice.judgement import judged
from raidsim.scenarios.advice.runs import Measured, Simulations, Task, _is_short, run_task
from raidsim.scenarios.advice.trials import BRIEF_IOS, Trials
from raidsim.scenarios.advice.verdict import Verdict
from raidsim.scenarios.designs.designs import Design
from raidsim.scenarios.designs.requirement import RequirementSpec
from raidsim.tests.scenarios.designs.test_requirement import DRIVE, wanted

FLASH: dict[str, Any] = {
    "load": {"total_iops": 8000, "read_share": "50%", "block_size": "8KiB"},
    "limits": {"p99": "5ms"},
    "levels": ["raid10", "raid5"],
    "chunks": ["64KiB", "512KiB"],
    "drives": [{"model": "Samsung-PM9A3-3840GB", "count": 4}],
    "precision": "30%",
    "bitmap": "none",
}
DISKS: dict[str, Any] = {
    "load": {"total_iops": 900, "read_share": "50%", "block_size": "8KiB"},
    "limits": {"p99": "30ms"},
    "levels": ["raid5"],
    "chunks": ["64KiB"],
    "drives": [{"model": DRIVE, "count": 4}],
    "bitmap": "none",
}


def _found(requirement: RequirementSpec) -> list[tuple[str, str]]:
    """What brief runs show of every family, the fastest first."""
    trials = Trials(requirement)
    searches = [
        trials.screened(each.designs[0], requirement.load.total_iops, (600,))
        for each in FewestDrives(trials).candidates
    ]
    with Simulations(requirement, workers=1) as simulations:
        verdicts = simulations.run(searches)
    verdicts.sort(key=lambda each: each.worst_p99)
    return [(each.design.family.layout_words, each.status) for each in verdicts]


def _only(requirement: RequirementSpec) -> Design:
    return FewestDrives(Trials(requirement)).candidates[0].designs[0]


def test_chunks_that_are_alike_rank_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """On flash one chunk size stands for both, and the ranking is that of each of them."""
    short = _found(wanted(**FLASH))
    assert [name for name, _ in short] == ["RAID 10", "RAID 5"]
    monkeypatch.setattr(FewestDrives, "_footprint", lambda *_: None)
    long = _found(wanted(**FLASH))
    assert len(long) == 4
    assert list(dict.fromkeys(long)) == short


def test_other_loads_in_order_tell_chunks_apart() -> None:
    """The counter-test: rows of a sequential load depend on the chunk, so none is left out."""
    stream = {"name": "backup", "pattern": "sequential", "block_size": "1MiB", "read_share": "0%"}
    assert len(FewestDrives(Trials(wanted(**FLASH, beside=[stream]))).candidates) == 4


def test_a_design_far_beyond_a_limit_is_out_before_the_brief_run_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of the first I/Os is late: the run ends, and without this ending the design fails as well."""
    requirement = wanted(**DISKS)
    task = Task(_only(requirement), "brief", 900, 600)
    spec = Trials(requirement).spec(task.design)
    found = run_task(requirement, task)
    assert found.late
    assert judged(requirement, spec, found).status == "fails"
    monkeypatch.setattr(Endings, "is_late", lambda *_: False)
    full = run_task(requirement, task)
    assert full.commands > 0
    assert judged(requirement, spec, full).status == "fails"
    monkeypatch.setattr(Endings, "late", lambda *_: ())
    assert judged(requirement, spec, run_task(requirement, task)).status == "fails"


def test_a_design_within_its_limits_is_never_late() -> None:
    """The counter-test: with a limit of a second nothing is late, and the brief run is as long as asked."""
    requirement = wanted(**{**DISKS, "load": {**DISKS["load"], "total_iops": 150}, "limits": {"p99": "1s"}})
    found = run_task(requirement, Task(_only(requirement), "brief", 150, 300))
    assert found.late == ()
    assert found.iops * 2.0 == pytest.approx(300, rel=0.2)


def test_a_coarse_precision_takes_one_run_that_decides() -> None:
    """With 30 % a run goes on until the p99 has an interval, so it is not repeated with a finer precision."""
    easy = {**DISKS, "load": {**DISKS["load"], "total_iops": 100}, "limits": {"p99": "200ms"}}
    requirement = wanted(**{**easy, "precision": "30%"})
    search = Trials(requirement).precisely(_only(requirement), 100)
    measured = run_task(requirement, next(search))
    assert all(each.high < 0.2 for each in measured.latencies.values())
    with pytest.raises(StopIteration) as end:
        search.send(measured)
    assert end.value.value.status == "meets"


def _asked(requirement: RequirementSpec, p99_s: float) -> tuple[list[tuple[str, int, bool]], Verdict]:
    """What is simulated of a design that always has this p99."""
    trials = Trials(requirement)
    found: list[tuple[str, int, bool]] = []
    search = trials.settled(_only(requirement), requirement.load.total_iops)
    task = next(search)
    while True:
        found.append((task.kind, task.ios, task.warm_up > 0))
        latencies = {f"{op}_p99": Estimate(p99_s, 0.1 * p99_s, 0.9, 20, 0.0, 0.0, False) for op in ("read", "write")}
        measured = replace(Measured(task, task.iops, {}, False, 0.0, 0.0, "", None), latencies=latencies)
        try:
            task = search.send(measured)
        except StopIteration as end:
            verdict: Verdict = end.value
            return found, verdict


def test_few_arrivals_in_a_brief_run_are_no_saturation() -> None:
    """Of 1,000 arrivals a tenth may be missing by chance, of 100,000 not."""
    assert not _is_short(90.0, 100.0, 10.0)
    assert _is_short(90.0, 100.0, 1000.0)
    assert not _is_short(97.0, 100.0, 1000.0)


def test_brief_runs_are_few_for_what_is_well_within() -> None:
    """One brief run if the p99 is far below the limit, all of them if it is near, and none more if it is beyond."""
    requirement = wanted(**DISKS)
    assert _asked(requirement, 0.002)[0] == [("brief", 600, False), ("precise", 0, False)]
    near = [*(("brief", ios, False) for ios in BRIEF_IOS), ("precise", 0, False)]
    assert _asked(requirement, 0.020)[0] == near
    assert _asked(requirement, 0.050)[0] == [("brief", 600, False)]


def test_no_brief_run_rejects_an_array_whose_bitmap_still_fills() -> None:
    """Flash sets all bits within a second, and writes get faster. Disks do not, and arrays without bitmap have none."""
    flash = {**FLASH, "levels": ["raid5"], "limits": {"p99": "2ms"}}
    flash["load"] = {**FLASH["load"], "total_iops": 100_000, "span": "1TB"}
    found, verdict = _asked(wanted(**{**flash, "bitmap": "64MiB"}), 0.003)
    assert found == [("brief", 600, False), ("precise", 0, True)]
    assert verdict.status == "fails"
    assert _asked(wanted(**flash), 0.003)[0] == [("brief", 600, False)]
    assert _asked(wanted(**{**DISKS, "bitmap": "64MiB"}), 0.050)[0] == [("brief", 600, False)]
