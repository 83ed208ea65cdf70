"""The virtual machine of the recordings of rebuilds: an array of known members, its resync, and fio on it."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import Any

from ....model.block.kernel_thread import KernelThread
from ....model.block.multi_queue import BlkMqQueue
from ....model.core.engine import Engine
from ....model.core.request import READ, WAITED, Call, Request
from ....model.core.signal import Signal
from ....model.kernels import KernelSpec
from ....model.layouts import Layout, MirroredLayout, ParityLayout, Raid10Layout, layout_for
from ....model.loads.closed_load import ClosedLoad
from ....model.raid.mirrors.mirror import MirrorArray
from ....model.raid.mirrors.raid10 import Raid10Array
from ....model.raid.parity.array import ParityArray
from ....model.raid.read_balance import Mirrors, balance
from ....model.raid.resync.thread import Action, Resync
from ....model.schedulers import MqDeadline
from ....model.statistics.latency_histogram import LatencyHistogram
from ....model.tasks.cpu import Cpu
from ....model.tasks.host import Host
from ....scenarios.description.arrays import ArraySpec
from ....scenarios.description.tuning import ResyncSpec
from ....scenarios.machine.array_plan import resync_settings
from ....scenarios.machine.parts import Driver, MirrorDriver, ParityDriver, Raid10Driver
from ..base import NotSupported
from ..md import resync as resync_kind
from ..md.kernels import raid1_array, raid10_array, raid10_section
from ..md.vm_member import IO_S, LATENCY_S, SCHEDULER_S, algorithm_of
from .member import MemberKind, SeekingMember

KIB = 1024
SYNC_STRIPE_S = 5.6e-6
"""CPU time of a pass over a stripe head (s), fitted to the rate of the recovery of RAID 5 with 8,192 heads, where the
CPU limits: its members are busy for 73 % of the time, however many heads there are. (What the timing recordings give,
1.6 us, is what is left of writes that take 2.10 ms longer, with a standard deviation of 0.99 ms.)"""
PRICES = replace(resync_kind.PRICES, stripe_s=SYNC_STRIPE_S)
BLOCK = 4 * KIB
SUBMIT_S, COMPLETE_S = 0.6 * IO_S, 0.4 * IO_S
SYNC_AFTER_S = 0.5
"""The resync begins so long after the load."""
ACTIONS: dict[str, Action] = {"recover": "recover", "resync": "resync", "check": "check", "repair": "repair"}
SETTINGS = {"heads", "sync_speed_min", "sync_speed_max"}
"""What may have been set before a case."""
_CLOSED = re.compile(r"(?P<mode>rr|rw|seq)(?P<depth>\d*)")
_ARRIVALS = re.compile(r"poi(?P<rate>\d+)")
_THREAD_IOPS = 2
"""What one of the threads of arrivals does a second."""


class Arrivals:
    """Threads that read at random times, each one read at a time; a thread that is late catches up.

    Parameters
    ----------
    machine
        Where they run.
    threads
        How many.
    iops
        Reads a second of all of them.
    """

    def __init__(self, machine: Machine, threads: int, iops: float) -> None:
        self._machine = machine
        self._pause_s = threads / iops
        self.start_statistics(0.0)
        for number in range(threads):
            machine.engine.spawn(self._thread(number))

    def start_statistics(self, now: float) -> None:
        """Forget what was counted so far."""
        self.reads = self.writes = 0
        self.read_latency = LatencyHistogram()

    def _thread(self, number: int) -> Generator[Any, Any, None]:
        machine = self._machine
        engine, array, cpu = machine.engine, machine.array, machine.cpu
        random = engine.streams.generator(f"fio {number}")
        blocks = array.capacity // BLOCK
        due = engine.now
        while True:
            due += float(random.exponential(self._pause_s))
            if due > engine.now:
                yield engine.timeout(due - engine.now)
            began = engine.now
            cpu.interrupt(SUBMIT_S)
            over = Signal()
            at = BLOCK * int(random.integers(0, blocks))
            array.submit(Request(READ, at, BLOCK, Call(over.fire), number, WAITED))
            yield over
            self.reads += 1
            self.read_latency.add(engine.now - began)


class Machine:
    """A machine with one CPU and one array, on which a case is played.

    Parameters
    ----------
    known
        Its kernel.
    kind
        Its members.
    spec
        The recorded array: `level`, `chunk_kib`, `layout`, `members`.
    case
        The recorded case.
    place
        Shown in messages.
    """

    def __init__(
        self, known: KernelSpec, kind: MemberKind, spec: Mapping[str, Any], case: Mapping[str, Any], place: str
    ) -> None:
        unknown = set(case["settings"]) - SETTINGS
        if unknown:
            raise NotSupported(place, f"setting {min(unknown)}", f"expected: {', '.join(sorted(SETTINGS))}")
        if case["op"] not in ACTIONS:
            raise NotSupported(place, f"op {case['op']!r}", f"expected: {', '.join(ACTIONS)}")
        if spec["bitmap"] != "none":
            raise NotSupported(place, f"bitmap {spec['bitmap']}", "expected: none")
        self._place, self._known, self._kind = place, known, kind
        self.engine = engine = Engine()
        self.cpu = Cpu(engine)
        self.host = Host(self.cpu, PRICES, known.queue.plug_limits)
        count = int(spec["members"])
        latency_s = LATENCY_S + (SCHEDULER_S if kind.scheduler_requests else 0.0)
        self.members = [SeekingMember(engine, f"mb{slot}", kind, latency_s) for slot in range(count)]
        queues = [
            BlkMqQueue(
                engine,
                self.host,
                member,
                depth=kind.holds,
                scheduler=MqDeadline(kind.max_request_bytes) if kind.scheduler_requests else None,
                max_request_bytes=kind.max_request_bytes,
                max_segments=kind.max_request_bytes // BLOCK,
                requests=max(kind.scheduler_requests, 1),
                write_requests=known.queue.write_tags(kind.scheduler_requests, kind.holds),
            )
            for member in self.members
        ]
        self.action = ACTIONS[case["op"]]
        failed = [count - 1] if self.action == "recover" else []
        self._build(spec, case, queues, failed)
        for slot in failed:
            self.array.rebuild_onto(slot)
        self.load = self._load(str(case["foreground"]), case)
        self.resync: Resync | None = None
        engine.call_at(SYNC_AFTER_S, self._start_resync)

    def _build(
        self, spec: Mapping[str, Any], case: Mapping[str, Any], queues: list[BlkMqQueue], failed: list[int]
    ) -> None:
        known, level, count, kind = self._known, str(spec["level"]), len(queues), self._kind
        rotational = [kind.rotational] * count
        chunk = int(spec["chunk_kib"]) * KIB
        layout: Layout = layout_for(
            level, count, chunk or 64 * KIB, kind.capacity, algorithm_of(level, spec["layout"]) if chunk else None
        )
        heads = int(case["settings"].get("heads", known.raid5.heads))
        self.array: MirrorArray | Raid10Array | ParityArray
        driver: Driver
        if isinstance(layout, MirroredLayout):
            self.array = raid1_array(known, self.engine, queues, rotational, self.host, failed)
            options = balance(known.raid1.balance)
            driver = MirrorDriver(known.raid1, options, Mirrors(("",) * count, tuple(rotational)))
        elif isinstance(layout, Raid10Layout):
            section = raid10_section(known)
            self.array = raid10_array(known, self.engine, queues, layout, rotational, self.host, failed)
            driver = Raid10Driver(section, balance(section.balance), Mirrors(("",) * count, tuple(rotational)))
        else:
            assert isinstance(layout, ParityLayout)
            most = known.raid5.most_heads if known.raid5.grows else 0
            seen = max(heads, *case.get("stripe_heads_active", [0]), 0)
            if most and case.get("stripe_heads_active"):
                most = min(seen, most)
            settings = known.raid5.model_copy(update={"heads": heads, "most_heads": most})
            parity = ParityArray(self.engine, "md0", queues, layout, settings, self.host, failed)
            if most:
                parity.cache.grow_to(min(seen, most))
            self.array = parity
            driver = ParityDriver(settings, None)
        limits = {name: case["settings"][name] for name in case["settings"] if name != "heads"}
        document = ArraySpec(
            level=level,
            members=tuple(f"m{slot}" for slot in range(count)),
            failed=tuple(f"m{slot}" for slot in failed),
            rebuilding=tuple(f"m{slot}" for slot in failed),
            resync=ResyncSpec(
                action="recover" if failed else "check",
                **{name.removeprefix("sync_"): f"{kib}KiB/s" for name, kib in limits.items()},
            ),
        )
        self._pace = resync_settings(known, layout, driver, document, [8])

    def _start_resync(self, _: Any) -> None:
        array = self.array
        thread = KernelThread(self.engine, array.members, self.host)
        array.resync_thread = thread
        self.resync = Resync(self.engine, array, self._pace, warm=False, action=self.action, thread=thread)
        self.engine.spawn(self.resync.run())

    def _load(self, foreground: str, case: Mapping[str, Any]) -> ClosedLoad | Arrivals | None:
        """The fio jobs of a case."""
        if foreground == "none":
            return None
        arrivals = _ARRIVALS.fullmatch(foreground)
        if arrivals is not None:
            return Arrivals(self, max(1, int(arrivals["rate"]) // _THREAD_IOPS), float(case["fg"]["iops"]))
        job = _CLOSED.fullmatch(foreground)
        if job is None:
            raise NotSupported(
                self._place, f"foreground {foreground!r}", "expected: none, rr1, rw8, seq, poi20 and the like"
            )
        sequential = job["mode"] == "seq"
        return ClosedLoad(
            self.engine,
            self.array,
            size=64 * KIB if sequential else BLOCK,
            depth=int(job["depth"] or 1),
            read_share=0.0 if job["mode"] == "rw" else 1.0,
            sequential=sequential,
            issuer=1,
            name="fio",
            submit_s=SUBMIT_S,
            complete_s=COMPLETE_S,
            cpu=self.cpu,
        )
