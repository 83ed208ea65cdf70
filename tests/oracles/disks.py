"""A hard disk against closed forms: seeks, turns and zones, and the disk as a queue whose moments are known.

What a closed form has no room for is switched off, each for its reason: the buffer and its look-ahead, which would
answer some reads without the arm; the write cache, which would answer all writes; and queues in the drive, which
would choose the nearest I/O.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from raidsim.model.core.device import Device
from raidsim.model.core.engine import Engine
from raidsim.model.core.request import READ, Request
from raidsim.model.disk.hard_disk import HardDisk
from raidsim.model.disk.spec import DriveSpec, mechanics
from raidsim.model.drives.catalogue import hard_disk
from raidsim.model.layouts import layout_for
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.model.raid.mirrors.mirror import MirrorArray
from raidsim.model.raid.read_balance import Md61
from raidsim.model.raid.striped.stripe import StripeArray
from raidsim.tests.oracles import theory
from raidsim.tests.oracles.oracle import Oracle, exact
from raidsim.tests.oracles.queues import KIB, mean_latency

SIZE = 4 * KIB
CHUNK = 64 * KIB
PLAIN = {"segments": 0, "segment_size": 0, "look_ahead": 0, "write_cache": False, "write_buffer": 0, "queue_depth": 1}
DRIVES = ("Exos-15E900-900GB", "Exos-X20-20TB-SAS", "WD2500JB")
_RUEMMLER = "Ruemmler and Wilkes 1994"
_SWEPT = 4 << 20
_LAST_TRACK = 1e-5
"""Share of a disk's time that the skew after its last track is, which nothing follows, and some more."""
_ROWS = 400


def plain(name: str, **overrides: object) -> DriveSpec:
    """A drive of the catalogue with what has no closed form switched off."""
    return hard_disk(name).with_values(**{**PLAIN, **overrides})


def even(name: str) -> DriveSpec:
    """The same with one zone and with seeks that all take as long: the times of its I/Os are independent."""
    spec = hard_disk(name)
    middle = 0.5 * (spec.outer_media_rate + spec.inner_media_rate)
    seek_s = spec.seek_average
    times = dict.fromkeys(("seek_track_to_track", "seek_average", "seek_full_stroke"), seek_s)
    skews = {"head_skew": 0.0, "cylinder_skew": 0.0}
    return plain(name, zones=1, outer_media_rate=middle, inner_media_rate=middle, **times, **skews)


def turn_s(spec: DriveSpec) -> float:
    """Time of a turn (s)."""
    return 60.0 / spec.rotation


def cylinder_bytes(spec: DriveSpec) -> NDArray[np.float64]:
    """Bytes of each cylinder, as far as the capacity reaches."""
    geometry, _ = mechanics(spec)
    each = np.concatenate([np.full(zone.cylinders, zone.sectors_per_track * 512.0) for zone in geometry.zones])
    each *= geometry.heads
    held: NDArray[np.float64] = np.minimum(each, np.maximum(0.0, spec.capacity - (np.cumsum(each) - each)))
    return held


def random_reads(spec: DriveSpec, figure: Callable[[HardDisk], float], ios: int = 1500) -> Callable[[int], float]:
    """A figure of a disk after so many reads at random, one at a time."""

    def simulate(seed: int) -> float:
        engine = Engine(seed)
        disk = HardDisk(engine, spec, "d")
        load = ClosedLoad(engine, disk, size=SIZE)
        while load.reads < ios:
            engine.run_to(engine.now + 1.0)
        load.stop()
        engine.run()
        return figure(disk)

    return simulate


def sweep_s(spec: DriveSpec) -> Callable[[int], float]:
    """Time (s) in which the whole medium passes under the head, from the first byte to the last."""

    def simulate(seed: int) -> float:
        geometry, _ = mechanics(spec)
        step = spec.capacity // 1000
        starts = range(0, spec.capacity, step)
        # From where one piece begins to where the next one does, so that the skew between them counts.
        return sum(
            (geometry.turns(start + step) - geometry.turns(start)) * geometry.revolution_s for start in starts[:-1]
        ) + geometry.transfer_s(starts[-1], spec.capacity - starts[-1])

    return simulate


def whole_reading_s(spec: DriveSpec) -> Callable[[int], float]:
    """Time (s) in which a host reads the whole disk in order, with look-ahead, after the first request."""

    def simulate(seed: int) -> float:
        engine = Engine(seed)
        disk = HardDisk(engine, spec, "d")
        ends: list[float] = []
        offsets = iter(range(0, spec.capacity, _SWEPT))

        def following(_: object) -> None:
            ends.append(engine.now)
            offset = next(offsets, None)
            if offset is not None:
                disk.submit(Request(READ, offset, min(_SWEPT, spec.capacity - offset), following))

        following(None)
        engine.run()
        return ends[-1] - ends[1]

    return simulate


def zone_sum_s(spec: DriveSpec, start: int = 0) -> float:
    """The same from the zones: a turn a track, a head skew between tracks, a cylinder skew between cylinders."""
    geometry, _ = mechanics(spec)
    head_skew_s = spec.head_switch if spec.head_skew is None else spec.head_skew
    cylinder_skew_s = spec.seek_track_to_track if spec.cylinder_skew is None else spec.cylinder_skew
    cylinder_s = geometry.heads * turn_s(spec) + (geometry.heads - 1) * head_skew_s + cylinder_skew_s
    seconds, first = 0.0, 0.0
    for zone in geometry.zones:
        held = zone.cylinders * geometry.heads * zone.sectors_per_track * 512.0
        used = min(max(0.0, spec.capacity - first), held) - min(max(0.0, start - first), held)
        seconds += used / held * zone.cylinders * cylinder_s
        first += held
    return seconds


def last_of(members: int, level: str) -> tuple[float, Callable[[int], float]]:
    """Mean time (s) of requests with a part on each of some disks of constant seeks, and how to simulate it.

    The last of n platters at random comes after n / (n + 1) turns. But they turn alike, so that how far they are apart
    stays as it was at the start: in one run the last comes after what :func:`.theory.longest_wait` says, and by
    what that differs from the mean over all runs each run is corrected.
    """
    spec = even("WD2500JB")
    turn, mean_turns = turn_s(spec), members / (members + 1)
    size = SIZE if level == "raid1" else CHUNK
    overhead_s = spec.write_overhead + spec.write_settle if level == "raid1" else spec.read_overhead

    def simulate(seed: int) -> float:
        engine = Engine(seed)
        disks = [HardDisk(engine, spec, f"d{i}") for i in range(members)]
        array: Device
        if level == "raid1":
            array = MirrorArray(engine, "md0", disks, Md61(members))
            load = ClosedLoad(engine, array, size=size, read_share=0.0)
        else:
            layout = layout_for("raid0", members, CHUNK, [spec.capacity] * members)
            array = StripeArray(engine, "md0", disks, layout)
            load = ClosedLoad(engine, array, size=members * size)
        while load.reads + load.writes < _ROWS:
            engine.run_to(engine.now + 0.5)
        found = (load.write_latency if level == "raid1" else load.read_latency).mean
        phases = np.array([disk.media._phase for disk in disks])
        return found + (mean_turns - theory.longest_wait(phases)) * turn

    return overhead_s + spec.seek_average + mean_turns * turn + media_s(spec, size), simulate


def media_s(spec: DriveSpec, size: int) -> float:
    """Mean time (s) in which so many bytes at random pass under the head, skews between tracks included."""
    geometry, _ = mechanics(spec)
    weights = cylinder_bytes(spec)
    tracks = np.concatenate([np.full(zone.cylinders, zone.sectors_per_track * 512.0) for zone in geometry.zones])
    shares = weights / weights.sum()
    crossed = (geometry.heads - 1) / geometry.heads * geometry.head_skew + geometry.cylinder_skew / geometry.heads
    # In sectors: what begins at one of them crosses the end of a track unless it is the last that fits.
    return float((size / tracks + (size - 512) / tracks * crossed) @ shares) * turn_s(spec)


def disks() -> list[Oracle]:
    """The oracles."""
    found = []
    for name in DRIVES:
        spec = plain(name)
        seek_s = theory.mean_seek(mechanics(spec)[1].table(writes=False).tolist(), cylinder_bytes(spec))
        time_s = spec.read_overhead + seek_s + turn_s(spec) / 2 + media_s(spec, SIZE)
        found += [
            exact(
                f"{name}: mean rotational delay, half a turn",
                _RUEMMLER,
                turn_s(spec) / 2,
                "s",
                random_reads(spec, lambda disk: disk.rotation_s / disk.reads),
            ),
            exact(
                f"{name}: mean seek between random sectors, by integration over the zones",
                f"{_RUEMMLER}; capacity of each cylinder as its weight",
                seek_s,
                "s",
                random_reads(spec, lambda disk: disk.seek_s / disk.reads),
            ),
            exact(
                f"{name}: mean time of a random read of 4 KiB",
                "sum of overhead, seek, half a turn and transfer",
                time_s,
                "s",
                random_reads(spec, lambda disk: disk.latency_s / disk.reads),
            ),
            Oracle(
                f"{name}: time of all zones under the head",
                "bytes over rate, summed over the zones",
                zone_sum_s(spec),
                zone_sum_s(spec),
                "s",
                sweep_s(spec),
                1,
                _LAST_TRACK,
            ),
        ]
    found.append(_whole_reading())
    spec = even("Exos-15E900-900GB")
    constant_s = spec.read_overhead + spec.seek_average + media_s(spec, SIZE)
    mean_s = constant_s + turn_s(spec) / 2
    second = mean_s**2 + turn_s(spec) ** 2 / 12
    for load in (0.3, 0.7):

        def busy(seed: int, load: float = load) -> float:
            engine = Engine(seed)
            return mean_latency(engine, HardDisk(engine, spec, "d"), load / mean_s, 6000)

        found.append(
            exact(
                f"a disk of constant seeks as M/G/1, {load:.0%} busy: time",
                "Pollaczek-Khinchine, with the moments of a wait evenly over a turn",
                theory.pollaczek_khinchine(load / mean_s, mean_s, second),
                "s",
                busy,
            )
        )
    for members, level, what in ((2, "raid1", "a write to RAID 1 of 2"), (4, "raid0", "a row of RAID 0 of 4")):
        time_s, simulate = last_of(members, level)
        source = "the largest of n even numbers: n / (n + 1) of a turn"
        found.append(exact(f"{what} disks of constant seeks: time", source, time_s, "s", simulate))
    return found


def _whole_reading() -> Oracle:
    """A small disk read from end to end by a host that always asks in time."""
    spec = hard_disk("Exos-15E900-900GB").with_values(capacity=8_000_000_000 // 512 * 512)
    time_s = zone_sum_s(spec, _SWEPT)
    return Oracle(
        "8 GB of an Exos-15E900-900GB read in order, from the second request: time",
        "bytes over rate, summed over the zones",
        time_s,
        time_s,
        "s",
        whole_reading_s(spec),
        1,
        _LAST_TRACK,
    )
