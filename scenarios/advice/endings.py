"""When a simulation for advice may end: as soon as what it is run for is known."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite

from ..description.workloads import LEAST_PRECISION
from ..designs.requirement import RequirementSpec
from ..running.base.run import Run
from ..running.load_run import LoadRun
from ..running.load_windows import LoadWindows
from ..running.several_loads import SeveralLoadsRun
from .beside import REQUIRED

FINEST = 8
"""A run ends at this part of the requirement's precision, even if it is still too close to call."""
_LATE_SHARE = 0.1
"""Ten times the I/Os that a 99th percentile leaves free. Only a limit that is far away is missed by this share of the
first I/Os, so the run need not say by how much."""
_LATE_IOS = 20
_FAR_WITHIN = 0.5
_ROUGHLY = 4.0
"""A run whose intervals lie below this share of every limit ends at a precision that is as much coarser."""
_LOOKS = 4
"""Windows of a run with other loads between two looks at its intervals."""


class Endings:
    """What a requirement wants to know of a run.

    Parameters
    ----------
    requirement
        Whose limits.
    """

    def __init__(self, requirement: RequirementSpec) -> None:
        limits = requirement.limits
        self._precision = requirement.precision
        self._finest = max(LEAST_PRECISION, requirement.precision / FINEST)
        self._limits = [
            (op, kind, limit)
            for op in requirement.load.ops
            for kind in ("p99", "mean")
            if (limit := limits.of(op, kind)) is not None
        ]

    def late(self, run: Run) -> tuple[str, ...]:
        """Which of "read" and "write" are beyond the limit of their p99 in far more than one of a hundred I/Os."""
        windows = _windows(run)
        found = []
        for op, kind, limit in self._limits:
            if kind == "p99":
                late, ios = windows.beyond(op, limit)
                if late >= _LATE_IOS and late >= _LATE_SHARE * ios:
                    found.append(op)
        return tuple(found)

    def is_late(self, run: Run) -> bool:
        """Whether a brief run may end: anything is late."""
        return bool(self.late(run))

    def is_decided(self, run: Run, precise: bool) -> bool:
        """Whether a run may end that shows the load's latencies, and has reached the precision or not.

        If it has, it may end if an interval lies beyond a limit, if all lie within them, or if all are known and finer
        ones are not worth while. Before, it may if all lie far within the limits and are known roughly.
        """
        estimates = _windows(run).estimates()
        found = [(estimates.get(f"{op}_{kind}_seconds"), limit) for op, kind, limit in self._limits]
        known = [(each, limit) for each, limit in found if each is not None and isfinite(each.half_width)]
        reached = estimates["mean_seconds"].relative if "mean_seconds" in estimates else inf
        if not precise:
            far_within = bool(found) and all(each.high <= _FAR_WITHIN * limit for each, limit in known)
            return far_within and len(known) == len(found) and reached <= _ROUGHLY * self._precision
        if any(each.low > limit for each, limit in known):
            return True
        if len(known) < len(found):
            return False
        return all(each.high <= limit for each, limit in known) or reached <= self._finest

    def ending(self) -> Callable[[Run], bool]:
        """The same for a run of a given length: late, or looked at now and then, and decided twice in a row.

        A run that ends as soon as an interval happens to be narrow is wrong too often.
        """
        before = False

        def ends(run: Run) -> bool:
            nonlocal before
            if self.is_late(run):
                return True
            if _windows(run).count % _LOOKS:
                return False
            now = self.is_decided(run, precise=True)
            before, twice = now, now and before
            return twice

        return ends


def _windows(run: Run) -> LoadWindows:
    """The windows of the required load."""
    if isinstance(run, SeveralLoadsRun):
        return run.windows[REQUIRED]
    assert isinstance(run, LoadRun)
    assert run.windows is not None
    return run.windows
