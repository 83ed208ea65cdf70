"""Closed networks: so many I/Os outstanding at stations that are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice, linear_service
from raidsim.model.layouts import layout_for
from raidsim.model.loads.arrivals import exponential_think
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.model.loads.thinking_load import ThinkingLoad
from raidsim.model.raid.striped.stripe import StripeArray
from raidsim.tests.oracles import theory
from raidsim.tests.oracles.oracle import Oracle, exact
from raidsim.tests.oracles.queues import GIB, KIB, exponential

_MVA = "mean value analysis: Reiser and Lavenberg 1980"
CHUNK = 64 * KIB
THINK_S = 5e-3


def network(
    services_s: Sequence[float],
    shares: Sequence[int],
    depth: int,
    think_s: float = 0.0,
    exponentially: bool = True,
    seconds: float = 12.0,
) -> Callable[[int], float]:
    """I/Os a second of a closed load over a linear array.

    Parameters
    ----------
    services_s
        Mean service time of each member (s).
    shares
        Sizes of the members, as parts of their sum: how often each is visited.
    depth
        I/Os outstanding, or users.
    think_s
        Mean time between an I/O and the next (s), exponential.
    exponentially
        Whether service times are exponential, or always the same.
    seconds
        Simulated time.
    """

    def simulate(seed: int) -> float:
        engine = Engine(seed)
        sizes = [share * GIB for share in shares]
        members = [
            FixedServiceDevice(
                engine, f"d{i}", size, exponential(engine, f"d{i}", mean) if exponentially else linear_service(mean)
            )
            for i, (size, mean) in enumerate(zip(sizes, services_s, strict=True))
        ]
        array = StripeArray(engine, "md0", members, layout_for("linear", len(members), CHUNK, sizes))
        load: ClosedLoad
        if think_s:
            think = exponential_think(engine.streams.generator("think"), think_s)
            load = ThinkingLoad(engine, array, think=think, size=CHUNK, depth=depth)
        else:
            load = ClosedLoad(engine, array, size=CHUNK, depth=depth)
        engine.run_to(0.5)
        load.start_statistics(engine.now)
        engine.run_to(0.5 + seconds)
        return load.reads / seconds

    return simulate


def repair(users: int, servers: int) -> Callable[[int], float]:
    """I/Os a second of users who think, at one station of several servers."""

    def simulate(seed: int) -> float:
        engine = Engine(seed)
        device = FixedServiceDevice(engine, "d", GIB, exponential(engine, "d"), servers)
        think = exponential_think(engine.streams.generator("think"), THINK_S)
        load = ThinkingLoad(engine, device, think=think, size=CHUNK, depth=users)
        engine.run_to(0.5)
        load.start_statistics(engine.now)
        engine.run_to(3.0)
        return load.reads / 2.5

    return simulate


def closed() -> list[Oracle]:
    """The oracles."""
    found = []
    for count, depth in ((4, 1), (4, 8), (8, 32)):
        demands = [1e-3 / count] * count
        found.append(
            exact(
                f"closed, {count} equal members, {depth} outstanding: rate",
                _MVA,
                theory.mean_value_analysis(demands, depth)[0],
                "1/s",
                network([1e-3] * count, [1] * count, depth, seconds=7.0 / count),
            )
        )
    services, shares = (1e-3, 4e-3, 0.5e-3), (5, 1, 2)
    demands = [share / sum(shares) * service for share, service in zip(shares, services, strict=True)]
    found += [
        exact(
            f"closed, 3 unequal members, {depth} outstanding: rate",
            _MVA,
            theory.mean_value_analysis(demands, depth)[0],
            "1/s",
            network(services, shares, depth, seconds=3.0),
        )
        for depth in (3, 12)
    ]
    found.append(
        exact(
            "interactive, 10 users who think 5 ms, 3 unequal members: rate",
            _MVA,
            theory.mean_value_analysis(demands, 10, THINK_S)[0],
            "1/s",
            network(services, shares, 10, THINK_S, seconds=3.0),
        )
    )
    found += [
        exact(
            f"machine repair M/M/{servers}//{users}: rate",
            "Kleinrock, Queueing Systems I, 3.8",
            theory.machine_repair(users, THINK_S, 1e-3, servers),
            "1/s",
            repair(users, servers),
        )
        for users, servers in ((4, 1), (12, 2))
    ]
    found += [
        Oracle(
            f"closed, 3 unequal members, {depth} outstanding, constant service: rate within bounds",
            "asymptotic bound: Denning and Buzen 1978; balanced jobs: Zahorjan and others 1982",
            theory.balanced_job_bound(demands, depth),
            theory.asymptotic_bound(demands, depth),
            "1/s",
            network(services, shares, depth, exponentially=False, seconds=2.0),
            8,
        )
        for depth in (1, 4, 64)
    ]
    return found
