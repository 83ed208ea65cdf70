"""The disks below a run of fio, as its ``disk_util`` has them."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.core.exact_sums import sum_in_order
from ...model.core.request import READ, WRITE
from ..description.pools import pool_devices
from ..description.scenario import ScenarioSpec
from ..machine.machine import BuiltMachine
from .files import FilePlaces
from .report import Ran
from .result import DiskResult


def disk_results(
    machine: BuiltMachine,
    places: FilePlaces,
    ran: Sequence[Ran],
    span_s: float,
) -> tuple[DiskResult, ...]:
    """Devices that jobs have used, arrays with their drives.

    A drive counts the commands it has served and their time together; that is divided between reads and writes by
    their number. What an array was asked is what the jobs and the page cache have sent to it, and it is as busy as its
    busiest drive.

    Parameters
    ----------
    machine
        What they were run on.
    places
        Where the files lie.
    ran
        The threads.
    span_s
        Time of the whole run (s).
    """
    if not all(each.plan.reporting.disks for each in ran):
        return ()
    found = []
    for name in places.used:
        if name in machine.disks:
            found.append(_drive(machine, name, span_s))
            continue
        members = tuple(
            _drive(machine, drive, span_s) for drive in drives_below(machine.scenario, name) if drive in machine.disks
        )
        counts, ticks_s = [0, 0], [0.0, 0.0]
        for op in (READ, WRITE):
            for each in ran:
                if places.direct_on(each.plan, name):
                    clat = each.statistics.directions[op].clat
                    counts[op] += clat.n
                    ticks_s[op] += 1e-9 * clat.mean_ns * clat.n
            for cache in places.caches_on(name):
                latencies = cache.latencies[op]
                counts[op] += latencies.count
                if latencies.count:
                    ticks_s[op] += latencies.mean * latencies.count
        found.append(
            DiskResult(
                name=name,
                read_ios=counts[READ],
                write_ios=counts[WRITE],
                read_merges=0,
                write_merges=0,
                read_ticks_s=ticks_s[READ],
                write_ticks_s=ticks_s[WRITE],
                in_queue_s=sum_in_order(ticks_s),
                util=max((member.util for member in members), default=0.0),
                members=members,
            )
        )
    return tuple(found)


def drives_below(scenario: ScenarioSpec, name: str) -> list[str]:
    """The drives that a device is built of."""
    if name in scenario.machine.drives:
        return [name]
    if name in scenario.encrypted:
        return drives_below(scenario, scenario.encrypted[name].on)
    found: list[str] = []
    members: tuple[str, ...]
    datasets = pool_devices(scenario.pools)
    if name in datasets:
        members = datasets[name][0].leaves()
    elif name in scenario.caches:
        members = scenario.caches[name].devices
    elif name in scenario.volumes:
        members = scenario.volumes[name].on
    else:
        array = scenario.arrays[name]
        members = (*array.members, *array.spares, *([array.journal] if array.journal else []))
    for member in members:
        found += [drive for drive in drives_below(scenario, member) if drive not in found]
    return found


def _drive(machine: BuiltMachine, name: str, span_s: float) -> DiskResult:
    disk = machine.disks[name]
    merges = getattr(machine.queues.get(name), "merges", 0)
    share = disk.reads / max(1, disk.reads + disk.writes)
    read_merges = round(merges * share)
    return DiskResult(
        name=name,
        read_ios=disk.reads,
        write_ios=disk.writes,
        read_merges=read_merges,
        write_merges=merges - read_merges,
        read_ticks_s=disk.latency_s * share,
        write_ticks_s=disk.latency_s * (1.0 - share),
        in_queue_s=disk.latency_s,
        util=100.0 * min(1.0, disk.busy_s / span_s) if span_s else 0.0,
    )
