"""Conformance of resync: speeds under limits and loads, and request sizes.

Compared for members of a known service time (serial1ms64k): what a member moved a second, read and written, foreground
included, mean of the members that moved anything (`member_KBs`), within 20 %; the difference also shows md's own speed
and the foreground's IOPS. Compared for ssd100us, whose recorded speeds are those of the virtual CPU: the size that
carries most bytes, within the range of the sizes recorded for the member. Runs that carry neither (`mismatch_cnt`,
recoveries without recorded sizes on ssd100us) are not checked. The recorded machine has one CPU, on which md's threads
allocate, clear and compare pages while a request holds its member's only tag. What that takes is read off ssd100us,
whose checks only the CPU limits (below); the speeds of serial1ms64k, and all shares under load, are predictions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ....model.block.kernel_thread import KernelThread
from ....model.block.multi_queue import BlkMqQueue
from ....model.core.device import Device
from ....model.core.engine import Engine
from ....model.core.exact_sums import sum_in_order
from ....model.core.fixed_service import FixedServiceDevice, linear_service
from ....model.core.request import Request
from ....model.kernels import KernelSpec
from ....model.layouts import ParityLayout, Raid10Layout, layout_for
from ....model.loads.closed_load import ClosedLoad
from ....model.loads.direct_load import DirectLoad
from ....model.loads.open_load import OpenLoad
from ....model.raid.mirrors.mirror import MirrorArray
from ....model.raid.mirrors.raid10 import Raid10Array
from ....model.raid.parity.array import ParityArray
from ....model.raid.resync.thread import Resync, ResyncSettings
from ....model.tasks.cpu import Cpu
from ....model.tasks.host import Host
from ..base import KindResult, NotSupported, Progress, TruthFile
from . import vm_member
from .kernels import raid1_array, raid10_array, recorded_kernel
from .vm_member import IO_S, LATENCY_S

TOLERANCE = 0.2
KIB = 1024
SECTOR = 512
CHUNK = 64 * KIB
WINDOW = 128 * KIB
NAP_S = 0.5
TICK_S = 0.006
"""One jiffy of 4 ms, which the timer wheel makes one to two."""
STRIPE = 4 * KIB
SEGMENTS = 128
"""Pieces of memory in a request (BLK_MAX_SEGMENTS): the pages of stripe heads do not lie side by side."""
MOST_STRIPES = 1 << 15
"""What memory allows the stripe cache to grow to."""
RAID1_DEPTH, RAID10_DEPTH = 31, 511
"""RESYNC_DEPTH, of which raise_barrier lets one less begin: 32 in raid1.c, 32 MiB of requests of 64 KiB in raid10.c."""
WARM_UP_S = 0.5
"""The recording begins half a second after the resync, as its first sync_speed says."""
MEASURED_S = 2.0
SLOW_KIB_S = 50_000
"""A limit below this needs as long a run as was recorded."""

COMPARE_S_PER_BYTE = 0.88e-9
"""memcmp: seven instructions for eight bytes (lib/string.c)."""

BUFFER_PAGE_S = 4.1e-6
"""ssd100us: a block of 64 KiB of a check takes 0.529 ms on RAID 1 of two, which allocates pages for four mirrors, and
0.398 ms on RAID 10 of two copies, which allocates half as many: 0.131 ms for 32 pages."""

MEMORY_BYTE_S = 1.5e-9
"""null_blk's copy of a byte from or to its memory (s): what is left of the 0.398 ms, for two members."""

PRICES = replace(vm_member.PRICES, compare_s_per_byte=COMPARE_S_PER_BYTE, buffer_page_s=BUFFER_PAGE_S)
SUBMIT_S, COMPLETE_S = 0.6 * IO_S, 0.4 * IO_S

_NAME = re.compile(r"(?P<member>\w+)\.(?P<level>raid\d+)(?P<algorithm>[a-z]\d)?_n(?P<members>\d+)\.(?P<run>\w+)")
_RUN = re.compile(r"(check|repair|recover)(_|$)")
_LIMITS = re.compile(r"check_(?:(?P<which>min|max)(?P<kib>\d+)|unlimited)(?:_(?P<load>\w+))?")


@dataclass(frozen=True, slots=True)
class _MemberKind:
    """A recorded null_blk: seconds a request, tags, largest request, size (bytes), CPU time a byte (s)."""

    service_s: float
    tags: int
    largest: int
    capacity: int
    byte_s: float


_MEMBERS = {
    "serial1ms64k": _MemberKind(0.001, 1, 64 * KIB, 4 << 30, 0.0),
    "ssd100us": _MemberKind(0.0001, 32, 1280 * KIB, 256 << 20, MEMORY_BYTE_S),
}


class _Member(FixedServiceDevice):
    """A member that counts the sizes of its requests, and copies them from or to memory if it is made of that."""

    __slots__ = ("_byte_s", "_cpu", "sizes")

    def __init__(self, engine: Engine, cpu: Cpu, name: str, kind: _MemberKind) -> None:
        super().__init__(engine, name, kind.capacity, linear_service(kind.service_s + LATENCY_S), kind.tags)
        self._cpu = cpu
        self._byte_s = kind.byte_s
        self.sizes: Counter[int] = Counter()

    def submit(self, request: Request) -> None:
        size: int = request.size
        self.sizes[size // SECTOR] += 1
        if self._byte_s:
            self._cpu.interrupt(self._byte_s * size)
        super().submit(request)


class _Bench:
    """An array of recorded members with a resync thread of the kernel `known`."""

    def __init__(self, place: str, name: str, known: KernelSpec) -> None:
        words = _NAME.fullmatch(name)
        if words is None or words["member"] not in _MEMBERS:
            raise NotSupported(
                place, f"run {name!r}", f"expected: MEMBER.ARRAY.RUN with a member of {', '.join(_MEMBERS)}"
            )
        self.run = words["run"]
        if not _RUN.match(self.run):
            raise NotSupported(
                place, f"run {name!r}", "expected: check, repair and recover, with what was said of them"
            )
        kind = _MEMBERS[words["member"]]
        count, level = int(words["members"]), words["level"]
        self.engine = Engine()
        cpu = Cpu(self.engine)
        host = Host(cpu, PRICES)
        self.cpu = cpu
        self.members = [_Member(self.engine, cpu, f"d{slot}", kind) for slot in range(count)]
        parity = level in ("raid4", "raid5", "raid6")
        largest = min(kind.largest, SEGMENTS * STRIPE) if parity else kind.largest
        queues = [
            BlkMqQueue(self.engine, host, member, depth=kind.tags, max_request_bytes=largest) for member in self.members
        ]
        failed = [count - 1] if self.run == "recover" else []
        self.array = array = self._array(known, level, host, queues, words["algorithm"], kind, failed)
        for slot in failed:
            array.rebuild_onto(slot)
        thread = KernelThread(self.engine, array.members, host)
        limits = _LIMITS.match(self.run)
        self.load_name = (limits["load"] or "") if limits else ""
        speed_min, self.speed_max = 1000, 2_000_000
        if limits and limits["which"] == "max":
            self.speed_max = int(limits["kib"])
        elif limits and limits["which"] == "min":
            speed_min, self.speed_max = int(limits["kib"]), 200_000
        settings = ResyncSettings(
            speed_min=speed_min * KIB,
            speed_max=self.speed_max * KIB,
            request_bytes=STRIPE if parity else CHUNK,
            window_bytes=WINDOW,
            depth=MOST_STRIPES if parity else RAID10_DEPTH if level == "raid10" else RAID1_DEPTH,
            nap_s=NAP_S,
            when_busy="drain",
            resume_delay_s=TICK_S if parity else 0.0,
        )
        self.resync = Resync(
            self.engine,
            array,
            settings,
            warm=False,
            action="recover" if failed else "check",
            thread=thread,
        )
        self.engine.spawn(self.resync.run())

    def _array(
        self,
        known: KernelSpec,
        level: str,
        host: Host,
        queues: list[BlkMqQueue],
        algorithm: str | None,
        kind: _MemberKind,
        failed: list[int],
    ) -> MirrorArray | Raid10Array | ParityArray:
        engine, turns = self.engine, [kind.tags == 1] * len(queues)
        if level == "raid1":
            return raid1_array(known, engine, queues, turns, host, failed)
        layout = layout_for(level, len(queues), CHUNK, [kind.capacity] * len(queues), algorithm)
        if isinstance(layout, Raid10Layout):
            return raid10_array(known, engine, queues, layout, turns, host, failed)
        assert isinstance(layout, ParityLayout)
        return ParityArray(engine, "md0", queues, layout, known.raid5, host, failed)

    def load(self, place: str) -> DirectLoad | None:
        """The foreground fio job of the run's name."""
        return foreground(place, self.load_name, self.engine, self.array, self.cpu)


def foreground(place: str, name: str, engine: Engine, array: Device, cpu: Cpu) -> DirectLoad | None:
    """The fio job that a recording calls by `name`; None for ""."""
    if not name:
        return None
    rate = re.fullmatch(r"rate(\d+)iops", name)
    if rate:
        return OpenLoad(engine, array, size=4 * KIB, iops=int(rate[1]), poisson=False, issuer=1, name="fio")
    job = re.fullmatch(r"(rand|seq)(read|write)(\d+)k_q(\d+)", name)
    if job is None:
        raise NotSupported(place, f"load {name!r}", "expected: randread4k_q16 and the like, rate50iops")
    return ClosedLoad(
        engine,
        array,
        size=int(job[3]) * KIB,
        depth=int(job[4]),
        read_share=1.0 if job[2] == "read" else 0.0,
        sequential=job[1] == "seq",
        issuer=1,
        name="fio",
        submit_s=SUBMIT_S,
        complete_s=COMPLETE_S,
        cpu=cpu,
    )


def check(files: Sequence[TruthFile], progress: Progress) -> KindResult:
    """Run every recorded check, repair and recovery on the model."""
    result = KindResult("resync")
    for file in files:
        for run in file.content["runs"]:
            name = str(run["name"])
            place = f"{file.path.name}, run {name}"
            serial = name.startswith("serial1ms64k")
            if not (run.get("member_KBs") if serial else run.get("member_request_sectors")):
                result.skip(file.path.name, name, "neither rates nor request sizes of the members were recorded")
                continue
            progress(name)
            result.compare(file.path.name, name, partial(_difference, file, place, run, serial))
    return result


def _difference(file: TruthFile, place: str, run: Mapping[str, Any], serial: bool) -> str:
    bench = _Bench(place, str(run["name"]), recorded_kernel(file))
    return _speed_difference(place, bench, run) if serial else _size_difference(bench, run)


def _speed_difference(place: str, bench: _Bench, run: Mapping[str, Any]) -> str:
    load = bench.load(place)
    engine, members, resync = bench.engine, bench.members, bench.resync
    engine.run(until=WARM_UP_S)
    if load is not None:
        load.start_statistics(engine.now)
    began, done = engine.now, resync.done_bytes
    for member in members:
        member.start_statistics(began)
    seconds = float(run["seconds"]) if bench.speed_max < SLOW_KIB_S else MEASURED_S
    engine.run(until=began + seconds)
    recorded = _mean(sum_in_order(pair) for pair in run["member_KBs"].values())
    model = _mean((member.read_bytes + member.write_bytes) / seconds / KIB for member in members)
    if abs(model - recorded) <= TOLERANCE * recorded:
        return ""
    text = f"KiB/s of a member: {recorded:.0f} recorded, {model:.0f} from the model ({model / recorded - 1:+.0%})"
    speed = (resync.done_bytes - done) / seconds / KIB
    text += f"\nmd's speed: {run['md_sync_speed_KBs'][-1]} recorded, {speed:.0f} from the model"
    if load is not None:
        foreground = run["foreground"]
        iops = float(foreground["read_iops"]) + float(foreground["write_iops"])
        text += f"\nforeground IOPS: {iops:.0f} recorded, {(load.reads + load.writes) / seconds:.0f} from the model"
    return text


def _mean(rates: Any) -> float:
    """Of those that are not nothing."""
    moved = [rate for rate in rates if rate]
    return sum_in_order(moved) / len(moved) if moved else 0.0


def _size_difference(bench: _Bench, run: Mapping[str, Any]) -> str:
    bench.engine.run(until=0.1)
    sizes = sum((member.sizes for member in bench.members), Counter[int]())
    recorded = [int(size) for found in run["member_request_sectors"].values() for size in found]
    most = max(sizes, key=lambda size: size * sizes[size])
    if min(recorded) <= most <= max(recorded):
        return ""
    return f"request sectors: {min(recorded)} to {max(recorded)} recorded, most bytes in {most} from the model"
