"""Symmetries: equal drives may change their places, and a machine whose drives take twice the time is half as fast."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...model.disk.spec import DriveSpec
from ...model.solid_state.spec import SolidStateSpec
from .law import Law, Violation
from .trial import Trial, clearly_below, differ

SAME = 0.9
"""Least throughput with members in another order, as a share."""
HALF = 0.45
"""Least throughput of drives that take twice the time, as a share: some of them fall out of step with the host."""
NO_FASTER = 0.95
_DISK_TIMES = (
    *("seek_track_to_track", "seek_average", "seek_full_stroke", "write_settle", "head_switch"),
    *("read_overhead", "write_overhead", "hit_overhead", "command_time"),
)
_DISK_RATES = ("outer_media_rate", "inner_media_rate", "interface_rate")
_FLASH_TIMES = (
    *("read_time", "program_time", "erase_time", "slc_read_time", "slc_program_time", "suspend_time"),
    *("read_overhead", "write_overhead", "flush_time", "unit_time"),
)
_FLASH_RATES = ("interface_rate", "channel_rate")


def _alike(trial: Trial) -> bool:
    """Whether all drives are one model, without anything that differs between them."""
    drives = trial.data.get("machine", {}).get("drives", {})
    return isinstance(drives, dict) and "count" in drives and not set(drives) - {"model", "count", "state"}


def _swaps(trial: Trial) -> bool:
    arrays = trial.spec.arrays
    if trial.closed is None or trial.outcome.iops == 0 or not _alike(trial) or not arrays or trial.spec.failures:
        return False
    return all(
        not (array.failed or array.rebuilding or array.write_mostly)
        and set(array.members) <= set(trial.spec.machine.drives)
        for array in arrays.values()
    )


def _swapped(trial: Trial) -> Iterator[Violation]:
    changed = {f"arrays.{name}.members": list(reversed(each.members)) for name, each in trial.spec.arrays.items()}
    other = trial.varied(changed)
    if other is None:
        return
    before, after = trial.outcome.rate, other.outcome.rate
    if differ(after, before, SAME):
        yield Violation(
            "swapped",
            f"{after.mean / 1e6:,.4g} MB/s with the members in reverse order",
            f"{before.mean / 1e6:,.4g} MB/s, as before",
        )


def slower(spec: DriveSpec | SolidStateSpec) -> dict[str, Any]:
    """Overrides by which a drive takes twice the time for everything."""
    disk = isinstance(spec, DriveSpec)
    found: dict[str, Any] = {}
    for name in _DISK_TIMES if disk else _FLASH_TIMES:
        value = getattr(spec, name, None)
        if value:
            found[name] = f"{2 * value:.12g}s"
    for name in _DISK_RATES if disk else _FLASH_RATES:
        found[name] = f"{getattr(spec, name) / 2:.12g}B/s"
    if isinstance(spec, DriveSpec):
        found["rotation"] = f"{spec.rotation / 2:.12g}rpm"
    else:
        found["command_rate"] = spec.command_rate / 2
    return found


def _slows(trial: Trial) -> bool:
    if trial.closed is None or trial.outcome.iops == 0 or not _alike(trial) or trial.spec.failures:
        return False
    specs = [each.spec() for each in trial.spec.machine.drives.values()]
    busy = any(array.resync or array.rebuilding for array in trial.spec.arrays.values())
    return not busy and all(isinstance(each, DriveSpec) or not each.in_submission for each in specs)


def _slower(trial: Trial) -> Iterator[Violation]:
    spec = next(iter(trial.spec.machine.drives.values())).spec()
    other = trial.varied({f"machine.drives.overrides.{name}": value for name, value in slower(spec).items()})
    if other is None:
        return
    before, after = trial.outcome.rate, other.outcome.rate
    if clearly_below(after, before, HALF) or clearly_below(before, after, NO_FASTER):
        yield Violation(
            "slower",
            f"{after.mean / 1e6:,.4g} MB/s with drives that take twice the time",
            f"half of {before.mean / 1e6:,.4g} MB/s to all of it",
        )


SWAPPED = Law(
    "swapped",
    "Equal drives in another order give the same throughput.",
    "loads with a depth on arrays of equal drives that are whole",
    f"{1 - SAME:.0%}, and the 90 % intervals of both figures doubled: where the platters are is chance",
    _swapped,
    _swaps,
    runs=1,
)
SLOWER = Law(
    "slower",
    "Drives that take twice the time for everything give half the throughput or more, and not more than before.",
    "loads with a depth on equal drives",
    f"{0.5 - HALF:.0%} of the throughput below and {1 - NO_FASTER:.0%} above, and the 90 % intervals doubled: timers "
    "of the kernel stay as they are",
    _slower,
    _slows,
    runs=1,
)
