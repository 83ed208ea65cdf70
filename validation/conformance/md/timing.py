"""How fast the model is beside real md arrays in a virtual machine whose clock counts instructions.

Each case is one fio job on one array over members of known service time. A case matches when the IOPS of reads and of
writes are within 10 % of the recorded ones, or within the recorded spread where that is larger: where merging decides
and the service time ignores the size, the real array itself varies with the offsets.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, NamedTuple

from ....model.core.errors import InputError
from ....model.core.exact_sums import sum_in_order
from ....model.kernels import KernelSpec
from ....model.loads.direct_load import ClosedLoad
from ..base import KindResult, NotChecked, NotSupported, Progress, TruthFile
from .bitmap import after_difference, probe_difference
from .kernels import recorded_kernel
from .mdadm import LEVELS, bitmap_chunk
from .vm_member import (
    BYTE_S,
    HUGE_PAGE,
    HUGE_PAGE_BYTE_S,
    IO_S,
    MIB,
    Member,
    RecordedArray,
    VirtualMachine,
    algorithm_of,
    build,
    is_calibrated,
)

TOLERANCE = 0.10
WARM_UP_S = 0.1
RECORDED_S = 2.0
"""How long the recordings ran after the warm-up."""

BEFORE_S = 0.4
"""So long (s) the job before is run where it matters: write-back throttling starts where that has left it."""

PAUSE_S = 0.1
"""Between two jobs (s); not recorded."""

ENOUGH_IOS = 800
"""So many I/Os (or bytes) say the rate to a few percent; the model stops then, unless throttling still changes."""

ENOUGH_BYTES = 64 * MIB

ENOUGH_TURNS = 12
"""At least so many times what is outstanding: it may come in bursts."""

STEADY_S = 0.3
"""Throttling that has not changed for so long (s) will not."""

_SLICE_S = 0.01
_FOLLOWED = {"rw", "bs", "iodepth", "rwmixread", "numjobs", "offset_increment", "size"}
_SAME_EVERYWHERE = {"direct", "ioengine", "thread", "filename", "randseed", "runtime", "ramp_time"}
_PRINTED = {"name", "group_reporting", "output-format"}
_KNOWN_OPTIONS = _FOLLOWED | _SAME_EVERYWHERE | _PRINTED
"""Options of recorded fio jobs: those that the model follows, that all recordings share, or that change no I/O."""

_FIELD = re.compile(r"([\w-]+)=(\S+)")
_UNITS = {"k": 1024, "m": MIB, "g": 1024 * MIB}


class Rates(NamedTuple):
    """I/Os per second of reads and of writes."""

    read: float
    write: float


_NONE = Rates(0.0, 0.0)


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
    warm_up_s: float = WARM_UP_S
    before: Job | None = None
    """What was recorded just before on the same array, if that wrote."""
    lasting_s: float | None = None
    """How long it was recorded (s) if all of that counts, as where new bits of a bitmap become rare on the way; None if
    a part of the run gives the rate."""
    after: tuple[tuple[float, ...], ...] = ()
    """What each member was sent afterwards; empty if that was not recorded."""


def check(files: Sequence[TruthFile], progress: Progress) -> KindResult:
    """Run every recorded job on the model and compare the rates."""
    result = KindResult("timing")
    fitted = matched = 0
    errors: list[float] = []
    for file in files:
        for case in cases(file, result.not_checked):
            progress(f"{file.path.stem} {case.name}")
            machine, predicted = play(case)
            found = difference(case, predicted)
            if case.after and not found:
                found = after_difference(machine, bool(case.array.bitmap_bytes), case.after)
            result.record(file.path.name, case.name, found)
            if is_calibrated(file.path.name, case.name):
                fitted += 1
                matched += not found
            else:
                errors += [
                    abs(model / recorded - 1)
                    for recorded, model in zip(case.recorded, predicted, strict=True)
                    if recorded
                ]
        for name in file.content.get("probe", {}):
            progress(f"{file.path.stem} {name} probe")
            try:
                known, array = recorded_kernel(file), _recorded_array(name, file.content["arrays"][name])
            except NotSupported as error:
                result.not_checked.append(
                    NotChecked(file.path.name, f"{name} probe", f"{error.found}; {error.allowed}")
                )
                continue
            found = probe_difference(file.path.name, known, file.content, name, array)
            result.record(file.path.name, f"{name} probe", found)
    if errors:
        result.notes.append(
            f"{len(errors)} predicted rates: median error {100 * median(errors):.1f} %, nine of ten within "
            f"{100 * sorted(errors)[math.ceil(0.9 * len(errors)) - 1]:.0f} %"
        )
    if fitted:
        result.notes.append(
            f"{fitted} of the cases ({matched} of which match) are no predictions: the CPU prices of the recorded "
            "machine are fitted to some of them (every member without md, and four cases of arrays)"
        )
    return result


def difference(case: Case, predicted: Rates) -> str:
    """What differs; "" if the rates match."""
    allowed = max(TOLERANCE, case.spread)
    parts = []
    for what, recorded, model in (
        ("read", case.recorded.read, predicted.read),
        ("write", case.recorded.write, predicted.write),
    ):
        if recorded and abs(model / recorded - 1) > allowed:
            parts.append(
                f"{what} recorded {recorded:,.0f} IOPS, model {model:,.0f} ({model / recorded:.2f}, "
                f"allowed {1 - allowed:.2f}-{1 + allowed:.2f})"
            )
    return "; ".join(parts)


def predict(case: Case) -> Rates:
    """What the model gives."""
    return play(case)[1]


def play(case: Case) -> tuple[VirtualMachine, Rates]:
    """What the model gives, and the machine as the job leaves it."""
    machine = build(case.kernel, case.member, case.array)
    engine = machine.engine
    if case.before is not None and machine.throttled and case.job.read_share < 1:
        loads = list(_loads(machine, case.before, "before"))
        engine.run(until=BEFORE_S)
        for load in loads:
            load.stop()
        engine.run(until=BEFORE_S + PAUSE_S)
    loads = list(_loads(machine, case.job))
    if case.lasting_s is not None:
        return machine, _measure_all(machine, loads, case.lasting_s)
    _warm_up(case, machine, loads)
    for load in loads:
        load.start_statistics(engine.now)
    return machine, _measure(machine, loads)


def _measure_all(machine: VirtualMachine, loads: Sequence[ClosedLoad], lasting_s: float) -> Rates:
    """The rates over the whole time of the recording. It has no warm-up: md counted as many I/Os in all as fio did."""
    engine = machine.engine
    engine.run(until=engine.now + lasting_s)
    for load in loads:
        load.stop()
    while any(load.outstanding for load in loads):
        engine.step()
    done = _done(loads)
    return Rates(done.read / engine.now, done.write / engine.now)


def _measure(machine: VirtualMachine, loads: Sequence[ClosedLoad]) -> Rates:
    """The rates over the time of the recording, whose end is taken to be like what came before once that is steady."""
    engine, throttles = machine.engine, machine.throttles if machine.throttled and loads[0].read_share < 1 else []
    begin = since = engine.now
    before, steps = _done(loads), [throttle.step for throttle in throttles]
    while engine.now < begin + RECORDED_S:
        engine.run(until=min(engine.now + _SLICE_S, begin + RECORDED_S))
        now = [throttle.step for throttle in throttles]
        if now != steps:
            since, before, steps = engine.now, _done(loads), now
        elif _enough(loads, 1.0, before) and (not throttles or engine.now - since >= STEADY_S):
            break
    done, lasting = _done(loads), engine.now - since
    left = (begin + RECORDED_S - engine.now) / lasting if lasting else 0.0
    rate = (sum_in_order(done) + left * (sum_in_order(done) - sum_in_order(before))) / RECORDED_S
    share = loads[0].read_share  # of many I/Os; that of a few is a matter of chance
    return Rates(rate * share, rate * (1.0 - share))


def _done(loads: Sequence[ClosedLoad]) -> Rates:
    return Rates(sum(load.reads for load in loads), sum(load.writes for load in loads))


def _warm_up(case: Case, machine: VirtualMachine, loads: Sequence[ClosedLoad]) -> None:
    """Get going; with throttling as long as the recording did, because that changes what it has come to."""
    engine = machine.engine
    end = engine.now + case.warm_up_s
    while engine.now < end:
        engine.run(until=min(engine.now + _SLICE_S, end))
        if not machine.throttled and _enough(loads, 0.25):
            return


def _enough(loads: Sequence[ClosedLoad], share: float, before: Rates = _NONE) -> bool:
    """Whether enough has been done since `before`, or a share of that."""
    done = sum_in_order(_done(loads)) - sum_in_order(before)
    least = max(share * ENOUGH_IOS / 5, share * ENOUGH_TURNS * sum(load.depth for load in loads))
    return done >= max(share * ENOUGH_IOS, least) or (done >= least and done * loads[0].size >= share * ENOUGH_BYTES)


def _loads(machine: VirtualMachine, job: Job, name: str = "fio") -> Iterator[ClosedLoad]:
    capacity = machine.device.capacity
    for thread in range(job.threads):
        start = int(thread * job.increment * capacity) // 4096 * 4096
        seconds = IO_S + job.size * (HUGE_PAGE_BYTE_S if job.size * job.depth >= HUGE_PAGE else BYTE_S)
        yield ClosedLoad(
            machine.engine,
            machine.file,
            size=job.size,
            depth=job.depth,
            read_share=job.read_share,
            sequential=job.sequential,
            start=start,
            span=min(job.region, capacity - start),
            issuer=thread,
            name=f"{name} {thread}",
            submit_s=0.6 * seconds,
            complete_s=0.4 * seconds,
            cpu=machine.cpu,
        )


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
        skipped.append(NotChecked(file.path.name, "", f"{error.found}; {error.allowed}", count))
        return
    if "results" in content:
        yield from _table(file, known, skipped)
    elif "chunk_kib" in content:
        yield from _stripe_cache_runs(file, known)
    else:
        yield from _throttling_runs(content, known)


def _table(file: TruthFile, known: KernelSpec, skipped: list[NotChecked]) -> Iterator[Case]:
    content = file.content
    member = Member.recorded(content["member"])
    for name, results in content["results"].items():
        before = None
        for job, result in results.items():
            try:
                array = _recorded_array(name, content["arrays"][name])
                fio = _job(content["fio_jobs"][job])
                rates = _rates(result)
            except NotSupported as error:
                skipped.append(NotChecked(file.path.name, f"{name} {job}", f"{error.found}; {error.allowed}"))
                continue
            yield Case(
                f"{name} {job}",
                known,
                member,
                array,
                fio,
                rates,
                max(result.get("read_spread_pct", 0.0), result.get("write_spread_pct", 0.0)) / 100,
                before=_writing(before),
                lasting_s=content["member"]["runtime_s"] if array.clean else None,
                after=tuple(map(tuple, result["runs"][0].get("members_after", ()))),
            )
            before = fio


def _rates(result: Mapping[str, Any]) -> Rates:
    rates = Rates(result.get("read_iops_mean", 0.0), result.get("write_iops_mean", 0.0))
    if not any(rates):
        raise NotSupported("field results", "no rate was recorded", "allowed: read_iops_mean or write_iops_mean")
    return rates


def _recorded_array(name: str, array: Any) -> RecordedArray:
    if isinstance(array, str):
        return RecordedArray("single", 1)
    extra = array.get("extra", "")
    if array["level"] not in LEVELS:
        raise NotSupported("field arrays", f"level {array['level']!r}", f"allowed: {', '.join(LEVELS)}")
    heads = re.search(r"echo (\d+) > \S*stripe_cache_size", extra)
    faulty = re.findall(r"echo faulty > \S*nullb(\d+)/state", extra)
    return RecordedArray(
        array["level"],
        array["members"],
        array["chunk_bytes"] or 65_536,
        algorithm_of(array["level"], array["md_layout"]),
        int(heads[1]) if heads else 256,
        frozenset(map(int, faulty)),
        bitmap_chunk(f"array {name}, field extra", extra) or 0 if "bitmap" in array else 0,
        "bitmap" in array,
    )


def _job(text: str) -> Job:
    fields = dict(_FIELD.findall(text))
    unknown = sorted(fields.keys() - _KNOWN_OPTIONS)
    if unknown:
        raise NotSupported(
            "field fio_jobs", f"the option {unknown[0]}", f"allowed: {', '.join(sorted(_KNOWN_OPTIONS))}"
        )
    pattern = fields.get("rw", "read")
    shares = {"read": 1.0, "write": 0.0, "rw": int(fields.get("rwmixread", "50")) / 100}
    kind = pattern.removeprefix("rand")
    if kind not in shares:
        raise NotSupported("field fio_jobs", f"rw={pattern}", "allowed: read, write, rw, and with rand before it")
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
        yield Case(name, known, member, array, job, Rates(run["read_iops"], run["write_iops"]), 0.0, 0.0, before)
        before = job


def _stripe_cache_runs(file: TruthFile, known: KernelSpec) -> Iterator[Case]:
    content = file.content
    said = re.search(r"null_blk (\d+) ms, .*wbt_lat_usec (\d+)", content["member"])
    if said is None:
        raise InputError(
            f"{file.path.name}, field member", content["member"], 'allowed: "null_blk N ms, ... wbt_lat_usec N"'
        )
    member = _member_32_tags(int(said[1]) * 1e-3, int(said[2]) * 1e-6)
    before = None
    for run in content["runs"]:
        level, _, count = run["array"].partition("_n")
        array = RecordedArray(level, int(count), content["chunk_kib"] * 1024, heads=run["stripe_cache_size"])
        job = _job(run["cmd"].replace("--", " "))
        name = f"stripe_cache_size {run['stripe_cache_size']} {run['array']} {run['workload']}"
        yield Case(name, known, member, array, job, Rates(0.0, run["write_iops"]), 0.0, 0.0, before)
        before = job


def _member_32_tags(service_s: float, target_s: float) -> Member:
    return Member(service_s, 32, 1_310_720, False, 0, target_s, 4096 * MIB)
