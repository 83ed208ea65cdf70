"""The devices of the recordings of caches: null_blk in memory, of known service time, each request of which is noted.

A request completes a fixed time after its dispatch, plus the copy of its data by the only CPU. The first write of a
page costs a page of memory. A device with a volatile cache serves a flush as long as any request.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from ....model.block.multi_queue import BlkMqQueue
from ....model.core.engine import Engine
from ....model.core.fixed_service import FixedServiceDevice, linear_service
from ....model.core.request import FLUSH, READ, Request
from ....model.schedulers import MqDeadline
from ....model.tasks.cpu import Cpu
from ....model.tasks.host import Host
from ..base import NotSupported
from ..md.vm_member import LATENCY_S, SCHEDULER_S, _Copies

MIB = 1 << 20
SECTOR = 512
REQUEST_S = 5.0e-6
"""From the issue of a request to the start of its service (s): reads of 4 KiB of the cache take 107 us."""
READ_BYTE_S = 1.35e-9
WRITE_BYTE_S = 1.35e-9
"""CPU time of a byte that is copied (s): reads and overwrites of 64 KiB take 190 to 195 us, those of 4 KiB 107 us."""
NEW_PAGE_S = 5e-6
"""CPU time of a page that is stored for the first time (s): writes of 64 KiB take 272 us then."""
PAGE = 4096
_WORD = re.compile(
    r"nullb(?P<number>\d): (?P<role>[^,]+), (?:(?P<size>\d+) MiB, )?(?P<ms>[\d.]+) ms(?P<rest>[^;]*)", re.ASCII
)


class Noted(NamedTuple):
    """A request as it was issued: time (s), member, ``READ``, ``WRITE`` or ``FLUSH``, offset and size (bytes)."""

    at: float
    member: int
    op: int
    offset: int
    size: int


class MemberWords(NamedTuple):
    """A device as a recording describes it."""

    capacity: int
    service_s: float
    tags: int
    max_request_bytes: int
    volatile: bool
    scheduler: bool


class NotedMember(FixedServiceDevice):
    """A device that notes its requests.

    Parameters
    ----------
    engine, host, copies
        The clock, whose threads copy, and when.
    number
        Which it is.
    words
        How it is described.
    noted
        Where the requests are noted.
    """

    __slots__ = ("_alone_s", "_copies", "_fresh", "_host", "_noted", "_number", "_stored", "_volatile")

    def __init__(
        self, engine: Engine, host: Host, copies: _Copies, number: int, words: MemberWords, noted: list[Noted]
    ) -> None:
        self._host = host
        scheduler_s = SCHEDULER_S if words.scheduler else 0.0
        self._alone_s = linear_service(words.service_s + LATENCY_S + REQUEST_S + scheduler_s)
        self._copies = copies
        self._number = number
        self._noted = noted
        self._volatile = words.volatile
        self._stored = bytearray(words.capacity // PAGE)
        self._fresh = 0
        super().__init__(engine, f"nullb{number}", words.capacity, self._request_s, words.tags)

    def _request_s(self, size: int, op: int) -> float:
        return self._copies.copy_s(self._copy_s(size, op)) + self._alone_s(size, op)

    def _copy_s(self, size: int, op: int) -> float:
        return size * READ_BYTE_S if op == READ else size * WRITE_BYTE_S + self._fresh * NEW_PAGE_S

    def submit(self, request: Request) -> None:
        """Note and serve a request."""
        self._noted.append(Noted(self._engine.now, self._number, request.op, request.offset, request.size))
        self._fresh = 0
        if request.op != READ:
            first, last = request.offset // PAGE, -(-(request.offset + request.size) // PAGE)
            self._fresh = self._stored.count(0, first, last)
            self._stored[first:last] = b"\1" * (last - first)
        self._host.works(REQUEST_S + self._copy_s(request.size, request.op), request.issuer, self._engine.now)
        super().submit(request)

    def flush(self, done: Callable[[], None]) -> None:
        """Note and serve a flush; a device without a volatile cache gets none."""
        if not self._volatile:
            done()
            return
        self._noted.append(Noted(self._engine.now, self._number, FLUSH, 0, 0))
        self._fresh = 0
        super().submit(Request(READ, 0, SECTOR, lambda _: done()))


def member_words(devices: str, place: str) -> list[MemberWords]:
    """The devices that a recording describes, in their order."""
    found = []
    scheduler = "no scheduler" not in devices
    same_rest, same_size = "", 0
    for part in devices.split(";"):
        part = part.strip()
        match = _WORD.match(part)
        if match is not None:
            size, rest = int(match["size"] or 0), match["rest"]
            service_s = float(match["ms"]) * 1e-3
            same_rest, same_size = rest, size or 512
        elif part.startswith("nullb") and "the same" in part:
            rest, size = same_rest, same_size
        elif part.startswith("nullb"):
            raise NotSupported(place, f"device {part!r}", "expected: size, service time, and how many at once")
        else:
            continue
        most = re.search(r"at most (\d+) KiB", rest)
        once = re.search(r"(\d+) at once", rest)
        tags = 1 if "one at a time" in rest else int(once[1]) if once else 32
        found.append(
            MemberWords(
                (size or 512) * MIB,
                service_s,
                tags,
                int(most[1]) * 1024 if most else 512 * 1024,
                "volatile" in rest,
                scheduler,
            )
        )
    if len(found) < 2:
        raise NotSupported(place, f"devices {devices!r}", "expected: an origin and a cache")
    return found


def queues(engine: Engine, host: Host, cpu: Cpu, words: list[MemberWords], noted: list[Noted]) -> list[BlkMqQueue]:
    """The queues in front of the devices."""
    copies = _Copies(engine, cpu)
    return [
        BlkMqQueue(
            engine,
            host,
            NotedMember(engine, host, copies, number, each, noted),
            depth=each.tags,
            scheduler=MqDeadline(each.max_request_bytes) if each.scheduler else None,
            max_request_bytes=each.max_request_bytes,
            requests=2 * each.tags,
            write_requests=max(1, 2 * each.tags * 3 // 4) if each.scheduler else None,
            volatile_cache=each.volatile,
        )
        for number, each in enumerate(words)
    ]
