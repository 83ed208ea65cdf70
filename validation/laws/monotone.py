"""Throughput never falls with more of what serves: deeper queues, more jobs, members, cores, faster drives, caches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...model.disk.spec import DriveSpec
from .law import Law, Violation
from .trial import Trial, clearly_below

SHARE = 0.95
STREAMS = 0.2
"""Least throughput of twice as many sequential streams on hard disks, as a share: the arm moves between them, but the
drive reads ahead in a segment for each."""
MOST_IOS = 1024

Variation = Callable[[Trial], "Mapping[str, Any] | None"]


def _deeper(trial: Trial) -> Mapping[str, Any] | None:
    load = trial.closed
    if load is None or load.engine == "psync" or 2 * load.depth * load.jobs * len(load.targets) > MOST_IOS:
        return None
    return {"workload.depth": 2 * load.depth}


def _more_jobs(trial: Trial) -> Mapping[str, Any] | None:
    load = trial.closed
    if load is None or 2 * load.depth * load.jobs * len(load.targets) > MOST_IOS:
        return None
    return {"workload.jobs": 2 * load.jobs}


def _more_cores(trial: Trial) -> Mapping[str, Any] | None:
    cpu = trial.spec.machine.cpu
    return None if trial.closed is None or cpu.nodes > 1 else {"machine.cpu.cores": 2 * cpu.cores}


def _faster_drives(trial: Trial) -> Mapping[str, Any] | None:
    """Half the overheads and twice the rates that belong to the drive alone."""
    drives = trial.data.get("machine", {}).get("drives", {})
    if trial.closed is None or not isinstance(drives, dict) or "model" not in drives:
        return None
    spec = next(iter(trial.spec.machine.drives.values())).spec()
    if isinstance(spec, DriveSpec):
        if spec.read_overhead <= 0:
            return None
        values = {"read_overhead": spec.read_overhead, "write_overhead": spec.write_overhead}
    else:
        values = {"read_time": spec.read_time, "program_time": spec.program_time}
    return {f"machine.drives.overrides.{name}": f"{value / 2:.9g}s" for name, value in values.items()}


def _larger_cache(trial: Trial) -> Mapping[str, Any] | None:
    """Twice the write buffer."""
    drives = trial.data.get("machine", {}).get("drives", {})
    if trial.closed is None or not isinstance(drives, dict) or "model" not in drives:
        return None
    spec = next(iter(trial.spec.machine.drives.values())).spec()
    if not spec.write_buffer or (isinstance(spec, DriveSpec) and not spec.write_cache):
        return None
    values = {"write_buffer": f"{2 * spec.write_buffer}B"}
    if isinstance(spec, DriveSpec):
        values["cache"] = f"{spec.cache + spec.write_buffer}B"
    return {f"machine.drives.overrides.{name}": value for name, value in values.items()}


def _less_metadata(trial: Trial) -> Mapping[str, Any] | None:
    with_bitmap = [name for name, array in trial.spec.arrays.items() if array.bitmap is not None]
    if trial.closed is None or not with_bitmap:
        return None
    return {f"arrays.{name}.bitmap": "none" for name in with_bitmap}


def _more_members(trial: Trial) -> Mapping[str, Any] | None:
    """Twice the members of a RAID 0 of drives.

    A disk alone may serve one stream for as long as its scheduler likes; of two disks each has a stream for a chunk,
    and then another.
    """
    load = trial.closed
    data = trial.data
    if load is None or len(load.targets) != 1 or load.targets[0] not in trial.spec.arrays:
        return None
    name = load.targets[0]
    array, drives = trial.spec.arrays[name], data.get("machine", {}).get("drives", {})
    alike = not set(drives) - {"model", "count", "state"} and "count" in drives
    if array.level != "raid0" or array.controller or len(trial.spec.arrays) > 1 or not alike:
        return None
    if not set(array.members) <= set(trial.spec.machine.drives) or len(array.members) > 12:
        return None
    if len(array.members) == 1 and load.jobs > 1 and streams_on_disks(trial):
        return None
    members = [*array.members, *(f"disk{drives['count'] + number}" for number in range(len(array.members)))]
    return {"machine.drives.count": drives["count"] + len(array.members), f"arrays.{name}.members": members}


def _monotone(name: str, what: str, vary: Variation, applies: str) -> Law:
    """The law that throughput does not fall with `what`."""

    def check(trial: Trial) -> Iterator[Violation]:
        values = vary(trial)
        more = None if values is None else trial.varied(values)
        if more is None or trial.spec.failures:
            return
        streams = name in ("jobs", "depth") and streams_on_disks(trial)
        if streams and _in_turns(trial):
            return
        share = STREAMS if streams else SHARE
        before, after = trial.outcome.rate, more.outcome.rate
        if clearly_below(after, before, share):
            changed = ", ".join(f"{key.removeprefix('workload.')} {value}" for key, value in (values or {}).items())
            yield Violation(
                name,
                f"{after.mean / 1e6:,.4g} MB/s with {what} ({changed})",
                f"{share:.0%} of {before.mean / 1e6:,.4g} MB/s or more, as without",
            )

    tolerance = f"{1 - SHARE:.0%}, and the 90 % intervals of both figures doubled"
    if name in ("jobs", "depth"):
        tolerance += (
            f"; sequential streams on hard disks {1 - STREAMS:.0%}, as the arm moves between them, and any where a "
            "disk is not known to read ahead before it serves another read"
        )
    return Law(
        f"more-{name}",
        f"Throughput does not fall with {what}.",
        applies,
        tolerance,
        check,
        lambda trial: trial.outcome.iops > 0 and vary(trial) is not None,
        runs=1,
    )


def streams_on_disks(trial: Trial) -> bool:
    """Whether hard disks serve I/Os that follow each other."""
    load = trial.closed
    return (
        load is not None
        and load.pattern != "random"
        and any(isinstance(each.spec(), DriveSpec) for each in trial.spec.machine.drives.values())
    )


def _in_turns(trial: Trial) -> bool:
    """Whether a disk is not known to read ahead before it serves another read, as those of before 2007."""
    specs = (each.spec() for each in trial.spec.machine.drives.values())
    return any(isinstance(spec, DriveSpec) and not spec.minimum_prefetch for spec in specs)


DEPTH = _monotone("depth", "twice the depth", _deeper, "loads with a depth")
JOBS = _monotone("jobs", "twice the jobs", _more_jobs, "loads with a depth")
CORES = _monotone("cores", "twice the cores", _more_cores, "loads with a depth, on one memory node")
FASTER = _monotone("speed", "drives that take half the time", _faster_drives, "loads with a depth, on equal drives")
CACHE = _monotone("cache", "twice the drives' write buffer", _larger_cache, "loads with a depth, on equal drives")
METADATA = _monotone("metadata", "no bitmap", _less_metadata, "loads with a depth on arrays with a bitmap")
MEMBERS = _monotone(
    "members", "twice the members", _more_members, "loads with a depth on a RAID 0, but several streams on one disk"
)
