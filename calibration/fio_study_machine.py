"""The machine that a folder of fio reports is fitted on: one drive of the catalogue, as near as the measurement tells.

What it holds besides the drive is what the machine says of itself (:mod:`.measured_machine`), and prices of a CPU of
its clock.

A disk without moving parts is not fitted as one: such a measurement does not tell what its flash takes. Of such a disk
only one program's reads in order are simulated, as those of a drive whose buffer is always ahead of the program: a
command costs its time, and then its transfer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..model.drives import DriveSpec, hard_disk, hard_disk_names
from ..model.errors import InputError
from .fio_study_jobs import FioJob
from .measured_machine import MeasuredMachine

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
_TURN_S = 60.0 / _RPM
_STAND_IN = "IronWolf-Pro-20TB"
_AHEAD = 4
"""Media rate of the stand-in, in rates of the program, and how many turns its buffer lasts."""
_OVERHEAD_S = 20e-6
"""Of a command to a disk without moving parts, where reads of one size do not tell."""


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
    arrays, encrypted
        What it is built of, as a study's file has it.
    turns
        Whether it is a drive that turns.
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
    turning = model is not None or turns(jobs, measured)
    name = device.name if device is not None and "." not in device.name else "disk"
    overrides: dict[str, Any] = {}
    if turning:
        chosen = model or _nearest(jobs, device.size if device is not None else None)
        spec = hard_disk(chosen)
        if model is None and device is not None:
            overrides["capacity"] = f"{device.size}B"
        if device is not None and device.queue_depth is not None:
            overrides["queue_depth"] = min(_MOST_QUEUED, device.queue_depth)
        note = f"a {spec.rotation:.0f} rpm drive, {chosen}" + ("" if model else ", the nearest of the catalogue")
    else:
        chosen = _STAND_IN
        spec = hard_disk(chosen)
        overrides = _always_ahead(jobs)
        if device is not None:
            overrides["capacity"] = f"{max(device.size, *(job.end for job in jobs))}B"
        note = "a disk without moving parts, of which only reads in order are simulated"
    capacity = int(overrides["capacity"][:-1]) if "capacity" in overrides else spec.capacity
    furthest = max(jobs, key=lambda job: job.end)
    if furthest.end > capacity:
        found = f"{furthest.name} uses {furthest.end} bytes of {chosen}, which has {capacity}"
        raise InputError("--drive", found, "allowed: a drive that is large enough")
    rate = overrides.get("interface_rate", rate_text(spec.interface_rate))
    machine = {
        "name": "measured machine",
        **_computer(measured),
        "links": {},
        "channels": {
            "port": {"kind": _kind(spec), "rate": rate, "source": "assumed: as fast as the drive's interface"}
        },
        "drives": {name: {"model": chosen, "channel": "port", **({"overrides": overrides} if overrides else {})}},
    }
    return Base(machine, KERNEL, name, {}, {}, turning, note)


def _nearest(jobs: Sequence[FioJob], size: int | None) -> str:
    """The catalogue's drive of 7,200 rpm nearest in media rate, or else in size."""
    candidates = [each for each in hard_disk_names() if hard_disk(each).rotation == _RPM]
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


def simulable(job: FioJob, turning: bool) -> str | None:
    """Why the model has no such load, or None; of a disk without moving parts there is only one kind."""
    if (
        job.unlike is None
        and not turning
        and not (job.sequential and job.read_share == 1 and job.depth * job.jobs == 1)
    ):
        return "a fit of a disk without moving parts; only one program's reads in order are fitted"
    return job.unlike


def _always_ahead(jobs: Sequence[FioJob]) -> dict[str, Any]:
    """The stand-in: time of a command and rate of transfer as a straight line through the reads in order has them."""
    points = sorted(
        {
            job.block_size: job.block_size / job.measured["rate"]
            for job in jobs
            if simulable(job, False) is None and "rate" in job.measured
        }.items()
    )
    if not points:
        found = "no reads in order of one program, and random I/O on a disk without moving parts"
        allowed = "allowed: such reads, since nothing else is fitted of a disk without moving parts"
        raise InputError("--from-fio", found, allowed)
    (small, fast), (large, slow) = points[0], points[-1]
    slope = (slow - fast) / (large - small) if large > small else 0.0
    if slope <= 0:
        slope = slow / large
    overhead_s = max(fast - slope * small, 0.0) or _OVERHEAD_S
    media = _AHEAD / slope
    ahead = int(_AHEAD * _TURN_S * media)
    return {
        "interface_rate": rate_text(1.0 / slope),
        "outer_media_rate": rate_text(media),
        "inner_media_rate": rate_text(media),
        "hit_overhead": time_text(overhead_s),
        "look_ahead": f"{ahead}B",
        "segments": 1,
        "segment_size": f"{ahead}B",
        "write_buffer": "0B",
        "write_cache": False,
        "cache": f"{ahead}B",
    }


def _kind(spec: DriveSpec) -> str:
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


def rate_text(rate: float) -> str:
    """A rate as a file has it."""
    return f"{rate / 1e6:.6g}MB/s"


def time_text(seconds: float) -> str:
    """A duration as a file has it."""
    return f"{seconds * 1e6:.6g}us"
