"""What every run measures: utilization, latencies, rebuilds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from ....model.raid.resync.thread import Resync
from ....model.statistics import LatencyHistogram, Usage
from ....model.statistics.rebuild_report import Rebuild
from ....model.statistics.usage import (
    BITMAP,
    BITMAP_OF,
    CORE,
    DISK,
    ENCRYPTION,
    LOCK,
    SATURATED,
    SSD,
    THREAD,
    WayUsage,
    link_usage,
)
from ....model.waits.trail import IoWaits
from ...machine.drives import is_solid_state
from ...machine.machine import BuiltMachine
from ...machine.observer import UNOBSERVED
from .prediction import LatencyBins, RebuildProgress
from .sample import Sample
from .waits import WaitTimes, longest_wait, waits_of

if TYPE_CHECKING:
    from ....model.raid.metadata.bitmap import WriteIntentBitmap
    from ...machine.drives import Drive

PERCENTILES = (50.0, 90.0, 99.0, 99.9)
_PARTS = {"dies": "flash dies", "channels": "flash channels"}
"""Parts of a solid-state drive that are called otherwise here."""
_PROCESSOR = "its processor, with commands that need no head"
WRITER = "dmcrypt_write of"
"""How results call the thread that submits the writes of an encrypted device, before its name."""


class Run(ABC):
    """A measured part of a workload on a built machine."""

    def __init__(self, machine: BuiltMachine, sample: Sample) -> None:
        self.machine = machine
        self.sample = sample
        self.began = 0.0
        self.cached: dict[str, tuple[int, int]] = {}
        self._resynced: dict[Rebuild, int] = {}
        self._syncing = {name: machine.engine.spawn(resync.run()) for name, resync in machine.resyncs.items()}
        for scan in machine.scans.values():
            machine.engine.spawn(scan.run())
        for name in machine.delayed_resyncs:
            self._syncing[name] = machine.engine.spawn(self._delayed(name))

    def _delayed(self, name: str) -> Generator[Any, Any, None]:
        """A resync that begins when those of earlier arrays on the same disks are over."""
        arrays, begin = self.machine.delayed_resyncs[name]
        for other, process in list(self._syncing.items()):
            if any(other == array or other.startswith(f"{array}.") for array in arrays):
                yield process
        resync = self.machine.resyncs[name] = begin()
        yield from resync.run()

    @property
    def shows_loads_only(self) -> bool:
        """Whether there is no more to see than the loads: no rebuild, no drive that fails, no timeline."""
        machine = self.machine
        beside = (machine.resyncs, machine.delayed_resyncs, machine.scans, machine.spares, machine.scenario.failures)
        return not any(beside) and machine.observer is UNOBSERVED

    def _begin(self) -> None:
        """The measurement begins: what was counted so far was warm-up."""
        machine, now = self.machine, self.machine.engine.now
        self.began = now
        for disk in machine.disks.values():
            disk.start_statistics(now)
        for queue in machine.queues.values():
            queue.statistics.begin()
        for link in machine.all_links:
            link.start_statistics(now)
        if machine.network is not None:
            machine.network.start_statistics(now)
        for cpu in machine.cpus:
            cpu.start_statistics()
        for thread in machine.threads.values():
            thread.busy_s = 0.0
        for lock in machine.locks:
            lock.start_statistics()
        for _, bitmap in self._bitmaps():
            bitmap.start_statistics()
        for crypt in machine.encrypting.values():
            crypt.start_statistics()
        for cache in machine.caches:
            cache.latencies, cache.waits = (LatencyHistogram(), LatencyHistogram()), IoWaits()
        for load in machine.loads:
            load.start_statistics(now)
        for controller in machine.controllers.values():
            controller.start_statistics(now)
        for pool in machine.pools.values():
            pool.arc.start_statistics()
        for front in machine.ssd_caches.values():
            front.start_statistics()
        self.cached = {name: (front.dirty_bytes, front.held_bytes) for name, front in machine.ssd_caches.items()}
        self._resynced = {resync: resync.done_bytes for _, resync in self._rebuilds_and_scans()}
        machine.observer.begin()

    @property
    def span(self) -> float:
        """Seconds of the measurement so far."""
        return self.machine.engine.now - self.began

    @property
    @abstractmethod
    def share(self) -> float:
        """How much of the run is done, about (0 to 1)."""

    def _resync_threads(self) -> list[tuple[str, Resync]]:
        """Threads of md at work or done, with the name of their array."""
        machine = self.machine
        later = [(name, resync) for name, spares in machine.spares.items() for resync in spares.rebuilds]
        return [*machine.resyncs.items(), *later]

    def _rebuilds_and_scans(self) -> list[tuple[str, Rebuild]]:
        """The same, and scans of pools."""
        return [*self._resync_threads(), *self.machine.scans.items()]

    def rebuilds(self) -> tuple[RebuildProgress, ...]:
        """What they did during the measurement."""
        found = []
        for name, resync in self._rebuilds_and_scans():
            report = resync.report
            begun = max(self.began, report.started_s)
            over = self.machine.engine.now if report.finished_s is None else report.finished_s
            done = resync.done_bytes - self._resynced.get(resync, 0)
            per_member = resync.member_bytes
            scale = per_member / report.total_bytes  # a check of RAID 10 counts the array's bytes
            rate = scale * done / (over - begun) if over > begun else 0.0
            whole = report.position_bytes >= report.total_bytes
            position = per_member if whole else int(scale * report.position_bytes)
            found.append(RebuildProgress(name, resync.action, rate, per_member, position))
        return tuple(found)

    def histograms(self) -> dict[str, LatencyHistogram]:
        """Latencies of all caches' requests, by "read" and "write" where there were any."""
        machine = self.machine
        found = {}
        for op, name in enumerate(("read", "write")):
            merged = LatencyHistogram()
            for cache in machine.caches:
                merged.merge(cache.latencies[op])
            for load in machine.loads:
                merged.merge(load.write_latency if op else load.read_latency)
            if merged.count:
                found[name] = merged
        return found

    def latencies(self) -> dict[str, dict[str, float]]:
        """The same summed up."""
        return {name: latency_summary(merged) for name, merged in self.histograms().items()}

    def waits(self) -> dict[str, WaitTimes]:
        """What the mean latencies of the same I/Os are made of: see :attr:`.prediction.Prediction.waits`."""
        loads, caches = self._issued()
        return waits_of([*caches, *loads], {op: merged.mean for op, merged in self.histograms().items()})

    def longest_wait(self) -> str:
        """What takes most of the time that programs wait for, in words; "" if that is not known."""
        return longest_wait(*self._issued())

    def _issued(self) -> tuple[list[IoWaits], list[IoWaits]]:
        """What the I/Os of the loads, and those of the page caches, spent their time on."""
        machine = self.machine
        return [load.waits for load in machine.loads], [cache.waits for cache in machine.caches]

    def latency_bins(self) -> dict[str, LatencyBins]:
        """The same as counts: see :attr:`.prediction.Prediction.latency_bins`."""
        return {
            name: tuple((1e-9 * nanoseconds, float(count)) for nanoseconds, count in merged.bins())
            for name, merged in self.histograms().items()
        }

    def usages(self) -> tuple[Usage, ...]:
        """Utilization of everything during the measurement."""
        machine = self.machine
        span = self.span
        usages = [Usage(cpu.name, "cpu", min(1.0, cpu.busy_s / span / cpu.cores)) for cpu in machine.cpus]
        usages += self._busy_threads()
        usages += self._busy_cores()
        usages += self._encrypting()
        usages += self._held_locks()
        usages += self._awaited_bitmaps()
        usages += [link_usage(link, span) for link in machine.all_links if link.bytes_moved]
        usages += [drive_usage(disk, span) for disk in machine.disks.values()]
        if machine.network is not None:
            usages += machine.network.usages(machine.engine.now, span)
        return tuple(usages)

    def _busy_threads(self) -> list[Usage]:
        """Threads of arrays that have no time left, though the CPU may have: a thread is on one core at a time."""
        shares = [(name, thread.busy_s / self.span) for name, thread in self.machine.threads.items()]
        return [Usage(name, THREAD, min(1.0, share)) for name, share in shares if share >= SATURATED]

    def _encrypting(self) -> list[Usage]:
        """Cores at work for encrypted devices, and threads of these that have no time left."""
        found, span = [], self.span
        for name, crypt in self.machine.encrypting.items():
            share = crypt.busy_s / span / crypt.threads
            if crypt.threads == 1 and self.machine.cpu.cores > 1 and share >= SATURATED:
                found.append(Usage(name, THREAD, min(1.0, share)))
            elif share:
                found.append(Usage(f"encryption of {name}", ENCRYPTION, min(1.0, share)))
            if crypt.thread_s / span >= SATURATED:
                found.append(Usage(f"{WRITER} {name}", THREAD, min(1.0, crypt.thread_s / span)))
        return found

    def _held_locks(self) -> list[Usage]:
        """Locks that somebody always holds."""
        shares = [(lock, lock.busy_s / self.span) for lock in self.machine.locks]
        return [Usage(lock.name, LOCK, min(1.0, held), what=lock.kernel) for lock, held in shares if held >= SATURATED]

    def _awaited_bitmaps(self) -> list[Usage]:
        """Bitmaps for whose bits md's threads wait, which have no time left then."""
        waits = [(name, bitmap.waited_s / self.span) for name, bitmap in self._bitmaps()]
        return [Usage(f"{BITMAP_OF}{name}", BITMAP, min(1.0, waited)) for name, waited in waits if waited >= SATURATED]

    def _bitmaps(self) -> list[tuple[str, WriteIntentBitmap]]:
        """Bitmaps that stop the thread of their array, by its name."""
        kept = [(name, array.metadata) for name, array in self.machine.arrays.items() if array.metadata is not None]
        return [(name, each.bitmap) for name, each in kept if each.bitmap is not None and each.stops_thread]

    def _busy_cores(self) -> list[Usage]:
        """Cores that have no time left for the programs that stay on them, where the CPU as a whole has some."""
        cpu = self.machine.cpu
        if cpu.busy_s / self.span / cpu.cores >= SATURATED:
            return []
        shares = [seconds / self.span for seconds in cpu.pinned_s]
        return [Usage(f"cpu{core}", CORE, min(1.0, share)) for core, share in enumerate(shares) if share >= SATURATED]


def latency_summary(latencies: LatencyHistogram) -> dict[str, float]:
    """Number, mean, extremes and percentiles of latencies (s)."""
    return {
        "n": float(latencies.count),
        "mean_s": latencies.mean,
        "min_s": latencies.min,
        "max_s": latencies.max,
        **{f"p{percent:g}_s": latencies.percentile(percent) for percent in PERCENTILES},
    }


def drive_usage(drive: Drive, span: float) -> Usage:
    """What a drive did in `span` seconds.

    A hard disk is busy while its mechanics or its processor work (:mod:`raidsim.model.disk.activity`), a solid-state
    drive as its busiest part.
    """
    waiting, moved = drive.latency_s / span, drive.read_bytes + drive.write_bytes
    if not is_solid_state(drive):
        busy, processor = min(1.0, drive.working_s / span), drive.processor_s / span
        what = _PROCESSOR if processor >= max(SATURATED, busy) else ""
        return Usage(drive.name, DISK, busy, waiting, drive.reads, drive.writes, moved, what)
    parts = [(each.kind.removeprefix("drive's "), each.utilization) for each in drive.usages(span)]
    ways = tuple(WayUsage(_PARTS.get(part, part), busy, 0.0) for part, busy in parts)
    busiest = max(way.utilization for way in ways)
    return Usage(drive.name, SSD, busiest, waiting, drive.reads, drive.writes, moved, ways=ways)
