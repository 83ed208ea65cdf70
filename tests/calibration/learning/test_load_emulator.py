"""A scenario's load as sliders: what is emulated is what is simulated."""

from __future__ import annotations

import math

import pytest

from raidsim import InputError, Scenario, emulate
from raidsim.calibration.learning.load_emulator import LoadEmulator
from raidsim.calibration.simulation.evaluator import Evaluator
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.tests.calibration.learning.one_drive import NVME


def nvme() -> ScenarioSpec:
    """One drive."""
    return Scenario.from_yaml(NVME).spec


def test_answers_are_those_of_simulations_within_their_error() -> None:
    """Protects the sliders: a simulation gives the same within the error, which is least at loads simulated before."""
    done: list[int] = []
    emulator = LoadEmulator(nvme(), {"depth": (1, 16)}, Evaluator(0), lambda now, total: done.append(now), points=8)
    assert emulator.simulated_loads < 64
    answers = [emulator.rate(depth=depth) for depth in range(1, 17)]
    assert max(each.error for each in answers) < max(0.03, emulator.error) * 1.5
    for depth in (2, 5, 11):
        answer = answers[depth - 1]
        off = math.log(answer.value / emulator.simulated(Evaluator(0), depth=depth).served_iops)
        assert abs(off) < max(0.03, 3 * answer.error)


def test_more_is_simulated_until_it_is_known() -> None:
    """Protects the promise: for a wide aim the first loads do; for a narrow one more are simulated, up to the most."""
    counts = []
    for within in (1.0, 1e-6):
        emulator = LoadEmulator(
            nvme(), {"depth": (1, 16), "read_share": (0, 1)}, Evaluator(0), lambda *_: None, 8, within, 20
        )
        counts.append(emulator.simulated_loads)
    assert counts == [8, 20]


def test_the_api_verifies_what_it_emulates() -> None:
    """Protects the public names: an answer with its error, and the same load simulated."""
    found = emulate(Scenario.from_yaml(NVME), {"depth": (1, 4)}, most=8, workers=0, progress=False)
    answer = found.rate(depth=2)
    assert answer.value == pytest.approx(found.simulated(depth=2), rel=0.05)
    assert repr(found).startswith("EmulatedScenario(8 simulations")


def test_loads_outside_the_ranges_are_refused() -> None:
    """Protects from answers of which nothing was simulated."""
    emulator = LoadEmulator(nvme(), {"depth": (1, 8)}, Evaluator(0), lambda done, total: None, 8, most=8)
    with pytest.raises(InputError, match="1 to 8"):
        emulator.rate(depth=9)
    with pytest.raises(InputError, match="expected: depth"):
        emulator.rate()
    with pytest.raises(InputError, match="depth, jobs"):
        LoadEmulator(nvme(), {"chunk": (1, 8)}, Evaluator(0), lambda done, total: None)
