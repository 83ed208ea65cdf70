"""A scenario's load as sliders: what is emulated is what is simulated."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from raidsim import InputError, Scenario
from raidsim.calibration.learning.load_emulator import LoadEmulator
from raidsim.calibration.simulation.evaluator import Evaluator
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.tests.calibration.learning.one_drive import NVME


def nvme() -> ScenarioSpec:
    """One drive."""
    return Scenario.from_yaml(NVME).spec


def test_answers_are_those_of_simulations_within_their_error() -> None:
    """Protects the sliders: an answer takes less than 50 ms, and a simulation gives the same within the error."""
    emulator = LoadEmulator(nvme(), {"depth": (1, 16)}, Evaluator(0), lambda done, total: None, points=16)
    off = []
    for depth in (2, 5, 11):
        begun = time.perf_counter()
        answer = emulator.rate(depth=depth)
        assert time.perf_counter() - begun < 0.05
        off.append(math.log(answer.value / emulator.simulated(depth=depth).served_iops))
        assert answer.error == emulator.error
    assert np.max(np.abs(off)) < max(0.03, 3 * emulator.error)


def test_loads_outside_the_ranges_are_refused() -> None:
    """Protects from answers of which nothing was simulated."""
    emulator = LoadEmulator(nvme(), {"depth": (1, 8)}, Evaluator(0), lambda done, total: None, points=8)
    with pytest.raises(InputError, match="1 to 8"):
        emulator.rate(depth=9)
    with pytest.raises(InputError, match="depth, jobs"):
        LoadEmulator(nvme(), {"chunk": (1, 8)}, Evaluator(0), lambda done, total: None)
