"""Preferred places against their formulas; every seed is fixed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from raidsim.model.core.errors import ModelError
from raidsim.model.loads.locality import Hot, Normal, Places, Uniform, Zipf

COUNT = 100_000


def random(seed: int = 3) -> np.random.Generator:
    """Random numbers."""
    return np.random.default_rng(seed)


@pytest.mark.parametrize("theta", [0.0, 0.5, 0.99, 1.0, 1.2, 3.0])
@pytest.mark.parametrize("blocks", [1, 3, 1000, 5000])
def test_zipf_hits_every_rank_as_often_as_its_law_says(theta: float, blocks: int) -> None:
    """Chi-square of all ranks, those hit rarely put together."""
    ranks = Zipf(blocks, theta).ranks(random().random(COUNT))
    law = np.arange(1, blocks + 1, dtype=float) ** -theta
    expected = COUNT * law / law.sum()
    seen = np.bincount(ranks, minlength=blocks)
    often = expected >= 20
    if not often.all():
        expected = np.append(expected[often], expected[~often].sum())
        seen = np.append(seen[often], seen[~often].sum())
    if len(expected) > 1 and expected[-1] > 1e-6:
        assert stats.chisquare(seen, expected * seen.sum() / expected.sum()).pvalue > 0.001
    assert ranks.min() >= 0
    assert ranks.max() < blocks


def test_zipf_of_very_many_blocks_follows_its_distribution_function() -> None:
    """A hundred million blocks: the ranks reached at even steps are those where the sum of the law reaches them."""
    blocks, theta = 10**8, 0.99
    zipf = Zipf(blocks, theta)
    uniform = np.array([0.3, 0.5, 0.7, 0.9, 0.999999])
    last = zipf.ranks(uniform).astype(float) + 1

    # Euler and Maclaurin's sum, independent of the code: the integral, both ends halved, and the first derivative.
    def reached(x: float) -> float:
        return float(
            np.sum(np.arange(1, 10) ** -theta)
            + (x ** (1 - theta) - 10 ** (1 - theta)) / (1 - theta)
            + (x**-theta + 10**-theta) / 2
            + theta * (10 ** -(theta + 1) - x ** -(theta + 1)) / 12
        )

    whole = reached(blocks)
    for share, rank in zip(uniform, last, strict=True):
        assert reached(rank - 1) / whole < share * (1 + 1e-7)
        assert reached(rank) / whole > share * (1 - 1e-7)


@pytest.mark.parametrize("blocks", [1, 2, 3, 7, 1000, 1024, 4097])
def test_scattered_popularity_is_a_permutation(blocks: int) -> None:
    """Every block has one rank."""
    zipf = Zipf(blocks, 1.0, shift=0.3)
    assert sorted(zipf.blocks(np.arange(blocks)).tolist()) == list(range(blocks))


def test_popular_blocks_are_scattered_unless_clustered() -> None:
    """The 64 most popular of a million: no two neighbors; clustered they are the first ones."""
    top = np.arange(64)
    scattered = np.sort(Zipf(10**6, 1.0).blocks(top))
    assert np.diff(scattered).min() > 5000
    assert Zipf(10**6, 1.0, clustered=True).blocks(top).tolist() == top.tolist()


def test_popular_blocks_lie_at_the_same_share_of_any_span() -> None:
    """Two sizes of array: the hundred hottest places differ by less than a ten-thousandth of the span."""
    small, large = 10**7, 3 * 10**10
    top = np.arange(100)
    shares = [Zipf(blocks, 1.0, shift=0.7).blocks(top) / blocks for blocks in (small, large)]
    assert shares[0] == pytest.approx(shares[1], abs=1e-4)
    assert len(set(Zipf(large, 1.0).blocks(np.array([large - 1, large - 2])).tolist())) == 2


def test_places_inside_a_popular_block_are_even() -> None:
    """Four blocks: every place inside is as likely, and the most popular one has 48 % of all (theta 1)."""
    places = Zipf(4, 1.0, clustered=True).draw(random(), COUNT)
    assert (places < 0.25).mean() == pytest.approx(12 / 25, abs=0.005)
    assert stats.kstest(places * 4 % 1.0, "uniform").pvalue > 0.01


@pytest.mark.parametrize("clustered", [False, True])
def test_the_hot_part_gets_its_share(clustered: bool) -> None:
    """80 % to 20 %: each fifth of the I/Os goes to a quarter of the rest; even inside both parts."""
    places = Hot(0.8, 0.2, 10**6, clustered).draw(random(), COUNT)
    pieces = 1 if clustered else 1024
    inside = places * pieces % 1.0
    hot = inside < 0.2
    assert hot.mean() == pytest.approx(0.8, abs=0.005)
    assert stats.kstest(inside[hot], "uniform", args=(0, 0.2)).pvalue > 0.01
    assert stats.kstest(inside[~hot], "uniform", args=(0.2, 0.8)).pvalue > 0.01
    assert ((places < 0.2).mean() > 0.7) == clustered


def test_a_hot_share_as_large_as_its_part_is_uniform() -> None:
    """Counter-test: 20 % to 20 %."""
    assert stats.kstest(Hot(0.2, 0.2, 10**6).draw(random(), COUNT), "uniform").pvalue > 0.01
    assert stats.kstest(Uniform().draw(random(), COUNT), "uniform").pvalue > 0.01


def test_a_small_span_has_few_pieces() -> None:
    """With room for 160 I/Os there are two pieces, so that each hot part still holds sixteen."""
    places = Hot(1.0, 0.2, 160).draw(random(), 1000)
    assert set(np.floor(places * 10).astype(int).tolist()) == {0, 5}


def test_normal_places_scatter_around_the_middle_and_the_ends_reflect() -> None:
    """Mean and deviation; around the start half of them would be outside, and are the other half's mirror."""
    places = Normal(0.5, 0.05).draw(random(), COUNT)
    assert stats.kstest(places, "norm", args=(0.5, 0.05)).pvalue > 0.01
    start = Normal(0.0, 0.1).draw(random(), COUNT)
    assert stats.kstest(start, "halfnorm", args=(0, 0.1)).pvalue > 0.01
    assert 0 <= start.min() <= start.max() < 1
    assert set(Normal(1.0, 0.0).draw(random(), 10).tolist()) == {np.nextafter(1.0, 0.0)}


def test_impossible_places_are_refused() -> None:
    """No block, and a hot part that is everything."""
    with pytest.raises(ModelError):
        Zipf(0, 1.0)
    with pytest.raises(ModelError):
        Hot(0.8, 1.0, 100)


@pytest.mark.parametrize(
    "places",
    [
        Uniform(),
        Hot(0.8, 0.25, 10**6, True),
        Hot(0.8, 0.25, 16 * 64),
        Normal(0.1, 0.2),
        Zipf(640, 0.9),
        Zipf(64, 0.5, True),
    ],
    ids=["uniform", "clustered", "hot", "normal", "zipf", "clustered zipf"],
)
def test_popularity_is_how_often_a_part_is_hit(places: Places) -> None:
    """Of 64 parts of the span; all parts together are hit as often as the whole."""
    drawn, _ = np.histogram(places.draw(random(), COUNT), 64, (0.0, 1.0))
    parts = np.array([places.popularity(part / 64, 1 / 64) for part in range(64)])
    assert parts.mean() == pytest.approx(1.0, rel=0.01)
    errors = 5.0 * np.sqrt(drawn + 10.0)
    assert (np.abs(parts * COUNT / 64 - drawn) < errors + 0.03 * drawn).all()
