"""Commands that are interrupted, and go on when they are given again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from raidsim.calibration.simulation import evaluator as evaluate
from raidsim.cli import main as cli
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.running import simulate as simulation
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.base.sample import Sample
from raidsim.tests.calibration.study import small_study as small

Run = Callable[..., tuple[int, str, str]]
MOST = 10
"""Simulations before Ctrl-C."""
SHORT = Sample(read_bytes=1 << 20, warm_up=0.0)
"""Of all of them: how long they are makes no difference here."""
SCENARIO = """
machine: {drives: {model: WD2500JS, count: 2}}
arrays: {md0: raid1}
workload: {read_share: 100%, depth: 2, duration: 1s, warm_up: 0s}
"""
COMMANDS = {
    "calibrate": ("calibrate", "runs.yaml", "--starts", "2"),
    "predict": ("predict", "runs.yaml", "--recalibrate"),
    "validate": ("validate", "runs.yaml", "--recalibrate"),
    "sensitivity": ("sensitivity", "scenario.yaml", "--method", "morris", "--trajectories", "4"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the commands are given; the user's data lie in "home"."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAIDSIM_HOME", str(tmp_path / "home"))
    document = small.runs_document(
        {"one": 18.0, "both": 110_000.0, "both/seconds": 19.0, "stripe": 108.0, "load": 90.0}
    )
    (tmp_path / "runs.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
    (tmp_path / "scenario.yaml").write_text(SCENARIO, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command; returns its exit status, and what it printed."""

    def call(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main([*arguments, "--json", "--workers", "0"])
        return int(ended.value.code or 0), *capsys.readouterr()

    return call


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> Callable[[int | None], list[int]]:
    """Counts simulations, and interrupts after so many."""

    def count(most: int | None) -> list[int]:
        begun: list[int] = []

        def simulate(scenario: ScenarioSpec, _: Sample) -> Prediction:
            if len(begun) == most:
                raise KeyboardInterrupt
            begun.append(1)
            return simulation.simulate(scenario, SHORT)

        monkeypatch.setattr(evaluate, "simulate", simulate)
        return begun

    return count


@pytest.mark.parametrize("name", COMMANDS)
def test_an_interrupted_command_goes_on(
    name: str, folder: Path, run: Run, simulated: Callable[[int | None], list[int]]
) -> None:
    """Protects hours of work: status 130 and where it is kept; then nothing is done twice, with the same answer, and
    nothing is left behind.
    """
    command, unfinished = COMMANDS[name], folder / "home" / "unfinished"
    whole = simulated(None)
    status, alone, _ = run(*command)
    assert status == 0
    assert len(whole) > MOST
    assert not list(unfinished.glob("*"))  # a slow computer has kept some meanwhile

    simulated(MOST)
    status, out, err = run(*command)
    assert (status, out) == (130, "")
    assert f"{MOST} simulations are kept in {unfinished}" in err
    assert "the same command goes on from there" in err

    rest = simulated(None)
    status, again, err = run(*command)
    assert status == 0
    assert f"{MOST} simulations were done when this command was interrupted" in err
    assert len(rest) == len(whole) - MOST
    assert json.loads(again) == json.loads(alone)
    assert list(unfinished.iterdir()) == []


def test_another_command_begins_at_the_beginning(
    folder: Path, run: Run, simulated: Callable[[int | None], list[int]]
) -> None:
    """The counter-test: with another seed it is not the same work, and it leaves what is kept of the other."""
    simulated(MOST)
    assert run(*COMMANDS["calibrate"])[0] == 130
    (kept,) = (folder / "home" / "unfinished").iterdir()
    simulated(None)
    status, _, err = run(*COMMANDS["calibrate"], "--seed", "7")
    assert status == 0
    assert "interrupted" not in err
    assert kept.exists()
