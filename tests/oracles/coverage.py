"""How often the interval that ends a run holds what is exact: nine times of ten, if it says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from scipy.stats import binom

from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice, linear_service
from raidsim.model.layouts import layout_for
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.model.loads.open_load import OpenLoad
from raidsim.model.raid.striped.stripe import StripeArray
from raidsim.model.statistics.batch_means import Estimate
from raidsim.scenarios.running.load_windows import CONFIDENCE
from raidsim.scenarios.running.steady_state import SteadyState
from raidsim.tests.oracles import theory
from raidsim.tests.oracles.queues import GIB, KIB, SERVICE_S, exponential

SEEDS = 30
CHUNK = 64 * KIB


class Covered(NamedTuple):
    """A case.

    Attributes
    ----------
    name
        What is measured.
    exact
        What it is.
    interval
        Of a run with a seed that ended by itself, when it was as narrow as was asked for.
    """

    name: str
    exact: float
    interval: Callable[[int], Estimate]


def _open(servers: int, load: float, constant: bool, precision: float) -> Callable[[int], Estimate]:
    def interval(seed: int) -> Estimate:
        engine = Engine(seed)
        service = linear_service(SERVICE_S) if constant else exponential(engine)
        device = FixedServiceDevice(engine, "d", GIB, service, servers)
        sender = OpenLoad(engine, device, size=4 * KIB, iops=load * servers / SERVICE_S)
        steady = SteadyState(engine, [sender], precision=precision, longest=1e4)
        steady.run()
        return steady.windows.mean_latency()

    return interval


def _closed(members: int, depth: int, precision: float) -> Callable[[int], Estimate]:
    def interval(seed: int) -> Estimate:
        engine = Engine(seed)
        disks = [FixedServiceDevice(engine, f"d{i}", GIB, exponential(engine, f"d{i}")) for i in range(members)]
        array = StripeArray(engine, "md0", disks, layout_for("linear", members, CHUNK, [GIB] * members))
        load = ClosedLoad(engine, array, size=CHUNK, depth=depth)
        steady = SteadyState(engine, [load], precision=precision, longest=1e4)
        steady.run()
        return steady.windows.throughput()

    return interval


def cases() -> list[Covered]:
    """The cases."""
    rate = 1 / SERVICE_S
    many = theory.mean_value_analysis([SERVICE_S / 4] * 4, 8)[0]
    return [
        Covered(
            "M/D/1, 60 % busy: time",
            theory.pollaczek_khinchine(0.6 * rate, SERVICE_S, SERVICE_S**2),
            _open(1, 0.6, True, 0.1),
        ),
        Covered("M/M/3, 60 % busy: time", theory.erlang_c(0.6 * 3 * rate, SERVICE_S, 3), _open(3, 0.6, False, 0.12)),
        Covered("closed, 4 equal members, 8 outstanding: rate", many, _closed(4, 8, 0.05)),
        Covered("closed, 1 member, 2 outstanding: rate", rate, _closed(1, 2, 0.05)),
    ]


def held(case: Covered, seeds: int = SEEDS) -> int:
    """How many intervals hold what is exact."""
    found = [case.interval(seed) for seed in range(seeds)]
    return sum(each.low <= case.exact <= each.high for each in found)


def band(runs: int) -> tuple[int, int]:
    """How many of some intervals hold it in all but one of a thousand cases, if each does so with its confidence."""
    low, high = binom.interval(0.999, runs, CONFIDENCE)
    return int(low), int(high)
