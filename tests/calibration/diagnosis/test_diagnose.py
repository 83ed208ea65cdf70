"""A cause that a machine has is found by what the machine does, and none is found where nothing is wrong."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import raidsim
from raidsim import InputError
from raidsim.calibration.diagnosis.case import BUFFERED, Case
from raidsim.calibration.diagnosis.causes import candidates, catalogue
from raidsim.calibration.diagnosis.diagnose import Search
from raidsim.calibration.diagnosis.likelihood import common_error, log_likelihood, mean_ratio, posterior
from raidsim.calibration.diagnosis.measured import MeasuredJob, Measurements, measurements
from raidsim.calibration.diagnosis.seen import seen_causes
from raidsim.scenarios.description.fio_jobs import FioSpec
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.workers.task_pool import TaskPool
from raidsim.tests.calibration.diagnosis.drawn import Drawn, Scores

DISKS = """
kernel: linux-6.1
machine: {drives: {model: IronWolf-8TB, count: 4}}
arrays: {md0: {level: raid5, chunk: 64KiB, bitmap: none}}
workload: {depth: 1}
"""
FLASH = DISKS.replace("IronWolf-8TB", "Samsung-PM9A3-3840GB").replace("raid5", "raid10")
POOL = """
kernel: linux-6.1
machine: {drives: {model: IronWolf-8TB, count: 4}}
pools: {tank: {vdevs: raidz1, datasets: {vm: {volume: 1TiB}}}}
workload: {depth: 1}
"""
RATES = {DISKS: (500.0, 150.0, 285.0, 600.0), FLASH: (230_000.0, 150_000.0, 7500.0, 9900.0)}
CACHED = """
kernel: linux-6.1
machine: {{drives: {{sda: IronWolf-8TB, sdb: IronWolf-8TB, sdc: IronWolf-8TB, ssd: Samsung-PM9A3-3840GB}}}}
arrays: {{md0: {{level: raid5, members: [sda, sdb, sdc], bitmap: none}}}}
caches: {{fast: {{on: md0, cache: ssd, kind: {kind}, size: 1GiB}}}}
workload: {{depth: 1}}
"""
JOBS = (
    ("reads", {"pattern": "random", "block_size": "4KiB", "read_share": 1.0, "depth": 32}),
    ("writes", {"pattern": "random", "block_size": "4KiB", "read_share": 0.0, "depth": 16}),
    ("stream", {"pattern": "sequential", "block_size": "1MiB", "read_share": 0.0, "depth": 4}),
    ("fetch", {"pattern": "sequential", "block_size": "1MiB", "read_share": 1.0, "depth": 4}),
)


def jobs(machine: str) -> tuple[MeasuredJob, ...]:
    """Four jobs, with about the rates of a machine with nothing wrong."""
    made = zip(JOBS, RATES[machine], strict=True)
    return tuple(
        MeasuredJob(name, "md0", {**load, "jobs": 1, "engine": "libaio"}, {"iops": rate}) for (name, load), rate in made
    )


REDUCED = {
    "disks": ("raid5", "IronWolf-8TB", 4, ("reads", "writes", "stream")),
    "flash": ("raid1", "Samsung-PM9A3-3840GB", 2, ("reads", "writes", "fetch")),
}
"""Level, drives and jobs."""


@pytest.mark.parametrize("name", REDUCED)
def test_a_cause_is_found_where_it_is_and_none_where_there_is_none(name: str) -> None:
    """Every cause that changes the figures, two at once, and none: a reduced set of what `drawn` measures."""
    level, model, count, chosen = REDUCED[name]
    rng, scores = random.Random(7), Scores()
    text = DISKS.replace("IronWolf-8TB", model).replace("count: 4", f"count: {count}").replace("raid5", level)
    text = text.replace("chunk: 64KiB, ", "") if level == "raid1" else text
    with TaskPool(1) as pool:
        drawn = Drawn(text, [job for job in jobs(DISKS) if job.name in chosen], rng, pool)
        scores.ask(drawn, rng, pairs=1, sound=8)
    one, two, none = scores.one, scores.two, scores.none
    assert one.whole >= 7
    assert one.told_first >= 0.9 * one.whole - 1, scores.words()
    assert one.told_among >= 0.9 * one.whole, scores.words()
    assert two.told_among == two.whole, scores.words()
    assert none.told_first >= 0.95 * none.whole, scores.words()


def test_an_error_of_all_figures_is_no_cause_and_one_of_some_is() -> None:
    """Protects from blaming a part where the model is off: 30 % less in everything says little, in one job much."""
    common = common_error(1.6)
    everywhere = {f"job{number} iops": math.log(0.7) for number in range(4)}
    somewhere = {**dict.fromkeys(everywhere, 0.0), "job0 iops": 4 * math.log(0.7)}
    assert log_likelihood(everywhere, common) > log_likelihood(somewhere, common) + 10
    late = {name.replace("iops", "read_mean_seconds"): -miss for name, miss in everywhere.items()}
    assert log_likelihood({**everywhere, **late}, common) > log_likelihood(
        {**everywhere, **dict.fromkeys(late, 0.0)}, common
    )
    assert mean_ratio(everywhere) == pytest.approx(0.7)
    assert posterior([1.0, 3.0], [0.0, 0.0]) == pytest.approx([0.25, 0.75])


def test_every_cause_of_the_catalogue_can_be_tried() -> None:
    """Protects from a cause that no machine has: each has forms on one of the machines here."""
    hardware = DISKS.replace("arrays: {md0: {level: raid5, chunk: 64KiB, bitmap: none}}",
                             "arrays: {md0: {level: raid5, controller: card}}").replace(
        "count: 4}}", "count: 4}, controllers: {card: {model: LSI-9260-8i}}}")  # fmt: skip
    tried = set()
    lvm, bcache = CACHED.format(kind="dm-writecache"), CACHED.format(kind="bcache")
    for text in (DISKS, FLASH, hardware, POOL, lvm, bcache):
        case = Case(document_from(text, "machine"))
        unsure = [replace(job, direct=(None if job.name == "reads" else False)) for job in jobs(DISKS)]
        measured = Measurements((*unsure, *jobs(DISKS)), (), {})
        for cause in candidates(case, measured):
            tried.add(cause.name)
            for form in cause.forms:
                case.scenario(measured.jobs[1], form.change)
                case.scenario(measured.jobs[0], form.change)
    assert tried == set(catalogue())


ZFS = """$ zpool status
  pool: tank
 state: ONLINE
config:

\tNAME        STATE     READ WRITE CKSUM
\ttank        ONLINE       0     0     0
\t  raidz1-0  ONLINE       0     0     0
\t    sda     ONLINE       0     0     0
\t    sdb     ONLINE       0     0     0
\t    sdc     ONLINE       0     0     0

$ zfs get volsize,volblocksize,sync,used tank/vm
NAME     PROPERTY      VALUE     SOURCE
tank/vm  volsize       2T        local
tank/vm  volblocksize  16K       -
tank/vm  sync          {sync}    local
$ lsblk -d -o NAME,SIZE,MODEL
NAME  SIZE MODEL
sda   7.3T ST8000VN004-2M2101
sdb   7.3T ST8000VN004-2M2101
sdc   7.3T ST8000VN004-2M2101
"""


def test_a_volume_of_a_pool(tmp_path: Path) -> None:
    """Protects pools: the job's zvol is the target, what zfs get shows is named, zpool iostat names the slow drive."""
    measured = report(tmp_path / "fio.json", {"writes": 60.0})
    measured.write_text(measured.read_text(encoding="utf-8").replace("/dev/md0", "/dev/zvol/tank/vm"), encoding="utf-8")
    iostat = tmp_path / "zpool.txt"
    waits = {"sda1": "9ms", "sdb1": "8ms", "sdc1": "90ms"}
    rows = "".join(f"  {name}  -  -  10  20  1M  1M  {wait}  {wait}\n" for name, wait in waits.items())
    heading = "  capacity  operations  bandwidth  disk_wait\npool  alloc  free  read  write  read  write  read  write\n"
    iostat.write_text(f"{heading}tank  1T  2T  30  60  3M  3M  30ms  30ms\n{rows}", encoding="utf-8")
    found = measurements([measured, iostat])
    assert found.slowest == "sdc"
    iostat.write_text(iostat.read_text(encoding="utf-8").replace("9ms  9ms", "9ms  0"), encoding="utf-8")
    assert measurements([measured, iostat]).awaits == pytest.approx({"sda": 9e-3, "sdb": 8e-3, "sdc": 90e-3})
    pasted = tmp_path / "pasted.txt"
    for sync, seen in (("always", ["always synchronous"]), ("standard", [])):
        pasted.write_text(ZFS.format(sync=sync), encoding="utf-8")
        document = document_from(raidsim.inspect(pasted, progress=False).text, "x")
        case = Case.of(document, None, found.device)
        assert (case.target, case.drives) == ("tank/vm", ["sda", "sdb", "sdc"])
        assert [each.name for each in seen_causes(case)] == seen
        assert Case.of(document, None, "/tank/vm/file").target == "tank/vm"
        assert Case.of(document, None, "sdb").target == "sdb"


def test_a_member_that_is_resilvered_is_seen(tmp_path: Path) -> None:
    """Protects from a machine that cannot be: without the lost member there is nothing to resilver either."""
    pasted = tmp_path / "pasted.txt"
    row, scan = (
        "sdc     ONLINE       0     0     0",
        "  scan: resilver in progress\n\t1G resilvered, 1.00% done\nconfig:",
    )
    text = ZFS.format(sync="standard").replace("config:", scan).replace(row, f"{row}  (resilvering)")
    pasted.write_text(text, encoding="utf-8")
    case = Case(document_from(raidsim.inspect(pasted, progress=False).text, "x"))
    (seen,) = seen_causes(case)
    undone = case.changed(seen.undone).pool
    assert (seen.name, seen.words) == ("resilvering", "sdc has failed, and gets its data back")
    assert undone is not None
    assert (undone.failed, undone.rebuilding, undone.scan) == ((), (), None)


PASTED = """$ uname -r
6.1.0-18-amd64
$ cat /proc/mdstat
Personalities : [raid6] [raid5] [raid4]
md0 : active raid5 sdd[3] sdc[2] sdb[1] sda[0]
      23441682432 blocks super 1.2 level 5, 64k chunk, algorithm 2 [4/{here}] [{letters}]

unused devices: <none>
$ lsblk -d -o NAME,SIZE,MODEL
NAME  SIZE MODEL
sda   7.3T ST8000VN004-2M2101
sdb   7.3T ST8000VN004-2M2101
sdc   7.3T ST8000VN004-2M2101
sdd   7.3T ST8000VN004-2M2101
"""


def report(path: Path, iops: dict[str, float]) -> Path:
    """A report of fio with random jobs of these names, 4 KiB and a depth of 16 each."""
    entries = []
    for number, (name, rate) in enumerate(iops.items()):
        op = "write" if name.endswith("writes") else "read"
        ios = int(10 * rate)
        own: dict[str, Any] = {"io_bytes": 4096 * ios, "io_kbytes": 4 * ios, "bw_bytes": int(4096 * rate)}
        own |= {"bw": int(4 * rate), "iops": rate, "runtime": 10000, "total_ios": ios}
        idle = dict.fromkeys(own, 0)
        options = {"rw": f"rand{op}", "bs": "4k", "iodepth": "16"}
        sides = {each: own if each == op else idle for each in ("read", "write", "trim")}
        entries.append({"jobname": name, "groupid": number, "error": 0, "job options": options, **sides})
    shared = {"ioengine": "libaio", "direct": "1", "filename": "/dev/md0"}
    document = {"fio version": "fio-3.33", "global options": shared, "jobs": entries}
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")
    return path


def test_what_the_outputs_show_is_told_with_its_part(tmp_path: Path) -> None:
    """A member that has failed is named; the speed is compared with that of the whole array."""
    pasted = tmp_path / "pasted.txt"
    pasted.write_text(PASTED.format(here=3, letters="UUU_").replace("sdd[3]", "sdd[3](F)"), encoding="utf-8")
    measured = report(tmp_path / "fio.json", {"reads": 300.0})
    found = raidsim.diagnose(pasted, measured, workers=0, progress=False)
    assert [each.name for each, _ in found.found.seen] == ["degraded"]
    assert "The outputs show why: sdd has failed." in found.verdict
    assert found.share < found.found.share_as_described
    assert "degraded" not in found.causes


def test_a_sound_array_is_as_fast_as_predicted(tmp_path: Path) -> None:
    """The counter-test: nothing is blamed, and the answer says how well that is known."""
    pasted = tmp_path / "pasted.txt"
    pasted.write_text(PASTED.format(here=4, letters="UUUU"), encoding="utf-8")
    measured = report(tmp_path / "fio.json", {"reads": 380.0})
    found = raidsim.diagnose(pasted, measured, workers=0, progress=False)
    assert found.found.seen == ()
    assert found.found.found is None
    assert "As fast as predicted" in found.verdict
    assert {"degraded", "rebuilding", "checking"}.isdisjoint(found.causes)
    assert found.to_dict()["schema"] == "raidsim.diagnosis"


def test_a_job_on_a_member_is_compared_with_that_drive(tmp_path: Path) -> None:
    """Protects from a member that is measured against its array; a file that nothing names is on the array."""
    pasted = tmp_path / "pasted.txt"
    pasted.write_text(PASTED.format(here=4, letters="UUUU"), encoding="utf-8")
    measured = report(tmp_path / "fio.json", {"reads": 150.0})
    text = measured.read_text(encoding="utf-8")
    for name, target in (("/dev/sdb", "sdb"), ("/mnt/data/test", "md0")):
        measured.write_text(text.replace("/dev/md0", name), encoding="utf-8")
        found = raidsim.diagnose(pasted, measured, workers=0, progress=False)
        assert found.found.case.target == target


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "found no job of fio"),
        (["fio.json"], "nothing describes the machine"),
        (["pasted.txt"], "found no job of fio"),
        (["pasted.txt", "buffered.json"], "needs direct=1"),
        (["pasted.txt", "broken.json"], r"broken\.json:\d+"),
    ],
)
def test_what_is_missing_is_asked_for(tmp_path: Path, given: list[str], message: str) -> None:
    """One message each, which names what was not given or cannot be used."""
    (tmp_path / "pasted.txt").write_text(PASTED.format(here=4, letters="UUUU"), encoding="utf-8")
    whole = report(tmp_path / "fio.json", {"reads": 380.0}).read_text(encoding="utf-8")
    (tmp_path / "buffered.json").write_text(
        report(tmp_path / "x.json", {"writes": 380.0})
        .read_text(encoding="utf-8")
        .replace('"direct": "1"', '"direct": "0"'),
        encoding="utf-8",
    )
    (tmp_path / "broken.json").write_text(whole[: len(whole) // 2], encoding="utf-8")
    with pytest.raises(InputError, match=message):
        raidsim.diagnose(*(tmp_path / name for name in given), workers=0, progress=False)


TEXT = """{name}: (g=0): rw={rw}, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=16
fio-3.28
Starting 2 processes

{name}: (groupid=0, jobs=2): err= 0: pid=1234: Mon Jan  1 00:00:00 2024
  {op}: IOPS={iops}, BW=1468KiB/s (1503kB/s)(86.0MiB/60000msec)
     lat (msec): min=1, max=300, avg=43.51, stdev=20.00
"""


def test_normal_output_of_fio_does_not_tell_whether_the_page_cache_answers(tmp_path: Path) -> None:
    """Protects pasted output: jobs and depth are read, and a job at the speed of buffered reads is found to be one."""
    pasted, measured = tmp_path / "pasted.txt", tmp_path / "fio.txt"
    pasted.write_text(PASTED.format(here=4, letters="UUUU"), encoding="utf-8")
    measured.write_text(TEXT.format(name="r", rw="randread", op="read", iops=367), encoding="utf-8")
    (job,) = measurements([measured]).jobs
    assert (job.direct, job.load["jobs"], job.load["depth"]) == (None, 2, 16)
    assert job.figures == pytest.approx({"iops": 367.0, "read_mean_seconds": 43.51e-3})
    case = Case(document_from(raidsim.inspect(pasted, progress=False).text, "x"))
    names = {cause.name for cause in candidates(case, Measurements((job,), (), {}))}
    assert {"buffered", "file in memory"} <= names
    assert not {"buffered", "file in memory"} & {
        cause.name for cause in candidates(case, Measurements((replace(job, direct=True),), (), {}))
    }
    buffered = case.scenario(replace(job, direct=False)).workload
    assert isinstance(buffered, FioSpec)
    assert f"[{BUFFERED}]" in buffered.job
    assert case.scenario(job).workload.kind == "load"


def test_a_job_that_is_told_to_go_through_memory_is_seen(tmp_path: Path) -> None:
    """fio's default is direct=0: the job is compared with one that goes past the page cache, and the part is told."""
    pasted = tmp_path / "pasted.txt"
    pasted.write_text(PASTED.format(here=4, letters="UUUU"), encoding="utf-8")
    measured = report(tmp_path / "fio.json", {"reads": 90.0})
    text = measured.read_text(encoding="utf-8").replace('"direct": "1"', '"direct": "0"')
    measured.write_text(text, encoding="utf-8")
    found = raidsim.diagnose(pasted, measured, workers=0, progress=False)
    assert [each.name for each, _ in found.found.seen] == ["buffered"]
    assert found.share < 0.5 < found.found.share_as_described
    assert "(direct=0)" in found.verdict


@pytest.mark.parametrize(
    ("machine", "values", "name"),
    [
        (POOL, {"pools.tank.scan": {"action": "scrub"}, "pools.tank.used": 0.3}, "scrubbing"),
        (POOL, {"pools.tank.used": 0.9, "pools.tank.fragmentation": 0.6}, "full pool"),
        (POOL, {"pools.tank.ashift": 9}, "small sectors of a pool"),
        (DISKS, {"arrays.md0.resync": {"action": "reshape", "old": {"members": 3}}}, "reshaping"),
        (FLASH, {"machine.drives.disk0.overrides.interface_rate": "2GB/s"}, "slow lanes"),
        (CACHED.format(kind="dm-cache"), {"caches.fast.mode": "passthrough"}, "bypassed cache"),
    ],
)
def test_what_a_machine_is_told_to_have_is_seen_and_undone(machine: str, values: dict[str, Any], name: str) -> None:
    """Each is named, and the machine without it has nothing left to see; without the values nothing is seen."""
    assert seen_causes(Case(document_from(machine, "machine"))) == []
    case = Case(document_from(machine, "machine").changed(values, "test"))
    (seen,) = seen_causes(case)
    assert seen.name == name
    assert seen_causes(case.changed(seen.undone)) == []


def test_the_times_of_members_tell_which_one_is_slow() -> None:
    """Protects evidence of one member: with iostat's figures it is found where the rates alone do not tell."""
    case, rng = Case(document_from(DISKS, "machine")), random.Random(3)
    with TaskPool(1) as pool:
        drawn = Drawn(DISKS, [job for job in jobs(DISKS) if job.name == "reads"], rng, pool)
        (cause,) = (each for each in candidates(case, drawn.measured({}, 0.0, False)) if each.name == "slow member")
        (figures,) = drawn.trials.figures([cause.forms[-1].change])
        assert figures is not None
        with_, without = (
            Search(drawn.case, drawn.measured(figures, 0.0, awaits), frozenset(), drawn.trials).answer()
            for awaits in (True, False)
        )
    chances = [
        sum(each.probability for each in found.ranked if [other.name for other, _ in each.causes] == [cause.name])
        for found in (with_, without)
    ]
    assert chances[0] > 0.5
    assert chances[0] > 2 * chances[1]
