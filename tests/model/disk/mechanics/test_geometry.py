"""The map from offsets to cylinders, angles and rates, against arithmetic on paper."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidsim.model.core.errors import ModelError
from raidsim.model.disk.mechanics.geometry import Geometry, Zone

# 6,000 rpm: 10 ms a turn. Two heads, tracks of 1,000 and 500 sectors.
TURN = 0.010
OUTER = 1000 * 512
INNER = 500 * 512
TWO_ZONES = Geometry([Zone(100, 1000), Zone(100, 500)], heads=2, rpm=6000, head_skew_s=0.001, cylinder_skew_s=0.002)
NO_SKEW = Geometry([Zone(100, 1000), Zone(100, 500)], heads=2, rpm=6000)


def test_all_heads_of_a_cylinder_come_before_the_next_cylinder() -> None:
    """Blocks fill a cylinder first: otherwise sequential reading would seek at every track."""
    places = [TWO_ZONES.place(track * OUTER)[:2] for track in range(5)]
    assert places == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)]


def test_skews_shift_where_a_track_starts() -> None:
    """A track starts 1 ms (0.1 turn) after the one under the other head, 2 ms after the one of the cylinder before."""
    angles = [TWO_ZONES.place(track * OUTER).angle for track in range(4)]
    assert angles == pytest.approx([0.0, 0.1, 0.3, 0.4])
    assert [NO_SKEW.place(track * OUTER).angle for track in range(4)] == [0.0] * 4


def test_zones_change_the_track_length() -> None:
    """The second zone begins after 100 cylinders of two long tracks."""
    first_inner = 100 * 2 * OUTER
    assert TWO_ZONES.place(first_inner - 512).sectors_per_track == 1000
    assert TWO_ZONES.place(first_inner).cylinder == 100
    assert TWO_ZONES.place(first_inner).sectors_per_track == 500
    assert TWO_ZONES.capacity == 100 * 2 * (OUTER + INNER)


def test_transfer_within_a_track_is_its_share_of_a_turn() -> None:
    """250 of 1,000 sectors take a quarter of 10 ms."""
    assert TWO_ZONES.transfer_s(0, 250 * 512) == pytest.approx(0.0025)


def test_transfer_up_to_the_end_of_a_track_pays_no_skew() -> None:
    """A whole track takes one turn, and one more sector the head skew and a thousandth of a turn."""
    assert TWO_ZONES.transfer_s(0, OUTER) == pytest.approx(TURN)
    assert TWO_ZONES.transfer_s(0, OUTER + 512) == pytest.approx(TURN + 0.001 + TURN / 1000)
    assert NO_SKEW.transfer_s(0, OUTER + 512) == pytest.approx(TURN + TURN / 1000)


def test_sustained_rate_includes_the_track_crossings() -> None:
    """Two tracks take two turns, one head switch and one cylinder change: 23 ms."""
    assert TWO_ZONES.media_rate(0) == pytest.approx(2 * OUTER / 0.023)
    assert TWO_ZONES.transfer_s(0, 50 * 2 * OUTER) == pytest.approx(50 * 0.023 - 0.002)
    assert NO_SKEW.media_rate(0) == pytest.approx(OUTER / TURN)


@given(st.integers(0, TWO_ZONES.capacity // 512 - 1))
def test_offset_is_the_inverse_of_turns(sector: int) -> None:
    """A head that has turned until a byte starts has read everything before it, and nothing else."""
    assert TWO_ZONES.offset(TWO_ZONES.turns(sector * 512)) == sector * 512
    assert TWO_ZONES.offset(TWO_ZONES.turns_at_end(sector * 512 + 512)) == sector * 512 + 512


@given(st.integers(0, TWO_ZONES.capacity // 512 - 2))
def test_turns_grow_with_the_offset(sector: int) -> None:
    """Later bytes pass later: the basis of every time difference."""
    assert TWO_ZONES.turns(sector * 512) < TWO_ZONES.turns(sector * 512 + 512)
    assert TWO_ZONES.turns_at_end(sector * 512 + 512) <= TWO_ZONES.turns(sector * 512 + 512)


def test_derived_zones_sustain_the_given_rates() -> None:
    """A drive described by its rates has them, skews included, at both ends, and holds its capacity."""
    capacity = 250_059_350_016
    geometry = Geometry.from_rates(
        capacity=capacity,
        heads=6,
        rpm=7200,
        outer_rate=63e6,
        inner_rate=33e6,
        head_skew_s=0.001,
        cylinder_skew_s=0.002,
    )
    assert geometry.capacity == capacity
    assert geometry.media_rate(0) == pytest.approx(63e6)
    assert geometry.media_rate(capacity - 512) == pytest.approx(33e6)
    assert geometry.cylinders == pytest.approx(capacity / 6 / (48e6 * geometry.revolution_s * 1.14), rel=0.05)
    for rate in (62e6, 63.1e6, 64.7e6):
        other = Geometry.from_rates(
            capacity=capacity, heads=5, rpm=7200, outer_rate=rate, inner_rate=3e7, head_skew_s=0, cylinder_skew_s=0
        )
        assert other.place(capacity - 512).cylinder < other.cylinders


@pytest.mark.parametrize(
    "change",
    [
        {"zones": []},
        {"zones": [Zone(0, 10)]},
        {"heads": 0},
        {"rpm": 0},
        {"head_skew_s": 0.011},
        {"cylinder_skew_s": -1.0},
        {"capacity": 100},
        {"capacity": 10**12},
    ],
)
def test_impossible_geometries_are_refused(change: dict[str, object]) -> None:
    """A wrong number is an error with words, not a drive that behaves oddly."""
    arguments: dict[str, object] = {"zones": [Zone(10, 100)], "heads": 2, "rpm": 6000, **change}
    with pytest.raises(ModelError, match="geometry"):
        Geometry(**arguments)  # type: ignore[arg-type]


def test_a_place_outside_the_capacity_is_refused() -> None:
    """Asking for a block past the end is an error."""
    with pytest.raises(ModelError, match="capacity"):
        TWO_ZONES.place(TWO_ZONES.capacity)


def test_a_capacity_beyond_the_heads_is_refused_with_what_to_change() -> None:
    """Protects from tables without end; the number of heads that the message names is enough."""
    values: dict[str, Any] = {"capacity": 10**14, "rpm": 7200, "outer_rate": 250e6, "inner_rate": 120e6}
    skews: dict[str, Any] = {"head_skew_s": 1e-3, "cylinder_skew_s": 2e-3}
    with pytest.raises(
        ModelError, match=r"cylinders for 100000000000000 bytes.*more heads \((\d+) or more\)"
    ) as refused:
        Geometry.from_rates(heads=6, **values, **skews)
    heads = int(str(refused.value).partition("more heads (")[2].partition(" ")[0])
    assert Geometry.from_rates(heads=heads, **values, **skews).capacity >= 10**14
