"""Every level keeps its promise on real bytes: write, lose members, read everything back."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raidsim.model.core.errors import ArrayFailed, ModelError
from raidsim.model.layouts import ByteArray, Layout, byte_array, layout_for
from raidsim.model.layouts.parity import RAID5_ALGORITHMS, RAID6_ALGORITHMS

CHUNK = 4096


def _make(level: str, disks: int, algorithm: str | None = None, rows: int = 6, **more: Any) -> Callable[[], Layout]:
    return lambda: layout_for(level, disks, CHUNK, rows * CHUNK, algorithm, **more)


LAYOUTS: dict[str, Callable[[], Layout]] = {
    "linear": lambda: layout_for("linear", 3, None, [CHUNK, 5000, 3 * CHUNK]),
    "raid0": _make("raid0", 3),
    "raid0 unequal original": lambda: layout_for("raid0", 3, CHUNK, [6 * CHUNK, 2 * CHUNK, 3 * CHUNK + 17]),
    "raid0 unequal alternate": lambda: layout_for("raid0", 3, CHUNK, [6 * CHUNK, 2 * CHUNK, 3 * CHUNK], "alternate"),
    "raid1": _make("raid1", 2),
    "raid1 of 4": _make("raid1", 4),
    "raid3": _make("raid3", 5, rows=2),
    "raid3 of 4": _make("raid3", 4, rows=2),
    "raid4": _make("raid4", 4),
    **{f"raid5 {name}": _make("raid5", 4, name) for name in RAID5_ALGORITHMS},
    **{f"raid6 {name}": _make("raid6", 6, name) for name in RAID6_ALGORITHMS},
    "raid6 of 4": _make("raid6", 4),
    **{f"raid10 {name} on 5": _make("raid10", 5, name) for name in ("n2", "f2", "o2", "n3", "f3", "o3")},
    "raid10 n2 on 4": _make("raid10", 4, "n2"),
    "raid10 f4 on 4": _make("raid10", 4, "f4"),
    "raid10 striped-mirrors": _make("raid10", 6, "striped-mirrors"),
    "raid01": _make("raid01", 6),
    "raid01 of 3 stripes": _make("raid01", 6, groups=3),
    "raid50": _make("raid50", 6),
    "raid50 outer chunk": _make("raid50", 6, rows=8, outer_chunk_bytes=4 * CHUNK),
    "raid60": _make("raid60", 8),
    "raid60 ddf": _make("raid60", 8, "ddf-N-continue", rows=3),
}

# Levels whose lost members follow from the definition, written down here and not asked of the layout.
GUARANTEED = {
    "linear": 0,
    "raid0": 0,
    "raid1": 1,
    "raid1 of 4": 3,
    "raid3": 1,
    "raid4": 1,
    "raid6 of 4": 2,
    "raid5 left-symmetric": 1,
    "raid6 ddf-N-restart": 2,
    "raid10 n2 on 5": 1,
    "raid10 f3 on 5": 2,
    "raid10 striped-mirrors": 1,
    "raid01": 1,
    "raid01 of 3 stripes": 2,
    "raid50": 1,
    "raid60": 2,
}


def _filled(layout: Layout, seed: int = 1) -> tuple[ByteArray, bytes]:
    """Return an array written in full and then partly again, and what it must hold."""
    rng = np.random.default_rng(seed)
    array = byte_array(layout)
    expected = bytearray(rng.bytes(layout.capacity))
    array.write(0, bytes(expected))
    for _ in range(30):
        offset = int(rng.integers(layout.capacity))
        size = min(int(rng.integers(1, 4 * CHUNK)), layout.capacity - offset)
        data = rng.bytes(size)
        array.write(offset, data)
        expected[offset : offset + size] = data
    return array, bytes(expected)


def _subsets(members: int) -> Iterator[frozenset[int]]:
    for count in range(members + 1):
        yield from map(frozenset, combinations(range(members), count))


@pytest.mark.parametrize("name", LAYOUTS)
def test_survives_every_tolerated_loss_and_refuses_the_others(name: str) -> None:
    """All subsets of members: what the layout tolerates reads back whole, anything else is ArrayFailed."""
    layout = LAYOUTS[name]()
    array, expected = _filled(layout)
    assert array.read(0, layout.capacity) == expected
    for lost in _subsets(layout.members):
        hurt = copy.deepcopy(array)
        for member in lost:
            hurt.lose(member)
        if layout.tolerates(lost):
            assert hurt.read(0, layout.capacity) == expected, sorted(lost)
            assert not hurt.failed
        else:
            assert hurt.failed
            with pytest.raises(ArrayFailed):
                hurt.read(0, 1)
            with pytest.raises(ArrayFailed):
                hurt.write(0, b"x")


@pytest.mark.parametrize("name", [name for name in LAYOUTS if name.startswith(("linear", "raid0", "raid1"))])
def test_tolerated_means_that_every_piece_has_a_copy_left(name: str) -> None:
    """`tolerates` is neither too strict nor too lax where data are copied: it asks what the map itself shows.

    RAID 01 is stricter: a stripe with a lost member is lost as a whole, although its other members have data.
    """
    layout = LAYOUTS[name]()
    places = [{member for member, _ in copies} for _, _, copies in layout.copies(0, layout.capacity)]
    for lost in _subsets(layout.members):
        readable = not any(members <= lost for members in places)
        if layout.level == "raid01":
            assert readable or not layout.tolerates(lost), sorted(lost)
        else:
            assert layout.tolerates(lost) == readable, sorted(lost)


@pytest.mark.parametrize("name", LAYOUTS)
def test_survives_is_the_largest_number_that_is_always_tolerated(name: str) -> None:
    """`survives` losses are tolerated whichever they are, and there is a fatal set of one more."""
    layout = LAYOUTS[name]()
    assert layout.survives == GUARANTEED.get(name, layout.survives)
    for lost in _subsets(layout.members):
        if len(lost) <= layout.survives:
            assert layout.tolerates(lost)
    assert any(not layout.tolerates(lost) for lost in _subsets(layout.members) if len(lost) == layout.survives + 1)


@pytest.mark.parametrize("name", [name for name in LAYOUTS if LAYOUTS[name]().survives])
def test_writes_while_degraded_are_kept(name: str) -> None:
    """Full and partial writes to an array with lost members read back, and survive losing no more than allowed."""
    layout = LAYOUTS[name]()
    array, start = _filled(layout)
    rng = np.random.default_rng(3)
    for lost in _subsets(layout.members):
        if not lost or len(lost) > layout.survives:
            continue
        hurt = copy.deepcopy(array)
        expected = bytearray(start)
        first = sorted(lost)[0]
        hurt.lose(first)
        for step in range(6):
            if step == 3:
                for member in lost - {first}:
                    hurt.lose(member)
            offset = int(rng.integers(layout.capacity))
            data = rng.bytes(min(int(rng.integers(1, 5 * CHUNK)), layout.capacity - offset))
            hurt.write(offset, data)
            expected[offset : offset + len(data)] = data
        assert hurt.read(0, layout.capacity) == bytes(expected), sorted(lost)


@pytest.mark.parametrize("name", ["raid3", "raid5 left-symmetric", "raid6 ddf-N-continue", "raid10 o3 on 5", "raid50"])
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_writes_then_any_tolerated_loss(name: str, data: st.DataObject) -> None:
    """Whatever is written where, and whichever tolerated members are lost, a bytearray would read the same."""
    layout = LAYOUTS[name]()
    array = byte_array(layout)
    expected = bytearray(layout.capacity)
    for number in range(data.draw(st.integers(1, 6), label="writes")):
        offset = data.draw(st.integers(0, layout.capacity - 1), label="offset")
        size = data.draw(st.integers(1, layout.capacity - offset), label="size")
        written = np.random.default_rng(number).bytes(size)
        array.write(offset, written)
        expected[offset : offset + size] = written
    lost = data.draw(st.sampled_from([lost for lost in _subsets(layout.members) if layout.tolerates(lost)]))
    for member in lost:
        array.lose(member)
    assert array.read(0, layout.capacity) == bytes(expected)
    offset = data.draw(st.integers(0, layout.capacity - 1))
    assert array.read(offset, 1) == expected[offset : offset + 1]


def test_parity_on_the_members_is_current_after_partial_writes() -> None:
    """Read-modify-write leaves the same P and Q on the members as writing the final data in one go."""
    layout = LAYOUTS["raid6 left-asymmetric"]()
    modified, final = _filled(layout)
    whole = byte_array(layout)
    whole.write(0, final)
    for member, (left, right) in enumerate(zip(modified.stores, whole.stores, strict=True)):
        size = layout.member_bytes[member]
        assert left.get(0, size).tobytes() == right.get(0, size).tobytes()


def test_a_write_beyond_the_end_is_refused() -> None:
    """An array neither grows nor wraps around."""
    array = byte_array(LAYOUTS["raid5 left-symmetric"]())
    capacity = array.layout.capacity
    for offset, size in ((capacity - 1, 2), (-1, 1), (0, 0), (capacity, 1)):
        with pytest.raises(ModelError):
            array.read(offset, size)
