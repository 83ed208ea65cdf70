"""What an operator does to a served array while its clients run: fail drives, insert new ones, check, and hurt them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from math import isfinite
from typing import Any

from ..model.core.errors import ArrayFailed, InputError, ModelError
from ..model.files.quantities import format_duration, format_rate, format_size
from ..model.raid.resync.spares import HotSpares, MemberSlot
from .array import ServedArray

DEFAULT_RETRY_S = 7.0
"""Seconds that a drive tries to read a bad sector; assumed: the usual limit of error recovery (TLER, ERC) of drives
made for RAID. A desktop drive may try for longer than the 30 s after which Linux gives up."""
MOST_RETRY_S = 30.0
"""Linux resets a drive that has not answered by then (drivers/scsi/sd.h, SD_TIMEOUT)."""
MOST_SLOWNESS = 1000.0
_SECTORS = 4096


class Service:
    """An operator's hands.

    Parameters
    ----------
    array
        The served array, built to be serviced.
    """

    def __init__(self, array: ServedArray) -> None:
        self._array = array
        self._machine = array.machine
        self._bays: dict[str, str] = {drive: drive for drive in array.machine.disks}
        self._pulled: dict[str, HotSpares] = {}
        self._least_speeds: dict[str, float] = {}

    def fail(self, drive: str) -> str:
        """Fail a member; what was done, in words.

        Raises
        ------
        InputError
            If it is no member, or the array does not survive that.
        """
        spares, slot = self._member(drive)
        array = self._machine.arrays[self._name_of(spares)]
        if slot in array.rebuilding:
            raise InputError("drive", f"found {drive}, which is being rebuilt", "expected: a member that is whole")
        try:
            spares.fail(slot)
        except (ArrayFailed, ModelError) as error:
            raise InputError(
                "drive", f"found {drive} ({error})", "expected: a member that the array survives"
            ) from None
        self._pulled[drive] = spares
        rebuilt = next((array.members[each].device.name for each in array.rebuilding), None)
        return f"{drive} has failed; " + (
            f"rebuilding onto {_short(rebuilt)}" if rebuilt else f"{array.name} is degraded"
        )

    def insert(self, drive: str) -> str:
        """Put a new drive into the bay of a failed one: it is rebuilt onto, or stands by as a spare."""
        spares = self._pulled.pop(drive, None) or self._missing_from_the_start(drive)
        if spares is None:
            raise InputError("drive", f"found {drive}", f"expected: a failed drive ({_listed(self._failed())})")
        array = self._machine.arrays[self._name_of(spares)]
        bay = self._bays.get(drive)
        if bay is None:
            raise InputError("drive", f"found {drive}, which is part of a drive", "expected: a whole drive")
        number = 2
        while (name := f"{bay}-{number}") in self._machine.disks:
            number += 1
        self._bays[name] = bay
        spares.insert(self._machine.add_drive(name, bay))
        used = any(_short(array.members[slot].device.name) == name for slot in array.rebuilding)
        return f"{name} is in the bay of {drive}: " + (f"{array.name} rebuilds onto it" if used else "a hot spare")

    def scrub(self, name: str | None = None) -> str:
        """Check an array (default: the first that can be checked): read everything and compare."""
        known = list(self._machine.spares)
        chosen = name if name is not None else (known or [""])[0]
        if chosen not in self._machine.spares:
            raise InputError("array", f"found {chosen or 'no array'}", f"expected: {_listed(known)}")
        resync = self._machine.resyncs.get(chosen)
        if resync is not None and resync.report.finished_s is None:
            raise InputError("array", f"found {chosen} in {resync.action}", "expected: an array at rest")
        try:
            self._machine.spares[chosen].scrub()
        except ModelError as error:
            raise InputError("array", f"found {error}", "expected: a whole array that is not being checked") from None
        return f"{chosen} is being checked"

    def limit(self, rate: float, name: str | None = None) -> str:
        """Let the rebuild or check at work (default: all of them) go at `rate` (bytes/s of a member) at most.

        That is md's ``sync_speed_max``. The thread compares it with its mean speed in the last half minute.
        """
        found = {array: resync for array, resync in self._array.at_work() if name in (None, array)}
        if not found:
            known = _listed(array for array, _ in self._array.at_work())
            raise InputError("array", f"found {name or 'no array'} without a rebuild or check", f"expected: {known}")
        for array, resync in found.items():
            least = self._least_speeds.setdefault(array, resync.settings.speed_min)
            resync.settings = replace(resync.settings, speed_min=min(rate, least), speed_max=rate)
        words = {"recover": "rebuild"}
        named = " and ".join(f"{words.get(each.action, each.action)} of {array}" for array, each in found.items())
        return f"{named}: {format_rate(rate)} at most"

    def slow(self, drive: str, factor: float) -> str:
        """Make each command of a drive take `factor` times as long, one after the other; 1: as it should be."""
        if not (isfinite(factor) and 1 <= factor <= MOST_SLOWNESS):
            raise InputError("factor", f"found {factor:g}", f"expected: 1 to {MOST_SLOWNESS:g}")
        self._drive(drive).slowness = float(factor)
        return f"{drive} is as fast as it should be" if factor == 1 else f"{drive} is {factor:g} times slower"

    def latent(self, drive: str, offset: int, size: int = _SECTORS, retry_s: float = DEFAULT_RETRY_S) -> str:
        """Make a range of a member unreadable: a drive that is asked for it retries for `retry_s`, and gives up."""
        faults = self._drive(drive)
        spares, slot = self._member(drive)
        array = self._machine.arrays[self._name_of(spares)]
        capacity = array.members[slot].capacity
        if offset % _SECTORS or not 0 <= offset < capacity:
            raise InputError("offset", f"found {offset}", f"expected: a multiple of {_SECTORS} below {capacity}")
        if size % _SECTORS or not 0 < size <= capacity - offset:
            raise InputError("size", f"found {size}", f"expected: a multiple of {_SECTORS}, to the end of the drive")
        if not (isfinite(retry_s) and 0 <= retry_s <= MOST_RETRY_S):
            raise InputError("retry", f"found {retry_s:g} s", f"expected: 0 to {MOST_RETRY_S:g} s")
        spares.spoil(slot, offset, size, partial(faults.retry, retry_s))
        return f"{drive} cannot read {format_size(size)} at {offset}; it retries for {format_duration(retry_s)}"

    def status(self) -> dict[str, Any]:
        """The state of arrays and drives as plain data."""
        arrays = {}
        for name, array in self._machine.arrays.items():
            failed = sorted(array.failed - array.rebuilding)
            arrays[name] = {
                "members": [_short(_occupant(member)) for member in array.members],
                "failed": [_short(_occupant(array.members[slot])) for slot in failed],
                "rebuilding": [_short(_occupant(array.members[slot])) for slot in sorted(array.rebuilding)],
                "spares": self._machine.spares[name].left if name in self._machine.spares else 0,
            }
        slow = {name: drive.slowness for name, drive in self._machine.faults.items() if drive.slowness != 1.0}
        return {"arrays": arrays, "slow": slow}

    def _drive(self, name: str) -> Any:
        faults = self._machine.faults.get(name)
        if faults is None:
            raise InputError("drive", f"found {name}", f"expected: {_listed(self._machine.faults)}")
        return faults

    def _members(self) -> Iterator[tuple[str, HotSpares, int]]:
        """Members that work or are being rebuilt."""
        for name, spares in self._machine.spares.items():
            array = self._machine.arrays[name]
            for slot, member in enumerate(array.members):
                if slot not in array.failed - array.rebuilding:
                    yield _short(_occupant(member)), spares, slot

    def _member(self, drive: str) -> tuple[HotSpares, int]:
        found = {name: (spares, slot) for name, spares, slot in self._members()}
        if drive not in found:
            raise InputError("drive", f"found {drive}", f"expected: a working member ({_listed(found)})")
        return found[drive]

    def _name_of(self, spares: HotSpares) -> str:
        return next(name for name, each in self._machine.spares.items() if each is spares)

    def _missing(self) -> Iterator[tuple[str, HotSpares]]:
        for name, spares in self._machine.spares.items():
            array = self._machine.arrays[name]
            for slot in sorted(array.failed - array.rebuilding):
                yield _short(_occupant(array.members[slot])), spares

    def _missing_from_the_start(self, drive: str) -> HotSpares | None:
        return dict(self._missing()).get(drive)

    def _failed(self) -> list[str]:
        return sorted({*self._pulled, *(name for name, _ in self._missing())})


def _occupant(member: Any) -> str:
    """The name of what is in a slot."""
    name: str = member.device.name if isinstance(member, MemberSlot) else member.name
    return name


def _short(name: str | None) -> str:
    """A drive's name without that of its controller ("ctl/disk0")."""
    return "" if name is None else name.rpartition("/")[2]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
