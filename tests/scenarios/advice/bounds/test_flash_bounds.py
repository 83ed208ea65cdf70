"""Bounds of solid-state drives: arithmetic one can do by hand, and that no simulation beats them."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.drives.catalogue import drive
from raidsim.model.solid_state.spec import SolidStateSpec
from raidsim.scenarios.advice.bounds.bounds import refusals
from raidsim.scenarios.advice.bounds.drive_times import drive_time
from raidsim.scenarios.designs.requirement import RequirementSpec
from raidsim.scenarios.running.full_load import as_much_as_it_takes
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.scenarios.advice.bounds.test_bounds import design_of
from raidsim.tests.scenarios.designs.test_requirement import wanted

SATA = "Intel-S4510-960GB"


def flash(**changes: Any) -> RequirementSpec:
    """A requirement of four SATA drives."""
    usual = {"levels": ["raid0"], "drives": [{"model": SATA, "count": 4}], "chunks": ["64KiB"], "capacity": "1TB"}
    return wanted(**{**usual, "limits": {}, "survives": 0, **changes})


def spec_of(name: str) -> SolidStateSpec:
    """A solid-state drive of the catalogue."""
    found = drive(name)
    assert isinstance(found, SolidStateSpec)
    return found


def test_the_busiest_part_by_hand() -> None:
    """Reads of 4 KiB are bounded by the commands a controller takes, those of 64 KiB by the cable."""
    disk = spec_of(SATA)
    for size, most in ((4096, disk.command_rate), (65536, disk.interface_rate / 65536)):
        spec = flash(load={"total_iops": 1000, "read_share": "100%", "block_size": f"{size}B"})
        found = drive_time(design_of(spec).scenario(spec))
        assert found.most_iops() == pytest.approx(4 * most, rel=0.005)
        assert found.writes_back


@pytest.mark.parametrize(("level", "share"), [("raid0", "100%"), ("raid0", "0%"), ("raid10", "50%"), ("raid5", "50%")])
def test_no_drive_is_faster_than_the_bound(level: str, share: str) -> None:
    """With hundreds of commands outstanding the simulation stays below the bound, once buffers are full."""
    small = [{"model": SATA, "count": 4, "overrides": {"write_buffer": "512KiB"}}]
    spec = flash(levels=[level], drives=small, load={"total_iops": 1000, "read_share": share, "block_size": "4KiB"})
    scenario = as_much_as_it_takes(design_of(spec).scenario(spec))
    times = {"warm_up": 0.002, "duration": 0.01, "jobs": 8, "depth": 128}
    brief = scenario.workload.model_copy(update=times)
    served = sum(simulate(scenario.model_copy(update={"workload": brief})).iops.values())
    assert served < 1.02 * drive_time(scenario).most_iops()


def test_too_much_is_refused_in_words() -> None:
    """More than the drives take is refused without a simulation; what they take is not; reads wait for their die."""
    for iops, bounds in ((500_000, ["drive time"]), (200_000, [])):
        spec = flash(load={"total_iops": iops, "read_share": "100%", "block_size": "4KiB"})
        found = refusals(design_of(spec).scenario(spec), spec)
        assert [each.bound for each in found] == bounds
        assert all("which serves 95,0" in each.text for each in found)
    late = flash(load={"total_iops": 1000, "read_share": "100%", "block_size": "4KiB"}, limits={"read_p99": "50us"})
    assert [each.bound for each in refusals(design_of(late).scenario(late), late)] == ["latency"]
