"""Rates of the model compared with real md arrays in a virtual machine whose clock counts instructions.

Each case is one fio job on one array over members of known service time. A case matches when the IOPS of reads and of
writes are within 10 % of the recorded ones, or within the recorded spread where that is larger: where merging decides
and the service time ignores the size, the real array itself varies with the offsets.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import median

from ....model.core.exact_sums import sum_in_order
from ....model.loads.closed_load import ClosedLoad
from ..base import KindResult, NotChecked, NotSupported, Progress, TruthFile
from .bitmap import after_difference, probe_difference
from .kernels import recorded_kernel
from .timing_cases import Case, Job, Rates, cases, recorded_array
from .vm_member import (
    BYTE_S,
    HUGE_PAGE,
    HUGE_PAGE_BYTE_S,
    IO_S,
    MIB,
    VirtualMachine,
    build,
    is_calibrated,
)

TOLERANCE = 0.10
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
_NONE = Rates(0.0, 0.0)


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
                known, array = recorded_kernel(file), recorded_array(name, file.content["arrays"][name])
            except NotSupported as error:
                result.not_checked.append(
                    NotChecked(file.path.name, f"{name} probe", f"{error.found}; {error.expected}")
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
