"""Conformance of rebuilds and checks under a load: the rate of the sync, and what the load gets and waits.

Compared, within 20 %: the rate at which the sync goes on (`sync_KiB_s_each_2s`, the median: fio ends before the
statistics do, and a sync that it held back runs free in the last two seconds), the mean response time of the load's
I/Os and, of a load without a rate of its own, their number a second. The members must be busy for the recorded share
within 15 points and serve as many requests within 30 %; where the load held back the sync, which the free run at the
end shows, they are not compared. The prices of the CPU are those of the other kinds, but for one
(:data:`.machine.SYNC_STRIPE_S`), which is fitted to one case.

Of RAID 4, 5 and 6 the stripe heads that were seen are given, since the cache grows from case to case, and stay as many.
(Within a case hardly any were added: 1,471 to 1,516 in half a minute, where the model makes 900.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any

from ..base import KindResult, NotSupported, Progress, TruthFile
from ..md.kernels import recorded_kernel
from .machine import KIB, Arrivals, Machine
from .member import MemberKind

TOLERANCE = 0.2
BUSY_POINTS = 0.15
REQUESTS = 0.3
RUNS_FREE = 2.0
"""The last period of a sync that its load held back is faster than the others by more than this factor."""
GIB = 1 << 30


def member_kind(member: Mapping[str, Any]) -> MemberKind:
    """The members that a file describes."""
    return MemberKind(
        fixed_s=member["fixed_ns"] * 1e-9,
        byte_s=1 / (member["kibs"] * KIB),
        seek_s=member.get("seek0_ns", 0) * 1e-9,
        stroke_s=member.get("seek1_ns", 0) * 1e-9,
        capacity=int(member["capacity_GiB"]) * GIB,
        holds=int(member["qd"]),
        nearest=bool(member.get("nearest", 0)) or str(member["name"]).endswith("near"),
        scheduler_requests=int(member["nr_requests"]) if "[mq-deadline]" in member["scheduler"] else 0,
        max_request_bytes=int(member["max_sectors_kb"]) * KIB,
        rotational=str(member["rotational"]) == "1",
    )


def check(files: Sequence[TruthFile], progress: Progress) -> KindResult:
    """Run every recorded rebuild and check on the model."""
    result = KindResult("rebuild")
    for file in files:
        for case in file.content["rebuilds"]:
            progress(str(case["name"]))
            result.compare(file.path.name, str(case["name"]), partial(_difference, file, case))
    return result


def _difference(file: TruthFile, case: Mapping[str, Any]) -> str:
    return "\n".join(text for text in compared(file, case) if text)


def compared(file: TruthFile, case: Mapping[str, Any]) -> Iterator[str]:
    """What differs, figure by figure; "" for a figure that does not."""
    content, place = file.content, f"{file.path.name}, {case['name']}"
    if case["array"] not in content["arrays"]:
        raise NotSupported(place, f"array {case['array']!r}", f"expected: {', '.join(content['arrays'])}")
    machine = Machine(
        recorded_kernel(file), member_kind(content["member"]), content["arrays"][case["array"]], case, place
    )
    engine, load = machine.engine, machine.load
    engine.run(until=0.5 + float(content["settle_s"]))
    began = engine.now
    assert machine.resync is not None
    done = machine.resync.done_bytes
    for member in machine.members:
        member.start_statistics()
    if load is not None:
        load.start_statistics(began)
    seconds = float(content["run_s"])
    engine.run(until=began + seconds)
    periods = [float(rate) for rate in case["sync_KiB_s_each_2s"]]
    recorded = median(periods) if periods else float(case["sync_KiB_s"])
    yield _off("sync KiB/s", recorded, (machine.resync.done_bytes - done) / seconds / KIB)
    if load is not None:
        latency = load.read_latency if isinstance(load, Arrivals) or load.reads else load.write_latency
        yield _off("response ms", float(case["fg"]["mean_ms"]), latency.mean * 1e3 if latency.count else 0.0)
        if not isinstance(load, Arrivals):
            yield _off("IOPS", float(case["fg"]["iops"]), (load.reads + load.writes) / seconds)
    if len(periods) < 2 or periods[-1] <= RUNS_FREE * median(periods):
        yield from _members(case, machine, seconds)


def _members(case: Mapping[str, Any], machine: Machine, seconds: float) -> Iterator[str]:
    recorded = list(case["members"].values())
    busy = [float(each["busy"]) for each in recorded]
    ours = [member.busy_s / seconds for member in machine.members]
    if any(abs(one - other) > BUSY_POINTS for one, other in zip(busy, ours, strict=True)):
        yield f"members busy: {_shares(busy)} recorded, {_shares(ours)} from the model"
    lasting = float(case["seconds"])
    requests = sum(each["reads"] + each["writes"] for each in recorded) / lasting
    yield _off("requests/s of all members", requests, sum(m.requests for m in machine.members) / seconds, REQUESTS)


def _shares(shares: Sequence[float]) -> str:
    return ", ".join(f"{share:.0%}" for share in shares)


def _off(what: str, recorded: float, model: float, tolerance: float = TOLERANCE) -> str:
    if abs(model - recorded) <= tolerance * recorded:
        return ""
    return f"{what}: {recorded:,.1f} recorded, {model:,.1f} from the model ({model / recorded - 1:+.0%})"
