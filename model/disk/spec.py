"""The description of a hard disk: what a data sheet says and what the model needs besides, in SI units."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from ..core.errors import InputError, ModelError
from ..files.description import Duration, Fraction, PositiveSize, Power, Rate, Rotation, ShareBelowAll, Size, Spec
from ..files.quantities import parse_size
from .mechanics.geometry import SECTOR, Geometry, Zone
from .mechanics.seek import MeasuredSeeks, SeekCurve
from .mechanics.track_table import TrackTable, TrackZone
from .mechanics.zone_spec import ZoneSpec, listed_zones

_LARGEST_SECTOR = 4096
"""Linux takes no device with logical sectors above a page (block/blk-settings.c: blk_validate_limits)."""


_MOST_HEADS = 22
"""Surfaces of eleven platters, the most that disks of 3.5 inches have."""
_DIVIDED = (
    *("capacity", "heads", "cache", "segments", "write_buffer", "write_extents"),
    *("media_cache", "media_cache_regions", "media_cache_batch"),
)
"""Fields of which each actuator has an equal share."""


class DriveSpec(Spec):
    """What the model needs to know of a hard disk; SI units."""

    model: str
    """The maker's name of it."""
    interface: str
    """In words."""
    interface_rate: Rate
    """Bytes/s over the drive's own connector."""
    capacity: PositiveSize
    """For the user."""
    rotation: Rotation
    """Of the platters."""
    heads: int = Field(ge=1)
    """Tracks of a cylinder."""
    actuators: int = Field(default=1, ge=1, le=8)
    """Independent arms, each over an equal part of heads, addresses, buffer and media cache."""
    outer_media_rate: Rate
    """Sustained bytes/s of sequential reading in the outermost zone, track crossings included; of one actuator."""
    inner_media_rate: Rate
    """The same in the innermost zone."""
    zones: Annotated[int, Field(ge=1, le=1000)] | tuple[ZoneSpec, ...] = 16
    """Number of equal zones between the two rates, or the zones themselves (the rates are then ignored)."""
    seek_track_to_track: Duration
    """Read seek of one cylinder."""
    seek_average: Duration
    """Mean read seek over random pairs of sectors."""
    seek_full_stroke: Duration
    """Read seek over all cylinders."""
    seek_points: tuple[tuple[int, Duration], ...] = ()
    """Measured read seeks: cylinders, from 1, and times. With straight lines between them they replace the curve
    through the three seeks above."""
    write_seek_points: tuple[tuple[int, Duration], ...] = ()
    """The same of writes; those of reads plus `write_settle` if not given."""
    write_settle: Duration = 0.0
    """What a write seek takes beyond a read seek."""
    head_switch: Duration = 0.0
    """From one head to the next of a cylinder."""
    head_switch_seeks: bool = False
    """If true, a command on another head of the same cylinder takes at least `head_switch`. If false, it only waits for
    the platter."""
    head_skew: Duration | None = None
    """Time between the tracks of a cylinder; the head switch if not given."""
    cylinder_skew: Duration | None = None
    """Time between the cylinders; the track-to-track seek if not given."""
    read_overhead: Duration = 0.0
    """Firmware time before the arm starts for a read."""
    write_overhead: Duration = 0.0
    """Firmware time before a write's data is taken."""
    write_data_overhead: Duration | None = None
    """Firmware time before the data of a write that is not cached is taken. If not given, `write_overhead`: when the
    arm starts."""
    write_ahead: Size = 0
    """Bytes of a write that is not cached, or all of it, that must be in the buffer before the head writes."""
    hit_overhead: Duration = 0.0
    """Firmware time of a read that the buffer serves."""
    command_time: Duration | None = None
    """Time of the drive's processor for a command that needs no head: a read from the buffer or a cached write. A drive
    with command queuing serves these one after another, so 1 / `command_time` a second at most. `hit_overhead` if not
    given: of today's drives 6 us (assumed), so 167,000 commands a second. It is well below the 16 us of a drive that
    reads 4 KiB I/Os in order at a media rate of 250 MB/s."""
    read_overhead_after_write: Duration | None = None
    """`read_overhead` where the command before was a write; the same if not given."""
    write_overhead_after_write: Duration | None = None
    """`write_overhead` where the command before was a write; the same if not given."""
    read_completion: Duration = 0.0
    """From the last byte of a read at the host to the end of the command."""
    write_completion: Duration = 0.0
    """From the last byte of a write in the buffer (cached) or on the platters to the end of the command."""
    read_watermark: Fraction | None = None
    """Share of a read that must be in the buffer before its data goes out, at least a sector; whole sectors follow as
    they come. If not given, data goes out so that the last byte leaves when it has been read."""
    cache: Size = 0
    """All of the buffer."""
    segments: int = Field(default=0, ge=0)
    """Streams that are read ahead at once; 0: none."""
    segment_size: Size = 0
    """Bytes of the buffer for one of them."""
    segment_wraps: bool = False
    """If true, a segment holds the last `segment_size` bytes that were read into it: reading ahead overwrites what came
    before. If false, it holds as much of what was asked for, and what was read ahead beyond it."""
    keeps_sent: bool = True
    """If true, a segment keeps what has been sent to the host. If false, only what was read ahead."""
    keeps_written: bool = False
    """If true, a cached write can be read from its segment also when it is on the platters. If false, only until
    then."""
    writes_clear: bool = False
    """If true, a write empties the segments that hold some of what it overwrites. If false, they take the new data."""
    look_ahead: Size = 0
    """How far the head reads on, unasked."""
    look_ahead_first: Size | None = None
    """How far after a read that begins where no earlier one ended; as far as after any if not given."""
    look_ahead_until: Literal["segment", "track", "next track"] = "segment"
    """Where the look-ahead ends at the latest: only at `look_ahead`; at the end of the track; or at the end of the next
    track if the segment began on an earlier one."""
    minimum_prefetch: Size = 0
    """How far the head reads a stream ahead before it serves another read, at most `look_ahead` and what was read
    in order. 0: any other command cuts in at once."""
    keeps_before: bool = False
    """If true, sectors that pass while the head waits for the first one asked for are kept in the segment."""
    reads_at_once: bool = False
    """If true, a read begins with the sector that the head meets first, even in its middle. If false, with its first
    sector."""
    write_cache: bool = False
    """Whether writes are acknowledged from the buffer, as the drive is shipped."""
    write_buffer: Size = 0
    """Bytes of the buffer for writes."""
    write_extents: int = Field(default=64, ge=1)
    """Separate runs of cached writes at most."""
    destage_batch: PositiveSize = 512 * 1024
    """Bytes for which writing back goes on once it has begun."""
    low_water: Size = 0
    """A batch ends when a stream's lead falls to this."""
    look_ahead_returns: bool = True
    """Whether the head goes back to read ahead unasked although a write has come since the last read."""
    queue_depth: int = Field(default=1, ge=1, le=256)
    """Commands that the drive knows at once."""
    queue_age_weight: float = Field(default=0.003, ge=0, le=1000)
    """Positioning time (s) that a wait of one second makes up for when the drive chooses the next command, and four
    times as much a wait of two: the credit grows with the square, so that it is small until a command is old.

    Larger is fairer and slower. No maker gives the value. It is chosen so that a read an average seek and half a turn
    away waits for 2 s. Next to a stream the longest wait of a random read is then 2.4 to 2.8 s on the catalogue's
    drives of up to 7,200 rpm. Real drives of several models broke off the stream after 1 to 4 s (A. Motin,
    openzfs/zfs #15270, 2023-09-14). The command aging limit of Ultrastar drives is 48 times 50 ms (Ultrastar C15K600
    specification, 18.10.2).
    """
    queue_effort: Fraction = 0.5
    """Share (0 to 1) of the waiting commands, the oldest, among which the firmware looks for the nearest.

    At least one: at 0 the drive is first come, first served. A desktop drive of 2007 weighs 0.28 (louwrentius-2019).
    """
    queue_margin: Duration = 0.0
    """Time (s) that the firmware adds to each seek when it chooses the next command, as a seek sometimes settles late
    and then costs a turn. It bounds what a deep queue gains, most of all where seeks are short."""
    media_cache: Size = 0
    """Bytes of the platters to which small writes go before they are moved home; 0: none."""
    media_cache_regions: int = Field(default=16, ge=1, le=1000)
    """Parts of the media cache, spread evenly over the disk; the first one is at the outer rim."""
    media_cache_entries: int = Field(default=250_000, ge=128)
    """Writes that the media cache's map holds at most."""
    media_cache_largest: PositiveSize = 64 * 1024
    """Largest write that goes to the media cache. With `band_size`: of the largest piece in one record."""
    media_cache_batch: PositiveSize = 16 * 1024 * 1024
    """Bytes of the media cache that are read into the buffer at once, to be moved home in order of their addresses."""
    media_cache_idle: Duration = 1.0
    """Time without a command after which the drive moves writes home."""
    media_cache_filled: Fraction = 0.0
    """Share of the media cache that older writes, of 4 KiB at random addresses, take at time 0."""
    band_size: Size = 0
    """Bytes of a band of shingled tracks, which can only be rewritten as a whole, in whole blocks of 4 KiB; 0: the
    tracks do not overlap."""
    open_bands: int = Field(default=8, ge=1, le=1000)
    """Bands of shingled tracks that are written in order at once."""
    logical_sector: PositiveSize = SECTOR
    """Bytes of its smallest command: 512 (512n and 512e), or 4,096 (4Kn)."""
    physical_sector: PositiveSize = SECTOR
    """Bytes that the head writes as one: 512 (512n), or 4,096 (512e and 4Kn). A write of a part of it first reads the
    rest, and takes a turn more."""
    mtbf: Duration | None = None
    """Mean time between failures."""
    afr: ShareBelowAll | None = None
    """Share that fails in a year."""
    bits_per_unrecoverable_error: float | None = Field(default=None, gt=0)
    """Bits read for each sector that cannot be."""
    power_idle: Power | None = None
    """Mean power while the platters turn and no command comes."""
    power_active: Power | None = None
    """Mean power while commands come without a pause."""

    @model_validator(mode="after")
    def _consistent(self) -> DriveSpec:
        if self.segments and not self.segment_size:
            raise ValueError(f"segments is {self.segments}, so segment_size must be above 0")
        if self.look_ahead > self.segment_size and not self.segment_wraps:
            raise ValueError(f"look_ahead is {self.look_ahead} bytes; at most segment_size, {self.segment_size} bytes")
        buffers = self.segments * self.segment_size + (self.write_buffer if self.write_cache else 0)
        if buffers > self.cache:
            raise ValueError(f"segments and write_buffer take {buffers} bytes; at most cache, {self.cache} bytes")
        if self.band_size and not self.media_cache:
            raise ValueError(f"band_size is {self.band_size} bytes, so media_cache must be above 0")
        if self.band_size and not 4096 <= self.band_size <= self.capacity:
            raise ValueError(
                f"band_size is {self.band_size} bytes; expected 4096 up to capacity, {self.capacity} bytes"
            )
        if self.media_cache:
            self._fits_media_cache()
        if self.actuators > 1:
            self._divides()
        if not isinstance(self.zones, int) and len({zone.track_skew is None for zone in self.zones}) > 1:
            raise ValueError("zones: some have skews; expected all or none")
        if self.write_seek_points and not self.seek_points:
            raise ValueError("write_seek_points: found without seek_points; expected with them")
        problem = sector_problem(self.logical_sector, self.physical_sector, self.capacity)
        if problem is not None:
            raise ValueError(problem)
        try:
            mechanics(self)
        except ModelError as error:
            raise ValueError(str(error)) from None
        if self.power_idle is not None and self.power_active is not None and self.power_idle > self.power_active:
            raise ValueError(f"power_idle is {self.power_idle:g} W; at most power_active, {self.power_active:g} W")
        return self

    def _fits_media_cache(self) -> None:
        """Refuse a media cache that is too large for the disk, or divided into parts too small for a write."""
        if self.media_cache_batch > self.cache:
            raise ValueError(f"media_cache_batch is {self.media_cache_batch} bytes; at most cache, {self.cache} bytes")
        part, most = self.media_cache // self.media_cache_regions, self.capacity // 2
        if self.media_cache > most:
            raise ValueError(f"media_cache is {self.media_cache} bytes; at most half the capacity, {most} bytes")
        if part < 2 * self.media_cache_largest:
            raise ValueError(
                f"media_cache: found {part} bytes in each of {self.media_cache_regions} regions; expected at least "
                f"{2 * self.media_cache_largest} bytes, twice media_cache_largest"
            )

    def _divides(self) -> None:
        """Refuse what cannot be divided among the actuators."""
        if not isinstance(self.zones, int):
            raise ValueError(f"actuators is {self.actuators}: found a list of zones; expected their number")
        for name, unit in (("capacity", 4096), ("heads", 1)):
            value = getattr(self, name)
            if value % (self.actuators * unit):
                raise ValueError(f"{name} is {value}; expected a multiple of {self.actuators * unit}, for actuators")

    def of_one_actuator(self) -> DriveSpec:
        """What one of several actuators has: a drive of its own, with its share of what they divide."""
        shares = {name: getattr(self, name) // self.actuators for name in _DIVIDED}
        least = {name: max(1, shares[name]) for name in ("write_extents", "media_cache_regions")}
        entries = max(128, self.media_cache_entries // self.actuators)
        return self.with_values(**{**shares, **least, "media_cache_entries": entries, "actuators": 1})

    @property
    def rotational(self) -> bool:
        """Whether it turns."""
        return True

    def with_values(self, **overrides: Any) -> DriveSpec:
        """A validated copy with some fields replaced (SI numbers or strings with units); see :meth:`with_fields`."""
        return DriveSpec.model_validate(self.with_fields(overrides))

    def with_fields(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """See :meth:`.Spec.with_fields`.

        Another capacity is another drive of the family: with as many surfaces of the same density as it takes, unless
        `heads` is given too, or the zones are listed.
        """
        values = super().with_fields(changes)
        share = share_of_capacity(self.capacity, changes)
        if share is not None and "heads" not in changes and isinstance(self.zones, int):
            arms = self.actuators
            surfaces = min(round(self.heads / arms * share), max(self.heads, _MOST_HEADS) // arms)
            values["heads"] = max(1, surfaces) * arms
        return values


def sector_problem(logical: int, physical: int, capacity: int) -> str | None:
    """What is wrong with the sectors of a drive (bytes); None if nothing is."""
    for field, size in (("logical_sector", logical), ("physical_sector", physical)):
        if not SECTOR <= size <= _LARGEST_SECTOR or size & (size - 1):
            return f"{field} is {size} bytes; a power of two from {SECTOR} to {_LARGEST_SECTOR} bytes"
    if physical < logical:
        return f"physical_sector is {physical} bytes; at least logical_sector, {logical} bytes"
    if logical > SECTOR and capacity % logical:
        return f"capacity is {capacity} bytes; a multiple of logical_sector, {logical} bytes"
    return None


def share_of_capacity(capacity: int, overrides: Mapping[str, Any]) -> float | None:
    """How much larger another drive of a family is, if the overrides of fields say so; None if they do not, or with
    something that is no size, which whoever validates them refuses.
    """
    try:
        return parse_size(overrides["capacity"]) / capacity
    except (KeyError, InputError):
        return None


def mechanics(spec: DriveSpec) -> tuple[Geometry, SeekCurve]:
    """Geometry and seek times of a drive; the same objects for the same mechanical data."""
    geometry = _geometry(
        spec.capacity,
        spec.heads,
        spec.rotation,
        spec.outer_media_rate,
        spec.inner_media_rate,
        spec.zones if isinstance(spec.zones, int) else listed_zones(spec.zones),
        spec.head_switch if spec.head_skew is None else spec.head_skew,
        spec.seek_track_to_track if spec.cylinder_skew is None else spec.cylinder_skew,
    )
    if spec.seek_points:
        return geometry, _measured_seeks(
            geometry.cylinders, spec.seek_points, spec.write_seek_points, spec.write_settle
        )
    return geometry, _seek_curve(
        geometry.cylinders,
        spec.seek_track_to_track,
        spec.seek_average,
        spec.seek_full_stroke,
        spec.write_settle,
    )


@lru_cache(maxsize=16)
def _geometry(
    capacity: int,
    heads: int,
    rpm: float,
    outer_rate: float,
    inner_rate: float,
    zones: int | tuple[Zone, ...] | tuple[TrackZone, ...],
    head_skew: float,
    cylinder_skew: float,
) -> Geometry:
    if isinstance(zones, int):
        return Geometry.from_rates(
            capacity=capacity,
            heads=heads,
            rpm=rpm,
            outer_rate=outer_rate,
            inner_rate=inner_rate,
            head_skew_s=head_skew,
            cylinder_skew_s=cylinder_skew,
            zone_count=zones,
        )
    tracks = [zone for zone in zones if isinstance(zone, TrackZone)]
    if tracks:
        return TrackTable(tracks, heads, rpm, capacity)
    plain = [zone for zone in zones if isinstance(zone, Zone)]
    return Geometry(plain, heads, rpm, head_skew, cylinder_skew, capacity)


_seek_curve = lru_cache(maxsize=8)(SeekCurve)  # up to 16 MB each
_measured_seeks = lru_cache(maxsize=8)(MeasuredSeeks)
