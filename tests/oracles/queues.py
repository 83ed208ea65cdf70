"""Open queues: fixed-service devices, links, cores, and a hard disk, under arrivals at random."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from raidsim.model.core.device import Device
from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice, linear_service
from raidsim.model.layouts import layout_for
from raidsim.model.links.link import Bus, Link
from raidsim.model.loads.open_load import OpenLoad
from raidsim.model.raid.striped.stripe import StripeArray
from raidsim.model.tasks.cpu import Cpu
from raidsim.tests.oracles import theory
from raidsim.tests.oracles.oracle import Oracle, exact

KIB = 1 << 10
GIB = 1 << 30
SERVICE_S = 1e-3
_KLEINROCK = "Kleinrock, Queueing Systems I"
_BLOCK = 4096
Service = Callable[[int, int], float]


def drawn(draw: Callable[[int], Any]) -> Service:
    """Service times out of a distribution that gives so many at once."""

    def values() -> Iterator[float]:
        while True:
            yield from draw(_BLOCK).tolist()

    times = values()
    return lambda size, op: next(times)


def exponential(engine: Engine, name: str = "service", mean_s: float = SERVICE_S) -> Service:
    """Exponential service times."""
    random = engine.streams.generator(name)
    return drawn(lambda count: random.exponential(mean_s, count))


def mean_latency(engine: Engine, device: Device, rate: float, ios: int, size: int = 4 * KIB) -> float:
    """Mean latency (s) of about so many I/Os that come at random, after a tenth of them that is not counted."""
    load = OpenLoad(engine, device, size=size, iops=rate)
    engine.run_to(0.1 * ios / rate)
    load.start_statistics(engine.now)
    engine.run_to(1.1 * ios / rate)
    return load.read_latency.mean


def station(
    service: Callable[[Engine], Service], load: float, ios: int = 4_000, servers: int = 1
) -> Callable[[int], float]:
    """Mean time at a fixed-service device that is so busy."""

    def simulate(seed: int) -> float:
        engine = Engine(seed)
        device = FixedServiceDevice(engine, "d", GIB, service(engine), servers)
        return mean_latency(engine, device, load * servers / SERVICE_S, ios)

    return simulate


def hyperexponential(engine: Engine) -> Service:
    """One in ten takes 5.5 times as long as the mean: second moment 2 (0.9 x 0.5^2 + 0.1 x 5.5^2) squared means."""
    random = engine.streams.generator("service")

    def draw(count: int) -> Any:
        return random.exponential(SERVICE_S, count) * ((random.random(count) < 0.1) * 5.0 + 0.5)

    return drawn(draw)


def uniform(engine: Engine) -> Service:
    """Anything from nothing to twice the mean."""
    random = engine.streams.generator("service")
    return drawn(lambda count: random.uniform(0.0, 2 * SERVICE_S, count))


def busy_share(seed: int) -> float:
    """Share of the time that a station of three servers is busy."""
    engine = Engine(seed)
    device = FixedServiceDevice(engine, "d", GIB, exponential(engine), 3)
    OpenLoad(engine, device, size=4 * KIB, iops=0.6 * 3 / SERVICE_S)
    engine.run_to(3.0)
    return device.service_sum_s / 3.0 / device.servers


def link_time(kind: type[Link]) -> Callable[[int], float]:
    """Mean time (s) of transfers over a link: one in ten of 64 KiB, the others of 4 KiB, 60 % of its rate in all."""

    def simulate(seed: int) -> float:
        engine = Engine(seed)
        link = kind("pci", LINK_RATE)
        random = engine.streams.generator("transfers")
        count = 10_000
        gaps = random.exponential(1 / LINK_TRANSFERS, count)
        sizes = ((random.random(count) < 0.1) * (60 * KIB) + 4 * KIB).tolist()
        now = spent = 0.0
        for gap, size in zip(gaps.tolist(), sizes, strict=True):
            now += gap
            spent += link.reserve(now, now, size)[1] - now
        return spent / count

    return simulate


LINK_RATE = 100e6
_LINK_MEAN_S = (0.9 * 4 + 0.1 * 64) * KIB / LINK_RATE
_LINK_SECOND = (0.9 * (4 * KIB) ** 2 + 0.1 * (64 * KIB) ** 2) / LINK_RATE**2
LINK_TRANSFERS = 0.6 / _LINK_MEAN_S


def cores(count: int, load: float) -> Callable[[int], float]:
    """Mean time (s) of programs' runs on some cores."""

    def simulate(seed: int) -> float:
        engine = Engine(seed)
        cpu = Cpu(engine, count)
        random = engine.streams.generator("programs")
        ios, spent, done = 4_000, 0.0, 0
        gaps = iter(random.exponential(SERVICE_S / load / count, ios).tolist())
        runs = iter(random.exponential(SERVICE_S, ios).tolist())

        def arrive(_: Any) -> None:
            began = engine.now

            def over(_: Any) -> None:
                nonlocal spent, done
                spent += engine.now - began
                done += 1

            callbacks = cpu.run(next(runs)).callbacks
            assert callbacks is not None
            callbacks.append(over)
            gap = next(gaps, None)
            if gap is not None:
                engine.call_at(engine.now + gap, arrive)

        engine.call_at(next(gaps), arrive)
        engine.run()
        return spent / done

    return simulate


def split(seed: int) -> float:
    """Mean time (s) of reads of one chunk over RAID 0 of four exponential members."""
    engine = Engine(seed)
    members = [FixedServiceDevice(engine, f"d{i}", GIB, exponential(engine, f"d{i}")) for i in range(4)]
    array = StripeArray(engine, "md0", members, layout_for("raid0", 4, 64 * KIB, [GIB] * 4))
    return mean_latency(engine, array, 4 * 0.7 / SERVICE_S, 6_000)


def littles_law(seed: int) -> float:
    """Mean number inside, looked at, over throughput times mean time: one."""
    engine = Engine(seed)
    device = FixedServiceDevice(engine, "d", GIB, exponential(engine), 2)
    load = OpenLoad(engine, device, size=4 * KIB, iops=1.4 / SERVICE_S)
    engine.run_to(1.0)
    load.start_statistics(engine.now)
    looks = 5_000
    inside = 0
    for number in range(1, looks + 1):
        engine.run_to(1.0 + number * 0.5e-3)
        inside += device.outstanding
    return inside / looks / (load.reads / (engine.now - 1.0) * load.read_latency.mean)


def queues() -> list[Oracle]:
    """The oracles."""
    mean, rate = SERVICE_S, 1 / SERVICE_S
    pk = f"Pollaczek-Khinchine: {_KLEINROCK}, 5.70"
    found = [
        exact(
            f"M/M/1, {load:.0%} busy: time",
            f"{_KLEINROCK}, 3.26",
            mean / (1 - load),
            "s",
            station(exponential, load, ios),
        )
        for load, ios in ((0.3, 4_000), (0.6, 6_000), (0.8, 9_000))
    ]
    found += [
        exact(
            f"M/D/1, {load:.0%} busy: time",
            pk,
            theory.pollaczek_khinchine(load * rate, mean, mean**2),
            "s",
            station(lambda engine: linear_service(SERVICE_S), load),
        )
        for load in (0.5, 0.8)
    ]
    squares = {"uniform": (uniform, 4 / 3), "hyperexponential": (hyperexponential, 2 * (0.9 * 0.25 + 0.1 * 5.5**2))}
    found += [
        exact(
            f"M/G/1, {name}, 50 % busy: time",
            pk,
            theory.pollaczek_khinchine(0.5 * rate, mean, square * mean**2),
            "s",
            station(service, 0.5, 7_000),
        )
        for name, (service, square) in squares.items()
    ]
    found += [
        exact(
            f"M/M/{servers}, {load:.0%} busy: time",
            f"Erlang C: {_KLEINROCK}, 3.40",
            theory.erlang_c(load * servers * rate, mean, servers),
            "s",
            station(exponential, load, 6_000, servers),
        )
        for servers, load in ((2, 0.7), (8, 0.8))
    ]
    found += [
        exact(
            f"M/M/{count} on the cores of a CPU, {load:.0%} busy: time",
            f"Erlang C: {_KLEINROCK}, 3.40",
            theory.erlang_c(load * count * rate, mean, count),
            "s",
            cores(count, load),
        )
        for count, load in ((1, 0.5), (4, 0.6))
    ]
    found += [
        exact(
            "M/G/1 on a link, two sizes, 60 % busy: time",
            pk,
            theory.pollaczek_khinchine(LINK_TRANSFERS, _LINK_MEAN_S, _LINK_SECOND),
            "s",
            link_time(Link),
        ),
        exact("M/M/1, each of RAID 0's four members, 70 % busy: time", f"{_KLEINROCK}, 3.26", mean / 0.3, "s", split),
        exact("utilization law: share of three servers' time", "Denning and Buzen 1978", 0.6, "", busy_share),
        exact("Little's law at M/M/2: number over rate x time", "Little 1961", 1.0, "", littles_law),
    ]
    return found


def bus_is_no_queue() -> tuple[float, float]:
    """Mean time on a bus, where short transfers take turns with long ones, and on a link, where they queue (s)."""
    return link_time(Bus)(1), link_time(Link)(1)
