"""The machine that a folder of fio reports is fitted on: one drive of the catalogue, as near as the measurement tells.

What it holds besides the drive is what the machine says of itself (:mod:`raidsim.calibration.measurement.machine`),
and prices of a CPU of its clock.

Whether it turns is told by its latencies: virtual disks say of themselves that they do. A solid-state drive is taken to
be filled once in order, as a file or a device is that was written before it was measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from ...model.core.errors import InputError
from ...model.disk.spec import DriveSpec
from ...model.drives.catalogue import AnyDrive, drive, hard_disk, hard_disk_names
from ...model.kernels import SchedulerName
from ...model.solid_state.spec import SolidStateSpec
from ..measurement.machine import MeasuredDevice, MeasuredMachine
from ..study.value_text import rate_text, time_text
from .flash import begun_with, cable, nearest, resized, seen
from .jobs import FioJob

KERNEL = "linux-6.1"
"""The catalogue's kernel for every machine of today."""
TURNING_FROM_S = 1e-3
"""Half a turn at 15,000 a minute takes 2 ms, so one random read at a time on a disk that turns takes longer than this
on the mean, even if the buffer holds a part of what is read."""

_FASTEST_TURNING = 400e6
"""Bytes a second that no disk that turns reaches."""
_RPM = 7200
_LARGE = 256 << 10
"""Reads in order of so many bytes run at the media rate."""
_CLOCK = 2e9
_PRICES_US = {"write_call": 1, "read_call": 1, "page": 1, "bio": 1, "command": 5, "switch": 2, "clone": 1, "stripe": 1}
"""On a core of 2 GHz."""
_COPY_RATE, _XOR_RATE = 4e9, 5e9
_MEMORY = 4 << 30
_MOST_QUEUED = 256
_FILLED = "sequential"
"""State of a solid-state drive."""


@dataclass(frozen=True, slots=True)
class Base:
    """What is fitted.

    Attributes
    ----------
    machine
        As a study's file has it.
    kernel
        Name in the catalogue.
    target
        The device that the jobs were on.
    arrays, encrypted, volumes
        What it is built of, as a study's file has it.
    turns
        Whether all of its drives turn.
    note
        What it is, in words.
    """

    machine: dict[str, Any]
    kernel: str
    target: str
    arrays: dict[str, Any]
    encrypted: dict[str, Any]
    turns: bool
    note: str
    volumes: dict[str, Any] = field(default_factory=dict)


def turns(jobs: Sequence[FioJob], measured: MeasuredMachine | None) -> bool:
    """Whether the disk has moving parts: by its latencies, else by its rate, else by what it says of itself."""
    single = [job for job in jobs if job.unlike is None and not job.sequential and job.depth * job.jobs == 1]
    means = [job.measured["read_mean_seconds"] for job in single if "read_mean_seconds" in job.measured]
    if means:
        return min(means) >= TURNING_FROM_S
    if any(job.measured.get("rate", 0.0) > _FASTEST_TURNING for job in jobs if job.unlike is None):
        return False
    return measured is None or measured.device is None or measured.device.rotational


def one_drive(jobs: Sequence[FioJob], measured: MeasuredMachine | None, model: str | None) -> Base:
    """A machine with one drive.

    Parameters
    ----------
    jobs
        What was measured.
    measured
        The machine's description, if there is one.
    model
        A drive of the catalogue, if it is known.

    Raises
    ------
    InputError
        If the disk is an array, or the drive is not in the catalogue or too small.
    """
    device = measured.device if measured is not None else None
    if device is not None and device.members:
        found = f"measured on {device.name}, which is made of {', '.join(device.members)}"
        raise InputError("--from-fio", found, "required: --machine, with a scenario that describes it")
    size = device.size if device is not None else None
    if model is not None:
        turning = isinstance(drive(model), DriveSpec)
        chosen, how = model, ""
    else:
        turning = turns(jobs, measured)
        chosen, how = (_nearest(jobs, size) if turning else nearest(seen(jobs))), ", the nearest of the catalogue"
    spec = drive(chosen)
    instance: dict[str, Any] = {"model": chosen, "channel": "port"}
    if isinstance(spec, DriveSpec):
        overrides = _turning_as_measured(device, known=model is not None)
        note = f"a {spec.rotation:.0f} rpm drive, {chosen}{how}"
    else:
        overrides = {} if model is not None else _flash_as_measured(spec, jobs, size)
        instance["state"] = _FILLED
        note = f"a solid-state drive, {chosen}{how}"
    if overrides:
        instance["overrides"] = overrides
    if device is not None and device.scheduler in get_args(SchedulerName):
        instance["scheduler"] = device.scheduler
    name = device.name if device is not None and "." not in device.name else "disk"
    capacity = spec.with_values(**overrides).capacity
    furthest = max(jobs, key=lambda job: job.end)
    if furthest.end > capacity:
        found = f"{furthest.name} uses {furthest.end} bytes of {chosen}, which has {capacity}"
        raise InputError("--drive", found, "expected: a drive that is large enough")
    machine = {
        "name": "measured machine",
        **_computer(measured),
        "links": {},
        "channels": {
            "port": {
                "kind": _kind(spec),
                "rate": rate_text(spec.interface_rate),
                "source": "assumed: as fast as the drive's interface",
            }
        },
        "drives": {name: instance},
    }
    return Base(machine, KERNEL, name, {}, {}, turning, note)


def _nearest(jobs: Sequence[FioJob], size: int | None) -> str:
    """The catalogue's drive of 7,200 rpm nearest in media rate, or else in size."""
    candidates = [
        each for each in hard_disk_names() if hard_disk(each).rotation == _RPM and hard_disk(each).actuators == 1
    ]
    rates = [
        job.measured["rate"]
        for job in jobs
        if job.unlike is None and job.sequential and job.block_size >= _LARGE and "rate" in job.measured
    ]
    least = max((job.end for job in jobs), default=0) if size is None else 0
    large = [each for each in candidates if hard_disk(each).capacity >= least] or candidates

    def distance(name: str) -> float:
        spec = hard_disk(name)
        if rates:
            return abs(math.log(spec.outer_media_rate / max(rates)))
        return abs(math.log(spec.capacity / size)) if size else -spec.capacity

    return min(large, key=distance)


def _turning_as_measured(device: MeasuredDevice | None, known: bool) -> dict[str, Any]:
    """What the machine says of a drive that turns; its size is the catalogue's if the drive is `known`."""
    overrides: dict[str, Any] = {}
    if device is not None and not known:
        overrides["capacity"] = f"{device.size}B"
    if device is not None and device.queue_depth is not None:
        overrides["queue_depth"] = min(_MOST_QUEUED, device.queue_depth)
    return overrides


def _flash_as_measured(spec: SolidStateSpec, jobs: Sequence[FioJob], size: int | None) -> dict[str, Any]:
    """A solid-state drive of which the catalogue only has a relative."""
    used = max(job.end for job in jobs)
    large = {} if size is None and used <= spec.capacity else resized(spec, max(size or 0, used))
    return {**large, **begun_with(spec, seen(jobs))}


def _kind(spec: AnyDrive) -> str:
    if isinstance(spec, SolidStateSpec):
        return cable(spec)
    if spec.interface.startswith("PATA"):
        return "ata"
    return "scsi" if "SCSI" in spec.interface else "sata"


def _computer(measured: MeasuredMachine | None) -> dict[str, Any]:
    """CPU and memory; the prices go with the clock."""
    clock = (measured.cpu.clock if measured is not None else None) or _CLOCK
    slower = _CLOCK / clock
    prices: dict[str, Any] = {name: time_text(slower * us * 1e-6) for name, us in _PRICES_US.items()}
    prices["copy_rate"], prices["xor_rate"] = rate_text(_COPY_RATE / slower), rate_text(_XOR_RATE / slower)
    prices["source"] = "assumed: the order of magnitude of a core of 2 GHz, by the clock"
    cpu = {
        "name": measured.cpu.name if measured is not None else "a core of 2 GHz",
        "clock": f"{clock / 1e6:.6g}MHz",
        "cores": measured.cpu.cores if measured is not None else 1,
        "prices": prices,
    }
    return {"memory": f"{measured.memory if measured is not None else _MEMORY}B", "cpu": cpu}
