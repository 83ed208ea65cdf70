"""The demerit of response times, against arithmetic on paper."""

import pytest

from raidsim.validation.drives.demerit import Demerit


def test_it_compares_distributions_and_not_requests() -> None:
    """The same times in another order have no demerit, and a deviation of each request."""
    found = Demerit.of([0.001, 0.002, 0.003], [0.003, 0.001, 0.002])
    assert found is not None
    assert found.rms_s == found.share == 0.0
    assert found.deviation_s == pytest.approx(0.004 / 3)
    assert found.deviation_share == pytest.approx(2 / 3)


def test_it_is_the_root_mean_square_of_the_distance() -> None:
    """Two quantiles that are off by 3 and 4 ms: sqrt(12.5) ms, of a mean of 15 ms."""
    found = Demerit.of([0.010, 0.020], [0.024, 0.013])
    assert found is not None
    assert found.rms_s == pytest.approx(0.0125**0.5 * 1e-3**0.5)
    assert found.share == pytest.approx(found.rms_s / 0.015)
    assert found.ios == 2
    assert found.simulated_s == pytest.approx(0.0185)


def test_no_requests_have_none() -> None:
    """A trace without writes says nothing about writes."""
    assert Demerit.of([], []) is None
