"""When releases of Linux came out."""

from __future__ import annotations

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.kernels import kernel, kernel_names
from raidsim.model.kernels.releases import later, nearest, released, series


@pytest.mark.parametrize(
    ("release", "year"),
    [("2.6.32", 2009.9), ("3.10", 2013.5), ("4.18", 2018.6), ("5.4", 2019.9), ("5.15", 2021.8), ("6.8", 2024.2)],
)
def test_releases_are_dated_within_three_months(release: str, year: float) -> None:
    """Protects dates, by which the nearest kernel is found: those of kernel.org."""
    assert released(f"linux-{release}") == pytest.approx(year, abs=0.25)
    assert released("nothing") is None


def test_2_4_and_2_6_are_series_of_their_own() -> None:
    """Protects what belongs together: since 3.0 the first number tells."""
    assert series("2.4.26") != series("2.6.8")
    assert series("linux-6.1") == series("6.12.9")
    with pytest.raises(ValueError, match="no version"):
        series("nothing")


@pytest.mark.parametrize(
    ("release", "close"),
    [
        ("5.19", ["linux-5.15", "linux-6.1"]),
        ("linux-5.9", ["linux-5.4", "linux-5.10"]),
        ("2.0", ["linux-2.2.7"]),
        ("7.9", ["linux-6.18"]),
        ("nothing", []),
    ],
)
def test_the_nearest_are_those_that_came_out_before_and_after(release: str, close: list[str]) -> None:
    """Protects what an unknown version is answered with."""
    linux = [name for name in kernel_names() if name.startswith("linux-")]
    assert nearest(release, linux) == close


def test_later_kernels_are_those_after_it() -> None:
    """Protects the hint at a later kernel: one that is there is not later than itself."""
    assert later("6.1", ["linux-5.10", "linux-6.6", "linux-6.1"]) == ["linux-6.6"]


@pytest.mark.parametrize("name", ["5.19", "linux-5.19"])
def test_an_unknown_version_is_answered_with_the_nearest(name: str) -> None:
    """Protects the message: two kernels to choose from. Counter-test: a name without a version lists them all."""
    with pytest.raises(InputError, match=r"expected: linux-5\.15 or linux-6\.1, the nearest releases"):
        kernel(name)
    with pytest.raises(InputError, match=r"linux-2\.2\.7.*linux-6\.8, or a distribution \(debian12"):
        kernel("something")
