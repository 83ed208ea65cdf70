"""How the caches are set up; the defaults are those of the drivers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

CacheMode = Literal["writeback", "writethrough", "passthrough"]
BcacheMode = Literal["writethrough", "writeback", "writearound", "none"]

TICK_S: Final = 1.024
"""From one run of dm-cache's worker to the next: a second, rounded up by the timer wheel (HZ 250: steps of 32 ms)."""


@dataclass(frozen=True, slots=True)
class DmCacheSettings:
    """How a cache is set up.

    Attributes
    ----------
    block_bytes
        Bytes of a cache block.
    mode
        Where writes go.
    migration_threshold
        Bytes that may be written back at a time.
    first_tick_s
        When the worker runs for the first time (s).
    """

    block_bytes: int = 65_536
    mode: CacheMode = "writeback"
    migration_threshold: int = 1 << 20
    first_tick_s: float = TICK_S


@dataclass(frozen=True, slots=True)
class WritecacheSettings:
    """How a cache is set up.

    Attributes
    ----------
    block_bytes
        Bytes of a block.
    high_watermark, low_watermark
        Writeback begins when this share (0 to 1) of the blocks is used, and ends when that one is.
    autocommit_blocks, autocommit_s
        A commit begins when this number of blocks has been written, or this time (s) after the first one.
    pause_s
        Writeback waits until nothing has been written to the origin or flushed there for this time (s).
    """

    block_bytes: int = 4096
    high_watermark: float = 0.5
    low_watermark: float = 0.45
    autocommit_blocks: int = 65_536
    autocommit_s: float = 1.0
    pause_s: float = 3.0


@dataclass(frozen=True, slots=True)
class BcacheSettings:
    """How a cache is set up.

    Attributes
    ----------
    block_bytes, bucket_bytes
        Bytes of a block and of a bucket.
    mode
        Where writes go: to both devices, to the cache, to the origin; "none": everything goes to the origin.
    sequential_cutoff
        Bytes from which on a stream passes the cache by; 0: none does.
    writeback_percent
        Percentage of the cache that may be dirty before the writeback speeds up; 0: it is never held back.
    writeback_delay_s
        Rest of the writeback after it has looked at everything (s).
    """

    block_bytes: int = 4096
    bucket_bytes: int = 524_288
    mode: BcacheMode = "writethrough"
    sequential_cutoff: int = 4 << 20
    writeback_percent: int = 10
    writeback_delay_s: float = 30.0
