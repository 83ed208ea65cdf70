"""Rates of the model compared with real md arrays in a virtual machine whose clock counts instructions.

Each case is one fio job on one array over members of known service time. A case matches when the IOPS of reads and of
writes are within 10 % of the recorded ones, or within the recorded spread where that is larger: where merging decides
and the service time ignores the size, the real array itself varies with the offsets. Where the members' requests were
counted, there have to be as many of them for each I/O, and on the same members.
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
    VirtualMachine,
    build,
    is_calibrated,
)

TOLERANCE = 0.10

SHARE_POINTS = 0.05
"""How far the share of a member's requests may be off, beyond three standard deviations of chance."""

TAKEN_S = 1e-3
"""After the last completion (s): the thread takes what is complete."""

BEFORE_S = 0.4
"""So long (s) the job before is run where it matters: write-back throttling starts where that has left it."""

PAUSE_S = 0.1
"""Between two jobs (s); not recorded."""


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
            found = found or counts_difference(case, machine)
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
    """What differs; "" if the rates match.

    Of a mix the sum is compared: the share of reads of a short run is a matter of chance.
    """
    allowed = max(TOLERANCE, case.spread)
    if all(case.recorded):
        compared = [("sum", sum_in_order(case.recorded), sum_in_order(predicted))]
    else:
        compared = [("read", case.recorded.read, predicted.read), ("write", case.recorded.write, predicted.write)]
    return "; ".join(
        f"{what} recorded {recorded:,.0f} IOPS, model {model:,.0f} ({model / recorded:.2f}, "
        f"allowed {1 - allowed:.2f}-{1 + allowed:.2f})"
        for what, recorded, model in compared
        if recorded and abs(model / recorded - 1) > allowed
    )


def counts_difference(case: Case, machine: VirtualMachine) -> str:
    """What the members were sent otherwise than recorded, from the beginning of the job to its end.

    Compared are the requests of all members for each I/O of the array, reads and writes apart unless the job is a mix,
    and the share of these that each member has.
    """
    if not case.members:
        return ""
    recorded = [[int(counts[0]), int(counts[2])] for counts in case.members]
    model = [[member.reads, member.writes] for member in machine.members]
    kinds = ["requests"] if all(case.recorded) else ["reads", "writes"]
    if len(kinds) == 1:
        recorded, model = [[sum(counts)] for counts in recorded], [[sum(counts)] for counts in model]
    parts = []
    for number, what in enumerate(kinds):
        real, ours = [counts[number] for counts in recorded], [counts[number] for counts in model]
        per_io, model_per_io = sum(real) / case.ios, sum(ours) / machine.ios
        if abs(model_per_io - per_io) > max(max(TOLERANCE, case.spread) * per_io, SHARE_POINTS):
            parts.append(f"{what} of the members for each I/O: {per_io:.2f} recorded, model {model_per_io:.2f}")
        elif sum(real) and sum(ours):
            parts += _shares_difference(what, real, ours)
    return "; ".join(parts)


def _shares_difference(what: str, recorded: Sequence[int], model: Sequence[int]) -> Iterator[str]:
    """The members whose share of all requests is not the recorded one."""
    fewer = min(sum(recorded), sum(model))
    for slot, (real, ours) in enumerate(zip(recorded, model, strict=True)):
        share, found = real / sum(recorded), ours / sum(model)
        chance = 3.0 * math.sqrt(share * (1.0 - share) / fewer)
        if abs(found - share) > SHARE_POINTS + chance:
            yield f"{what} of member {slot}: {100 * share:.0f} % of all recorded, model {100 * found:.0f} %"


def predict(case: Case) -> Rates:
    """What the model gives."""
    return play(case)[1]


def play(case: Case) -> tuple[VirtualMachine, Rates]:
    """What the model gives over the time of the recording, and the machine as the job leaves it.

    The recordings have no warm-up: md counted as many I/Os in all as fio did.
    """
    machine = build(case.kernel, case.member, case.array)
    engine = machine.engine
    if case.before is not None and machine.throttled and case.job.read_share < 1:
        loads = list(_loads(machine, case.before, "before"))
        engine.run(until=BEFORE_S)
        for load in loads:
            load.stop()
        engine.run(until=BEFORE_S + PAUSE_S)
    begin = engine.now
    loads = list(_loads(machine, case.job))
    engine.run(until=begin + case.lasting_s)
    for load in loads:
        load.stop()
    while any(load.outstanding for load in loads):
        engine.step()
    lasting = engine.now - begin
    engine.run(until=engine.now + TAKEN_S)
    machine.ios = sum(load.reads + load.writes for load in loads)
    return machine, Rates(sum(load.reads for load in loads) / lasting, sum(load.writes for load in loads) / lasting)


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
