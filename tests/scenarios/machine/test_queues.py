"""The request queue of a drive: what the kernel chooses, and what a scenario sets instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from raidsim.model.block.bio_queue import BioQueue
from raidsim.model.block.hardware_queues import HardwareQueues
from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.block.request_queue import RequestQueue
from raidsim.model.block.single_queue import BlockQueue
from raidsim.model.core.errors import InputError
from raidsim.model.files.description_errors import validate
from raidsim.model.schedulers import Anticipatory, Bfq, Cfq, Deadline, Kyber, MqDeadline
from raidsim.model.statistics.usage import bottleneck
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.machine.machine import BuiltMachine
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.scenarios.small_machine import machine_document

if TYPE_CHECKING:
    from raidsim.scenarios.machine.drives import Queue

DISK, SATA, NVME = "WD5000AAKS", "Samsung-870-EVO-1TB", "Samsung-PM9A3-3840GB"


def document(kernel: str = "linux-6.1", model: str = DISK, cores: int = 4, **drive: Any) -> dict[str, Any]:
    """A load on sda, which has these settings."""
    machine = machine_document()
    machine["cpu"]["cores"] = cores
    machine["drives"]["sda"] = {"model": model, "channel": "sda", **drive}
    load = {"kind": "load", "targets": ["sda"], "block_size": "4KiB", "pattern": "random", "depth": 4}
    return {"name": "test", "machine": machine, "kernel": kernel, "workload": load}


def queue(**choice: Any) -> Queue:
    """The queue of sda."""
    return BuiltMachine(validate(ScenarioSpec, document(**choice))).queues["sda"]


def throttled(built: Queue) -> float | None:
    """Target of its write-back throttling (s)."""
    assert isinstance(built, RequestQueue)
    return None if built._throttle is None else built._throttle._target_s  # type: ignore[attr-defined]


def test_the_kernel_chooses_by_hardware_queues_and_by_what_turns() -> None:
    """mq-deadline for one hardware queue, none for several; 75 ms of throttling where it turns, else 2 ms."""
    disk, sata, nvme = (queue(model=model) for model in (DISK, SATA, NVME))
    assert isinstance(disk.scheduler, MqDeadline)
    assert isinstance(sata.scheduler, MqDeadline)
    assert isinstance(nvme, HardwareQueues)
    assert [throttled(built) for built in (disk, sata, nvme)] == [0.075, 0.002, 0.002]
    assert nvme.hardware_queues == 4


def test_a_machine_with_one_core_has_one_hardware_queue() -> None:
    """min(cores, queues): then the scheduler is that of a drive with one."""
    assert isinstance(queue(model=NVME, cores=1).scheduler, MqDeadline)


@pytest.mark.parametrize(("name", "kind"), [("bfq", Bfq), ("kyber", Kyber), ("mq-deadline", MqDeadline)])
@pytest.mark.parametrize("model", [DISK, NVME])
def test_a_drive_has_the_scheduler_that_is_set(name: str, kind: type, model: str) -> None:
    """Whatever the kernel would have chosen."""
    assert isinstance(queue(model=model, scheduler=name).scheduler, kind)


def test_bfq_turns_throttling_off_unless_it_is_set() -> None:
    """wbt_disable_default; wbt_lat turns it on again, and 0 turns it off."""
    assert throttled(queue(scheduler="bfq")) is None
    assert throttled(queue(scheduler="bfq", wbt_lat="10ms")) == 0.010
    assert throttled(queue(wbt_lat="0ms")) is None
    assert throttled(queue(model=NVME, scheduler="none", wbt_lat="0ms")) is None


def test_old_kernels_have_theirs() -> None:
    """2.6.20 may have each of four; a scheduler that is not the default one has its own defaults, not the other's."""
    old = [queue(kernel="linux-2.6.20", scheduler=name) for name in ("cfq", "anticipatory", "deadline")]
    assert [type(built.scheduler) for built in old] == [Cfq, Anticipatory, Deadline]
    assert all(isinstance(built, BlockQueue) for built in old)
    assert old[2].scheduler._expire_s == (0.5, 5.0)  # type: ignore[union-attr]


@pytest.mark.parametrize("kernel", ["linux-2.6.20", "linux-3.10", "linux-6.1", "linux-6.12"])
def test_a_driver_of_block_ios_has_no_queue(kernel: str) -> None:
    """Protects RAM disks: brd has its own make_request or submit_bio. Counter-test: null_blk has a queue."""
    assert isinstance(queue(kernel=kernel, model="RAM-disk"), BioQueue)
    assert not isinstance(queue(kernel=kernel, model="null-block"), BioQueue)


@pytest.mark.parametrize(("field", "value"), [("scheduler", "mq-deadline"), ("nr_requests", 64), ("wbt_lat", "5ms")])
def test_settings_of_a_queue_that_is_not_there_are_refused(field: str, value: Any) -> None:
    """Protects against a setting without effect; "none" is what Linux shows for such a device."""
    with pytest.raises(InputError, match=rf"found {field} of .*, a RAM-disk, whose driver has no request queue"):
        queue(model="RAM-disk", **{field: value})
    queue(model="RAM-disk", scheduler="none")


def test_a_kernel_may_have_both_block_layers() -> None:
    """Protects 3.10 and 4.18: SATA has the single queue of 128 requests of each direction, whatever the drive's depth,
    with CFQ and no throttling; NVMe has blk-mq. Counter-test: 4.19, where both have blk-mq.
    """
    for kernel in ("linux-3.10", "linux-4.18"):
        sata, nvme = queue(kernel=kernel, model=SATA), queue(kernel=kernel, model=NVME)
        assert isinstance(sata, BlkMqQueue)
        assert isinstance(sata.scheduler, Cfq)
        assert (sata._free_tags, sata._free_write_tags, throttled(sata)) == (256, 128, None)
        assert isinstance(nvme, HardwareQueues)
    assert throttled(queue(kernel="linux-4.18", model=NVME)) == 0.002
    assert throttled(queue(kernel="linux-4.18", model=SATA, wbt_lat="5ms")) == 0.005
    assert queue(kernel="linux-4.18", nr_requests=16)._free_tags == 32  # type: ignore[union-attr]
    assert isinstance(queue(kernel="linux-4.18", model=NVME, cores=1), HardwareQueues)
    new = queue(kernel="linux-4.19", model=SATA)
    assert isinstance(new.scheduler, MqDeadline)
    assert (new._free_tags, throttled(new)) == (64, 0.002)  # type: ignore[union-attr]


@pytest.mark.parametrize(("kernel", "idle_s"), [("linux-2.6.20", 0.008), ("linux-2.6.32", 0.0), ("linux-4.18", 0.0)])
def test_cfq_idles_on_flash_no_more(kernel: str, idle_s: float) -> None:
    """Protects CFQ on drives without seeks: it waits for nobody. Counter-tests: 2.6.20, and a disk."""
    assert queue(kernel=kernel, model=SATA).scheduler._slice_idle_s == idle_s  # type: ignore[union-attr]
    assert queue(kernel=kernel, model=DISK).scheduler._slice_idle_s == 0.008  # type: ignore[union-attr]


@pytest.mark.parametrize(("kernel", "since"), [("linux-6.1", False), ("linux-6.6", True), ("linux-6.18", True)])
def test_mq_deadline_goes_on_by_position_since_6_5(kernel: str, since: bool) -> None:
    """The kernel's version decides, also for a drive whose own choice would be none."""
    for model in (DISK, NVME):
        scheduler = queue(kernel=kernel, model=model, scheduler="mq-deadline").scheduler
        assert scheduler._by_position is since  # type: ignore[union-attr]


def test_requests_and_their_size_are_set() -> None:
    """nr_requests are tags of the scheduler, or of the drive without one; max_request is where I/Os are split."""
    usual, fewer = queue(), queue(nr_requests=8, max_request="128KiB")
    assert isinstance(usual, BlkMqQueue)
    assert isinstance(fewer, BlkMqQueue)
    assert (usual._free_tags, fewer._free_tags) == (2 * usual.depth, 8)
    assert fewer.max_request_bytes == 128 * 1024
    bare = queue(model=NVME, nr_requests=16)
    assert isinstance(bare, HardwareQueues)
    assert bare._free == [16] * 4


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"kernel": "linux-2.4.26", "scheduler": "bfq"}, "scheduler", "linus"),
        ({"kernel": "linux-6.1", "scheduler": "cfq"}, "scheduler", "mq-deadline, none, kyber, bfq"),
        ({"kernel": "linux-2.6.8", "scheduler": "cfq"}, "scheduler", "anticipatory, deadline, noop"),
        ({"kernel": "linux-4.18", "scheduler": "bfq"}, "scheduler", "cfq, deadline, noop"),
        ({"kernel": "linux-4.18", "model": NVME, "scheduler": "cfq"}, "scheduler", "none, mq-deadline, kyber, bfq"),
        ({"kernel": "linux-2.6.20", "wbt_lat": "2ms"}, "wbt_lat", "4.10"),
        ({"nr_requests": 3}, "nr_requests", "4"),
        ({"max_request": "512B"}, "max_request", "4"),
        ({"scheduler": "elevator"}, "scheduler", "kyber"),
    ],
)
def test_what_the_kernel_does_not_have_is_refused(changes: dict[str, Any], field: str, words: str) -> None:
    """With one message that names the field and what is expected."""
    with pytest.raises(InputError) as refused:
        validate(ScenarioSpec, document(**changes))
    assert field in refused.value.place
    assert words in refused.value.expected


def test_what_a_controller_hides_cannot_be_set() -> None:
    """The controller orders the requests of its drives."""
    changed = document(scheduler="bfq")
    changed["machine"]["controllers"] = {"raid": {"model": "LSI-9260-8i"}}
    changed["arrays"] = {"md0": {"level": "raid0", "members": ["sda", "sdb"], "controller": "raid"}}
    changed["workload"]["targets"] = ["md0"]
    with pytest.raises(InputError) as refused:
        validate(ScenarioSpec, changed)
    assert "behind raid" in refused.value.found


def test_no_controller_has_a_drive_whose_work_the_host_does() -> None:
    """Protects against copies for which nobody's CPU time could be taken: a RAM disk is no drive of a controller."""
    changed = document()
    changed["machine"]["controllers"] = {"raid": {"model": "LSI-9260-8i"}}
    changed["arrays"] = {"md0": {"level": "raid0", "members": ["sda", "sdb"], "controller": "raid"}}
    changed["workload"]["targets"] = ["md0"]
    validate(ScenarioSpec, changed)
    changed["machine"]["drives"]["sda"]["model"] = "RAM-disk"
    with pytest.raises(InputError, match=r"found a RAM-disk behind .*; expected: a physical drive"):
        validate(ScenarioSpec, changed)


def largest_commands(kernel: str, **controller: Any) -> set[int]:
    """Bytes of the largest commands that queue and page cache make for an array of a hardware controller."""
    changed = document(kernel=kernel)
    changed["machine"]["controllers"] = {"raid": {"model": "LSI-9260-8i", **controller}}
    changed["arrays"] = {"md0": {"level": "raid0", "members": ["sda", "sdb"], "controller": "raid"}}
    changed["workload"]["targets"] = ["md0"]
    built = BuiltMachine(validate(ScenarioSpec, changed))
    volume = built.device("md0")
    assert isinstance(volume, BlockQueue)
    return {volume.scheduler.max_bytes, built.device_cache("md0").settings.flush_run}


def test_the_hosts_adapter_may_take_less_than_the_kernel_would_send() -> None:
    """Protects the Gateway study: 40 entries of a scatter-gather list are 160 KiB; counter-test: the kernel's own."""
    assert largest_commands("linux-2.6.8", max_request="160KiB") == {160 * 1024}
    assert largest_commands("linux-2.6.8") == {512 * 1024}


def busy(**changes: Any) -> str:
    """What limits one job with 64 I/Os outstanding on four NVMe drives of a machine with four cores."""
    changed = document(cores=4, model=NVME)
    for name in ("sdb", "sdc", "sdd"):
        changed["machine"]["drives"][name] = {"model": NVME, "channel": name}
    for channel in changed["machine"]["channels"].values():
        channel |= {"rate": "7GB/s", "kind": "pcie", "links": []}
    changed["arrays"] = {"md0": {"level": "raid0", "members": ["sda", "sdb", "sdc", "sdd"]}}
    load = {"targets": ["md0"], "depth": 64, "warm_up": "1ms", "duration": "5ms"}
    changed["workload"] = {**changed["workload"], **load, **changes}
    return bottleneck(simulate(validate(ScenarioSpec, changed)).usages)


def test_one_job_is_limited_by_its_core_and_says_so() -> None:
    """A quarter of the CPU is all that one job can use; four jobs use all of it."""
    assert busy() == "core cpu0 (100 % busy)"
    assert busy(jobs=4) == "cpu (100 % busy)"


def test_a_job_that_waits_is_not() -> None:
    """The counter-test: one I/O at a time leaves its core idle."""
    assert busy(depth=1).startswith("latency of one I/O after the other; busiest is cpu")
