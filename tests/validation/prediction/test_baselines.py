"""The guesses that predictions are compared with, against arithmetic on paper."""

from __future__ import annotations

import math
from typing import Any

import pytest

from raidsim.calibration.study.study import StudySpec, load_study
from raidsim.model.files.description_errors import validate
from raidsim.scenarios.comparison.rules_of_thumb import Access, Stack, mixed_speed_up, speed_up
from raidsim.tests.calibration.study import small_study as small
from raidsim.validation.prediction.baselines import Guess, nearest_measured, rule_of_thumb
from raidsim.validation.prediction.cell_classes import REWRITE, cell_classes

DRIVE = Stack("drive", drives=frozenset({"a"}))


def array(level: str, members: int, **more: Any) -> Stack:
    """An array of single drives."""
    copies = members if level == "raid1" else 2
    return Stack(level, (DRIVE,) * (members - more.pop("lost", 0)), members, copies=copies, **more)


def guess(guesses: dict[str, Guess | str], name: str) -> Guess:
    """A guess that was made."""
    found = guesses[name]
    assert isinstance(found, Guess), found
    return found


def check(guesses: dict[str, Guess | str], name: str, value: float, *sources: str) -> None:
    """A guess has this value (SI) and is from these cells."""
    found = guess(guesses, name)
    assert found.value == pytest.approx(value)
    assert found.sources == sources


@pytest.mark.parametrize(
    ("stack", "expected"),
    [
        (DRIVE, (1, 1, 1, 1)),
        (array("linear", 2), (1, 1, 1, 1)),
        (array("raid0", 4), (4, 4, 4, 4)),
        (array("side by side", 3), (3, 3, 3, 3)),
        (array("raid1", 2), (2, 1, 2, 1)),
        (array("raid1", 3, lost=1), (2, 1, 2, 1)),
        (array("raid10", 6), (6, 3, 6, 3)),
        (array("raid3", 5), (4, 4, 1, 1)),
        (array("raid5", 4), (3, 3, 4, 1)),
        (array("raid6", 6), (4, 4, 6, 1)),
        (array("raid50", 12, groups=2), (10, 10, 12, 3)),
        (array("raid60", 12, groups=2), (8, 8, 12, 2)),
        (Stack("raid0", (array("raid1", 2),) * 3, 3), (6, 3, 6, 3)),
    ],
    ids=lambda value: value.level if isinstance(value, Stack) else "",
)
def test_the_rule_of_thumb_is_the_one_in_the_books(stack: Stack, expected: tuple[float, ...]) -> None:
    """n drives by level: long reads and writes, random reads, and random writes with their penalties."""
    kinds: tuple[Access, ...] = ("sequential read", "sequential write", "random read", "random write")
    assert [speed_up(stack, kind) for kind in kinds] == pytest.approx(expected)


def test_times_of_a_mix_add() -> None:
    """Half read twice as fast and half written as fast as one drive takes 1/4 + 1/2: 4/3 as fast."""
    assert mixed_speed_up(array("raid1", 2), REWRITE.mix) == pytest.approx(4 / 3)
    assert mixed_speed_up(array("raid0", 7), {}) == 1.0


def test_a_study_on_paper() -> None:
    """Two drives at 50,000 KB/s are a stripe of two at that rate; each of two readers on two drives takes as long as
    one on one; of a random load no calibrate cell says anything.
    """
    study = validate(StudySpec, small.runs_document())
    classes = cell_classes(study)
    for guesses in (rule_of_thumb(study, classes), nearest_measured(study, classes)):
        assert set(guesses) == {"both/seconds", "stripe", "load"}
        check(guesses, "stripe", 50_000_000.0, "both")
        check(guesses, "both/seconds", 20.0, "one")
        assert isinstance(guesses["load"], str)


def test_only_calibrate_cells_are_seen() -> None:
    """Whatever was measured in the predicted cells, the guesses are the same."""
    other = {"both/seconds": 1.0, "stripe": 1.0, "load": 1.0}
    first, second = (validate(StudySpec, small.runs_document(measured)) for measured in ({}, other))
    for baseline in (rule_of_thumb, nearest_measured):
        assert baseline(first, cell_classes(first)) == baseline(second, cell_classes(second))


@pytest.fixture(scope="module")
def gateway() -> StudySpec:
    """Twelve drives in four levels; RAID 0 is known."""
    return load_study("gateway-2005")


def test_an_array_is_divided_by_its_own_factor(gateway: StudySpec) -> None:
    """RAID 0 of 12 gives the single drive's figure; the other levels follow from that."""
    guesses = rule_of_thumb(gateway, cell_classes(gateway))

    def value(name: str) -> float:
        return guess(guesses, name).value

    assert value("raid10/bonnie/write") == pytest.approx(142080 * 1024 / 12 * 6)
    assert value("raid5/bonnie/read") == pytest.approx(329967 * 1024 / 12 * 11)
    assert value("raid50/bonnie/write") == pytest.approx(142080 * 1024 / 12 * 10)
    assert value("raid5/bonnie/seeks") == pytest.approx(2159.4)
    assert value("raid10/bonnie/rewrite") == pytest.approx(85503 * 1024 / 12 * 8)
    assert value("raid5/postmark/delete") == pytest.approx(42 * 4)
    assert value("raid10/postmark/create") == pytest.approx(340 * 2)
    assert value("raid5/bonnie/putc") == pytest.approx(40936 * 1024)
    assert value("raid5/bonnie/read-cpu") == pytest.approx(0.458)


def test_the_nearest_cell_is_copied(gateway: StudySpec) -> None:
    """With RAID 0 known, all other levels are taken to be like it."""
    guesses = nearest_measured(gateway, cell_classes(gateway))
    check(guesses, "raid50/bonnie/seeks", 2159.4, "raid0/bonnie/seeks")
    assert len(guesses) == 54


def test_processes_scale_times_but_not_the_nearest() -> None:
    """Three copies on a mirror of two drives: the geometric mean of the drives' times, three times, written once; the
    nearest cell is copied as it stands.
    """
    study = load_study("catalan-2005")
    classes = cell_classes(study)
    one = math.sqrt(_measured(study, "disk1/1/cp") * _measured(study, "disk2/1/cp"))
    by_rule, nearest = rule_of_thumb(study, classes), nearest_measured(study, classes)
    check(by_rule, "mirror/3/cp", 3 * one, "disk1/1/cp", "disk2/1/cp")
    assert guess(by_rule, "striped/3/cp").value == pytest.approx(3 * one / 2)
    check(by_rule, "disk1/3/cp", 3 * _measured(study, "disk1/1/cp"), "disk1/1/cp")
    assert guess(nearest, "mirror/3/cp").value == pytest.approx(one)


def _measured(study: StudySpec, name: str) -> float:
    return next(cell.value for cell in study.all_cells if cell.id == name)
