"""Shares of the mirrors under one to eight readers and at depth 2 to 64, compared with fio on md.

The runs of one array are played in the recorded order, because where a run left the heads decides where the next one
begins. A run matches if every member's share of the bytes is within five percentage points of the recorded one.
The readers share a CPU: what a read costs it is taken from the recordings of one reader on RAID 10, where nothing else
is in the way.

All readers of a run begin at the same time here. Several sequential readers on flash hang on when each began, to a few
microseconds: whether one comes to the start of its part while another mirror's head still stands there.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ....model.block.multi_queue import BlkMqQueue
from ....model.core.engine import Engine
from ....model.core.fixed_service import FixedServiceDevice, linear_service
from ....model.core.request import READ, Request
from ....model.files.quantities import parse_size, parse_time
from ....model.kernels import KernelSpec
from ....model.loads.closed_load import ClosedLoad
from ....model.tasks.cpu import Cpu
from ....model.tasks.host import Host
from ..base import KindResult, NotSupported, Progress, TruthFile
from .kernels import recorded_kernel
from .readchoice import md_mirrors

TOLERANCE_POINTS = 5.0

PER_READ_CPU_S = 12.98e-6
PER_BYTE_CPU_S = 0.117e-9
"""CPU time of a read: 300 ms of one reader on raid10f2_n4 of 100 us members gave 2,644 reads of 4 KiB (113.46 us
each) and 2,486 of 64 KiB (120.68 us)."""

_CAPACITY = 1 << 30
_SCAN = 3
"""Blocks of 4 KiB that were read at the start of each new array before the first run (md_reads minus fio's)."""

_ARRAY = re.compile(r"(raid1|raid10)([nfo]\d+)?_n(\d+)")
_SIZE_UNITS = {"k": "KiB", "m": "MiB", "g": "GiB"}


class _Kind(NamedTuple):
    service_s: float
    tags: int
    rotational: bool


_MEMBERS = {"ssd100us": _Kind(100e-6, 32, False), "rot1ms": _Kind(1e-3, 1, True)}


def check(files: Sequence[TruthFile], progress: Progress) -> KindResult:
    """Compare every member's share of every run."""
    result = KindResult("readbalance")
    for file in files:
        benches: dict[tuple[str, str], _Bench] = {}
        for run in file.content["runs"]:
            name = f"{run['array']} on {run['member']} {run['workload']}"
            progress(name)
            kind, array = run["member"], run["array"]
            place = f"{file.path.name}, run {name}"
            try:
                if (kind, array) not in benches:
                    benches[kind, array] = _Bench(place, kind, array, recorded_kernel(file))
                shares = benches[kind, array].shares_pct(place, run)
            except NotSupported as error:
                result.skip(file.path.name, name, error)
                continue
            result.record(file.path.name, name, _difference(run["share_pct"], shares))
    return result


class _Bench:
    """An array of members of known service time, with a CPU that readers share."""

    def __init__(self, place: str, kind: str, array: str, known: KernelSpec) -> None:
        if kind not in _MEMBERS:
            raise NotSupported(f"{place}, field member", f"member {kind!r}", f"expected: {', '.join(_MEMBERS)}")
        made = _ARRAY.fullmatch(array)
        if made is None:
            raise NotSupported(
                f"{place}, field array", f"array {array!r}", "expected: such as raid1_n3 and raid10f2_n4"
            )
        service_s, tags, rotational = _MEMBERS[kind]
        level, algorithm, members = made[1], made[2], int(made[3])
        self._engine = Engine()
        self._cpu = Cpu(self._engine)
        host = Host(self._cpu)
        self._devices = [
            FixedServiceDevice(self._engine, f"d{slot}", _CAPACITY, linear_service(service_s), tags)
            for slot in range(members)
        ]
        queues = [BlkMqQueue(self._engine, host, device, depth=tags) for device in self._devices]
        self._array = md_mirrors(known, self._engine, queues, level, rotational, algorithm)
        for block in range(_SCAN):
            self._array.submit(Request(READ, block * 4096, 4096, _complete))
            self._engine.run()

    def shares_pct(self, place: str, run: Mapping[str, Any]) -> list[float]:
        """Play a run; each member's share of the bytes in per cent."""
        for device in self._devices:
            device.start_statistics(self._engine.now)
        job = _FioJob(place, run["cmd"])
        loads = [
            ClosedLoad(
                self._engine,
                self._array,
                size=job.block,
                depth=job.depth,
                sequential=job.sequential,
                start=number * job.offset_step,
                span=job.span,
                issuer=number,
                name=f"{run['workload']}/{number}",
                submit_s=PER_READ_CPU_S + PER_BYTE_CPU_S * job.block,
                cpu=self._cpu,
            )
            for number in range(job.jobs)
        ]
        self._engine.run(until=self._engine.now + job.runtime_s)
        for load in loads:
            load.stop()
        self._engine.run()
        total = sum(device.read_bytes for device in self._devices)
        return [100.0 * device.read_bytes / total for device in self._devices]


class _FioJob:
    """The options of a recorded fio command that matter here."""

    def __init__(self, place: str, command: str) -> None:
        options = dict(word[2:].partition("=")[::2] for word in shlex.split(command) if word.startswith("--"))
        missing = {"rw", "bs", "runtime", "size"} - options.keys()
        if missing:
            raise NotSupported(f"{place}, field cmd", f"no --{min(missing)}", "required")
        where = f"{place}, field cmd"
        if options["rw"] not in ("read", "randread"):
            raise NotSupported(where, f"rw={options['rw']}", "expected: read and randread, shares are those of reads")
        self.sequential = options["rw"] == "read"
        self.block = _bytes(options["bs"], where)
        self.span = _bytes(options["size"], where)
        self.offset_step = _bytes(options.get("offset_increment", "0"), where)
        self.runtime_s = parse_time(options["runtime"], where)
        self.depth = int(options.get("iodepth", 1))
        self.jobs = int(options.get("numjobs", 1))


def _bytes(text: str, place: str) -> int:
    """fio's sizes: k, m and g are powers of 1,024."""
    return parse_size(text[:-1] + _SIZE_UNITS[text[-1]] if text[-1:] in _SIZE_UNITS else text, place)


def _difference(recorded: Sequence[float], shares: Sequence[float]) -> str:
    if all(abs(real - ours) <= TOLERANCE_POINTS for real, ours in zip(recorded, shares, strict=True)):
        return ""
    return f"recorded {_shown(recorded)}, model {_shown(shares)} % of the bytes"


def _shown(shares: Sequence[float]) -> str:
    return " / ".join(f"{share:.1f}" for share in shares)


def _complete(_: Request) -> None:
    """Nobody waits: the engine runs until all is done."""
