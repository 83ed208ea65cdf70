"""What an I/O costs, by part of the model: a profile of two whole scenarios, added up by the file that takes the time.

The profiler makes calls dearer than they are, so only the shares are taken from it; they are scaled to the CPU time of
the same run without it. What built-in functions take counts for whoever calls them.
"""

from __future__ import annotations

import cProfile
import pstats
from dataclasses import dataclass
from pathlib import PurePath
from time import process_time

from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.machine.machine import BuiltMachine

_MACHINE = """
machine: {model: %s, drives: {model: %s, count: %d}}
arrays: {md0: {level: %s, chunk: 64KiB}}
workload: {kind: load, block_size: 4KiB, read_share: 70%%, jobs: 4, depth: 8, warm_up: 0s, duration: 1h}
"""
SCENARIOS = {
    "8 SATA disks, RAID 5": (_MACHINE % ("server", "WD5000AAKS", 8, "raid5"), 40.0),
    "4 NVMe drives, RAID 10": (_MACHINE % ("nvme-server", "Samsung-PM9A3-3840GB", 4, "raid10"), 0.06),
}
"""Scenario, and simulated seconds of it."""
_WARM = 0.25
PARTS = {
    "clock: events": ("model/core", "simpy"),
    "load and statistics": ("model/loads", "model/statistics"),
    "CPU": ("model/tasks",),
    "queue and I/O scheduler": ("model/block", "model/schedulers"),
    "array: mapping": ("model/layouts",),
    "array: driver": ("model/raid",),
    "links": ("model/links",),
    "hard disk": ("model/disk",),
    "solid-state drive": ("model/solid_state",),
}
"""Folders by part, each with the folders below it."""
_OTHER = "other"


@dataclass(frozen=True, slots=True)
class PartTimes:
    """What a member I/O of one scenario costs.

    Attributes
    ----------
    us
        CPU time (us) per member I/O by part.
    events
        Events per member I/O.
    """

    name: str
    us: dict[str, float]
    events: float


def parts(share: float = 1.0) -> list[PartTimes]:
    """Both scenarios, or a `share` of their time."""
    return [_measured(name, text, seconds * share) for name, (text, seconds) in SCENARIOS.items()]


def _measured(name: str, text: str, seconds: float) -> PartTimes:
    machine = BuiltMachine(document_from(text).spec())
    engine = machine.engine
    engine.run_to(_WARM * seconds)

    def ios() -> int:
        return sum(disk.reads + disk.writes for disk in machine.disks.values())

    before, events, begin = ios(), engine.scheduled_events, process_time()
    engine.run_to((_WARM + 0.5) * seconds)
    plain_s, done = process_time() - begin, max(1, ios() - before)
    events_each = (engine.scheduled_events - events) / done
    profile = cProfile.Profile()
    profile.runcall(engine.run_to, (_WARM + 1.0) * seconds)
    times = _by_part(profile)
    whole = sum(times.values()) or 1.0
    each_us = plain_s / done * 1e6
    return PartTimes(name, {part: each_us * time / whole for part, time in times.items()}, events_each)


def _by_part(profile: cProfile.Profile) -> dict[str, float]:
    """Seconds by part, as profiled."""
    found = dict.fromkeys([*PARTS, _OTHER], 0.0)
    stats: dict[tuple[str, int, str], tuple[int, int, float, float, dict[tuple[str, int, str], tuple[float, ...]]]]
    stats = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    for (file, _, _), (_, _, own_s, _, callers) in stats.items():
        if file != "~":
            found[_part(file)] += own_s
            continue
        for (caller, _, _), values in callers.items():
            found[_part(caller)] += values[2]
    return found


def _part(file: str) -> str:
    path = f"{PurePath(file).parent.as_posix()}/"
    return next((part for part, folders in PARTS.items() if any(f"/{folder}/" in path for folder in folders)), _OTHER)


def as_text(found: list[PartTimes]) -> str:
    """A table: CPU time of a member I/O by part."""
    lines = [f"{'CPU time of a member I/O':<26}" + "".join(f" {one.name:>28}" for one in found)]
    for part in [*PARTS, _OTHER]:
        cells = ""
        for one in found:
            us, whole = one.us[part], sum(one.us.values()) or 1.0
            cells += f" {us:>17.2f} us {us / whole:>6.1%}"
            cells += " "
        lines.append(f"{part:<26}{cells}".rstrip())
    lines.append(f"{'all':<26}" + "".join(f" {sum(one.us.values()):>17.2f} us        " for one in found).rstrip())
    lines.append(
        f"{'events per member I/O':<26}" + "".join(f" {one.events:>17.2f}           " for one in found).rstrip()
    )
    return "\n".join(lines)
