"""CPU time of a scan: the thread of a vdev issues one block after the other; checksums are computed as for reads."""

from __future__ import annotations

from collections.abc import Callable

from ...tasks.host import Host
from ..cpu.costs import Costs
from ..pool.waiting import Call


class ScanCpu:
    """Pays for the work of a scan.

    Parameters
    ----------
    host, costs
        The CPU and the costs; None: no time.

    Attributes
    ----------
    issue_s
        Time (s) of a thread to issue a block.
    """

    __slots__ = ("_costs", "_host", "issue_s")

    def __init__(self, host: Host | None, costs: Costs) -> None:
        self._host = host
        self._costs = costs
        self.issue_s = 0.0 if host is None else costs.block_s

    def verify(self, size: int, then: Callable[[], None]) -> None:
        """Compute the checksum of a block, and go on."""
        self.run(self._costs.read_s(size), then)

    def run(self, seconds: float, then: Callable[[], None]) -> None:
        """Work, and go on."""
        if self._host is None:
            then()
        else:
            self._host.cpu.run_then(seconds, None, Call(then).call)
