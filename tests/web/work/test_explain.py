"""What each mechanism costs, in words that follow from numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from raidsim.model.statistics.batch_means import Estimate
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.simulate import simulate
from raidsim.web.form.fields import DEFAULT, NONE
from raidsim.web.form.forms import built, fitted
from raidsim.web.work.explain import MOST_VARIANTS, Variant, commands_per_io, effect, mean_latency, variants

SMALL = fitted(replace(DEFAULT, length="short", read=0, bitmap=False))[0]


def prediction(iops: float, mean_s: float, half: float = 0.01, saturated: bool = False) -> Prediction:
    """What a run might give."""
    estimate = Estimate(iops, half * iops, 0.9, 20, 0.0, 0.0, False)
    late = Estimate(mean_s, half * mean_s, 0.9, 20, 0.0, 0.0, False)
    return Prediction(
        seconds=1.0, measured_s=1.0, rate=4096 * iops, iops={"read": iops}, usages=(), bottleneck="",
        latencies={"read": {"n": iops, "mean_s": mean_s}}, member_ios=int(iops), rebuilds=(), events=1, figures={},
        estimates={"iops": estimate, "mean_seconds": late}, saturated=saturated,
    )  # fmt: skip


VARIANT = Variant("parity", "On RAID 0", "Because.", DEFAULT)
ADDED = Variant("a bitmap", "With one", "Because.", DEFAULT, adds=True)


@pytest.mark.parametrize(
    ("variant", "base", "found", "is_open", "words"),
    [
        (VARIANT, (500, 0.1), (1000, 0.05), False, "Parity costs 50 % of the throughput. On RAID 0: 1,000 instead"),
        (VARIANT, (500, 0.1), (250, 0.2), False, "Parity pays: without it the throughput is 50 % lower."),
        (VARIANT, (500, 0.1), (505, 0.1), False, "Parity makes no difference that the runs could tell from chance."),
        (ADDED, (500, 0.1), (250, 0.2), False, "A bitmap would make the throughput 50 % lower."),
        (VARIANT, (500, 0.1), (500, 0.05), True, "Parity costs time: without it the mean latency is 50 % lower."),
        (VARIANT, (500, 0.1), (500, 0.2), True, "Parity pays: without it the mean latency is 100 % higher."),
        (ADDED, (500, 0.1), (500, 0.2), True, "A bitmap would make the mean latency 100 % higher."),
    ],
)
def test_words_follow_from_numbers(
    variant: Variant, base: tuple[float, float], found: tuple[float, float], is_open: bool, words: str
) -> None:
    """Protects the sentences: who costs, who pays, and what is no difference at all."""
    told = effect(variant, prediction(*base), prediction(*found), is_open).words
    assert told.startswith(words)
    assert told.endswith("Because.")


def test_a_difference_within_the_intervals_is_none() -> None:
    """Protects against reading chance as cause: wide intervals make the same difference uncertain."""
    narrow = effect(VARIANT, prediction(500, 0.1), prediction(600, 0.1), False)
    wide = effect(VARIANT, prediction(500, 0.1, half=0.3), prediction(600, 0.1, half=0.3), False)
    assert narrow.certain
    assert not wide.certain


def test_the_mean_latency_is_that_of_all_ios() -> None:
    """Protects the mean over reads and writes, and loads of which no I/O was complete."""
    latencies = {"read": {"n": 3.0, "mean_s": 0.01}, "write": {"n": 1.0, "mean_s": 0.05}}
    assert mean_latency(replace(prediction(500, 0.1), latencies=latencies)) == pytest.approx(0.02)
    assert mean_latency(replace(prediction(500, 0.1), latencies={})) == 0.0


def test_a_saturated_load_is_judged_by_what_it_gets() -> None:
    """Protects loads that are too much: their latency has no meaning, their throughput has."""
    told = effect(VARIANT, prediction(500, 9.0, saturated=True), prediction(1000, 0.1), True)
    assert told.words.startswith("Parity costs 50 % of the throughput")


def test_parity_is_what_small_writes_cost() -> None:
    """Protects the explanation of RAID 5 itself: without parity a small write is one command, with it four."""
    base = built(SMALL).spec
    (parity,) = [each for each in variants(SMALL) if each.name == "parity"]
    found = parity.scenario()
    without = None if found is None else found.spec
    assert base is not None
    assert without is not None
    before, after = simulate(base), simulate(without)
    assert commands_per_io(before) == pytest.approx(4.0, rel=0.05)
    assert commands_per_io(after) == pytest.approx(1.0, rel=0.05)
    told = effect(parity, before, after, False)
    assert told.certain
    assert told.words.startswith("Parity costs ")


def test_only_what_is_there_is_switched_off() -> None:
    """Protects the list: no parity on RAID 0, no seeks on flash, no command queue without one, all of them fit."""
    for form in (
        DEFAULT,
        replace(DEFAULT, level="raid0"),
        replace(DEFAULT, level="raid10", read=0, failed=1, rebuilding=True, bitmap=True),
        replace(DEFAULT, drive="WD2500JS", disks=6, controller="Gateway-840"),
        replace(DEFAULT, drive="Samsung-PM9A3-3840GB", read=0),
        replace(DEFAULT, how="rate", read=100, pattern="sequential"),
        replace(DEFAULT, cipher="aes-xts"),
        replace(DEFAULT, network="nfs4"),
    ):
        fit = fitted(form)[0]
        found = variants(fit)
        assert len(found) <= MOST_VARIANTS
        assert all(each.scenario() is not None for each in found)
        assert all(fitted(each.form)[1] == [] for each in found)
        names = {each.name for each in found}
        assert ("parity" in names) == (fit.level == "raid5")
        assert ("the lost disk" in names) == bool(fit.failed)
        assert ("encryption" in names) == (fit.cipher != NONE)
        assert ("the network" in names) == (fit.network != NONE)
        assert ("garbage collection" in names) == fit.drive.startswith("Samsung")


def test_one_command_at_a_time_is_in_the_drives() -> None:
    """Protects the variant without NCQ: every drive of its scenario takes one command, and nothing else is other."""
    (variant,) = [each for each in variants(DEFAULT) if each.one_command]
    scenario = variant.scenario()
    assert scenario is not None
    spec = scenario.spec
    assert {drive.spec().queue_depth for drive in spec.machine.drives.values()} == {1}
    assert variant.form == DEFAULT
