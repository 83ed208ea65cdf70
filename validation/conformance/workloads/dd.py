"""dd on a raw block device compared with recorded counts of the requests that reach the device.

The model's page cache stands over a queue that merges as Linux does. A block of the cache is a segment of memory, and a
request has at most 128 of those (BLK_MAX_SEGMENTS); pages that were read ahead lie together. ``conv=fsync`` ends with a
flush, which the kernel counts among the writes and which moves nothing. How large the device was is not recorded; the
reader's last window ends with the device, so what was read in all is its size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import NonNegativeInt, PositiveInt

from ....model.block.multi_queue import BlkMqQueue
from ....model.core.engine import Engine
from ....model.core.request import READ, WRITE
from ....model.kernels import kernel
from ....model.loads.dd import Dd
from ....model.memory.dirty_memory import DirtyLimits, DirtyMemory
from ....model.memory.raw_cache import RawCache, RawCacheSettings
from ....model.readahead import ReadAhead61
from ....model.tasks.cpu import Cpu
from ....model.tasks.host import Host
from ....model.tasks.prices import FREE
from ..base import KindResult, Progress, TruthFile
from ..md.recorder import RecordingMember
from ..shapes import Shape
from .files import field_differences, parsed

SIZE = 32 << 20
"""What each recorded dd moves (bytes)."""

_QUEUE = kernel("linux-6.1").queue
_SEGMENTS = 128
_READ_AHEAD = 2560 << 10
_PLENTY = 1 << 40
_DEPTH = 1 << 16


class _Row(Shape):
    """One dd: block of the page cache, ``bs``, direction, and what reached the device."""

    bsz: PositiveInt
    bs: PositiveInt
    dir: Literal["read", "write"]
    reads: NonNegativeInt
    read_bytes: NonNegativeInt
    writes: int | None = None
    write_merges: int | None = None
    write_bytes: int | None = None


class _Truth(Shape):
    """All rows."""

    rows: list[_Row]


def check(file: TruthFile, _: Sequence[TruthFile], result: KindResult, progress: Progress) -> None:
    """Compare the requests of every row."""
    for row in parsed(_Truth, file).rows:
        case = f"{row.dir} bs={row.bs} block={row.bsz}"
        progress(f"{file.path.name} {case}")
        recorded = {"reads": row.reads, "read_bytes": row.read_bytes}
        if row.writes is not None:
            recorded["writes"] = row.writes - 1  # without the flush
            recorded["write_bytes"] = row.write_bytes or 0
            recorded["write_merges"] = row.write_merges or 0
        model = (
            write_requests(row.bsz, row.bs) if row.dir == "write" else read_requests(row.bsz, row.bs, row.read_bytes)
        )
        result.record(file.path.name, case, field_differences(recorded, {name: model[name] for name in recorded}))


def write_requests(block: int, call_bytes: int) -> dict[str, int]:
    """Requests that ``dd of=DEVICE conv=fsync`` causes, with the reads of blocks that it overwrites in part."""
    bench = _Bench(block, SIZE, min(_QUEUE.max_request, _SEGMENTS * block))
    bench.engine.run(bench.engine.spawn(Dd(bench.host, bench.cache, call_bytes, 0, SIZE, 1).write()))
    bench.memory.limits = DirtyLimits(0, 0, _PLENTY, pass_bytes=_PLENTY)  # fsync: everything is due
    bench.memory.start_write_back()
    bench.engine.run()
    return bench.requests()


def read_requests(block: int, call_bytes: int, device_bytes: int) -> dict[str, int]:
    """Requests that ``dd if=DEVICE`` causes."""
    bench = _Bench(block, device_bytes, _QUEUE.max_request)
    bench.engine.run(bench.engine.spawn(Dd(bench.host, bench.cache, call_bytes, 0, SIZE, 1).read()))
    bench.engine.run()
    return bench.requests()


class _Bench:
    """The page cache of a device whose requests are counted."""

    def __init__(self, block: int, device_bytes: int, max_request: int) -> None:
        self.engine = Engine()
        self.host = Host(Cpu(self.engine), FREE)
        self._device = RecordingMember(self.engine, "loop0", device_bytes)
        self._queue = BlkMqQueue(self.engine, self.host, self._device, depth=_DEPTH, max_request_bytes=max_request)
        self.memory = DirtyMemory(DirtyLimits(_PLENTY, _PLENTY, _PLENTY))
        settings = RawCacheSettings(block, _PLENTY, run_bytes=0, flush_run_bytes=block, task_plug=True)
        self.cache = RawCache(
            self.engine,
            self.host,
            self._queue,
            settings,
            self.memory,
            lambda end: ReadAhead61(_READ_AHEAD, end, _QUEUE.max_request),
        )

    def requests(self) -> dict[str, int]:
        """What reached the device."""
        log = self._device.log
        sizes = {op: [sent.size for sent in log if sent.op == op] for op in (READ, WRITE)}
        return {
            "reads": len(sizes[READ]),
            "read_bytes": sum(sizes[READ]),
            "writes": len(sizes[WRITE]),
            "write_bytes": sum(sizes[WRITE]),
            "write_merges": self._queue.merges,
        }
