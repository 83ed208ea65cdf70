"""Upper bounds: no medium, interface, link or command processor moves more than it can."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...model.disk.spec import DriveSpec
from ...model.links.link import DuplexLink, Link
from ...model.solid_state.spec import SolidStateSpec
from ...scenarios.description.workloads import DdSpec
from ...scenarios.running.base.supply import supply
from .law import Law, Violation
from .trial import Trial

TOLERANCE = 0.02
COMMANDS = (
    (r"FC-AL|SCSI", 40_000.0),
    (r"ATA UDMA|PATA", 40_000.0),
    (r"SATA", 200_000.0),
    (r"SAS", 400_000.0),
)
"""Commands a second of one drive by its interface, at most. Parallel buses take some 20 us for arbitration, selection,
command and status phases (SPI-2) or eight register writes and an interrupt (ATA/ATAPI-6). SATA takes a command, a setup
and a completion FIS with their handshakes, 5 us: the fastest SATA drives are rated 100,000. SAS drives are rated up to
half of 400,000. Solid-state drives on PCIe have a command rate of their own in the catalogue."""
_HALF_DUPLEX = re.compile("ATA|SCSI|FC-AL")
"""Interfaces that move data one way at a time. (Fibre Channel loops of that time were used one way at a time.)"""
_MEMORY = "memory"
"""Interface of block devices in memory, which each core copies from."""
_PIECE = 1 << 20
"""A transfer of this size (bytes) may count at one end of the measurement, though it began before."""


def _measured(trial: Trial) -> bool:
    return trial.outcome.run.span > 0


def _interface(trial: Trial) -> Iterator[Violation]:
    outcome = trial.outcome
    span = outcome.run.span
    for name, drive in outcome.run.machine.disks.items():
        spec = drive.spec
        rate = spec.interface_rate
        if spec.interface == _MEMORY:
            continue
        ways = {"reads": drive.read_bytes, "writes": drive.write_bytes}
        if _HALF_DUPLEX.search(spec.interface):
            ways = {"both ways together": drive.read_bytes + drive.write_bytes}
        for way, moved in ways.items():
            if moved > (1 + TOLERANCE) * rate * span + _PIECE:
                yield Violation(
                    "interface",
                    f"{name} moves {_rate(moved / span)} ({way})",
                    f"{_rate(rate)} of its interface, {spec.interface}",
                )
        most = _most_commands(spec)
        commands = (drive.reads + drive.writes) / span
        # What its processor had done before the measurement began may be complete during it.
        inside = max(1, spec.queue_depth)
        if commands > (1 + TOLERANCE) * most + inside / span:
            yield Violation("commands", f"{name} takes {commands:,.0f} commands/s", f"up to {most:,.0f}")


def _most_commands(spec: DriveSpec | SolidStateSpec) -> float:
    own = float("inf") if isinstance(spec, DriveSpec) else spec.command_rate
    by_interface = next((rate for pattern, rate in COMMANDS if re.search(pattern, spec.interface)), float("inf"))
    return min(own, by_interface)


def _links(trial: Trial) -> Iterator[Violation]:
    run = trial.outcome.run
    load = trial.load
    largest = _PIECE if load is None else max(_PIECE, *map(max, load.sizes))
    booked = largest * max(1, sum(drive.outstanding for drive in run.machine.disks.values()))
    for link in run.machine.all_links:
        ways: tuple[Link, ...] = link.ways if isinstance(link, DuplexLink) else (link,)
        for way in ways:
            rate = max(way.rate, way.write_rate)
            if way.bytes_moved > (1 + TOLERANCE) * rate * run.span + booked:
                yield Violation(
                    "links",
                    f"{link.name} moves {_rate(way.bytes_moved / run.span)} ({way.name})",
                    f"up to {_rate(rate)}",
                )


def _media_applies(trial: Trial) -> bool:
    in_memory = any(drive.spec.interface == _MEMORY for drive in trial.outcome.run.machine.disks.values())
    return not in_memory and (trial.load is not None or isinstance(trial.spec.workload, DdSpec))


def _media(trial: Trial) -> Iterator[Violation]:
    spec, found = trial.spec, trial.outcome.prediction
    workload, load = spec.workload, trial.load
    if isinstance(workload, DdSpec):
        bound = supply(spec, workload.targets, workload.direction)
        seconds, moved = found.seconds, float(workload.size * len(workload.targets))
        targets: tuple[str, ...] = workload.targets
    elif load is not None and load.pattern == "sequential" and load.read_share in (0, 1):
        bound = supply(spec, load.targets, "read" if load.read_share else "write")
        targets = load.targets
        reach = sum((load.span or spec.capacity(target) - load.start) for target in targets)
        seconds, moved = found.measured_s, min(found.rate * found.measured_s, float(reach))
    else:
        return
    if moved > (1 + TOLERANCE + 0.01) * bound.most(seconds):
        yield Violation(
            "media",
            f"{_rate(moved / seconds)} for {seconds:.4g} s",
            f"up to {_rate(bound.most(seconds) / seconds)} of media and caches",
        )


def _rate(rate: float) -> str:
    return f"{rate / 1e6:,.4g} MB/s"


INTERFACE = Law(
    "interface",
    "No drive moves more data than its interface, each way where that has two, or takes more commands than its "
    "interface and its controller can.",
    "all scenarios",
    "2 %, and a transfer of 1 MiB or a command under way at the ends of the measurement",
    _interface,
    _measured,
)
LINKS = Law(
    "links",
    "No link moves more than its rate, in each direction.",
    "all scenarios",
    "2 %, and what the drives have outstanding: a transfer counts when it is booked",
    _links,
    _measured,
)
MEDIA = Law(
    "media",
    "A run that touches each byte once moves no more than media and caches can give or take in its time.",
    "dd on devices, and loads in order of one direction",
    "3 %: chunks that are cut off and commands under way at the ends of the measurement",
    _media,
    _media_applies,
)
