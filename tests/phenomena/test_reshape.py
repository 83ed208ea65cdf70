"""What a reshape takes, and what it costs the load."""

from __future__ import annotations

import pytest

from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.questions.rebuild_comparison import compare_rebuild
from raidsim.scenarios.questions.rebuild_remedies import changed_settings
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.simulate import simulate

LOAD = "{kind: load, targets: [md0], depth: 4, read_share: 100%, block_size: 4KiB, warm_up: 1s, duration: 4s}"
QUIET = "{kind: load, targets: [md0], iops: 1, read_share: 100%, block_size: 4KiB, warm_up: 1s, duration: 4s}"

LONG = "{kind: load, targets: [md0], iops: 1, read_share: 100%, block_size: 4KiB, warm_up: 20s, duration: 20s}"


def scenario(array: str, load: str) -> ScenarioSpec:
    """An array of 80 GB drives."""
    text = f"""
machine: {{model: server, drives: {{model: WD800JB, count: 6}}}}
arrays: {{md0: {{chunk: 64KiB, bitmap: none, {array}}}}}
workload: {load}
"""
    return document_from(text).spec()


def run(array: str, load: str = QUIET) -> Prediction:
    """What such an array does."""
    return simulate(scenario(array, load))


def reshaping(old: str, more: str = "") -> str:
    """A state in the middle of a reshape."""
    return f"state: {{reshaping: {{from: {{{old}}}, at: 40%{more}}}}}"


def test_a_load_slows_a_reshape_down() -> None:
    """Phenomenon: random reads take time of the members. They have to wait for heads, so md hardly gives way (5 %
    less was recorded with four reads at a time).
    """
    array = f"level: raid5, members: 4, {reshaping('members: 3')}"
    alone, loaded = run(array).rebuilds[0], run(array, LOAD).rebuilds[0]
    assert alone.action == loaded.action == "reshape"
    assert 0.5 * alone.rate < loaded.rate < 0.97 * alone.rate


def test_a_limit_holds_it_down() -> None:
    """`speed_max` is a limit for a reshape, too; without one it is faster."""
    rates = [
        run(f"level: raid5, members: 4, {reshaping('members: 3', limit)}", LONG).rebuilds[0].rate
        for limit in (", speed_max: 2MB/s", "")
    ]
    assert rates[0] < 3e6
    assert rates[1] > 8e6


def test_reads_take_longer_during_a_reshape() -> None:
    """Phenomenon with its counter-test: the array at rest."""
    during = run(f"level: raid5, members: 4, {reshaping('members: 3')}", LOAD).latencies["read"]["mean_s"]
    rest = run("level: raid5, members: 4, state: whole", LOAD).latencies["read"]["mean_s"]
    assert during > 1.5 * rest


def test_mirrors_are_reshaped_and_tell_how_long_it_takes() -> None:
    """RAID 10 from four to six members: two thirds of a member's rows are written."""
    found = run(f"level: raid10, members: 6, {reshaping('members: 4')}").rebuilds[0]
    member = 80_026_361_856
    assert 0.6 * member < found.total_bytes < 0.7 * member
    assert found.rate > 1e6
    assert 0 < found.left_s < found.duration_s


def test_a_reshape_is_compared_with_the_array_at_rest() -> None:
    """The questions of a rebuild are those of a reshape: what the load loses to it, and what other limits do."""
    spec = scenario(f"level: raid5, members: 4, {reshaping('members: 3')}", LOAD)
    found = compare_rebuild(spec)
    assert (found.what, found.lost_members) == ("reshape", False)
    assert found.loss > 0.2
    assert found.duration_s > 3600
    assert any("sync_speed_max" in what for what, _ in changed_settings(spec, found.rebuilding))


def test_a_rebuild_still_is_one() -> None:
    """Counter-test: members are lost, so there are three runs."""
    found = compare_rebuild(scenario("level: raid5, members: 4, state: rebuilding", LOAD))
    assert (found.what, found.lost_members) == ("rebuild", True)


def test_a_backup_file_makes_a_reshape_slower() -> None:
    """Phenomenon: without more data members mdadm copies all data to a file first. Counter-test: a growing array's
    critical section is over at 40 %.
    """
    wide = "level: raid6, members: 5"
    offset, copied = (
        run(f"{wide}, {reshaping('level: raid5, members: 4', more)}", LONG).rebuilds[0].rate
        for more in ("", ", backup: disk5")
    )
    assert 0.2 * offset < copied < 0.7 * offset
    grown = "level: raid5, members: 4"
    plain, begun = (
        run(f"{grown}, {reshaping('members: 3', more)}", QUIET).rebuilds[0].rate for more in ("", ", backup: disk5")
    )
    assert begun == pytest.approx(plain, rel=0.1)


def test_an_interrupted_reshape_costs_nothing_but_its_reads_go_on() -> None:
    """`frozen`: the array is in two layouts, and the load has it alone; counter-test: the reshape that goes on."""
    array = "level: raid5, members: 4"
    frozen = run(f"{array}, {reshaping('members: 3', ', frozen: true')}", LOAD)
    going = run(f"{array}, {reshaping('members: 3')}", LOAD)
    assert not frozen.rebuilds
    assert frozen.latencies["read"]["mean_s"] < 0.7 * going.latencies["read"]["mean_s"]
