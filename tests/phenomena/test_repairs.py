"""A repair that finds parity or copies wrong: what it writes, and what that costs disks whose heads read meanwhile."""

from __future__ import annotations

import pytest

from raidsim.model.core.errors import InputError
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.machine.machine import BuiltMachine

TEXT = """
kernel: {kernel}
machine: {{model: nas, drives: {{model: {model}, count: {disks}}}}}
arrays:
  md0:
    level: {level}
    {own}
    bitmap: none
    resync: {{action: repair, mismatched: {mismatched}, speed_min: 9GB/s, speed_max: 9GB/s}}
workload: {{kind: load, targets: [md0], iops: 0.001, read_share: 100%, warm_up: 0s, duration: 1h}}
"""
CHUNK = "chunk: 64KiB"
LEVELS = {
    "raid1": (3, "", 2.0),
    "raid10": (4, CHUNK, 1.0),
    "raid4": (4, CHUNK, 1.0),
    "raid5": (4, CHUNK, 1.0),
    "raid6": (5, CHUNK, 2.0),
    "degraded raid6": (5, CHUNK + "\n    failed: [disk1]", 8 / 5),
}
"""Disks, options, and blocks written for each that the repair counts: other copies, or parities that are there."""
LAST = 15 << 20
"""What is left to repair (bytes of the address space that it counts in): whole rounds of the parity."""


def repairing(level: str, own: str, mismatched: str, disks: int = 4, kernel: str = "linux-6.1") -> BuiltMachine:
    """A machine with a repair that has yet to begin."""
    text = TEXT.format(level=level, disks=disks, own=own, mismatched=mismatched, model="Exos-X18-16TB", kernel=kernel)
    return BuiltMachine(document_from(text).spec())


@pytest.mark.parametrize(("level", "kernel"), [*((level, "linux-6.1") for level in LEVELS), ("raid5", "linux-2.6.20")])
def test_a_repair_writes_what_differs(level: str, kernel: str) -> None:
    """Protects what a repair writes of all, of a quarter and of nothing: other copies, or parities that are there."""
    disks, own, written = LEVELS[level]
    for share in (1.0, 0.25, 0.0):
        machine = repairing(level.removeprefix("degraded "), own, f"{share:.0%}", disks, kernel)
        (resync,) = machine.resyncs.values()
        resync.start = resync.position = resync.total_bytes - LAST
        machine.engine.spawn(resync.run())
        machine.engine.run_to(1.0)
        assert resync.done_bytes == LAST
        wrote = sum(disk.write_bytes for disk in machine.disks.values())
        assert wrote / LAST == pytest.approx(share * written, rel=0.05)


def test_a_disk_that_reads_and_writes_does_less_of_both() -> None:
    """Protects the seeks between what a repair reads and what it writes: RAID 5 of four hard disks, 512 KiB chunks.

    Each disk reads everything and writes a quarter, so without seeks it would take 1.25 times the time. The
    counter-test: a repair that finds nothing wrong reads as fast as the disks do.
    """
    mb_s = []
    for share in ("100%", "0%"):
        machine = repairing("raid5", "chunk: 512KiB", share)
        (resync,) = machine.resyncs.values()
        machine.engine.spawn(resync.run())
        machine.engine.run_to(2.0)
        mb_s.append(resync.done_bytes / 2.0 / 1e6)
    wrong, clean = mb_s
    assert clean > 240
    assert wrong < 0.75 * clean


@pytest.mark.parametrize("action", ["check", "recover"])
def test_only_a_repair_writes(action: str) -> None:
    """Protects the message: a check counts what differs, and a rebuild compares nothing."""
    own = "failed: [disk0]\n    rebuilding: [disk0]" if action == "recover" else ""
    text = TEXT.format(level="raid5", disks=4, own=own, mismatched="10%", model="Exos-X18-16TB", kernel="linux-6.1")
    with pytest.raises(InputError, match=r"found mismatched with action .*; expected: action repair"):
        document_from(text.replace("action: repair", f"action: {action}")).spec()
