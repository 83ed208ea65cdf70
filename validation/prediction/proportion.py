"""A share of cells with its binomial uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scipy.special import betaincinv

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Proportion:
    """The number of successes among `n`.

    The limits are exact for independent trials (Clopper and Pearson, Biometrika 26, 1934). Cells of one study share its
    parameters and its mechanisms, so the true limits are wider.
    """

    count: int
    n: int

    @property
    def share(self) -> float | None:
        """From 0 to 1; None of nothing."""
        return self.count / self.n if self.n else None

    @property
    def limits(self) -> tuple[float, float]:
        """95 % limits of the share."""
        tail = (1.0 - CONFIDENCE) / 2.0
        k, n = self.count, self.n
        low = float(betaincinv(k, n - k + 1, tail)) if k else 0.0
        high = float(betaincinv(k + 1, n - k, 1.0 - tail)) if k < n else 1.0
        return low, high

    def against(self, nominal: float) -> str:
        """What the share says of intervals that should hold this share: "as promised", "too narrow" or "too wide"."""
        low, high = self.limits
        if high < nominal:
            return "too narrow"
        return "too wide" if low > nominal else "as promised"

    def document(self) -> dict[str, Any]:
        """``{"n", "count", "pct", "limits_pct"}``."""
        low, high = self.limits
        pct = None if self.share is None else 100.0 * self.share
        return {"n": self.n, "count": self.count, "pct": pct, "limits_pct": [100.0 * low, 100.0 * high]}
