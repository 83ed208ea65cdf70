"""The model's layouts against the maps read off real arrays of the Linux md driver."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.layouts import ParityLayout
from raidsim.validation.conformance.md.layout import layout_difference
from raidsim.validation.conformance.truth_files import load_truth

FILES = load_truth().by_kind["layout"]
ARRAYS = [(file.path.name, array) for file in FILES for array in file.content["arrays"]]

Array = dict[str, Any]


@pytest.mark.parametrize(("file", "array"), ARRAYS, ids=[array["name"] for _, array in ARRAYS])
def test_matches_the_driver(file: str, array: Array) -> None:
    """Every chunk, parity member, zone, segment, capacity and Q order of a recorded array is predicted exactly."""
    assert layout_difference(file, array) == ""


def test_all_of_the_truth_is_there() -> None:
    """Losing a truth file, or arrays of one, would otherwise look like success."""
    assert len({file for file, _ in ARRAYS}) == 35
    assert len(ARRAYS) == 185
    assert len({array["name"] for _, array in ARRAYS}) == 185


def test_truth_names_its_origin() -> None:
    """Each file says which kernel and which mdadm it was recorded with, and what its notation means."""
    for file in FILES:
        assert file.content["kernel"].startswith("Linux version 6.1"), file.path
        assert file.content["mdadm"], file.path
        assert file.content["notation"], file.path


def _recorded(name: str) -> tuple[str, Array]:
    file, array = next((file, array) for file, array in ARRAYS if array["name"] == name)
    return file, copy.deepcopy(array)


@pytest.mark.parametrize(
    ("name", "field", "index", "value"),
    [
        ("raid5_left-symmetric_n4_c4", "chunks", 17, [0, 0]),
        ("raid5_left-symmetric_n4_c4", "parity", 5, [3]),
        ("raid6_ddf-N-continue_n6_c4", "parity", 3, [0, 1]),
        ("raid10_f3_n4_c4", "chunks", 9, [[0, 0], [1, 1], [2, 2]]),
        ("raid0_n3_c16", "first_chunks", 4, [2, 1]),
        ("linear_u3", "segments_kib", 1, [23552, 15360, 2, 0]),
    ],
)
def test_a_wrong_map_is_noticed(name: str, field: str, index: int, value: object) -> None:
    """A single changed entry of the truth must turn the check red: the comparison really looks there."""
    file, array = _recorded(name)
    array[field][index] = value
    assert layout_difference(file, array)


@pytest.mark.parametrize("rule", ["logical", "after_q", "after_p", "member_index"])
def test_a_wrong_q_order_is_noticed(rule: str) -> None:
    """Each of the four candidate rules for Q is counted row by row, the wrong ones too."""
    file, array = _recorded("raid6_left-asymmetric-6_n6_c4")
    array["q_rule_rows_ok"][rule] -= 1
    assert layout_difference(file, array).startswith("Q order")


def test_a_wrong_zone_is_noticed() -> None:
    """The zones of unequal members are compared, not only the first chunks."""
    file, array = _recorded("raid0_u24-47-33-16_original_c512")
    array["zones"][1]["members"].reverse()
    assert layout_difference(file, array)


def test_q_order_of_the_two_families() -> None:
    """md counts from the member after Q and skips P; DDF takes the number of the member and leaves gaps."""
    md = ParityLayout("raid6", [40960] * 5, 4096, "left-asymmetric")
    assert md.row(1) == ((0, 1, 2), 3, 4)
    assert md.row(2) == ((0, 1, 4), 2, 3)
    assert md.q_order(2) == ((4, 0), (0, 1), (1, 2))
    assert md.exponents(2) == (1, 2, 0)
    ddf = ParityLayout("raid6", [40960] * 5, 4096, "ddf-zero-restart")
    assert ddf.row(1) == ((0, 3, 4), 1, 2)
    assert ddf.q_order(1) == ((0, 0), (3, 3), (4, 4))


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("parity", None, "field parity: it is missing"),
        ("n", 4, "field n: 4; the command says 3"),
        ("cmd", "mdadm --create --level=7 --raid-devices=3", "field cmd: level 'raid7'"),
        ("cmd", "mdadm --create --level=4 --raid-devices=3 --layout='", "field cmd"),
        ("component_kib", 2, "members: the smallest member has 2048 bytes"),
    ],
)
def test_a_map_that_cannot_be_compared_is_refused(field: str, value: object, words: str) -> None:
    """A recording that lacks a chart or contradicts itself is bad input, named with file and array, not a miss."""
    file, array = _recorded("raid4_n3_c4")
    array[field] = value
    with pytest.raises(InputError, match=f"^raid4.json, array raid4_n3_c4.*{words}"):
        layout_difference(file, array)
