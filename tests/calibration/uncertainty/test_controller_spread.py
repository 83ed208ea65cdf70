"""What no data sheet gives of a controller widens the interval of a run, by the part that the controller has in it."""

from __future__ import annotations

import math

import pytest

from raidsim.calibration.fit.quantile import NORMAL_QUANTILE
from raidsim.calibration.sensitivity.parameters import default_parameters
from raidsim.calibration.uncertainty.controller_spread import ControllerSpread, controller_spread
from raidsim.calibration.uncertainty.model_interval import RunIntervals, evidence_lines, run_intervals
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.running.simulate import simulate

TEXT = """
machine:
  cpu: {model: server-core, cores: 8}
  controllers: {c0: {model: Dell-PERC-H730P}}
  drives: {model: Exos-15E900-900GB, count: 4}
arrays: {md0: {level: raid10, controller: c0}}
workload: {kind: load, block_size: 4KiB, pattern: random, read_share: 0, depth: 1, warm_up: 0ms, duration: 20ms}
"""
KNOWN = "machine.controllers.c0.overrides={command: 12us, fast_path: 2us, drive_command: 2us}"
READS = ("workload.read_share=1", "workload.duration=400ms")
FLASH = (
    *("machine.drives.count=8", "machine.drives.model=Intel-S4510-960GB", "arrays.md0.level=raid5"),
    *("workload.read_share=0.7", "workload.depth=16", "workload.jobs=8"),
    "machine.controllers.c0.overrides={write_policy: write-through, read_ahead_rows: 0}",
)


def ran(*sets: str) -> tuple[ScenarioSpec, ControllerSpread | None, RunIntervals]:
    """A scenario, what its controller leaves open, and the intervals."""
    spec = document_from(TEXT, "test.yaml", sets).spec()
    spread = controller_spread(spec, simulate(spec))
    return spec, spread, run_intervals(spec, controllers=spread)


def test_a_write_into_memory_is_as_uncertain_as_the_firmware() -> None:
    """Protects the latency of cached writes, most of which is a firmware time that nobody publishes: the errors of
    reports and that time's spread add up as independent ones. Counter-test: with known times the interval is that of
    the reports.
    """
    spec, spread, found = ran()
    assert spread is not None
    assert spread.models == ("Dell-PERC-H730P",)
    assert 0.5 * spread.times_sd < spread.latency_sd < 0.9 * spread.times_sd
    alone = run_intervals(spec)
    assert found.latency is not None
    assert alone.latency is not None
    added = math.log(found.latency.factor) ** 2 - math.log(alone.latency.factor) ** 2
    assert added == pytest.approx((NORMAL_QUANTILE * spread.latency_sd) ** 2)
    _, spread, found = ran(KNOWN)
    assert spread is None
    assert found == alone


def test_where_disks_decide_the_firmware_leaves_nothing_open() -> None:
    """Protects from intervals that are too wide: a random read of a disk spends a thousandth of its time there."""
    spec, spread, found = ran(*READS)
    assert spread is None
    assert found == run_intervals(spec)


def test_a_rate_that_the_processor_limits_is_as_uncertain_as_its_times() -> None:
    """Protects small writes to parity on flash, past the cache: all of the spread of the times is that of the rate."""
    _, spread, _ = ran(*FLASH)
    assert spread is not None
    assert spread.rate_sd == spread.latency_sd == spread.times_sd


def test_arrays_of_the_kernel_have_none() -> None:
    """Protects md: no controller, nothing added."""
    spec = document_from(TEXT.replace(", controller: c0", ""), "test.yaml").spec()
    assert controller_spread(spec, simulate(spec)) is None


def test_what_is_moved_is_as_uncertain_as_the_catalogue_says() -> None:
    """Protects `sensitivity` and `learn --machine`: the spread of the entry; without one, or with a number that the
    scenario gives, the prior of its kind.
    """

    def sds(*sets: str) -> dict[str, float]:
        parameters = default_parameters(document_from(TEXT, "test.yaml", sets).spec())
        return {each.path.rpartition(".")[2]: each.sd for each in parameters if "controllers" in each.path}

    own = sds()
    assert (own["command"], own["drive_command"], own["fast_path"]) == (0.5, 0.6, 0.3)
    assert own["host_rate"] == 0.2, "found, as far as data sheets go"
    assert sds(KNOWN)["command"] == 0.4
    assert sds("machine.controllers.c0.model=Gateway-840", "arrays.md0.level=raid5")["command"] == 0.4


def test_a_comparison_says_which_times_are_not_known() -> None:
    """Protects `compare` and `advise`, whose tables have no such intervals. Counter-test: known times, or md."""
    told = "The firmware times of Dell-PERC-H730P, which no data sheet gives, are taken to be known to a factor of 2.7"
    specs = [document_from(text, "test.yaml").spec() for text in (TEXT, TEXT.replace(", controller: c0", ""))]
    assert [line for line in evidence_lines(specs) if line.startswith(told)]
    known = document_from(TEXT, "test.yaml", (KNOWN,)).spec()
    assert not [line for line in evidence_lines([known, specs[1]]) if "firmware" in line]
