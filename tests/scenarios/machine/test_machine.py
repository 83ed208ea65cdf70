"""From scenario to parts: which scheduler, cache, array and rebuild a kernel and a description give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from raidsim.model.block.single_queue import BlockQueue
from raidsim.model.core.errors import InputError
from raidsim.model.core.request import READ, WAITED, WRITE, WRITE_THROUGH, Request
from raidsim.model.disk.actuators.split_drive import SplitDrive
from raidsim.model.disk.hard_disk import HardDisk
from raidsim.model.files.description_errors import validate
from raidsim.model.kernels import kernel as kernel_called
from raidsim.model.raid.base.array import Array
from raidsim.model.raid.metadata.superblock import MetadataWrite
from raidsim.model.raid.mirrors.mirror import MirrorArray
from raidsim.model.raid.parity.array import ParityArray
from raidsim.model.raid.read_balance import Md24, Md26
from raidsim.model.raid.resync.spares import MemberSlot
from raidsim.model.raid.striped.stripe import StripeArray
from raidsim.model.schedulers import Anticipatory, Cfq, Deadline, MqDeadline, OneWayElevator
from raidsim.model.statistics.usage import DISK
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.machine.array_plan import shown_layout
from raidsim.scenarios.machine.cache_plan import read_ahead_plan
from raidsim.scenarios.machine.machine import BuiltMachine
from raidsim.scenarios.machine.parts import ArrayPlan, ParityDriver
from raidsim.scenarios.machine.plan import LOW_MEMORY_BYTES, machine_plan
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.scenarios.small_machine import DRIVES, MIB, scenario, scenario_document

KIB = 1024
LINUX_24, LINUX_26 = "linux-2.4.26", "linux-2.6.8"


def built(**changes: Any) -> BuiltMachine:
    """The parts of a scenario."""
    return BuiltMachine(scenario(**changes))


def array_of(level: str, members: int = 4, **more: Any) -> dict[str, Any]:
    """An array of the first drives."""
    return {"level": level, "members": list(DRIVES[:members]), **more}


def under_a_load(array: dict[str, Any], kernel: str) -> BuiltMachine:
    """The parts of a scenario with an array md0 and random reads of it, which FreeBSD knows too."""
    document = scenario_document(kernel=kernel, array=array)
    load = {"kind": "load", "targets": ["md0"], "block_size": "4KiB", "pattern": "random", "depth": 4}
    return BuiltMachine(validate(ScenarioSpec, {**document, "workload": load}))


def test_a_drive_with_two_actuators_is_one_drive_to_the_host() -> None:
    """Protects the assembly: one queue and one set of figures for both arms; an override leaves one arm."""
    document = scenario_document(array=array_of("raid0"), kernel="linux-6.1")
    load: dict[str, Any] = {"kind": "load", "targets": ["md0"], "block_size": "4KiB", "pattern": "random"}
    load |= {"depth": 32, "duration": "4s"}
    for channel in document["machine"]["channels"].values():
        channel["kind"] = "sata"
    rates = {}
    for actuators in (2, 1):
        for name in DRIVES:
            drive = {"model": "Exos-2X18-18TB", "channel": name, "overrides": {"actuators": actuators}}
            document["machine"]["drives"][name] = drive
        spec = validate(ScenarioSpec, {**document, "workload": load})
        disks = BuiltMachine(spec).disks
        assert {type(disk) for disk in disks.values()} == {SplitDrive if actuators == 2 else HardDisk}
        prediction = simulate(spec)
        rates[actuators] = prediction.rate
        assert [usage.name for usage in prediction.usages if usage.kind == DISK] == list(DRIVES)
    assert rates[2] > 1.3 * rates[1]


def test_the_kernel_chooses_scheduler_and_block() -> None:
    """Protects the generations: 2.4 has its elevator and 1 KiB blocks, 2.6 the anticipatory scheduler and 4 KiB."""
    old, new = built(kernel=LINUX_24), built(kernel=LINUX_26)
    assert type(old.queues["sda"].scheduler) is OneWayElevator
    assert type(new.queues["sda"].scheduler) is Anticipatory
    assert (old.dds[0].cache.settings.block_bytes, new.dds[0].cache.settings.block_bytes) == (1024, 4096)
    assert old.scheduler_cycle_s == 0.0
    assert new.scheduler_cycle_s == pytest.approx(0.625)


def test_2_6_20_schedules_with_cfq() -> None:
    """Protects the generation between: slices of 100 and 40 ms."""
    machine = built(kernel="linux-2.6.20")
    assert type(machine.queues["sda"].scheduler) is Cfq
    assert machine.scheduler_cycle_s == pytest.approx(0.14)


@pytest.mark.parametrize(("kernel", "kind"), [("linux-2.6.20-server", Deadline), ("linux-6.1", MqDeadline)])
def test_deadlines_are_the_kernels(kernel: str, kind: type[MqDeadline]) -> None:
    """Protects from tunables that change places: sixteen requests a batch, two batches before a write."""
    scheduler = built(kernel=kernel).queues["sda"].scheduler
    assert isinstance(scheduler, MqDeadline)
    assert type(scheduler) is kind
    assert (scheduler._fifo_batch, scheduler._writes_starved) == (16, 2)
    assert scheduler._expire_s == (0.5, 5.0)


@pytest.mark.parametrize(("kernel", "window_kib"), [("linux-2.6.12", 1024), (LINUX_26, 128)])
def test_the_window_on_raid_0_is_the_kernels(kernel: str, window_kib: int) -> None:
    """Protects read-ahead over several members: two stripes of four 128 KiB chunks where the kernel says so."""
    machine = built(kernel=kernel, array=array_of("raid0", chunk="128KiB"), targets=("md0",))
    assert machine.dds[0].cache.open().max_bytes == window_kib * 1024


@pytest.mark.parametrize(
    ("level", "kind", "share"),
    [
        ("linear", StripeArray, 4),
        ("raid0", StripeArray, 4),
        ("raid1", MirrorArray, 1),
        ("raid4", ParityArray, 3),
        ("raid5", ParityArray, 3),
        ("raid6", ParityArray, 2),
    ],
)
def test_levels_become_arrays(level: str, kind: type[Array], share: int) -> None:
    """Protects the assembly: the class of each level, and the capacity of so many drives (in whole chunks)."""
    machine = built(array=array_of(level), targets=("md0",))
    array = machine.arrays["md0"]
    assert type(array) is kind
    assert array.capacity == pytest.approx(share * machine.queues["sda"].capacity, rel=1e-6)
    assert array.members == [machine.queues[name] for name in DRIVES]


def test_mirrors_balance_as_their_kernel_does() -> None:
    """Protects the policy of each generation."""
    for name, policy in ((LINUX_24, Md24), (LINUX_26, Md26)):
        machine = built(array=array_of("raid1", 2), targets=("md0",), kernel=name)
        assert type(machine.arrays["md0"]._balance) is policy


def test_only_what_is_used_is_built() -> None:
    """Protects runs from idle drives: one target, one drive."""
    assert list(built(targets=("sdb",)).disks) == ["sdb"]
    assert list(built(array=array_of("raid5", 3), targets=("md0",)).disks) == ["sda", "sdb", "sdc"]


def test_parity_arrays_read_ahead_further() -> None:
    """Protects read-ahead over stripes of four disks and 64 KiB chunks. 2.4: 3 x max(4 chunks, 248 KiB) = 768 KiB;
    2.6: two whole stripes, 384 KiB; a plain drive has 124 and 128 KiB.
    """
    for name, plain, parity in ((LINUX_24, 124, 768), (LINUX_26, 128, 384)):
        for changes, window in (({}, plain), ({"array": array_of("raid5"), "targets": ("md0",)}, parity)):
            spec = scenario(kernel=name, **changes)
            layout = shown_layout(spec, "md0" if "array" in changes else "sda")
            assert read_ahead_plan(kernel_called(name), layout).window == window * 1024


@pytest.mark.parametrize(
    ("kernel", "array", "rotational", "window_kib"),
    [
        ("linux-6.12", None, True, 128),
        ("linux-6.18", None, True, 8192),
        ("linux-6.18", None, False, 128),
        ("linux-6.18", array_of("raid1", 2), True, 8192),
        ("linux-6.18", array_of("raid1", 2), False, 128),
        ("linux-6.18", array_of("raid5"), True, 384),
        ("linux-5.10", array_of("raid5"), True, 384),
        ("linux-5.4", array_of("raid5"), True, 384),
        ("linux-5.4", array_of("raid0"), True, 512),
        ("linux-2.6.32", array_of("raid1", 2), True, 128),
    ],
)
def test_disks_are_read_ahead_by_their_largest_request(
    kernel: str, array: dict[str, Any] | None, rotational: bool, window_kib: int
) -> None:
    """Protects read-ahead since 6.17: twice the largest request of a device that turns and names no optimal I/O.
    Counter-tests: what names one, what does not turn, and kernels before.
    """
    changes = {} if array is None else {"array": array, "targets": ("md0",)}
    layout = shown_layout(scenario(kernel=kernel, **changes), "sda" if array is None else "md0")
    assert read_ahead_plan(kernel_called(kernel), layout, None, rotational).window == window_kib * 1024
    assert read_ahead_plan(kernel_called(kernel), layout, 65536, rotational).window == 65536


@pytest.mark.parametrize(
    ("kernel", "level"), [("linux-2.6.20", 0), ("linux-3.10", 0), ("linux-4.18", 1), ("linux-6.1", 1)]
)
def test_raid_6_reconstructs_until_4_0(kernel: str, level: int) -> None:
    """Protects small writes to RAID 6: before 4.1 md reads all other data, and never the old parities. Counter-tests:
    RAID 5, later kernels, and an array that is told.
    """

    def rmw_level(array: dict[str, Any]) -> int:
        plan = machine_plan(scenario(kernel=kernel, array=array, targets=("md0",)))
        (driver,) = (part.driver for part in plan.parts if isinstance(part, ArrayPlan))
        assert isinstance(driver, ParityDriver)
        return driver.settings.rmw_level

    assert rmw_level(array_of("raid6", 4)) == level
    assert rmw_level(array_of("raid5", 4)) == 1
    assert rmw_level(array_of("raid6", 4, rmw_level=2)) == 2


def test_2_4_counts_low_memory_only() -> None:
    """Protects dirty limits: shares of 896 MiB on 2.4 (30 % and 60 %), of all 4 GiB on 2.6 (10 % and 40 %)."""
    memory = {"memory": "4GiB"}
    old = built(kernel=LINUX_24, machine_changes=memory).memory.limits
    new = built(kernel=LINUX_26, machine_changes=memory).memory.limits
    assert (old.flush_above, old.limit) == (int(0.3 * LOW_MEMORY_BYTES), int(0.6 * LOW_MEMORY_BYTES))
    assert (new.flush_above, new.limit) == (int(0.1 * 4096 * MIB), int(0.4 * 4096 * MIB))
    small = built(kernel=LINUX_24, machine_changes={"memory": "512MiB"}).memory.limits
    assert small.limit == int(0.6 * 512 * MIB)


def test_old_arrays_with_redundancy_are_marked_clean() -> None:
    """Protects superblocks of 2.6.7 to 2.6.20: redundant arrays of md have them; under other kernels none has."""
    mirror = array_of("raid1", 2)
    for kernel, array, expected in (
        ("linux-2.6.12", mirror, True),
        ("linux-2.6.12", array_of("raid5", 3), True),
        ("linux-2.6.12", array_of("raid0", 2), False),
        ("linux-2.6.12", array_of("raid1", 2, balance="ataraid"), False),
        (LINUX_24, mirror, False),
        (LINUX_26, mirror, True),
        ("linux-2.6.20", mirror, True),
        ("linux-2.6.20-server", array_of("raid5", 3), True),
        ("linux-2.6.20", array_of("raid0", 2), False),
        ("linux-6.1", mirror, False),
        ("linux-6.12", mirror, False),
    ):
        made: Any = built(kernel=kernel, array=array, targets=("md0",)).arrays["md0"]
        assert (made.metadata is not None) == expected, (kernel, array)


@dataclass
class Marked:
    """What one write to a clean mirror of two brings: times (s) of superblock writes, and when the write was over."""

    dirty: list[float]
    done: float
    clean: list[float]
    through: set[bool]


def marked(monkeypatch: pytest.MonkeyPatch, name: str, **section: bool) -> Marked:
    """One write, and a second without any, under a kernel whose `superblock` section is changed."""
    of_kernel = kernel_called(name)
    assert of_kernel.superblock is not None
    changed = of_kernel.model_copy(update={"superblock": of_kernel.superblock.model_copy(update=section)})
    sent: list[tuple[float, int]] = []
    submit = BlockQueue.submit

    def noted(queue: BlockQueue, request: Request) -> None:
        if isinstance(request, MetadataWrite):
            sent.append((queue._engine.now, request.sync))
        submit(queue, request)

    with monkeypatch.context() as patched:
        patched.setattr("raidsim.scenarios.machine.plan.kernel", lambda _: changed)
        patched.setattr(BlockQueue, "submit", noted)
        machine = built(kernel=name, array=array_of("raid1", 2), targets=("md0",))
        engine = machine.engine
        done: list[float] = []
        array = machine.arrays["md0"]
        array.submit(Request(WRITE, MIB, 4 * KIB, lambda _: done.append(engine.now), 1, WAITED))
        array.unplug()
        engine.run(until=1.0)
    assert len(sent) == 4
    times = [at for at, _ in sent]
    return Marked(times[:2], done[0], times[2:], {sync == WRITE_THROUGH for _, sync in sent})


@pytest.mark.parametrize(
    ("name", "clean_after_s", "together"),
    [
        ("linux-2.6.7", 0.021, False),
        (LINUX_26, 0.021, False),
        ("linux-2.6.12", 0.021, False),
        ("linux-2.6.20", 0.204, True),
        ("linux-2.6.20-server", 0.210, True),
    ],
)
def test_superblocks_are_written_as_their_kernel_does(
    monkeypatch: pytest.MonkeyPatch, name: str, clean_after_s: float, together: bool
) -> None:
    """Protects both generations: 20 ms and one member after the other, or 200 ms and all at once as a barrier; and a
    tick of each kernel's clock.
    """
    found = marked(monkeypatch, name)
    assert found.clean[0] - found.done == pytest.approx(clean_after_s)
    assert found.through == {together}
    assert [pair[0] == pair[1] for pair in (found.dirty, found.clean)] == [together] * 2


@pytest.mark.parametrize(
    ("array", "marked"),
    [
        (array_of("raid1", 2), True),
        (array_of("raid3", 3), True),
        (array_of("raid1", 2, balance="ataraid"), False),
        (array_of("raid0", 2), False),
    ],
)
def test_geoms_classes_are_marked_and_arrays_of_a_bios_are_not(
    monkeypatch: pytest.MonkeyPatch, array: dict[str, Any], marked: bool
) -> None:
    """Protects FreeBSD: gmirror and graid3 write the last sector of each member before the first write, and 5 s after
    the last; ataraid, whose metadata are a BIOS's, and stripes write nothing beside the data.
    """
    ends: list[tuple[int, float]] = []
    submit = HardDisk.submit

    def noted(disk: HardDisk, request: Request) -> None:
        if request.op == WRITE and request.offset + request.size == disk.capacity:
            ends.append((request.size, disk._engine.now))
        submit(disk, request)

    monkeypatch.setattr(HardDisk, "submit", noted)
    machine = under_a_load(array, "freebsd-6.2")
    done: list[float] = []
    md0 = machine._device("md0")
    md0.submit(Request(WRITE, 0, 64 * KIB, lambda _: done.append(machine.engine.now), 1, WAITED))
    md0.unplug()
    machine.engine.run(until=6.0)
    members = len(array["members"]) if marked else 0
    assert [size for size, _ in ends] == [512] * (2 * members)
    assert all(at < done[0] for _, at in ends[:members])
    assert all(5.0 <= at - done[0] < 5.1 for _, at in ends[members:])


@pytest.mark.parametrize("name", ["linux-2.6.20", "linux-2.6.20-server"])
def test_what_a_kernel_says_of_superblocks_is_done(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Protects the switches of the section: members in turn wait for each other, and a barrier for the platters; the
    drives' caches take what is none. Counter-test: the kernel as it is.
    """
    as_it_is, in_turn = marked(monkeypatch, name), marked(monkeypatch, name, in_turn=True)
    assert in_turn.dirty[1] - in_turn.dirty[0] > 0.002
    assert in_turn.done > as_it_is.done + 0.002
    cached = marked(monkeypatch, name, barrier=False)
    assert cached.through == {False}
    assert cached.done < 0.2 * as_it_is.done


def test_an_array_of_ataraid_is_given_what_a_disk_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects what is spread over its disks: FreeBSD cuts at 64 KiB in front of ar0, and not in front of a gmirror."""
    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(MirrorArray, "submit", lambda _, request: sent.append((request.offset, request.size)))
    for balance, expected in (("ataraid", [(16, 64), (80, 64)]), ("gmirror-round-robin", [(16, 128)])):
        machine = under_a_load(array_of("raid1", 2, balance=balance), "freebsd-6.2")
        machine._device("md0").submit(Request(READ, 16 * KIB, 128 * KIB, lambda _: None))
        assert [(offset // KIB, size // KIB) for offset, size in sent] == expected, balance
        sent.clear()


def rebuild(level: str, kernel: str, major: int = 8, **more: Any) -> Any:
    """The settings of a rebuild of sdb."""
    array = array_of(level, 3, failed=["sdb"], rebuilding=["sdb"], **more)
    machine = built(array=array, targets=("md0",), kernel=kernel, machine_changes={"major": major})
    return machine.resyncs["md0"].settings


def test_rebuilds_have_their_kernels_limits() -> None:
    """Protects resync: defaults of the kernel, unless set by hand; nobody rebuilds a healthy array."""
    settings = rebuild("raid5", LINUX_26)
    assert (settings.speed_min, settings.speed_max) == (1000 * 1024, 200000 * 1024)
    by_hand = rebuild("raid5", LINUX_26, resync={"speed_min": "5MB/s", "speed_max": "10MB/s"})
    assert (by_hand.speed_min, by_hand.speed_max) == (5e6, 10e6)
    assert built(array=array_of("raid5", 3), targets=("md0",)).resyncs == {}


def test_rebuilds_use_the_stripe_heads() -> None:
    """Protects the size of a rebuild: 256 heads of 1 KiB are 8 requests of 32 KiB, of 4 KiB they are 16 chunks."""
    old, new = rebuild("raid5", LINUX_24), rebuild("raid5", LINUX_26)
    assert (old.request_bytes, old.depth) == (32 * 1024, 8)
    assert (new.request_bytes, new.depth) == (64 * 1024, 16)
    assert rebuild("raid5", LINUX_26, chunk="16KiB").request_bytes == 16 * 1024
    assert rebuild("raid1", LINUX_24).request_bytes == 4096


def test_2_4_does_not_see_load_on_late_majors() -> None:
    """Protects the oddity of hde (major 33): no statistics on 2.4, so no politeness; hda (3) and 2.6 have them."""
    assert not rebuild("raid5", LINUX_24, major=33).sees_load
    assert rebuild("raid5", LINUX_24, major=3).sees_load
    assert rebuild("raid5", LINUX_26, major=33).sees_load


def test_a_longer_path_costs_more_of_everything() -> None:
    """Protects the comparison of kernels on one CPU: a path of 1.5 makes 5 us into 7.5."""
    spec = scenario().model_copy(update={"path_length": 1.5})
    assert BuiltMachine(spec).host.prices.write_call_s == pytest.approx(7.5e-6)


def test_batches_of_disks_are_out_of_step_and_reproducible() -> None:
    """Protects random phases: different between drives, the same for the same seed, others for another seed."""

    def phases(seed: int) -> list[float]:
        machine = built(targets=DRIVES, seed=seed)
        return [machine.queues[name].scheduler._batch_ends for name in DRIVES]  # type: ignore[union-attr]

    assert phases(1) == phases(1)
    assert phases(1) != phases(2)
    assert len(set(phases(1))) == len(DRIVES)


def test_unequal_members_are_used_to_the_end_of_the_smallest() -> None:
    """Protects mixed members: RAID 5 and mirrors have the smallest drive's size, linear all of each."""
    document = scenario_document(targets=("md0",))
    document["machine"]["drives"]["sdb"]["overrides"] = {"capacity": "100GB"}

    def capacity(level: str) -> int:
        document["arrays"] = {"md0": array_of(level, 3)}
        return int(BuiltMachine(validate(ScenarioSpec, document)).arrays["md0"].capacity)

    assert capacity("raid5") == pytest.approx(2 * 100e9, rel=1e-5)
    assert capacity("raid1") == pytest.approx(100e9, rel=1e-5)
    assert capacity("linear") == pytest.approx(2 * 250e9 + 100e9, rel=1e-2)


def test_the_workload_is_within_the_device() -> None:
    """Protects from reading past the end: refused with the sizes."""
    with pytest.raises(InputError, match="within the device"):
        built(size="300GB")
    with pytest.raises(InputError, match="within the device"):
        built(size="5GiB", start="249GB")
    built(array=array_of("raid0"), targets=("md0",), size="900GB")


def test_a_spare_that_nothing_needs_is_there_idle() -> None:
    """Protects the table of what was used: a hot spare is in it where none fails too, and members are bare then."""
    machine = built(targets=("md0",), array=array_of("raid5", 3, spares=["sdd"]))
    assert list(machine.disks) == list(DRIVES)
    assert not any(isinstance(member, MemberSlot) for member in machine.arrays["md0"].members)
