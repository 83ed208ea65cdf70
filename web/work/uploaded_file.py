"""Designs in addition to that of an uploaded file: without a mechanism, with a disk that fails, and with other values.

They come from the file's document, as `--set` and `--vary` of the command line make them, so they can be refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ... import InputError
from ...api.scenario import Scenario
from ...model.layouts import LEVELS
from ...scenarios.description.arrays import NONE, ArraySpec
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.description.workloads import LoadSpec
from ...scenarios.documents.document import Document
from ..form.choices import CHUNKS_KIB
from ..form.limits import check_work, duration_for
from .explain import MOST_VARIANTS, WHY
from .layout_map import survives

DIFFERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "layout": ("RAID level or vdevs", (*LEVELS, "mirrors", "raidz1", "raidz2", "raidz3", "2 x raidz1", "2 x raidz2")),
    "chunk": ("Chunk", tuple(f"{size}KiB" for size in CHUNKS_KIB)),
    "depth": ("Outstanding I/Os of each job", ("1", "2", "4", "8", "16", "32", "64")),
    "block_size": ("Block", ("4KiB", "8KiB", "16KiB", "64KiB", "256KiB", "1MiB")),
    "read_share": ("Reads", ("0%", "30%", "50%", "70%", "90%", "100%")),
}
"""What may differ between designs of a file: short names of `raidsim compare --vary`, their words, and values."""


@dataclass(frozen=True, slots=True)
class FileVariant:
    """A mechanism that is switched off in a file's design; as :class:`.explain.Mechanism`."""

    name: str
    without: str
    why: str
    adds: bool = False


def other(document: Document, values: Mapping[str, Any]) -> Scenario:
    """The scenario with other values.

    Raises
    ------
    InputError
        If it cannot be, or takes too long here.
    """
    found = Scenario.of(document.changed(values))
    check_work(found.spec)
    return found


def file_variants(document: Document, spec: ScenarioSpec) -> list[tuple[FileVariant, Scenario]]:
    """The mechanisms of a file's design that can be switched off, and the scenarios without them."""
    found: list[tuple[FileVariant, Scenario]] = []
    for name, without, values in _switches(spec):
        try:
            changed = other(document, values)
        except InputError:
            continue  # this design does not go without it
        if changed.spec != spec:
            found.append((FileVariant(name, without, WHY[name]), changed))
    return found[:MOST_VARIANTS]


def _switches(spec: ScenarioSpec) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Mechanisms, the design without each in words, and what that changes in the document."""
    levels = {array.level for array in spec.arrays.values()}
    plain = {"layout": "raid0", "state": "whole"}
    if len(spec.arrays) == 1 and all(LEVELS[level].has_parity for level in levels):
        yield "parity", "On RAID 0 of the same disks, which has no parity", plain
    if len(spec.arrays) == 1 and all(LEVELS[level].has_mirrors for level in levels):
        yield "mirroring", "On RAID 0 of the same disks, which has no copies", plain
    if any(array.failed or array.rebuilding for array in spec.arrays.values()):
        lost = {f"arrays.{name}.{state}": None for name in spec.arrays for state in ("failed", "rebuilding")}
        yield "the lost disk", "With all disks at work", lost
    if spec.network is not None:
        yield "the network", "With the load on the machine itself", {"network": None}
    load = spec.workload
    if isinstance(load, LoadSpec):
        turning = any(drive.spec().rotational for drive in spec.machine.drives.values())
        if load.pattern != "sequential" and turning:
            yield "positioning", "The same I/Os in order", {"workload.pattern": "sequential", "workload.locality": None}
        if load.job_iops is None and load.depth * load.jobs > 1:
            yield "queueing", "One I/O at a time", {"depth": 1, "jobs": 1}
    bitmaps = {f"arrays.{name}.bitmap": NONE for name, array in spec.arrays.items() if array.bitmap}
    if bitmaps:
        yield "the write-intent bitmap", "Without a bitmap", bitmaps


def failing(document: Document, spec: ScenarioSpec, percent: int) -> tuple[Scenario, str]:
    """The file's design with a disk that fails after a share of the measurement, and the disk.

    Raises
    ------
    InputError
        If no disk may fail while it runs.
    """
    load = spec.workload
    if not isinstance(load, LoadSpec) or load.phases:
        raise InputError("failure", "this workload", "expected: a load of direct I/O that is the same all day long")
    if spec.failures:
        raise InputError("failure", "a file with failures of its own", "expected: one without; Result shows it")
    for array in spec.arrays.values():
        member = _next_member(spec, array)
        if member is not None:
            warm_up, duration = load.warm_up, load.duration
            if load.precision is not None:
                # A run to a precision measures what stays, and a failure is seen as it comes.
                duration, warm_up = duration_for(spec, "short")
            at = warm_up + duration * percent / 100
            times = {"warm_up": f"{warm_up:.6g}s", "duration": f"{duration:.6g}s", "precision": None}
            changes = {f"workload.{name}": value for name, value in times.items()}
            return other(document, {"failures": [{"member": member, "at": f"{at:.6g}s"}], **changes}), member
    raise InputError("failure", "no array that survives another failure while it runs", "expected: RAID 1, 5, 6, 10")


def _next_member(spec: ScenarioSpec, array: ArraySpec) -> str | None:
    """The first drive that may be lost in addition to those that are; None if there is none."""
    if not LEVELS[array.level].failures_in_a_run or array.rebuilding:
        return None
    gone = {place for place, member in enumerate(array.members) if member in array.failed}
    for place, member in enumerate(array.members):
        if place not in gone and member in spec.machine.drives and survives(array, frozenset({*gone, place})):
            return member
    return None
