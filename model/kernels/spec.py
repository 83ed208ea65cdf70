"""The description of a kernel, and its catalogue."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator

from ..errors import InputError
from ..spec import Duration, Fraction, PositiveSize, Rate, Size, Spec, refusal
from ..spec_errors import load_spec

_FOLDER = Path(__file__).parent


class CacheSection(Spec):
    """Page cache of raw block devices: block size, and dirty limits as shares of memory."""

    block: PositiveSize
    flush_above: Fraction
    flush_below: Fraction
    limit: Fraction
    duty: PositiveSize
    flush_pass: PositiveSize
    flush_run: PositiveSize
    memory: Literal["low", "all"]
    source: str


class ReadAheadSection(Spec):
    """Largest read-ahead window, on a plain device and per data disk of a parity array."""

    policy: Literal["2.4", "2.6"]
    window: PositiveSize
    parity_chunks: int
    parity_least: Size
    source: str

    def window_for_parity(self, data_disks: int, chunk_bytes: int) -> int:
        """Window (bytes) on RAID 4/5/6 of `data_disks` with chunks of `chunk_bytes`."""
        return max(self.window, data_disks * max(self.parity_chunks * chunk_bytes, self.parity_least))


class QueueSection(Spec):
    """Request queue and I/O scheduler."""

    scheduler: Literal["linus", "anticipatory", "noop"]
    max_request: PositiveSize
    limit: PositiveSize
    limit_requests: int
    plug_requests: int
    plug_delay: Duration
    read_passes: int = 0
    write_passes: int = 0
    read_batch: Duration = 0.5
    write_batch: Duration = 0.125
    anticipation: Duration = 0.006
    read_expire: Duration = 0.125
    write_expire: Duration = 0.25
    source: str


class Raid5Section(Spec):
    """Stripe cache."""

    heads: int
    head: PositiveSize
    hold: Duration
    copies_reads: bool
    source: str


class Raid1Section(Spec):
    """Read balance and resync granularity."""

    balance: Literal["md-2.4", "md-2.6", "primary"]
    resync_request: PositiveSize
    resync_depth: int
    source: str


class ResyncSection(Spec):
    """Speed limits (defaults) and what the thread sees of other I/O."""

    speed_min: Rate
    speed_max: Rate
    window: PositiveSize
    unseen_majors_from: int | None
    source: str


class KernelSpec(Spec):
    """One kernel."""

    version: str
    cache: CacheSection
    read_ahead: ReadAheadSection
    queue: QueueSection
    raid5: Raid5Section
    raid1: Raid1Section
    resync: ResyncSection


def kernel_names() -> list[str]:
    """The kernels in the catalogue."""
    return sorted(path.stem for path in _FOLDER.glob("*.yaml"))


@cache
def kernel(name: str, place: str = "kernel") -> KernelSpec:
    """The kernel called `name` ("linux-2.6.8").

    Raises
    ------
    InputError
        If there is none; names those there are.
    """
    path = _FOLDER / f"{name}.yaml"
    if name not in kernel_names():
        raise InputError(place, f"unknown kernel {name!r}", f"allowed: {', '.join(kernel_names())}")
    return load_spec(KernelSpec, path)


def _known(name: str) -> str:
    if name not in kernel_names():
        raise refusal(f"unknown kernel {name!r}", f"allowed: {', '.join(kernel_names())}")
    return name


KernelName = Annotated[str, AfterValidator(_known)]
"""Name of a kernel in the catalogue."""
