"""The quantile of the normal distribution that all 90 % intervals use."""

from __future__ import annotations

NORMAL_QUANTILE = 1.6448536269514722
"""Half of a 90 % interval of the normal distribution, in standard deviations."""
