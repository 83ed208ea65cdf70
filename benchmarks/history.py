"""What was measured before, one line of JSON each, and whether something has become slower since.

Only ratios to bare SimPy are compared, and only with the last entry of the same kind of machine, Python and build. The
ratios of one run scatter, and a machine's caches and clock are not the same on two days. So something counts as slower
if the ratio is more than a tenth below the earlier one **and** the difference is more than twice its standard error; it
is then measured again, and must be so both times.
"""

from __future__ import annotations

import json
import math
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import simpy

from raidsim.compiled.loader import in_use
from raidsim.scenarios.sweeps.model_version import model_name

from .measure import Speed

HISTORY = Path(__file__).parent / "history.jsonl"
REGRESSION = 0.1
"""Share of the ratio that may be lost."""
_ERRORS = 2.0
_LEAST_ERROR = 0.01
"""Share by which ratios of two runs differ although the rounds of each agree: where code and data lie in memory."""


@dataclass(frozen=True, slots=True)
class Change:
    """One ratio beside the earlier one.

    Attributes
    ----------
    change
        Share by which it is larger now (negative: slower).
    error
        Standard error of that.
    """

    name: str
    before: float
    now: float
    change: float
    error: float

    @property
    def is_regression(self) -> bool:
        """Whether it is slower by more than is allowed, and not by chance."""
        return self.change < -REGRESSION and self.change + _ERRORS * self.error < 0

    @property
    def sureness(self) -> float:
        """Probability that it is slower at all, for normal errors."""
        return 0.5 * math.erfc(self.change / self.error / math.sqrt(2))


def kind() -> dict[str, str]:
    """What must be the same for two entries to be comparable: processor, Python, libraries, and how it was built."""
    return {
        "processor": _processor(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "simpy": str(simpy.__version__),
        "numpy": np.__version__,
        "build": "compiled" if in_use() else "interpreted",
    }


def _processor() -> str:
    """The processor's model; no host's name."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def entry(speeds: Sequence[Speed]) -> dict[str, Any]:
    """What is kept of a run."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "version": model_name(),
        "kind": kind(),
        "ratios": {speed.name: [round(speed.ratio, 5), round(speed.error, 5)] for speed in speeds},
    }


def record(speeds: Sequence[Speed], path: Path = HISTORY) -> None:
    """Append a run to the history."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry(speeds)) + "\n")


def last_entry(path: Path = HISTORY) -> dict[str, Any] | None:
    """The last entry of this kind; None without one. A line that a crash cut off is passed over."""
    if not path.exists():
        return None
    found = None
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            one = json.loads(line)
        except ValueError:
            print(f"{path.name}: passed over a line that is no JSON: {line[:60]!r}", file=sys.stderr)
            continue
        if one["kind"] == kind():
            found = one
    return found


def changes(speeds: Sequence[Speed], earlier: dict[str, Any]) -> list[Change]:
    """Every ratio that the earlier entry has, too, beside it."""
    found = []
    for speed in speeds:
        if speed.name not in earlier["ratios"]:
            continue
        before, spread = earlier["ratios"][speed.name]
        change = speed.ratio / before - 1
        error = (1 + change) * math.hypot(max(speed.error, _LEAST_ERROR), max(spread, _LEAST_ERROR))
        found.append(Change(speed.name, before, speed.ratio, change, error))
    return found


def regressions(
    speeds: Sequence[Speed], earlier: dict[str, Any], again: Callable[[list[str]], list[Speed]]
) -> list[Change]:
    """What has become slower, by this run and by a second one of what looks so; `again` measures by name."""
    suspects = [change.name for change in changes(speeds, earlier) if change.is_regression]
    if not suspects:
        return []
    return [change for change in changes(again(suspects), earlier) if change.is_regression]


def as_text(found: Sequence[Change]) -> str:
    """What has become slower, to read."""
    return "\n".join(
        f"slower: {change.name}: {change.change:+.1%} (ratio {change.before:.4f} before, {change.now:.4f} now, "
        f"standard error {change.error:.1%}, slower with a probability of {change.sureness:.1%})"
        for change in found
    )
