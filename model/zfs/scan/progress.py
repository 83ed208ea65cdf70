"""How far a scan of a pool is."""

from __future__ import annotations

from typing import Final

from ...core.engine import Engine
from ...core.signal import Signal, Waits
from ...statistics.rebuild_report import RebuildReport
from ..map.mirror import Mirror
from ..pool.members import Members

ACTIONS: Final = {"scrub": "check", "resilver": "recover", "rebuild": "recover", "trim": "trim"}
"""What results call them."""


class PoolScan:
    """Base of what goes over all blocks of a pool, or of some of its vdevs; counts their space.

    Parameters
    ----------
    engine
        The clock.
    members
        Of the pool.
    vdevs
        Numbers of the vdevs that are scanned.
    action
        See :data:`~.settings.ScanAction`.
    total_bytes, start
        Space of their blocks with parity, and how much of it was done before.

    Attributes
    ----------
    action
        "check" or "recover".
    members
        See the parameter.
    done_bytes
        Space done in this run.
    member_bytes
        Bytes that are read or written of each member, from beginning to end.
    """

    __slots__ = (
        *("_end", "_engine", "_finished_s", "_start", "_started_s", "_total", "action", "done_bytes"),
        *("member_bytes", "members"),
    )

    def __init__(
        self, engine: Engine, members: Members, vdevs: list[int], action: str, total_bytes: int, start: int
    ) -> None:
        self._engine = engine
        self.members = members
        self.action = ACTIONS[action]
        self._total = total_bytes
        self._start = start
        self._started_s = engine.now
        self._finished_s: float | None = None
        self._end = Signal()
        self.done_bytes = 0
        widths = [
            1 if isinstance(vdev, Mirror) else vdev.members for vdev in [members.pool.vdevs[each] for each in vdevs]
        ]
        self.member_bytes = total_bytes // max(1, sum(widths))

    @property
    def report(self) -> RebuildReport:
        """Where it stands now."""
        until = self._engine.now if self._finished_s is None else self._finished_s
        rate = self.done_bytes / (until - self._started_s) if until > self._started_s else 0.0
        left = self._total - self._start - self.done_bytes
        return RebuildReport(
            started_s=self._started_s,
            finished_s=self._finished_s,
            total_bytes=self._total,
            position_bytes=self._start + self.done_bytes,
            done_bytes=self.done_bytes,
            average_rate=rate,
            current_rate=rate,
            remaining_s=(0.0 if not left else left / rate if rate else None),
        )

    def wait(self) -> Waits:
        """Wait for the end."""
        if not self._end.fired:
            yield self._end

    def finish(self) -> None:
        """All is done: new members have everything."""
        self._finished_s = self._engine.now
        self.members.rebuilt()
        self._end.fire()
