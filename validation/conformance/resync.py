"""Conformance of resync: speeds under limits and loads, and request sizes.

Compared for members of a known service time (serial1ms64k): what a member moved a second, read and written, foreground
included, mean of the members that moved anything (`member_KBs`), within 20 %; the difference also shows md's own speed
and the foreground's IOPS. Compared for ssd100us, whose recorded speeds are those of the virtual CPU: the size that
carries most bytes, within the range of the sizes recorded for the member. Runs that carry neither (`mismatch_cnt`,
recoveries without recorded sizes on ssd100us) are not cases. The recorded CPU, which builds and compares the pages of a
check while the member's only tag is held, is not modelled: unlimited checks are faster than recorded for that.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...model.blk_mq import BlkMqQueue
from ...model.closed_load import ClosedLoad, DirectLoad, OpenLoad
from ...model.cpu import Cpu
from ...model.engine import Engine
from ...model.errors import InputError
from ...model.fixed_service import FixedServiceDevice, linear_service
from ...model.host import Host
from ...model.kernel_thread import KernelThread
from ...model.layouts import ParityLayout, Raid10Layout, layout_for
from ...model.mirror_array import MirrorArray
from ...model.parity_array import ParityArray
from ...model.parity_settings import ParitySettings
from ...model.raid10_array import Raid10Array
from ...model.read_balance import Md61, Md61Raid10
from ...model.request import Request
from ...model.resync import Resync, ResyncSettings
from ...model.resync_barrier import BucketBarrier, PausingBarrier
from .base import KindResult, Progress, TruthFile

TOLERANCE = 0.2
KIB = 1024
SECTOR = 512
CHUNK = 64 * KIB
WINDOW = 128 * KIB
NAP_S = 0.5
TICK_S = 0.004
STRIPES = 256
STRIPE = 4 * KIB
RAID1_DEPTH = 31
"""RESYNC_DEPTH 32, of which raise_barrier lets one less begin."""
WARM_UP_S = 0.5
MEASURED_S = 2.0
SLOW_KIB_S = 2000
"""A limit below this needs as long a run as was recorded."""

_NAME = re.compile(r"(?P<member>\w+)\.(?P<level>raid\d+)(?P<algorithm>[a-z]\d)?_n(?P<members>\d+)\.(?P<run>\w+)")
_LIMITS = re.compile(r"check_(?:(?P<which>min|max)(?P<kib>\d+)|unlimited)(?:_(?P<load>\w+))?")


@dataclass(frozen=True, slots=True)
class _MemberKind:
    """A recorded null_blk: seconds a request, tags, largest request and size (bytes)."""

    service_s: float
    tags: int
    largest: int
    capacity: int


_MEMBERS = {
    "serial1ms64k": _MemberKind(0.001, 1, 64 * KIB, 4 << 30),
    "ssd100us": _MemberKind(0.0001, 32, 1280 * KIB, 256 << 20),
}


class _Member(FixedServiceDevice):
    """A member that counts the sizes of its requests."""

    __slots__ = ("sizes",)

    def __init__(self, engine: Engine, name: str, kind: _MemberKind) -> None:
        super().__init__(engine, name, kind.capacity, linear_service(kind.service_s), kind.tags)
        self.sizes: Counter[int] = Counter()

    def submit(self, request: Request) -> None:
        self.sizes[request.size // SECTOR] += 1
        super().submit(request)


class _Bench:
    """An array of recorded members with a resync thread of Linux 6.1."""

    def __init__(self, place: str, name: str) -> None:
        words = _NAME.fullmatch(name)
        if words is None or words["member"] not in _MEMBERS:
            raise InputError(
                place, f"run {name!r}", f"allowed: MEMBER.ARRAY.RUN with a member of {', '.join(_MEMBERS)}"
            )
        self.run = words["run"]
        kind = _MEMBERS[words["member"]]
        count, level = int(words["members"]), words["level"]
        self.engine = Engine()
        host = Host(Cpu(self.engine))
        self.members = [_Member(self.engine, f"d{slot}", kind) for slot in range(count)]
        queues = [
            BlkMqQueue(self.engine, host, member, depth=kind.tags, max_request_bytes=kind.largest)
            for member in self.members
        ]
        failed = [count - 1] if self.run == "recover" else []
        self.array = array = self._array(level, queues, words["algorithm"], kind, failed)
        for slot in failed:
            array.rebuild_onto(slot)
        thread = KernelThread(self.engine, array.members)
        array.resync_thread = thread
        parity = level in ("raid4", "raid5", "raid6")
        limits = _LIMITS.match(self.run)
        self.load_name = (limits["load"] or "") if limits else ""
        speed_min, self.speed_max = 1000, 2_000_000
        if limits and limits["which"] == "max":
            self.speed_max = int(limits["kib"])
        elif limits and limits["which"] == "min":
            speed_min, self.speed_max = int(limits["kib"]), 200_000
        units = STRIPES * STRIPE // CHUNK
        settings = ResyncSettings(
            speed_min=speed_min * KIB,
            speed_max=self.speed_max * KIB,
            request_bytes=CHUNK,
            window_bytes=WINDOW,
            depth=units if parity else RAID1_DEPTH,
            nap_s=NAP_S,
            when_busy="drain",
            resume_depth=units * 3 // 4 if parity else None,
            resume_delay_s=TICK_S if parity else 0.0,
        )
        # In a parity array another thread, raid5d, submits.
        self.resync = Resync(
            self.engine,
            array,
            settings,
            warm=False,
            action="recover" if failed else "check",
            thread=None if parity else thread,
        )
        self.engine.spawn(self.resync.run())

    def _array(
        self, level: str, queues: list[BlkMqQueue], algorithm: str | None, kind: _MemberKind, failed: list[int]
    ) -> MirrorArray | Raid10Array | ParityArray:
        engine, turns = self.engine, [kind.tags == 1] * len(queues)
        if level == "raid1":
            return MirrorArray(engine, "md0", queues, Md61(len(queues), turns), failed=failed, barrier=BucketBarrier)
        layout = layout_for(level, len(queues), CHUNK, [kind.capacity] * len(queues), algorithm)
        if isinstance(layout, Raid10Layout):
            balance = Md61Raid10(len(queues), turns, near=layout.algorithm == "near")
            return Raid10Array(engine, "md0", queues, layout, balance, failed=failed, barrier=PausingBarrier)
        assert isinstance(layout, ParityLayout)
        settings = ParitySettings(hold_s=None, direct_reads=True, most_heads=1 << 15)
        return ParityArray(engine, "md0", queues, layout, settings, failed=failed)

    def load(self, place: str) -> DirectLoad | None:
        """The foreground fio job of the run's name."""
        if not self.load_name:
            return None
        rate = re.fullmatch(r"rate(\d+)iops", self.load_name)
        if rate:
            return OpenLoad(
                self.engine, self.array, size=4 * KIB, iops=int(rate[1]), poisson=False, stream=1, name="fio"
            )
        job = re.fullmatch(r"(rand|seq)(read|write)(\d+)k_q(\d+)", self.load_name)
        if job is None:
            raise InputError(place, f"load {self.load_name!r}", "allowed: randread4k_q16 and the like, rate50iops")
        return ClosedLoad(
            self.engine,
            self.array,
            size=int(job[3]) * KIB,
            depth=int(job[4]),
            read_share=1.0 if job[2] == "read" else 0.0,
            sequential=job[1] == "seq",
            stream=1,
            name="fio",
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
                continue
            progress(name)
            bench = _Bench(place, name)
            difference = _speed_difference(place, bench, run) if serial else _size_difference(bench, run)
            result.record(file.path.name, name, difference)
    return result


def _speed_difference(place: str, bench: _Bench, run: Mapping[str, Any]) -> str:
    load = bench.load(place)
    engine, members, resync = bench.engine, bench.members, bench.resync
    if load is not None:
        engine.run(until=WARM_UP_S)
        load.start_statistics(engine.now)
    began, done = engine.now, resync.done_bytes
    for member in members:
        member.start_statistics(began)
    seconds = float(run["seconds"]) if bench.speed_max < SLOW_KIB_S else MEASURED_S
    engine.run(until=began + seconds)
    recorded = _mean(sum(pair) for pair in run["member_KBs"].values())
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
    return sum(moved) / len(moved) if moved else 0.0


def _size_difference(bench: _Bench, run: Mapping[str, Any]) -> str:
    bench.engine.run(until=0.1)
    sizes = sum((member.sizes for member in bench.members), Counter[int]())
    recorded = [int(size) for found in run["member_request_sectors"].values() for size in found]
    most = max(sizes, key=lambda size: size * sizes[size])
    if min(recorded) <= most <= max(recorded):
        return ""
    return f"request sectors: {min(recorded)} to {max(recorded)} recorded, most bytes in {most} from the model"
