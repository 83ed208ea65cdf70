"""Rates: jobs of fio on pools of members of known service time, and buffered writers that are throttled."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ....model.core.request import READ, WAITED, WRITE, WRITE_THROUGH
from ....model.zfs.pool.settings import DatasetSettings, DirtySettings, PoolSettings
from ..base import KindResult, NotSupported, Progress
from .laboratory import Job, Laboratory, Member, pool_named

TOLERANCE = 0.2
_UNITS = {"k": 10, "m": 20}
_JOB = re.compile(r"(randread|dsync|seqread)_(\d+)([km])_(r16|r128|s128)_j(\d+)")
_FILES = {
    "r16": (8 << 20, 16 << 10, "metadata"),
    "r128": (16 << 20, 128 << 10, "metadata"),
    "s128": (24 << 20, 128 << 10, "all"),
}
"""Size, record and primarycache of the files that the jobs use."""
_JOB_S = 1.5
_PAUSE_S = 0.3
"""Between two jobs (s); not recorded."""
_FIRST_S = 0.2
_LATE_S = 1.0
_RECORD = 128 << 10
_FILL_BYTES = 1 << 30
_FILL_CALL_S = 0.3e-3


def check_jobs(file: str, content: Mapping[str, Any], result: KindResult, progress: Progress) -> None:
    """Run the jobs of each pool one after the other, as they were recorded, and compare their rates."""
    member = Member.recorded(content["member"])
    datasets = [DatasetSettings(name, size, block, primarycache=kept) for name, (size, block, kept) in _FILES.items()]
    for name, jobs in content["results"].items():
        datasets = [
            DatasetSettings(each, size, block, primarycache=kept) for each, (size, block, kept) in _FILES.items()
        ]
        try:
            laboratory = Laboratory(pool_named(name), member, datasets)
        except NotSupported as error:
            result.skip(file, name, error, len(jobs))
            continue
        laboratory.rest(1.0)
        for case, recorded in jobs.items():
            match = _JOB.fullmatch(case)
            if match is None:
                result.skip(file, f"{name} {case}", "no job that the check knows")
                continue
            progress(f"{file} {name} {case}")
            writes = match[1] == "dsync"
            job = Job(
                laboratory,
                laboratory.pool.datasets[match[4]],
                WRITE if writes else READ,
                int(match[2]) << _UNITS[match[3]],
                WRITE_THROUGH if writes else WAITED,
                int(match[5]),
                None if match[1] == "seqread" else _JOB_S,
            )
            rate = float(recorded["write" if writes else "read"]["iops"])
            result.record(file, f"{name} {case}", _off(rate, job.rate, "I/Os per second"))
            laboratory.rest(_PAUSE_S)


def check_throttling(file: str, content: Mapping[str, Any], result: KindResult, progress: Progress) -> None:
    """Write without end into dirty data, and compare what is taken at first and later."""
    progress(file)
    member = Member.recorded(content["member"])
    parameters = dict(each.replace("=", ":").split(":") for each in content["parameters"])
    dirty = DirtySettings(
        zfs_dirty_data_max=int(parameters["zfs_dirty_data_max"]),
        zfs_dirty_data_sync_percent=int(parameters["zfs_dirty_data_sync_percent"]),
        zfs_delay_min_dirty_percent=int(parameters["zfs_delay_min_dirty_percent"]),
        zfs_delay_scale=int(parameters["zfs_delay_scale"]),
        zfs_txg_timeout=float(parameters["zfs_txg_timeout"]),
    )
    data = DatasetSettings("fill", _FILL_BYTES, _RECORD)
    try:
        pool = pool_named(content["pool"])
    except NotSupported as error:
        result.skip(file, "", error, 2)
        return
    laboratory = Laboratory(pool, member, [data], PoolSettings(memory=12 << 30, dirty=dirty))
    taken = [kib / 1024 for kib in content["fill"]["kib_per_100ms"]]
    end, began = len(taken) / 10, laboratory.engine.now
    times: list[float] = []
    while laboratory.engine.now < began + end:
        offset = len(times) * _RECORD % _FILL_BYTES
        laboratory.io(laboratory.pool.datasets["fill"], WRITE, offset, _RECORD)
        laboratory.rest(_FILL_CALL_S)
        times.append(laboratory.engine.now - began)
    first = sum(time < _FIRST_S for time in times) * _RECORD / (1 << 20)
    late = sum(_LATE_S <= time < end for time in times) * _RECORD / (1 << 20) / (end - _LATE_S)
    result.record(file, "first 200 ms", _off(sum(taken[: int(10 * _FIRST_S)]), first, "MiB"))
    recorded = sum(taken[int(10 * _LATE_S) :]) / (end - _LATE_S)
    result.record(file, "later", _off(recorded, late, "MiB/s"))


def _off(recorded: float, model: float, unit: str) -> str:
    if abs(model / recorded - 1) <= TOLERANCE:
        return ""
    return f"recorded {recorded:.1f} {unit}; the model has {model:.1f} ({model / recorded - 1:+.0%})"
