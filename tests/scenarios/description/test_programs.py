"""Programs on file systems as scenarios: what they report, at which scale, and what is refused."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from raidsim.model.core.errors import InputError
from raidsim.model.core.exact_sums import sum_in_order
from raidsim.model.file_system import FileSystem
from raidsim.model.files.description_errors import validate
from raidsim.model.programs.postmark import PostMark, PostMarkSettings
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.machine.machine import BuiltMachine
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.base.sample import Sample, most_scale, scale_for
from raidsim.scenarios.running.program_run import ProgramRun
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.scenarios.random_documents import program_documents
from raidsim.tests.scenarios.running.test_random_scenarios import outcome
from raidsim.tests.scenarios.small_machine import DRIVES, machine_document
from raidsim.validation.laws.hunting.drawn_devices import Document

TREE = {"files": 200, "bytes": "2MB"}


def programs(*steps: Document, kind: str = "ext2", memory: str = "64MiB", processes: int = 1, **more: Any) -> Document:
    """Steps on a file system on the first drive."""
    prices: dict[str, Any] = {"putc": "10ns", "getc": "10ns", "file_read": "2us", "file_write": "3us"}
    return {
        "name": "test",
        "machine": machine_document(memory=memory, **prices),
        "kernel": "linux-2.6.8",
        "file_systems": {"/data": {"kind": kind, "on": "sda"}},
        "workload": {"kind": "programs", "steps": list(steps), "processes": processes},
        **more,
    }


def spec(*steps: Document, **more: Any) -> ScenarioSpec:
    """The same, checked."""
    return validate(ScenarioSpec, programs(*steps, **more))


def run(*steps: Document, scale: int = 1, **more: Any) -> Prediction:
    """Simulate it, whole unless said otherwise."""
    return simulate(spec(*steps, **more), Sample(scale=scale))


def dd(size: str, **more: Any) -> Document:
    """Write a file."""
    return {"program": "dd", "size": size, "block_size": "64KiB", **more}


def read(size: str, **more: Any) -> Document:
    """Read it."""
    return {"program": "read", "size": size, **more}


# What comes out


def test_a_cached_file_is_read_from_memory_and_after_a_mount_from_the_drive() -> None:
    """Protects the page cache across steps: 16 MiB in 64 MiB of memory are read at the speed of copying, and at the
    drive's after `remount`, which makes no figures of its own.
    """
    prediction = run(dd("16MiB"), read("16MiB"), {"program": "remount"}, read("16MiB", name="cold"))
    figures = prediction.figures
    assert figures["read.rate"] > 4e8
    assert 3e7 < figures["cold.rate"] < 8e7
    assert not any(name.startswith("remount") for name in figures)
    assert list(prediction.reports) == ["dd", "read", "cold"]


def test_a_file_that_does_not_fit_is_written_at_the_drives_pace() -> None:
    """Protects dirty limits in a scenario: 256 MiB through 64 MiB of memory wait for the drive, 8 MiB do not."""
    assert run(dd("256MiB")).figures["dd.rate"] < 8e7
    assert run(dd("8MiB")).figures["dd.rate"] > 2e8


def test_a_dd_at_a_scale_is_the_whole_one() -> None:
    """Protects long runs: rate and seconds of 1 GiB at scale 4 are those of the whole within 5 %, and the report shows
    the whole size; at the scale alone, without multiplying, they would differ fourfold.
    """
    modern = {"memory": "256MiB", "kernel": "linux-6.1"}
    whole, scaled = (run(dd("1GiB", block_size="1MiB"), scale=scale, **modern) for scale in (1, 4))
    assert (whole.scale, scaled.scale) == (1, 4)
    for name in ("dd.seconds", "dd.rate"):
        assert scaled.figures[name] == pytest.approx(whole.figures[name], rel=0.05)
    assert scaled.seconds == pytest.approx(whole.seconds, rel=0.05)
    assert scaled.measured_s == pytest.approx(whole.measured_s / 4, rel=0.05)
    for each in (whole, scaled):
        assert each.reports["dd"].startswith("1024+0 records in\n1024+0 records out\n1073741824 bytes (1.1 GB) copied")


def test_the_scale_keeps_to_bytes_and_memory() -> None:
    """Protects the choice of the scale: the power of two that leaves 2 GiB, unless memory would fall below 48 MiB."""
    for size, memory, scale in (("2GiB", "1GiB", 1), ("4GiB", "1GiB", 2), ("100GiB", "1GiB", 16), ("8GiB", "80MiB", 1)):
        assert scale_for(spec(dd(size), memory=memory), Sample()) == scale
    assert scale_for(spec(dd("8GiB")), Sample(scale=3)) == 3
    assert most_scale(spec(dd("8GiB"), memory="96MiB")) == 96
    small = {"/data": {"kind": "ext2", "on": "sda", "size": "1GiB"}}
    many = {"program": "postmark", "number": 2000, "transactions": 100_000, "high": "1MB"}
    assert scale_for(spec(many, memory="1GiB", file_systems=small), Sample()) == 4


@pytest.mark.parametrize("kind", ["ext3", "xfs"])
def test_the_same_bits_twice(kind: str) -> None:
    """Protects reproducibility, and that the seed counts where something is random: an aged file system."""
    steps = ({"program": "tar-x", "tree": TREE}, {"program": "remount"}, {"program": "tar-c", "tree": TREE})
    first, second = (run(*steps, kind=kind) for _ in range(2))
    assert first == second
    aged: Document = {"file_systems": {"/data": {"kind": kind, "on": "sda", "size": "1GiB", "age": 1.0}}}
    assert run(*steps, seed=1, **aged).seconds != run(*steps, seed=2, **aged).seconds


def test_bonnie_reports_what_it_measures() -> None:
    """Protects the printed table: its figures are the prediction's in KiB, cut; every seek was made by somebody."""
    prediction = run({"program": "bonnie", "size": "8MiB", "sync": True})
    figures, report = prediction.figures, prediction.reports["bonnie"]
    assert "File '/data/Bonnie', size: 8388608, volumes: 1" in report
    for words, name in (("Writing with putc()", "putc"), ("Rewriting", "rewrite"), ("Reading intelligently", "read")):
        (line,) = (line for line in report.splitlines() if line.startswith(words))
        assert f"{int(figures[f'bonnie.{name}_rate'] / 1024)} kB/s" in line
        assert f"{100 * figures[f'bonnie.{name}_cpu']:.1f} %CPU" in line
    assert f"{figures['bonnie.seeks_rate']:.1f}" in report.splitlines()[-1]


def test_bonnies_seekers_make_all_seeks_together() -> None:
    """Protects the tickets: three processes read 4,000 blocks in all, and write every tenth of each one's own back."""
    machine = BuiltMachine(spec({"program": "bonnie", "size": "8MiB"}))
    made = ProgramRun(machine, Sample())
    made.run()
    (seeks,) = (phase for phase in made.phases["bonnie"] if phase.name == "seeks")
    assert 4400 <= seeks.bytes / (16 * 1024) <= 4402


def test_postmark_reports_the_originals_counts() -> None:
    """Protects PostMark's report: the counts are those of its random numbers at any scale, the times the simulated."""
    for scale in (1, 2):
        report = run({"program": "postmark", "number": 100, "transactions": 200}, scale=scale).reports["postmark"]
        assert report.startswith("Creating files...Done\nPerforming transactions")
        assert "Creation alone: 100 files" in report
        assert "seconds of transactions" in report


def test_postmarks_rates_are_of_the_bytes_that_the_whole_program_moves() -> None:
    """Protects its rates at a scale: a tenth of the transactions draws another share of reads. The counter-test is what
    that tenth moves by itself.
    """
    step = {"program": "postmark", "number": 200, "transactions": 400}
    asked = PostMarkSettings(number=200, transactions=400)
    whole, part = PostMark(asked), PostMark(asked.scaled(10))
    for ran in (whole, part):
        assert list(ran.operations())
    figures = run(step, scale=10).figures
    seconds = sum_in_order(figures[f"postmark.{name}_seconds"] for name in ("create", "transactions", "delete"))
    assert figures["postmark.read_rate"] * seconds == pytest.approx(float(whole.bytes_read))
    assert figures["postmark.write_rate"] * seconds == pytest.approx(float(whole.bytes_written))
    assert 10 * float(part.bytes_read) != pytest.approx(float(whole.bytes_read), rel=0.01)


def test_a_program_that_keeps_one_core_busy_is_what_limits() -> None:
    """Protects the bottleneck in words: with a second core the CPU is half idle, and the program has no time left. The
    counter-tests: with one core it is the CPU, and a program that waits for its drive is not named.
    """
    calls = {"high": "20kB", "write_block": 16, "buffering": False}
    step = {"program": "postmark", "number": 20, "transactions": 20, **calls}
    machine = machine_document(memory="64MiB", file_read="2us", file_write="30us")
    two, one = (run(step, machine={**machine, "cpu": {**machine["cpu"], "cores": cores}}) for cores in (2, 1))
    assert re.fullmatch(r"program postmark \((9\d|100) % of a core\)", two.bottleneck)
    assert one.bottleneck.startswith("cpu (")
    slow = run(dd("64MiB"), machine={**machine, "cpu": {**machine["cpu"], "cores": 2}})
    assert "sda" in slow.bottleneck


def test_tiobench_and_bonnie_plus_plus_and_time_report() -> None:
    """Protects the other formats: each step has the lines of its program, with the whole sizes."""
    steps: list[Document] = [
        {"program": "tiobench", "threads": 2, "size": "8MiB", "random_ios": 20},
        {"program": "bonnie++", "size": "4MiB", "small_files": 1},
        {"program": "cp", "size": "1MiB"},
    ]
    reports = run(*steps, scale=2).reports
    assert "   .      8     4096    2 " in reports["tiobench"]
    assert "Version  1.03" in reports["bonnie++"]
    assert ",4M," in reports["bonnie++"]
    assert reports["cp"].startswith("real\t0m")


def iozone(size: str = "16MiB", **more: Any) -> Document:
    """iozone in records of 64 KiB."""
    return {"program": "iozone", "size": size, "record": "64KiB", **more}


def test_iozone_reads_a_file_that_fits_from_memory_and_others_from_the_drive() -> None:
    """Protects every order of reading: all are as fast in memory; on the drive reading in order is fastest, and a file
    of eight times the memory never is at memory's speed but where one record is written again and again.
    """
    fits, larger = (run(iozone("128MiB"), memory=memory).figures for memory in ("512MiB", "24MiB"))
    orders = ("reread", "random_read", "backward_read", "stride_read", "fread", "freread")
    for order in orders:
        assert fits[f"iozone.{order}_rate"] == pytest.approx(fits["iozone.read_rate"], rel=0.05)
        assert fits[f"iozone.{order}_rate"] > 4e8
        assert larger[f"iozone.{order}_rate"] < 8e7
    for order in ("random_read", "backward_read", "stride_read"):
        assert larger[f"iozone.{order}_rate"] < 0.5 * larger["iozone.reread_rate"]
    assert larger["iozone.write_rate"] < 1e8
    assert larger["iozone.record_rewrite_rate"] > 4e8


def test_iozone_times_no_sync() -> None:
    """Protects the clock: what memory takes is written at memory's speed, though all of it has to be on the drive
    before the next phase begins; that is in the seconds of the whole run.
    """
    figures = run(iozone(), memory="256MiB").figures
    assert figures["iozone.write_rate"] > 4e8
    assert figures["iozone.frewrite_rate"] > 4e8
    timed = sum(14 * (1 << 24) / rate / 13 for name, rate in figures.items() if name.endswith("_rate"))
    assert figures["iozone.seconds"] > 3 * timed
    assert figures["iozone.seconds"] > 4 * (1 << 24) / 8e7


def test_iozone_at_a_scale_prints_the_whole_file() -> None:
    """Protects the report: the figures in KiB, cut, beside the whole size; the rates are those of the whole run. Short
    records are more to simulate, and a small file keeps enough of them for its strides.
    """
    whole, scaled = (run(iozone("96MiB"), memory="48MiB", scale=scale) for scale in (1, 2))
    row = scaled.reports["iozone"].splitlines()[6].split()
    figures = [rate for name, rate in scaled.figures.items() if name.endswith("_rate")]
    assert row == ["98304", "64", *(str(int(rate / 1024)) for rate in figures)]
    for name in ("read", "random_read", "stride_read", "fread"):
        assert scaled.figures[f"iozone.{name}_rate"] == pytest.approx(whole.figures[f"iozone.{name}_rate"], rel=0.1)
    short, many = {"program": "iozone", "size": "512MiB", "record": "4KiB"}, Sample(program_bytes=8 << 30)
    assert scale_for(spec(short, memory="1GiB"), many) > scale_for(spec(iozone("512MiB"), memory="1GiB"), many)
    few = BuiltMachine(spec(iozone("4MiB")), scale=16)
    made = ProgramRun(few, Sample())
    made.run()
    assert {phase.bytes for phase in made.phases["iozone"] if phase.bytes > 1 << 16} == {34 << 16}


def test_processes_share_the_drive() -> None:
    """Protects concurrent copies: two processes that read 16 MiB each take more than twice as long as one alone, and
    the mean over both is what each of them sees.
    """
    steps = (dd("16MiB"), {"program": "remount"}, read("16MiB"))
    one, two = run(*steps).figures, run(*steps, processes=2).figures
    assert two["read.seconds"] > 1.9 * one["read.seconds"]
    assert two["read.mean_seconds"] <= two["read.seconds"]
    assert two["read.cpu_seconds"] == pytest.approx(one["read.cpu_seconds"], rel=0.1)
    assert two["read.cpu_seconds"] == pytest.approx(two["read.cpu"] * two["read.mean_seconds"])


def test_scripts_that_wait_for_nobody_overlap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects programs that run through: beside one that still writes, another reads what it has written. In step, all
    write and then all read; with one process both are the same.
    """
    steps = (dd("48MiB", conv="fsync"), read("48MiB"))
    create = FileSystem.create

    def later(system: FileSystem, path: str, by: Any) -> Any:
        if path.startswith("1-"):
            yield by.engine.timeout(0.5)  # the second begins later than the first
        return (yield from create(system, path, by))

    monkeypatch.setattr(FileSystem, "create", later)

    def began_and_ended(in_step: bool, processes: int) -> tuple[float, float, dict[str, float]]:
        document = programs(*steps, processes=processes)
        document["workload"]["in_step"] = in_step
        machine = BuiltMachine(validate(ScenarioSpec, document))
        made = ProgramRun(machine, Sample())
        made.run()
        assert made.share == 1
        return made.phases["read"][0].began, made.figures["dd.seconds"], made.figures

    began, written, _ = began_and_ended(False, 2)
    assert began < written, "the first reads while the second writes"
    began, written, _ = began_and_ended(True, 2)
    assert began >= written
    assert began_and_ended(False, 1) == began_and_ended(True, 1)


def test_a_tar_pipe_reads_one_file_system_and_writes_the_other() -> None:
    """Protects (tar c) | (tar x): the tree is there afterwards, and a second drive makes it faster than one."""
    step = {"program": "tar-pipe", "source": "/old", "on": "/data", "tree": {"files": 400, "bytes": "20MB"}}
    seconds = []
    for drive in ("sdb", "sda"):
        placed = {"/data": {"kind": "ext2", "on": "sda", "size": "1GiB"}}
        placed["/old"] = {"kind": "ext2", "on": drive, "start": "100GiB", "size": "1GiB"}
        machine = BuiltMachine(spec(step, file_systems=placed))
        made = ProgramRun(machine, Sample())
        made.run()
        seconds.append(made.figures["tar-pipe.seconds"])
        assert machine.mounts["/data"].file_system.exists("0-linux-2.6.13")
    assert seconds[0] <= seconds[1]


def test_a_listing_by_hash_makes_a_copy_slower() -> None:
    """Protects what an index of names costs a reader: files are read in no order. A tree is made in some order, copied
    once it is no longer in memory, and again in the order of its making, which reads it from front to back.
    """
    tree = {"files": 1500, "bytes": "20MB"}
    steps = ({"program": "tar-x", "tree": tree}, {"program": "remount"}, {"program": "tar-c", "tree": tree})
    seconds = {}
    for listing in ("as made", "by hash"):
        placed = {"/data": {"kind": "ext2", "on": "sda", "overrides": {"listing": listing}}}
        seconds[listing] = run(*steps, file_systems=placed).figures
    assert seconds["by hash"]["tar-c.seconds"] > 1.5 * seconds["as made"]["tar-c.seconds"]
    assert seconds["by hash"]["tar-x.seconds"] == seconds["as made"]["tar-x.seconds"]


def test_the_share_that_is_done_grows() -> None:
    """Protects the progress bar: it moves within a step, weighs steps by their bytes, and ends at 1."""
    machine = BuiltMachine(spec(dd("8MiB"), dd("24MiB", file="second", name="second")))
    made = ProgramRun(machine, Sample())
    seen: list[float] = []

    def watch() -> Any:
        while True:
            yield machine.engine.timeout(0.005)
            seen.append(made.share)

    machine.engine.spawn(watch())
    assert made.share == 0
    made.run()
    assert made.share == 1
    assert seen == sorted(seen)
    assert len(set(seen)) > 3


def test_read_ahead_can_be_tuned() -> None:
    """Protects `read_ahead`: windows of 8 KiB keep one drive of a stripe of four busy, those of 1 MiB all."""
    striped: Document = {"arrays": {"md0": {"level": "raid0", "members": list(DRIVES)}}}
    striped["file_systems"] = {"/data": {"kind": "ext2", "on": "md0"}}
    small, large = (run(read("16MiB"), read_ahead=size, **striped).figures["read.rate"] for size in ("8KiB", "1MiB"))
    assert small < 0.7 * large


def test_an_array_may_be_rebuilding() -> None:
    """Protects programs beside a rebuild: both make progress."""
    array = {"level": "raid1", "members": list(DRIVES[:2]), "failed": ["sdb"], "rebuilding": ["sdb"]}
    mounted = {"/data": {"kind": "ext2", "on": "md0"}}
    prediction = run(dd("64MiB"), arrays={"md0": array}, file_systems=mounted)
    assert prediction.figures["dd.rate"] > 0
    assert prediction.rebuilds[0].action == "recover"


# What is refused


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"workload": {"kind": "programs", "steps": []}}, ["workload.steps"]),
        ({"workload": {"kind": "programs", "steps": [{"program": "remount"}]}}, ["nothing but remounts"]),
        ({"workload": {"kind": "programs", "steps": [{"program": "fsx"}]}}, ["'fsx'", "bonnie, bonnie++"]),
        ({"workload": {"kind": "programs", "steps": [dd("1MiB"), dd("1MiB")]}}, ["two steps called 'dd'", "`name`"]),
        ({"workload": {"kind": "programs", "steps": [dd("1MiB", on="/tmp")]}}, ["'/tmp'", "expected: /data"]),
        ({"workload": {"kind": "programs", "steps": [dd("1TiB")]}}, ["1 TiB on /data", "steps[0].size"]),
        ({"workload": {"kind": "programs", "steps": [dd("1MiB", file="a/b")]}}, ["'a/b'", "a name without /"]),
        ({"workload": {"kind": "programs", "steps": [{"program": "bonnie", "size": "1kB"}]}}, ["1000 bytes", "1MiB"]),
        ({"workload": {"kind": "programs", "steps": [iozone("60KiB")]}}, ["61440 bytes", "64KiB or more"]),
        ({"workload": {"kind": "programs", "steps": [iozone(record="32MiB")]}}, ["record", "at most the file"]),
        ({"workload": {"kind": "programs", "steps": [iozone(record="48KiB")]}}, ["whole records of 49152 bytes"]),
        ({"workload": {"kind": "programs", "steps": [iozone(record="1000B")]}}, ["record", "1000 bytes", "whole KiB"]),
        ({"workload": {"kind": "programs", "steps": [iozone("1TiB")]}}, ["1 TiB on /data", "steps[0].size"]),
        (
            {"workload": {"kind": "programs", "steps": [{"program": "tar-x", "archive": "a.tar"}]}},
            ["'a.tar'", "no step before"],
        ),
        (
            {"workload": {"kind": "programs", "steps": [{"program": "tar-x"}, {"program": "tar-c", "tree": TREE}]}},
            ["another tree", "one tree on each file system"],
        ),
        (
            {"workload": {"kind": "programs", "steps": [{"program": "tar-pipe", "source": "/old"}]}},
            ["unknown mount point '/old'"],
        ),
        ({"file_systems": {}}, ["programs without a file system"]),
        ({"file_systems": {"data": {"kind": "ext2", "on": "sda"}}}, ["'data'", "an absolute path"]),
        ({"file_systems": {"/data/": {"kind": "ext2", "on": "sda"}}}, ["'/data/'", "without / at its end"]),
        ({"file_systems": {"/data": {"kind": "zfs", "on": "sda"}}}, ["'zfs'", "ext2, ext3", "under pools"]),
        ({"file_systems": {"/data": {"kind": "ext2", "on": "sdx"}}}, ["'sdx'", "sda"]),
        ({"file_systems": {"/data": {"kind": "ext2", "on": "sda", "size": "1MiB"}}}, ["1 MiB", "at least 256 MiB"]),
        ({"file_systems": {"/data": {"kind": "ext2", "on": "sda", "age": 2}}}, ["age", "less than or equal to 1"]),
        (
            {"file_systems": {"/data": {"kind": "ext2", "on": "sda", "overrides": {"blok": "1KiB"}}}},
            ["overrides", "did you mean 'block'?"],
        ),
        (
            {"file_systems": {"/data": {"kind": "ext2", "on": "sda"}, "/b": {"kind": "ext2", "on": "sdb"}}},
            ["dd without a mount point"],
        ),
        (
            {"file_systems": {"/data": {"kind": "ext2", "on": "sda"}, "/b": {"kind": "ext2", "on": "sda"}}},
            ["/data inside /b on sda", "apart"],
        ),
        (
            {
                "machine": {**machine_document(), "controllers": {"ctl": {"model": "LSI-9260-8i"}}},
                "arrays": {"md0": {"level": "raid1", "members": ["sda", "sdb"], "controller": "ctl"}},
            },
            ["sda, which is behind ctl"],
        ),
        ({"machine": {**machine_document(), "resident": "2GiB"}}, ["resident", "2 GiB of 1 GiB"]),
        (
            {"workload": {"kind": "programs", "steps": [dd("1MiB"), {"program": "remount"}], "in_step": False}},
            ["in_step", "a remount while others run"],
        ),
    ],
)
def test_what_cannot_run_is_refused_with_its_place(change: Document, words: list[str]) -> None:
    """Protects people from tracebacks and silent nonsense: what was found, and what is expected."""
    with pytest.raises(InputError) as refused:
        validate(ScenarioSpec, programs(dd("1MiB")) | change)
    for word in words:
        assert word in str(refused.value)


def test_the_root_is_a_mount_point() -> None:
    """Protects the one mount point that ends in /."""
    root = {"file_systems": {"/": {"kind": "ext2", "on": "sda"}}}
    assert list(validate(ScenarioSpec, programs(dd("1MiB")) | root).file_systems) == ["/"]


def test_a_full_file_system_is_refused_when_it_is_full() -> None:
    """Protects from what only the run finds: PostMark's files outgrow 256 MiB; a message, not a traceback."""
    small = {"/data": {"kind": "ext2", "on": "sda", "size": "256MiB"}}
    step = {"program": "postmark", "number": 40, "low": "9MB", "high": "10MB", "transactions": 10}
    with pytest.raises(InputError, match="the file system is full"):
        run(step, file_systems=small)
    assert run({**step, "number": 5}, file_systems=small).figures["postmark.seconds"] > 0


def check(document: Document) -> None:
    """Refused clearly, or run twice to the same bits: finite, within bounds, with a report for every step."""
    found = outcome(document)
    if isinstance(found, InputError):
        assert found.place
        assert found.expected
        return
    assert found.seconds > 0
    assert all(0 <= value < 1e15 for value in found.figures.values()), found.figures
    assert all(0.0 <= usage.utilization <= 1.0 for usage in found.usages)
    steps = validate(ScenarioSpec, document).workload.steps  # type: ignore[union-attr]
    assert list(found.reports) == [step.title for step in steps if step.program != "remount"]


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(program_documents())
def test_every_scenario_of_programs_runs_or_is_refused(document: Document) -> None:
    """Protects people from tracebacks, whatever file systems and programs they combine."""
    check(document)


@pytest.mark.slow
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(program_documents())
def test_many_scenarios_of_programs_run_or_are_refused(document: Document) -> None:
    """The same, for longer."""
    check(document)
