"""A study from the results of fio on a disk of one's own.

Each job is a run with a load of the same kind, and its rate or I/Os a second, its mean latency and its 99th percentile
are cells to fit. Jobs that the model has no load for are listed as missing, with what they need.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from ...model.core.errors import InputError
from ...model.disk.spec import DriveSpec
from ...model.files.atomic_file import write_whole
from ...model.files.description_errors import validate
from ...scenarios.description.programs import ProgramsSpec
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.description.workloads import LoadSpec
from ...scenarios.documents.document import read_document
from ...scenarios.documents.written import written
from ..measurement.machine import load_machine
from ..study.parameters import value_at
from ..study.runs import used_devices
from ..study.study import StudySpec
from ..study.value_text import rate_text, time_text
from .jobs import FEWEST_FOR_TAIL, FioJob, read_jobs
from .machine import Base, one_drive

_IOS = 3000
"""A job is simulated for about as many I/Os."""
_SHORTEST_S, _LONGEST_S = 0.05, 40.0
_WARM_UP, _LEAST_WARM_UP_S = 0.1, 0.05
"""What comes before the measurement, as a share of it, but the first move of the arm in any case."""
_MEDIA = ("outer_media_rate", "inner_media_rate")
_SEEKS = ("seek_track_to_track", "seek_average", "seek_full_stroke")
_ORDER = ("queue_effort",)
_OVERHEADS = ("read_overhead", "write_overhead", "hit_overhead")
_FLASH_READ, _FLASH_PROGRAM = ("read_time", "slc_read_time"), ("program_time", "slc_program_time")
_FLASH_OVERHEADS, _COMMANDS = ("read_overhead", "write_overhead"), ("command_rate",)
_CHANNELS = ("channel_rate",)
_FLUSH = ("flush_time",)
_PRICES = ("read_call", "bio", "command", "switch")
_UNITS = {"rate": "MB/s", "iops": "1/s"}
_SI = {"MB/s": 1e6, "1/s": 1.0, "us": 1e-6}
_RATES = ("rate", "interface_rate", *_CHANNELS, *_MEDIA)
"""Fields of parameters that are bytes a second; the others are durations."""
_FIRST_LOAD: dict[str, Any] = {"pattern": "random", "block_size": "16KiB", "depth": 4}
_FIRST_SECONDS = {True: "30s", False: "1s"}
"""What the machine's file begins with as its workload, and for how long, by whether the disk turns."""


class FioStudy:
    """The study of the fio reports in a folder.

    Parameters
    ----------
    folder
        With fio's reports (``*.json``), and perhaps what ``raidsim measure`` says of the machine.
    machine
        A scenario with the machine; one drive unless given.
    drive
        Which one, of the catalogue.

    Attributes
    ----------
    study
        To be calibrated.
    base
        What it is on.
    notes
        What a reader should know: files and jobs that are left out.

    Raises
    ------
    InputError
        If there is nothing to fit.
    """

    def __init__(self, folder: Path, machine: Path | None = None, drive: str | None = None) -> None:
        if machine is not None and drive is not None:
            raise InputError("--drive", "found beside --machine", "expected: one of the two")
        jobs, notes = read_jobs(folder)
        files = sorted({job.file for job in jobs if job.file is not None})
        if len(files) > 1:
            raise InputError(str(folder), f"jobs on {', '.join(files)}", "expected: one disk or file in a folder")
        measured = load_machine(folder)
        self.base = _from_scenario(machine) if machine is not None else one_drive(jobs, measured, drive)
        date = measured.date if measured is not None else "unknown"
        self._document = _document(jobs, self.base, date, folder)
        self._document["parameters"] = _parameters(validate(StudySpec, self._document), self.base)
        self.study = validate(StudySpec, self._document)
        needs = sorted({each.needs for each in self.study.missing})
        self.notes = (*notes, *(f"{self._missing_for(need)}: needs {need}" for need in needs))
        if machine is None and not self.base.turns:
            more = "--choose state=sequential,steady,fresh fits each, which takes three times as long"
            self.notes += (f"assumed: the drive was written once in order; {more}",)
        if machine is None and measured is None:
            cpu = self.study.machine.cpu
            told = (
                f"{cpu.cores} cores like {cpu.name}; --machine, or the machine.yaml of raidsim measure, says otherwise"
            )
            self.notes += (f"nothing describes the computer; assumed: {told}",)

    def choose(self, study: StudySpec) -> None:
        """Take the study with the states of drives that fit best, for the machine that is kept too."""
        self.study = study
        for name, instance in self.base.machine["drives"].items():
            state = study.machine.drives[name].state
            if state is not None:
                instance["state"] = state

    def _missing_for(self, needs: str) -> str:
        names = [each.id for each in self.study.missing if each.needs == needs]
        more = len(names) - 2
        return ", ".join(names[:2]) + (f" and {more} more" if more > 0 else "")

    def save_study(self, path: Path) -> None:
        """Write the study; `InputError` if that cannot be done."""
        _save(path, "--study", self._document, "The results of fio as a study.")

    def save_scenario(self, path: Path, factors: Mapping[str, float]) -> None:
        """Write a scenario of the machine with factors by parameter; `InputError` if that cannot be done."""
        title = f"A machine fitted to results of fio, as {self.base.note}."
        _save(path, "--output", self.scenario(factors), title)

    def scenario(self, factors: Mapping[str, float]) -> dict[str, Any]:
        """The machine with factors by parameter applied, and a load to begin with, as a scenario's file has it."""
        machine = copy.deepcopy(self.base.machine)
        for parameter in self.study.parameters:
            for path in parameter.paths:
                *place, field = path.split(".")[1:]
                value = value_at(self.study, path) * factors[parameter.name]
                here = machine
                for key in place:
                    here = here[key]
                if place[0] == "drives":
                    here = here.setdefault("overrides", {})
                here[field] = _text(field, value)
        base = self.base
        scenario = {
            "name": f"fitted machine: {base.note}",
            "kernel": base.kernel,
            "machine": machine,
            **({"arrays": base.arrays} if base.arrays else {}),
            **({"encrypted": base.encrypted} if base.encrypted else {}),
            **({"volumes": base.volumes} if base.volumes else {}),
            "workload": {
                "kind": "load",
                "targets": [base.target],
                **_FIRST_LOAD,
                "duration": _FIRST_SECONDS[base.turns],
            },
        }
        validate(ScenarioSpec, scenario)
        return scenario


def _text(field: str, value: float) -> str | float:
    """A parameter's value as a file has it."""
    if field in (*_COMMANDS, *_ORDER):
        return value
    return rate_text(value) if field in _RATES else time_text(value)


def _document(jobs: Sequence[FioJob], base: Base, date: str, folder: Path) -> dict[str, Any]:
    """The study as its file has it, without parameters."""
    usable = [job for job in jobs if job.unlike is None]
    if not usable:
        reasons = "; ".join(sorted({job.unlike for job in jobs if job.unlike}))
        raise InputError(str(folder), "no job that the model has a load for", f"expected: {reasons}")
    return {
        "id": re.sub(r"[^\w.-]+", "-", folder.resolve().name).strip("-.") or "own-disk",
        "title": f"fio on {base.target}",
        "source": {"author": "fio", "date": date, "where": "measured here", "notes": f"fitted as {base.note}"},
        "conventions": {"MB": 1000000},
        "machine": base.machine,
        **({"arrays": base.arrays} if base.arrays else {}),
        **({"encrypted": base.encrypted} if base.encrypted else {}),
        **({"volumes": base.volumes} if base.volumes else {}),
        "runs": {job.name: {"kernel": base.kernel, "workload": _load(job, base.target)} for job in usable},
        "cells": [cell for job in usable for cell in _cells(job, base.turns)],
        "missing": [each for job in jobs if job.unlike for each in _missing(job, job.unlike)],
    }


def _from_scenario(path: Path) -> Base:
    """The machine, arrays, encrypted devices and volumes of a scenario, of which one is the target."""
    described = read_document(path)
    scenario, positions = described.spec(), described.positions
    data = written(scenario)
    if scenario.path_length != 1:
        raise InputError(positions.place(("path_length",)), f"{scenario.path_length}", "allowed with --from-fio: 1")
    workload = scenario.workload
    mounted = {each.on for each in scenario.file_systems.values()}
    targets = mounted if isinstance(workload, ProgramsSpec) else set(workload.targets)
    if len(targets) != 1:
        found = f"a workload on {', '.join(sorted(targets))}"
        raise InputError(positions.place(("workload",)), found, "allowed with --from-fio: on the device measured alone")
    parts = {name: data.get(name) or {} for name in ("arrays", "encrypted", "volumes")}
    (target,) = targets
    note = f"{target} of {scenario.machine.name}"
    turns = all(isinstance(each.spec(), DriveSpec) for each in scenario.machine.drives.values())
    return Base(
        data["machine"], scenario.kernel, target, parts["arrays"], parts["encrypted"], turns, note, parts["volumes"]
    )


def _load(job: FioJob, target: str) -> dict[str, Any]:
    seconds = min(_LONGEST_S, max(_SHORTEST_S, _IOS / job.measured["iops"]))
    load = {
        "kind": "load",
        "targets": [target],
        "pattern": "sequential" if job.sequential else "random",
        "block_size": f"{job.block_size}B",
        "read_share": job.read_share,
        "depth": job.depth,
        "jobs": job.jobs,
        **({"engine": job.engine} if job.engine is not None else {}),
        **({"fsync": job.fsync} if job.fsync else {}),
        "start": f"{job.start}B",
        "warm_up": f"{max(_LEAST_WARM_UP_S, seconds * _WARM_UP):.2g}s",
        "duration": f"{seconds:.2g}s",
    }
    return load if job.span is None else {**load, "span": f"{job.span}B"}


def _cells(job: FioJob, turns: bool) -> list[dict[str, Any]]:
    """The cells of a job; I/Os a second and rate are the same number, and the one that people speak of is fitted.

    A 99th percentile is shown and not fitted where it rests on few I/Os, and of flash, where what makes it is not in
    the model: pages of a cell that take longer than others, the host of a virtual disk.
    """
    spoken = "rate" if job.sequential else "iops"
    cells = []
    for figure, value in job.measured.items():
        if figure == ("iops" if spoken == "rate" else "rate"):
            continue
        unit = _UNITS.get(figure, "us")
        tail = "p99" in figure and (job.ios < FEWEST_FOR_TAIL or not turns)
        cells.append(
            {
                "id": f"{job.name} {figure}",
                "use": "predict" if tail else "calibrate",
                "run": job.name,
                "figure": figure,
                "measured": float(f"{value / _SI[unit]:.6g}"),
                "unit": unit,
            }
        )
    return cells


def _missing(job: FioJob, needs: str) -> list[dict[str, Any]]:
    figure = "rate" if job.sequential else "iops"
    unit = _UNITS[figure]
    entry: dict[str, Any] = {"id": f"{job.name} {figure}", "needs": needs}
    if figure in job.measured:
        entry |= {"measured": float(f"{job.measured[figure] / _SI[unit]:.6g}"), "unit": unit}
    return [entry]


def _parameters(study: StudySpec, base: Base) -> list[dict[str, Any]]:
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
    ordering = [name for name in spinning if drives[name].queue_depth > 1]
    deep = any(
        isinstance(run.workload, LoadSpec)
        and run.workload.pattern == "random"
        and run.workload.depth * run.workload.jobs > 2
        for run in study.runs.values()
    )
    writes = any(isinstance(run.workload, LoadSpec) and run.workload.read_share < 1 for run in study.runs.values())
    syncs = any(isinstance(run.workload, LoadSpec) and run.workload.fsync for run in study.runs.values())
    line = "line rates are standard; the protocol takes a part of them"
    wanted: list[tuple[str, list[str], float, str]] = [
        ("media rate", [] if zoned else of_drives(spinning, _MEDIA), 0.25, "density: the nearest drive is another one"),
        ("seeks", of_drives(spinning, _SEEKS), 0.25, "makers' seek times differ by a quarter within a class"),
        (
            "command order",
            of_drives(ordering, _ORDER) if deep else [],
            0.5,
            "firmware: how many commands it weighs is not in data sheets",
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
        (
            "command overhead",
            of_drives(spinning, _OVERHEADS) + of_drives(flash, _FLASH_OVERHEADS),
            1.0 if flash else 0.6,
            "firmware: not in data sheets" + ("; the host of a virtual disk is in it" if flash else ""),
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


def scenario_path(profile: Path) -> Path:
    """Where the fitted machine is kept: ``NAME.scenario.yaml`` next to the profile ``NAME.yaml``."""
    return profile.with_name(f"{profile.stem}.scenario.yaml")


class _Plain(yaml.SafeDumper):
    """Writes equal parts out in full, so that the file can be read and changed anywhere."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _save(path: Path, option: str, document: Mapping[str, Any], title: str) -> None:
    text = yaml.dump(document, Dumper=_Plain, sort_keys=False, width=120, allow_unicode=True)
    try:
        write_whole(path, f"# {title}\n{text}")
    except OSError as error:
        raise InputError(option, f"{path}: {error.strerror}", "expected: a file to write") from None
