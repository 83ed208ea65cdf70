"""The quantile of the normal distribution that all 90 % intervals use."""

from __future__ import annotations

NORMAL_QUANTILE = 1.6448536269514722
"""Half of a 90 % interval of the normal distribution, in standard deviations."""
AS_GOOD = NORMAL_QUANTILE**2 / 2
"""Difference in cost (ln likelihood) up to which 90 % of a chi-square lie: no worse than parameters inside their
intervals are. What chance makes of the costs comes on top of it."""
