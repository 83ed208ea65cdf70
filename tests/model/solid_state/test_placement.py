"""Which die holds which data."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from raidsim.model.solid_state.placement import Placement
from raidsim.tests.model.solid_state.drive_bench import KIB, small


def _placement(seed: int = 1, **changes: object) -> Placement:
    return Placement(small(**changes), np.random.default_rng(seed))


def _parts(placement: Placement, start: int, end: int) -> list[tuple[int, int]]:
    return [(die, part) for die, part, _ in placement.striped(start, end)]


def test_random_data_are_spread_evenly() -> None:
    """Each of 16 dies holds a sixteenth of 4,096 neighbouring units, and neighbours are not in die order."""
    placement = _placement()
    dies = [placement.scattered(unit) for unit in range(4096)]
    assert set(Counter(dies).values()) == {256}
    assert dies[:16] != sorted(dies[:16])


def test_the_same_seed_places_alike() -> None:
    """Reproducible, and another seed places differently."""
    assert _placement(1).table == _placement(1).table != _placement(2).table


def test_striped_data_use_all_channels() -> None:
    """64 KiB written in order lie on four dies of four channels, 16 KiB and one read each."""
    assert _parts(_placement(), 0, 64 * KIB) == [(die, 16 * KIB) for die in range(4)]


def test_planes_are_read_at_once() -> None:
    """128 KiB are two pages of each of the four dies, on two planes: still one read; 256 KiB take two."""
    assert _parts(_placement(), 0, 128 * KIB) == [(die, 32 * KIB) for die in range(4)]
    assert [die for die, *_ in _placement().striped(0, 256 * KIB)] == [0, 1, 2, 3] * 2


def test_the_next_group_follows_when_a_program_is_full() -> None:
    """4 dies x 2 planes x 3 bits x 16 KiB = 384 KiB fill the first group; then come dies 4 to 7."""
    assert {die for die, *_ in _placement().striped(0, 384 * KIB)} == {0, 1, 2, 3}
    assert [die for die, *_ in _placement().striped(384 * KIB, 448 * KIB)] == [4, 5, 6, 7]
    assert {die for die, *_ in _placement().striped(0, 1024 * KIB)} == set(range(12))
    assert next(iter(_placement().striped(4 * 384 * KIB, 4 * 384 * KIB + 512)))[0] == 0


def test_parts_add_up() -> None:
    """Whatever the range, its parts have its bytes."""
    placement = _placement()
    for start, size in ((0, 512), (512, 16 * KIB), (15 * KIB, 300 * KIB), (100 * KIB, 1 << 20), (7 * KIB, 2 * KIB)):
        assert sum(part for _, part, _ in placement.striped(start, start + size)) == size


@pytest.mark.parametrize(("buffer", "group"), [("4MiB", 4), ("384KiB", 2), ("64KiB", 1)])
def test_a_small_buffer_gathers_for_fewer_dies(buffer: str, group: int) -> None:
    """What a group programs at once (96 KiB a die) has to fit half the buffer."""
    assert _placement(write_buffer=buffer).group == group


def test_a_large_mapping_unit_stays_on_one_die() -> None:
    """Units of 32 KiB are both planes of a die: 64 KiB lie on two dies."""
    assert _parts(_placement(mapping_unit="32KiB"), 0, 64 * KIB) == [(0, 32 * KIB), (1, 32 * KIB)]
