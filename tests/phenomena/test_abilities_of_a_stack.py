"""What a device can do is not lost on the way through what stands on it: flushes, prices, blocked readers."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.files.description_errors import validate
from raidsim.model.raid.resync.spares import MemberSlot
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.machine.machine import BuiltMachine
from raidsim.tests.scenarios.fio.fio_runs import only
from raidsim.tests.scenarios.small_machine import DRIVES, scenario_document

FSYNC = "[w] rw=randwrite bs=4k fsync=1 size=64m filename=/dev/md0 runtime=3 time_based"
MIRROR = """
machine: {{model: server, drives: {{model: {model}, count: 2}}}}
arrays: {{md0: {{level: raid1}}}}
workload: {{kind: load}}
{more}
"""


@pytest.mark.parametrize("model", ["WD5000AAKS", "Crucial-MX500-1TB"])
@pytest.mark.parametrize("level", ["raid1", "raid5", "raid6", "raid10"])
def test_a_failure_to_come_changes_no_flush(model: str, level: str) -> None:
    """Protects fsync on arrays whose members can fail: until then the rate is that of an array without."""
    text = MIRROR.replace("count: 2", "count: 4").replace("raid1", level)
    plain = only(FSYNC, text.format(model=model, more=""))
    later = only(FSYNC, text.format(model=model, more="failures: [{member: disk0, at: 100s}]"))
    assert plain.write.ios_per_second > 0
    assert later.write.ios_per_second == pytest.approx(plain.write.ios_per_second, rel=0.02)


def test_without_flushes_the_rate_is_several_times_higher(monkeypatch: pytest.MonkeyPatch) -> None:
    """The counter-test: what a lost flush would give is far from what the test above allows."""
    text = MIRROR.format(model="WD5000AAKS", more="failures: [{member: disk0, at: 100s}]")
    flushed = only(FSYNC, text).write.ios_per_second
    monkeypatch.setattr(MemberSlot, "flush", lambda self, done: done())
    assert only(FSYNC, text).write.ios_per_second > 2 * flushed


def mounted(kernel: str, level: str) -> BuiltMachine:
    """A machine with a file system on an array."""
    document: dict[str, Any] = scenario_document(kernel=kernel, array={"level": level, "members": list(DRIVES[:4])})
    document["file_systems"] = {"/raid": {"kind": "ext2", "on": "md0", "size": "2GiB"}}
    steps = [{"program": "dd", "on": "/raid", "file": "f", "size": "1MiB"}]
    return BuiltMachine(validate(ScenarioSpec, {**document, "workload": {"kind": "programs", "steps": steps}}))


@pytest.mark.parametrize(("kernel", "paid"), [("linux-2.4.18-3", True), ("linux-2.4.26", True), ("linux-6.1", False)])
def test_a_mounted_mirror_charges_its_submitter(kernel: str, paid: bool) -> None:
    """Protects the price of a mirror's copies under a file system, on the kernel that charges the submitter."""
    machine = mounted(kernel, "raid1")
    (mount,) = machine.mounts.values()
    assert (mount.cache._submission_s > 0) is paid
    assert mount.cache._submission_s == machine.arrays["md0"].submission_s_per_page


@pytest.mark.parametrize(("kernel", "shares"), [("linux-2.4.5", True), ("linux-2.4.26", True), ("linux-2.6.8", False)])
def test_readers_of_a_file_wait_for_stripe_heads(kernel: str, shares: bool) -> None:
    """Protects the page cache's half of it: a reader of a file knows the queue of readers of the array below."""
    machine = mounted(kernel, "raid5")
    (mount,) = machine.mounts.values()
    assert (mount.cache._waiting_readers is not None) is shares
    assert mount.cache._waiting_readers is machine.arrays["md0"].waiting_readers
