"""The closed form of write amplification."""

from __future__ import annotations

import math

import pytest
from scipy.special import lambertw

from raidsim.model.core.errors import ModelError
from raidsim.model.solid_state.steady_state import decay, valid_units, write_amplification


@pytest.mark.parametrize("utilization", [0.2, 0.5, 0.67, 0.8, 0.9, 0.95])
def test_it_is_luojie_and_kurkoskis_law(utilization: float) -> None:
    """The root found agrees with Lambert's W."""
    x = 1 / utilization
    k = x + lambertw(-x * math.exp(-x)).real
    assert decay(utilization) == pytest.approx(k, rel=1e-6)
    assert write_amplification(utilization) == pytest.approx(1 / (1 - math.exp(-k)), rel=1e-6)


def test_more_spare_less_amplification() -> None:
    """1 without data, without bound as the flash fills."""
    amplified = [write_amplification(u) for u in (0.05, 0.5, 0.7, 0.8, 0.9, 0.97)]
    assert amplified == sorted(amplified)
    assert amplified[0] == pytest.approx(1, abs=1e-6)
    assert amplified[-1] > 15


def test_the_blocks_hold_the_data() -> None:
    """The distribution sums to the data, oldest and emptiest first, the first near exp(-k)."""
    valid = valid_units(200, 1000, 160_000)
    assert sum(valid) == pytest.approx(160_000)
    assert valid == sorted(valid)
    assert valid[0] / 1000 == pytest.approx(math.exp(-decay(0.8)), rel=0.02)


@pytest.mark.parametrize("utilization", [0.0, 1.0, 1.2])
def test_only_between_empty_and_full(utilization: float) -> None:
    """Elsewhere there is no steady state."""
    with pytest.raises(ModelError):
        decay(utilization)
