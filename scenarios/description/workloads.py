"""Workloads as data: what loads the machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, ValidationError, field_validator, model_validator

from ...model.core.exact_sums import sum_in_order
from ...model.files.description import (
    BuiltWhenUsed,
    Duration,
    Fraction,
    PositiveDuration,
    PositiveSize,
    Size,
    Spec,
    refusal,
)
from ...model.tasks.io_call_price import IoEngine
from .load_parts import (
    Arrivals,
    HistogramArrivals,
    IoSize,
    Locality,
    PhaseSpec,
    SectorSize,
    UniformLocality,
    refuse_the_same_name,
    whole_sectors,
)

_ALIGNED = 1 << 20
MOST_OUTSTANDING = 1 << 16
"""I/Os of one load: more are no benchmark, and take as long to simulate as memory lasts."""
LONGEST_S = 600.0
"""The `duration` (s) of a load with a precision, unless it says otherwise: it ends then at the latest."""
USUAL_PRECISION = 0.05
"""The `precision` of a load that says nothing of how long it takes."""
LEAST_PRECISION = 1e-4
"""A closer one takes a million times as many I/Os as a hundredth does."""


_OWN_TIMES = {"warm_up", "duration", "precision", "begin", "end"}
"""Fields of a load, or of a part of it, that say how long it takes."""


def _each_once(targets: tuple[str, ...]) -> tuple[str, ...]:
    twice = [target for i, target in enumerate(targets) if target in targets[:i]]
    if twice:
        raise refusal(f"{twice[0]} twice", "expected: each target once")
    return targets


Targets = Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(_each_once)]
"""Names of devices, none of them twice."""


def measured_until_known(data: Any) -> Any:
    """The fields of a load; one that says nothing of how long it takes is measured until its speed is known.

    With a precision, and without times of its own, the run settles first and may take the longest time.
    """
    if not isinstance(data, dict):
        return data
    if not any(_OWN_TIMES & names for names in _names_of_parts(data)):
        data = {**data, "precision": f"{USUAL_PRECISION:g}"}
    if data.get("precision") is None:
        return data
    return {"warm_up": "0s", "duration": f"{LONGEST_S:g}s", **data}


def _names_of_parts(data: dict[str, Any]) -> Iterator[set[str]]:
    """Fields that are given of a load, of its phases and of each of several loads."""
    yield set(data)
    for field in ("phases", "loads"):
        parts = data.get(field)
        for part in parts if isinstance(parts, list | tuple) else ():
            yield set(part) if isinstance(part, dict) else set(getattr(part, "model_fields_set", ()))


def _within_reach(value: float) -> float:
    if value < LEAST_PRECISION:
        raise refusal(f"{value * 100:.6g} %", f"expected: {LEAST_PRECISION * 100:g} % or more")
    return value


Precision = Annotated[Fraction, AfterValidator(_within_reach)]
"""Half-width of a 90 % interval as a share of the value."""


def changes_refused(
    error: ValidationError, place: tuple[str | int, ...], load: tuple[str | int, ...] = ()
) -> Exception:
    """The refusal of a load with the fields of a phase in their place.

    Each field is valid alone, so one of them does not go with another. It stands at `place`, or in the load itself
    (`load`) if a phase has no such field.
    """
    first = error.errors(include_url=False)[0]
    problem = first.get("ctx", {})
    at = (*first["loc"], *problem.get("at", ()))
    where = place if at and at[0] in PhaseSpec.model_fields else load
    return refusal(str(problem.get("found", first["msg"])), str(problem.get("expected", "")), (*where, *at))


class DdSpec(Spec):
    """dd processes, one on each target at the same time.

    A target that is named several times has as many processes, which begin at equal distances from each other.
    """

    kind: Literal["dd"] = "dd"

    direction: Literal["read", "write"]
    """"read" (``if=TARGET of=/dev/null``) or "write" (``if=/dev/zero of=TARGET``)."""
    block_size: PositiveSize = 512
    """dd's ``bs``."""
    size: PositiveSize
    """Bytes that each process moves."""
    start: Size = 0
    """Where on the target the first begins."""
    targets: tuple[str, ...] = Field(min_length=1)
    """Drives, arrays or encrypted devices."""

    @field_validator("block_size", "size", "start")
    @classmethod
    def _whole_sectors(cls, value: int) -> int:
        return whole_sectors(value)

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
    """Programs that send direct I/Os, past the page cache: a number outstanding, or a number a second."""

    kind: Literal["load"]

    targets: Targets
    """Drives, arrays or encrypted devices; each has its own jobs."""
    block_size: IoSize = 4096
    """Bytes of every I/O, or sizes with their shares."""
    read_size: IoSize | None = None
    write_size: IoSize | None = None
    """The same for reads and for writes alone, instead of `block_size`."""
    align: SectorSize | None = None
    """What offsets of random I/Os are multiples of; the I/O's own size unless given."""
    pattern: Literal["random", "sequential", "mixed"] = "random"
    """"random"; "sequential" with the jobs spread evenly over the span; or "mixed", runs of I/Os that follow each other
    among random ones."""
    sequential_share: Fraction | None = None
    run_length: float | None = Field(default=None, ge=2, le=1e6)
    """Of "mixed": share of the I/Os that are part of runs, and how many I/Os a run has on average; 50 % and 8 unless
    given."""
    locality: Locality | None = None
    """Offsets that random I/Os and the beginnings of runs prefer; uniform unless given."""
    read_share: Fraction = 1.0
    """Share of the I/Os that read; the others write."""
    depth: int = Field(default=1, ge=1, le=65536)
    """I/Os that each job keeps outstanding (fio's ``iodepth``), or its number of users if they think."""
    engine: IoEngine | None = None
    """How each job asks the kernel (fio's ``ioengine``), which decides what CPU time an I/O costs
    (:mod:`raidsim.model.tasks.io_call_price`)."""
    jobs: int = Field(default=1, ge=1, le=4096)
    """Programs per target."""
    independent: bool | None = None
    """If true, a job's I/Os come from independent users, each with a thread of its own: while md or the block layer
    blocks one of them, the others go on. If false, one thread submits all I/Os of a job and all of them wait while it
    is blocked, as in fio. Unless given, users who think and I/Os at a rate are independent, and a `depth` is that of
    one thread."""
    think_time: Duration = 0.0
    think_distribution: Literal["constant", "exponential"] = "constant"
    """How long each of the `depth` users of a job waits after an I/O before it sends the next (mean), always as long
    ("constant") or not ("exponential")."""
    fsync: int = Field(default=0, ge=0, le=1_000_000_000)
    """Completed writes of a job after which it flushes the device (fio's ``fsync`` or ``fdatasync`` on a device), and
    waits unless it sends at a rate; 0: never."""
    iops: float | None = Field(default=None, gt=0, le=1e7)
    """I/Os that each job sends in a second, whatever the device does, instead of keeping `depth` outstanding."""
    total_iops: float | None = Field(default=None, gt=0, le=1e7)
    """The same of all jobs on all targets together, in equal parts."""
    arrivals: Arrivals | None = None
    """At which moments: at random (Poisson) unless given."""
    start: Size = 0
    span: PositiveSize | None = None
    """Where on the target; to its end unless `span` is given."""
    warm_up: Duration = 1.0
    duration: PositiveDuration = 10.0
    """Simulated time before the measurement, and of the measurement; with `precision` the least of the first (0 unless
    given), and the most of what comes after that (10 minutes unless given)."""
    precision: Precision | None = None
    """Measure until the throughput, or the mean latency of an open load, is known to this share of itself (half-width
    of the 90 % interval); 5 % if nothing is given of `warm_up`, `duration` and `precision`. See
    :mod:`raidsim.scenarios.running.steady_state`."""
    phases: tuple[Annotated[PhaseSpec, BuiltWhenUsed()], ...] = ()
    """Parts of the day with fields of their own."""

    @model_validator(mode="before")
    @classmethod
    def _measured_until_known(cls, data: Any) -> Any:
        return measured_until_known(data)

    @field_validator("start")
    @classmethod
    def _whole_sectors(cls, value: int) -> int:
        return whole_sectors(value)

    @model_validator(mode="after")
    def _room(self) -> Self:
        if self.span is not None and self.span < self._least_span:
            found, allowed = _bytes(self.span), f"expected: room for an I/O of every job, {_bytes(self._least_span)}"
            raise refusal(found, allowed, ("span",))
        outstanding = self.depth * self.jobs * len(self.targets)
        if outstanding > MOST_OUTSTANDING:
            found = f"a depth of {self.depth:,}, which makes {outstanding:,} I/Os outstanding"
            raise refusal(found, f"expected: {MOST_OUTSTANDING:,} of all jobs on all targets", ("depth",))
        return self

    @model_validator(mode="after")
    def _open_or_closed(self) -> Self:
        if self.iops is not None and self.total_iops is not None:
            raise refusal("iops and total_iops", "expected: one of the two", ("total_iops",))
        rate = "total_iops" if self.iops is None else "iops"
        if self.arrivals is not None and self.job_iops is None:
            found = f"{self.arrivals.kind} arrivals without a rate"
            raise refusal(found, "required with it: iops or total_iops", ("arrivals",))
        if self.job_iops is None:
            return self
        field = "arrivals" if self.iops is None and self.total_iops is None else rate
        if self.depth != 1:
            raise refusal(f"{field} with a depth of {self.depth:,}", "expected: one of the two", (field,))
        if self.think_time:
            raise refusal(f"{field} with a think_time", "expected: one of the two", (field,))
        return self

    @model_validator(mode="after")
    def _engine_fits(self) -> Self:
        if self.engine == "psync" and self.depth > 1:
            raise refusal(f"psync with a depth of {self.depth:,}", "expected: a depth of 1, or more jobs", ("engine",))
        if self.engine is not None and self.job_iops is not None:
            raise refusal(f"{self.engine} with a rate", "expected: with depth", ("engine",))
        return self

    @model_validator(mode="after")
    def _pattern_fits(self) -> Self:
        if self.pattern == "sequential" and self.locality is not None:
            raise refusal("a locality of sequential I/Os", "expected: with pattern random or mixed", ("locality",))
        for field in ("sequential_share", "run_length"):
            if getattr(self, field) is not None and self.pattern != "mixed":
                raise refusal(f"{field} with pattern {self.pattern}", "expected: with pattern mixed", (field,))
        return self

    @model_validator(mode="after")
    def _phases_fit(self) -> Self:
        refuse_the_same_name(self.phases)
        self.parts()
        return self

    def parts(self) -> list[tuple[str, float, LoadSpec]]:
        """The phases: name, how long it lasts (s), and the load during it; the load itself ("") if it has none."""
        if not self.phases:
            return [("", self.duration, self)]
        mine = self.model_dump(exclude_none=True, exclude={"phases"})
        found = []
        for i, phase in enumerate(self.phases):
            try:
                load = LoadSpec.model_validate(phase.over(mine))
            except ValidationError as error:
                raise changes_refused(error, ("phases", i)) from None
            found.append((phase.name, phase.lasts, load))
        return found

    @property
    def job_iops(self) -> float | None:
        """I/Os a second of each job; None if it keeps a number outstanding instead."""
        if self.iops is not None:
            return self.iops
        if self.total_iops is not None:
            return self.total_iops / (self.jobs * len(self.targets))
        if isinstance(self.arrivals, HistogramArrivals):
            return 1.0 / self.arrivals.mean_s
        return None

    @property
    def offered_iops(self) -> float | None:
        """I/Os a second of all jobs on all targets; None if the load keeps a number outstanding instead."""
        each = self.job_iops
        return None if each is None else each * self.jobs * len(self.targets)

    @property
    def users_are_independent(self) -> bool:
        """Whether the I/Os of a job come from users with a thread each."""
        if self.independent is not None:
            return self.independent
        return self.job_iops is not None or self.think_time > 0

    @property
    def sizes(self) -> tuple[dict[int, float], dict[int, float]]:
        """Sizes of reads and of writes (bytes), with the share of each."""
        read, write = (
            {size: 1.0} if isinstance(size, int) else size
            for size in (self.block_size if own is None else own for own in (self.read_size, self.write_size))
        )
        return read, write

    @property
    def mean_size(self) -> float:
        """Bytes of an I/O on average."""
        read, write = (sum_in_order(size * share for size, share in sizes.items()) for sizes in self.sizes)
        return self.read_share * read + (1.0 - self.read_share) * write

    @property
    def plain(self) -> bool:
        """Whether all I/Os have one size, go in order or anywhere alike, and come as `depth` or `iops` has it.

        Such a load draws all random numbers from one stream; others have one for each purpose.
        """
        read, write = self.sizes
        anywhere = self.locality is None or isinstance(self.locality, UniformLocality)
        when = self.total_iops is None and self.arrivals is None and not self.think_time
        where = anywhere and self.pattern != "mixed" and self.align is None
        return len(read) == 1 and read == write and where and when

    @property
    def _least_span(self) -> int:
        """Room for one I/O; sequential jobs have a part of their own each."""
        return max(
            max(*read, *write) * (load.jobs if load.pattern == "sequential" else 1)
            for _, _, load in self.parts()
            for read, write in (load.sizes,)
        )

    def check_sectors(self, sector: int, target: str, place: tuple[str | int, ...]) -> None:
        """Refuse direct I/Os that are not made of whole logical sectors of a target."""
        for _, _, part in self.parts():
            given = {
                field: getattr(part, field) for field in ("block_size", "read_size", "write_size", "align", "start")
            }
            for field, value in given.items():
                sizes = value if isinstance(value, dict) else [value or 0]
                wrong = next((size for size in sizes if size % sector), None)
                if wrong is not None:
                    allowed = f"expected: multiples of {sector} bytes, the logical sector of {target}"
                    raise refusal(f"{wrong} bytes", allowed, (*place, field))

    def beyond(self, target: str, capacity: int) -> tuple[str, str] | None:
        """The field, and the range in words, that lies outside a device of `capacity` bytes."""
        if self.span is not None and self.start + self.span > capacity:
            return "span", f"{_bytes(self.span)} from byte {self.start}"
        if self.start + self._least_span > capacity:
            return "start", f"{_bytes(self._least_span)} from byte {self.start}"
        return None


def _bytes(size: int) -> str:
    return "1 byte" if size == 1 else f"{size} bytes"
