"""The machine that a folder of fio reports is fitted on: one drive of the catalogue, as near as the measurement tells.

What it holds besides the drive is what the machine says of itself (:mod:`raidsim.calibration.measurement.machine`),
and the catalogue's prices of a server core, by its clock. Without a description the device's name is what fio was told,
and there are cores enough for the jobs.

Whether it turns is told by its latencies: virtual disks say of themselves that they do. A solid-state drive is taken to
be filled once in order, as a file or a device is that was written before it was measured.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from ...model.core.errors import InputError
from ...model.core.exact_sums import sum_in_order
from ...model.disk.spec import DriveSpec
from ...model.drives.catalogue import AnyDrive, drive, hard_disk, hard_disk_names
from ...model.files.quantities import parse_frequency, parse_rate, parse_time
from ...model.schedulers import NO_SCHEDULER, SCHEDULERS
from ...model.solid_state.spec import SolidStateSpec
from ...scenarios.documents.machine_catalogue import DEFAULT_CPU, cpu
from ..inspection.matching.computer import nearest_kernel
from ..measurement.machine import MeasuredDevice, MeasuredMachine
from ..study.value_text import rate_text, time_text
from .flash import begun_with, cable, nearest, resized, seen
from .jobs import FioJob

KERNEL = "linux-6.1"
"""The catalogue's kernel for a machine that does not say which it has."""
TURNING_FROM_S = 1e-3
"""Half a turn at 15,000 a minute takes 2 ms, so one random read at a time on a disk that turns takes longer than this
on the mean, even if the buffer holds a part of what is read."""

_FASTEST_TURNING = 400e6
"""Bytes a second that no disk that turns reaches."""
_RPM = 7200
"""The usual rotation speed of drives with SATA."""
_MOST_OF = 0.5
"""Random reads over less than this share of a disk seek less far than its data sheet has it."""
_SIZE_WEIGHT, _OTHER_ROTATION = 0.02, 0.02
"""What the square of ln(catalogue / measured) of a size counts beside those of rate and latency, which the size goes
with in a generation; and what another rotation speed than the usual one counts: latencies that differ by 15 %."""
_LARGE = 256 << 10
"""Reads in order of so many bytes run at the media rate."""
_CORES = 4
"""Cores where nothing tells how many there are, unless more jobs run at once: each then has its own."""
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
    write_buffer
        Bytes that its solid-state drives take before they are in flash, all together.
    """

    machine: dict[str, Any]
    kernel: str
    target: str
    arrays: dict[str, Any]
    encrypted: dict[str, Any]
    turns: bool
    note: str
    volumes: dict[str, Any] = field(default_factory=dict)
    write_buffer: int = 0


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
        raise InputError("--from-fio", found, "expected: --machine, with a scenario that describes it")
    size = device.size if device is not None else None
    told = device.name if device is not None else _device_of(jobs)
    if model is not None:
        turning = isinstance(drive(model), DriveSpec)
        chosen, how = model, ""
    else:
        turning = turns(jobs, measured)
        chosen, how = (
            (_nearest(jobs, size) if turning else nearest(seen(jobs, size), told)),
            ", the nearest of the catalogue",
        )
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
    if device is not None and device.scheduler in (*SCHEDULERS, NO_SCHEDULER):
        instance["scheduler"] = device.scheduler
    name = told if told is not None and "." not in told else "disk"
    here = spec.with_values(**overrides)
    capacity = here.capacity
    furthest = max(jobs, key=lambda job: job.end)
    if furthest.end > capacity:
        found = f"{furthest.name} uses {furthest.end} bytes of {chosen}, which has {capacity}"
        raise InputError("--drive", found, "expected: a drive that is large enough")
    machine = {
        "name": "measured machine",
        **_computer(measured, max(job.jobs for job in jobs)),
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
    kernel = KERNEL if measured is None else nearest_kernel(measured.kernel)
    buffer = here.write_buffer if isinstance(here, SolidStateSpec) else 0
    return Base(machine, kernel, name, {}, {}, turning, note, write_buffer=buffer)


def _device_of(jobs: Sequence[FioJob]) -> str | None:
    """The name of the device that fio was told, such as "nvme0n1"; None if it was a file, or is not known."""
    files = [job.file for job in jobs if job.file is not None]
    return files[0].removeprefix("/dev/") if files and re.fullmatch(r"/dev/\w+", files[0]) else None


def _nearest(jobs: Sequence[FioJob], size: int | None) -> str:
    """The catalogue's drive nearest in media rate, in random reads one at a time, and in size.

    The rotation speed is not fitted: where nothing tells it, it is the usual one. Without a rate the size counts, and
    without a size one of middling size is taken.
    """
    plain = [job for job in jobs if job.unlike is None]
    rates = [
        job.measured["rate"] for job in plain if job.sequential and job.block_size >= _LARGE and "rate" in job.measured
    ]
    whole = [job for job in plain if job.span is None or (size is not None and job.span > _MOST_OF * size)]
    latencies = [
        job.measured["read_mean_seconds"]
        for job in whole
        if not job.sequential and job.depth * job.jobs == 1 and "read_mean_seconds" in job.measured
    ]
    specs = {name: hard_disk(name) for name in hard_disk_names()}
    usual = {name: spec for name, spec in specs.items() if spec.actuators == 1 and not spec.band_size}
    alike = usual if rates and latencies else {n: spec for n, spec in usual.items() if spec.rotation == _RPM}
    least = max((job.end for job in jobs), default=0) if size is None else 0
    large = {name: spec for name, spec in alike.items() if spec.capacity >= least} or alike
    wanted = size or median(spec.capacity for spec in large.values())

    def distance(name: str) -> float:
        spec = large[name]
        terms = [(_SIZE_WEIGHT if rates else 1.0, spec.capacity / wanted)]
        if rates:
            terms.append((1.0, spec.outer_media_rate / max(rates)))
        if latencies:
            terms.append((1.0, (spec.seek_average + 30.0 / spec.rotation + spec.read_overhead) / min(latencies)))
        if spec.rotation != _RPM:
            terms.append((_OTHER_ROTATION, math.e))
        return sum_in_order(weight * math.log(ratio) ** 2 for weight, ratio in terms)

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


def _computer(measured: MeasuredMachine | None, jobs: int) -> dict[str, Any]:
    """CPU and memory; the prices of the catalogue's server core go with the clock. `jobs` run at once at most."""
    core = cpu(DEFAULT_CPU, "machine.cpu")
    given = measured.cpu.clock if measured is not None else None
    slower = parse_frequency(core["clock"]) / given if given else 1.0
    prices = {
        name: rate_text(parse_rate(price) / slower) if name.endswith("_rate") else time_text(slower * parse_time(price))
        for name, price in core["prices"].items()
        if name != "source"
    }
    prices["source"] = f"{core['prices']['source']}, by the clock"
    found = {
        "name": measured.cpu.name if measured is not None else core["name"],
        "clock": f"{given / 1e6:.6g}MHz" if given else core["clock"],
        "cores": measured.cpu.cores if measured is not None else max(_CORES, jobs),
        "prices": prices,
    }
    return {"memory": f"{measured.memory if measured is not None else _MEMORY}B", "cpu": found}
