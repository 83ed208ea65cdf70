"""What is begun first, and how much time is left."""

from __future__ import annotations

import pytest

from raidsim.calibration.simulation.run_times import RunTimes


def test_cheap_studies_are_complete_early() -> None:
    """The study that takes the least goes first, and of each the longest run."""
    times = RunTimes({"a1": 5.0, "a2": 10.0, "b1": 1.0, "b2": 2.0}, workers=1)
    assert times.order([["a1", "a2"], ["b1", "b2"]]) == ["b2", "b1", "a2", "a1"]


def test_a_run_that_all_would_wait_for_is_begun_first() -> None:
    """With many processes the longest run decides when all is done; counter-test: with two it can wait."""
    expected = {"long": 10.0, **{f"short{number}": 1.0 for number in range(12)}}
    groups = [["long"], [name for name in expected if name != "long"]]
    assert RunTimes(expected, workers=4).order(groups)[0] == "long"
    assert RunTimes(expected, workers=2).order([["long"], [*groups[1]], [*groups[1]]])[-1] != "long"
    assert RunTimes(expected, workers=1).order(groups)[0] == "long"  # its study takes the least
    assert RunTimes({**expected, "long": 13.0}, workers=1).order(groups)[-1] == "long"


def test_first_runs_rescale_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine three times as slow needs three times as long; before the first run the expected times count."""
    monkeypatch.setattr("time.monotonic", lambda: 0.0)
    times = RunTimes({"a": 2.0, "b": 4.0, "c": 8.0}, workers=1)
    assert times.left_s() == pytest.approx(14.0)
    times.done("a", 6.0)
    assert times.left_s() == pytest.approx(36.0)
    assert times.share == pytest.approx(2 / 14)
    times.done("b", 0.0)  # from an earlier command: nothing was simulated
    assert times.left_s() == pytest.approx(24.0)
    assert times.share == pytest.approx(2 / 10)


def test_the_last_long_run_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """More processes than runs do not end the longest one earlier."""
    monkeypatch.setattr("time.monotonic", lambda: 0.0)
    assert RunTimes({"a": 9.0, "b": 1.0}, workers=8).left_s() == pytest.approx(9.0)


def test_unknown_runs_count_as_usual_ones() -> None:
    """A new run has a place and a time, also if nothing is known of any."""
    assert RunTimes({"a": 3.0, "b": 5.0, "c": 4.0, "new": None}, workers=1).total_s == pytest.approx(16.0)
    assert RunTimes({"new": None, "other": None}, workers=1).left_s() > 0
    assert RunTimes({}, workers=2).left_s() == 0.0
