"""A study from the results of fio on a disk of one's own.

Each job is a run. Its rate or I/Os a second, its mean latency and its 99th percentile are cells to fit. It is run as
fio ran it, with the jobs that ran at the same time. On a disk that turns, a load of the model does the same for a job
that is a number of I/Os outstanding. Jobs that cannot be simulated are listed as missing, with what they need.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from ...model.core.errors import InputError
from ...model.disk.spec import DriveSpec
from ...model.files.atomic_file import write_whole
from ...model.files.description_errors import validate
from ...model.solid_state.spec import SolidStateSpec
from ...scenarios.description.programs import ProgramsSpec
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.documents.document import read_document
from ...scenarios.documents.written import written
from ..measurement.machine import load_machine
from ..study.parameters import value_at
from ..study.study import StudySpec
from .job_text import placed
from .jobs import FEWEST_FOR_TAIL, FioJob, read_jobs
from .machine import Base, one_drive
from .parameters import parameters_of, value_in_file

_IOS = 3000
"""I/Os of a job that are simulated on a disk that turns."""
_FLASH_IOS = 1000
"""The same on flash, where one I/O takes nearly as long as the next."""
_TURNS = 8
"""I/Os that are simulated at least, for each that is outstanding."""
_SHORTEST_S, _LONGEST_S = 0.05, 40.0
"""Limits of a simulated measurement; the first is for disks that turn."""
_WARM_UP, _LEAST_WARM_UP_S = 0.1, 0.05
"""What comes before the measurement, as a share of it, but the first move of the arm in any case."""
_FILLED = 2.0
"""Times that what is written before a measurement could fill the write buffers of flash: programs take from them."""
_AS_ALONE, _AS_MANY = 1.5, 0.8
"""Up to how many times the latency of a lone write, and from which share of the most I/Os a second, nothing waits for
flash."""
_UNITS = {"rate": "MB/s", "iops": "1/s"}
_SI = {"MB/s": 1e6, "1/s": 1.0, "us": 1e-6}
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
        self._document["parameters"] = parameters_of(validate(StudySpec, self._document), self.base, jobs)
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
                value = value_at(self.study, path, factors[parameter.name])
                here = machine
                for key in place:
                    here = here[key]
                if place[0] == "drives":
                    here = here.setdefault("overrides", {})
                here[field] = value_in_file(field, value)
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


def _document(jobs: Sequence[FioJob], base: Base, date: str, folder: Path) -> dict[str, Any]:
    """The study as its file has it, without parameters."""
    usable = [job for job in jobs if job.unlike is None]
    if not usable:
        reasons = "; ".join(sorted({job.unlike for job in jobs if job.unlike}))
        raise InputError(str(folder), "no job that can be simulated", f"expected: {reasons}")
    runs: dict[str, list[FioJob]] = {}
    for job in usable:
        runs.setdefault(job.run, []).append(job)
    return {
        "id": re.sub(r"[^\w.-]+", "-", folder.resolve().name).strip("-.") or "own-disk",
        "title": f"fio on {base.target}",
        "source": {"author": "fio", "date": date, "where": "measured here", "notes": f"fitted as {base.note}"},
        "conventions": {"MB": 1000000},
        "machine": base.machine,
        **({"arrays": base.arrays} if base.arrays else {}),
        **({"encrypted": base.encrypted} if base.encrypted else {}),
        **({"volumes": base.volumes} if base.volumes else {}),
        "runs": {name: {"kernel": base.kernel, "workload": _workload(of, base, usable)} for name, of in runs.items()},
        "cells": [cell for job in usable for cell in _cells(job, base)],
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
    specs = [each.spec() for each in scenario.machine.drives.values()]
    turns = all(isinstance(spec, DriveSpec) for spec in specs)
    buffer = sum(spec.write_buffer for spec in specs if isinstance(spec, SolidStateSpec))
    return Base(
        data["machine"],
        scenario.kernel,
        target,
        parts["arrays"],
        parts["encrypted"],
        turns,
        note,
        parts["volumes"],
        buffer,
    )


def _as_load(job: FioJob, base: Base) -> bool:
    """Whether a job is simulated as a load.

    On a disk that turns both give the same, and the model knows the variance of a load without further runs. On flash
    fio's own process may limit the IOPS: fio's latencies then include the time until the process sees a completion,
    and those of a load do not.
    """
    return job.is_load and (base.turns or job.text is None)


def _workload(jobs: Sequence[FioJob], base: Base, ran: Sequence[FioJob]) -> dict[str, Any]:
    """What ran: fio with its jobs, or a load."""
    first = jobs[0]
    if first.text is None or _as_load(first, base):
        return _load(first, base, ran)
    times = [_times(job, base, ran) for job in jobs]
    warm_up, seconds = max(ramp for ramp, _ in times), max(length for _, length in times)
    return {"kind": "fio", "job": placed(first.text, base.target, warm_up, seconds)}


def _times(job: FioJob, base: Base, ran: Sequence[FioJob]) -> tuple[float, float]:
    """Warm-up and measurement (s) of one of the jobs that ran."""
    outstanding, iops = job.depth * job.jobs, job.iops
    if base.turns:
        seconds = min(_LONGEST_S, max(_SHORTEST_S, _IOS / iops))
        return max(_LEAST_WARM_UP_S, seconds * _WARM_UP), seconds
    ios = max(_FLASH_IOS, _TURNS * outstanding)
    filling = _FILLED * base.write_buffer / job.block_size if _may_fill(job, ran) else 0.0
    return min(_LONGEST_S, max(_WARM_UP * ios, outstanding, filling) / iops), min(_LONGEST_S, ios / iops)


def _may_fill(job: FioJob, ran: Sequence[FioJob]) -> bool:
    """Whether a job's writes may have come faster than flash takes them, so that the drive's buffer was full.

    They did not if each took about as long as one alone, or if there were about as many I/Os a second as in any job of
    as many processes: then the host or the controller set the pace.
    """
    if job.read_share == 1:
        return False
    mean = "write_mean_seconds"
    alone = [each.measured[mean] for each in ran if each.depth * each.jobs == 1 and mean in each.measured]
    if alone and job.measured.get(mean, math.inf) <= _AS_ALONE * min(alone):
        return False
    return job.sequential or job.iops < _AS_MANY * max(each.iops for each in ran if each.jobs == job.jobs)


def _load(job: FioJob, base: Base, ran: Sequence[FioJob]) -> dict[str, Any]:
    warm_up, seconds = _times(job, base, ran)
    load = {
        "kind": "load",
        "targets": [base.target],
        "pattern": "sequential" if job.sequential else "random",
        "block_size": f"{job.block_size}B",
        "read_share": job.read_share,
        "depth": job.depth,
        "jobs": job.jobs,
        **({"engine": job.engine} if job.engine is not None else {}),
        **({"fsync": job.fsync} if job.fsync else {}),
        "start": f"{job.start}B",
        "warm_up": f"{warm_up:.2g}s",
        "duration": f"{seconds:.2g}s",
    }
    return load if job.span is None else {**load, "span": f"{job.span}B"}


def _cells(job: FioJob, base: Base) -> list[dict[str, Any]]:
    """The cells of a job; I/Os a second and rate are the same number, and the one that people speak of is fitted.

    A 99th percentile is shown and not fitted where it rests on few I/Os, and of flash, where what makes it is not in
    the model: pages of a cell that take longer than others, the host of a virtual disk.
    """
    told_twice = "iops" if job.sequential else "rate"
    prefix = "" if _as_load(job, base) else f"{job.section}."
    cells = []
    for figure, value in job.measured.items():
        what = figure.rpartition("_")[2]
        if what == told_twice:
            continue
        unit = _UNITS.get(what, "us")
        tail = "p99" in figure and (job.ios < FEWEST_FOR_TAIL or not base.turns)
        cells.append(
            {
                "id": f"{job.name} {figure}",
                "use": "predict" if tail else "calibrate",
                "run": job.run,
                "figure": figure if figure == what else f"{prefix}{figure}",
                "measured": float(f"{value / _SI[unit]:.6g}"),
                "unit": unit,
            }
        )
    return cells


def _missing(job: FioJob, needs: str) -> list[dict[str, Any]]:
    what = "rate" if job.sequential else "iops"
    figure = next((each for each in job.measured if each.rpartition("_")[2] == what), what)
    unit = _UNITS[what]
    entry: dict[str, Any] = {"id": f"{job.name} {what}", "needs": needs}
    if figure in job.measured:
        entry |= {"measured": float(f"{job.measured[figure] / _SI[unit]:.6g}"), "unit": unit}
    return [entry]


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
