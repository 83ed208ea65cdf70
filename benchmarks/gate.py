"""Whether loads, runs and replays cost what they may: CPU time of an I/O beside that of a bare SimPy timeout.

Costs are in microseconds of a machine on which a bare timeout takes 0.6 us: what is measured is the ratio to a timeout
of the same round. A cost above its limit is an error. Where a limit is above the aim, the aim is not reached yet.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .measure import Speed

TIMEOUT_US = 0.6
"""CPU time (us) of a bare timeout on the machine that costs are given for."""
_ERRORS = 2.0
"""Standard errors above its limit from which a cost is too high."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What an I/O may cost: of a member, or the record of a trace.

    Attributes
    ----------
    aim_us
        What it should cost (us).
    limit_us
        What it must not exceed (us).
    """

    aim_us: float
    limit_us: float


COSTS: dict[str, Cost] = {
    "disk, random 4 KiB reads": Cost(0.6, 2.0),
    "RAID 5 of 8, random 4 KiB 70/30": Cost(1.3, 4.0),
    "run home-nas": Cost(3.0, 14.0),
    "run database-server": Cost(3.0, 10.0),
    "run vm-host": Cost(5.0, 25.0),
    "run backup-target": Cost(5.0, 14.0),
    "run journaled-archive": Cost(5.0, 30.0),
    "replay --closed on one disk: a record": Cost(2.9, 9.0),
    "replay --closed on RAID 5 of 8: a record": Cost(7.3, 28.0),
}
"""By the name of the load or command. The aim of a replay is 1.5 times as many records as DiskSim 4.0 serves with its
cheapest drive (HP C3323A: 232,000 and 92,000 a CPU second on a machine with 1.69 million bare timeouts)."""


def cost_us(speed: Speed) -> float:
    """What an I/O costs (us) where a timeout takes `TIMEOUT_US`."""
    return TIMEOUT_US / speed.ratio


def too_expensive(speeds: Iterable[Speed]) -> list[str]:
    """The names of what costs more than its limit, and not by chance."""
    return [
        speed.name
        for speed in speeds
        if speed.name in COSTS and cost_us(speed) * (1.0 - _ERRORS * speed.error) > COSTS[speed.name].limit_us
    ]


def as_text(speeds: Iterable[Speed]) -> str:
    """The costs to read."""
    lines = [f"{'CPU us of an I/O, where a bare timeout takes 0.6':<48} {'cost':>6} {'+-':>6} {'aim':>5} {'limit':>6}"]
    for speed in speeds:
        cost = COSTS[speed.name]
        lines.append(
            f"{speed.name:<48} {cost_us(speed):>6.2f} {speed.error:>6.1%} {cost.aim_us:>5.1f} {cost.limit_us:>6.1f}"
        )
    return "\n".join(lines)
