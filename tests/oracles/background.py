"""What a drive or an array does next to its commands, against closed forms: destaging, scrubbing and rebuilds."""

from __future__ import annotations

import math
from collections.abc import Callable

from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice, linear_service
from raidsim.model.core.request import WRITE, Request
from raidsim.model.disk.destaging import DESTAGE_UNIT
from raidsim.model.disk.hard_disk import HardDisk
from raidsim.model.disk.spec import DriveSpec, mechanics
from raidsim.model.drives.catalogue import hard_disk
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.model.loads.open_load import OpenLoad
from raidsim.model.raid.mirrors.mirror import MirrorArray
from raidsim.model.raid.read_balance import Md61
from raidsim.model.raid.resync.settings import ResyncSettings
from raidsim.model.raid.resync.thread import Resync
from raidsim.tests.oracles import theory
from raidsim.tests.oracles.disks import SIZE, even, media_s, turn_s, zone_sum_s
from raidsim.tests.oracles.oracle import Oracle, exact
from raidsim.tests.oracles.queues import GIB, KIB, SERVICE_S, Service, exponential, mean_latency

_DRIVE = "Exos-15E900-900GB"
_MIB = 1 << 20
_SECTOR = 512
_CACHE = {"write_cache": True, "write_buffer": 8 * _MIB, "write_overhead": 0.0, "write_settle": 0.0}
_NO_SEEKS = dict.fromkeys(("seek_track_to_track", "seek_average", "seek_full_stroke", "head_switch"), 0.0)
_DIRTY = 390 * GIB
_READ_FROM = 400 * GIB
_COFFMAN = "Coffman 1969, Fuller and Baskett 1975: a drum served in the order of its sectors; Little's law"
_TAKAGI = "Takagi, Queueing Analysis 1, 1991: M/G/1 with vacations"


def caching(**overrides: object) -> DriveSpec:
    """A disk of constant seeks with a write cache and no overheads."""
    return even(_DRIVE).with_values(**{**_CACHE, **overrides})


def drained(spec: DriveSpec, size: int, seconds: float = 6.0) -> Callable[[int], float]:
    """Writes a second at random that a full cache accepts."""

    def simulate(seed: int) -> float:
        engine = Engine(seed)
        load = ClosedLoad(engine, HardDisk(engine, spec, "d"), size=size, read_share=0.0)
        engine.run_to(0.5)
        load.start_statistics(engine.now)
        engine.run_to(0.5 + seconds)
        return load.writes / seconds

    return simulate


def written_in_order_s(spec: DriveSpec) -> Callable[[int], float]:
    """Time (s) until the whole disk, written from end to end through its cache, is on the platters."""

    def simulate(seed: int) -> float:
        engine = Engine(seed)
        disk = HardDisk(engine, spec, "d")
        offsets = iter(range(0, spec.capacity, _MIB))
        ended = [0.0]

        def following(_: object) -> None:
            offset = next(offsets, None)
            if offset is None:
                disk.flush(lambda: ended.append(engine.now))
            else:
                disk.submit(Request(WRITE, offset, min(_MIB, spec.capacity - offset), following))

        following(None)
        engine.run()
        return ended[-1]

    return simulate


def scrubbed(service: Callable[[Engine], Service], load: float, ios: int = 4000) -> Callable[[int], float]:
    """Mean time (s) at a device that another reader, with one I/O outstanding, never leaves idle."""

    def simulate(seed: int) -> float:
        engine = Engine(seed)
        device = FixedServiceDevice(engine, "d", GIB, service(engine))
        ClosedLoad(engine, device, size=4 * KIB, name="scrub")
        return mean_latency(engine, device, load / SERVICE_S, ios)

    return simulate


def destaging_meanwhile(spec: DriveSpec, rate: float, ios: int = 2500) -> Callable[[int], float]:
    """Mean time (s) of reads at random of a disk that destages in order whenever it has no command."""

    def simulate(seed: int) -> float:
        engine = Engine(seed)
        disk = HardDisk(engine, spec, "d")
        disk.media.in_flight += _DIRTY
        disk.media.accept(0, _DIRTY, 0.0)
        span = spec.capacity - _READ_FROM
        load = OpenLoad(engine, disk, size=SIZE, iops=rate, start=_READ_FROM, span=span - span % SIZE)
        engine.run_to(0.1 * ios / rate)
        load.start_statistics(engine.now)
        engine.run_to(1.1 * ios / rate)
        return load.read_latency.mean

    return simulate


def rebuilt_s(specs: tuple[DriveSpec, DriveSpec], speed_max: float, depth: int = 8) -> Callable[[int], float]:
    """Time (s) in which the second member of a mirror is rebuilt from the first."""

    def simulate(seed: int) -> float:
        engine = Engine(seed)
        disks = [HardDisk(engine, spec, f"d{i}") for i, spec in enumerate(specs)]
        array = MirrorArray(engine, "md0", disks, Md61(2), failed=[1])
        array.rebuild_onto(1)
        settings = ResyncSettings(
            min(speed_max, 1e6), speed_max, request_bytes=512 * KIB, window_bytes=128 * KIB, depth=depth
        )
        resync = Resync(engine, array, settings, warm=False)
        engine.spawn(resync.run())
        engine.run()
        finished_s = resync.report.finished_s
        assert finished_s is not None
        return finished_s

    return simulate


def _destaging() -> list[Oracle]:
    one = caching(write_extents=1)
    seconds = one.seek_average + turn_s(one) / 2 + media_s(one, SIZE)
    small = hard_disk(_DRIVE).with_values(**_CACHE, capacity=2_000_000_000 // _SECTOR * _SECTOR)
    swept_s = zone_sum_s(small)
    found = [
        exact(
            "random writes to a cache with room for one: rate",
            "sum of seek, half a turn and transfer",
            1 / seconds,
            "1/s",
            drained(one, SIZE),
        ),
        Oracle(
            "2 GB written in order through a cache, and flushed: time within bounds",
            "bytes over rate, summed over the zones; a seek and two turns to begin and end",
            swept_s,
            swept_s + small.seek_full_stroke + 2 * turn_s(small),
            "s",
            written_in_order_s(small),
            1,
        ),
    ]
    for extents in (4, 8):
        drum = caching(write_extents=extents, **_NO_SEEKS)
        sectors = mechanics(drum)[0].zones[0].sectors_per_track
        low = 2 * (extents - 1) / (1 + 4 * extents / sectors) / turn_s(drum)
        name = f"random writes to a cache with room for {extents}, no seeks: rate within bounds"
        high = 2 * extents / turn_s(drum)
        found.append(Oracle(name, _COFFMAN, low, high, "1/s", drained(drum, _SECTOR, 1.0), 4))
    return found


def _vacations() -> list[Oracle]:
    mean = SERVICE_S
    kinds: tuple[tuple[str, float, Callable[[Engine], Service], float], ...] = (
        ("exponential", 0.3, exponential, 2 * mean**2),
        ("constant", 0.6, lambda engine: linear_service(mean), mean**2),
    )
    found = []
    for name, load, service, square in kinds:
        # The scrub's next I/O waits behind what came during its last one: vacations that open a gate.
        time_s = theory.pollaczek_khinchine(load / mean, mean, square) + theory.gated(load, mean, square)
        title = f"a device {load:.0%} busy next to a scrub, {name} service: time"
        found.append(exact(title, f"{_TAKAGI}, gated", time_s, "s", scrubbed(service, load), 8))
    spec = caching(write_buffer=400 * GIB, cache=400 * GIB, read_overhead=0.0, hit_overhead=0.0)
    turn, unit_s = turn_s(spec), media_s(spec, DESTAGE_UNIT)
    mean_s = spec.seek_average + turn / 2 + media_s(spec, SIZE)
    square = mean_s**2 + turn**2 / 12
    for load in (0.3, 0.6):
        rate = load / mean_s
        # The first vacation begins with a seek and a wait, evenly over a turn; those after it go on in order.
        first_s = spec.seek_average + turn / 2 + unit_s
        first_square = first_s**2 + turn**2 / 12
        goes_on = math.exp(-rate * (spec.seek_average + unit_s)) * -math.expm1(-rate * turn) / (rate * turn)
        more = goes_on / -math.expm1(-rate * unit_s)
        residual_s = (first_square + more * unit_s**2) / (first_s + more * unit_s) / 2
        time_s = theory.pollaczek_khinchine(rate, mean_s, square) + residual_s
        title = f"a disk {load:.0%} busy that destages when idle: time of reads"
        found.append(exact(title, f"{_TAKAGI}, exhaustive", time_s, "s", destaging_meanwhile(spec, rate), 8))
    return found


def _rebuilds() -> list[Oracle]:
    capacity = 4_000_000_000 // _SECTOR * _SECTOR
    fast, slow = (hard_disk(name).with_values(capacity=capacity) for name in (_DRIVE, "WD2500JB"))
    found = []
    for name, specs in (("equal drives", (fast, fast)), ("onto a slow drive", (fast, slow))):
        floor_s = max(map(zone_sum_s, specs))
        begin_s = max(spec.seek_full_stroke + 2 * turn_s(spec) for spec in specs)
        cached_s = max(spec.write_cache * spec.write_buffer / spec.inner_media_rate for spec in specs)
        found.append(
            Oracle(
                f"rebuild of a mirror of 4 GB, {name}: time within bounds",
                "bytes over the slower member's rate, summed over the zones; its cache; a seek and two turns to begin",
                floor_s - cached_s,
                floor_s + begin_s,
                "s",
                rebuilt_s(specs, 1e12),
                1,
            )
        )
    for speed in (50e6, 100e6):
        # drivers/md/md.c counts whole seconds plus one since a mark, which is 27 to 30 s old after half a minute.
        whole_s = capacity / speed
        found.append(
            Oracle(
                f"rebuild of a mirror of 4 GB at speed_limit_max {speed / 1e6:.0f} MB/s: time within bounds",
                "bytes over the limit; md_do_sync counts up to a second too much each half minute",
                whole_s * 27 / 28 - 1,
                whole_s,
                "s",
                rebuilt_s((fast, fast), speed),
                1,
            )
        )
    return found


def background() -> list[Oracle]:
    """The oracles."""
    return [*_destaging(), *_vacations(), *_rebuilds()]
