"""Progress: silent for a second, on stderr, and gone when the work is over."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from raidsim.api.run import run
from raidsim.api.scenario import Scenario
from raidsim.api.support import progress, run_progress
from raidsim.calibration.simulation.run_times import RunTimes
from raidsim.tests.manual_pages import lines


def watchers() -> list[threading.Thread]:
    """The threads that look at the work."""
    return [thread for thread in threading.enumerate() if thread.name == "progress"]


def test_short_work_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """Protects quick commands from flicker, and from a thread that stays."""
    with progress.progress_share("working") as follow:
        follow(lambda: 0.5)
    assert capsys.readouterr() == ("", "")
    assert not watchers()


def test_long_work_is_told_in_percent(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects logs: a line now and then with the share of the newest part, on stderr alone."""
    for name, value in (("_QUIET_S", 0.0), ("_LOOK_S", 0.01), ("_EVERY_S", 0.0)):
        monkeypatch.setattr(progress, name, value)
    with progress.progress_share("working") as follow:
        follow(lambda: 1.5)
        follow(lambda: 0.25)
        time.sleep(0.2)
    out, err = capsys.readouterr()
    assert out == ""
    assert "working: 25 % (0 s, about " in err


def test_pages_are_compared_without_any_progress(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protects the manual's examples on slow computers: each kind of line that says how far work is, is left out."""
    monkeypatch.setattr(progress, "_EVERY_S", 0.0)
    monkeypatch.setattr(run_progress, "_EVERY_S", 0.0)
    with progress.progress_bar("figures") as told:
        told(0, 3)
        told(2, 3)
    with progress.progress_text("aging") as doing:
        doing("run 3")
    with progress.progress_share("working") as follow:
        follow(lambda: 0.25)
        time.sleep(0.05)
    with run_progress.runs_progress("predicting") as runs:
        runs.update(1, 2000, RunTimes({}, 1))
    said = capsys.readouterr().err
    assert said.count("\n") >= 4
    assert lines(said) == []


def test_work_that_fails_ends_its_progress() -> None:
    """Protects errors and interrupts: the thread is gone before the message is shown."""

    def interrupted() -> None:
        with progress.progress_share("working") as follow:
            follow(lambda: 0.1)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not watchers()


@pytest.mark.parametrize(("share", "advised"), [(0.001, True), (0.0, True), (0.9, False)])
def test_long_work_gets_advice_once(
    share: float, advised: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Protects people from waiting hours: one sentence on how a job takes less time; none if it is short."""
    for name, value in (("_QUIET_S", 0.0), ("_LOOK_S", 0.01), ("_ADVISE_S", 0.03), ("_LONG_S", 0.2)):
        monkeypatch.setattr(progress, name, value)
    with progress.progress_share("working", advice="do less") as follow:
        follow(lambda: share)
        time.sleep(0.12)
    said = capsys.readouterr().err
    assert said.count("; do less") == advised
    assert not advised or said.startswith("working: ")


def test_progress_is_told_to_who_follows(capsys: pytest.CaptureFixture[str]) -> None:
    """Protects the browser page: inside, it gets the share that is done; outside, nothing more."""
    told: list[Callable[[], float]] = []
    small = Scenario.load("database-server").with_(warm_up="1ms", duration="5ms")
    with progress.followed_by(told.append):
        run(small)
    assert [share() for share in told] == [1.0]
    run(small)
    assert len(told) == 1
    assert capsys.readouterr().err == ""
