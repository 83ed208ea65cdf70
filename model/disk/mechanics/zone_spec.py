"""The description of a zone of a hard disk, as a data sheet or a drive's own tables list it."""

from __future__ import annotations

from pydantic import Field, model_validator

from ...files.description import Spec
from .geometry import Zone
from .track_table import TrackZone

_MEASURED = ("sectors", "first_sector", "unused_tracks", "slipped_tracks", "spare_per_track", "spare_per_cylinder")
"""Fields of a zone that say where single tracks lie."""


class ZoneSpec(Spec):
    """A zone as a data sheet lists it."""

    cylinders: int = Field(ge=1)
    """With and without data."""
    sectors_per_track: float = Field(ge=1)
    """Sectors that pass in one turn; the mean if the drive varies it. A whole number where a skew is given."""
    sectors: int | None = Field(default=None, ge=1)
    """For the user; the cylinders behind them hold none. All but the spare ones if not given."""
    track_skew: int | None = Field(default=None, ge=0)
    """Sectors by which a track begins later than the one before it on the cylinder. All zones have both skews, or
    none."""
    cylinder_skew: int | None = Field(default=None, ge=0)
    """The same where the track before it is on another cylinder."""
    first_sector: float | None = Field(default=None, ge=0)
    """Sectors by which the zone begins later round the platter than the drive; by the cylinder skew if not given."""
    unused_tracks: int = Field(default=0, ge=0)
    """Tracks without data in front of the others."""
    slipped_tracks: tuple[int, ...] = ()
    """Numbers (from 0, unused ones counted) of bad tracks that are passed over."""
    spare_per_track: int = Field(default=0, ge=0)
    """Sectors kept free at the end of each track."""
    spare_per_cylinder: float = Field(default=0, ge=0)
    """Sectors kept free at the end of each cylinder; a fraction if it is so many of several cylinders."""

    @model_validator(mode="after")
    def _consistent(self) -> ZoneSpec:
        if (self.track_skew is None) != (self.cylinder_skew is None):
            raise ValueError("track_skew and cylinder_skew: found one; expected both or neither")
        if self.track_skew is None:
            needy = [name for name in _MEASURED if getattr(self, name) != type(self).model_fields[name].default]
            if needy:
                raise ValueError(f"{', '.join(needy)}: found without skews; expected with both skews")
        elif not self.sectors_per_track.is_integer():
            raise ValueError(
                f"sectors_per_track is {self.sectors_per_track}; expected a whole number, as skews are given"
            )
        return self


def listed_zones(listed: tuple[ZoneSpec, ...]) -> tuple[Zone, ...] | tuple[TrackZone, ...]:
    """The zones of a drive: with the skews of each, or without, as the first one has it."""
    if listed[0].track_skew is None:
        return tuple(Zone(zone.cylinders, zone.sectors_per_track) for zone in listed)
    return tuple(
        TrackZone(
            zone.cylinders,
            int(zone.sectors_per_track),
            zone.sectors,
            zone.track_skew or 0,
            zone.cylinder_skew or 0,
            zone.first_sector,
            zone.unused_tracks,
            zone.slipped_tracks,
            zone.spare_per_track,
            zone.spare_per_cylinder,
        )
        for zone in listed
    )
