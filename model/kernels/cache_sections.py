"""What the description of a kernel says of its page cache and of read-ahead."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from ..files.description import Fraction, PositiveSize, Size, Spec, refuse_set
from ..files.plugins import NameIn
from ..memory.settings import PageCacheSettings
from ..readahead import READ_AHEAD


class CacheSection(PageCacheSettings):
    """The page cache of files and of raw block devices, and the limits of dirty memory."""

    block: PositiveSize
    """Cached block of a raw device."""
    flush_run: PositiveSize
    """Contiguous bytes in one I/O of write-back to a parity array; other devices take their largest command."""
    flush_above: Fraction
    flush_below: Fraction
    limit: Fraction
    limit_counts_writeback: bool = True
    """Dirty limits as shares of `memory` ("low": what a 32-bit kernel maps directly; "all"): write-back starts above
    the first and goes on to the second; while more than `limit` is dirty or being written, writers are throttled."""
    duty: Size
    """What a throttled writer writes back itself before it goes on; 0: it pauses until the limit is kept."""
    throttle: Literal["limit", "balance"] = "limit"
    """"limit": writers run freely up to the limit. "balance": from the middle of `flush_above` and `limit` on they are
    slowed to what their device writes (:mod:`raidsim.model.memory.dirty_balance`)."""
    flush_pass: PositiveSize
    """Limits are checked after this number of bytes is dirtied or written back."""
    running_above: Size = 0
    running_below: Size = 0
    """While more than the first is under write-back, a program that writes behind itself waits, until it is no more
    than the second."""
    memory: Literal["low", "all"]
    """Which part of the memory the limits are shares of."""
    counts_activations: bool = False
    """Whether the active list of pages is aged by what is looked at on the inactive one, or by what is reclaimed."""
    half_pace: bool = False
    """If true, the active list is looked through at half the pace of the inactive one (2.4.10 to 2.6.8). If false, at
    the same pace."""
    second_chance: bool = False
    """Whether active pages that were used stay on their list for another round, which is half as fast."""
    raw_devices: bool = True
    """Whether disk devices are cached; where they are not (FreeBSD), only a file system's blocks are."""
    loop_cached: bool = False
    """Whether a loop device goes through the page cache of what is below it, or hands its I/O down (before 2.6.4)."""
    block_divides: bool = True
    """Whether it is made smaller until it divides the device (since 2.6: fs/block_dev.c, bd_set_size); before that,
    what is left over at the end of the device could not be reached."""
    source: str

    @model_validator(mode="after")
    def _only_a_kernels(self) -> Self:
        refuse_set(self, ("interleaves", "bio", "task_plug"), "it follows from the device and the file system")
        return self

    def block_on(self, capacity: int) -> int:
        """Cached block (bytes) of a device of `capacity` bytes."""
        return min(self.block, capacity & -capacity) if self.block_divides else self.block

    def reach(self, capacity: int) -> int:
        """Bytes of such a device that can be read and written through the cache."""
        return capacity - capacity % self.block_on(capacity)


class ReadAheadSection(Spec):
    """Largest read-ahead window."""

    policy: Annotated[str, NameIn(READ_AHEAD)]
    """A name of :data:`raidsim.model.readahead.READ_AHEAD`."""
    window: PositiveSize
    """On a plain device."""
    parity_chunks: int = 0
    parity_least: Size = 0
    """On a parity array: chunks, and bytes at least, per data disk."""
    stripes: int = 0
    """On RAID 0 and RAID 10: whole stripes of data at least, and no less per disk than `parity_least`."""
    optimal_ios: int | None = None
    """On any array: as many optimal I/Os (full data stripes). None: arrays other than parity have the plain window."""
    rotational_requests: int = Field(default=0, ge=0)
    """On a device that turns and names no optimal I/O: this many largest requests (`max_request`); 0: the plain
    window."""
    source: str

    def window_for_parity(self, data_disks: int, chunk_bytes: int) -> int:
        """Window (bytes) on RAID 4/5/6 of `data_disks` with chunks of `chunk_bytes`."""
        return max(self.window, data_disks * max(self.parity_chunks * chunk_bytes, self.parity_least))

    def window_for_stripes(self, stripe_bytes: int, data_disks: int) -> int:
        """Window (bytes) on an array other than parity with `stripe_bytes` of data in a stripe (0: it has none).

        Where `stripes` are given, `parity_least` holds for its data disks too.
        """
        least = data_disks * self.parity_least if self.stripes and stripe_bytes else 0
        return max(self.window, self.stripes * stripe_bytes, least)

    def window_for(self, optimal_bytes: int, rotational_request: int = 0) -> int:
        """Window (bytes) on a device with an optimal I/O of `optimal_bytes` (0: it names none).

        `rotational_request` is the largest request (bytes) of a device that turns, 0 for one that does not.
        """
        if not optimal_bytes:
            return max(self.window, self.rotational_requests * rotational_request)
        return max(self.window, (self.optimal_ios or 0) * optimal_bytes)
