"""SSD caches as data: a slow device, a fast one in front of it, and how the kernel's driver is set up.

LVM makes the first two kinds (``lvconvert --type cache``, ``--type writecache``); its names for parameters are those
of the drivers.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from ...model.files.description import Duration, Fraction, PositiveSize, Size, Spec, refusal
from ...model.files.quantities import format_size
from .load_parts import Locality

CacheKind = Literal["dm-cache", "dm-writecache", "bcache"]
CacheMode = Literal["writethrough", "writeback", "passthrough", "writearound", "none"]
Percent = Annotated[int, Field(ge=0, le=100)]

MODES: Final[dict[CacheKind, tuple[CacheMode, ...]]] = {
    "dm-cache": ("writethrough", "writeback", "passthrough"),
    "dm-writecache": ("writeback",),
    "bcache": ("writethrough", "writeback", "writearound", "none"),
}
"""Where writes may go, by kind; the first is the usual one (LVM's, bcache's)."""
STATES: Final[dict[CacheKind, tuple[str, ...]]] = {
    "dm-cache": ("warm", "cold"),
    "dm-writecache": ("cold", "full"),
    "bcache": ("warm", "cold"),
}
"""What may be in a cache at the start, by kind; the first is the usual one."""
_OWN: Final[dict[CacheKind, tuple[str, ...]]] = {
    "dm-cache": ("metadata", "migration_threshold"),
    "dm-writecache": (
        "high_watermark",
        "low_watermark",
        "autocommit_blocks",
        "autocommit_time",
        "pause_writeback",
    ),
    "bcache": ("bucket_size", "sequential_cutoff", "writeback_percent", "writeback_delay"),
}
"""Parameters that only this kind has."""
_LEAST_BLOCK, _MOST_BLOCK = 32 << 10, 1 << 30
_MOST_CHUNKS = 1_000_000
"""LVM takes larger blocks where a cache would have more (allocation/cache_pool_max_chunks)."""
_LEAST_CACHE = 16 << 20
_LEAST_BUCKETS = 513
_LEAST_BUCKET, _MOST_BUCKET = 4096, 16 << 20
"""Buckets of a page or more; a key holds up to 16 bits of sectors."""
_LEAST_METADATA = 8 << 20
_METADATA_PER_BLOCK = 64
MOST_FULL: Final = 1 << 20
"""Blocks of a dm-writecache that may be full at the start."""


class PastLoadSpec(Spec):
    """A load that has filled a cache before the run."""

    locality: Locality | None = None
    """Offsets that it prefers; uniform unless given."""
    block_size: PositiveSize = 4096
    """Bytes of its I/Os, which are the blocks of its locality."""
    start: Size = 0
    span: PositiveSize | None = None
    """Where on the cached device it begins, and how far it reaches; up to the end unless given."""
    read_share: Fraction = 1.0
    """Share of the I/Os that read; the others leave dirty blocks in a cache that keeps writes."""
    weight: float = Field(default=1.0, gt=0)
    """I/Os of it for each one of a load of weight 1."""

    @property
    def sizes(self) -> tuple[dict[int, float], dict[int, float]]:
        """Sizes of reads and of writes."""
        return {self.block_size: 1.0}, {self.block_size: 1.0}


class CacheSpec(Spec):
    """A fast device that caches a slow one. What is built on it, or loads it, names this device."""

    on: str
    """The slow device: an array, a drive, a volume."""
    cache: str
    """The fast device."""
    kind: CacheKind = "dm-cache"
    """"dm-cache" (LVM's `cache`; the policy smq decides what is promoted), "dm-writecache" (LVM's `writecache`; it
    holds writes only) or "bcache" (all that is read comes into it at once, but for streams)."""
    mode: CacheMode | None = None
    """Where writes go: to both devices (`writethrough`), to the cache and later to the slow device (`writeback`), or to
    the slow device alone (bcache's `writearound`), which may serve all reads as well (dm-cache's `passthrough` and
    bcache's `none`). Unless given, `writethrough` for dm-cache and bcache."""
    size: PositiveSize | None = None
    """How much of the fast device is used; all of it unless given."""
    block_size: PositiveSize | None = None
    """Bytes of a block of the cache. Unless given 64 KiB for dm-cache, twice as much until the cache has no more than a
    million blocks, as LVM chooses; 4 KiB for the others."""
    metadata: str | None = None
    """Device of dm-cache's metadata; the end of the fast device unless given."""
    migration_threshold: PositiveSize = 1 << 20
    """dm-cache: bytes that are written back at a time."""
    high_watermark: Percent = 50
    low_watermark: Percent = 45
    """dm-writecache: writeback begins at this percentage of used blocks, and ends at that one."""
    autocommit_blocks: int = Field(default=65_536, ge=1)
    autocommit_time: Duration = 1.0
    """dm-writecache: a commit begins when this number of blocks has been written, or this time after the first."""
    pause_writeback: Duration = 3.0
    """dm-writecache: writeback waits until the slow device has been without writes of others for this time."""
    bucket_size: PositiveSize = 512 << 10
    """bcache: bytes of a bucket (``make-bcache --bucket``), which is filled and thrown away as a whole."""
    sequential_cutoff: Size = 4 << 20
    """bcache: a stream longer than this passes the cache by; 0: none does."""
    writeback_percent: Percent = 10
    writeback_delay: Duration = 30.0
    """bcache: percentage of the cache that may be dirty before writeback speeds up, and its rest after each scan."""
    state: Literal["warm", "cold", "full"] | None = None
    """What is in the cache at the start: `cold` nothing; `warm` (dm-cache, bcache) the blocks that the loads on this
    device hit most, which dm-cache may have to write back; `full` (dm-writecache) nothing but blocks that are still to
    be written back. Unless given, `warm`, and `cold` for dm-writecache."""
    warmed_by: tuple[PastLoadSpec, ...] = ()
    """What has warmed it instead of the loads of the scenario, or of all phases of their day."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        for kind, fields in _OWN.items():
            for field in fields:
                usual = type(self).model_fields[field].default
                if kind != self.kind and getattr(self, field) != usual:
                    raise refusal(f"{field} of {self.kind}", f"expected: with kind {kind}", (field,))
        if self.written not in MODES[self.kind]:
            raise refusal(f"{self.mode} of {self.kind}", f"expected: {', '.join(MODES[self.kind])}", ("mode",))
        if self.cache == self.on:
            raise refusal(f"{self.cache}, which is what is cached", "expected: another device", ("cache",))
        states = STATES[self.kind]
        if self.started not in states:
            raise refusal(f"{self.state} of {self.kind}", f"expected: {' or '.join(states)}", ("state",))
        if self.warmed_by and self.started != "warm":
            raise refusal(f"warmed_by of a cache that is {self.started}", "expected: with state warm", ("warmed_by",))
        if self.low_watermark > self.high_watermark:
            found = f"{self.low_watermark}, above high_watermark {self.high_watermark}"
            raise refusal(found, "expected: up to it", ("low_watermark",))
        self._check_block()
        return self

    def _check_block(self) -> None:
        bucket = self.bucket_size
        if bucket & (bucket - 1) or not _LEAST_BUCKET <= bucket <= _MOST_BUCKET:
            expected = f"expected: a power of two, {format_size(_LEAST_BUCKET)} to {format_size(_MOST_BUCKET)}"
            raise refusal(format_size(bucket), expected, ("bucket_size",))
        size = self.block_size
        if size is None:
            return
        if self.kind != "dm-cache":
            if size not in (512, 1024, 2048, 4096):
                raise refusal(format_size(size), "expected: 512 B, 1 KiB, 2 KiB or 4 KiB", ("block_size",))
        elif size % _LEAST_BLOCK or not _LEAST_BLOCK <= size <= _MOST_BLOCK:
            raise refusal(format_size(size), "expected: a multiple of 32 KiB, up to 1 GiB", ("block_size",))

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices that it is made of."""
        metadata = () if self.metadata is None else (self.metadata,)
        return (self.on, self.cache, *metadata)

    @property
    def header_bytes(self) -> int:
        """Bytes in front of the data on the slow device: bcache's superblock."""
        return 8192 if self.kind == "bcache" else 0

    @property
    def least_io(self) -> int:
        """Bytes of the smallest I/O that it takes besides those of its devices."""
        return 512 if self.kind == "dm-cache" else self.block_bytes(0)

    @property
    def written(self) -> CacheMode:
        """The mode."""
        return self.mode or MODES[self.kind][0]

    @property
    def holds_data(self) -> bool:
        """Whether the cache holds data that are nowhere else."""
        return self.written == "writeback"

    @property
    def started(self) -> str:
        """The state at the start."""
        return self.state or STATES[self.kind][0]

    def block_bytes(self, capacity: int) -> int:
        """Bytes of a block on a fast device of this capacity."""
        if self.block_size is not None:
            return self.block_size
        if self.kind != "dm-cache":
            return 4096
        block = 64 << 10
        while (self.size or capacity) // block > _MOST_CHUNKS:
            block *= 2
        return block

    def data_bytes(self, capacity: int) -> int:
        """Bytes of the fast device that hold data, and metadata of dm-writecache."""
        size = self.size or capacity
        if self.kind == "dm-cache" and self.metadata is None:
            block = self.block_bytes(capacity)
            metadata = max(_LEAST_METADATA, size // block * _METADATA_PER_BLOCK)
            size -= -(-metadata // block) * block
        return size

    def check_room(self, name: str, capacity: int) -> None:
        """Refuse a cache that its device has no room for, or that is too small to be one."""
        at = ("caches", name, "size")
        size = self.size or capacity
        if size > capacity:
            raise refusal(format_size(size), f"expected: up to {format_size(capacity)}, what {self.cache} has", at)
        block = self.block_bytes(capacity)
        if size < _LEAST_CACHE or self.data_bytes(capacity) < block:
            least = format_size(max(_LEAST_CACHE, _LEAST_METADATA + 2 * block))
            raise refusal(format_size(size), f"expected: {least} or more", at)
        if self.started == "full" and size // block > MOST_FULL:
            found = f"full, of {size // block:,} blocks"
            raise refusal(found, f"expected: with up to {MOST_FULL:,} blocks, or cold", ("caches", name, "state"))
        if self.kind == "bcache" and size // self.bucket_size < _LEAST_BUCKETS:
            found = f"{format_size(size)}, which is {size // self.bucket_size} buckets"
            raise refusal(found, f"expected: {_LEAST_BUCKETS} or more, as bcache asks for", at)
