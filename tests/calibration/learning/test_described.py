"""A machine whose description is known, learnt from what a changed one does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pytest

from raidsim import InputError, Scenario
from raidsim.calibration.learning.described import DescribedMachine
from raidsim.calibration.learning.emulator import Emulator, design
from raidsim.calibration.learning.loads import BoxLoad, Columns, Measured
from raidsim.calibration.learning.posterior import Posterior, learn
from raidsim.calibration.sensitivity.parameters import default_parameters, with_factors
from raidsim.calibration.simulation.evaluator import Evaluator, Progress
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.running.base.sample import Sample
from raidsim.scenarios.sweeps.figure_values import figure_values
from raidsim.tests.calibration.learning.one_drive import NVME

KIB = 1024
MEASURED = [
    *(BoxLoad(4 * KIB, 1, depth, share) for depth, share in ((1, 1.0), (1, 0.0), (8, 0.5), (16, 1.0))),
    *(BoxLoad(64 * KIB, 1, depth, share) for depth, share in ((1, 1.0), (4, 0.0), (4, 0.7))),
    BoxLoad(16 * KIB, 2, 8, 1.0),
]
OTHERS = [
    BoxLoad(16 * KIB, 1, 1, 1.0),
    BoxLoad(4 * KIB, 1, 4, 0.7),
    BoxLoad(32 * KIB, 1, 4, 1.0),
]


@pytest.fixture(scope="module")
def nvme() -> ScenarioSpec:
    """One drive, and a short load."""
    return Scenario.from_yaml(NVME).spec


class Runs:
    """Runs simulations here, and counts how often that was asked for."""

    def __init__(self) -> None:
        self.evaluator = Evaluator(0)
        self.opened = 0

    @contextmanager
    def __call__(self) -> Iterator[tuple[Evaluator, Progress]]:
        self.opened += 1
        yield self.evaluator, lambda done, total: None


def measured(machine: ScenarioSpec, loads: Sequence[BoxLoad]) -> list[Measured]:
    """What a machine does."""
    found = []
    for load in loads:
        fields = {"block_size": int(load.block_size), "jobs": load.jobs, "depth": load.depth}
        workload = machine.workload.model_copy(update={**fields, "read_share": load.read_share})
        done = Evaluator(0).run([machine.model_copy(update={"workload": workload})], Sample())[0]
        values = figure_values(done)
        means = (values.get(f"{op}_mean_seconds") for op in ("read", "write"))
        found.append(Measured("a load", load, done.served_iops, *means))
    return found


@pytest.fixture(scope="module")
def learnt(nvme: ScenarioSpec) -> tuple[Posterior, list[Measured], Runs]:
    """A drive whose times are others, after eight measurements, and what it does with other loads."""
    uncertain = default_parameters(nvme)
    factors = np.exp([1.5 * each.sd for each in uncertain] * np.random.default_rng(4).standard_normal(len(uncertain)))
    changed = with_factors(nvme, uncertain, factors.tolist())
    runs = Runs()
    model = DescribedMachine(nvme, [*MEASURED, *OTHERS], runs, points=32)
    posterior = learn(measured(changed, MEASURED), model=model, steps=300)
    return posterior, measured(changed, OTHERS), runs


@pytest.mark.slow
def test_eight_measurements_predict_the_rest(learnt: tuple[Posterior, list[Measured], Runs]) -> None:
    """Protects the claim: loads that were not measured are known within 10 %, and lie in their ranges."""
    posterior, others, _ = learnt
    predicted = posterior.predict([each.load for each in others])
    errors = [abs(found.rate / each.rate - 1) for found, each in zip(predicted, others, strict=True)]
    assert max(errors) < 0.1
    inside = [
        found.rate_range[0] <= each.rate <= found.rate_range[1] for found, each in zip(predicted, others, strict=True)
    ]
    assert sum(inside) >= len(others) - 1


@pytest.mark.slow
def test_without_measurements_the_same_machine_is_not_known(
    learnt: tuple[Posterior, list[Measured], Runs],
) -> None:
    """The counter-test: as it is described the machine is farther off than as it is learnt."""
    posterior, others, _ = learnt
    model = posterior.observed.model
    loads = Columns.of([each.load for each in others])
    rates = np.array([each.rate for each in others])
    described = model.means(np.zeros(len(model.parameters)), loads).rate
    learnt_rates = np.array([each.rate for each in posterior.predict([each.load for each in others])])
    assert np.mean(np.abs(np.log(learnt_rates / rates))) < 0.5 * np.mean(np.abs(np.log(described / rates)))


@pytest.mark.slow
def test_loads_are_simulated_once(learnt: tuple[Posterior, list[Measured], Runs]) -> None:
    """Protects the time: loads that were simulated are emulated, and Little's law holds of what comes out."""
    posterior, others, runs = learnt
    loads = Columns.of([each.load for each in others])
    opened = runs.opened
    found = posterior.observed.model.means(posterior.samples[:5, :-2], loads)
    assert runs.opened == opened
    mean = loads.read_share * found.read + (1 - loads.read_share) * found.write
    assert np.allclose(found.rate * mean, loads.outstanding)


def test_a_scenario_without_one_target_is_refused(nvme: ScenarioSpec) -> None:
    """Protects from a guess which of two devices was measured."""
    two = Scenario.from_yaml(NVME.replace("count: 1", "count: 2").replace("[disk0]", "[disk0, disk1]")).spec
    with pytest.raises(InputError, match="2 devices"):
        DescribedMachine(two, MEASURED, Runs())


def test_an_emulator_follows_a_smooth_figure_and_knows_its_error() -> None:
    """Protects the error: it is what the emulator is off at new points, with chance in the figure and without."""
    rng = np.random.default_rng(0)
    rows, new = design(6, 64, 0) * 4 - 2, rng.uniform(-2, 2, (200, 6))

    def figure(at: np.ndarray) -> np.ndarray:
        return np.asarray(0.3 * at[:, 0] - 0.2 * at[:, 1] + 0.05 * at[:, 0] * at[:, 2])

    for noise, most in ((0.0, 0.02), (0.1, 0.2)):
        emulator = Emulator(rows, figure(rows) + noise * rng.standard_normal(64))
        off = float(np.sqrt(np.mean((emulator(new) - figure(new) - noise * rng.standard_normal(200)) ** 2)))
        assert off < most
        assert off / 2 < emulator.error < max(2 * off, 0.001)


def test_a_figure_that_nothing_moves_is_constant() -> None:
    """Protects from dividing by no spread."""
    emulator = Emulator(design(3, 16, 0), np.full(16, 2.5))
    assert emulator(np.zeros((4, 2, 3))).tolist() == [[2.5] * 2] * 4
    assert emulator.error == 0
