"""A drive in the midst of a load: how busy that makes its parts, and what of it is under way at any moment.

A drive whose flash programs less than it is sent fills its buffer, and every write then waits for a program. That takes
thousands of writes, and until then it looks faster than it is. But how full the buffer is in the end is
known as soon as the load is: full if any part of the flash has more to do than it can (utilisation law), and otherwise
what is written while a program lasts (Little's law). So that much is put there, as units written at random, with the
programs and the collection that they owe; the programs under way are anywhere between their beginning and their end.

Sources: Denning and Buzen, "The operational analysis of queueing network models", ACM Computing Surveys 1978 (both
laws); write amplification as :mod:`.superblocks` has it.

Limits: the reads of collection and the transfers of what is under way are over; without cells of one bit.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..core.engine import Engine
from .drive import SolidState
from .flash import CODEWORD
from .spec import SolidStateSpec

_UNITS = 4096
"""Random numbers drawn at once."""


def stands(drive: SolidState, engine: Engine, read_rate: float, write_rate: float) -> None:
    """Put a drive that has been in use for long into the midst of a load.

    Parameters
    ----------
    drive
        Which has begun with the load, and whose buffer therefore holds less than it will.
    engine
        Its clock.
    read_rate, write_rate
        Bytes/s that it is asked to read and to write.
    """
    spec = drive.spec
    amplification = drive.standing_amplification
    busy = busiest_share(spec, amplification, read_rate, write_rate)
    held = spec.write_buffer if busy > 1 else min(spec.write_buffer, int(write_rate * spec.program_time))
    drive.hold(held, _units(drive, engine))


def can_stand(drive: SolidState) -> bool:
    """Whether a drive has been in use for long, and has no cells with one bit that would first have to be full."""
    return drive.state == "steady" and not drive.spec.slc_cache


def busiest_share(spec: SolidStateSpec, amplification: float, read_rate: float, write_rate: float) -> float:
    """How busy the busiest part of the flash is under a load in small pieces; above 1 it cannot keep up.

    Parameters
    ----------
    spec
        The drive.
    amplification
        Units programmed for each that the host writes.
    read_rate, write_rate
        Bytes/s.
    """
    spec = spec.by_commands
    line = spec.planes * spec.page
    programs = write_rate * amplification / (line * spec.bits_per_cell * (1.0 - spec.parity_share))
    program_s = programs * spec.program_time
    moved = write_rate * (amplification - 1.0)
    valid = 1.0 - 1.0 / amplification
    reads = read_rate / CODEWORD
    suspended = reads * min(1.0, program_s / spec.dies) * (spec.suspend_time or 0.0)
    gathered_s = moved / max(spec.mapping_unit, line * valid) * spec.read_time
    shares = [
        (program_s + gathered_s + reads * spec.read_time + suspended) / spec.dies,
        (read_rate + write_rate * amplification + moved) / (spec.channel_rate * spec.channels),
    ]
    if spec.programs_at_once is not None:
        shares.append(program_s / min(spec.programs_at_once, spec.dies))
    return max(shares)


def _units(drive: SolidState, engine: Engine) -> Iterator[int]:
    """Units anywhere on the drive, without end."""
    random = engine.streams.generator(f"{drive.name}/standing")
    count = drive.capacity // drive.spec.mapping_unit
    while True:
        yield from random.integers(0, count, _UNITS).tolist()
