"""The virtual machine of the timing recordings: members of known service time, md arrays over them, and fio's threads.

A member is null_blk: it completes a request a fixed time after its dispatch, a fixed number at once, behind the block
layer of the recorded kernel. The machine has one CPU on which an instruction takes 1 ns. What its kernel and fio need
for an I/O is measured on a member without md (`single` in the recordings), and what md adds in four other cases
(:data:`CALIBRATED`); nothing else is fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from ....model.block.multi_queue import BlkMqQueue
from ....model.block.throttle import TARGET_NON_ROTATIONAL_S, TARGET_ROTATIONAL_S, WriteBackThrottle
from ....model.core.device import Device
from ....model.core.engine import Engine
from ....model.core.fixed_service import FixedServiceDevice, linear_service
from ....model.core.request import READ
from ....model.kernels import KernelSpec
from ....model.layouts import Layout, LinearLayout, ParityLayout, Raid10Layout, StripedLayout, layout_for
from ....model.raid.base.io_limit import behind_limit
from ....model.raid.metadata.array_metadata import ArrayMetadata
from ....model.raid.metadata.bitmap import WriteIntentBitmap
from ....model.raid.metadata.journal import Journal
from ....model.raid.metadata.superblock import DATA_OFFSET_SECTORS
from ....model.raid.mirrors.mirror import MirrorArray
from ....model.raid.mirrors.raid10 import Raid10Array
from ....model.raid.parity.array import ParityArray
from ....model.raid.striped.stripe import StripeArray
from ....model.schedulers import MqDeadline
from ....model.tasks.cpu import Cpu
from ....model.tasks.host import Host
from ....model.tasks.prices import FREE, Prices
from .extra import JournalDevice
from .kernels import opened, raid1_array, raid10_array, raid10_section

MIB = 1 << 20

IO_S = 6.1e-6
"""CPU time of one direct I/O of fio without that of its request (s): single at 95,000 IOPS of 10.3 us."""
BYTE_S = 96e-12
"""What each byte adds to that (s): its page pinned and released; single at 61,000 I/Os of 64 KiB."""
HUGE_PAGE_BYTE_S = 47e-12
"""The same where fio's buffers, all together, are large enough for huge pages; single at 10,700 I/Os of 1 MiB."""
HUGE_PAGE = 2 * MIB

SWITCH_S = 4.1e-6
"""From a completion to the thread that sleeps for its tag (s): single with one tag, at any queue depth above 1."""

REQUEST_S = 4.2e-6
"""CPU time of a request of a member (s): single, where 1 MiB are 9 requests, at queue depth 1."""

BIO_S = 1.9e-6
"""CPU time of a bio that md passes on, or cuts off (s): RAID 0 of two at 81,000 IOPS beside single at 95,000."""

CLONE_S = 2.5e-6
"""CPU time of a bio that md clones, with the choice of a mirror (s): RAID 1 of two at 75,500 random reads a second."""

LATENCY_S = 1.9e-6
"""From the end of the service to the completion (s): timer interrupt, idle CPU left; single at queue depth 1."""

SCHEDULER_S = 5.6e-6
"""What mq-deadline adds to the latency (s): single at queue depth 1 with and without it."""

STRIPE_S = 1.6e-6
"""CPU time of raid5d for a pass over a stripe head (s): sequential writes of 64 KiB on RAID 5 of four, one at a time,
take 2.10 ms longer where the row has to be read up (a standard deviation of 0.99 ms), 2.00 of it for the reads."""

COPY_S_PER_BYTE = 5.2e-10
"""CPU time of a byte copied, or put through a parity computation (s): what the same writes take in all, 3.03 ms."""

SEGMENT_S = 4.5e-8
"""CPU time of a step along the pages of a write (s): writes of 1 MiB there, one at a time, 7.35 ms."""

HEAD_S = 1.2e-6
"""CPU time of a stripe head in the thread of the program (s): fio's own time (usr and sys) for a write is 41 us for 64
KiB on RAID 5 and 17.4 us on one member, 4.2 us of it for the request; for 1 MiB it is 307 us and 72 us (9 requests)."""

WAKE_S = 2.1e-6
"""CPU time of waking md's thread, in that of the program (s): what is left of fio's own 14.2 us for 4 KiB on RAID 5."""

CHECKSUM_BYTE_S = 4.1e-9
"""CPU time of a byte's checksum (s): sequential writes of 64 KiB to RAID 5 of four with a journal, one at a time, take
1.05 ms longer than without one, 0.48 of them for the request of 136 KiB to the journal and its copy."""

MEMORY_BYTE_S = 2.7e-9
"""CPU time of a byte that a memory-backed member stores (s): writes of 16 KiB to RAID 1 of two without a bitmap take
67 us longer than those of 4 KiB, and those of 64 KiB 330 us."""
MEMORY_READ_BYTE_S = 1.5e-9
"""The same of a byte that is read from it (s): ext4 on a single member reads 64 KiB in 1.106 ms one after the other."""

_MEMORY_NOTES = ("each request also costs its copy", "plus its copy at about 1 ns/byte")
"""What a recording says of members that keep their data in memory."""

PRICES = replace(
    FREE,
    command_s=REQUEST_S,
    switch_s=SWITCH_S,
    bio_s=BIO_S,
    clone_s=CLONE_S,
    stripe_s=STRIPE_S,
    copy_s_per_byte=COPY_S_PER_BYTE,
    xor_s_per_byte=COPY_S_PER_BYTE,
    segment_s=SEGMENT_S,
    head_s=HEAD_S,
    wake_s=WAKE_S,
    checksum_s_per_byte=CHECKSUM_BYTE_S,
)

CALIBRATED = {
    "*": ("single *",),
    "timing_ssd100us_d32.json": ("raid0_n2 randread_4k_q16", "raid1_n2 randread_4k_q16"),
    "journal_disk1ms64k.json": ("raid5_n4_jwt seqwrite_64k_q1",),
    "timing2_lat2ms_d32_nowbt.json": ("raid5_n4 seqwrite_64k_q1", "raid5_n4 seqwrite_1m_q1"),
}
"""What the prices are fitted to, by file: these cases are no predictions."""


def is_calibrated(file: str, case: str) -> bool:
    """Whether the prices may have been fitted to this case."""
    return any(fnmatchcase(case, pattern) for pattern in (*CALIBRATED["*"], *CALIBRATED.get(file, ())))


_LEFT_SYMMETRIC = 2


@dataclass(frozen=True, slots=True)
class Member:
    """A null_blk device of a recording.

    Attributes
    ----------
    service_s
        Time (s) from dispatch to completion.
    tags
        Requests served at once.
    max_request_bytes
        max_sectors_kb of its queue.
    rotational
        Whether the queue says that it turns.
    scheduler_requests
        nr_requests of mq-deadline; 0 without a scheduler.
    target_s
        wbt_lat_usec in seconds; 0 for off.
    size
        Bytes.
    in_memory
        Whether it stores its data in memory, which the CPU copies before the service begins (:data:`MEMORY_BYTE_S`).
    volatile_cache
        Whether it has a write cache that has to be flushed; flush + FUA writes go past the scheduler then.
    """

    service_s: float
    tags: int
    max_request_bytes: int
    rotational: bool
    scheduler_requests: int
    target_s: float
    size: int
    in_memory: bool = False
    volatile_cache: bool = False

    @classmethod
    def recorded(cls, member: Mapping[str, object]) -> Member:
        """The member of a timing file; a missing wbt_lat_usec is the kernel's default."""
        rotational, note = bool(member["rotational"]), str(member.get("note", ""))
        target_us = member.get("wbt_lat_usec")
        if target_us is None:
            target_s = TARGET_ROTATIONAL_S if rotational else TARGET_NON_ROTATIONAL_S
        else:
            target_s = _number(target_us) * 1e-6
        scheduled = member.get("scheduler", "none") == "mq-deadline"
        return cls(
            service_s=_number(member["completion_nsec"]) * 1e-9,
            tags=int(_number(member["hw_queue_depth"])),
            max_request_bytes=int(_number(member["max_sectors_kb"])) * 1024,
            rotational=rotational,
            scheduler_requests=int(_number(member["nr_requests"])) if scheduled else 0,
            target_s=target_s,
            size=int(_number(member["size_MiB"])) * MIB,
            in_memory=any(said in note for said in _MEMORY_NOTES),
            volatile_cache="with a 64 MiB volatile write cache" in note,
        )


@dataclass(frozen=True, slots=True)
class RecordedArray:
    """An array of a recording.

    Attributes
    ----------
    level
        "single" for a member without md, or md's level.
    members
        How many.
    chunk_bytes
        Chunk.
    algorithm
        RAID 10: "n2", "f2" and the like; None for the level's default.
    heads, grown
        stripe_cache_size, and heads that the cache was seen to have grown to before the load.
    failed
        Failed slots.
    bitmap_bytes
        Bytes of a member per bit of the write-intent bitmap; 0 without one.
    clean
        Whether it is marked clean when the load begins, so that the first write marks it dirty.
    workers
        group_thread_cnt.
    write_mostly
        Slots that are marked so.
    journal
        The device of its journal; None without one.
    """

    level: str
    members: int
    chunk_bytes: int = 65_536
    algorithm: str | None = None
    heads: int = 256
    failed: frozenset[int] = frozenset()
    bitmap_bytes: int = 0
    clean: bool = False
    grown: int = 0
    workers: int = 0
    write_mostly: frozenset[int] = frozenset()
    journal: JournalDevice | None = None


@dataclass(slots=True)
class VirtualMachine:
    """A machine with one CPU, and the device under test in it."""

    engine: Engine
    cpu: Cpu
    host: Host
    queues: list[BlkMqQueue]
    device: Device
    file: Device
    """The device as a program opens it for direct I/O."""
    throttles: list[WriteBackThrottle]
    throttled: bool
    """Whether write-back throttling has something to do: writes that it counts, and reads slower than its target."""
    ios: int = 0
    """I/Os of the job that was played on it."""

    @property
    def members(self) -> list[FixedServiceDevice]:
        """The members, and the device of a journal behind them."""
        return [queue.device for queue in self.queues if isinstance(queue.device, FixedServiceDevice)]


_JOURNAL_REQUEST_BYTES = 1_310_720  # the kernel's limit

_KEEP_IDLE = ("single", "raid0")
"""What hands on an O_DIRECT write as it is, which is never throttled."""


def build(
    known: KernelSpec,
    member: Member,
    array: RecordedArray,
    seed: int = 0,
    member_type: type[FixedServiceDevice] = FixedServiceDevice,
    data_offset_sectors: int = DATA_OFFSET_SECTORS,
    prices: Prices = PRICES,
) -> VirtualMachine:
    """The virtual machine of the kernel `known` with `array` over members like `member`, made as `member_type`.

    Their data begin after `data_offset_sectors`; `prices` are those of its CPU.
    """
    engine = Engine(seed)
    cpu = Cpu(engine)
    host = Host(cpu, prices)
    throttles: list[WriteBackThrottle] = []
    queues = []
    members = [member] * array.members
    if array.journal is not None:
        members.append(_journal_member(member, array.journal))
    copies = _Copies(engine, cpu)
    for slot, each in enumerate(members):
        alone = linear_service(each.service_s + LATENCY_S + (SCHEDULER_S if each.scheduler_requests else 0.0))
        service = _MemoryService(copies, alone).service_s if each.in_memory else alone
        throttle = None
        if each.target_s:
            throttle = WriteBackThrottle(engine, each.target_s, each.tags)
            throttles.append(throttle)
        queues.append(
            BlkMqQueue(
                engine,
                host,
                member_type(engine, f"nullb{slot}", each.size, service, each.tags),
                depth=each.tags,
                scheduler=MqDeadline(each.max_request_bytes) if each.scheduler_requests else None,
                max_request_bytes=each.max_request_bytes,
                requests=max(each.scheduler_requests, 1),
                write_requests=known.queue.write_tags(each.scheduler_requests, each.tags),
                throttle=throttle,
                volatile_cache=each.volatile_cache,
            )
        )
    single = array.level == "single"
    device = queues[0] if single else _array(known, engine, host, queues, member, array, data_offset_sectors)
    throttled = 0 < member.target_s <= member.service_s and array.level not in _KEEP_IDLE
    return VirtualMachine(engine, cpu, host, queues, device, opened(known, device, host), throttles, throttled)


class _Copies:
    """Copies of data in memory by the one CPU, one after the other."""

    def __init__(self, engine: Engine, cpu: Cpu) -> None:
        self._engine = engine
        self._cpu = cpu
        self._copied = 0.0

    def copy_s(self, seconds: float) -> float:
        """Copy for so long (s) when its turn comes; how long (s) it takes from now on."""
        now = self._engine.now
        self._cpu.interrupt(seconds)
        self._copied = max(self._copied, now) + seconds
        return self._copied - now


class _MemoryService:
    """The service times of a member in memory: the service of a request begins when its data are copied."""

    def __init__(self, copies: _Copies, alone: Callable[[int, int], float]) -> None:
        self._copies = copies
        self._alone = alone

    def service_s(self, size: int, op: int) -> float:
        """From the dispatch of a request to its completion (s)."""
        seconds = size * (MEMORY_READ_BYTE_S if op == READ else MEMORY_BYTE_S)
        return self._copies.copy_s(seconds) + self._alone(size, op)


def _journal_member(member: Member, journal: JournalDevice) -> Member:
    """The device of a journal beside such members: without a scheduler, and large requests."""
    return replace(
        member,
        service_s=journal.service_s,
        tags=journal.tags,
        max_request_bytes=_JOURNAL_REQUEST_BYTES,
        rotational=False,
        scheduler_requests=0,
    )


def _array(
    known: KernelSpec,
    engine: Engine,
    host: Host,
    queues: list[BlkMqQueue],
    member: Member,
    array: RecordedArray,
    data_offset: int,
) -> Device:
    layout = layout_of(array, member.size)
    rotational = [member.rotational] * array.members
    device: StripeArray | MirrorArray | Raid10Array | ParityArray
    if isinstance(layout, StripedLayout | LinearLayout):
        device = StripeArray(engine, "md0", queues, layout, host)
    elif isinstance(layout, Raid10Layout):
        device = raid10_array(known, engine, queues, layout, rotational, host, array.failed)
    elif isinstance(layout, ParityLayout):
        settings = known.raid5.model_copy(update={"heads": array.heads, "workers": array.workers})
        journal = None if array.journal is None else Journal(queues[array.members])
        device = ParityArray(engine, "md0", queues[: array.members], layout, settings, host, array.failed, journal)
        if array.grown > array.heads:
            device.cache.grow_to(array.grown)
    else:
        device = raid1_array(known, engine, queues, rotational, host, array.failed, array.write_mostly)
    if array.clean and not isinstance(device, StripeArray):
        bitmap = waits = None
        if array.bitmap_bytes:
            bitmap = WriteIntentBitmap(engine, device, array.bitmap_bytes, data_offset_sectors=data_offset)
            waits = device.bitmap_waits(bitmap, known.bitmap_waits)
        device.keep_metadata(ArrayMetadata(engine, device, bitmap, data_offset_sectors=data_offset, waits=waits))
    return behind_limit(device, layout, member.max_request_bytes, raid10_section(known).chunk_limit)


def layout_of(array: RecordedArray, member_bytes: int) -> Layout:
    """The map of an array of members of this size."""
    return layout_for(array.level, array.members, array.chunk_bytes, member_bytes, array.algorithm)


def algorithm_of(level: str, md_layout: object) -> str | None:
    """The name of md's layout number: for RAID 10 near copies in the low byte, far copies in the next."""
    if level == "raid10":
        near, far = int(_number(md_layout)) & 0xFF, int(_number(md_layout)) >> 8 & 0xFF
        return f"f{far}" if far > 1 else f"n{near}"
    return "left-symmetric" if md_layout == _LEFT_SYMMETRIC else None


def _number(value: object) -> float:
    if not isinstance(value, int | float):
        raise TypeError(f"{value!r} is not a number")
    return value
