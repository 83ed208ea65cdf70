"""A geometry of single tracks against arithmetic on paper: skews in sectors, spare sectors, tracks without data.

The drive has two heads and tracks of 100 sectors, so a sector is a hundredth of a turn.
"""

import pytest

from raidsim.model.core.errors import ModelError
from raidsim.model.disk.mechanics.geometry import SECTOR, Geometry, Zone
from raidsim.model.disk.mechanics.track_table import TrackTable, TrackZone

TRACK = 100 * SECTOR
EPS = 1e-9


def _table(*zones: TrackZone, capacity: int | None = None) -> TrackTable:
    return TrackTable(zones, 2, 6000, capacity)


def _zone(cylinders: int = 10, **fields: object) -> TrackZone:
    given = {"sectors_per_track": 100, "sectors": None, "track_skew": 10, "cylinder_skew": 25, **fields}
    return TrackZone(cylinders, **given)  # type: ignore[arg-type]


def test_without_spares_it_is_the_formula_of_a_zone() -> None:
    """With whole skews and nothing kept free, every time is that of the geometry without a table."""
    table = _table(_zone())
    plain = Geometry([Zone(10, 100)], 2, 6000, 0.10 * 0.01, 0.25 * 0.01)
    assert table.capacity == plain.capacity
    for offset in range(0, table.capacity, 37 * SECTOR):
        assert table.turns(offset) == pytest.approx(plain.turns(offset), abs=EPS)
        assert table.cylinder(offset) == plain.cylinder(offset)
        assert table.place(offset)[:2] == plain.place(offset)[:2]
        assert table.track(offset) == plain.track(offset)
        assert table.track_end(offset) == plain.track_end(offset)
        assert table.track_start(offset) == plain.track_start(offset)
    # In the innermost zone nothing follows the last track: the rates differ by that crossing.
    assert table.media_rate(0) == pytest.approx(plain.media_rate(0), rel=0.02)


def test_skews_are_those_of_the_zone() -> None:
    """A track begins by its zone's skews later round the platter: 10 and 25 sectors outside, 20 and 40 inside."""
    table = _table(_zone(1), _zone(2, track_skew=20, cylinder_skew=40))
    angles = [round(table.turns(track * TRACK) % 1.0, 6) for track in range(6)]
    assert angles == [0.0, 0.10, 0.35, 0.55, 0.95, 0.15]


def test_a_zone_may_begin_at_an_angle_of_its_own() -> None:
    """The angle of a zone's first track counts from that of the drive, and its tracks without data count."""
    assert _table(_zone(1), _zone(1, first_sector=70)).turns(2 * TRACK) % 1.0 == pytest.approx(0.70)
    behind_one = _table(_zone(1), _zone(2, first_sector=70, unused_tracks=1, sectors=300))
    assert behind_one.turns(2 * TRACK) % 1.0 == pytest.approx(0.80)
    assert behind_one.place(2 * TRACK).head == 1


def test_spare_sectors_of_a_track_turn_by_and_hold_nothing() -> None:
    """With 5 spare sectors a track has 95, which take 0.95 turns; the next track begins 5 sectors later still."""
    table = _table(_zone(spare_per_track=5))
    held = 95 * SECTOR
    assert table.capacity == 20 * held
    assert table.turns_at_end(held) == pytest.approx(0.95)
    assert table.turns(held) == pytest.approx(1.10)
    assert table.transfer_s(0, held + SECTOR) == pytest.approx((1.10 + 0.01) * 0.01)
    assert table.straight == pytest.approx(0.95)


def test_spare_sectors_of_a_cylinder_are_at_its_end() -> None:
    """The second track of a cylinder is shorter by them; half a sector is one of every second cylinder."""
    table = _table(_zone(spare_per_cylinder=30))
    assert [table.track_end(0), table.track_end(TRACK)] == [TRACK, 170 * SECTOR]
    assert table.cylinder(170 * SECTOR) == 1
    assert table.turns(170 * SECTOR) == pytest.approx(2.35)
    assert _table(_zone(spare_per_cylinder=0.5)).capacity == (20 * 100 - 5) * SECTOR


def test_bad_tracks_are_passed_over() -> None:
    """The data of a slipped track is on the next one, a further skew later; nobody waits a turn for that."""
    table = _table(_zone(slipped_tracks=(1,)))
    assert table.capacity == 19 * TRACK
    assert table.place(TRACK)[:2] == (1, 0)
    assert table.turns(TRACK) == pytest.approx(1.35)
    assert table.place(2 * TRACK)[:2] == (1, 1)


def test_cylinders_without_data_count_for_the_arm() -> None:
    """What a zone does not use lies behind its data: the next zone begins on its own cylinder."""
    table = _table(_zone(10, sectors=350), _zone(5))
    assert table.cylinder(349 * SECTOR) == 1
    assert table.cylinder(350 * SECTOR) == 10
    assert table.cylinders == 15


@pytest.mark.parametrize(
    "zone",
    [_zone(), _zone(spare_per_track=3), _zone(spare_per_cylinder=9), _zone(slipped_tracks=(3, 4))],
)
def test_offset_is_the_inverse_of_turns(zone: TrackZone) -> None:
    """A head that reads on has passed the sectors up to where it is, and no more between two tracks."""
    table = _table(zone, _zone(4, sectors_per_track=80, track_skew=9, cylinder_skew=20))
    for offset in range(0, table.capacity, 7 * SECTOR):
        assert table.offset(table.turns(offset)) == offset
        assert table.offset(table.turns(offset) + 0.4 / 100) == offset
    end = table.track_end(0)
    assert table.offset(table.turns(end) - 0.001) == end


def test_what_cannot_be_is_refused() -> None:
    """More sectors than a zone holds, a skew of a turn, and a capacity beyond the tracks."""
    for zone, words in (
        (_zone(1, sectors=201), "zone 0 has 201 sectors; expected: at most 200"),
        (_zone(track_skew=100), "track skew of 100 sectors"),
        (_zone(spare_per_track=100), "100 spare sectors on tracks of 100"),
    ):
        with pytest.raises(ModelError, match=words):
            _table(zone)
    with pytest.raises(ModelError, match="capacity 1025024 bytes"):
        _table(_zone(), capacity=10 * 2 * TRACK + 1024)
