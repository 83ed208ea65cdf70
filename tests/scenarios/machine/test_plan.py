"""The plan of a machine: what a scenario becomes, part by part, before anything is simulated."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.disk.spec import DriveSpec
from raidsim.model.files.description_errors import validate
from raidsim.model.layouts import LEVELS
from raidsim.model.tasks.cpu import QUANTUM_S
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import read_document
from raidsim.scenarios.machine.machine import BuiltMachine
from raidsim.scenarios.machine.parts import (
    ArrayPlan,
    ByteStripeDriver,
    CryptPlan,
    DiskPlan,
    DriveQueuePlan,
    FirmwarePlan,
    LimitPlan,
    LoopPlan,
    MirrorDriver,
    ParityDriver,
    Part,
    PlainDriver,
    QueuePlan,
    ResyncPlan,
    SparesPlan,
    VolumePlan,
)
from raidsim.scenarios.machine.plan import MachinePlan, device_parts, machine_plan
from raidsim.tests.scenarios.small_machine import DRIVES, scenario_document

KIB = 1024
SIX = ("sda", "sdb", "sdc", "sdd")


def document(array: dict[str, Any] | None = None, kernel: str = "linux-6.1", **more: Any) -> dict[str, Any]:
    """A load of random reads on md0, or on sda."""
    made = scenario_document(kernel=kernel, array=array)
    on = "sda" if array is None else "md0"
    load = {"kind": "load", "targets": [on], "block_size": "4KiB", "pattern": "random", "depth": 4}
    return {**made, "workload": load, **more}


def planned(array: dict[str, Any] | None = None, kernel: str = "linux-6.1", **more: Any) -> MachinePlan:
    """The plan of that."""
    return machine_plan(validate(ScenarioSpec, document(array, kernel, **more)))


def array_of(level: str, members: int = 4, **more: Any) -> dict[str, Any]:
    """An array of the first drives."""
    return {"level": level, "members": list(DRIVES[:members]), **more}


def listed(parts: tuple[Part, ...]) -> list[tuple[str, str]]:
    """Kinds and names of parts, in order."""
    return [(type(part).__name__.removesuffix("Plan"), part.name) for part in parts]


def write_caches(plan: MachinePlan) -> dict[str, bool]:
    """Whether each hard disk acknowledges writes from its buffer."""
    disks = [part for part in plan.parts if isinstance(part, DiskPlan)]
    return {part.name: part.spec.write_cache for part in disks if isinstance(part.spec, DriveSpec)}


def only(plan: MachinePlan, kind: type[Any]) -> Any:
    """The one part of a kind."""
    (part,) = [part for part in plan.parts if isinstance(part, kind)]
    return part


def test_every_part_comes_after_those_below_it() -> None:
    """Protects the one pass of the assembly: drives, their queues, the array, the limit of its queue."""
    plan = planned(array_of("raid5", 3))
    drives = [(kind, name) for name in ("sda", "sdb", "sdc") for kind in ("Disk", "Queue")]
    assert listed(plan.parts) == [*drives, ("Array", "md0"), ("Limit", "md0")]
    assert (len(plan.busy), len(plan.mounts), len(plan.caches)) == (0, 0, 0)


def test_a_drive_and_its_queue() -> None:
    """Protects a disk of today: its own cable, mq-deadline, 64 tags of 32 commands, throttling for what turns."""
    plan = planned()
    disk, queue = plan.parts
    assert isinstance(disk, DiskPlan)
    assert isinstance(queue, QueuePlan)
    assert (disk.name, disk.channel, disk.own_cable, disk.state) == ("sda", "sda", True, "steady")
    depth = disk.spec.queue_depth
    assert (queue.kind, queue.scheduler, queue.usual) == ("tags", "mq-deadline", True)
    assert (queue.depth, queue.requests, queue.hardware_queues) == (depth, 2 * depth, 1)
    assert queue.section == plan.kernel.queue
    assert (queue.max_request, queue.throttle_s) == (plan.kernel.queue.max_request, 0.075)
    old = planned(kernel="linux-2.6.8").parts[1]
    assert isinstance(old, QueuePlan)
    assert (old.kind, old.scheduler, old.throttle_s) == ("single", "anticipatory", 0.0)


def test_a_parity_array_has_its_kernels_stripe_cache_and_what_its_user_has_set() -> None:
    """Protects the settings of a driver: the kernel's section, but for what the array's own fields say."""
    plan = planned(array_of("raid5", 3, stripe_cache=4096, group_thread_cnt=2))
    array, section = only(plan, ArrayPlan), plan.kernel.raid5
    assert (array.root, array.members, array.slots) == ("md0", ("sda", "sdb", "sdc"), ("sda", "sdb", "sdc"))
    assert (array.layout.level, array.failed, array.resync, array.pace) == ("raid5", (), None, None)
    assert isinstance(array.driver, ParityDriver)
    settings = array.driver.settings
    assert (settings.heads, settings.workers, settings.discards) == (4096, 2, False)
    assert (settings.rmw_level, settings.direct_reads) == (section.rmw_level, section.direct_reads)
    assert only(planned(array_of("raid5", 3)), ArrayPlan).driver.settings.heads == section.heads


def test_a_rebuild_and_a_member_that_will_fail() -> None:
    """Protects what goes on without the workload: the thread at work, and the spare behind the array that needs it."""
    rebuilt = only(planned(array_of("raid1", 2, failed=["sdb"], rebuilding=["sdb"])), ArrayPlan)
    assert (rebuilt.failed, rebuilt.rebuilding, rebuilt.resync_sleeps) == ((1,), (1,), True)
    assert rebuilt.resync == ResyncPlan("recover", 0, rebuilt.pace.when_busy == "nap")
    assert isinstance(rebuilt.driver, MirrorDriver)
    assert rebuilt.driver.balance.name == "md-6.1"
    plan = planned(array_of("raid1", 2, spares=["sdc"]), failures=[{"member": "sda", "at": "3s"}])
    assert listed(plan.parts)[4:] == [("Array", "md0"), ("Disk", "sdc"), ("Queue", "sdc"), ("Spares", "md0")]
    array, spares = only(plan, ArrayPlan), only(plan, SparesPlan)
    assert (array.fails, array.resync, array.pace) == (True, None, rebuilt.pace)
    assert spares == SparesPlan(array, ("sdc",), ((3.0, 0),))


def test_a_group_that_loses_too_much_is_a_lost_member_of_the_outer_array() -> None:
    """Protects arrays of arrays: a mirror that has lost one member works; a stripe that has is gone as a whole."""
    lost = array_of("raid01", 4, failed=["sda"])
    first, second, outer = [part for part in planned(lost).parts if isinstance(part, ArrayPlan)]
    assert (first.name, second.name, outer.name) == ("md0.0", "md0.1", "md0")
    assert (first.failed, second.failed, outer.failed) == ((), (), (0,))
    assert isinstance(first.driver, PlainDriver)
    assert (outer.members, isinstance(outer.driver, MirrorDriver)) == (("md0.0", "md0.1"), True)
    degraded = array_of("raid10", 4, failed=["sda"], algorithm="striped-mirrors")
    first, second, outer = [part for part in planned(degraded).parts if isinstance(part, ArrayPlan)]
    assert (first.failed, second.failed, outer.failed) == ((0,), (), ())
    assert isinstance(outer.driver, PlainDriver)


def test_what_a_controller_runs() -> None:
    """Protects the order behind a controller: its processor once, its own queues, its array, and the host's queue."""
    made = document(array_of("raid50", 6, controller="raid"))
    made["machine"]["controllers"] = {"raid": {"model": "LSI-9260-8i"}}
    for name in ("sde", "sdf"):
        made["machine"]["drives"][name] = made["machine"]["drives"]["sda"]
    made["arrays"]["md0"]["members"] = [*SIX, "sde", "sdf"]
    plan = machine_plan(validate(ScenarioSpec, made))
    assert listed(plan.parts)[0] == ("Firmware", "raid/")
    assert listed(plan.parts)[-5:] == [
        ("Array", "md0.0"),
        ("Array", "md0.1"),
        ("Array", "md0"),
        ("Volume", "md0"),
        ("Queue", "md0"),
    ]
    queues = [part for part in plan.parts if isinstance(part, DriveQueuePlan)]
    assert [part.name for part in queues] == [f"raid/{name}" for name in made["arrays"]["md0"]["members"]]
    firmware, volume = only(plan, FirmwarePlan), only(plan, VolumePlan)
    assert volume.spec == firmware.spec
    arrays = [part for part in plan.parts if isinstance(part, ArrayPlan)]
    assert {array.controller for array in arrays} == {"raid"}
    assert arrays[0].driver == ParityDriver(firmware.spec.parity_settings())
    assert not any(isinstance(part, LimitPlan) for part in plan.parts)


@pytest.mark.parametrize(
    ("drive_cache", "overrides", "on"),
    [
        (None, {}, True),
        ("as shipped", {}, True),
        ("off", {}, False),
        ("off", {"write_cache": True}, True),
        ("as shipped", {"write_cache": False}, False),
    ],
)
def test_a_controller_may_switch_the_drives_write_caches_off(
    drive_cache: str | None, overrides: dict[str, Any], on: bool
) -> None:
    """As shipped unless the firmware switches them off; what the scenario says of a drive takes precedence."""
    made = document(array_of("raid5", 3, controller="raid"))
    settings = {} if drive_cache is None else {"drive_cache": drive_cache}
    made["machine"]["controllers"] = {"raid": {"model": "LSI-9260-8i", "overrides": settings}}
    for name in DRIVES[:4]:
        shipped = made["machine"]["drives"][name]
        made["machine"]["drives"][name] = {**shipped, "overrides": {**shipped.get("overrides", {}), **overrides}}
    plan = machine_plan(validate(ScenarioSpec, made))
    assert write_caches(plan) == dict.fromkeys(DRIVES[:3], on)


def test_drives_without_a_controller_keep_the_write_cache_they_are_shipped_with() -> None:
    """The counter-test: a controller that runs other drives has no say."""
    made = document(array_of("raid5", 3))
    made["machine"]["controllers"] = {"raid": {"model": "LSI-9260-8i", "overrides": {"drive_cache": "off"}}}
    plan = machine_plan(validate(ScenarioSpec, made))
    assert write_caches(plan) == dict.fromkeys(DRIVES[:3], True)


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [("linux-2.6.8", LoopPlan), ("linux-2.4.26", CryptPlan)],
)
def test_what_encrypts(kernel: str, expected: type[Any]) -> None:
    """Protects generations of cryptoloop: through the page cache of what is below, or straight down."""
    layer = {"on": "sda", "kind": "cryptoloop", "rate": "50MB/s", "source": "test"}
    made = document(kernel=kernel, encrypted={"secret": layer})
    made["workload"]["targets"] = ["secret"]
    part: Any = machine_plan(validate(ScenarioSpec, made)).parts[-1]
    assert type(part) is expected
    assert (part.name, part.on, part.s_per_byte) == ("secret", "sda", 1 / 50e6)


def test_caches_follow_from_kernel_and_layout() -> None:
    """Protects page caches: block, turns and windows of a mounted file system on RAID 5, and of dd on a drive."""
    steps = [{"program": "dd", "file": "f", "size": "8MiB", "on": "/"}]
    made = scenario_document(kernel="linux-2.6.8", array=array_of("raid5", 4))
    made |= {
        "file_systems": {"/": {"kind": "ext2", "on": "md0"}},
        "workload": {"kind": "programs", "steps": steps},
    }
    (mounted,) = machine_plan(validate(ScenarioSpec, made)).mounts
    assert (mounted.point, mounted.on, listed(mounted.parts)[-1]) == ("/", "md0", ("Array", "md0"))
    settings = mounted.cache.settings
    assert (settings.block, settings.expire, settings.turn) == (mounted.settings.block, 30.0, QUANTUM_S)
    assert mounted.cache.read_ahead.window == 384 * KIB
    (cached,) = machine_plan(validate(ScenarioSpec, scenario_document(kernel="linux-2.6.8", targets=("sda",)))).caches
    assert (cached.settings.block_bytes, cached.read_ahead.window) == (4096, 128 * KIB)


def test_the_same_scenario_has_the_same_plan() -> None:
    """Protects plans from hidden state: two of one scenario are equal, and what is made already has no parts."""
    spec = validate(ScenarioSpec, document(array_of("raid6", 4)))
    first, second = machine_plan(spec), machine_plan(spec)
    same = [part for part in first.parts if not isinstance(part, ArrayPlan | LimitPlan)]
    assert same == [part for part in second.parts if not isinstance(part, ArrayPlan | LimitPlan)]
    assert only(first, ArrayPlan).driver == only(second, ArrayPlan).driver
    assert list(device_parts(replace(first.planning, made={"md0"}), "md0")) == []
    rest = list(device_parts(replace(first.planning, made=set(DRIVES)), "md0"))
    assert listed(tuple(rest)) == [("Array", "md0"), ("Limit", "md0")]


def test_raid3_is_made_of_bytes() -> None:
    """Protects graid3 -r, the only option of its driver."""
    plan = planned(array_of("raid3", 3, round_robin=True), "freebsd-6.2")
    assert only(plan, ArrayPlan).driver == ByteStripeDriver(round_robin=True)
    assert LEVELS["raid3"].redundancy == "byte parity"


def test_nothing_is_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the plan from the clock: it is made where no simulation can be."""

    def refused(engine: Engine, *_: Any) -> None:
        raise AssertionError(f"a plan has made {engine!r}")

    spec = read_document("home-nas").spec()
    monkeypatch.setattr(Engine, "__init__", refused)
    assert len(machine_plan(spec).parts) == 10
    with pytest.raises(AssertionError):
        BuiltMachine(spec)
