"""Reports of fio 3 with chosen numbers, and a folder of them "measured" on the model itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from raidsim.model.programs.fio.sections import sections
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.description.workloads import LoadSpec
from raidsim.scenarios.fio.output.json_document import json_document, json_text
from raidsim.scenarios.fio.run import FioOptions, run_fio
from raidsim.scenarios.running.simulate import simulate

MACHINE = """\
date: '2026-01-01'
fio: '3.33'
kernel: 6.1.0
cpu: {name: some CPU, clock: 2GHz, cores: 2}
memory: 1GiB
device: {name: sda, size: 500107862016, rotational: true, scheduler: mq-deadline, queue_depth: 32, members: []}
suite: {target: device, size: 500107862016, seconds: 5s, engine: libaio, direct: true, writes: false}
"""


def direction(ios: int, iops: float, block: int, mean_s: float, p99_s: float) -> dict[str, Any]:
    """What a report says of reads, or of writes."""
    seconds = ios / iops
    latency = {"min": mean_s * 5e8, "max": p99_s * 2e9, "mean": mean_s * 1e9, "stddev": 1.0, "N": ios}
    return {
        "io_bytes": ios * block,
        "io_kbytes": ios * block // 1024,
        "bw_bytes": round(iops * block),
        "bw": round(iops * block / 1024),
        "iops": iops,
        "runtime": round(1e3 * seconds),
        "total_ios": ios,
        "lat_ns": latency | {"percentile": {"99.000000": round(p99_s * 1e9)}},
    }


def job(name: str, options: Mapping[str, Any], group: int = 0, **done: Mapping[str, Any]) -> dict[str, Any]:
    """A job; `done` has what it read and wrote."""
    return {
        "jobname": name,
        "groupid": group,
        "error": 0,
        "job options": {"name": name, "direct": "1", "ioengine": "libaio"} | {k: str(v) for k, v in options.items()},
        **done,
    }


def report(*jobs: Mapping[str, Any], shared: Mapping[str, str] | None = None) -> str:
    """A whole report."""
    return json.dumps({"fio version": "fio-3.33", "global options": shared or {}, "jobs": jobs}, indent=1)


def randread(name: str = "randread", **options: Any) -> dict[str, Any]:
    """A job of 4 KiB random reads that did 2,000 in 20 s."""
    settings = {"rw": "randread", "bs": "4k", "iodepth": 1, "size": "64g", "filename": "/dev/sda"} | options
    return job(name, settings, read=direction(2000, 100.0, 4096, 0.01, 0.02))


def measured_on_model(folder: Path, scenario: ScenarioSpec, loads: Mapping[str, Mapping[str, Any]]) -> None:
    """A folder with what fio would have said of `loads` (pattern, block_size, depth) on the machine of `scenario`.

    Flash is measured by the model's fio, whose own CPU time is part of the results. On a disk that turns a load does
    the same in less time.
    """
    folder.mkdir(exist_ok=True)
    assert isinstance(scenario.workload, LoadSpec)
    (folder / "machine.yaml").write_text(MACHINE, encoding="utf-8")
    turns = all(each.spec().rotational for each in scenario.machine.drives.values())
    for name, load in loads.items():
        workload = scenario.workload.model_copy(update=dict(load))
        op = "read" if workload.read_share else "write"
        options = {
            "rw": op if workload.pattern == "sequential" else f"rand{op}",
            "bs": workload.block_size,
            "iodepth": workload.depth,
            "size": workload.span or "100%",
            "filename": "/dev/sda",
            **({"fsync": workload.fsync} if workload.fsync else {}),
        }
        run = scenario.model_copy(update={"workload": workload})
        text = report(_by_load(name, op, options, run)) if turns else _by_fio(name, options, run, workload)
        (folder / f"{name}.json").write_text(text, encoding="utf-8")


def _by_load(name: str, op: str, options: Mapping[str, Any], scenario: ScenarioSpec) -> dict[str, Any]:
    """The job of a report, with the figures of the scenario's load."""
    found = simulate(scenario)
    figures = found.figures
    times = (figures[f"{op}_mean_seconds"], figures[f"{op}_p99_seconds"])
    ios = round(figures["iops"] * found.measured_s)
    return job(name, options, 0, **{op: direction(ios, figures["iops"], options["bs"], *times)})


def _by_fio(name: str, options: Mapping[str, Any], scenario: ScenarioSpec, load: LoadSpec) -> str:
    """What the model's fio reports of a job that runs as long as the load."""
    times = {"runtime": f"{round(1e6 * load.duration)}us", "ramp_time": f"{round(1e6 * load.warm_up)}us"}
    every = {"direct": 1, "ioengine": load.engine or "libaio", **options, **times}
    lines = [f"[{name}]", "time_based", *(f"{option}={value}" for option, value in every.items())]
    return json_text(json_document(run_fio(scenario, sections("\n".join(lines), f"{name}.fio"), FioOptions()), False))
