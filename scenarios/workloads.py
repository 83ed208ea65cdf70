"""Workloads as data: what loads the machine."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, field_validator, model_validator

from ..model.spec import Duration, Fraction, PositiveDuration, PositiveSize, Size, Spec, refusal
from .programs import ProgramsSpec

SECTOR = 512
_ALIGNED = 1 << 20
MOST_OUTSTANDING = 1 << 16
"""I/Os of one load: more are no benchmark, and take as long to simulate as memory lasts."""


def _each_once(targets: tuple[str, ...]) -> tuple[str, ...]:
    twice = [target for i, target in enumerate(targets) if target in targets[:i]]
    if twice:
        raise refusal(f"{twice[0]} twice", "allowed: each target once")
    return targets


Targets = Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(_each_once)]
"""Names of devices, none of them twice."""


class DdSpec(Spec):
    """dd processes, one on each target at the same time.

    A target that is named several times has as many processes, which begin at equal distances from each other.

    Attributes
    ----------
    direction
        "read" (``if=TARGET of=/dev/null``) or "write" (``if=/dev/zero of=TARGET``).
    block_size
        dd's ``bs``.
    size
        Bytes that each process moves.
    start
        Where on the target the first begins.
    targets
        Drives, arrays or encrypted devices.
    """

    kind: Literal["dd"] = "dd"
    direction: Literal["read", "write"]
    block_size: PositiveSize = 512
    size: PositiveSize
    start: Size = 0
    targets: tuple[str, ...] = Field(min_length=1)

    @field_validator("block_size", "size", "start")
    @classmethod
    def _whole_sectors(cls, value: int) -> int:
        return _sectors(value)

    def start_of(self, number: int, capacity: int) -> int:
        """Where process `number` begins on its target of `capacity` bytes."""
        target = self.targets[number]
        before, together = self.targets[:number].count(target), self.targets.count(target)
        return self.start + before * ((capacity - self.start) // together // _ALIGNED * _ALIGNED)

    def beyond(self, target: str, capacity: int) -> tuple[str, str] | None:
        """The field, and the range in words, that lies outside a device of `capacity` bytes."""
        together = self.targets.count(target)
        if self.start + self.size <= capacity and self.size <= (capacity - self.start) // together:
            return None
        times = "" if together == 1 else f"{together} x "
        return "size", f"{times}{_bytes(self.size)} from byte {self.start}"


class LoadSpec(Spec):
    """Programs that keep a number of direct I/Os outstanding, past the page cache.

    Attributes
    ----------
    targets
        Drives, arrays or encrypted devices; each has its own jobs.
    block_size
        Bytes of every I/O.
    pattern
        "random", or "sequential" with the jobs spread evenly over the span.
    read_share
        Share of the I/Os that read; the others write.
    depth
        I/Os that each job keeps outstanding (fio's ``iodepth``).
    jobs
        Programs per target.
    iops
        I/Os that each job sends in a second at random moments (Poisson), whatever the device does, instead of keeping
        `depth` outstanding.
    start, span
        Where on the target; to its end unless `span` is given.
    warm_up, duration
        Simulated time before the measurement, and of the measurement.
    """

    kind: Literal["load"]
    targets: Targets
    block_size: PositiveSize = 4096
    pattern: Literal["random", "sequential"] = "random"
    read_share: Fraction = 1.0
    depth: int = Field(default=1, ge=1, le=65536)
    jobs: int = Field(default=1, ge=1, le=4096)
    iops: float | None = Field(default=None, gt=0, le=1e7)
    start: Size = 0
    span: PositiveSize | None = None
    warm_up: Duration = 1.0
    duration: PositiveDuration = 10.0

    @field_validator("block_size", "start")
    @classmethod
    def _whole_sectors(cls, value: int) -> int:
        return _sectors(value)

    @model_validator(mode="after")
    def _room(self) -> Self:
        if self.span is not None and self.span < self._least_span:
            found, allowed = _bytes(self.span), f"allowed: room for an I/O of every job, {_bytes(self._least_span)}"
            raise refusal(found, allowed, ("span",))
        if self.iops is not None and self.depth != 1:
            raise refusal(f"iops with a depth of {self.depth:,}", "allowed: one of the two", ("iops",))
        outstanding = self.depth * self.jobs * len(self.targets)
        if outstanding > MOST_OUTSTANDING:
            found = f"a depth of {self.depth:,}, which makes {outstanding:,} I/Os outstanding"
            raise refusal(found, f"allowed: {MOST_OUTSTANDING:,} of all jobs on all targets", ("depth",))
        return self

    @property
    def _least_span(self) -> int:
        """Room for one I/O; sequential jobs have a part of their own each."""
        return self.block_size * (1 if self.pattern == "random" else self.jobs)

    def beyond(self, target: str, capacity: int) -> tuple[str, str] | None:
        """The field, and the range in words, that lies outside a device of `capacity` bytes."""
        if self.span is not None and self.start + self.span > capacity:
            return "span", f"{_bytes(self.span)} from byte {self.start}"
        if self.start + self._least_span > capacity:
            return "start", f"{self.jobs} x {_bytes(self.block_size)} from byte {self.start}"
        return None


def _sectors(value: int) -> int:
    if value % SECTOR:
        raise refusal(f"{value} bytes", "allowed: a multiple of 512 bytes on a raw device")
    return value


def _bytes(size: int) -> str:
    return "1 byte" if size == 1 else f"{size} bytes"


def _known_kind(value: Any) -> Any:
    kind = _kind(value)
    if kind not in _KINDS:
        raise refusal(f"unknown kind {kind!r}", f"allowed: {', '.join(_KINDS)}", ("kind",))
    return value


def _kind(value: Any) -> str:
    """Which workload a document describes; dd unless it says so."""
    return str(value.get("kind", "dd")) if isinstance(value, dict) else str(getattr(value, "kind", "dd"))


_KINDS = ("dd", "load", "programs")

Workload = Annotated[
    Annotated[DdSpec, Tag("dd")] | Annotated[LoadSpec, Tag("load")] | Annotated[ProgramsSpec, Tag("programs")],
    Discriminator(_kind),
    BeforeValidator(_known_kind),
]
"""Any workload."""
