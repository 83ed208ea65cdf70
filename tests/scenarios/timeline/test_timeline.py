"""Timelines: they change nothing, know what is caused by what, and come out as traces that can be drawn."""

from __future__ import annotations

import importlib
import json
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from raidsim.cli.main import main
from raidsim.model.core.errors import InputError, ModelError
from raidsim.model.files.description_errors import validate
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.running.simulate import simulate
from raidsim.scenarios.timeline import recorder
from raidsim.scenarios.timeline import timeline as timeline_module
from raidsim.scenarios.timeline.chrome_trace import chrome_trace
from raidsim.scenarios.timeline.timeline import Command, Recorder, Timeline, record
from raidsim.tests.scenarios.random_documents import documents, program_documents
from raidsim.tests.scenarios.small_machine import DRIVES, MIB, QUICK, machine_document, scenario_document
from raidsim.validation.laws.hunting.drawn_devices import Document

FIVE = (*DRIVES, "sde")


def spec(
    array: dict[str, Any] | None = None, kernel: str = "linux-6.1", machine: Any = None, **workload: Any
) -> ScenarioSpec:
    """One small random write after the other on RAID 5 of five drives, unless told otherwise."""
    made = scenario_document(kernel=kernel, array=array or {"level": "raid5", "members": list(FIVE)}, targets=("md0",))
    made["machine"] = machine or five_drives()
    load = {"kind": "load", "targets": ["md0"], "read_share": "0%", "warm_up": "50ms", "duration": "300ms"}
    made["workload"] = {**load, **workload}
    return validate(ScenarioSpec, made)


def five_drives() -> dict[str, Any]:
    """The small machine with a drive more."""
    machine = machine_document()
    machine["channels"]["sde"] = machine["channels"]["sda"]
    machine["drives"]["sde"] = {**machine["drives"]["sda"], "channel": "sde"}
    return machine


@pytest.mark.parametrize("kernel", ["linux-2.4.26", "linux-2.6.8", "linux-6.1"])
def test_a_small_raid_5_write_is_two_reads_xor_and_two_writes(kernel: str) -> None:
    """The picture that the timeline is for: read-modify-write, in its order, for every write by itself."""
    timeline = record(spec(kernel=kernel), ios=5)
    assert [io.number for io in timeline.ios] == list(range(5))
    for io in timeline.ios:
        commands = timeline.commands_of(io.number)
        assert [(each.op, each.role) for each in commands[2:]] in (
            [("write", "data"), ("write", "parity")],
            [("write", "parity"), ("write", "data")],
        )
        assert Counter((each.op, each.role) for each in commands[:2]) == {
            ("read", "old data"): 1,
            ("read", "old parity"): 1,
        }
        have_read = max(each.ended_s for each in commands[:2])
        written_from = min(each.arrived_s for each in commands[2:])
        works = [work for work in timeline.work if "XOR" in work.what and io.number in work.causes]
        xor = next(work for work in works if work.began_s >= have_read)
        assert have_read <= xor.began_s <= written_from + 5e-6  # md's thread is woken first
        assert io.began_s <= min(each.arrived_s for each in commands)
        assert io.ended_s is not None
        assert io.ended_s >= max(each.ended_s for each in commands)
        assert {each.drive for each in commands[:2]} == {each.drive for each in commands[2:]}
        assert {each.offset for each in commands} == {commands[0].offset}


def test_a_raid_5_read_is_one_read() -> None:
    """The other half of the picture: a read of a whole array costs one drive one command, and no parity work."""
    timeline = record(spec(read_share="100%"), ios=5)
    for io in timeline.ios:
        (command,) = timeline.commands_of(io.number)
        assert (command.op, command.role, command.size) == ("read", "data", io.size)
    assert not [work for work in timeline.work if "XOR" in work.what]


def test_a_degraded_read_is_caused_by_the_read() -> None:
    """What md's thread reads to rebuild a lost block belongs to who wanted it."""
    lost = {"level": "raid5", "members": list(FIVE), "failed": ["sdb"]}
    timeline = record(spec(lost, read_share="100%"), ios=30)
    complete = [io for io in timeline.ios if io.ended_s is not None]
    counts = Counter(len(timeline.commands_of(io.number)) for io in complete)
    assert set(counts) == {1, 4}


def test_the_waits_of_an_io_cover_its_time() -> None:
    """Protects pictures of single I/Os from holes: what it waits for follows each other, from beginning to end."""
    for array in ({"level": "raid5", "members": list(FIVE)}, {"level": "raid10", "members": list(DRIVES)}):
        for io in record(spec({**array, "bitmap": "64MiB"}, read_share="50%", depth=8), ios=40).ios:
            if io.ended_s is None:
                assert io.waits == ()
                continue
            edges = [io.began_s, *(wait.ended_s for wait in io.waits)]
            assert [wait.began_s for wait in io.waits] == edges[:-1]
            assert edges[-1] == io.ended_s
            assert edges == sorted(set(edges))


def test_a_write_shows_the_bitmap_that_it_waits_for() -> None:
    """A slow write whose own commands are short says what the rest of its time was; without a bitmap it is not that."""
    members = {"level": "raid10", "members": list(DRIVES)}
    kept = record(spec({**members, "bitmap": "64MiB"}, read_share="0%", depth=4), ios=20).ios
    assert any(wait.cause == "write-intent bitmap" for io in kept for wait in io.waits)
    never = record(spec({**members, "bitmap": "none"}, read_share="0%", depth=4), ios=20).ios
    assert not any(wait.cause == "write-intent bitmap" for io in never for wait in io.waits)


def test_mirrors_and_stripes_know_their_causes() -> None:
    """A write to RAID 10 goes to two drives, a read to one; both are known to be that I/O's."""
    timeline = record(spec({"level": "raid10", "members": list(DRIVES)}, read_share="50%", depth=4), ios=40)
    for io in timeline.ios:
        commands = timeline.commands_of(io.number)
        assert len(commands) == (2 if io.op == "write" else 1)
        assert {each.op for each in commands} == {io.op}


def test_the_drives_phases_are_in_order() -> None:
    """Queue, drive and service follow each other; under a deep queue commands wait in both."""
    fast = five_drives()
    for drive in fast["drives"].values():
        drive["overrides"] = {"queue_depth": 4}
    for channel in fast["channels"].values():
        channel["kind"] = "sata"
    commands = record(spec(machine=fast, read_share="100%", depth=64), ios=200).commands
    for each in commands:
        assert each.arrived_s <= each.sent_s <= each.started_s <= each.ended_s
    assert any(each.arrived_s < each.sent_s for each in commands)
    assert any(each.sent_s < each.started_s for each in commands)


def test_a_rebuild_is_told_from_the_load() -> None:
    """What the resync thread sends is its own, and no logical I/O's."""
    # A faster rebuild keeps the load waiting for longer than the run.
    slow = {"resync": {"speed_max": "5MB/s", "stripe_heads": 256}}
    lost = {"level": "raid5", "members": list(FIVE), "failed": ["sdb"], "rebuilding": ["sdb"], **slow}
    timeline = record(spec(lost, read_share="100%"), ios=50)
    rebuilds = [each for each in timeline.commands if each.kind == "resync"]
    assert {each.op for each in rebuilds if each.drive == "sdb"} == {"write"}
    assert {each.op for each in rebuilds if each.drive != "sdb"} == {"read"}
    assert not any(each.causes for each in rebuilds)
    assert any(each.causes for each in timeline.commands)


def test_a_controllers_cache_answers_before_its_drives() -> None:
    """A write is complete when it is in the controller's memory; the drives get it later, as destaging."""
    machine = five_drives()
    machine["controllers"] = {"raid": {"model": "LSI-9260-8i", "overrides": {"partial_age": "5ms"}}}
    behind = {"level": "raid5", "members": list(FIVE), "controller": "raid"}
    timeline = record(spec(behind, machine=machine, iops=200, duration="1s"), ios=1000)
    assert len(timeline.controller_commands) >= len(timeline.ios) - 1
    kinds = Counter(each.kind for each in timeline.commands)
    assert set(kinds) <= {"destage", "other"}
    assert kinds["destage"] > kinds["other"]
    assert not any(each.causes for each in timeline.commands)
    assert {each.controller for each in timeline.controller_commands} == {"md0"}


def test_a_page_cache_says_what_it_writes_back() -> None:
    """dd's logical I/Os are the page cache's: write-back of the flusher, reads of the program."""
    small = {"memory": "128MiB"}
    written = scenario_document(direction="write", size="256MiB", block_size="64KiB", machine_changes=small)
    ios = record(validate(ScenarioSpec, written), QUICK, ios=20).ios
    assert {(io.kind, io.op) for io in ios} == {("write-back", "write")}
    read = scenario_document(size="256MiB")
    ios = record(validate(ScenarioSpec, read), QUICK, ios=20).ios
    assert {(io.kind, io.op) for io in ios} == {("load", "read")}


def test_no_more_is_recorded_than_asked_for() -> None:
    """A file stays small: the first I/Os after the warm-up, and what happens until they are complete."""
    timeline = record(spec(depth=4), ios=3)
    assert len(timeline.ios) == 3
    assert timeline.began_s == pytest.approx(0.05)
    ended = max(io.ended_s for io in timeline.ios if io.ended_s is not None)
    assert all(each.ended_s <= ended for each in timeline.commands)
    assert all(io.began_s >= timeline.began_s for io in timeline.ios)
    assert len(record(spec(depth=4), ios=9).ios) == 9


def test_a_recording_by_itself_is_that_of_the_whole_run() -> None:
    """The rest of the run is not simulated, and what was recorded before does not depend on it."""
    scenario = spec(depth=4, duration="2s")
    recorder = Recorder(10)
    whole = simulate(scenario, observer=recorder)
    assert whole.measured_s == pytest.approx(2.0)
    assert Timeline.of(scenario.name, recorder) == record(scenario, ios=10)


def tracks(trace: dict[str, Any]) -> dict[tuple[int, int], list[tuple[float, float]]]:
    """Begin and end of the slices of every track, in the order of the file."""
    found: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            slices = found.setdefault((event["pid"], event["tid"]), [])
            slices.append((event["ts"], round(event["ts"] + event["dur"], 3)))
    return found


def check_trace(timeline: Timeline) -> dict[str, Any]:
    """A trace that a viewer can draw: valid JSON, times in order, slices that nest, every track named."""
    trace: dict[str, Any] = json.loads(json.dumps(chrome_trace(timeline), allow_nan=False))
    events = trace["traceEvents"]
    times = [event["ts"] for event in events if event["ph"] != "M"]
    assert times == sorted(times)
    assert min(times, default=0.0) >= 0
    named = {(e["pid"], e["tid"]) for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    assert {(e["pid"], e["tid"]) for e in events if e["ph"] != "M"} <= named
    assert {e["pid"] for e in events} == {e["pid"] for e in events if e["name"] == "process_name"}
    for slices in tracks(trace).values():
        under_way: list[float] = []
        for begin, end in slices:
            while under_way and under_way[-1] <= begin:
                under_way.pop()
            assert end >= begin
            assert not under_way or end <= under_way[-1]
            under_way.append(end)
    assert sorted(e["id"] for e in events if "args" in e and e["ph"] == "b") == list(range(len(timeline.ios)))
    for io in timeline.ios:
        nested = [(e["ph"], e["name"]) for e in events if e["ph"] in "be" and e["id"] == io.number]
        parts = [(phase, wait.cause) for wait in io.waits for phase in "be"]
        assert nested[1:-1] == parts
        assert (nested[0][0], nested[-1][0], nested[0][1]) == ("b", "e", nested[-1][1])
    return trace


def test_the_trace_can_be_drawn() -> None:
    """Logical I/Os with their arguments, commands with their waits inside, processors and links by name."""
    timeline = record(spec(depth=8, read_share="50%"), ios=50)
    trace = check_trace(timeline)
    first = next(event for event in trace["traceEvents"] if event["ph"] == "b")
    io = timeline.ios[0]
    assert first["args"] == {
        "number": 0,
        "kind": "load",
        "offset": io.offset,
        "size": 4096,
        "issuer": io.issuer,
        "latency_ms": pytest.approx(1e3 * ((io.ended_s or 0.0) - io.began_s), abs=1e-6),
    }
    names = {e["args"]["name"] for e in trace["traceEvents"] if e["name"] in ("process_name", "thread_name")}
    assert names >= {"logical I/O", "md0", "processors", "cpu", "links", "pci", *(f"drive {name}" for name in FIVE)}
    drawn = Counter(event["name"] for event in trace["traceEvents"] if event["ph"] == "X")
    assert drawn["served"] == len(timeline.commands)
    assert drawn["old parity read 4 KiB"] > 0


def test_nothing_recorded_is_a_trace_too() -> None:
    """A run without any I/O in its measurement gives an empty trace, not an error."""
    empty = Timeline("nothing", 1.0, 1.0, (), (), (), (), ())
    assert chrome_trace(empty)["traceEvents"] == []


def check_unchanged(document: Document) -> None:
    """A run gives the same to the last bit with and without a recorder, and its trace can be drawn."""
    recorder = Recorder(200)
    try:
        scenario = validate(ScenarioSpec, document)
        plain = simulate(scenario, QUICK)
    except InputError:
        return
    assert simulate(scenario, QUICK, observer=recorder) == plain
    timeline = Timeline.of(scenario.name, recorder)
    check_trace(timeline)
    for command in timeline.commands:
        assert isinstance(command, Command)
        assert command.arrived_s <= command.sent_s <= command.started_s <= command.ended_s
        assert all(0 <= cause < len(timeline.ios) for cause in command.causes)


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents())
def test_recording_changes_nothing(document: Document) -> None:
    """Protects predictions from the recorder, whatever the machine is built of."""
    check_unchanged(document)


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents())
def test_recording_never_changes_anything(document: Document) -> None:
    """The same, for longer."""
    check_unchanged(document)


@pytest.mark.slow
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(program_documents())
def test_recording_programs_changes_nothing(document: Document) -> None:
    """The same, of programs on file systems."""
    check_unchanged(document)


def test_both_recordings_of_a_scenario_are_equal() -> None:
    """A timeline is as repeatable as the run."""
    scenario = spec(depth=4, block_size=64 * 1024, start=8 * MIB)
    assert record(scenario, ios=20) == record(scenario, ios=20)


def test_with_a_compiled_build_it_is_recorded_from_source(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Protects timelines, and the manual that shows some, on a compiled tree: another process records the same, and
    nothing is watched in this one, by no command either.
    """
    scenario = spec(depth=2)
    plain = record(scenario, ios=5)
    # The package has a function of that name.
    for module in (timeline_module, recorder, importlib.import_module("raidsim.api.run")):
        monkeypatch.setattr(module, "in_use", lambda: True)
    assert record(scenario, ios=5) == plain
    drawn = tmp_path / "out.json"
    changes = ("--set", "warm_up=50ms", "--set", "duration=200ms", "--timeline-ios", "5", "--no-relief")
    with suppress(SystemExit):
        main(["run", "home-nas", *changes, "--timeline", str(drawn)])
    assert "bottleneck:" in capsys.readouterr().out
    assert json.loads(drawn.read_text(encoding="utf-8"))["traceEvents"]
    # The counter-test: whoever watches in this process is refused.
    with pytest.raises(ModelError, match="compiled"):
        simulate(scenario, observer=Recorder(5))
