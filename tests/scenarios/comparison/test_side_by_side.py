"""Designs side by side: common random numbers, differences, what is refused."""

from __future__ import annotations

import math

import pytest

from raidsim.model.core.errors import InputError
from raidsim.scenarios.comparison.alternatives import Design, designs_of, on_common_span
from raidsim.scenarios.comparison.side_by_side import Comparison, Settings, compare
from raidsim.scenarios.questions.replications import unpaired_difference
from raidsim.scenarios.workers.task_pool import TaskPool
from raidsim.tests.scenarios.comparison.test_alternatives import small

QUICK = Settings(replications=3, rebuild=False)


def compared(designs: list[Design], settings: Settings = QUICK, workers: int = 1) -> Comparison:
    """The comparison of designs on their common span."""
    with TaskPool(workers) as pool:
        return compare(on_common_span(designs)[0], settings, pool)


def test_paired_intervals_are_narrower_than_unpaired_ones() -> None:
    """The same requests in both designs: the difference is known far better than from runs that share nothing."""
    document = small("iops=600", "duration=400ms", "workload.arrivals=bursty")
    designs = designs_of(document, [("chunk", ["64KiB", "256KiB"])])
    found = compared(designs, Settings(replications=8, rebuild=False))
    first, second = found.designs
    for name in ("iops", "read_mean_seconds"):
        unpaired = unpaired_difference(second.figures[name], first.figures[name])
        assert second.against[name].half_width < 0.2 * unpaired.half_width
        assert second.against[name].mean == pytest.approx(unpaired.mean)


def test_runs_that_share_nothing_are_no_better_in_pairs() -> None:
    """With other random numbers in the second design, pairing gains nothing: it was the common ones."""
    document = small("iops=600", "duration=400ms", "workload.arrivals=bursty")
    found = compared(designs_of(document, [("seed", [1, 2])]), Settings(replications=8, rebuild=False))
    first, second = found.designs
    unpaired = unpaired_difference(second.figures["iops"], first.figures["iops"])
    assert second.against["iops"].half_width > 0.5 * unpaired.half_width


def test_impossible_designs_are_rows_and_the_baseline_may_be_chosen() -> None:
    """What cannot be is there with its reason; the others are compared with the baseline asked for."""
    designs = designs_of(small(), [("layout", ["raid50", "raid5", "raid0"])])
    found = compared(designs)
    assert found.baseline == 2
    assert [each.facts is not None for each in found.designs] == [False, True, True]
    assert found.designs[0].design.refused
    assert not found.designs[1].against
    assert found.designs[2].against
    third = compared(designs, Settings(replications=2, rebuild=False, baseline=3))
    assert third.designs[1].against["iops"].mean < 0
    for baseline in (1, 4):
        with pytest.raises(InputError, match=f"--baseline: design {baseline}"):
            compared(designs, Settings(replications=1, rebuild=False, baseline=baseline))
    with pytest.raises(InputError, match="no design is possible"):
        compared(designs_of(small(), [("layout", ["raid50", "raid60"])]))


def test_a_design_that_ends_in_the_middle_is_refused_too() -> None:
    """An array that fails during the run does not end the comparison of the others."""
    lost = "failures=[{member: disk0, at: 100ms}, {member: disk1, at: 200ms}]"
    designs = designs_of(small(lost), [("layout", ["raid6", "raid5"])])
    found = compared(designs)
    assert [each.facts is not None for each in found.designs] == [True, False]


def test_precision_takes_more_runs() -> None:
    """A precision asks for more replications, of all designs alike."""
    designs = designs_of(small(), [("layout", ["raid5", "raid0"])])
    found = compared(designs, Settings(replications=2, rebuild=False, precision=0.05))
    assert found.precise
    assert found.replications > 2
    assert {len(values) for each in found.designs for values in each.figures.values()} == {found.replications}
    for each in found.designs:
        assert each.estimates["rate"].relative <= 0.05


def test_one_run_has_its_own_interval_and_no_differences() -> None:
    """A single replication is compared without intervals of differences."""
    found = compared(designs_of(small(), [("layout", ["raid5", "raid0"])]), Settings(replications=1, rebuild=False))
    assert math.isfinite(found.designs[1].estimates["iops"].half_width)
    assert not found.designs[1].against


@pytest.mark.slow
def test_processes_make_no_difference() -> None:
    """Rebuild, curve and replications are the same with two processes."""
    settings = Settings(replications=2, curve_points=6)
    document = small("machine.drives.model=Generic-20GB-ATA", "workload.duration=200ms")
    designs = designs_of(document, [("layout", ["raid5", "raid6", "raid0"])])
    assert compared(designs, settings, workers=2) == compared(designs, settings)


def test_rebuild_and_risk() -> None:
    """A rebuild's time and the risk are there where there is redundancy; without it only the risk."""
    slow = "arrays.md0.resync={action: check, speed_max: 8MB/s}"
    document = small("workload.depth=16", "machine.drives.price=100", slow)
    found = compared(designs_of(document, [("layout", ["raid5", "raid0"])]), Settings(replications=1))
    parity, stripe = found.designs
    assert parity.rebuild_s is not None
    assert stripe.rebuild_s is None
    assert parity.risk is not None
    assert stripe.risk is not None
    assert stripe.risk.per_year > 10 * parity.risk.per_year
    assert parity.cost_per_iops == pytest.approx(400 / parity.estimates["iops"].mean)
