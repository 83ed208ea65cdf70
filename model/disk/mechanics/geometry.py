"""Where a byte lies on a hard disk, and how long the head needs to pass over a run of them.

Zoned recording: outer tracks hold more sectors than inner ones (Ruemmler and Wilkes, "An introduction to
disk drive modeling", IEEE Computer 27(3), 1994). Logical blocks fill all tracks of a cylinder, then the next
cylinder inwards. Each track starts a little later round the platter than the one before it (head skew
within a cylinder, cylinder skew between them), just long enough to switch heads or to seek one cylinder.

Everything rests on one monotone quantity, the *turns* of an offset: how many revolutions after offset 0 a
head reading the whole disk without pause would reach it, skews included. Its fraction is the angle at which the
byte passes under the head, and the difference between two offsets is the time to read from one to the other. The
sustained rate is that of the Hitachi Deskstar 7K500 specification, 4.4.4: the bytes of a cylinder over its turns,
its head switches and the seek to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final, NamedTuple

import numpy as np

from ...core.errors import ModelError
from ...core.exact_sums import sum_in_order
from ...core.search import right_of, right_of_float

SECTOR: Final = 512
MOST_CYLINDERS: Final = 2_000_000
"""Several times what the largest drives of 2024 have."""
_ROUNDING_BYTES: Final = 4.0  # a head this close to the end of a sector has read it


@dataclass(frozen=True, slots=True)
class Zone:
    """Neighboring cylinders whose tracks hold equally many sectors.

    Attributes
    ----------
    cylinders
        Number of cylinders.
    sectors_per_track
        Sectors of 512 bytes on each track; the mean if the drive varies it (then not a whole number).
    """

    cylinders: int
    sectors_per_track: float


class Place(NamedTuple):
    """Where an offset lies: cylinder and head (from 0), angle (turns, 0 to 1), sectors on that track."""

    cylinder: int
    head: int
    angle: float
    sectors_per_track: float


class Geometry:
    """Zones, tracks and skews of one drive.

    Parameters
    ----------
    zones
        Outermost first.
    heads
        Tracks per cylinder.
    rpm
        Turns per minute.
    head_skew_s, cylinder_skew_s
        Time (s) the first sector of a track passes after the last one of the track before it, when that
        is under another head of the same cylinder, and when it is on the next cylinder.
    capacity
        Usable bytes; all that the zones hold if not given.

    Attributes
    ----------
    straight
        Share of a turn up to which a transfer, counted from the start of its track, surely stays on the track.
    """

    __slots__ = (
        "_first_bytes",
        "_first_cylinders",
        "_first_turns",
        "_inverse_track_bytes",
        "_track_bytes",
        "_turns_per_cylinder",
        "capacity",
        "cylinder_skew",
        "cylinder_step",
        "cylinders",
        "edges",
        "head_skew",
        "heads",
        "revolution_s",
        "rows",
        "straight",
        "zones",
    )

    def __init__(
        self,
        zones: Sequence[Zone],
        heads: int,
        rpm: float,
        head_skew_s: float = 0.0,
        cylinder_skew_s: float = 0.0,
        capacity: int | None = None,
    ) -> None:
        if not zones:
            raise ModelError("geometry: no zones; a drive has at least one")
        if heads < 1:
            raise ModelError(f"geometry: {heads} heads; a drive has at least one")
        if not rpm > 0:
            raise ModelError(f"geometry: {rpm} rpm; the platters must turn")
        for i, zone in enumerate(zones):
            if zone.cylinders < 1 or not zone.sectors_per_track >= 1:
                raise ModelError(f"geometry: zone {i} is {zone}; at least 1 cylinder and 1 sector per track")
        self.zones = tuple(zones)
        self.heads = heads
        self.revolution_s = 60.0 / rpm
        self.head_skew = _as_turns(head_skew_s, self.revolution_s, "head skew")
        self.cylinder_skew = _as_turns(cylinder_skew_s, self.revolution_s, "cylinder skew")
        self.cylinder_step = self.cylinder_skew - self.head_skew
        self._turns_per_cylinder = heads * (1.0 + self.head_skew) + self.cylinder_step
        self._first_bytes: list[float] = []
        self._first_cylinders: list[int] = []
        self._first_turns: list[float] = []
        self._track_bytes = [zone.sectors_per_track * SECTOR for zone in zones]
        self._inverse_track_bytes = [1.0 / track for track in self._track_bytes]
        first_byte, first_cylinder, first_turn = 0.0, 0, 0.0
        for zone, track in zip(zones, self._track_bytes, strict=True):
            self._first_bytes.append(first_byte)
            self._first_cylinders.append(first_cylinder)
            self._first_turns.append(first_turn)
            first_byte += zone.cylinders * heads * track
            first_cylinder += zone.cylinders
            first_turn += zone.cylinders * self._turns_per_cylinder
        self.cylinders = first_cylinder
        formatted = int(first_byte + 1e-6) // SECTOR * SECTOR
        if capacity is None:
            capacity = formatted
        if capacity % SECTOR or not 0 < capacity <= formatted:
            raise ModelError(
                f"geometry: capacity {capacity} bytes; expected: a positive multiple of 512 up to what the zones hold, "
                f"{formatted}"
            )
        self.capacity = capacity
        self.straight = 1.0
        # The first whole byte of each zone: comparing whole numbers is faster.
        self.edges = [ceil(first) for first in self._first_bytes]
        # What `turns` and `cylinder` need, one tuple per zone, so that the hot path looks up once.
        self.rows = tuple(
            zip(
                self._first_bytes,
                self._inverse_track_bytes,
                self._first_turns,
                self._first_cylinders,
                strict=True,
            )
        )

    @classmethod
    def from_rates(
        cls,
        *,
        capacity: int,
        heads: int,
        rpm: float,
        outer_rate: float,
        inner_rate: float,
        head_skew_s: float,
        cylinder_skew_s: float,
        zone_count: int = 16,
    ) -> Geometry:
        """A geometry that sustains the given rates (bytes/s, skews included) at its rim and at its hub.

        The rate falls in equal steps from the outermost to the innermost of `zone_count` zones of equally many
        cylinders; as many cylinders are taken as `capacity` (bytes) needs.
        """
        if not outer_rate >= inner_rate > 0:
            raise ModelError(
                f"geometry: media rates {outer_rate:g} (outer) and {inner_rate:g} (inner); "
                "both above 0, and the outer one not below the inner one"
            )
        if zone_count < 1:
            raise ModelError(f"geometry: {zone_count} zones; at least one")
        revolution_s = 60.0 / rpm
        cylinder_s = heads * revolution_s + (heads - 1) * head_skew_s + cylinder_skew_s
        rates = np.linspace(outer_rate, inner_rate, zone_count) if zone_count > 1 else np.array([outer_rate])
        sectors = rates * cylinder_s / heads / SECTOR
        wanted = capacity / SECTOR / heads / float(sectors.mean())
        if not wanted <= MOST_CYLINDERS:
            raise ModelError(
                f"geometry: {wanted:.3g} cylinders for {capacity} bytes at these rates and {heads} heads; at most "
                f"{MOST_CYLINDERS:,}: give the drive more heads ({-(-heads * wanted // MOST_CYLINDERS):.0f} or more), "
                "a higher outer_media_rate and inner_media_rate, or a smaller capacity"
            )
        cylinders = max(zone_count, int(np.ceil(wanted)))
        edges = [round(cylinders * i / zone_count) for i in range(zone_count + 1)]
        counts = [edges[i + 1] - edges[i] for i in range(zone_count)]
        # Rounding the zones to whole cylinders can lose a few; the innermost zone takes them.
        held = heads * sum_in_order(n * s for n, s in zip(counts, sectors.tolist(), strict=True))
        missing = capacity / SECTOR - held
        if missing > 0:
            counts[-1] += int(np.ceil(missing / heads / float(sectors[-1]))) + 1
        zones = [Zone(n, s) for n, s in zip(counts, sectors.tolist(), strict=True)]
        return cls(zones, heads, rpm, head_skew_s, cylinder_skew_s, capacity)

    def turns(self, offset: float) -> float:
        """Turns after offset 0 at which the byte at `offset` starts to pass under the head."""
        zone = right_of_float(self._first_bytes, offset, 0) - 1
        first_byte, inverse, first_turn, _ = self.rows[zone]
        tracks = (offset - first_byte) * inverse
        whole = int(tracks)
        return first_turn + tracks + whole * self.head_skew + whole // self.heads * self.cylinder_step

    def turns_at_end(self, end: float) -> float:
        """Turns at which the byte before `end` has passed; no skew is added if a track ends there."""
        zone = right_of_float(self._first_bytes, end - 1, 0) - 1
        first_byte, inverse, first_turn, _ = self.rows[zone]
        whole = int((end - 1 - first_byte) * inverse)
        tracks = (end - first_byte) * inverse
        return first_turn + tracks + whole * self.head_skew + whole // self.heads * self.cylinder_step

    def span(self, offset: int, end: int) -> tuple[int, float, int, float]:
        """Cylinder and turns of `offset`, and of the end of the bytes up to `end`: all that a transfer needs."""
        zone = right_of(self.edges, offset)
        first_byte, inverse, first_turn, first_cylinder = self.rows[zone - 1]
        tracks = (offset - first_byte) * inverse
        track = int(tracks)
        across = track // self.heads
        head_skews, cylinder_steps = track * self.head_skew, across * self.cylinder_step
        turns = first_turn + tracks + head_skews + cylinder_steps
        cylinder = first_cylinder + across
        if int((end - 1 - first_byte) * inverse) == track and right_of(self.edges, end - 1) == zone:
            return cylinder, turns, cylinder, first_turn + (end - first_byte) * inverse + head_skews + cylinder_steps
        return cylinder, turns, self.cylinder(end - 1), self.turns_at_end(end)

    def offset(self, turns: float) -> int:
        """Bytes a head that reads from offset 0 has passed after `turns`, in whole sectors: inverse of `turns`."""
        zone = right_of_float(self._first_turns, turns, 0) - 1
        rest = turns - self._first_turns[zone]
        cylinder = int(rest / self._turns_per_cylinder)
        rest -= cylinder * self._turns_per_cylinder
        head = min(int(rest / (1.0 + self.head_skew)), self.heads - 1)
        on_track = min(rest - head * (1.0 + self.head_skew), 1.0)
        passed = self._first_bytes[zone] + (cylinder * self.heads + head + on_track) * self._track_bytes[zone]
        return min(int((passed + _ROUNDING_BYTES) / SECTOR) * SECTOR, self.capacity)

    def cylinder(self, offset: float) -> int:
        """Cylinder of the byte at `offset`, 0 outermost."""
        zone = right_of_float(self._first_bytes, offset, 0) - 1
        first_byte, inverse, _, first_cylinder = self.rows[zone]
        return first_cylinder + int((offset - first_byte) * inverse) // self.heads

    def track(self, offset: int) -> int:
        """Number of the track that holds the byte at `offset`, counted from the outermost one."""
        zone = right_of_float(self._first_bytes, offset, 0) - 1
        first_byte, inverse, _, first_cylinder = self.rows[zone]
        return first_cylinder * self.heads + int((offset - first_byte) * inverse)

    def head_of(self, track: int) -> int:
        """Head under which a track lies, from 0."""
        return track % self.heads

    def track_end(self, offset: int) -> int:
        """End (bytes) of the track that holds the byte at `offset`, in whole sectors, at most the capacity."""
        zone = right_of_float(self._first_bytes, offset, 0) - 1
        first_byte, inverse, _, _ = self.rows[zone]
        end = first_byte + (int((offset - first_byte) * inverse) + 1) * self._track_bytes[zone]
        return min(ceil((end - _ROUNDING_BYTES) / SECTOR) * SECTOR, self.capacity)

    def track_start(self, offset: int) -> int:
        """First byte, in whole sectors, of the track that holds the byte at `offset`."""
        zone = right_of_float(self._first_bytes, offset, 0) - 1
        first_byte, inverse, _, _ = self.rows[zone]
        start = first_byte + int((offset - first_byte) * inverse) * self._track_bytes[zone]
        return ceil((start - _ROUNDING_BYTES) / SECTOR) * SECTOR

    def place(self, offset: int) -> Place:
        """Cylinder, head, angle and sectors per track of the byte at `offset`; `ModelError` if outside."""
        if not 0 <= offset < self.capacity:
            raise ModelError(f"geometry: offset {offset}; 0 to below the capacity, {self.capacity} bytes")
        zone = right_of_float(self._first_bytes, offset, 0) - 1
        track = int((offset - self._first_bytes[zone]) * self._inverse_track_bytes[zone])
        return Place(
            self._first_cylinders[zone] + track // self.heads,
            track % self.heads,
            self.turns(offset) % 1.0,
            self.zones[zone].sectors_per_track,
        )

    def transfer_s(self, offset: int, size: int) -> float:
        """Time (s) from the first to the last of `size` bytes from `offset`, track crossings included."""
        return (self.turns_at_end(offset + size) - self.turns(offset)) * self.revolution_s

    def media_rate(self, offset: int) -> float:
        """Sustained bytes/s of sequential reading in the zone of `offset`, track crossings included."""
        zone = right_of_float(self._first_bytes, offset, 0) - 1
        return self.heads * self._track_bytes[zone] / (self._turns_per_cylinder * self.revolution_s)


def _as_turns(skew_s: float, revolution_s: float, name: str) -> float:
    if not 0 <= skew_s < revolution_s:
        raise ModelError(f"geometry: {name} {skew_s:g} s; from 0 to below one revolution, {revolution_s:g} s")
    return skew_s / revolution_s
