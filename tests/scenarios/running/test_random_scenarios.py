"""Whatever a person writes is refused with one clear message, or it runs, to the same bits every time."""

from __future__ import annotations

import math
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from raidsim.model.core.errors import ArrayFailed, InputError
from raidsim.model.files.description_errors import validate
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.scenarios.description.devices import Devices
from raidsim.scenarios.description.programs import ProgramsSpec
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.machine.machine import BuiltMachine
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.base.sample import Sample
from raidsim.scenarios.running.load_run import LoadRun
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.scenarios.random_documents import documents
from raidsim.tests.scenarios.small_machine import DRIVES, MIB, scenario_document
from raidsim.validation.laws.hunting.drawn_devices import Document

SMALL = Sample(read_bytes=MIB, write_bytes=MIB, cycles=1)
HANGS_S = 30.0
"""CPU seconds after which a run of a tenth of a second hangs; all but a few take less than a half."""
DRAINED_S = 60.0
"""Simulated seconds after which an I/O that is still under way is lost."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Fail what takes more CPU time."""

    def too_long(_: int, __: FrameType | None) -> None:
        raise AssertionError(f"still running after {seconds} s")

    before = signal.signal(signal.SIGVTALRM, too_long)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 0.1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def outcome(document: Document) -> Prediction | InputError:
    """What becomes of a document; any other exception is a mistake of ours."""
    try:
        spec = validate(ScenarioSpec, document)
        with limited(HANGS_S):
            prediction = simulate(spec, SMALL)
        with limited(HANGS_S):
            assert simulate(spec, SMALL) == prediction
    except InputError as error:
        return error
    return prediction


def check(document: Document) -> None:
    """Refused clearly, or run: finite, within bounds, repeatable, as large as it said, and no I/O lost."""
    found = outcome(document)
    if isinstance(found, InputError):
        assert found.place
        assert found.found
        assert found.expected
        return
    assert 0 < found.rate < math.inf
    assert found.measured_s > 0
    assert 0 < found.seconds < math.inf
    assert all("some starve" in note for note in found.notes)
    for usage in found.usages:
        assert 0.0 <= usage.utilization <= 1.0, usage
        assert usage.mean_queue >= 0.0, usage
    for rebuild in found.rebuilds:
        assert 0.0 <= rebuild.rate < math.inf
        assert 0 <= rebuild.position <= rebuild.total_bytes
    for figures in found.latencies.values():
        ordered = [figures[f"{name}_s"] for name in ("min", "p50", "p90", "p99", "p99.9", "max")]
        assert ordered == sorted(ordered)
    spec = validate(ScenarioSpec, document)
    machine = BuiltMachine(spec)
    assert not isinstance(spec.workload, ProgramsSpec)
    devices = Devices(spec.machine, spec.arrays, spec.encrypted)
    for name, target in zip(spec.workload.targets, machine.targets, strict=True):
        assert devices.capacity(name) == target.capacity, name
    if spec.workload.kind == "load":
        drain(machine)


def drain(machine: BuiltMachine) -> None:
    """Run a load, stop it, and see every I/O come back."""
    run = LoadRun(machine, SMALL)
    engine = machine.engine
    closed = [load for load in machine.loads if isinstance(load, ClosedLoad)]
    with limited(HANGS_S):
        try:
            run.run()
            for load in machine.loads:
                load.stop()
            until = engine.now + DRAINED_S
            while any(load._outstanding for load in closed) and engine.now < until:
                engine.run(until=engine.now + 0.5)
        except ArrayFailed:
            return  # a failure that comes after the measurement may be one too many
    assert [load._outstanding for load in closed] == [0] * len(closed)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents())
def test_every_scenario_runs_or_is_refused(document: Document) -> None:
    """Protects people from tracebacks, endless runs and nonsense, whatever they combine."""
    check(document)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents())
def test_many_scenarios_run_or_are_refused(document: Document) -> None:
    """The same, for longer."""
    check(document)


def raid(level: str, members: int = 4, **more: Any) -> Document:
    """An array of the first drives."""
    return {"level": level, "members": list(DRIVES[:members]), **more}


def load(**more: Any) -> Document:
    """A short load on md0."""
    return {"kind": "load", "targets": ["md0"], "warm_up": "0s", "duration": "50ms", **more}


def with_array(array: Document, kernel: str = "linux-6.1", workload: Document | None = None, **more: Any) -> Document:
    """A scenario of four drives with md0."""
    document = scenario_document(array=array, targets=("md0",), kernel=kernel)
    return {**document, "workload": workload or load(), **more}


FAILS: dict[str, Any] = {"at": "10ms"}
CONTROLLERS = {"ctl": {"model": "LSI-9260-8i"}}


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (with_array(raid("raid5"), failures=[{"member": "sda", **FAILS}, {"member": "sdb", **FAILS}]), "second loss"),
        (with_array(raid("raid6"), failures=[{"member": "sda", **FAILS}, {"member": "sda", **FAILS}]), "sda twice"),
        (with_array(raid("raid6", failed=["sda"]), failures=[{"member": "sda", **FAILS}]), "failed already"),
        (with_array(raid("raid5"), workload=load(start="1000B")), "multiple of 512"),
        (with_array(raid("raid5"), workload=load(targets=["md0", "md0"])), "md0 twice"),
        (with_array(raid("raid5"), workload=load(span="1TB")), "within the device md0"),
        (with_array(raid("raid5"), workload=load(depth=60000, jobs=4000)), "outstanding"),
        (with_array(raid("raid5"), "freebsd-6.2"), "which runs none"),
        (with_array(raid("raid5", bitmap="64MiB"), "linux-2.6.8"), "2.6.14"),
        (with_array(raid("raid5", bitmap="5000B")), "power of two"),
        (with_array(raid("raid5", resync={"action": "check", "position": "900GB"})), "resync.position"),
        (with_array(raid("raid5", resync={"action": "check", "speed_max": "1kB/s"})), "below the minimum"),
        (with_array(raid("raid1", resync={"action": "check"}), "freebsd-6.2"), "which has none"),
        (with_array(raid("raid1", balance="ataraid")), "mirror of 4"),
        (with_array(raid("raid10", balance="gmirror-load")), "md's RAID 10"),
        (with_array(raid("raid10", write_mostly=["sda"])), "reads all mirrors alike"),
        (with_array(raid("raid1", write_mostly=["sda"]), "linux-2.6.8"), "expected: with balance md-3.6, md-6.1"),
        (with_array(raid("raid5", 3), arrays={"md0": raid("raid5", 3), "md0.1": raid("linear", 1)}), "md0.1"),
    ],
)
def test_what_used_to_break(document: Document, words: str) -> None:
    """Protects what the random scenarios once found: each refused with its own words."""
    found = outcome(document)
    assert isinstance(found, InputError)
    assert words in str(found)


@pytest.mark.parametrize(
    ("array", "target", "words"),
    [
        ({"bitmap": "64MiB"}, "md0", "bitmap on a controller"),
        ({"stripe_cache": 64}, "md0", "stripe_cache on a controller"),
        ({}, "sda", "sda, which is behind ctl"),
    ],
)
def test_a_controller_is_not_md(array: Document, target: str, words: str) -> None:
    """Protects from options that a controller would ignore, and from drives that the host does not see."""
    document = with_array(raid("raid5", controller="ctl", **array), workload=load(targets=[target]))
    document["machine"]["controllers"] = CONTROLLERS
    found = outcome(document)
    assert isinstance(found, InputError)
    assert words in str(found)


def test_a_second_loss_before_the_spare_is_rebuilt() -> None:
    """Protects the one failure that only the run can find: a message that names the members, and no traceback."""
    failures = [{"member": "sda", "at": "1ms"}, {"member": "sdb", "at": "20ms"}]
    found = outcome(with_array(raid("raid5", 3, spares=["sdd"]), failures=failures))
    assert isinstance(found, InputError)
    assert "sda, sdb" in str(found)
    assert isinstance(outcome(with_array(raid("raid5", 3, spares=["sdd"]), failures=failures[:1])), Prediction)


def test_a_rebuild_beside_another_array_goes_on() -> None:
    """Protects arrays that are not the workload's: their rebuild takes its share of the bus all the same."""
    rebuilding = raid("raid1", 2, failed=["sdb"], rebuilding=["sdb"])
    document = with_array(rebuilding, workload=load(targets=["sdc"]))
    found = outcome(document)
    assert isinstance(found, Prediction)
    (rebuild,) = found.rebuilds
    assert (rebuild.array, rebuild.action) == ("md0", "recover")
    assert rebuild.rate > 0


def test_nobody_waits_for_an_array_below_for_ever() -> None:
    """Protects RAID 6 over RAID 50 where incomplete rows are held: the lower one must know that somebody waits."""
    below = {"level": "raid50", "members": [f"x{number}" for number in range(6)], "chunk": "4KiB"}
    above = {"level": "raid6", "members": ["sda", "sdb", "sdc", "md1"], "chunk": "4KiB"}
    workload = load(block_size="512B", pattern="sequential", read_share="70%", jobs=2)
    document = with_array(above, "linux-2.4.26", workload)
    document["arrays"]["md1"] = below
    for name in below["members"]:
        document["machine"]["drives"][name] = {"model": "WD2500JB", "channel": "sda"}
    check(document)


def test_a_rebuild_leaves_stripe_heads_to_others() -> None:
    """Protects a small stripe cache: a rebuild that asked for more heads than there are would stop all writes."""
    array = raid("raid5", stripe_cache=64, failed=["sdb"], rebuilding=["sdb"])
    document = scenario_document(array=array, targets=("md0",), direction="write", block_size=4096, size="7MiB")
    document["machine"]["memory"] = "8MiB"
    assert isinstance(outcome(document), Prediction)


@pytest.mark.parametrize(("kernel", "block"), [("linux-2.6.8", 512), ("linux-2.4.26", 1024)])
def test_a_device_of_odd_size_has_a_fitting_block(kernel: str, block: int) -> None:
    """Protects the end of a drive of an odd number of sectors: since 2.6 its blocks are smaller, on 2.4 the last sector
    is out of reach; both can be written up to there.
    """
    sectors = 80079
    reach = sectors * 512 // block * block
    document = scenario_document(direction="write", kernel=kernel, size=f"{2 * MIB}B", start=f"{reach - 2 * MIB}B")
    document["machine"]["drives"]["sda"]["overrides"] = {"capacity": f"{sectors * 512}B", "heads": 1}
    assert BuiltMachine(validate(ScenarioSpec, document)).dds[0].cache.settings.block_bytes == block
    assert isinstance(outcome(document), Prediction)
    document["workload"]["start"] = f"{reach - 2 * MIB + 512}B"
    assert isinstance(outcome(document), InputError)
