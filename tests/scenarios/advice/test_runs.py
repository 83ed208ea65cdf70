"""What simulations for advice leave out of their measurement."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.scenarios.advice import runs
from raidsim.scenarios.advice.fewest_drives import FewestDrives
from raidsim.scenarios.advice.judgement import judged
from raidsim.scenarios.advice.runs import Measured, Task, run_task
from raidsim.scenarios.advice.trials import Trials
from raidsim.scenarios.designs.requirement import RequirementSpec
from raidsim.tests.scenarios.advice.test_rivals import STREAM as SMALLER_STREAM
from raidsim.tests.scenarios.designs.test_requirement import wanted

STREAM = SMALLER_STREAM | {"total_iops": 200, "start": "50TB", "span": "50TB"}
STREAMING: dict[str, Any] = {
    "load": {"total_iops": 500, "read_share": "70%", "block_size": "8KiB", "span": "50TB"},
    "beside": [STREAM],
    "limits": {"p99": "150ms"},
    "levels": ["raid6"],
    "chunks": ["512KiB"],
    "drives": [{"model": "Exos-X18-18TB-SAS", "count": 24}],
    "bitmap": "none",
}


def _brief(requirement: RequirementSpec) -> tuple[Measured, str]:
    design = FewestDrives(Trials(requirement)).candidates[0].designs[0]
    measured = run_task(requirement, Task(design, "brief", requirement.load.total_iops, 250))
    return measured, judged(requirement, Trials(requirement).spec(design), measured).status


def test_no_run_with_a_stream_is_judged_while_the_stripe_cache_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 256 heads the stream holds up the writes of RAID 6; without a warm-up they would count."""
    measured, status = _brief(wanted(**STREAMING))
    assert measured.late == ()
    assert status != "fails"
    monkeypatch.setattr(runs, "_CACHE_GROWS_S", 0.0)
    at_once, _ = _brief(wanted(**STREAMING))
    assert at_once.latencies["write_mean"].mean > 2 * measured.latencies["write_mean"].mean


def test_a_warm_up_does_not_help_drives_that_are_too_slow() -> None:
    """The counter-test: with five times the load RAID 6 is refused as before."""
    load = {**STREAMING["load"], "total_iops": 2500}
    measured, status = _brief(wanted(**{**STREAMING, "load": load}))
    assert measured.late
    assert status == "fails"
