"""What FreeBSD 6's software RAID does to programs that read large files, and why."""

from __future__ import annotations

from functools import cache

import pytest

from raidsim.calibration.study.runs import RunBuilder
from raidsim.calibration.study.study import load_study
from raidsim.scenarios.description.programs import ProgramsSpec
from raidsim.scenarios.running.base.sample import Sample
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.phenomena.freebsd_bench import GIB, KIB, TUNED, UNTUNED, rate, rate_of_two, rates

PLENTY = ((GIB, 10**6),)
"""As many buffers as graid3 could want."""


@pytest.mark.parametrize("mirrors", [2, 3, 5])
def test_round_robin_is_no_faster_than_a_disk(mirrors: int) -> None:
    """Protects the core: each disk has to pass over what the others read, so one reader gets the rate of one disk."""
    assert rate(f"gmirror-round-robin:{mirrors}", clusters=TUNED) == pytest.approx(rate("single"), rel=0.01)


@pytest.mark.parametrize(("mirrors", "share"), [(3, 0.8), (5, 0.45)])
def test_round_robin_is_slower_than_a_disk_without_much_read_ahead(mirrors: int, share: float) -> None:
    """Protects the phenomenon: when it is a disk's turn again its look-ahead is full or the place has gone by."""
    assert rate(f"gmirror-round-robin:{mirrors}", clusters=UNTUNED) < share * rate("single", clusters=UNTUNED)


@pytest.mark.parametrize("balance", ["gmirror-prefer", "ataraid", "md-2.6"])
def test_a_reader_who_stays_gets_a_whole_disk(balance: str) -> None:
    """Counter-test: the same disks with a balance that leaves a sequential reader where he is, without read-ahead."""
    assert rate(f"{balance}:2", clusters=UNTUNED) == pytest.approx(rate("single", clusters=UNTUNED), rel=0.02)


def test_round_robin_loses_a_revolution_a_request_on_a_drive_that_stops_in_the_gap() -> None:
    """Protects the worst case: less look-ahead than the gap, and a command that takes longer to start than the gap.

    A cluster of 128 KiB passes in 2 ms at the outside.
    """
    slow = (("read_overhead", 0.0025), ("look_ahead", 64 * KIB))
    assert rate("gmirror-round-robin:2", drive_values=slow) < 0.5 * rate("single", drive_values=slow)


@pytest.mark.parametrize("changed", [("read_overhead", 0.0025), ("look_ahead", 64 * KIB)])
def test_either_alone_does_no_harm(changed: tuple[str, float]) -> None:
    """Counter-test, one mechanism at a time; and with three mirrors the gap is long enough again."""
    assert rate("gmirror-round-robin:2", drive_values=(changed,)) == pytest.approx(rate("single"), rel=0.01)
    both = (("read_overhead", 0.0025), ("look_ahead", 64 * KIB))
    assert rate("gmirror-round-robin:3", drive_values=both) == pytest.approx(rate("single"), rel=0.03)


ADAPTS = (("look_ahead_first", 0),)
"""A drive that reads ahead only after reads that continue others, as disks for notebooks did until 2000."""
AMOUNT = (("look_ahead_first", 64 * KIB),)
"""A drive that reads a certain amount after any read, as makers describe theirs of 1999 and later."""


@pytest.mark.parametrize("mirrors", [2, 3, 5])
def test_round_robin_is_far_slower_than_a_disk_that_adapts(mirrors: int) -> None:
    """Protects what gaps cost such a drive: each turn begins with a read that continues nothing, so that the second
    of its two commands comes a revolution late; the more mirrors, the longer the way in which it happens once.
    """
    share = {2: 0.35, 3: 0.45, 5: 0.6}[mirrors]
    assert rate(f"gmirror-round-robin:{mirrors}", drive_values=ADAPTS) < share * rate("single", drive_values=ADAPTS)


@pytest.mark.parametrize("mirrors", [2, 3, 5])
def test_a_certain_amount_read_ahead_is_enough_for_round_robin(mirrors: int) -> None:
    """Counter-test: the second command of each turn finds what it wants on its way."""
    assert rate(f"gmirror-round-robin:{mirrors}", drive_values=AMOUNT) == pytest.approx(rate("single"), rel=0.02)


@pytest.mark.parametrize("array", ["ataraid:2", "single"])
def test_who_passes_over_nothing_loses_nothing_to_such_a_drive(array: str) -> None:
    """Counter-test: the same drives where the reader stays."""
    assert rate(array, drive_values=ADAPTS) == pytest.approx(rate(array), rel=0.02)


def test_reading_the_parity_in_turn_makes_gaps_too() -> None:
    """Protects graid3's default again: `-r` passes over a share of each drive, so that drives that adapt lose by it."""
    assert rate("raid3-r:5", drive_values=ADAPTS) < 0.4 * rate("raid3:5", drive_values=ADAPTS)


def test_split_is_no_faster_than_a_disk_either() -> None:
    """Protects from the hope that two halves read at once take half the time: half of each track is passed over."""
    assert rate("gmirror-split:2") == pytest.approx(rate("single"), rel=0.01)


def test_more_read_ahead_is_what_several_copies_need() -> None:
    """Protects the gain from vfs.read_max: five copies of one cluster at a time seek; with 16 each gets long runs."""
    assert rate("single", 5, UNTUNED) < 0.3 * rate("single", 5, TUNED)
    assert rate("raid3:5", 5, UNTUNED) < 0.2 * rate("raid3:5", 5, TUNED)


def test_with_five_copies_two_mirrors_in_round_robin_are_worse_than_a_disk() -> None:
    """Protects the observation that a second disk slows reading down: every file keeps both disks seeking."""
    assert rate("gmirror-round-robin:2", 5) < 0.98 * rate("single", 5)


def test_with_five_copies_staying_uses_both_disks() -> None:
    """Counter-test: it is the turn taking; ataraid, with the same disks and queue, reads nearly twice as fast."""
    assert rate("ataraid:2", 5) > 1.7 * rate("single", 5)


@pytest.mark.slow
def test_ataraid_treats_programs_unequally_and_gmirror_does_not() -> None:
    """Protects the other side of staying: whoever has the emptier disk keeps it; taking turns is fair."""
    fair, unfair = (rates(f"{balance}:2", 5, seconds=20.0) for balance in ("gmirror-round-robin", "ataraid"))
    assert max(fair) < 1.2 * min(fair)
    assert max(unfair) > 1.4 * min(unfair)


def test_graid3_is_first_with_one_copy() -> None:
    """Protects lockstep at its best: two data disks read twice as fast as a mirror, four 4 times; RAID 0+1 between."""
    single = rate("single")
    assert rate("raid3:3") == pytest.approx(2 * single, rel=0.02)
    assert rate("raid3:5") == pytest.approx(4 * single, rel=0.02)
    for other in ("gmirror-round-robin:5", "ataraid:2"):
        assert rate("raid3:3") > 1.9 * rate(other)
    assert rate("raid3:5") > 1.9 * rate("raid01")


def test_graid3_falls_behind_with_five_copies() -> None:
    """Protects the penalty: below the mirror of two with three members, below RAID 0+1 with five."""
    assert rate("raid3:3", 5) < 0.85 * rate("ataraid:2", 5)
    assert rate("raid3:5", 5) < 0.75 * rate("raid01", 5, seconds=8.0)
    assert rate("raid3:5", 5) < 0.65 * rate("raid3:5")


@pytest.mark.slow
def test_it_is_the_buffers_that_graid3_lacks() -> None:
    """Counter-test: with buffers for all reads the disks have enough to sort, and five copies cost little."""
    for members in (3, 5):
        assert rate(f"raid3:{members}", 5, buffers=PLENTY) > 0.93 * rate(f"raid3:{members}")


@pytest.mark.slow
def test_reading_the_parity_in_turn_does_not_help() -> None:
    """Protects graid3's default: `-r` is no faster with one copy, nor with five."""
    assert rate("raid3-r:5") == pytest.approx(rate("raid3:5"), rel=0.01)
    assert rate("raid3-r:5", 5) < 1.03 * rate("raid3:5", 5)


@pytest.mark.parametrize("second", [80 * KIB, 96 * KIB, 112 * KIB])
def test_two_copies_share_half_of_raid_01_if_their_clusters_begin_in_unlike_chunks(second: int) -> None:
    """Protects what one turn for all disks does: each cluster passes it on twice, and both copies take the same side
    of each column, while nobody uses the other one.
    """
    assert rate_of_two(second) < 0.6 * rate_of_two(0)


@pytest.mark.parametrize("second", [16 * KIB, 48 * KIB, 64 * KIB])
def test_they_have_a_side_each_if_like_chunks_come_first_or_one_at_a_time(second: int) -> None:
    """Counter-test: where the second one's clusters begin decides; so a run must have it as it comes."""
    assert rate_of_two(second) == pytest.approx(rate_of_two(0), rel=0.02)


# The same machine with a file system, and with Linux instead: cp of files of 3200 MB, as the study has them.

STUDY = RunBuilder(load_study("freebsd-2007"), {})


@cache
def copied(run: str, level: str | None = None) -> float:
    """MB/s of all copies of a run of the study, at a fraction of its size; on a `level` of RAID, with no tuning."""
    scenario = STUDY.scenario(run)
    if level is not None:
        array = scenario.arrays["md0"].model_copy(update={"level": level})
        scenario = scenario.model_copy(update={"arrays": {"md0": array}, "read_ahead": None})
    return simulate(scenario, Sample(scale=32)).figures["read.rate"] / 1e6


@pytest.mark.parametrize("readers", [3, 4])
def test_a_linux_mirror_overtakes_a_stripe_with_a_few_readers(readers: int) -> None:
    """Protects RAID 1 against RAID 0: readers in turn keep a disk of the mirror busy each; all move all of a stripe."""
    run = f"linux-raid1-2/{readers}"
    assert copied(run, "raid1") > 1.2 * copied(run, "raid0")


def test_one_reader_has_only_one_disk_of_the_mirror() -> None:
    """Counter-test: with nobody to share with, the stripe reads much faster."""
    assert copied("linux-raid1-2/1", "raid1") < 0.85 * copied("linux-raid1-2/1", "raid0")


def test_five_mirrors_win_only_under_many_readers() -> None:
    """Protects the ranking of five disks: five readers are best off with a mirror each, one with parity."""
    assert copied("linux-raid1-5/1") < 0.8 * copied("linux-raid4/1")
    assert copied("linux-raid1-5/5") > 1.05 * copied("linux-raid4/5")


@cache
def read_once(run: str, first: int | None) -> float:
    """MB/s of a run of the study with one reader, on drives that read so much ahead at first; None: as always."""
    scenario = STUDY.scenario(run)
    drives = {
        name: drive.model_copy(update={"overrides": {**drive.overrides, "look_ahead_first": first}})
        for name, drive in scenario.machine.drives.items()
    }
    machine = scenario.machine.model_copy(update={"drives": drives})
    return simulate(scenario.model_copy(update={"machine": machine}), Sample(scale=16)).figures["read.rate"] / 1e6


def test_parity_in_turn_costs_raid5_what_raid4_keeps() -> None:
    """Protects the report's quarter: RAID 5 of Linux has to pass over a chunk of five on every drive, RAID 4 never.

    Behind the gap drives have to start anew, which comes a revolution late where the host comes too late.
    """
    assert 1.1 < read_once("linux-raid4/1", 64 * KIB) / read_once("linux-raid5/1", 64 * KIB) < 1.4


def test_without_adapting_drives_they_are_alike() -> None:
    """Counter-test: drives that read through the gap give both the rate of four."""
    assert read_once("linux-raid4/1", None) == pytest.approx(read_once("linux-raid5/1", None), rel=0.05)


@cache
def readers_of_raid01(readers: int, inode_table: int) -> float:
    """MB/s of so many copies of 800 MiB each on RAID 0+1, where UFS2 has so many bytes of inodes in a group."""
    scenario = STUDY.scenario(f"nvidia-raid01/{readers}")
    workload = scenario.workload
    assert isinstance(workload, ProgramsSpec)
    (place, mounted), *_ = scenario.file_systems.items()
    step = workload.steps[0].model_copy(update={"size": 800 << 20})
    changed = {
        "file_systems": {place: mounted.model_copy(update={"overrides": {"inode_table": inode_table}})},
        "workload": workload.model_copy(update={"steps": (step,)}),
    }
    return simulate(scenario.model_copy(update=changed), Sample(scale=1)).figures["read.rate"] / 1e6


TABLE = 5888 * KIB


def test_two_readers_of_raid_0_1_have_no_more_than_one_by_where_ufs_puts_files() -> None:
    """Protects the report's flat RAID 0+1: every other span begins on the edge of a chunk and passes the one flag on
    twice, so that readers come to share a disk, and there the one waits until the other has read all of his file.
    """
    assert readers_of_raid01(2, TABLE) < 1.1 * readers_of_raid01(1, TABLE)


def test_a_block_of_inodes_less_sets_them_apart() -> None:
    """Counter-test: a block further in front no span begins on an edge, and most of the time each has a side."""
    assert readers_of_raid01(2, TABLE - 16 * KIB) > 1.5 * readers_of_raid01(1, TABLE - 16 * KIB)


@pytest.mark.slow
def test_graid3_on_files_is_good_for_one_reader_only() -> None:
    """Protects the order of five disks in lockstep and four in RAID 0+1: 1.3 times as fast, then behind."""
    assert copied("graid3-5/1") > 1.3 * copied("nvidia-raid01/1")
    assert copied("graid3-5/5") < copied("nvidia-raid01/5")
    assert copied("graid3-5/5") < 0.65 * copied("graid3-5/1")
