"""What a file of each kind of recorded truth holds: how it is recognized, and the types of its fields.

Only what a check needs is described; other fields are carried along for people. The notation is in the manual.
"""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    model_validator,
)


class Shape(BaseModel):
    """Base of the shapes: exact types, unknown fields allowed."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


# layout

ChunkPlaces = list[list[int]] | list[list[list[int]]]
"""[member, member chunk] of each chunk, or a list of such copies."""


class Zone(Shape):
    """A zone of RAID 0: chunks that are striped over the same members."""

    members: Annotated[list[NonNegativeInt], Field(min_length=1)]
    member_chunk: Annotated[list[NonNegativeInt], Field(min_length=1)]
    chunks: NonNegativeInt

    @model_validator(mode="after")
    def _as_many_places(self) -> Self:
        if len(self.members) != len(self.member_chunk):
            raise ValueError("expected: as many entries of member_chunk as of members")
        return self


class LayoutArray(Shape):
    """A map read off an array; which of the charts are there depends on the level."""

    name: str
    cmd: str
    n: PositiveInt
    chunk_kib: NonNegativeInt
    array_kib: NonNegativeInt
    component_kib: NonNegativeInt | None = None
    member_data_kib: Annotated[list[PositiveInt], Field(min_length=1)]
    chunks: ChunkPlaces | None = None
    parity: list[list[int]] | None = None
    first_chunks: list[list[int]] | None = None
    zones: list[Zone] | None = None
    segments_kib: list[list[int]] | None = None
    identical: bool | None = None
    chunks_total: int | None = None
    last_chunk: list[list[int]] | None = None
    chunks_per_member: list[int] | None = None
    last_member_chunk: list[int] | None = None
    q_rule_rows_ok: dict[str, int] | None = None


class LayoutTruth(Shape):
    """Chunk and parity maps."""

    arrays: Annotated[list[LayoutArray], Field(min_length=1)]


# io and readchoice

SingleIo = tuple[str, NonNegativeInt, NonNegativeInt]
"""Operation, byte offset and bytes; or "s", 0 and the milliseconds of a sleep. Cases with unknown operations are not
checked."""

Run = tuple[NonNegativeInt, int, PositiveInt]
"""Member, sector and sectors."""


class Totals(Shape):
    """What the members got in all, ranges that were moved twice counted twice, and requests by their sectors."""

    sectors: NonNegativeInt
    rq_sizes: dict[str, PositiveInt] | None = None


class IoCase(Shape):
    """One or a few I/Os, one at a time, and what the members got."""

    case: str
    ios: Annotated[list[SingleIo], Field(min_length=1)]
    reads: list[Run] = []
    writes: list[Run] = []
    discards: list[Run] = []
    reads_n: Totals | None = None
    writes_n: Totals | None = None
    discards_n: Totals | None = None
    superblock_bitmap_flush_bios: list[tuple[str, NonNegativeInt, int, PositiveInt]] = []


class IoArray(Shape):
    """An array and the cases that were played on it, in order."""

    name: str
    cmd: str
    pre: str = ""
    params: dict[str, str | int] = {}
    member_data_kib: list[PositiveInt] | None = None
    data_offset_kib: PositiveInt | None = None
    cases: list[IoCase]


class IoTruth(Shape):
    """Single I/Os and their footprints on the members."""

    arrays: Annotated[list[IoArray], Field(min_length=1)]


class ReadChoiceCase(Shape):
    """Reads of one reader, and the member that served each."""

    case: str
    ios: Annotated[list[SingleIo], Field(min_length=1)]
    served_by: list[Run]


class ReadChoiceArray(Shape):
    """An array and the cases that were played on it, in order."""

    name: str
    cmd: str
    pre: str = ""
    params: dict[str, str | int] = {}
    cases: list[ReadChoiceCase]


class ReadChoiceTruth(Shape):
    """Which member served each read of one reader."""

    arrays: Annotated[list[ReadChoiceArray], Field(min_length=1)]


# readbalance, readahead, resync, rebuild


class ReadBalanceRun(Shape):
    """A fio run, and what each mirror served."""

    member: str
    array: str
    workload: str
    share_pct: Annotated[list[float], Field(min_length=1)]
    cmd: str


class ReadBalanceTruth(Shape):
    """Shares of the mirrors under several readers."""

    runs: Annotated[list[ReadBalanceRun], Field(min_length=1)]


Sizes = dict[str, NonNegativeInt]
"""How many requests of each size; the size is the key."""


class ReadAheadRun(Shape):
    """A pattern of buffered reads, and the request sizes that came of it."""

    case: str
    read_ahead_kb: NonNegativeInt
    app_reads: PositiveInt
    app_read_bytes: PositiveInt
    md_bio_kib: Sizes
    md_first_bios_kib: list[float]
    member_bio_kib: Sizes
    member_rq_kib: Sizes
    member_read_kib: list[float]


class ReadAheadArray(Shape):
    """An array with its default read-ahead."""

    array: str
    default_read_ahead_kb: NonNegativeInt
    max_sectors_kb: PositiveInt
    optimal_io_size: NonNegativeInt
    runs: list[ReadAheadRun]


class ReadAheadTruth(Shape):
    """Request sizes by read-ahead setting."""

    arrays: Annotated[list[ReadAheadArray], Field(min_length=1)]


class ResyncRun(Shape):
    """A check, repair or recovery; what was noted differs from run to run."""

    name: str
    member_request_sectors: dict[str, Sizes] | None = None


class ResyncTruth(Shape):
    """Request sizes and speeds of resync."""

    runs: Annotated[list[ResyncRun], Field(min_length=1)]


class ReshapeRun(Shape):
    """A reshape: its state in md's words, samples once a second, what was moved, and its first requests."""

    name: str
    state: str
    seconds: PositiveFloat
    member_KBs: list[tuple[NonNegativeFloat, NonNegativeFloat]]  # noqa: N815 - the recordings call it so
    samples: Annotated[list[list[Any]], Field(min_length=2)]
    whole: dict[str, Any]
    start: list[tuple[NonNegativeFloat, NonNegativeInt, str, NonNegativeInt, PositiveInt]]


class ReshapeTruth(Shape):
    """Requests and rates of reshape."""

    runs: Annotated[list[ReshapeRun], Field(min_length=1)]


class RebuildMember(Shape):
    """What a file says of its members: service and seek times (ns), speed (KiB/s) and queue."""

    name: str
    qd: PositiveInt
    fixed_ns: NonNegativeInt
    seek0_ns: NonNegativeInt = 0
    seek1_ns: NonNegativeInt = 0
    kibs: PositiveInt
    capacity_gib: Annotated[PositiveInt, Field(alias="capacity_GiB")]
    scheduler: str
    nr_requests: str
    max_sectors_kb: str
    rotational: str


class RebuildArray(Shape):
    """A recorded array."""

    level: str
    chunk_kib: NonNegativeInt
    layout: int | str
    members: PositiveInt
    bitmap: str


class RebuildLoad(Shape):
    """What fio measured."""

    iops: float
    mean_ms: float


class RebuildMemberCounts(Shape):
    """What a member did meanwhile."""

    reads: NonNegativeInt
    writes: NonNegativeInt
    busy: float


class RebuildCase(Shape):
    """A recovery, check or resync under a load."""

    name: str
    array: str
    op: str
    foreground: str
    settings: dict[str, str | int]
    seconds: float
    sync_kib_s: Annotated[float, Field(alias="sync_KiB_s")]
    sync_kib_s_each_2s: Annotated[list[float], Field(alias="sync_KiB_s_each_2s")]
    stripe_heads_active: list[NonNegativeInt] = []
    members: dict[str, RebuildMemberCounts]
    fg: RebuildLoad | None = None


class RebuildTruth(Shape):
    """Rebuilds and checks under loads, on members of known service time."""

    member: RebuildMember
    settle_s: float
    run_s: Annotated[float, Field(gt=0)]
    arrays: dict[str, RebuildArray]
    rebuilds: Annotated[list[RebuildCase], Field(min_length=1)]


# timing


class TimingTruth(Shape):
    """fio through md over members of known service time."""

    member: dict[str, Any]
    arrays: dict[str, dict[str, Any] | str]
    fio_jobs: dict[str, Any]
    results: dict[str, Any]


class StripeCacheRun(Shape):
    """A write load with one size of the stripe cache."""

    array: str
    stripe_cache_size: PositiveInt
    stripe_cache_active_max: NonNegativeInt
    workload: str
    write_iops: float
    cmd: str


class StripeCacheTruth(Shape):
    """Write rates by the size of the stripe cache."""

    runs: Annotated[list[StripeCacheRun], Field(min_length=1)]


class ThrottlingRun(Shape):
    """A load with one setting of write-back throttling."""

    member_latency_ns: NonNegativeInt
    wbt_lat_usec: NonNegativeInt
    level: str
    n: PositiveInt
    rw: str
    iodepth: PositiveInt
    read_iops: float
    write_iops: float


class ThrottlingTruth(Shape):
    """Rates with and without write-back throttling."""

    runs: Annotated[list[ThrottlingRun], Field(min_length=1)]


class FilePhase(Shape):
    """A phase of a recording of a file system: what ran, and what came before and after it."""

    name: str
    command: str
    drop_caches_before: int
    syncfs_after: int


class FileSystemTruth(Shape):
    """What a file system on arrays sent to the devices, phase by phase."""

    file_system: str
    member: dict[str, str | int]
    arrays: dict[str, str | dict[str, str | int]]
    vm: list[str]
    phases: Annotated[list[FilePhase], Field(min_length=1)]
    results: dict[str, dict[str, dict[str, Any]]]


class WorkloadTruth(Shape):
    """What a benchmark program did; each program has a form of its own, which its check reads."""


class PoolPhase(Shape):
    """A phase of a recorded pool: one operation, a transaction group, a scrub."""

    phase: str = ""
    kind: str | None = None
    op: str | None = None
    offsets: list[NonNegativeInt] | None = None
    requests: list[tuple[float, NonNegativeInt, str, int, NonNegativeInt]] | None = None


class PoolMember(Shape):
    """The members of a recorded pool."""

    completion_us: float


class PoolTruth(Shape):
    """Block pointers of a pool of ZFS, and what its members got in each phase."""

    create: str
    member: PoolMember
    phases: Annotated[list[PoolPhase], Field(min_length=1)]
    blocks: dict[str, dict[str, list[list[Any]]]]
