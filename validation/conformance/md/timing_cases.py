"""The recorded rates of fio jobs on arrays: what the files of kind `timing` say, case by case.

The kernel, members and array of each case are those of its recording; fio options that no recording has are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ....model.core.errors import InputError
from ....model.kernels import KernelSpec
from ..base import NotChecked, NotSupported, TruthFile
from .extra import Extra
from .kernels import recorded_kernel
from .mdadm import LEVELS
from .vm_member import MIB, Member, RecordedArray, algorithm_of

RECORDED_S = 2.0
"""How long the jobs ran of a recording that does not say so."""

_FOLLOWED = {"rw", "bs", "iodepth", "rwmixread", "numjobs", "offset_increment", "size"}
_SAME_EVERYWHERE = {"direct", "ioengine", "thread", "filename", "randseed", "runtime", "ramp_time"} | {
    "time_based",
    "norandommap",
}
_PRINTED = {"name", "group_reporting", "output-format"}
_KNOWN_OPTIONS = _FOLLOWED | _SAME_EVERYWHERE | _PRINTED
"""Options of recorded fio jobs: those that the model follows, that all recordings share, or that change no I/O."""

_FIELD = re.compile(r"([\w-]+)(?:=(\S+))?")
_UNITS = {"k": 1024, "m": MIB, "g": 1024 * MIB}


class Rates(NamedTuple):
    """I/Os per second of reads and of writes."""

    read: float
    write: float


@dataclass(frozen=True, slots=True)
class Job:
    """A fio job: direct I/O with libaio."""

    size: int
    depth: int
    read_share: float
    sequential: bool
    threads: int = 1
    increment: float = 0.0
    region: int = 4096 * MIB
    """The `size` of the job (bytes): where its offsets are."""


@dataclass(frozen=True, slots=True)
class Case:
    """One recorded job on one array, and the rates it had."""

    name: str
    kernel: KernelSpec
    member: Member
    array: RecordedArray
    job: Job
    recorded: Rates
    spread: float
    lasting_s: float = RECORDED_S
    """How long it was recorded (s)."""
    before: Job | None = None
    """What was recorded just before on the same array, if that wrote."""
    ios: int = 0
    members: tuple[tuple[float, ...], ...] = ()
    """I/Os of the job, and [reads, KiB, writes, KiB, flushes] of each member meanwhile; empty if that was not
    recorded."""
    after: tuple[tuple[float, ...], ...] = ()
    """What each member was sent afterwards; empty if that was not recorded."""


def cases(file: TruthFile, not_checked: list[NotChecked] | None = None) -> Iterator[Case]:
    """The cases of a truth file: a table of jobs and arrays, or a list of runs.

    Parameters
    ----------
    file
        The recording.
    not_checked
        Takes the cases that are not supported.
    """
    content = file.content
    skipped = [] if not_checked is None else not_checked
    try:
        known = recorded_kernel(file)
    except NotSupported as error:
        count = sum(map(len, content["results"].values())) if "results" in content else len(content["runs"])
        skipped.append(NotChecked(file.path.name, "", f"{error.found}; {error.expected}", count))
        return
    if "results" in content:
        yield from _table(file, known, skipped)
    elif "chunk_kib" in content:
        yield from _stripe_cache_runs(file, known)
    else:
        yield from _throttling_runs(content, known)


def _table(file: TruthFile, known: KernelSpec, skipped: list[NotChecked]) -> Iterator[Case]:
    content = file.content
    try:
        member = _known_member(content)
    except NotSupported as error:
        count = sum(map(len, content["results"].values()))
        skipped.append(NotChecked(file.path.name, "", f"{error.found}; {error.expected}", count))
        return
    for name, results in content["results"].items():
        before = None
        for job, result in results.items():
            try:
                array = recorded_array(name, content["arrays"][name])
                fio = _job(f"{content.get('fio_global', '')} {content['fio_jobs'][job]}")
                rates = _rates(result)
                run = result["runs"][0]
            except NotSupported as error:
                skipped.append(NotChecked(file.path.name, f"{name} {job}", f"{error.found}; {error.expected}"))
                continue
            yield Case(
                f"{name} {job}",
                known,
                member,
                array,
                fio,
                rates,
                max(result.get("read_spread_pct", 0.0), result.get("write_spread_pct", 0.0)) / 100,
                lasting_s=content["member"].get("runtime_s", RECORDED_S),
                before=_writing(before),
                ios=sum(run[what].get("ios", 0) for what in ("read", "write") if what in run),
                members=tuple(map(tuple, run.get("members", ()))),
                after=tuple(map(tuple, run.get("members_after", ()))),
            )
            before = fio


_MEMBER_FIELDS = {
    *("device", "completion_nsec", "hw_queue_depth", "rotational", "runtime_s", "scheduler", "nr_requests"),
    *("wbt_lat_usec", "max_sectors", "max_sectors_kb", "size_MiB", "mbps", "note"),
}
"""What is known of a recorded member; `max_sectors` says the same as `max_sectors_kb`."""

_SCHEDULERS = ("none", "mq-deadline")


def _known_member(content: Mapping[str, Any]) -> Member:
    """The members of a recording, unless they have something that the model's do not."""
    member = content["member"]
    unknown = sorted(member.keys() - _MEMBER_FIELDS)
    if unknown:
        raise NotSupported("field member", f"members with {unknown[0]}", f"expected: {', '.join(_MEMBER_FIELDS)}")
    if member.get("mbps"):
        raise NotSupported("field member", f"members of {member['mbps']} MB/s", "expected: members without a rate")
    scheduler = member.get("scheduler", "none")
    if scheduler not in _SCHEDULERS:
        raise NotSupported("field member", f"the scheduler {scheduler}", f"expected: {', '.join(_SCHEDULERS)}")
    if str(content.get("created", "")).startswith("dm-raid"):
        raise NotSupported("field created", "dm-raid (LVM)", "expected: an array of mdadm's or sysfs's")
    return Member.recorded(member)


def _rates(result: Mapping[str, Any]) -> Rates:
    rates = Rates(result.get("read_iops_mean", 0.0), result.get("write_iops_mean", 0.0))
    if not any(rates):
        raise NotSupported("field results", "no rate was recorded", "expected: read_iops_mean or write_iops_mean")
    return rates


def recorded_array(name: str, array: Any) -> RecordedArray:
    """The array called `name` in a recording: what mdadm was told, and what was done to it before the jobs.

    Raises
    ------
    NotSupported
        If anything of that is not modeled, or not known.
    """
    if isinstance(array, str):
        return RecordedArray("single", 1)
    if array["level"] not in LEVELS:
        raise NotSupported("field arrays", f"level {array['level']!r}", f"expected: {', '.join(LEVELS)}")
    extra = Extra.read(f"array {name}", array)
    return RecordedArray(
        array["level"],
        array["members"],
        array["chunk_bytes"] or 65_536,
        algorithm_of(array["level"], array["md_layout"]),
        heads=extra.heads,
        failed=extra.faulty,
        bitmap_bytes=extra.bitmap_bytes if "bitmap" in array else 0,
        clean="bitmap" in array,
        workers=extra.workers,
        write_mostly=extra.write_mostly,
        journal=extra.journal,
    )


def _job(text: str) -> Job:
    fields = dict(_FIELD.findall(text))
    unknown = sorted(fields.keys() - _KNOWN_OPTIONS)
    if unknown:
        raise NotSupported(
            "field fio_jobs", f"the option {unknown[0]}", f"expected: {', '.join(sorted(_KNOWN_OPTIONS))}"
        )
    pattern = fields.get("rw", "read")
    shares = {"read": 1.0, "write": 0.0, "rw": int(fields.get("rwmixread", "50")) / 100}
    kind = pattern.removeprefix("rand")
    if kind not in shares:
        raise NotSupported("field fio_jobs", f"rw={pattern}", "expected: read, write, rw, and with rand before it")
    return Job(
        size=_size(fields.get("bs", "4k")),
        depth=int(fields.get("iodepth", "1")),
        read_share=shares[kind],
        sequential=not pattern.startswith("rand"),
        threads=int(fields.get("numjobs", "1")),
        increment=int(fields.get("offset_increment", "0%").removesuffix("%")) / 100,
        region=_size(fields.get("size", "4g")),
    )


def _size(text: str) -> int:
    return int(text[:-1]) * _UNITS[text[-1]] if text[-1] in _UNITS else int(text)


def _writing(job: Job | None) -> Job | None:
    return job if job is not None and job.read_share < 1 else None


def _throttling_runs(content: Mapping[str, Any], known: KernelSpec) -> Iterator[Case]:
    before = previous = None
    for run in content["runs"]:
        member = _member_32_tags(run["member_latency_ns"] * 1e-9, run["wbt_lat_usec"] * 1e-6)
        array = RecordedArray(run["level"], run["n"], algorithm="n2" if run["level"] == "raid10" else None)
        job = _job(f"rw={run['rw']} bs=4k iodepth={run['iodepth']} rwmixread=70")
        name = (
            f"{run['member_latency_ns'] / 1e6:g} ms wbt {run['wbt_lat_usec']} {run['level']} "
            f"{run['rw']} q{run['iodepth']}"
        )
        if previous != (member, array):
            before, previous = None, (member, array)
        yield Case(name, known, member, array, job, Rates(run["read_iops"], run["write_iops"]), 0.0, before=before)
        before = job


def _stripe_cache_runs(file: TruthFile, known: KernelSpec) -> Iterator[Case]:
    content = file.content
    said = re.search(r"null_blk (\d+) ms, .*wbt_lat_usec (\d+)", content["member"])
    if said is None:
        raise InputError(
            f"{file.path.name}, field member", content["member"], 'expected: "null_blk N ms, ... wbt_lat_usec N"'
        )
    member = _member_32_tags(int(said[1]) * 1e-3, int(said[2]) * 1e-6)
    before = None
    grown: dict[tuple[str, int], int] = {}
    for run in content["runs"]:
        level, _, count = run["array"].partition("_n")
        heads = run["stripe_cache_size"]
        # The array stays the same from load to load, and with it what its cache has grown to.
        seen = grown.get((run["array"], heads), 0)
        grown[run["array"], heads] = max(seen, run["stripe_cache_active_max"])
        array = RecordedArray(level, int(count), content["chunk_kib"] * 1024, heads=heads, grown=seen)
        job = _job(run["cmd"].removeprefix("fio ").replace("--", " "))
        name = f"stripe_cache_size {run['stripe_cache_size']} {run['array']} {run['workload']}"
        yield Case(name, known, member, array, job, Rates(0.0, run["write_iops"]), 0.0, before=before)
        before = job


def _member_32_tags(service_s: float, target_s: float) -> Member:
    return Member(service_s, 32, 1_310_720, False, 0, target_s, 4096 * MIB)
