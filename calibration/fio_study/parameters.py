"""What is fitted to reports of fio: fields of the drives, the cables and the CPU that the jobs tell something of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...model.disk.spec import DriveSpec
from ..study.parameters import value_at
from ..study.runs import used_devices
from ..study.study import StudySpec
from ..study.value_text import rate_text, time_text
from .jobs import FioJob
from .machine import Base

_MEDIA = ("outer_media_rate", "inner_media_rate")
_SHORT_SEEKS, _LONG_SEEKS = ("seek_track_to_track",), ("seek_average", "seek_full_stroke")
_WRITES_ORDERED = ("write_extents",)
_ORDER, _MARGIN = ("queue_effort",), ("queue_margin",)
_OVERHEADS = ("read_overhead", "write_overhead", "hit_overhead")
_FLASH_READ, _FLASH_PROGRAM = ("read_time", "slc_read_time"), ("program_time", "slc_program_time")
_FLASH_OVERHEADS, _COMMANDS = ("read_overhead", "write_overhead"), ("command_rate",)
_CHANNELS = ("channel_rate",)
_FLUSH = ("flush_time",)
_PRICES = ("read_call", "bio", "command", "switch")
_RATES = ("rate", "interface_rate", *_CHANNELS, *_MEDIA)
"""Fields of parameters that are bytes a second; the others are durations."""


def value_in_file(field: str, value: float) -> str | float | int:
    """A parameter's value as a file has it."""
    if field in _WRITES_ORDERED:
        return max(1, round(value))
    if field in (*_COMMANDS, *_ORDER):
        return value
    return rate_text(value) if field in _RATES else time_text(value)


def parameters_of(study: StudySpec, base: Base, jobs: Sequence[FioJob]) -> list[dict[str, Any]]:
    """What is fitted, with its prior; a drive that turns keeps its speed, which is exact."""
    used = used_devices(study, [base.target])
    drives = {name: each.spec() for name, each in study.machine.drives.items() if name in used}
    ports = sorted({study.machine.drives[name].channel for name in drives})
    spinning = [name for name, spec in drives.items() if isinstance(spec, DriveSpec)]
    flash = [name for name in drives if name not in spinning]

    def of_drives(names: Sequence[str], fields: Sequence[str]) -> list[str]:
        return [f"machine.drives.{name}.{field}" for name in names for field in fields]

    interface = [
        *of_drives(spinning + flash, ("interface_rate",)),
        *(f"machine.channels.{name}.rate" for name in ports),
    ]
    zoned = any(not isinstance(study.machine.drives[name].hard_disk().zones, int) for name in spinning)
    ordering = [name for name, spec in drives.items() if isinstance(spec, DriveSpec) and spec.queue_depth > 1]
    careful = [name for name in ordering if getattr(drives[name], _MARGIN[0])]
    ran = [job for job in jobs if job.unlike is None]
    deep = any(not job.sequential and job.depth * job.jobs > 2 for job in ran)
    writes = any(job.read_share < 1 for job in ran)
    scattered_writes = any(job.read_share < 1 and not job.sequential for job in ran)
    syncs = any(job.fsync for job in ran)
    cached = [name for name in spinning if study.machine.drives[name].hard_disk().write_cache]
    firmware = "firmware: not in data sheets"
    line = "line rates are standard; the protocol takes a part of them"
    wanted: list[tuple[str, list[str], float, str]] = [
        ("media rate", [] if zoned else of_drives(spinning, _MEDIA), 0.25, "density: the nearest drive is another one"),
        (
            "seeks",
            of_drives(spinning, _LONG_SEEKS if deep else (*_SHORT_SEEKS, *_LONG_SEEKS)),
            0.25,
            "makers' seek times differ by a quarter within a class",
        ),
        (
            "short seeks",
            of_drives(spinning, _SHORT_SEEKS) if deep else [],
            0.5,
            "settling: data sheets name the best case, if any",
        ),
        (
            "cached writes",
            of_drives(cached, _WRITES_ORDERED) if scattered_writes else [],
            0.7,
            "firmware: how many cached writes it puts in order is not in data sheets",
        ),
        (
            "command order",
            of_drives([name for name in ordering if name not in careful], _ORDER) if deep else [],
            0.5,
            "firmware: how many commands it weighs is not in data sheets",
        ),
        (
            "seek margin",
            of_drives(careful, _MARGIN) if deep else [],
            0.6,
            "firmware: how far it trusts a seek is not in data sheets; 0.45 to 1.6 ms were found",
        ),
        ("flash read", of_drives(flash, _FLASH_READ), 0.4, "flash of another generation; pages of a cell differ"),
        ("flash channels", of_drives(flash, _CHANNELS), 0.5, "flash of another generation"),
        ("flash program", of_drives(flash, _FLASH_PROGRAM) if writes else [], 0.4, "flash of another generation"),
        (
            "flush",
            of_drives(flash, _FLUSH) if syncs and writes else [],
            1.0,
            "firmware: hardly any data sheet tells it, and drives differ from microseconds to milliseconds",
        ),
        ("command overhead", of_drives(spinning, _OVERHEADS), 0.6, firmware),
        ("read overhead", of_drives(flash, _FLASH_OVERHEADS[:1]), 1.0, f"{firmware}; a virtual disk's host is in it"),
        (
            "write overhead",
            of_drives(flash, _FLASH_OVERHEADS[1:]) if writes else [],
            1.0,
            f"{firmware}; a virtual disk's host is in it",
        ),
        (
            "command rate",
            of_drives(flash, _COMMANDS),
            0.6,
            "what the controller takes: another one, or a virtual disk's",
        ),
        ("interface rate", interface, *((0.3, "the nearest drive is another one") if flash else (0.1, line))),
        ("CPU price of a command", [f"machine.cpu.prices.{name}" for name in _PRICES], 0.3, "assumed by the clock"),
    ]
    return [
        {"name": name, "paths": known, "sd": sd, "reason": reason}
        for name, paths, sd, reason in wanted
        if (known := [path for path in paths if value_at(study, path)])
    ]
