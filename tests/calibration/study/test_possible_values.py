"""Whatever a fit makes of a number, a machine can have it: whole pages, blocks, sectors and counts, within bounds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from raidsim.calibration.fit.profile import BOUND_SD
from raidsim.calibration.simulation.evaluator import Evaluator
from raidsim.calibration.simulation.responses import Responses
from raidsim.calibration.study.parameters import value_at
from raidsim.calibration.study.possible_values import SECTOR, possible_value
from raidsim.calibration.study.runs import RunBuilder
from raidsim.calibration.study.study import load_study, study_names
from raidsim.model.core.errors import InputError, ModelError
from raidsim.model.disk.spec import DriveSpec
from raidsim.scenarios.description.machine import PAGE
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.machine import plan
from raidsim.scenarios.running.base.sample import Sample
from raidsim.scenarios.running.simulate import simulate

FACTORS = (-1.0, -0.61803, -0.1, -1e-3, 1e-3, 0.1, 0.61803, 1.0)
"""Shares of the way to a parameter's bounds."""
FIELDS: tuple[tuple[str, Any], ...] = (
    ("cache", 8 << 20),
    ("look_ahead", 2 << 20),
    ("segment_size", 512 << 10),
    ("segments", 16),
    ("heads", 3),
    ("queue_depth", 32),
    ("queue_effort", 0.5),
    ("outer_media_rate", 60e6),
)
"""Of a hard disk: sizes, counts, a share and a rate."""


@pytest.mark.parametrize("name", study_names())
def test_every_fitted_value_is_one_that_a_machine_can_have(name: str) -> None:
    """Protects each parameter of each study, anywhere within its bounds: a size is whole sectors, memory whole pages.

    Counts and sizes stay integers above 0, and the factor is kept to within one of those units. The study's runs are
    read with all parameters moved together: each is a scenario, or refused with a message.
    """
    study = load_study(name)
    for parameter in study.parameters:
        for share in FACTORS:
            factor = math.exp(share * BOUND_SD * parameter.sd)
            for path in parameter.paths:
                prior, value = value_at(study, path), value_at(study, path, factor)
                if not isinstance(prior, int):
                    assert value == pytest.approx(prior * factor) or value in (0.0, 1.0), path
                    continue
                unit = PAGE if path.rpartition(".")[2] in ("memory", "resident") else SECTOR if prior >= SECTOR else 1
                assert isinstance(value, int), path
                assert value >= unit, path
                assert value % unit == 0, path
                assert abs(value - prior * factor) <= max(unit, PAGE), path
    with Evaluator(1) as evaluator:
        responses = Responses(study, evaluator, lambda done, total: None)
        for share in FACTORS:
            theta = np.array([share * BOUND_SD * parameter.sd for parameter in study.parameters])
            found = responses.refusal(theta, study.wanted_runs[:4])
            assert found is None or isinstance(found, InputError)


@pytest.mark.parametrize(("field", "value"), FIELDS)
def test_a_drive_keeps_what_it_can_have(field: str, value: Any) -> None:
    """Protects every kind of field of a drive: what comes out is what its description takes, and near the product."""
    spec = load_study("gentoo-2004").machine.drives["hde"].hard_disk()
    spec = spec.model_copy(update={field: value})
    for factor in (1e-6, 0.3, 0.999, 1.0, 1.37, 1e6):
        found = possible_value(spec, field, factor)
        assert type(found) is type(value)
        if isinstance(value, float):
            assert found == (min(1.0, factor * value) if field == "queue_effort" else factor * value)
        elif value >= SECTOR:
            assert found == max(1, math.floor(factor * value / SECTOR)) * SECTOR
        else:
            least, most = 1, 256 if field == "queue_depth" else math.inf
            assert found == min(most, max(least, round(factor * value)))
    assert possible_value(spec, field, 1.0) == value


def test_a_size_that_is_no_whole_number_of_sectors_keeps_its_bytes() -> None:
    """The counter-test: sectors are not forced on what is given in bytes; an RLL record may be any size."""
    spec = load_study("gentoo-2004").machine.drives["hde"].hard_disk()
    odd = spec.model_copy(update={"look_ahead": 1000})
    assert possible_value(odd, "look_ahead", 1.5) == 1500
    assert isinstance(spec, DriveSpec)


def _little_memory(resident: int, memory: int = 48 << 20) -> ScenarioSpec:
    """A bonnie that does not fit into the page cache of linux-2.4.5, which drops what a reader has passed."""
    whole = RunBuilder(load_study("mblack-2001"), {}).scenario("qlogicfc/1")
    data = whole.model_dump()
    data["machine"] |= {"memory": memory, "resident": resident}
    data["workload"] = {"kind": "programs", "steps": [{"program": "bonnie", "size": 40 << 20, "files": 1}]}
    return ScenarioSpec.model_validate(data)


@pytest.mark.parametrize("scale", [1, 4])
def test_memory_that_is_no_whole_number_of_pages_is_run(scale: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects any description and any scale: the page cache holds whole pages, so that no read of a part of one is
    sent to a drive. Counter-test: with room for part of a page, the model refuses such a read.
    """
    odd = _little_memory(9158522)
    assert plan.machine_plan(odd, scale).room % PAGE == 0
    if scale == 1:
        assert simulate(odd, Sample(scale=1)).seconds > 0
        monkeypatch.setattr(plan, "PAGE", 1)
        with pytest.raises(ModelError, match="multiples of 512 bytes"):
            simulate(odd, Sample(scale=1))


def test_resident_memory_of_a_fit_is_whole_pages() -> None:
    """Protects fits of `machine.resident`, whatever the factor; memory that is described in whole pages is kept."""
    machine = load_study("gateway-2005").machine
    for factor in np.exp(np.linspace(-1.5, 1.5, 37)):
        found = possible_value(machine, "resident", float(factor))
        assert found % PAGE == 0
        assert found == pytest.approx(machine.resident * factor, abs=PAGE)
    assert possible_value(machine, "resident", 1.0) == machine.resident
