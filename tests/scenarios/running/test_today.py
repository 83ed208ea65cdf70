"""What scenarios say of today's kernels: dirty memory, ciphers, threads of arrays, and the file system by default."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.core.request import CRYPT_THREADS, PARITY_THREADS, Request
from raidsim.model.disk.hard_disk import HardDisk
from raidsim.model.files.description_errors import validate
from raidsim.model.kernels import kernel
from raidsim.model.statistics.usage import THREAD, Usage
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.description.tuning import VirtualMemorySpec, dirty_limits
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.machine.machine import BuiltMachine
from raidsim.scenarios.questions.without_bottleneck import remove_bottleneck
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.base.sample import Sample
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.scenarios.small_machine import machine_document

GIB, MIB = 1 << 30, 1 << 20
RAID5 = {"md0": {"level": "raid5", "members": ["sda", "sdb", "sdc"]}}
LOAD = {"kind": "load", "pattern": "random", "targets": ["sda"], "block_size": "4KiB", "duration": "100ms"}
WRITE = {"kind": "programs", "steps": [{"program": "dd", "size": "100MiB"}]}


def scenario(**parts: Any) -> ScenarioSpec:
    """A scenario of the small machine with 1 GiB of memory."""
    machine = machine_document(memory="1GiB")
    return validate(
        ScenarioSpec, {"name": "today", "machine": machine, "kernel": "linux-6.12", "workload": LOAD, **parts}
    )


def written(**parts: Any) -> Prediction:
    """100 MiB written to a file on one drive."""
    mounted = {"/d": {"kind": "ext4", "on": "sda", "size": "16GiB"}}
    return simulate(scenario(file_systems=mounted, workload=WRITE, **parts), Sample(scale=1))


def test_a_small_limit_makes_a_program_wait_for_the_disk() -> None:
    """Protects vm.dirty_bytes: with 16 MiB a program writes no faster than its disk. Counter-test: what fits in the
    fifth of the memory that may be dirty is written in no time.
    """
    free = written().figures["dd.seconds"]
    slow = written(vm={"dirty_bytes": "16MiB", "dirty_background_bytes": "8MiB"}).figures["dd.seconds"]
    assert free < 0.3
    assert 100 * MIB / slow < 130e6
    assert slow > 4 * free


def test_dd_on_a_stripe_gets_the_rate_of_its_disks() -> None:
    """Protects dd on devices from the seconds in which the throttle finds their rate: three disks are thrice one."""

    def rate(target: str) -> float:
        arrays = {"md0": {"level": "raid0", "members": ["sdb", "sdc", "sdd"]}}
        dd = {"kind": "dd", "direction": "write", "size": "20GiB", "block_size": "64KiB", "targets": [target]}
        return simulate(scenario(arrays=arrays, workload=dd)).rate

    assert rate("md0") > 2.5 * rate("sda")


def test_limits_on_paper() -> None:
    """Protects the arithmetic: shares of the memory, bytes instead, and half of the limit for a background threshold
    that is not below it.
    """
    known = kernel("linux-6.12")
    usual = dirty_limits(known, 10 * GIB, None)
    assert (usual.flush_above, usual.limit) == (GIB, 2 * GIB)
    assert (usual.freerun, usual.settled) == (3 * GIB // 2, 7 * GIB // 4)
    tuned = dirty_limits(known, 10 * GIB, VirtualMemorySpec(dirty_bytes=200 * MIB))
    assert (tuned.flush_above, tuned.limit) == (100 * MIB, 200 * MIB)
    scaled = dirty_limits(known, 10 * GIB, VirtualMemorySpec(dirty_ratio=0.4, dirty_background_bytes=64 * MIB), 4)
    assert (scaled.flush_above, scaled.limit, scaled.pace) == (16 * MIB, GIB, 0.25)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"vm": {"dirty_ratio": "10%"}, "kernel": "linux-2.6.8"}, ["vm on linux-2.6.8", "linux-6.12"]),
        ({"vm": {"dirty_ratio": "10%", "dirty_bytes": "1GiB"}}, ["vm.dirty_bytes", "one of them"]),
        ({"vm": {"dirty_ratio": 0}}, ["vm.dirty_ratio", "above 0"]),
        ({"encrypted": {"c": {"on": "sdb", "cipher": "aes-xtz"}}}, ["encrypted.c.cipher", "aes-xtz", "aes-xts-vaes"]),
        ({"encrypted": {"c": {"on": "sdb"}}}, ["encrypted.c", "neither rate nor cipher"]),
        ({"encrypted": {"c": {"on": "sdb", "rate": "1GB/s"}}}, ["encrypted.c.source", "without a source"]),
        ({"encrypted": {"c": {"on": "sdb", "cipher": "aes-xts", "sector": "8KiB"}}}, ["c.sector", "4 KiB"]),
        (
            {"encrypted": {"c": {"on": "sdb", "cipher": "aes-xts-vaes"}}, "kernel": "linux-6.1"},
            ["encrypted.c.cipher", "aes-xts-vaes on linux-6.1", "6.10"],
        ),
        (
            {"encrypted": {"c": {"on": "sdb", "cipher": "aes-xts", "sector": "4KiB"}}, "kernel": "linux-2.6.8"},
            ["encrypted.c.sector", "linux-2.6.8", "4.12"],
        ),
        (
            {"encrypted": {"c": {"on": "sdb", "cipher": "aes-xts", "kind": "cryptoloop"}}},
            ["encrypted.c.cipher", "cryptoloop", "dm-crypt"],
        ),
        (
            {
                "encrypted": {"c": {"on": "sdb", "rate": "1GB/s", "source": "measured", "no_read_workqueue": True}},
            },
            ["encrypted.c.no_read_workqueue", "with cipher"],
        ),
        (
            {
                "encrypted": {"c": {"on": "sdb", "cipher": "aes-xts", "no_write_workqueue": True}},
                "kernel": "linux-2.6.8",
            },
            ["encrypted.c.no_write_workqueue", "5.9"],
        ),
        (
            {"arrays": {"md0": {**RAID5["md0"], "group_thread_cnt": 4}}, "kernel": "linux-2.6.8"},
            ["arrays.md0.group_thread_cnt", "linux-2.6.8", "3.12"],
        ),
        (
            {"arrays": {"md0": {"level": "raid1", "members": ["sda", "sdb"], "group_thread_cnt": 4}}},
            ["arrays.md0.group_thread_cnt", "raid1"],
        ),
    ],
)
def test_what_cannot_be_is_refused(parts: dict[str, Any], words: list[str]) -> None:
    """Protects people from settings that the kernel does not have: one message with field, value and what is right."""
    with pytest.raises(InputError) as caught:
        scenario(**parts)
    for word in words:
        assert word in str(caught.value)


def test_a_cipher_without_instructions_is_what_limits() -> None:
    """Protects the catalogue's way into a scenario: AES in software takes 20.7 cycles a byte, so that a core of 2 GHz
    is slower than a stripe of four disks; with instructions for it most of the disks' rate comes through.
    """

    def rate(**parts: Any) -> float:
        arrays = {"md0": {"level": "raid0", "members": ["sda", "sdb", "sdc", "sdd"]}}
        target = "c" if parts else "md0"
        load = {**LOAD, "pattern": "sequential", "block_size": "1MiB", "depth": 8, "targets": [target]}
        return simulate(scenario(arrays=arrays, workload={**load, "duration": "2s", "warm_up": "500ms"}, **parts)).rate

    disks = rate()
    generic, fast = (rate(encrypted={"c": {"on": "md0", "cipher": f"aes-xts{kind}"}}) for kind in ("-generic", ""))
    assert generic < 2e9 / 20.7 < 0.6 * disks
    assert fast > 0.85 * disks


def test_stripes_are_handled_by_as_many_threads_as_are_asked_for() -> None:
    """Protects group_thread_cnt's way into the array, the names under which threads are shown, and what would help."""
    four = scenario(arrays={"md0": {**RAID5["md0"], "group_thread_cnt": 4}}, workload={**LOAD, "targets": ["md0"]})
    workers = [f"md0_raid5 worker {number}" for number in range(4)]
    assert list(BuiltMachine(four).threads) == ["md0_raid5", *workers]
    one = scenario(arrays=RAID5, workload={**LOAD, "targets": ["md0"]})
    assert list(BuiltMachine(one).threads) == ["md0_raid5"]
    busy = [Usage("md0_raid5", THREAD, 0.99)]
    without = remove_bottleneck(one, busy)
    assert without is not None
    assert without.scenario.arrays["md0"].group_thread_cnt == 8
    assert "group_thread_cnt" in without.what
    faster = remove_bottleneck(four, [Usage("md0_raid5 worker 0", THREAD, 0.99)])
    assert faster is not None
    assert faster.what == "the CPU without limit"


@pytest.mark.parametrize(("name", "kind"), [("linux-6.12", "ext4"), ("linux-2.6.8", "ext3"), ("freebsd-6.2", "ufs2")])
def test_programs_run_on_the_file_system_of_their_time(name: str, kind: str) -> None:
    """Protects the default: a file system that the kernel's users had."""
    text = f"kernel: {name}\nworkload: {{steps: [{{program: dd, size: 1MiB}}]}}\narrays: {{md0: raid1}}"
    assert {each.kind for each in document_from(text).spec().file_systems.values()} == {kind}


@pytest.mark.parametrize(
    ("name", "thread"),
    [("md0", "md0_raid5"), ("md0", "md0.1_raid5 worker 3"), ("a.b", "a.b_raid5"), ("x_raid", "x_raid_raid5")],
)
def test_a_thread_is_known_by_its_array_whatever_that_is_called(name: str, thread: str) -> None:
    """Protects the run without its bottleneck from arrays with dots in their names."""
    one = scenario(arrays={name: RAID5["md0"]}, workload={**LOAD, "targets": [name]})
    without = remove_bottleneck(one, [Usage(thread, THREAD, 0.99)])
    assert without is not None
    assert without.scenario.arrays[name].group_thread_cnt == 8


def test_the_same_scenario_has_the_same_issuers_whatever_ran_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects results from the order of runs: drives see I/O of the same threads again after other machines were
    built. Counter-test: two ciphers of one machine are two threads.
    """
    seen: set[int] = set()
    submit = HardDisk.submit

    def noted(drive: HardDisk, request: Request) -> None:
        seen.add(request.issuer)
        submit(drive, request)

    def threads(ciphers_on: list[str], **parts: Any) -> set[int]:
        seen.clear()
        encrypted = {f"c{on}": {"on": on, "cipher": "aes-xts"} for on in ciphers_on}
        targets = [*encrypted, *parts.get("arrays", {})]
        load = {**LOAD, "read_share": "0%", "duration": "200ms", "targets": targets}
        simulate(scenario(encrypted=encrypted, workload=load, **parts))
        return {issuer for issuer in seen if issuer <= PARITY_THREADS}

    monkeypatch.setattr(HardDisk, "submit", noted)
    first = threads(["sdd"], arrays=RAID5)
    assert first == {PARITY_THREADS, CRYPT_THREADS}
    assert len(threads(["sda", "sdb"])) == 2
    assert threads(["sdd"], arrays=RAID5) == first
