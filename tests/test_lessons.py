"""The lessons: what each page claims holds in its scenario, and no longer with the mechanism switched off."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import raidsim
from raidsim.scenarios.documents.document import Document, read_document
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.simulate import simulate
from raidsim.scenarios.timeline.timeline import record

LESSONS = Path(raidsim.__file__).parent / "docs" / "lessons"
NAMES = sorted(path.stem for path in LESSONS.glob("*.yaml"))


def lesson(name: str) -> Document:
    """The scenario of a lesson."""
    return read_document(str(LESSONS / f"{name}.yaml"))


@cache
def _run(name: str, changes: tuple[tuple[str, Any], ...]) -> Prediction:
    return simulate(lesson(name).changed(dict(changes)).spec())


def run(name: str, changes: dict[str, Any] | None = None, **short: Any) -> Prediction:
    """A run of a lesson's scenario with changes; short names as keywords, paths in a mapping."""
    return _run(name, tuple(sorted({**(changes or {}), **short}.items())))


def test_there_are_twelve() -> None:
    """Protects the lessons from a page without a scenario, or one that the index does not name."""
    pages = {path.stem for path in LESSONS.glob("*.md")} - {"index"}
    index = (LESSONS / "index.md").read_text(encoding="utf-8")
    assert len(NAMES) == 12
    assert pages == set(NAMES)
    assert pages == set(re.findall(r"\]\(([\w-]+)\.md\)", index))


@pytest.mark.parametrize("name", NAMES)
def test_page_has_its_parts(name: str) -> None:
    """Protects the form: a question, the scenario, one picture with words for it, a counter-experiment, an answer."""
    page = (LESSONS / f"{name}.md").read_text(encoding="utf-8")
    assert re.match(r"# .*\?\n", page)
    assert f"```{{literalinclude}} {name}.yaml" in page
    assert page.count(":picture:") == page.count(":alt:") == page.count(":caption:") == 1
    for heading in ("The experiment", "Seen", "With the mechanism switched off", "Exercise"):
        assert f"\n## {heading}\n" in page
    assert page.count("<summary>Answer</summary>") == page.count("</details>") == 1


def test_small_writes_cost_four_and_six_commands() -> None:
    """Protects "Small writes": RAID 10 beats RAID 5 beats RAID 6, by their commands for each write."""
    for layout, commands in (("raid10", 2), ("raid5", 4), ("raid6", 6)):
        found = run("small-writes", layout=layout)
        writes = found.iops["write"] * found.measured_s
        assert found.member_ios / writes == pytest.approx(commands, rel=0.05)
    raid10, raid5, raid6 = (run("small-writes", layout=layout).rate for layout in ("raid10", "raid5", "raid6"))
    assert raid10 > 1.5 * raid5
    assert raid5 > 1.2 * raid6


def test_full_stripes_reverse_small_writes() -> None:
    """Protects its counter-experiment: with nothing to read, parity is the smaller price.

    Four writes are what md's stripe cache holds. With more, rows are written in pieces, and the gain is smaller.
    """
    stripes = {"block_size": "1280KiB", "depth": 4}
    raid10, raid5 = (run("small-writes", stripes, layout=layout).rate for layout in ("raid10", "raid5"))
    assert raid5 > 1.15 * raid10


def test_a_raidz_reads_small_blocks_like_one_disk() -> None:
    """Protects "raidz": vdevs count where a block covers its vdev, and disks where a block is one unit."""
    data = "pools.tank.datasets.data"
    disk = {"pools.tank.vdevs": "stripe disk0", f"{data}.volume": "50GiB"}
    unit = {"block_size": "4KiB", f"{data}.volblocksize": "4KiB", f"{data}.volume": "50GiB"}
    one, raidz1 = (run("raidz", change).iops["read"] for change in (disk, {}))
    two, mirrors = (run("raidz", layout=layout).iops["read"] for layout in ("2 x raidz1", "mirrors"))
    assert raidz1 == pytest.approx(one, rel=0.1)
    assert two == pytest.approx(2 * raidz1, rel=0.15)
    assert mirrors > 3.4 * raidz1
    assert run("raidz", unit).iops["read"] > 3.4 * raidz1


def test_blocks_that_fit_side_by_side_are_read_side_by_side() -> None:
    """Protects its exercise: blocks of half a vdev's disks are read as by two vdevs."""
    wide = {"machine.drives.count": 12, "layout": "raidz2"}
    half, whole = (
        run("raidz", {**wide, "pools.tank.datasets.data.volblocksize": size}).iops["read"]
        for size in ("16KiB", "128KiB")
    )
    assert half > 1.6 * whole


def test_a_partition_off_the_stripe_reads_before_it_writes() -> None:
    """Protects "Stripe alignment": on RAID 5 records of one stripe take more than a third longer where the partition
    begins within a stripe. Counter-experiment: RAID 10 has no parity, and the first sector does not matter.
    """

    def seconds(start: str, level: str = "raid5") -> float:
        changes = {"file_systems./srv.start": start, "arrays.md0.level": level}
        return run("stripe-alignment", changes).figures["dd.seconds"]

    assert seconds("36KiB") > 1.35 * seconds("0B")
    assert seconds("36KiB", "raid10") == pytest.approx(seconds("0B", "raid10"), rel=0.1)


def test_a_log_in_units_of_a_chunk_costs_synced_writes() -> None:
    """Protects its last experiment: XFS fills each write of its log up to a chunk. Counter-experiment: not if mkfs is
    told of no stripes.
    """

    def seconds(aligned: bool) -> float:
        changes = {
            "file_systems./srv.kind": "xfs-v5",
            "file_systems./srv.start": "0B",
            "file_systems./srv.stripe_aligned": aligned,
        }
        return run("stripe-alignment", changes).figures["dd.seconds"]

    assert seconds(True) > 3 * seconds(False)


ONE_READER = {"pattern": "sequential", "jobs": 1, "block_size": "1MiB", "warm_up": "100ms", "duration": "300ms"}


def test_chunk_size_has_two_right_answers() -> None:
    """Protects "Chunk size": large is right for many small readers, and wrong for one of large pieces."""
    assert run("chunk-size", chunk="512KiB").rate > 1.3 * run("chunk-size", chunk="64KiB").rate
    assert run("chunk-size", chunk="64KiB").rate > 1.4 * run("chunk-size", chunk="16KiB").rate
    assert run("chunk-size", ONE_READER, chunk="64KiB").rate > 2.5 * run("chunk-size", ONE_READER, chunk="1MiB").rate


def test_chunk_does_not_matter_to_one_reader_with_a_queue() -> None:
    """Protects its counter-experiment: with eight pieces under way the chunk makes no difference."""
    large = run("chunk-size", {**ONE_READER, "depth": 8}, chunk="1MiB").rate
    assert run("chunk-size", {**ONE_READER, "depth": 8}, chunk="64KiB").rate == pytest.approx(large, rel=0.1)


@pytest.mark.parametrize("readers", [2, 3, 4, 8])
def test_mirror_overtakes_stripe(readers: int) -> None:
    """Protects "Mirrors": from two readers on RAID 1 is ahead."""
    mirror, stripe = (run("mirrors", layout=layout, jobs=readers).rate for layout in ("raid1", "raid0"))
    assert mirror > 1.3 * stripe


def test_stripe_wins_alone_and_mirror_needs_its_balance() -> None:
    """Protects its limits: one reader is better served by a stripe, and two by no mirror that reads one disk."""
    assert run("mirrors", jobs=1, layout="raid0").rate > 1.8 * run("mirrors", jobs=1, layout="raid1").rate
    primary = run("mirrors", jobs=2, layout="raid1", balance="primary").rate
    assert primary < 0.8 * run("mirrors", jobs=2, layout="raid0").rate


def test_two_benchmarks_disagree() -> None:
    """Protects "Two benchmarks": bonnie prefers RAID 5, PostMark RAID 10."""
    raid5, raid10 = (run("two-benchmarks", layout=layout).figures for layout in ("raid5", "raid10"))
    for name in ("write_rate", "rewrite_rate", "read_rate"):
        assert raid5[f"bonnie.{name}"] > 1.05 * raid10[f"bonnie.{name}"]
    assert raid10["postmark.transactions_rate"] > 1.5 * raid5["postmark.transactions_rate"]


def test_large_files_end_the_disagreement() -> None:
    """Protects its counter-experiment: PostMark with files of several stripes does not prefer RAID 10."""
    steps = lesson("two-benchmarks").data["workload"]["steps"]
    large = {**steps[2], "number": 40, "transactions": 60, "low": "1MB", "high": "3MB"}
    document = lesson("two-benchmarks").changed({"workload.steps": [large]})
    raid5, raid10 = (
        simulate(document.changed({"layout": layout}).spec()).figures["postmark.transactions_rate"]
        for layout in ("raid5", "raid10")
    )
    assert raid10 < 1.2 * raid5


def _read_s(found: Prediction) -> float:
    return found.latencies["read"]["mean_s"]


def test_load_and_rebuild_slow_each_other() -> None:
    """Protects "Rebuild": a light load hardly slows it and waits for it, and a heavy load makes it longer."""
    idle, beside, busy = (run("rebuild", total_iops=load) for load in (1, 50, 150))
    assert 1.1 * idle.rebuilds[0].duration_s < beside.rebuilds[0].duration_s < 2 * idle.rebuilds[0].duration_s
    assert busy.rebuilds[0].duration_s > 2 * idle.rebuilds[0].duration_s
    assert _read_s(beside) > 10 * _read_s(run("rebuild", state="degraded"))


def test_a_limited_rebuild_leaves_the_load_alone() -> None:
    """Protects its counter-experiment: at 5 MB/s reads wait little for the rebuild, which takes about 30 hours."""
    limited = run("rebuild", {"arrays.md0.resync.speed_max": "5MB/s", "workload.duration": "30s"})
    assert _read_s(limited) < 3 * _read_s(run("rebuild", state="degraded"))
    assert _read_s(limited) < 0.1 * _read_s(run("rebuild"))
    assert limited.rebuilds[0].duration_s == pytest.approx(100_000, rel=0.15)


BATTERY = "machine.controllers.raid.overrides.battery"
CACHE = "machine.controllers.raid.overrides.cache"


def _full_s(changes: dict[str, Any]) -> float | None:
    """When the first write had to wait (s)."""
    ios = record(lesson("write-back-cache").changed(changes).spec(), ios=1200).ios
    return next((io.began_s for io in ios if io.ended_s and io.ended_s - io.began_s > 0.005), None)


def test_cache_hides_until_full() -> None:
    """Protects "Write-back cache": nobody waits until it is full, which takes twice as long for twice the size."""
    small, large = _full_s({}), _full_s({CACHE: "4MiB"})
    assert small is not None
    assert large is not None
    assert small > 0.3
    assert large == pytest.approx(2 * small, rel=0.25)
    assert _full_s({"total_iops": 100}) is None


def test_without_battery_every_write_waits() -> None:
    """Protects its counter-experiment: a controller that may not keep writes is as slow as its disks."""
    found = run("write-back-cache", {BATTERY: "failed"}, total_iops=100).latencies["write"]
    assert found["p50_s"] > 0.010
    assert run("write-back-cache", total_iops=100).latencies["write"]["p99_s"] < 0.001


NOBODY_CHOOSES = {"machine.drives.scheduler": "none", "machine.drives.overrides": {"queue_depth": 1}}


def _reads(depth: int, changes: dict[str, Any] | None = None) -> Prediction:
    document = lesson("queue-depth").changed({**(changes or {}), "depth": depth})
    return simulate(document.spec())


def test_depth_buys_throughput_with_latency() -> None:
    """Protects "Queue depth": more reads a second, each of which takes as long as Little's law says."""
    one, deep = _reads(1), _reads(32)
    assert deep.iops["read"] > 2 * one.iops["read"]
    assert _read_s(deep) > 10 * _read_s(one)
    assert _read_s(deep) == pytest.approx(32 / deep.iops["read"], rel=0.03)


def test_depth_is_worth_nothing_where_nobody_chooses() -> None:
    """Protects its counter-experiment: first come, first served gains nothing from a queue."""
    one, deep = _reads(1, NOBODY_CHOOSES), _reads(32, NOBODY_CHOOSES)
    assert deep.iops["read"] == pytest.approx(one.iops["read"], rel=0.02)


def test_memory_is_all_or_nothing_in_order() -> None:
    """Protects "Memory": a second pass is as slow as the first until the whole file fits."""
    for memory, gain in (("112MiB", 1.1), ("144MiB", 50.0)):
        figures = run("memory", memory=memory).figures
        assert (figures["again.rate"] > gain * figures["first.rate"]) == (gain > 2)


def test_a_remount_makes_the_second_pass_a_first_one() -> None:
    """Protects its counter-experiment: with nothing cached, memory does not matter."""
    first, again = lesson("memory").data["workload"]["steps"]
    cold = lesson("memory").changed({"workload.steps": [first, {"program": "remount"}, again], "memory": "144MiB"})
    figures = simulate(cold.spec()).figures
    assert figures["again.rate"] == pytest.approx(figures["first.rate"], rel=0.1)


def test_stripe_is_as_slow_as_its_slowest() -> None:
    """Protects "Unequal disks": all wait for the oldest, until its end, where the others go on faster."""
    assert run("unequal-disks").bottleneck.startswith("disk disk2 ")
    before, after = (run("unequal-disks", {"workload.start": f"{place}GB"}).rate for place in (740, 760))
    assert after > before


def test_equal_disks_wait_for_nobody() -> None:
    """Protects its counter-experiment: three equal disks are three times one, and faster than with the old one."""
    equal = run("unequal-disks", {"machine.drives.disk2": None}).rate
    one = run("unequal-disks", layout="linear").rate
    assert equal == pytest.approx(3 * one, rel=0.05)
    assert equal > 1.1 * run("unequal-disks").rate


FLASH = "machine.drives.overrides.flash"
STATE = "machine.drives.state"


def test_steady_state_costs_most_of_the_writes() -> None:
    """Protects "SSD steady state": a used drive writes far less than a fresh one, and more with more spare flash."""
    fresh, steady = run("ssd-steady-state", {STATE: "fresh"}), run("ssd-steady-state")
    assert fresh.rate > 3 * steady.rate
    assert run("ssd-steady-state", {FLASH: "4.92TB"}).rate > 1.6 * steady.rate


def test_reads_know_no_steady_state() -> None:
    """Protects its counter-experiment: who only reads makes no garbage."""
    fresh, steady = (run("ssd-steady-state", {STATE: state}, read_share="100%").rate for state in ("fresh", "steady"))
    assert steady == pytest.approx(fresh, rel=0.05)
