"""How time and memory grow: with the number of I/Os, of disks, of requests outstanding, and of processes.

Every point is a process of its own, so that memory is its own too. Points that grow with the work only are flat lines
here: CPU time per member I/O, and resident memory.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from os import cpu_count
from pathlib import Path
from time import perf_counter, process_time

from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.core.engine import Engine
from raidsim.model.disk.hard_disk import HardDisk
from raidsim.model.drives.catalogue import hard_disk
from raidsim.model.layouts.striped import StripedLayout
from raidsim.model.raid.striped.stripe import StripeArray
from raidsim.model.schedulers import MqDeadline
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.model.tasks.prices import FREE
from raidsim.scenarios.pictures.style import bare, decades, headed, save, series, styled
from raidsim.scenarios.workers.task_pool import TaskPool

from .loads import CHUNK, DRIVE, Load, random_draws, random_raid5_load
from .measure import resident_mib

_REQUESTS = 10_000
_TASKS = 16
_ROOM = 1.5
"""Beside the first and the last point, as a factor."""
_PROCESSES = "processes (runs of RAID 5 of 8 disks)"


@dataclass(frozen=True, slots=True)
class Point:
    """One measurement.

    Attributes
    ----------
    size
        How many I/Os, disks, requests outstanding or processes.
    each_us
        CPU time (us) per member I/O; of processes, elapsed time.
    whole_s
        CPU time (s) of all.
    mib
        Resident memory at its end.
    """

    size: int
    each_us: float
    whole_s: float
    mib: float


@dataclass(frozen=True, slots=True)
class Series:
    """What grows, and how it goes."""

    name: str
    points: list[Point]


def _run(load: Load, requests: int, warm: int) -> tuple[float, float, float]:
    if warm:
        load.run(warm)
    before, begin = load.member_ios, process_time()
    load.run(requests)
    whole_s = process_time() - begin
    return whole_s / (load.member_ios - before) * 1e6, whole_s, resident_mib()


def ios(count: int) -> tuple[float, float, float]:
    """So many requests to RAID 5 of 8 disks."""
    return _run(random_raid5_load(), count, 0)


def disks(count: int, outstanding: int = 64) -> tuple[float, float, float]:
    """RAID 0 of so many disks."""
    engine = Engine()
    members = [HardDisk(engine, hard_disk(DRIVE), f"sd{i}") for i in range(count)]
    array = StripeArray(engine, "md0", members, StripedLayout([disk.capacity for disk in members], CHUNK))
    draws = random_draws(engine, array.capacity, 4096, 0.3)
    return _run(Load(engine, array, members, draws, 4096, outstanding=outstanding), _REQUESTS, _REQUESTS)


def outstanding(count: int) -> tuple[float, float, float]:
    """So many requests for RAID 0 of 8 disks."""
    return disks(8, count)


def queued(count: int) -> tuple[float, float, float]:
    """So many requests in the queue of one disk, sorted by mq-deadline."""
    engine = Engine()
    disk = HardDisk(engine, hard_disk(DRIVE), "sda")
    queue = BlkMqQueue(engine, Host(Cpu(engine), FREE), disk, depth=1, scheduler=MqDeadline(1 << 20), requests=count)
    draws = random_draws(engine, disk.capacity, 4096, 0.3)
    return _run(Load(engine, queue, [disk], draws, 4096, outstanding=count), _REQUESTS, count)


def task(number: int) -> int:
    """A piece of work for a process: a short run."""
    load = random_raid5_load()
    load.run(_REQUESTS + number % 2)
    return load.member_ios


def processes(count: int) -> tuple[float, float, float]:
    """Runs on so many processes: elapsed time (s), their start left out."""
    with TaskPool(count) as pool:
        pool.run(task, list(range(2 * count)))
        begin = perf_counter()
        done = sum(pool.run(task, list(range(_TASKS))))
        whole_s = perf_counter() - begin
    return whole_s / done * 1e6, whole_s, resident_mib()


def sizes(long: bool) -> dict[str, tuple[Callable[[int], tuple[float, float, float]], tuple[int, ...]]]:
    """What is measured, and with how many; `long` takes minutes."""
    cores = cpu_count() or 1
    return {
        "I/Os (RAID 5 of 8 disks)": (ios, (10**4, 10**5, 10**6, 10**7) if long else (10**4, 10**5)),
        "disks (RAID 0, 64 outstanding)": (disks, (1, 10, 100, 1000)),
        "outstanding (RAID 0 of 8 disks)": (outstanding, (1, 10, 100, 1000, 10_000)),
        "outstanding (mq-deadline on one disk)": (queued, (1, 10, 100, 1000, 10_000)),
        _PROCESSES: (processes, tuple(sorted({1, 2, cores}))),
    }


def measure_all(long: bool = False) -> list[Series]:
    """Every point, one after the other."""
    found = []
    for name, (work, counts) in sizes(long).items():
        points = []
        for count in counts:
            if work is processes:
                points.append(Point(count, *work(count)))
                continue
            with ProcessPoolExecutor(1, get_context("spawn")) as alone:
                points.append(Point(count, *alone.submit(work, count).result()))
        found.append(Series(name, points))
    return found


def as_text(found: list[Series]) -> str:
    """Tables, one for everything that grows."""
    lines = []
    for each in found:
        lines.append(f"{each.name:<40} {'us per member I/O':>18} {'s':>9} {'MiB':>8}")
        lines += [f"{p.size:>40,} {p.each_us:>18.2f} {p.whole_s:>9.2f} {p.mib:>8.1f}" for p in each.points]
        lines.append("")
    return "\n".join(lines)


def draw(found: list[Series], path: Path) -> None:
    """CPU time per member I/O against what grows; flat is good."""
    from matplotlib.figure import Figure

    drawn = [each for each in found if each.name != _PROCESSES]  # elapsed time, of several cores
    with styled():
        figure = Figure(figsize=(8, 4.5), layout="constrained")
        axes = figure.subplots()
        for number, each in enumerate(drawn):
            look = series(number)
            axes.plot(
                [point.size for point in each.points],
                [point.each_us for point in each.points],
                color=look.colour,
                marker=look.marker,
                linestyle=look.line,
                markerfacecolor=look.face,
                label=each.name,
            )
        sizes = [point.size for each in drawn for point in each.points]
        decades(axes, "x", min(sizes) / _ROOM, max(sizes) * _ROOM)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("how many")
        axes.set_ylabel("CPU time per member I/O (us)")
        axes.grid()
        bare(axes)
        figure.legend(loc="outside lower center", ncols=2)
        headed(figure, "What an I/O costs when there is more of everything")
        save(figure, path, path.suffix.lower())
