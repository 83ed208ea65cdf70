"""Conformance of reshape: its rate, the requests at its beginning, and what it reads and writes in all.

These are three cases. What the members moved a second is compared from the second sample on, for as long as the
recording was measured, with the foreground's I/O in it. Of the first requests (`start`) 97 % must be the same by
member, kind, sector and size; in which order and when does not count. Of a run that came to its end each member must
have read and written as much.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from ....model.block.kernel_thread import KernelThread
from ....model.core.exact_sums import sum_in_order
from ....model.core.fixed_service import FixedServiceDevice
from ....model.core.request import READ, Request
from ....model.kernels import KernelSpec
from ....model.layouts import ParityLayout, Raid10Layout, layout_for
from ....model.raid.metadata.superblock import SECTOR, SUPERBLOCK_SECTOR, MetadataWrite
from ....model.raid.mirrors.barrier import RESYNC_BARRIER
from ....model.raid.reshape.geometry import Geometry, refusal_of
from ....model.raid.reshape.parity import ReshapingParityArray
from ....model.raid.reshape.raid10 import BLOCK_BYTES, ReshapingRaid10Array
from ....model.raid.resync.settings import ResyncSettings
from ....model.raid.resync.thread import Resync
from ....model.schedulers import QueuedRequest
from ..base import KindResult, NotSupported, Progress, TruthFile
from ..md.kernels import raid10_array, raid10_section, recorded_kernel
from ..md.resync import KIB, MOST_STRIPES, NAP_S, STRIPE, WINDOW, foreground
from ..md.vm_member import MIB, Member, RecordedArray, algorithm_of, build

SAME_SHARE = 0.97
TOLERANCE = 0.15
WHOLE_TOLERANCE = 0.01
METADATA_KIB = 32.0
"""So much of superblocks, and what mdadm reads, may be missing."""
LONG_S = 60.0
"""Every recorded reshape is over by then."""

MEMBER = Member(
    service_s=1e-3,
    tags=1,
    max_request_bytes=64 * KIB,
    rotational=True,
    scheduler_requests=64,
    target_s=0.0,
    size=72 * MIB,
    in_memory=True,
)
"""serial1ms64k. A whole reshape reads 71 MiB of a member: 72 less the data offset."""

_COUNTS = re.compile(r"_n(\d+)(?:to(\d+))?")
_STATE = re.compile(
    r"layout (?P<layout>\d+)(?: \(\d+\))? chunk (?P<chunk>\d+)(?: \((?P<old_chunk>\d+)\))? disks (?P<disks>\d+)"
    r"(?: \((?P<old_disks>\d+)\))? offsets (?P<old_offset>\d+)/(?P<new_offset>\d+)"
)
"""As sysfs has it: the new value, and the old one in parentheses where it differs."""
_SPEED = re.compile(r"_(min|max)(\d+)")
_LOAD = re.compile(r"((?:rand|seq)(?:read|write)\d+k_q\d+|rate\d+iops)")


class Issued(NamedTuple):
    """A request that a member was sent; `kind` is as in the recording, sectors from the member's beginning."""

    member: int
    kind: str
    sector: int
    sectors: int


class _Member(FixedServiceDevice):
    """A member that writes down what it is sent."""

    __slots__ = ("moved", "sent")

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.sent: list[tuple[float, bool, str, int, int]] = []
        self.moved = [0, 0]

    def submit(self, request: Request) -> None:
        whole = request.parts[0] if isinstance(request, QueuedRequest) else request
        metadata = isinstance(whole, MetadataWrite)
        sector = whole.sector if isinstance(whole, MetadataWrite) else request.offset // SECTOR
        kind = "WSM" if metadata else "R" if request.op == READ else "W"
        self.moved[request.op != READ] += request.size
        self.sent.append((self._engine.now, metadata, kind, sector, request.size // SECTOR))
        super().submit(request)


class Bench:
    """An array of recorded members that begins to be reshaped."""

    def __init__(self, place: str, run: Mapping[str, Any], known: KernelSpec) -> None:
        name = str(run["name"])
        counts, state = _COUNTS.search(name), _STATE.search(str(run["state"]))
        levels = re.findall(r"(?:raid|to|level)(\d+)", name.replace(counts[0], "_") if counts else "")
        if counts is None or state is None or not levels or not name.startswith("serial1ms64k."):
            raise NotSupported(
                place,
                f"run {name!r}, state {run['state']!r}",
                "expected: serial1ms64k.ARRAY.reshape and a state as md's",
            )
        chunk, disks, old_disks = int(state["chunk"]), int(state["disks"]), int(counts[1])
        old_offset, new_offset = int(state["old_offset"]), int(state["new_offset"])
        before, after = f"raid{levels[0]}", f"raid{levels[-1]}"
        if before == after == "raid5" and state["old_disks"] is None and disks == old_disks + 1:
            after = "raid6"  # md first takes it over as a RAID 6 of as many members, whose Q is not there
        member = MEMBER.size - old_offset * SECTOR
        old_algorithm = re.search(r"raid10([no]\d)", name)
        old_chunk = int(state["old_chunk"] or chunk)
        old = layout_for(before, old_disks, old_chunk, member, old_algorithm[1] if old_algorithm else None)
        new = layout_for(after, disks, chunk, member, algorithm_of(after, int(state["layout"])))
        if not isinstance(old, ParityLayout | Raid10Layout) or not isinstance(new, ParityLayout | Raid10Layout):
            raise NotSupported(place, f"{before} to {after}", "expected: RAID 4, 5, 6 and 10")
        if refusal_of(old, new) or new_offset > old_offset:
            raise NotSupported(place, f"{old!r} to {new!r}", "expected: forwards, to no fewer data members")
        geometry = Geometry(old, new, (old_offset - new_offset) * SECTOR, new_offset)
        self.offset = new_offset
        self.old_members = old.members
        machine = build(known, MEMBER, RecordedArray("raid0", disks), member_type=_Member)  # for its members
        engine, cpu, host, queues = machine.engine, machine.cpu, machine.host, machine.queues
        self.engine = engine
        self.members = [queue.device for queue in queues if isinstance(queue.device, _Member)]
        self.array: ReshapingParityArray | ReshapingRaid10Array
        if isinstance(new, ParityLayout):
            step, depth = max(chunk, old_chunk), MOST_STRIPES
            self.array = ReshapingParityArray(engine, "md0", queues, geometry, known.raid5, host, unit_bytes=STRIPE)
        else:
            section = raid10_section(known)
            step, depth = min(chunk, old_chunk, BLOCK_BYTES), section.resync_depth
            self.array = ReshapingRaid10Array(
                engine,
                "md0",
                queues,
                geometry,
                lambda members, layout: raid10_array(known, engine, members, layout, [True] * len(members), host),
                RESYNC_BARRIER[section.barrier],
                depth,
                host,
            )
        self.array.resync_thread = thread = KernelThread(engine, self.array.members, host)
        limits = {which: int(kib) * KIB for which, kib in _SPEED.findall(name)}
        settings = ResyncSettings(
            speed_min=limits.get("min", 1000 * KIB),
            speed_max=limits.get("max", 2_000_000 * KIB),
            request_bytes=step,
            window_bytes=WINDOW,
            depth=depth,
            nap_s=NAP_S,
            when_busy="drain",
        )
        load = _LOAD.search(name)
        self.load = foreground(place, load[1] if load else "", engine, self.array, cpu)
        reshape = Resync(engine, self.array, settings, warm=False, action="reshape", thread=thread, finished=self._then)
        self._resync = partial(Resync, engine, self.array, settings, reshape.total_bytes, False, "resync", None, thread)
        engine.spawn(reshape.run())

    def _then(self) -> None:
        """A RAID 10 that has grown is resynced where it has."""
        if isinstance(self.array, ReshapingRaid10Array):
            self.engine.spawn(self._resync().run())

    def first(self, count: int) -> Counter[Issued]:
        """The first requests, with those before the reshape: mdadm reads the superblocks, and md writes them."""
        everyone, earlier = range(len(self.members)), range(self.old_members)
        requests = [Issued(slot, "RS", SUPERBLOCK_SECTOR, 8) for slot in everyone]
        for group in (earlier, everyone, earlier, everyone):
            requests += [Issued(slot, "WSM", SUPERBLOCK_SECTOR, 1) for slot in group]
        sent = sorted(
            (at, metadata, slot, kind, sector, size)
            for slot, member in enumerate(self.members)
            for at, metadata, kind, sector, size in member.sent
        )
        for _, _, slot, kind, sector, size in sent[: count - len(requests)]:
            requests.append(Issued(slot, kind, sector + self.offset, size))
        return Counter(requests)

    def moved(self) -> float:
        """Bytes that all members have read and written."""
        return sum(sum(member.moved) for member in self.members)


def check(files: Sequence[TruthFile], progress: Progress) -> KindResult:
    """Run every recorded reshape on the model."""
    result = KindResult("reshape")
    for file in files:
        for run in file.content["runs"]:
            name = str(run["name"])
            progress(name)
            cases = {"rate": _rate, "first requests": _first}
            if run["whole"]["finished"]:
                cases["whole"] = _whole
            try:
                bench = Bench(f"{file.path.name}, run {name}", run, recorded_kernel(file))
            except NotSupported as error:
                result.skip(file.path.name, name, error, len(cases))
                continue
            for word, difference in cases.items():
                result.record(file.path.name, f"{name} {word}", difference(bench, run))
    return result


def _rate(bench: Bench, run: Mapping[str, Any]) -> str:
    """From the second sample on: the model's clock begins to count when it has moved as much."""
    samples, engine = run["samples"], bench.engine
    before, seconds = _sectors(samples[1]) - _sectors(samples[0]), float(run["seconds"])
    while bench.moved() < before * SECTOR and engine.now < LONG_S:
        engine.run(until=engine.now + 0.01)
    began = bench.moved()
    engine.run(until=engine.now + seconds)
    model = (bench.moved() - began) / seconds / KIB
    recorded = sum_in_order(sum_in_order(pair) for pair in run["member_KBs"])
    if abs(model - recorded) <= TOLERANCE * recorded:
        return ""
    return f"KiB/s of all members: {recorded:.0f} recorded, {model:.0f} from the model ({model / recorded - 1:+.0%})"


def _sectors(sample: Sequence[Any]) -> int:
    return sum(int(member[1]) + int(member[3]) for member in sample[3])


def _first(bench: Bench, run: Mapping[str, Any]) -> str:
    recorded = Counter(Issued(*request[1:]) for request in run["start"])
    count = recorded.total()
    same = (recorded & bench.first(count)).total()
    if same >= SAME_SHARE * count:
        return ""
    return f"{same} of {count} recorded requests are the model's, too ({same / count:.1%})"


def _whole(bench: Bench, run: Mapping[str, Any]) -> str:
    bench.engine.run(until=LONG_S)
    lines = []
    for slot, (member, delta) in enumerate(zip(bench.members, run["whole"]["member_delta"], strict=True)):
        for number, word in enumerate(("read", "write")):
            recorded, model = float(delta[f"{word}_KiB"]), member.moved[number] / KIB
            if abs(model - recorded) > max(WHOLE_TOLERANCE * recorded, METADATA_KIB):
                lines.append(f"member {slot}, {word}: {recorded:.0f} KiB recorded, {model:.0f} from the model")
    return "\n".join(lines)
