"""How much work a run may be, and how long it measures so that it is that much.

The work of a run is about the number of commands that its drives serve. How many they serve in a second at the most
follows from the drives and from the I/Os outstanding; the simulated time follows from that, so that a run takes a
second or so whether it is of one old hard disk or of two dozen NVMe drives.
"""

from __future__ import annotations

from dataclasses import fields

from ... import InputError
from ...api.answer.units import format_duration
from ...api.support.explorer import top_parts
from ...model.disk.spec import DriveSpec
from ...model.drives.catalogue import AnyDrive
from ...model.layouts import LEVELS
from ...model.loads.pattern import LoadPattern
from ...scenarios.description.any_workload import LoadsSpec
from ...scenarios.description.arrays import ArraySpec
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.description.workloads import LoadSpec

PRECISIONS = {"short": 0.1, "normal": 0.05, "long": 0.02}
"""How well the speed is known after a run of each length (90 % interval), unless a drive fails in it."""
COMMANDS = {"short": 4_000, "normal": 12_000, "long": 60_000}
"""Commands of the drives that a run of each length has in which a drive fails, about."""
MOST_COMMANDS = 400_000
"""What a scenario of a file may come to; the wall clock (:mod:`raidsim.web.work.runs`) stops what takes longer than
thought."""
LONGEST_S, SHORTEST_S = 60.0, 0.02
WARM_UP = 0.2
"""Share of the measured time that is simulated before it."""
_HOST_S = 10e-6
"""Below this no I/O comes back, whatever the drive."""
_ROTATION_SHARE, _SEEK_SHARE = 0.25, 0.4
"""Of a turn and of the average seek that a full queue costs at the least."""
_MIXED = {each.name: each.default for each in fields(LoadPattern) if isinstance(each.default, float)}
"""What runs of I/Os in order are like unless the load says otherwise."""


def duration_for(spec: ScenarioSpec, length: str) -> tuple[float, float]:
    """Measured time and warm-up (s) of a run of a length, by what a scenario can do at most."""
    wanted = COMMANDS[length] / commands_per_second(spec)
    measured = min(LONGEST_S, max(SHORTEST_S, wanted))
    return float(f"{measured:.2g}"), float(f"{measured * WARM_UP:.2g}")


def check_work(spec: ScenarioSpec) -> None:
    """Refuse a load that takes too long to simulate.

    Raises
    ------
    InputError
        Naming the expected work and the time that would be allowed. A workload that is not a load of direct I/O is
        left to the wall clock.
    """
    workload = spec.workload
    if not isinstance(workload, LoadSpec):
        return
    for name, _, load in workload.parts():
        part = spec.model_copy(update={"workload": load})
        rate = commands_per_second(part)
        seconds = load.duration + load.warm_up
        if _begun(part, load) > MOST_COMMANDS / 2:
            found = f"{load.depth * load.jobs:,} outstanding I/Os of each target"
            raise InputError("workload.depth", found, "expected here: fewer, or smaller ones; more with raidsim run")
        # With a precision it ends when its speed is known, and else by the wall clock.
        if load.precision is None and rate * seconds > MOST_COMMANDS:
            place = f"workload.phases {name}: duration" if name else "workload.duration"
            found = f"{format_duration(seconds)} with up to {rate:,.0f} commands of the drives a second"
            most = format_duration(MOST_COMMANDS / rate)
            raise InputError(place, found, f"expected here: at most {most} with warm_up; longer with raidsim run")


def commands_per_second(spec: ScenarioSpec) -> float:
    """Commands that the drives of a scenario serve, or I/Os that come, in a second at the most, about."""
    load = spec.workload
    if isinstance(load, LoadsSpec):
        return sum(commands_per_second(spec.model_copy(update={"workload": each})) for each in load.loads)
    assert isinstance(load, LoadSpec)
    size = load.mean_size
    drives = [spec.machine.drives[leaf].spec() for part in top_parts(spec) for leaf in part.leaves]
    if not drives:
        drives = [instance.spec() for instance in spec.machine.drives.values()]
    most = sum(_drive_rate(drive, load, size) for drive in drives)
    each = max([_commands(array, load, size) for array in spec.arrays.values()], default=1.0)
    if load.job_iops is not None:
        # What comes has to be taken note of, whether it can be done or not.
        come = load.job_iops * load.jobs * len(load.targets)
        pieces = max([1.0, *(size / array.chunk for array in spec.arrays.values())])
        return max(1.0, come * pieces, min(most, come * each))
    outstanding = load.depth * load.jobs * len(load.targets)
    return max(1.0, min(most, outstanding * each / (load.think_time + _fastest_s(drives[0], load, size))))


def _begun(spec: ScenarioSpec, load: LoadSpec) -> float:
    """Commands that are under way from the beginning."""
    each = max([_commands(array, load, load.mean_size) for array in spec.arrays.values()], default=1.0)
    return load.depth * load.jobs * len(load.targets) * each


def _drive_rate(drive: AnyDrive, load: LoadSpec, size: float) -> float:
    """Commands a second of one drive that always has some."""
    moved = size / drive.interface_rate
    if not isinstance(drive, DriveSpec):
        return min(drive.command_rate, 1.0 / max(moved, 1e-7))
    arm = _SEEK_SHARE * drive.seek_average + _ROTATION_SHARE * 60.0 / drive.rotation
    in_order = max(size / drive.outer_media_rate, moved + drive.hit_overhead, 1e-5)
    jumps = _jumps(load)
    return 1.0 / (jumps * (arm + size / drive.outer_media_rate) + (1.0 - jumps) * in_order)


def _jumps(load: LoadSpec) -> float:
    """Share of the I/Os that do not follow the one before."""
    if load.pattern != "mixed":
        return float(load.pattern == "random")
    share = _MIXED["sequential_share"] if load.sequential_share is None else load.sequential_share
    return 1.0 - share * (1.0 - 1.0 / (load.run_length or _MIXED["run_length"]))


def _fastest_s(drive: AnyDrive, load: LoadSpec, size: float) -> float:
    """What one I/O takes at the least (s), if nothing else is under way."""
    moved = size / drive.interface_rate
    if isinstance(drive, DriveSpec):
        if _jumps(load) == 1.0 and load.read_share > 0:
            return _HOST_S + 1.0 / _drive_rate(drive, load, size)
        return _HOST_S + moved
    reads = load.read_share * drive.read_time
    return _HOST_S + min(drive.read_overhead, drive.write_overhead) + reads + moved


def _commands(array: ArraySpec, load: LoadSpec, size: float) -> float:
    """Commands of the drives for one I/O on average, about."""
    pieces = max(1.0, size / array.chunk)
    level = LEVELS[array.level]
    if level.has_parity:
        writes = float(level.small_write_ios) if pieces < len(array.members) - 1 else 2.0
    elif level.is_mirror:
        writes = float(len(array.members))
    else:
        writes = float(array.copies or 2) if level.has_mirrors else 1.0
    reads = float(len(array.members)) if level.redundancy == "byte parity" else 1.0
    return pieces * (load.read_share * reads + (1.0 - load.read_share) * max(reads, writes))
