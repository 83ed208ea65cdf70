"""Rebuilds beside a load: what they cost, how long they take, and what starts them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.files.description_errors import validate
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.questions.rebuild_comparison import RebuildComparison, compare_rebuild
from raidsim.scenarios.running.base.prediction import Prediction, RebuildProgress
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.scenarios.small_machine import DRIVES, QUICK, scenario, scenario_document

REBUILDING: dict[str, Any] = {
    "level": "raid5",
    "members": list(DRIVES),
    "failed": ["sdb"],
    "rebuilding": ["sdb"],
    "resync": {"stripe_heads": 256},
}
"""A rebuild that has just begun: its stripe cache has not grown yet."""


def document(array: dict[str, Any], kernel: str = "linux-6.1", **load: Any) -> dict[str, Any]:
    """A second of random reads on md0."""
    made = scenario_document(array=array, targets=("md0",), kernel=kernel)
    made["workload"] = {"kind": "load", "targets": ["md0"], "depth": 4, "warm_up": "200ms", "duration": "1s", **load}
    return made


def spec(array: dict[str, Any], kernel: str = "linux-6.1", **load: Any) -> ScenarioSpec:
    """The scenario of :func:`document`."""
    return validate(ScenarioSpec, document(array, kernel, **load))


@pytest.fixture(scope="module")
def beside_load() -> RebuildComparison:
    """A rebuild beside four random readers."""
    return compare_rebuild(spec(REBUILDING))


def test_a_rebuild_costs_throughput(beside_load: RebuildComparison) -> None:
    """Protects the order: whole is at least as fast as degraded, degraded is faster than beside a rebuild."""
    assert beside_load.rebuilding.rate < 0.9 * beside_load.degraded.rate
    assert beside_load.degraded.rate < beside_load.whole.rate


def test_losses_are_those_of_the_rates(beside_load: RebuildComparison) -> None:
    """Protects the numbers that are shown: what is left of each loss is the ratio of the rates."""
    assert beside_load.loss == pytest.approx(1 - beside_load.rebuilding.rate / beside_load.degraded.rate)
    assert beside_load.loss_to_failure == pytest.approx(1 - beside_load.degraded.rate / beside_load.whole.rate)
    both = 1 - (1 - beside_load.loss) * (1 - beside_load.loss_to_failure)
    assert both == pytest.approx(1 - beside_load.rebuilding.rate / beside_load.whole.rate)


def test_only_the_rebuilding_run_rebuilds(beside_load: RebuildComparison) -> None:
    """Protects the comparison: the other two runs have no resync thread, and the whole one alone reads the drive."""
    (rebuild,) = beside_load.rebuilding.rebuilds
    assert (rebuild.array, rebuild.action) == ("md0", "recover")
    assert beside_load.degraded.rebuilds == beside_load.whole.rebuilds == ()

    def reads(prediction: Prediction) -> int:
        return sum(usage.reads for usage in prediction.usages if (usage.kind, usage.name) == ("disk", "sdb"))

    assert reads(beside_load.degraded) == reads(beside_load.rebuilding) == 0
    assert reads(beside_load.whole) > 0


def test_the_duration_is_the_size_over_the_rate(beside_load: RebuildComparison) -> None:
    """Protects the hours that are shown: all of a member at the pace of the measurement."""
    (rebuild,) = beside_load.rebuilding.rebuilds
    assert rebuild.total_bytes == pytest.approx(250e9, rel=0.01)
    assert beside_load.duration_s == rebuild.duration_s == rebuild.total_bytes / rebuild.rate
    assert rebuild.left_s < rebuild.duration_s


def test_more_load_makes_a_rebuild_longer(beside_load: RebuildComparison) -> None:
    """Protects the competition for the drives, with an idle array as the counter-test: there it streams."""
    heavy = simulate(spec(REBUILDING, depth=32)).rebuilds[0].duration_s
    idle = document(REBUILDING)
    idle["machine"]["drives"]["spare"] = {"model": "WD2500JB", "channel": "extra"}
    idle["machine"]["channels"]["extra"] = idle["machine"]["channels"]["sda"]
    idle["workload"]["targets"] = ["spare"]
    alone = simulate(validate(ScenarioSpec, idle)).rebuilds[0].duration_s
    assert alone < 0.5 * beside_load.duration_s
    assert beside_load.duration_s < heavy


def test_a_kernel_that_naps_gives_way() -> None:
    """Protects the difference between kernels: the 2.6.8 rebuild sinks to its minimum beside a load, so it costs less
    of the throughput and takes longer than with a minimum of 20 MB/s.
    """
    polite = compare_rebuild(spec({**REBUILDING, "resync": {}}, "linux-2.6.8", duration="3s"))
    hurried = compare_rebuild(spec({**REBUILDING, "resync": {"speed_min": "20MB/s"}}, "linux-2.6.8", duration="3s"))
    assert polite.loss < hurried.loss
    assert polite.duration_s > 2 * hurried.duration_s


def test_dd_beside_a_rebuild_is_compared_too() -> None:
    """Protects the other workload: one sequential reader loses to a rebuild that takes its 40 MB/s."""
    array = {**REBUILDING, "resync": {"speed_min": "40MB/s"}}
    found = compare_rebuild(scenario(array=array, targets=("md0",)), replace(QUICK, read_bytes=32 << 20))
    assert 0 < found.loss < 1


def test_a_check_is_no_rebuild() -> None:
    """Protects the refusal, and the duration from threads that only check."""
    with pytest.raises(InputError, match="no member is being rebuilt"):
        compare_rebuild(spec({"level": "raid5", "members": list(DRIVES), "resync": {"action": "check"}}))
    with pytest.raises(InputError, match="no member is being rebuilt"):
        compare_rebuild(spec({"level": "raid5", "members": list(DRIVES), "failed": ["sda"]}))
    check = RebuildProgress("md1", "check", 1.0, 10**9, 0)
    rebuild = RebuildProgress("md0", "recover", 1e6, 10**9, 0)
    prediction = replace(simulate(spec(REBUILDING, duration="50ms")), rebuilds=(check, rebuild))
    assert RebuildComparison(prediction, prediction, prediction).duration_s == rebuild.duration_s


def test_a_finished_rebuild_says_so() -> None:
    """Protects small members: a rebuild that is over before the measurement is at its end, not standing still."""
    made = document(REBUILDING, warm_up="2s", duration="100ms", depth=1)
    for drive in made["machine"]["drives"].values():
        drive["overrides"] = {"capacity": "8MiB", "heads": 1}
    (rebuild,) = simulate(validate(ScenarioSpec, made)).rebuilds
    assert rebuild.position == rebuild.total_bytes == 8 << 20
    assert rebuild.left_s == 0.0


def test_a_check_of_raid10_is_counted_per_member() -> None:
    """Protects the unit: md counts such a check in bytes of the array, the report in bytes of each member."""
    array = {"level": "raid10", "members": list(DRIVES), "resync": {"action": "check"}}
    (check,) = simulate(spec(array)).rebuilds
    assert check.total_bytes == pytest.approx(250e9, rel=0.01)
    assert 0 < check.rate < 65e6


SPARED: dict[str, Any] = {"level": "raid5", "members": list(DRIVES[:3]), "spares": ["sdd"]}


def with_failure(at: str, array: dict[str, Any] | None = None) -> Prediction:
    """A second of load during which sdb fails, measured from the beginning."""
    made = document(array or SPARED, warm_up="0s")
    made["failures"] = [{"member": "sdb", "at": at}]
    return simulate(validate(ScenarioSpec, made))


def writes(prediction: Prediction, drive: str) -> int:
    """Commands that a drive wrote; 0 if it is not even there."""
    return sum(usage.writes for usage in prediction.usages if usage.name == drive)


def test_a_spare_is_rebuilt_onto_after_the_failure() -> None:
    """Protects hot spares: the rebuild begins when the member fails, so the earlier the further it is."""
    early, late = with_failure("200ms"), with_failure("800ms")
    for prediction in (early, late):
        (rebuild,) = prediction.rebuilds
        assert (rebuild.array, rebuild.action) == ("md0", "recover")
        assert rebuild.position > 0
        assert writes(prediction, "sdd") > 0
    assert early.rebuilds[0].position > 2 * late.rebuilds[0].position


def test_without_failure_or_spare_nothing_is_rebuilt() -> None:
    """The counter-tests: a spare stands by, and a failure without a spare leaves the array degraded."""
    standing_by = simulate(spec(SPARED))
    assert standing_by.rebuilds == ()
    assert writes(standing_by, "sdd") == 0
    assert with_failure("2s").rebuilds == ()
    assert with_failure("200ms", {**SPARED, "spares": []}).rebuilds == ()
