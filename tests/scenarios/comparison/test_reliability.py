"""Data loss per year against closed forms and against a simulation of failures and repairs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from raidsim.scenarios.comparison.loss_chain import Chain
from raidsim.scenarios.comparison.reliability import YEAR_S, data_loss, failure_rate, unknown_rates
from raidsim.tests.scenarios.advice.sample_designs import design

HOUR = 3600.0
YEAR = YEAR_S


def chain_mttdl(members: int, survives: int, rate: float, rebuild_s: float) -> float:
    """Mean time to data loss from the probability of a year, where that is small."""
    lost, _ = Chain(members, rate, [1.0] * survives, rebuild_s).losses(YEAR)
    return YEAR / -math.log1p(-lost)


@pytest.mark.parametrize("members", [2, 4, 8, 24])
def test_mean_time_to_data_loss_of_single_redundancy(members: int) -> None:
    """Patterson, Gibson and Katz 1988: MTTF^2 / (n (n-1) MTTR), for n=2 a mirror's mu / (2 lambda^2)."""
    rate, rebuild = 1.0 / (1e6 * HOUR), 10 * HOUR
    expected = 1.0 / (members * (members - 1) * rate**2 * rebuild)
    assert chain_mttdl(members, 1, rate, rebuild) == pytest.approx(expected, rel=5e-3)


@pytest.mark.parametrize("members", [4, 8, 16])
def test_mean_time_to_data_loss_of_double_redundancy(members: int) -> None:
    """MTTF^3 / (n (n-1) (n-2) MTTR^2) where one drive is rebuilt at a time."""
    rate, rebuild = 1.0 / (1e6 * HOUR), 10 * HOUR
    expected = 1.0 / (members * (members - 1) * (members - 2) * rate**3 * rebuild**2)
    assert chain_mttdl(members, 2, rate, rebuild) == pytest.approx(expected, rel=5e-3)


def test_no_redundancy_is_the_first_failure() -> None:
    """RAID 0 of n: one minus the probability that all last the year."""
    risk = data_loss(design("raid0", 6), None)
    assert risk is not None
    assert risk.per_year == pytest.approx(1 - (1 - risk.afr) ** 6, rel=1e-9)
    assert risk.from_read_errors == 0.0


def test_without_repair_the_binomial_is_exact() -> None:
    """A mirror that nobody repairs is lost if all copies fail within the year; RAID 6 if three or more fail."""
    risk = data_loss(design("raid1", 3), math.inf)
    assert risk is not None
    assert risk.per_year == pytest.approx(risk.afr**3, rel=1e-9)
    raid6 = data_loss(design("raid6", 8), math.inf)
    assert raid6 is not None
    fails = raid6.afr
    expected = sum(math.comb(8, k) * fails**k * (1 - fails) ** (8 - k) for k in range(3, 9))
    assert raid6.per_year == pytest.approx(expected, rel=1e-9)


def test_overlapping_copies_have_more_fatal_pairs() -> None:
    """RAID 10 far of n: the second loss is fatal for 2 of n-1 drives, in disjoint pairs for 1."""
    hurry = {"rebuild_s": HOUR, "replacement_s": 0.0}
    pairs = data_loss(design("raid10", 8), **hurry)
    far = data_loss(design("raid10", 8, algorithm="far"), **hurry)
    assert pairs is not None
    assert far is not None
    assert far.from_failures == pytest.approx(2 * pairs.from_failures, rel=1e-3)


def test_stripe_over_parity_is_its_groups_and_a_stack_by_hand_the_level() -> None:
    """RAID 50 loses what either RAID 5 loses; RAID 0 over two RAID 5 is the same."""
    half, whole = data_loss(design("raid5", 3), HOUR), data_loss(design("raid50", 6), HOUR)
    stack = {
        "a": {"level": "raid5", "members": ["d0", "d1", "d2"]},
        "b": {"level": "raid5", "members": ["d3", "d4", "d5"]},
        "md0": {"level": "raid0", "members": ["a", "b"]},
    }
    by_hand = data_loss(design("raid50", 6, arrays=stack), HOUR)
    assert half is not None
    assert whole is not None
    assert whole.per_year == pytest.approx(2 * half.per_year, rel=1e-4)
    assert by_hand == whole


def test_stripes_that_are_mirrored_fail_as_a_whole() -> None:
    """RAID 01 of two stripes of n/2 is worse than RAID 10: n/2 drives are fatal after the first loss, not one."""
    hurry = {"rebuild_s": HOUR, "replacement_s": 0.0}
    ten, one = data_loss(design("raid10", 8), **hurry), data_loss(design("raid01", 8), **hurry)
    assert ten is not None
    assert one is not None
    assert one.from_failures == pytest.approx(4 * ten.from_failures, rel=1e-3)


def test_read_errors_during_a_rebuild() -> None:
    """RAID 5: rebuilds per year times the probability that n-1 drives cannot be read without an error."""
    spec = design("raid5", 8)
    risk = data_loss(spec, HOUR, replacement_s=0.0)
    drive = spec.machine.drives["d0"].spec()
    rate = failure_rate(drive)
    assert risk is not None
    assert risk.from_read_errors is not None
    assert rate is not None
    assert drive.bits_per_unrecoverable_error is not None
    bits = 7 * 8 * drive.capacity
    meets = -math.expm1(bits * math.log1p(-1 / drive.bits_per_unrecoverable_error))
    rebuilds = -math.expm1(-8 * rate * YEAR * meets)
    assert risk.from_read_errors == pytest.approx(rebuilds, rel=2e-3)
    assert risk.per_year == pytest.approx(risk.from_failures + risk.from_read_errors)
    double = data_loss(design("raid6", 8), HOUR)
    assert double is not None
    assert double.from_read_errors is not None
    assert double.from_read_errors < risk.from_read_errors / 1000


def test_what_is_not_known_is_said_and_not_invented() -> None:
    """No failure rate: no probability. No read error rate: the probability is of failures alone."""
    without = design("raid5", 4, drive="WD2500JB")
    assert data_loss(without, HOUR) is None
    assert unknown_rates(without) == ["WD2500JB"]
    rate = {"mtbf": "1000000h"}
    risk = data_loss(design("raid5", 4, drive="WD2500JB", overrides=rate), HOUR)
    assert risk is not None
    assert risk.from_read_errors is None
    assert risk.per_year == risk.from_failures
    assert risk.afr == pytest.approx(1 - math.exp(-YEAR / (1e6 * HOUR)))


def test_spares_slower_rebuilds_and_failures() -> None:
    """A spare helps where replacing takes long; slower rebuilds and drives that are lost already hurt."""
    array = {"level": "raid5", "members": ["d0", "d1", "d2", "d3"]}
    plain = data_loss(design("raid5", 5, arrays={"md0": array}), 5 * HOUR)
    spare = data_loss(design("raid5", 5, arrays={"md0": {**array, "spares": ["d4"]}}), 5 * HOUR)
    slow = data_loss(design("raid5", 5, arrays={"md0": array}), 50 * HOUR)
    degraded = data_loss(design("raid5", 5, arrays={"md0": {**array, "failed": ["d0"]}}), 5 * HOUR)
    assert plain is not None
    assert spare is not None
    assert slow is not None
    assert degraded is not None
    assert spare.from_failures < plain.from_failures / 4
    assert slow.from_failures > 2 * plain.from_failures
    assert degraded.from_failures > 10 * plain.from_failures
    at_once = data_loss(design("raid5", 5, arrays={"md0": array}), 5 * HOUR, replacement_s=0.0)
    assert at_once is not None
    assert spare.from_failures == pytest.approx(at_once.from_failures, rel=0.02)


@pytest.mark.parametrize(("members", "survives", "spares", "unreadable"), [(4, 1, 0, 0.2), (6, 2, 1, 0.1)])
def test_chain_agrees_with_failures_and_repairs_that_are_drawn(
    members: int, survives: int, spares: int, unreadable: float
) -> None:
    """Both ways to lose data, at rates so high that a few thousand drawn years show them."""
    rate, rebuild, replacement, years = 1.2 / YEAR, YEAR / 15, YEAR / 12, 4000
    critical = [0.0] * survives + [unreadable]
    chain = Chain(members, rate, [1.0] * survives, rebuild, replacement, spares, critical)
    random = np.random.default_rng(1)
    ends = [_drawn(chain, random) for _ in range(years)]
    for end, expected in zip(("array", "sector"), chain.losses(YEAR), strict=True):
        share = ends.count(end) / years
        assert share == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / years))


def _drawn(chain: Chain, random: np.random.Generator) -> str:
    """One year: every clock is drawn anew after each event, as exponential times may be."""
    now, missing, spares = 0.0, 0, chain.spares
    while True:
        waits = {"fails": random.exponential(1 / ((chain.members - missing) * chain.failure_rate))}
        if missing:
            delay = 0.0 if spares else chain.replacement_s
            waits["repaired"] = random.exponential(chain.rebuild_s + delay)
        if spares < chain.spares:
            waits["replaced"] = random.exponential(chain.replacement_s)
        event = min(waits, key=lambda name: waits[name])
        now += waits[event]
        if now > YEAR:
            return "kept"
        if event == "replaced":
            spares += 1
        elif event == "fails":
            if missing == len(chain.tolerated):
                return "array"
            missing += 1
        else:
            if random.random() < chain.unreadable[missing]:
                return "sector"
            missing -= 1
            spares = max(0, spares - 1)
