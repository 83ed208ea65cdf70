"""A trace measured on a drive, replayed on the model of the drive.

The drive is alone, without host, kernel and links: the trace was measured at its connector. Each request is sent when
the one before is complete and its recorded think time is over, as when it was measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...model.core.engine import Engine
from ...model.core.errors import InputError
from ...model.core.request import DIRECT, READ, WAITED, Request
from ...model.disk.hard_disk import HardDisk
from ...model.disk.spec import DriveSpec
from ...model.files.description import Fraction, Spec
from ...model.files.description_errors import load_spec
from ...scenarios.traces.formats.record import MeasuredIo
from .demerit import Demerit

TRACES = Path(__file__).with_name("traces")
REFERENCE = Path(__file__).with_name("disksim.yaml")


@dataclass(frozen=True, slots=True)
class DriveCheck:
    """What the model of a drive makes of a measured trace.

    Attributes
    ----------
    all, reads, writes
        The demerits; None of a kind that the trace does not have.
    hits
        Share of the reads that the model's buffer served.
    """

    all: Demerit
    reads: Demerit | None
    writes: Demerit | None
    hits: float


class DiskSimResult(Spec):
    """What DiskSim 4.0 reaches on one of its validation traces, as shares of the measured means."""

    reads: Fraction
    """Demerit of the reads."""
    writes: Fraction
    """Demerit of the writes."""
    all: Fraction
    """Demerit of all requests."""
    deviation: Fraction
    """Mean absolute difference of a request."""


class DiskSimResults(Spec):
    """DiskSim's results by drive."""

    source: str
    """Where they come from."""
    drives: dict[str, DiskSimResult]
    """By the drive's name in the catalogue."""


@lru_cache(maxsize=1)
def disksim_results() -> dict[str, DiskSimResult]:
    """What DiskSim 4.0 reaches on the traces that come with raidsim, by drive."""
    return load_spec(DiskSimResults, REFERENCE).drives


def trace_of(drive: str) -> Path:
    """The measured trace of a drive of the catalogue that comes with raidsim."""
    return TRACES / f"{drive}.trace.gz"


def response_times(drive: DriveSpec, ios: Sequence[MeasuredIo], seed: int = 0) -> tuple[list[float], list[bool]]:
    """Replay measured I/Os on a drive: the response time (s) of each, and whether the read buffer served it.

    Parameters
    ----------
    drive
        The drive.
    ios
        Its I/Os, within its capacity.
    seed
        Sets the angle of the platters when the replay begins.
    """
    engine = Engine(seed)
    disk = HardDisk(engine, drive, "drive")
    times: list[float] = []
    hits: list[bool] = []
    left: Iterator[MeasuredIo] = iter(ios)
    think_s = 0.0

    def send(_: Any) -> None:
        nonlocal think_s
        io = next(left, None)
        if io is None:
            return
        think_s = io.think_s
        before = disk.cache_hits
        disk.submit(Request(io.op, io.offset, io.size, done, sync=WAITED if io.op == READ else DIRECT))
        hits.append(disk.cache_hits > before)

    def done(request: Request) -> None:
        times.append(engine.now - request.submitted)
        engine.call_at(engine.now + think_s, send)

    engine.call_at(0.0, send)
    engine.run()
    return times, hits


def check(
    drive: DriveSpec, ios: Sequence[MeasuredIo], place: str = "trace", replay: Callable[..., Any] = response_times
) -> DriveCheck:
    """Compare a drive's model with a trace measured on such a drive.

    Raises
    ------
    InputError
        If the trace is empty or reaches beyond the drive; the message begins with `place`.
    """
    if not ios:
        raise InputError(place, "found no I/O", "expected: at least one")
    furthest = max(io.offset + io.size for io in ios)
    if furthest > drive.capacity:
        raise InputError(
            place,
            f"found an I/O that ends at byte {furthest}",
            f"expected: at most {drive.capacity}, the drive's capacity",
        )
    times, hits = replay(drive, ios)

    def demerit(*ops: bool) -> Demerit | None:
        chosen = [(io.response_s, time) for io, time in zip(ios, times, strict=True) if (io.op == READ) in ops]
        return Demerit.of([measured for measured, _ in chosen], [simulated for _, simulated in chosen])

    everything = demerit(True, False)
    assert everything is not None
    reads = sum(io.op == READ for io in ios)
    return DriveCheck(everything, demerit(True), demerit(False), sum(hits) / reads if reads else 0.0)
