"""Titles and units of figures."""

from __future__ import annotations

from dataclasses import replace

from raidsim.api.support.figures import SPEED, speed_columns
from raidsim.model.statistics import Estimate

FAST = Estimate(62e-6, 1e-6, 0.9, 10, 0.0, 0.0, correlated=False)


def test_times_of_flash_are_in_microseconds() -> None:
    """Protects from 0.06177 ms, in columns too wide for a page; one time of a millisecond keeps all in ms."""
    designs = [{"read_mean_seconds": FAST, "iops": FAST}, {"read_mean_seconds": FAST}]
    titles = speed_columns(list(SPEED), designs)
    assert (titles["read_mean_seconds"].heading, titles["read_mean_seconds"].scale) == ("read mean\n(µs)", 1e6)
    assert {name: titles[name] for name in SPEED if name != "read_mean_seconds"} == {
        name: SPEED[name] for name in SPEED if name != "read_mean_seconds"
    }
    slow = {"read_mean_seconds": replace(FAST, mean=1e-3)}
    assert speed_columns(list(SPEED), [*designs, slow]) == SPEED
