"""How long the flash of the drives lasts if they are written as in the run.

A data sheet promises a number of bytes that the host may write (TBW), or whole drives a day over the warranty (DWPD).
What wears the flash is what the drive programs: the host's bytes times the write amplification. So the promise is of

    E * A_sheet    bytes of flash,        and lasts        E * A_sheet / (w * A)

with the sheet's bytes E, the write amplification A_sheet of the load that the sheet is for, and the rate w (bytes/s)
and the write amplification A of the run.

Sources: JEDEC JESD218B (endurance is bytes written by the host until the flash is worn) and JESD219A (the loads: random
writes all over a server's drive, a desktop's recorded day).

Assumed: the sheet of a drive with capacitors is for random writes of 4 KiB all over it, in the steady state (as HPE
says of its drives for servers); that of another drive is for a write amplification of 1.

Limits: cells of one bit (the SLC cache) count as other cells, and what is folded after the run is not counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from ....model.core.exact_sums import sum_in_order
from ....model.solid_state.spec import SolidStateSpec
from ....model.solid_state.steady_state import write_amplification
from ...machine.drives import is_solid_state

if TYPE_CHECKING:
    from ....model.solid_state.drive import SolidState
    from ...machine.drives import Drive

WARRANTY_YEARS = 5.0
"""Years that drive writes a day are over: the warranty of drives for servers, and of most others."""
_YEAR_S = 365.25 * 86400
_LEAST_PROGRAMS = 20
"""Fewer programs of a die do not tell the write amplification; that of garbage collection now is taken then."""


@dataclass(frozen=True, slots=True)
class DriveWear:
    """The wear of one solid-state drive that is written.

    Attributes
    ----------
    drive
        Its name.
    write_rate
        Bytes/s that the host writes.
    amplification, sheet_amplification
        Bytes programmed for each that the host writes, in the run and in the load that the data sheet is for.
    endurance
        Bytes that the host may write by the data sheet.
    capacity
        Bytes of the drive.
    """

    drive: str
    write_rate: float
    amplification: float
    sheet_amplification: float
    endurance: int
    capacity: int

    @property
    def years(self) -> float:
        """How long a new drive lasts if it is written so all the time (years)."""
        return self.endurance * self.sheet_amplification / (self.write_rate * self.amplification) / _YEAR_S

    @property
    def drive_writes_per_day(self) -> float:
        """What the data sheet allows, as whole drives a day over the warranty (DWPD)."""
        return self.endurance / self.capacity / (WARRANTY_YEARS * 365)

    def document(self) -> dict[str, Any]:
        """As plain data."""
        return {**asdict(self), "years": self.years, "drive_writes_per_day": self.drive_writes_per_day}


def wear(drives: Iterable[Drive], span: float) -> tuple[DriveWear, ...]:
    """The wear of those drives that are solid state, were written, and have an endurance; the shortest life first.

    Parameters
    ----------
    drives
        All drives of the machine.
    span
        Seconds since their statistics began.
    """
    found = [
        DriveWear(
            each.name,
            each.write_bytes / span,
            _amplification(each),
            _sheet_amplification(each.spec),
            each.spec.endurance,
            each.spec.capacity,
        )
        for each in drives
        if is_solid_state(each) and each.write_bytes and each.spec.endurance is not None and span > 0
    ]
    return tuple(sorted(found, key=lambda each: each.years))


def wear_of_day(parts: Sequence[tuple[DriveWear, ...]], shares: Sequence[float]) -> tuple[DriveWear, ...]:
    """The wear of a day of phases, each with its share of the day; the shortest life first."""
    written: dict[str, list[tuple[float, DriveWear]]] = {}
    for part, share in zip(parts, shares, strict=True):
        for each in part:
            written.setdefault(each.drive, []).append((share, each))
    found = []
    for of_drive in written.values():
        rate = sum_in_order(share * each.write_rate for share, each in of_drive)
        flash = sum_in_order(share * each.write_rate * each.amplification for share, each in of_drive)
        found.append(replace(of_drive[0][1], write_rate=rate, amplification=flash / rate))
    return tuple(sorted(found, key=lambda each: each.years))


def _amplification(drive: SolidState) -> float:
    spec = drive.spec
    if spec.in_place:
        return 1.0
    program = spec.planes * spec.page * spec.bits_per_cell
    if drive.flash_bytes >= _LEAST_PROGRAMS * program:
        return drive.write_amplification
    return drive.standing_amplification / (1.0 - spec.parity_share)


def _sheet_amplification(spec: SolidStateSpec) -> float:
    if spec.in_place or not spec.power_loss_protection:
        return 1.0
    data_share = 1.0 - spec.parity_share
    return write_amplification(spec.capacity / (spec.flash * data_share)) / data_share
