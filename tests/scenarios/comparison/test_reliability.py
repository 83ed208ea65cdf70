"""Data loss per year against closed forms and against a simulation of failures and repairs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.files.description_errors import validate
from raidsim.scenarios.comparison.loss_chain import Chain
from raidsim.scenarios.comparison.reliability import (
    YEAR_S,
    LossRisk,
    assumed_rates,
    data_loss,
    failure_rate,
    unknown_rates,
)
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.description.tuning import ServiceSpec
from raidsim.tests.scenarios.advice.sample_designs import design, design_document

HOUR = 3600.0
YEAR = YEAR_S


def promptly(level: str, disks: int = 8, **options: Any) -> ScenarioSpec:
    """A design whose drives are replaced at once, and whose sectors stay readable but for what the data sheet says."""
    service = ServiceSpec(replacement=0, latent_errors=0)
    return design(level, disks, **options).model_copy(update={"service": service})


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
    pairs = data_loss(promptly("raid10"), HOUR)
    far = data_loss(promptly("raid10", algorithm="far"), HOUR)
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
    ten, one = data_loss(promptly("raid10"), HOUR), data_loss(promptly("raid01"), HOUR)
    assert ten is not None
    assert one is not None
    assert one.from_failures == pytest.approx(4 * ten.from_failures, rel=1e-3)


def test_read_errors_during_a_rebuild() -> None:
    """RAID 5: rebuilds per year times the probability that n-1 drives cannot be read without an error."""
    spec = promptly("raid5")
    risk = data_loss(spec, HOUR)
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


def test_rates_that_are_assumed_are_told_from_those_of_data_sheets() -> None:
    """Protects the risk table from numbers without a source: an assumed rate is named until the scenario gives it."""
    assumed = assumed_rates(design("raid5", 4, drive="Exos-15E900-900GB"))
    assert assumed == {rate: ["Exos-15E900-900GB"] for rate in ("failure rate", "rate of read errors")}
    given = {"afr": 0.01, "bits_per_unrecoverable_error": 1e15}
    assert assumed_rates(design("raid5", 4, drive="Exos-15E900-900GB", overrides=given)) == {}


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


@pytest.mark.parametrize("drive", ["WD2500JB", "Intel-S4510-960GB"])
@pytest.mark.parametrize("share", [0.0, 0.004, 0.5, 0.999])
def test_every_share_of_failures_below_all_is_a_rate(drive: str, share: float) -> None:
    """A drive's AFR comes before its MTBF, and its rate leaves that share failed after a year; all is refused."""

    def built(afr: float) -> ScenarioSpec:
        overrides = {"afr": afr, "mtbf": "1000000h"}
        return validate(ScenarioSpec, design_document("raid5", 4, drive=drive, overrides=overrides))

    rate = failure_rate(built(share).machine.drives["d0"].spec())
    assert rate is not None
    assert -math.expm1(-rate * YEAR) == pytest.approx(share)
    with pytest.raises(InputError, match=r"afr: found 100 %; expected: below 100 %"):
        built(1.0)


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
    at_once = data_loss(promptly("raid5", 5, arrays={"md0": array}), 5 * HOUR)
    assert at_once is not None
    assert spare.from_failures == pytest.approx(at_once.from_failures, rel=0.02)


@pytest.mark.parametrize("years", [1, 5])
@pytest.mark.parametrize(
    ("members", "survives", "spares", "unreadable", "stress"), [(4, 1, 0, 0.2, 1.0), (6, 2, 1, 0.1, 3.0)]
)
def test_chain_agrees_with_failures_and_repairs_that_are_drawn(
    members: int, survives: int, spares: int, unreadable: float, stress: float, years: int
) -> None:
    """Both ways to lose data within a year and within five, at rates so high that a few thousand draws show them."""
    rate, rebuild, replacement, draws = 0.6 / YEAR, YEAR / 30, YEAR / 24, 2000
    critical = [0.0] * survives + [unreadable]
    chain = Chain(members, rate, [1.0] * survives, rebuild, replacement, spares, critical, stress)
    random = np.random.default_rng(1)
    ends = [_drawn(chain, random, years * YEAR) for _ in range(draws)]
    for end, expected in zip(("array", "sector"), chain.losses(years * YEAR), strict=True):
        share = ends.count(end) / draws
        assert share == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / draws))


def _drawn(chain: Chain, random: np.random.Generator, seconds: float) -> str:
    """One array: every clock is drawn anew after each event, as exponential times may be."""
    now, missing, spares = 0.0, 0, chain.spares
    while True:
        often = (chain.members - missing) * chain.failure_rate * (chain.stress if missing else 1.0)
        waits = {"fails": random.exponential(1 / often)}
        if missing:
            delay = 0.0 if spares else chain.replacement_s
            waits["repaired"] = random.exponential(chain.rebuild_s + delay)
        if spares < chain.spares:
            waits["replaced"] = random.exponential(chain.replacement_s)
        event = min(waits, key=lambda name: waits[name])
        now += waits[event]
        if now > seconds:
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


@pytest.mark.parametrize("members", [2, 8, 24])
@pytest.mark.parametrize("rate", [1e-12, 1e-7])
def test_the_long_run_is_the_exact_mean_time_to_data_loss(members: int, rate: float) -> None:
    """One redundant member: ((2n-1) L + M) / (n (n-1) L^2), at rates of a loss in 1e9 years and of several in one."""
    rebuild = 10 * HOUR
    exact = ((2 * members - 1) * rate + 1 / rebuild) / (members * (members - 1) * rate**2)
    array, sector = Chain(members, rate, [1.0], rebuild).losses_per_second()
    assert 1 / array == pytest.approx(exact, rel=1e-12)
    assert sector == 0.0


def test_the_long_run_is_what_the_probability_of_many_years_tends_to() -> None:
    """With two redundant members, spares, unreadable sectors and stress, and so does the share of sectors."""
    chain = Chain(6, 0.5 / YEAR, [1.0, 1.0], YEAR / 50, YEAR / 40, 1, [0.0, 0.0, 0.02], 2.0)
    array, sector = chain.losses_per_second()
    (one, other), (more, others) = chain.losses(20 * YEAR), chain.losses(21 * YEAR)
    left, then = 1 - one - other, 1 - more - others
    assert -math.log(then / left) / YEAR == pytest.approx(array + sector, rel=0.02)
    assert sector / (array + sector) == pytest.approx(other / (one + other), rel=0.02)


def served(**service: object) -> LossRisk:
    """The risk of a RAID 5 of five whose drives are rebuilt in a day, with this service."""
    found = data_loss(design("raid5", 5).model_copy(update={"service": ServiceSpec(**service)}), 24 * HOUR)
    assert found is not None
    return found


def test_the_service_life_is_what_the_probability_is_over() -> None:
    """Five years unless another is asked for; one year of service is the first year."""
    usual = served()
    assert usual.life_s == 5 * YEAR
    assert usual.over_life == pytest.approx(5 * usual.per_year, rel=0.05)
    assert usual.over_life == pytest.approx(usual.life_from_failures + (usual.life_from_read_errors or 0.0))
    assert served(life="1y").over_life == served(life="1y").per_year
    assert usual.losses_per_year == pytest.approx(usual.per_year, rel=0.02)


def test_a_slow_rebuild_makes_the_first_year_no_measure_of_the_long_run() -> None:
    """With a rebuild of a year the first year has few second failures, and five years have far more."""
    slow = data_loss(design("raid6", 8), YEAR)
    assert slow is not None
    assert slow.over_life > 10 * slow.per_year
    assert slow.losses_per_year > 2 * slow.per_year


def test_field_rates_stress_and_checks_move_the_risk_as_they_should() -> None:
    """Risk of RAID 5 by failures goes with the square of the AFR and in proportion to stress; checks find sectors."""
    usual, field, worse = served(), served(afr="field"), served(afr=0.03)
    ratio = math.log1p(-0.0157) / math.log1p(-usual.afr)
    assert field.from_failures == pytest.approx(usual.from_failures * ratio**2, rel=0.02)
    assert worse.afr == pytest.approx(0.03)
    assert served(stress=4).from_failures == pytest.approx(4 * usual.from_failures, rel=0.02)
    assert served(replacement=0).from_failures == pytest.approx(usual.from_failures / 2, rel=0.02)
    never, weekly = served(scrub="none"), served(scrub="7d")
    assert (never.from_read_errors or 0) > 2 * (usual.from_read_errors or 1)
    assert (weekly.from_read_errors or 0) < (usual.from_read_errors or 0)
    assert served(scrub="none", latent_errors=0).from_read_errors == pytest.approx(
        served(latent_errors=0).from_read_errors
    )
