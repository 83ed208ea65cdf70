"""Brent's zero finder: the same bits as scipy's, which it stands in for."""

from __future__ import annotations

import math

import pytest
from scipy.optimize import brentq

from raidsim.model.core.brent import find_zero
from raidsim.model.core.errors import ModelError


@pytest.mark.parametrize("steepness", [0.2, 1.0, 4.7])
@pytest.mark.parametrize("zero", [-1.3, 0.01, 2.9])
@pytest.mark.parametrize(("absolute", "relative"), [(1e-6, 1e-12), (1e-12, 1e-9)])
def test_the_zero_is_scipys_to_the_last_bit(steepness: float, zero: float, absolute: float, relative: float) -> None:
    """Protects every seek curve, and so every prediction, from a change of the method."""

    def function(x: float) -> float:
        return math.atan(steepness * (x - zero)) + 0.02 * (x - zero) ** 3

    found = find_zero(function, -20.0, 35.0, absolute, relative)
    assert found == brentq(function, -20.0, 35.0, xtol=absolute, rtol=relative)
    assert found == pytest.approx(zero, abs=1e-5)


def test_a_zero_at_an_end_is_found() -> None:
    """The ends count as between."""
    assert find_zero(lambda x: x - 1.0, 1.0, 3.0, 1e-9, 1e-12) == 1.0
    assert find_zero(lambda x: x - 3.0, 1.0, 3.0, 1e-9, 1e-12) == 3.0


def test_no_change_of_sign_is_refused() -> None:
    """A function without a zero in between must not get one."""
    with pytest.raises(ModelError, match="no change of sign"):
        find_zero(lambda x: x * x + 1.0, -1.0, 1.0, 1e-9, 1e-12)


def test_a_jump_is_found_as_a_zero_is() -> None:
    """A function that is -1 on one side and 1 on the other has its zero at the jump: no value but 0 ends the search."""
    assert find_zero(lambda x: -1.0 if x < 0.3 else 1.0, 0.0, 1.0, 1e-9, 1e-12) == pytest.approx(0.3, abs=1e-8)
