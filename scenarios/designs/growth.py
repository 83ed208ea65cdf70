"""Growth in a year as people write it: a share of any size."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

_PERCENT = re.compile(r"\s*\d+(\.\d+)?\s*%\s*")


def _growth(value: Any) -> Any:
    """A share of any size: "30%", "150%" or 0.3."""
    return float(value.rstrip("% ")) / 100.0 if isinstance(value, str) and _PERCENT.fullmatch(value) else value


Growth = Annotated[float, BeforeValidator(_growth), Field(ge=0, le=10)]
"""Growth in a year, as a share: 30 % is 0.3."""
