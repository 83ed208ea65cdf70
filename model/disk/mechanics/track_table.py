"""Where a byte lies on a drive whose tracks are known one by one: measured skews, spare sectors, spare cylinders.

A drive that has been taken apart by measurement (J. Schindler and G. Ganger, "Automated disk drive characterization",
CMU-CS-99-176, 1999) has skews in whole sectors that differ between zones, sectors that are kept free for defects at the
end of each track or cylinder, and cylinders without data. No formula over a zone holds then, so the table has one row a
track. It offers what :class:`~.geometry.Geometry` offers, and the head's code does not tell the two apart: in every row
the track is the first one, so no skew is added inside a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor

from ...core.errors import ModelError
from ...core.search import right_of, right_of_float
from .geometry import _ROUNDING_BYTES, SECTOR, Geometry, Place, Zone


@dataclass(frozen=True, slots=True)
class TrackZone:
    """Neighboring cylinders with the same track format.

    Attributes
    ----------
    cylinders
        Number of cylinders, those without data included; they lie behind the others.
    sectors_per_track
        Sectors of 512 bytes that pass in one turn.
    sectors
        Sectors for the user; None for all but the spare ones.
    track_skew, cylinder_skew
        Sectors by which a track begins later round the platter than the one before it, under the next head and on the
        next cylinder.
    first_sector
        Sectors by which the first track of the zone begins later than the first track of the drive; None: as the
        cylinder skew has it. Tracks without data count.
    unused_tracks, slipped_tracks
        Number of tracks without data at the front of the zone, and numbers (from 0, those counted) of tracks that were
        found to be bad and are passed over.
    spare_per_track, spare_per_cylinder
        Sectors kept free at the end of each track and of each cylinder. The latter may be a fraction: a drive that
        keeps 44 for three cylinders is taken to spread them.
    """

    cylinders: int
    sectors_per_track: int
    sectors: int | None
    track_skew: float
    cylinder_skew: float
    first_sector: float | None = None
    unused_tracks: int = 0
    slipped_tracks: tuple[int, ...] = ()
    spare_per_track: int = 0
    spare_per_cylinder: float = 0.0


class TrackTable(Geometry):
    """Zones, tracks and skews of one drive, track by track.

    Parameters
    ----------
    zones
        Outermost first.
    heads
        Tracks per cylinder.
    rpm
        Turns per minute.
    capacity
        Usable bytes; all that the zones hold if not given.
    """

    __slots__ = ("_heads_of", "_rates")

    def __init__(self, zones: Sequence[TrackZone], heads: int, rpm: float, capacity: int | None = None) -> None:
        plain = [Zone(zone.cylinders, float(zone.sectors_per_track)) for zone in zones]
        super().__init__(plain, heads, rpm)
        firsts: list[int] = []
        rows: list[tuple[float, float, float, int]] = []
        first_turns: list[float] = []
        heads_of: list[int] = []
        rates: list[tuple[int, float]] = []
        byte, cylinder, shortest = 0, 0, 1.0
        angle, free = (
            0.0,
            0.0,
        )  # where the track at hand begins (turns, any whole number of them), and the last one ended
        for number, zone in enumerate(zones):
            _check(zone, number)
            count = zone.sectors_per_track
            inverse = 1.0 / (count * SECTOR)
            on_track = count - zone.spare_per_track
            slipped = {*range(zone.unused_tracks), *zone.slipped_tracks}
            most = zone.cylinders * heads * on_track - floor(zone.cylinders * zone.spare_per_cylinder)
            left = most - len(slipped) * on_track if zone.sectors is None else zone.sectors
            if number and zone.first_sector is not None:
                angle = zone.first_sector / count
            began, turn = byte, free
            step = zone.cylinder_skew / count if number else 0.0  # what it takes to get to the track at hand
            for at in range(zone.cylinders):
                spare = floor((at + 1) * zone.spare_per_cylinder) - floor(at * zone.spare_per_cylinder)
                room = min(left, heads * on_track - spare)
                for head in range(heads):
                    used = 0 if at * heads + head in slipped else min(room, on_track)
                    if used > 0:
                        turn = angle + ceil(free + step - angle - 1e-9)
                        firsts.append(byte)
                        rows.append((float(byte), inverse, turn, cylinder + at))
                        first_turns.append(turn)
                        heads_of.append(head)
                        shortest = min(shortest, used / count)
                        byte += used * SECTOR
                        room -= used
                        left -= used
                        angle, free, step = turn, turn + used / count, 0.0
                    skew = (zone.track_skew if head + 1 < heads else zone.cylinder_skew) / count
                    angle += skew
                    step = max(step, skew)
                if left <= 0:
                    break
            if left > 0:
                held = (byte - began) // SECTOR
                raise ModelError(
                    f"geometry: zone {number} has {zone.sectors} sectors; expected: at most {held}, what its "
                    f"{zone.cylinders} cylinders hold"
                )
            rates.append((began, (byte - began) / (angle + 1.0 - first_turns[right_of(firsts, began) - 1])))
            cylinder += zone.cylinders
        if capacity is None:
            capacity = byte
        if capacity % SECTOR or not 0 < capacity <= byte:
            raise ModelError(
                f"geometry: capacity {capacity} bytes; expected: a positive multiple of 512 up to {byte}, what the "
                f"tracks hold"
            )
        self.capacity = capacity
        self.edges = firsts
        self.rows = tuple(rows)
        self._first_bytes = [float(first) for first in firsts]
        self._first_turns = first_turns
        self._heads_of = heads_of
        self._rates = [(first, rate / self.revolution_s) for first, rate in rates]
        self.straight = shortest

    def offset(self, turns: float) -> int:
        """Bytes a head that reads from offset 0 has passed after `turns`, in whole sectors: inverse of `turns`."""
        track = max(right_of_float(self._first_turns, turns, 0) - 1, 0)
        first_byte, inverse, first_turn, _ = self.rows[track]
        passed = min(first_byte + max(turns - first_turn, 0.0) / inverse, float(self.track_end(int(first_byte))))
        return min(int((passed + _ROUNDING_BYTES) / SECTOR) * SECTOR, self.capacity)

    def place(self, offset: int) -> Place:
        """Cylinder, head, angle and sectors per track of the byte at `offset`; `ModelError` if outside."""
        if not 0 <= offset < self.capacity:
            raise ModelError(f"geometry: offset {offset}; 0 to below the capacity, {self.capacity} bytes")
        track = self.track(offset)
        _, inverse, _, cylinder = self.rows[track]
        return Place(cylinder, self._heads_of[track], self.turns(offset) % 1.0, 1.0 / inverse / SECTOR)

    def track(self, offset: int) -> int:
        """Number of the track that holds the byte at `offset`."""
        return right_of(self.edges, offset) - 1

    def head_of(self, track: int) -> int:
        """Head under which a track lies, from 0."""
        return self._heads_of[track]

    def track_end(self, offset: int) -> int:
        """End (bytes) of the track that holds the byte at `offset`, at most the capacity."""
        following = right_of(self.edges, offset)
        return min(self.edges[following], self.capacity) if following < len(self.edges) else self.capacity

    def track_start(self, offset: int) -> int:
        """First byte of the track that holds the byte at `offset`."""
        return self.edges[right_of(self.edges, offset) - 1]

    def media_rate(self, offset: int) -> float:
        """Sustained bytes/s of sequential reading in the zone of `offset`, track crossings included."""
        rate = 0.0
        for first, of_zone in self._rates:
            if first > offset:
                break
            rate = of_zone
        return rate


def _check(zone: TrackZone, number: int) -> None:
    """Refuse a zone that cannot be."""
    count = zone.sectors_per_track
    if not 0 <= zone.spare_per_track < count:
        raise ModelError(f"geometry: zone {number} has {zone.spare_per_track} spare sectors on tracks of {count}")
    for name, skew in (("track skew", zone.track_skew), ("cylinder skew", zone.cylinder_skew)):
        if not 0 <= skew < count:
            raise ModelError(f"geometry: zone {number} has a {name} of {skew:g} sectors; expected: 0 to below {count}")
