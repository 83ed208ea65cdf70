"""What the model needs to know of a solid-state drive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import Field, model_validator

from ..core.discard import MOST_BIO_BYTES, SECTOR
from ..core.exact_sums import sum_in_order
from ..disk.spec import sector_problem, share_of_capacity
from ..files.description import Duration, PositiveSize, Power, Rate, ShareBelowAll, Size, Spec

USUAL_STEPS: Final = {1: (1,), 2: (1, 2), 3: (2, 3, 2), 4: (4, 4, 3, 4)}
"""Sensing steps of the pages of a cell, by its bits. A cell of n bits has 2^n - 1 borders between its levels. Each step
senses one border, and each border tells one page apart. Balanced codes spread the borders over the pages: 2-3-2 is the
default code of TLC (Hou and Chang, "Improving read performance for LDPC-based SSDs with adaptive bit labeling",
NVMSA 2023), and pages of QLC take three or four steps (US patent 12,299,315)."""
SETUP_STEPS: Final = 2.0
"""What a read takes besides its sensing, in steps: charging and discharging the lines. Micron's L95B (MLC) reads pages
of 1 and 2 steps in 48 and 64 us, which is 2.0 steps (H. Li et al., "The CASE of FEMU", FAST 2018). TLC with pages of
1, 2 and 4 steps takes 56.5, 77.5 and 106 us, which is 2.5 (M. Jung et al., "SimpleSSD", IEEE Computer Architecture
Letters 2018)."""

SATA_TRIM_BYTES: Final = 64 * 65535 * SECTOR
"""A TRIM command of libata: a page of 64 ranges of 65,535 sectors (drivers/ata/libata-scsi.c)."""
UNIT_BYTES: Final = 4096
"""What `unit_time` is the time of."""
MOVE_SHARE: Final = 0.7
"""The work of a controller for a moved unit, in commands: the map is looked up and changed, but no host is served.
Calibrated on the random writes of data sheets: a larger share would limit the Solidigm P5810, which reaches 95 % of its
sheet (469,000 of 495,000/s). Without it a mix of 70 % reads is 38 % above the sheet of the Intel P3700."""
_MOST_DIES = 1024


class SolidStateSpec(Spec):
    """A solid-state drive; SI units."""

    model: str

    interface: str
    interface_rate: Rate
    """"PCIe 4.0 x4 NVMe", "SATA 6Gb/s", "SAS 12Gb/s"; bytes/s that its own connector moves, each way."""
    capacity: PositiveSize
    flash: PositiveSize
    """Bytes for the user, and bytes of flash that hold them: the rest is spare (over-provisioning)."""
    channels: int = Field(ge=1, le=64)
    channel_rate: Rate
    dies: int = Field(ge=1, le=_MOST_DIES)
    planes: int = Field(default=2, ge=1, le=8)
    """Buses to the flash and what each moves (bytes/s); dies on all of them; planes that a die works on at once."""
    independent_planes: bool = False
    """If true, each plane of a die works for its own command. If false, all planes of a die work for one command."""
    parity_of: int | None = Field(default=None, ge=2, le=1024)
    """Pages of a stripe over the dies, of which one holds parity in case a die fails. None: no parity."""
    page: PositiveSize = 16384
    pages_per_block: int = Field(default=768, ge=1)
    """Bytes of a page of one plane, and pages of a block of one plane."""
    in_place: bool = False
    """If true, the memory is overwritten in place (3D XPoint, DRAM): no spare flash, no garbage collection, no
    erases."""
    in_submission: Literal["copy", "answer"] | None = None
    """What the driver of a block device in memory does inside the submission, with CPU time of the thread that submits:
    "copy" the data, at the processor's `copy_rate` (brd), or only "answer" (null_blk without `memory_backed`).
    `read_overhead` and `write_overhead` are then CPU time as well; rates and times of the drive's parts have no effect.
    None: the drive works while the thread goes on."""
    queued: bool = True
    """If false, the driver has its own `submit_bio` and takes block I/Os as they come: no requests, tags, merging or
    I/O scheduler. Only with `in_submission`."""
    bits_per_cell: int = Field(default=3, ge=1, le=4)
    """Pages of a plane that are programmed at once (one-shot): 2 MLC, 3 TLC, 4 QLC; 1 where pages are programmed
    singly."""
    read_time: Duration
    """Of a read of the pages of all planes: the mean of all kinds of pages."""
    read_steps: tuple[int, ...] | None = Field(default=None, min_length=1, max_length=8)
    """Sensing steps of each kind of page of a cell. There are as many pages of each kind. A page with more steps is
    read more slowly (`read_times`). None: the usual steps for `bits_per_cell`."""
    program_time: Duration
    erase_time: Duration
    """Of the pages of all planes; a program is of `bits_per_cell` pages each."""
    programs_at_once: int | None = Field(default=None, ge=1)
    """Dies that may program at once, because that takes the most power; None: all. Garbage collection's programs count
    as well."""
    suspend_time: Duration | None = None
    """After which a read interrupts a program or an erase; None: it waits until that is over."""
    suspensions: int = Field(default=8, ge=0, le=10_000)
    """How often one program or erase is interrupted at most; then reads wait for its end. 8 (assumed: that makers set a
    number is known, the number is not)."""
    logical_sector: PositiveSize = 512
    """Bytes of its smallest command, by its format: 512, or 4,096."""
    mapping_unit: PositiveSize = 4096
    """Smallest piece (bytes) that is mapped separately; a smaller write reads the rest of it first."""
    mapping_reach: PositiveSize | None = None
    """Bytes of the drive whose map the controller's memory holds; None: all. At other addresses a read of the map comes
    first."""
    read_overhead: Duration
    write_overhead: Duration
    """Time of the controller and its firmware for a command, without the flash."""
    command_rate: float = Field(gt=0)
    unit_time: Duration = Field(default=0.0, ge=0)
    """Commands/s that the controller takes at most, of up to 4 KiB each; its time for each further 4 KiB of a command
    (error correction and transfer through its memory). Garbage collection takes `unit_time` for each 4 KiB that it
    moves. 0: larger commands take no more, and what collection moves takes a share of a command (`move_share`)."""
    queue_depth: int = Field(default=1023, ge=1, le=65536)
    queues: int = Field(default=1, ge=1, le=65536)
    """Commands that it takes at once in each queue, and queues."""
    write_buffer: PositiveSize
    power_loss_protection: bool = False
    """Bytes that are acknowledged before they are in flash; whether they survive, so that a flush has nothing to do."""
    flush_time: Duration | None = None
    """Time of the controller for a flush that finds something written since the last one, besides the programs of what
    is in the buffer: it makes its map safe as well. None: `write_overhead`."""
    fua_time: Duration | None = None
    """The same of a write with FUA (force unit access). Firmware can take it for a flush of its own, or for more than
    one: 171 writes a second with FUA and 802 with a flush after each were measured on one drive, 4,863 and 4,265 on
    another (A. Freund, 2024). None: `flush_time`."""
    slc_cache: Size = 0
    slc_program_time: Duration | None = None
    slc_read_time: Duration | None = None
    """Bytes written as one bit per cell first (0: none), and the times there; programs are of one page of all
    planes."""
    read_ahead: Size = 0
    """Bytes that are read ahead of a stream of sequential reads (0: none)."""
    mtbf: Duration | None = None
    afr: ShareBelowAll | None = None
    bits_per_unrecoverable_error: float | None = Field(default=None, gt=0)
    endurance: PositiveSize | None = None
    """Failures, and bytes that may be written in all."""
    power_idle: Power | None = None
    power_active: Power | None = None
    """Mean power without commands, and while its busiest part has no pause."""

    @model_validator(mode="after")
    def _consistent(self) -> SolidStateSpec:
        if self.flash < self.capacity or (self.flash == self.capacity and not self.in_place):
            raise ValueError(f"flash is {self.flash} bytes; more than capacity, {self.capacity} bytes")
        if self.in_place and self.slc_cache:
            raise ValueError(f"in_place is true and slc_cache is {self.slc_cache} bytes; 0 where nothing is erased")
        if self.in_submission is not None and not self.in_place:
            raise ValueError("in_submission is given and in_place is false; true for a block device in memory")
        if not self.queued and self.in_submission is None:
            raise ValueError("queued is false and in_submission is not given; such a driver does its work there")
        if self.dies % self.channels:
            raise ValueError(f"dies is {self.dies}; a multiple of channels, {self.channels}")
        if self.slc_cache and self.slc_program_time is None:
            raise ValueError("slc_cache is given, so slc_program_time must be")
        for field in ("page", "mapping_unit"):
            value = getattr(self, field)
            if value < 512 or value & (value - 1):
                raise ValueError(f"{field} is {value} bytes; a power of two, 512 bytes or more")
        problem = sector_problem(self.logical_sector, self.logical_sector, self.capacity)
        if problem is not None:
            raise ValueError(problem)
        if self.read_steps is not None and min(self.read_steps) < 1:
            raise ValueError(f"read_steps is {list(self.read_steps)}; at least 1 for each kind of page")
        if self.logical_sector > self.mapping_unit:
            raise ValueError(f"mapping_unit is {self.mapping_unit} bytes; at least logical_sector")
        if self.mapping_unit > self.planes * self.page:
            raise ValueError(f"mapping_unit is {self.mapping_unit} bytes; at most the page of all planes of a die")
        if self.capacity % self.mapping_unit:
            raise ValueError(f"capacity is {self.capacity} bytes; a multiple of mapping_unit, {self.mapping_unit}")
        data = self.superblock_data
        if not self.in_place and self.superblocks * data < self.capacity + 4 * data:
            parity = "" if self.parity_of is None else f", without parity (parity_of: {self.parity_of}) {data} bytes"
            raise ValueError(
                f"flash is {self.flash} bytes, {self.superblocks} superblocks (a block of every plane of every die) of "
                f"{self.superblock} bytes{parity}; what the capacity needs and at least four more"
            )
        if self.power_idle is not None and self.power_active is not None and self.power_idle > self.power_active:
            raise ValueError(f"power_idle is {self.power_idle:g} W; at most power_active, {self.power_active:g} W")
        return self

    @property
    def rotational(self) -> bool:
        """Whether it turns."""
        return False

    @property
    def read_times(self) -> tuple[float, ...]:
        """Time (s) of a read of each kind of page; their mean is `read_time`."""
        steps = self.read_steps or USUAL_STEPS[self.bits_per_cell]
        mean = sum_in_order(steps) / len(steps)
        return tuple(self.read_time * (SETUP_STEPS + each) / (SETUP_STEPS + mean) for each in steps)

    @property
    def durable_times(self) -> tuple[float, float]:
        """Time (s) of a flush that finds something, and of a write with FUA, besides the programs."""
        flush_s = self.write_overhead if self.flush_time is None else self.flush_time
        return flush_s, flush_s if self.fua_time is None else self.fua_time

    @property
    def full_duplex(self) -> bool:
        """Whether data to and from it cross its connector at the same time: on PCIe and SAS, not on SATA."""
        return not self.interface.upper().startswith("SATA")

    @property
    def largest_trim(self) -> int:
        """Bytes of the largest discard command: of NVMe and SAS as much as a bio has, or nearly."""
        return MOST_BIO_BYTES if self.full_duplex else SATA_TRIM_BYTES

    @property
    def superblock(self) -> int:
        """Bytes of a block of every plane of every die, which are written and erased together."""
        return self.dies * self.planes * self.pages_per_block * self.page

    @property
    def superblock_data(self) -> int:
        """Bytes of them that hold data, not parity: whole mapping units."""
        return int(self.superblock * (1.0 - self.parity_share)) // self.mapping_unit * self.mapping_unit

    @property
    def parity_share(self) -> float:
        """Share of the flash that holds parity."""
        return 0.0 if self.parity_of is None else 1.0 / self.parity_of

    @property
    def superblocks(self) -> int:
        """How many of them the flash has."""
        return self.flash // self.superblock

    @property
    def move_share(self) -> float:
        """Commands that the controller could have taken for each unit that collection moves.

        Without a `unit_time` none on SATA, where the cable sets the commands/s. None where nothing is collected.
        """
        if self.in_place:
            return 0.0
        if self.unit_time:
            return self.unit_time * self.command_rate * self.mapping_unit / UNIT_BYTES
        return MOVE_SHARE if self.full_duplex else 0.0

    @property
    def by_commands(self) -> SolidStateSpec:
        """The drive with a die for each part of the flash that works for its own command (`independent_planes`)."""
        if not self.independent_planes or self.planes == 1:
            return self
        at_once = self.programs_at_once
        parts = {
            "dies": self.dies * self.planes,
            "planes": 1,
            "programs_at_once": None if at_once is None else at_once * self.planes,
        }
        return self.model_copy(update=parts)

    def with_values(self, **overrides: Any) -> SolidStateSpec:
        """A validated copy with some fields replaced (SI numbers or strings with units); see :meth:`with_fields`."""
        return SolidStateSpec.model_validate(self.with_fields(overrides))

    def with_fields(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """See :meth:`.Spec.with_fields`.

        Another capacity is another drive of the family: flash, dies, the cache of one bit per cell and endurance go
        with it unless they are given too. Controller, channels and the flash's own times stay.
        """
        values = super().with_fields(changes)
        share = share_of_capacity(self.capacity, changes)
        if share is not None:
            groups = max(1, min(_MOST_DIES // self.channels, round(self.dies * share / self.channels)))
            alike = {
                "flash": int(self.flash * share),
                "dies": groups * self.channels,
                "slc_cache": int(self.slc_cache * share),
                "endurance": None if self.endurance is None else int(self.endurance * share),
            }
            values |= {name: value for name, value in alike.items() if name not in changes}
        return values
