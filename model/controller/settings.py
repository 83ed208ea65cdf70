"""How a hardware RAID controller works: its cache policies, their limits and its command time."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from ..core.device import Device
from ..files.description import Duration, Fraction, PositiveDuration, ShareBelowAll, Size, Spec, refusal
from ..layouts import ParityLayout
from ..raid.base.array import Array

PLAIN_ROW_BYTES = 64 * 1024
"""Cache line of a controller over an array without chunks (a mirror, a linear array)."""


class ControllerSettings(Spec):
    """What a controller's setup screen and its data sheet say."""

    command: Duration = 0.0
    """Firmware time of one host command."""
    latency: Duration = 0.0
    """Time of a host command in which no processor works on it: until firmware that polls its queues finds it, and
    until the host sees the reply. Commands on the fast path have none."""
    fast_path: Duration = 0.0
    """Firmware time of a host command on the fast path, its command to the drive included; 0 for a controller that has
    none. See :attr:`has_fast_path`."""
    write_page: Duration = 0.0
    """Firmware time for each 4 KiB that the host writes: a place in the memory found, linked and accounted for."""
    cache: Size = 0
    """Cache memory."""
    read_share: ShareBelowAll = 0.25
    """Share of the memory that holds data read and read ahead; the rest takes writes. Without write-back all of it."""
    write_policy: Literal["write-back", "write-through", "off"] = "write-back"
    """"write-back": a write is acknowledged when it is in controller memory. "write-through": when the drives have it.
    "off": the same, and nothing is kept for reads either."""
    battery: Literal["good", "failed", "learning", "charging"] = "good"
    """"failed", "learning" and "charging" all turn write-back into write-through, because in each of them the battery
    cannot hold the memory through an outage (LSI MegaRAID SAS Software User Guide, "Write Policy": the firmware
    switches to write-through if it detects a bad or missing battery; a learn cycle discharges the battery)."""
    clusters_writes: bool = False
    """Without write-back: whether commands that wait for their turn are gathered by stripe, the longest waiting first,
    as the cache of a write-back controller gathers them, instead of each going to the array as it comes. They are
    combined from when they are received: a stripe waits for data that is still on its way from the host."""
    forced_write_back: bool = False
    """Write-back whatever the battery says ("Always Write Back", "Write Back with bad BBU")."""
    partial_age: PositiveDuration = 4.0
    """Incomplete stripes are written when their oldest data is this old."""
    high_water: Fraction = 0.75
    low_water: Fraction = 0.5
    """Dirty shares of the write cache above which incomplete stripes are written, and below which that stops."""
    destage_depth: int = Field(default=16, ge=1)
    """Stripes being written from the cache at once."""
    partial_rows: Literal["together", "chunk by chunk"] = "together"
    """How what is dirty of an incomplete stripe of a parity array is written. "together": all of it and the parity
    once, with whatever reads are fewest. "chunk by chunk": each chunk is a small write of its own, with the parity
    read, changed and written before the next chunk's turn."""
    reads_ahead: Literal["steadily", "on a miss"] = "steadily"
    """When a sequential reader is read ahead for. "steadily": with every read, so that it stays this number of stripes
    ahead. "on a miss": with a read that memory does not serve, which therefore waits for the drives each time what was
    read ahead has been used up; stripes are those of the whole array, one chunk of every data drive."""
    read_ahead_rows: int = Field(default=2, ge=0)
    """Stripes read ahead of a sequential reader; 0 for none."""
    read_streams: int = Field(default=8, ge=1)
    """Readers followed at once."""
    sequential_reads: int = Field(default=2, ge=1)
    """Reads in a row that make a sequential reader."""
    keeps_reads: bool = True
    """Whether data read on demand stays in the cache ("Cached I/O"), or only what was read ahead."""
    queue_depth: int = Field(default=255, ge=1)
    """Commands of the host it works on at once; more wait outside."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.low_water > self.high_water:
            raise refusal(
                f"low_water {self.low_water}, high_water {self.high_water}", "expected: low_water at most high"
            )
        return self

    @property
    def writes_back(self) -> bool:
        """Whether writes are acknowledged from memory: policy, memory and battery allow it."""
        safe = self.battery == "good" or self.forced_write_back
        return self.write_policy == "write-back" and self.cache > 0 and safe

    @property
    def gathers_writes(self) -> bool:
        """Whether writes are gathered by stripe in memory, whenever they are acknowledged."""
        return self.writes_back or (self.clusters_writes and self.cache > 0)

    @property
    def has_fast_path(self) -> bool:
        """Whether commands may go past the firmware to a drive: no data of the volume is ever in the memory.

        So it is with write-through, no read-ahead and direct I/O, or with the cache off (Dell, PERC H700 and H800
        technical guide: Cut-Through I/O is enabled by write-through and no read-ahead).
        """
        reads_in_memory = self.read_bytes > 0 and (self.keeps_reads or self.read_ahead_rows > 0)
        return self.fast_path > 0 and not self.gathers_writes and not reads_in_memory

    @property
    def gathers_in_turn(self) -> bool:
        """Whether a gathered write is acknowledged only when the drives have it; nothing is then in the background."""
        return self.gathers_writes and not self.writes_back

    @property
    def write_bytes(self) -> int:
        """Memory for writes (bytes)."""
        return self.cache - self.read_bytes if self.gathers_writes else 0

    @property
    def read_bytes(self) -> int:
        """Memory for reads (bytes)."""
        if self.write_policy == "off":
            return 0
        return int(self.cache * self.read_share) if self.gathers_writes else self.cache

    def most_ahead_rows(self, row_bytes: int) -> int:
        """Rows of which it may read ahead of one reader: with those being read they take half of the read memory.

        More of them would push one another out before they are asked for as soon as the reader moves to another place.
        """
        rows = self.read_bytes // row_bytes
        return max(0, min(rows - 2, 2), rows // 2 - 2)


def row_bytes_of(device: Device) -> int:
    """Data bytes of a full stripe of an array: what a write has to cover so that parity needs no reading.

    A parity array's row; under a stripe over parity arrays (RAID 50) a row of one of them, if the outer chunk is made
    of whole rows, otherwise a row of all of them; one chunk of every member of a plain stripe, also over mirrors.
    """
    stripe = _stripe_bytes(device)
    if stripe:
        return stripe
    if not isinstance(device, Array):
        return PLAIN_ROW_BYTES
    chunk, members = chunk_bytes_of(device), device.members
    if not chunk:
        return row_bytes_of(members[0])
    inner = _stripe_bytes(members[0])
    if inner:
        return inner if chunk % inner == 0 else inner * len(members)
    return chunk * len(members)


def full_stripe_bytes_of(device: Device) -> int:
    """Data bytes of one chunk of every data drive; of all groups, where an array is a stripe over parity arrays."""
    row_bytes = row_bytes_of(device)
    if isinstance(device, Array) and not _stripe_bytes(device) and _stripe_bytes(device.members[0]) == row_bytes:
        return row_bytes * len(device.members)
    return row_bytes


def parity_chunk_of(device: Device) -> int:
    """Chunk size (bytes) of an array that keeps parity, or of the arrays that a stripe is made of; 0 without parity."""
    if _stripe_bytes(device):
        return chunk_bytes_of(device)
    return parity_chunk_of(device.members[0]) if isinstance(device, Array) else 0


def _stripe_bytes(device: Device) -> int:
    """Data bytes of a row with parity; 0 for a device that keeps none."""
    layout = device.striping if isinstance(device, Array) else None
    return layout.stripe_bytes if isinstance(layout, ParityLayout) else 0


def chunk_bytes_of(device: Device) -> int:
    """Chunk size (bytes) of an array; 0 for a device that has none."""
    layout = device.striping if isinstance(device, Array) else None
    return layout.chunk_bytes if layout is not None else 0
