"""SSD caches: hits are accesses, a cache that passes all on is the device, and nothing is lost between the devices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...model.disk.spec import DriveSpec
from ...scenarios.description.caches import CacheSpec
from ...scenarios.description.devices import Devices
from .law import Law, Violation
from .trial import Trial, clearly_below, differ

SAME = 0.85
"""Least throughput of a cache that passes everything on, as a share of the device's: the driver costs CPU time."""
SHARE = 0.95
ALL = 0.99
"""Share of reads that a warm cache has which is twice as large as what is read."""
_LEAST_READS = 200
_SMALL = {
    "workload.block_size": "4KiB",
    "workload.pattern": "random",
    **dict.fromkeys(f"workload.{field}" for field in ("align", "read_size", "write_size")),
}
"""I/Os that lie in a chunk, a page of flash and a block of a cache, also behind bcache's superblock, and no stream."""
_IDLE_S = 120.0
_TIMES = 4
_METADATA = 16 << 20
"""Bytes that caches write of their own, besides copies: superblocks, and what the drivers flush."""
_THROUGH = ("writethrough", "writearound", "passthrough", "none")


def _cached(trial: Trial) -> CacheSpec | None:
    """The cache that the load goes to alone, if nothing else goes on."""
    load, spec = trial.closed, trial.spec
    if load is None or load.fsync or len(load.targets) != 1 or spec.network is not None or spec.failures:
        return None
    if any(array.resync or array.rebuilding for array in spec.arrays.values()):
        return None
    return spec.caches.get(load.targets[0])


def _fast(trial: Trial, cached: CacheSpec) -> bool:
    """Whether it is flash in front of hard disks."""
    drives, devices = trial.spec.machine.drives, Devices.of(trial.spec)
    slow, fast = (
        {drives[each].spec().rotational for each in devices.below(name) if each in drives}
        for name in (cached.on, cached.cache)
    )
    return slow == {True} and fast == {False}


def _counts(trial: Trial) -> Iterator[Violation]:
    for each in trial.outcome.prediction.ssd_caches:
        for hits, all_of_them in ((each.read_hits, each.reads), (each.write_hits, each.writes)):
            if not 0 <= hits <= all_of_them:
                yield Violation("hits", f"{hits} hits of {all_of_them} accesses of {each.name}", "0 to all")
        spec = trial.spec.caches[each.name.rpartition(": ")[2]]
        size = spec.data_bytes(trial.spec.capacity(spec.cache)) if spec.holds_data else 0
        if not 0 <= each.dirty_bytes <= size:
            yield Violation("dirty", f"{each.dirty_bytes} bytes are in {each.name} alone", f"up to {size}")


def _fitting(trial: Trial) -> Mapping[str, Any] | None:
    """Reads of half of what the cache holds, which has them all."""
    cached, load = _cached(trial), trial.closed
    if cached is None or load is None or cached.kind == "dm-writecache" or cached.written == "passthrough":
        return None
    span = cached.data_bytes(trial.spec.capacity(cached.cache)) // 2 // load.jobs // _METADATA * _METADATA * load.jobs
    if load.start or span < load.jobs * max(map(max, load.sizes)) or span >= trial.spec.capacity(load.targets[0]):
        return None
    changed = {"span": f"{span}B", "read_share": "100%", "pattern": "random", "locality": None, "align": None}
    return {f"workload.{field}": value for field, value in changed.items()} | {
        f"caches.{load.targets[0]}.state": "warm"
    }


def _fits(trial: Trial) -> Iterator[Violation]:
    values = _fitting(trial)
    warm = None if values is None else trial.varied(values)
    if warm is None:
        return
    for each in warm.outcome.prediction.ssd_caches:
        if each.reads >= _LEAST_READS and each.read_hits < ALL * each.reads:
            said = f"{each.read_hits / each.reads:.1%} of the reads hit"
            yield Violation("fits", said, f"{ALL:.0%} or more of a warm cache that is twice as large", warm.data)


def _without(trial: Trial) -> Mapping[str, Any] | None:
    """The cold cache in the mode that passes everything on."""
    cached, load = _cached(trial), trial.closed
    if cached is None or load is None or cached.kind == "dm-writecache" or load.start:
        return None
    drives = (each.spec() for each in trial.spec.machine.drives.values())
    if any(not isinstance(each, DriveSpec) and each.in_submission for each in drives):
        return None  # the driver takes a good part of their time
    mode = "passthrough" if cached.kind == "dm-cache" else "none"
    name = load.targets[0]
    return {**_SMALL, f"caches.{name}.mode": mode, f"caches.{name}.state": "cold"}


def _passes_on(trial: Trial) -> Iterator[Violation]:
    cached, values = _cached(trial), _without(trial)
    off = None if values is None else trial.varied(values)
    if off is None or cached is None:
        return
    device = off.varied({"caches": None, "workload.targets": [cached.on]})
    if device is None:
        return
    with_it, without = off.outcome.rate, device.outcome.rate
    if differ(with_it, without, SAME):
        yield Violation(
            "off",
            f"{with_it.mean / 1e6:,.4g} MB/s through the cache that is off",
            f"{without.mean / 1e6:,.4g} MB/s, as of the device",
            off.data,
        )


def _modes(trial: Trial) -> Mapping[str, Any] | None:
    """Small random I/Os, half of them writes, in writeback on flash in front of hard disks."""
    cached, load = _cached(trial), trial.closed
    if cached is None or load is None or load.start or cached.kind == "dm-writecache" or not _fast(trial, cached):
        return None
    return {**_SMALL, "workload.read_share": "50%", f"caches.{load.targets[0]}.mode": "writeback"}


def _faster(trial: Trial) -> Iterator[Violation]:
    values = _modes(trial)
    back = None if values is None else trial.varied(values)
    if back is None:
        return
    through = back.varied({f"caches.{name}.mode": "writethrough" for name in back.spec.caches})
    if through is None:
        return
    fast, slow = back.outcome.rate, through.outcome.rate
    if clearly_below(fast, slow, SHARE):
        yield Violation(
            "writeback",
            f"{fast.mean / 1e6:,.4g} MB/s in writeback",
            f"{SHARE:.0%} of {slow.mean / 1e6:,.4g} MB/s or more, as in writethrough",
            back.data,
        )


def _larger(trial: Trial) -> Mapping[str, Any] | None:
    """A cache of twice the size."""
    cached, load = _cached(trial), trial.closed
    if cached is None or load is None or cached.started == "full" or cached.size is None or not _fast(trial, cached):
        return None
    return {**_SMALL, f"caches.{load.targets[0]}.size": f"{2 * cached.size}B"}


def _more(trial: Trial) -> Iterator[Violation]:
    values = _larger(trial)
    large = None if values is None else trial.varied(values)
    small = (
        None
        if large is None
        else large.varied({f"caches.{name}.size": f"{each.size}B" for name, each in trial.spec.caches.items()})
    )
    if large is None or small is None:
        return
    more, less = large.outcome.rate, small.outcome.rate
    if clearly_below(more, less, SHARE):
        yield Violation(
            "size",
            f"{more.mean / 1e6:,.4g} MB/s with a cache of twice the size",
            f"{SHARE:.0%} of {less.mean / 1e6:,.4g} MB/s or more, as without",
            large.data,
        )


def _on_drives(trial: Trial) -> bool:
    """Whether the load reads or writes a cache of drives."""
    cached, load, drives = _cached(trial), trial.closed, trial.spec.machine.drives
    one_way = load is not None and load.read_share in (0, 1)
    return one_way and cached is not None and set(cached.devices) <= set(drives) and trial.outcome.ios > 0


def _moved(trial: Trial) -> Iterator[Violation]:
    cached, load, run = _cached(trial), trial.closed, trial.outcome.run
    assert cached is not None
    assert load is not None
    origin, fast = run.machine.disks[cached.on], run.machine.disks[cached.cache]
    moved = sum(each.bytes for each in run.machine.loads)
    reads, writes = (moved, 0) if load.read_share else (0, moved)
    outstanding = 2 * load.depth * load.jobs * max(map(max, load.sizes))
    if origin.read_bytes + fast.read_bytes < 0.98 * reads - outstanding:
        yield Violation("reads", f"the drives read {origin.read_bytes + fast.read_bytes} bytes", f"{reads} or more")
    at_origin = origin.write_bytes
    most = 1.02 * writes + outstanding + _METADATA
    if cached.written in _THROUGH and not 0.98 * writes - outstanding <= at_origin <= most:
        yield Violation("writes", f"the slow drive writes {at_origin} bytes", f"{writes}, in {cached.written}")
    if at_origin + fast.write_bytes < 0.98 * writes - outstanding:
        yield Violation("writes", f"the drives write {at_origin + fast.write_bytes} bytes", f"{writes} or more")


def _drains(trial: Trial) -> bool:
    cached = _cached(trial)
    return cached is not None and cached.holds_data and cached.kind != "dm-writecache"


def _drained(trial: Trial) -> Iterator[Violation]:
    run = trial.stopped()
    if run is None:
        return
    engine = run.machine.engine
    engine.run_to(engine.now + _IDLE_S / 60)
    for name, cache in run.machine.ssd_caches.items():
        before = cache.dirty_bytes
        engine.run_to(engine.now + _IDLE_S)
        if before and cache.dirty_bytes >= before:
            yield Violation("drained", f"{cache.dirty_bytes} bytes are in {name} alone", f"less than {before}")


HITS = Law(
    "cache-hits",
    "Hits of an SSD cache are none to all of its accesses, and it holds no more dirty data than it is large.",
    "scenarios with SSD caches",
    "none: they are counted",
    _counts,
    lambda trial: bool(trial.outcome.prediction.ssd_caches),
)
MOVED = Law(
    "cache-moves",
    "What a load reads and writes through an SSD cache, its drives read and write; the slow one takes all writes but "
    "in writeback.",
    "loads with a depth on an SSD cache of drives, of one direction",
    "2 %, and two times the I/Os outstanding and the driver's metadata",
    _moved,
    _on_drives,
)
FITS = Law(
    "cache-fits",
    "A warm SSD cache that is larger than what is read has nearly all of it.",
    "loads with a depth on dm-cache or bcache; random reads of half the cache's size instead",
    f"{1 - ALL:.0%}: blocks that were not read while it was warmed",
    _fits,
    lambda trial: trial.outcome.iops > 0 and _fitting(trial) is not None,
    runs=1,
)
OFF = Law(
    "cache-off",
    "An SSD cache in the mode passthrough or none has the throughput of the device that it caches.",
    "loads with a depth on dm-cache or bcache of drives outside of memory; random I/Os of 4 KiB instead",
    f"{1 - SAME:.0%} for the driver's CPU time, and the 90 % intervals of both figures doubled",
    _passes_on,
    lambda trial: trial.outcome.iops > 0 and _without(trial) is not None,
    runs=2,
)
BACK = Law(
    "cache-writeback",
    "An SSD cache has as much throughput in writeback as in writethrough, or more.",
    "loads with a depth on dm-cache or bcache of flash in front of hard disks; random I/Os of 4 KiB instead, half of "
    "them writes",
    f"{1 - SHARE:.0%}, and the 90 % intervals of both figures doubled",
    _faster,
    lambda trial: trial.outcome.iops > 0 and _modes(trial) is not None,
    runs=2,
)
SIZE = Law(
    "cache-size",
    "An SSD cache of twice the size has as much throughput, or more.",
    "loads with a depth on caches of flash in front of hard disks; random I/Os of 4 KiB instead",
    f"{1 - SHARE:.0%}, and the 90 % intervals of both figures doubled",
    _more,
    lambda trial: trial.outcome.iops > 0 and _larger(trial) is not None,
    runs=2,
)
DRAINED = Law(
    "cache-drained",
    "Dirty data of an SSD cache that is left alone become less.",
    "loads with a depth on dm-cache or bcache in writeback",
    "none, two minutes after the load",
    _drained,
    _drains,
    runs=1,
)
