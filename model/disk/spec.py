"""The description of a hard disk: what a data sheet says and what the model needs besides, in SI units."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any

from pydantic import Field, model_validator

from ..core.errors import ModelError
from ..files.description import Duration, Fraction, PositiveSize, Rate, Rotation, Size, Spec
from .geometry import Geometry, Zone
from .seek import SeekCurve


class ZoneSpec(Spec):
    """A zone as a data sheet lists it."""

    cylinders: int = Field(ge=1)
    sectors_per_track: float = Field(ge=1)


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
    outer_media_rate: Rate
    """Sustained bytes/s of sequential reading in the outermost zone, track crossings included."""
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
    write_settle: Duration = 0.0
    """What a write seek takes beyond a read seek."""
    head_switch: Duration = 0.0
    """From one head to the next of a cylinder."""
    head_skew: Duration | None = None
    """Time between the tracks of a cylinder; the head switch if not given."""
    cylinder_skew: Duration | None = None
    """Time between the cylinders; the track-to-track seek if not given."""
    read_overhead: Duration = 0.0
    """Firmware time before the arm starts for a read."""
    write_overhead: Duration = 0.0
    """Firmware time before a write's data is taken."""
    hit_overhead: Duration = 0.0
    """Firmware time of a read that the buffer serves."""
    cache: Size = 0
    """All of the buffer."""
    segments: int = Field(default=0, ge=0)
    """Streams that are read ahead at once; 0: none."""
    segment_size: Size = 0
    """Bytes of the buffer for one of them."""
    look_ahead: Size = 0
    """How far the head reads on, unasked."""
    look_ahead_first: Size | None = None
    """How far after a read that begins where no earlier one ended; as far as after any if not given."""
    write_cache: bool = False
    """Whether writes are acknowledged from the buffer."""
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
    queue_age_weight: float = Field(default=0.006, ge=0, le=1000)
    """Positioning time (s) that a second of waiting makes up for when the drive chooses the next command.

    Larger is fairer and slower. The form is that of Worthington, Ganger and Patt, SIGMETRICS 1994; the value is
    assumed: a read that lies a full stroke away waits for seconds, and throughput is within 5 % of what it is at 0.
    """
    queue_effort: Fraction = 0.5
    """Share (0 to 1) of the waiting commands, the oldest, among which the firmware looks for the nearest.

    At least one: at 0 the drive is first come, first served. Found: 0.28 on a desktop drive of 2007 (study
    louwrentius-2019), 0.75 on nearline drives of 2022 (data sheet of the Exos X24); the default lies between.
    """
    mtbf: Duration | None = None
    """Mean time between failures."""
    afr: Fraction | None = None
    """Share that fails in a year."""
    bits_per_unrecoverable_error: float | None = Field(default=None, gt=0)
    """Bits read for each sector that cannot be."""

    @model_validator(mode="after")
    def _consistent(self) -> DriveSpec:
        if self.segments and not self.segment_size:
            raise ValueError(f"segments is {self.segments}, so segment_size must be above 0")
        if self.look_ahead > self.segment_size:
            raise ValueError(f"look_ahead is {self.look_ahead} bytes; at most segment_size, {self.segment_size} bytes")
        buffers = self.segments * self.segment_size + (self.write_buffer if self.write_cache else 0)
        if buffers > self.cache:
            raise ValueError(f"segments and write_buffer take {buffers} bytes; at most cache, {self.cache} bytes")
        try:
            mechanics(self)
        except ModelError as error:
            raise ValueError(str(error)) from None
        return self

    @property
    def rotational(self) -> bool:
        """Whether it turns."""
        return True

    def with_values(self, **overrides: Any) -> DriveSpec:
        """A validated copy with some fields replaced (SI numbers or strings with units)."""
        return DriveSpec.model_validate({**self.model_dump(), **overrides})


def mechanics(spec: DriveSpec) -> tuple[Geometry, SeekCurve]:
    """Geometry and seek curve of a drive; the same objects for the same mechanical data."""
    head_skew = spec.head_switch if spec.head_skew is None else spec.head_skew
    cylinder_skew = spec.seek_track_to_track if spec.cylinder_skew is None else spec.cylinder_skew
    zones = (
        spec.zones if isinstance(spec.zones, int) else tuple(Zone(z.cylinders, z.sectors_per_track) for z in spec.zones)
    )
    return _mechanics(
        spec.capacity,
        spec.heads,
        spec.rotation,
        spec.outer_media_rate,
        spec.inner_media_rate,
        zones,
        head_skew,
        cylinder_skew,
        spec.seek_track_to_track,
        spec.seek_average,
        spec.seek_full_stroke,
        spec.write_settle,
    )


@lru_cache(maxsize=16)
def _mechanics(
    capacity: int,
    heads: int,
    rpm: float,
    outer_rate: float,
    inner_rate: float,
    zones: int | tuple[Zone, ...],
    head_skew: float,
    cylinder_skew: float,
    track_to_track: float,
    average: float,
    full_stroke: float,
    write_settle: float,
) -> tuple[Geometry, SeekCurve]:
    if isinstance(zones, int):
        geometry = Geometry.from_rates(
            capacity=capacity,
            heads=heads,
            rpm=rpm,
            outer_rate=outer_rate,
            inner_rate=inner_rate,
            head_skew_s=head_skew,
            cylinder_skew_s=cylinder_skew,
            zone_count=zones,
        )
    else:
        geometry = Geometry(zones, heads, rpm, head_skew, cylinder_skew, capacity)
    return geometry, SeekCurve(geometry.cylinders, track_to_track, average, full_stroke, write_settle)
