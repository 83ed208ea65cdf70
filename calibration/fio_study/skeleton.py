"""A study to fill in, from fio's reports of a drive and of the array that is made of such drives."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from ...model.core.errors import InputError
from ...model.core.exact_sums import sum_in_order
from ...model.disk.spec import DriveSpec
from ...model.drives.catalogue import drive
from ...model.files.description_errors import validate
from ...model.programs.fio.options import check_simulated
from ...model.programs.fio.sections import sections
from ..formats.benchmarks import fio_json
from ..formats.detect import read_report
from ..study.study import StudySpec
from .job_text import ReportedJob, each_once, lines_of, own_options
from .jobs import FEWEST_FOR_TAIL, reported_jobs

ARRAY, DRIVE = "md0", "disk0"
_LONGEST = "10s"
_LATENCIES = (
    ("mean_seconds", ("lat_mean", "clat_mean"), 1),
    ("p50_seconds", ("clat_p50",), 20),
    ("p99_seconds", ("clat_p99",), FEWEST_FOR_TAIL),
    ("p999_seconds", ("clat_p99.9",), 10 * FEWEST_FOR_TAIL),
)
"""Figures, what fio's report calls them, and the fewest I/Os that they can rest on."""
_PARAMETERS = {
    True: (
        ("media rate", ("outer_media_rate", "inner_media_rate"), "10%", "how fast this drive is"),
        ("seeks", ("seek_track_to_track", "seek_average", "seek_full_stroke"), "15%", "how fast its arm is"),
        ("command order", ("queue_effort",), "50%", "how well its firmware orders commands is not published"),
        ("seek margin", ("queue_margin",), "60%", "how far its firmware trusts a seek is not published"),
    ),
    False: (
        ("flash read", ("read_time",), "40%", "makers do not publish it"),
        ("flash program", ("program_time",), "40%", "makers do not publish it"),
        ("overhead", ("read_overhead", "write_overhead"), "60%", "the firmware's share of each command"),
        ("command rate", ("command_rate",), "40%", "what the drive's controller takes"),
    ),
}
"""By whether the drive turns: name, fields, standard deviation of the prior, reason."""


def skeleton(
    name: str,
    on_drive: Sequence[Path],
    on_array: Sequence[Path],
    model: str,
    count: int,
    level: str,
    kernel: str,
) -> str:
    """The text of a study's file.

    Parameters
    ----------
    name
        Its id.
    on_drive, on_array
        fio's reports in JSON: what was measured on one drive, which is calibrated on, and on the array of all drives,
        which is predicted.
    model, count
        The drive, of the catalogue, and how many there are.
    level, kernel
        Of the array; of the machine.

    Raises
    ------
    InputError
        If a file is no report of fio in JSON, or has a job that cannot be simulated.
    """
    if not on_drive and not on_array:
        raise InputError("--on-drive", "it is missing", "expected: a report of fio here or in --on-array")
    runs: dict[str, Any] = {}
    cells: list[dict[str, Any]] = []
    for files, target, use in ((on_drive, DRIVE, "calibrate"), (on_array, ARRAY, "predict")):
        for path in files:
            run = f"{'drive' if use == 'calibrate' else 'array'}/{path.stem}"
            if run in runs:
                raise InputError(str(path), f"a second report called {path.stem}", "expected: each name once")
            jobs = _jobs(path)
            runs[run] = {"kernel": kernel, "workload": _workload(path, jobs, target)}
            cells += _cells(run, jobs, use)
    study = {
        "id": name,
        "title": "TODO: what was measured",
        "source": {
            "author": "TODO: who measured",
            "date": datetime.date.today().isoformat(),
            "where": "TODO: where the report can be found",
            "notes": "TODO: what is not stated, and what stands in for it",
        },
        "machine": {"model": _machine(model), "drives": {"model": model, "count": count}},
        "arrays": {ARRAY: {"level": level, "members": [f"disk{n}" for n in range(count)], "chunk": "512KiB"}},
        "runs": runs,
        "cells": cells,
        "parameters": _parameters(model) if on_drive else [],
    }
    validate(StudySpec, study)
    return _text(study)


def _jobs(path: Path) -> list[ReportedJob]:
    report = read_report(path)
    if report.format != fio_json.NAME:
        raise InputError(str(path), f"a report of {report.format}", "expected: fio's, --output-format=json")
    return reported_jobs(path, report)


def _machine(model: str) -> str:
    return "nvme-server" if drive(model).interface.startswith("PCIe") else "server"


def _workload(path: Path, jobs: Sequence[ReportedJob], target: str) -> dict[str, Any]:
    """The jobs of a report as fio ran them; flags, which the report leaves out, are told by what else it says."""
    lines, group = [], jobs[0].group
    for job in each_once(jobs):
        options = own_options(job, str(path))
        lines += [f"[{job.name}]", f"filename=/dev/{target}", *lines_of(options)]
        flags = {
            "stonewall": job.group != group,
            "time_based": "runtime" in options,
            "group_reporting": options.get("numjobs", "1") != "1" and len(_clones(jobs, job)) == 1,
        }
        lines += [flag for flag, is_set in flags.items() if is_set and flag not in options]
        group = job.group
    text = "\n".join(lines) + "\n"
    for section in sections(text, str(path), numbered=False):
        check_simulated(section.options)
    return {"kind": "fio", "at_most": _LONGEST, "job": text}


def _clones(jobs: Sequence[ReportedJob], job: ReportedJob) -> list[ReportedJob]:
    return [each for each in jobs if each.name == job.name]


def _cells(run: str, jobs: Sequence[ReportedJob], use: str) -> Iterator[dict[str, Any]]:
    for job in each_once(jobs):
        clones = _clones(jobs, job)
        for op in ("read", "write"):
            iops = sum_in_order(each.values.get(f"{op}_iops", 0.0) for each in clones)
            if not iops:
                continue
            found = [(f"{op}_iops", iops, "1/s", 1.0)]
            if len(clones) == 1:
                for figure, keys, fewest in _LATENCIES:
                    value = next((job.values[f"{op}_{key}"] for key in keys if job.values.get(f"{op}_{key}")), None)
                    if value is not None and job.values.get(f"{op}_ios", 0.0) >= fewest:
                        found.append((f"{op}_{figure}", value, "us", 1e-6))
            for figure, value, unit, size in found:
                yield {
                    "id": f"{run}/{job.name} {figure}",
                    "use": use,
                    "run": run,
                    "figure": f"{job.name}.{figure}",
                    "measured": float(f"{value / size:.5g}"),
                    "unit": unit,
                }


def _parameters(model: str) -> list[dict[str, Any]]:
    spec = drive(model)
    return [
        {"name": name, "paths": [f"machine.drives.*.{field}" for field in fields], "sd": sd, "reason": reason}
        for name, fields, sd, reason in _PARAMETERS[spec.rotational]
        if all(getattr(spec, field) for field in fields)
        and not (name == "command order" and isinstance(spec, DriveSpec) and spec.queue_margin)  # it weighs all
    ]


_COMMENTS = {
    "id": "A benchmark report as data. Fill in what says TODO, then: raidsim study check FILE",
    "machine": "The computer: a machine of the catalogue. Say what the report says of it, for example\n"
    "# cpu: {model: server-core, cores: 32, clock: 3.1GHz}, memory: 256GiB",
    "arrays": "How the array was made: chunk, bitmap and so on as the report has them.",
    "runs": "What ran. A long job is simulated for `at_most`; shorten that if a run takes long.",
    "cells": "What was measured. Mark each before anything is fitted: calibrate (single drives) or predict (arrays).",
    "parameters": "What the fit may change: a factor on each path, with the standard deviation of its prior.",
}


class _Dumper(yaml.SafeDumper):
    """Writes jobs as blocks of lines, and equal parts out in full."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _as_block(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _as_block)


def _text(study: dict[str, Any]) -> str:
    parts = []
    for key, value in study.items():
        comment = f"# {_COMMENTS[key]}\n" if key in _COMMENTS else ""
        if key == "cells":
            parts.append(f"{comment}cells:\n" + "".join(f"  - {_line(cell)}" for cell in value))
        else:
            whole = {key: value}
            parts.append(comment + yaml.dump(whole, Dumper=_Dumper, sort_keys=False, width=110, allow_unicode=True))
    return "\n".join(parts)


def _line(cell: dict[str, Any]) -> str:
    return yaml.dump(cell, Dumper=_Dumper, default_flow_style=True, width=1000, sort_keys=False)
