"""What a load is made of: sizes, arrival times and locality of its I/Os, and the parts of its day."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, PlainSerializer, Tag, model_validator

from ...model.files.description import Duration, Fraction, PositiveDuration, PositiveSize, Spec, refusal

SECTOR = 512
_WHOLE = 1e-6
"""Shares written with a few digits may miss 100 % by so much."""

_Key = TypeVar("_Key", int, float)


def whole_sectors(size: int) -> int:
    """`size`, which must be a multiple of 512 bytes."""
    if size % SECTOR:
        raise refusal(f"{size} bytes", "expected: a multiple of 512 bytes on a raw device")
    return size


def _whole(shares: dict[_Key, float]) -> dict[_Key, float]:
    """Shares that add up to 1, in the order of what they are shares of."""
    total = math.fsum(shares.values())
    if abs(total - 1.0) > _WHOLE:
        raise refusal(f"shares of {total * 100:.6g} % in all", "expected: shares that add up to 100 %")
    return {key: shares[key] / total for key in sorted(shares) if shares[key]}


def _one_or_several(value: Any) -> str:
    return "shares" if isinstance(value, Mapping) else "size"


SectorSize = Annotated[PositiveSize, AfterValidator(whole_sectors)]
"""Bytes in whole sectors, at least one."""
SizeShares = Annotated[dict[SectorSize, Fraction], AfterValidator(_whole)]
"""Sizes of I/Os, and the share of the I/Os that has each: ``{4KiB: 60%, 64KiB: 40%}``."""
IoSize = Annotated[
    Annotated[SectorSize, Tag("size")] | Annotated[SizeShares, Tag("shares")], Discriminator(_one_or_several)
]
"""One size of all I/Os, or several sizes with their shares."""
TimeShares = Annotated[
    dict[PositiveDuration, Fraction],
    AfterValidator(_whole),
    PlainSerializer(lambda shares: {f"{time!r}s": share for time, share in shares.items()}, when_used="json"),
]
"""Times up to which something takes, and the share from the time before up to it: ``{1ms: 60%, 20ms: 40%}``."""


def _named(value: Any) -> Any:
    """The name of a kind alone means that kind with its defaults."""
    return {"kind": value} if isinstance(value, str) else value


def _load_named(value: Any) -> Any:
    """The name of a load alone means that load as it is."""
    return {"name": value} if isinstance(value, str) else value


class PoissonArrivals(Spec):
    """I/Os at random moments that know nothing of each other."""

    kind: Literal["poisson"]


class ConstantArrivals(Spec):
    """I/Os at equal distances; several jobs take turns."""

    kind: Literal["constant"]


class BurstyArrivals(Spec):
    """Times of more and of fewer I/Os in turn: see :class:`raidsim.model.loads.arrivals.Bursty`."""

    kind: Literal["bursty"]

    burst_factor: float = Field(default=5.0, ge=1)
    """Rate during a burst over the mean rate; with 1 there are no bursts."""
    burst_share: Fraction = 0.1
    """Share of the time in which there is a burst; `burst_factor` times `burst_share` is the share of the I/Os in
    bursts, and nothing comes between them if it is 100 %."""
    burst_length: PositiveDuration = 1.0
    """Mean length of a burst."""

    @model_validator(mode="after")
    def _no_more_than_all(self) -> Self:
        if not 0 < self.burst_share < 1:
            raise refusal(f"{self.burst_share:.6g}", "expected: a share between 0 and 100 %", ("burst_share",))
        if self.burst_factor * self.burst_share > 1 + _WHOLE:
            found = f"{self.burst_factor:g} times the mean rate in {self.burst_share * 100:g} % of the time"
            allowed = f"expected: up to {1 / self.burst_share:.4g}, with which all I/Os come in bursts"
            raise refusal(found, allowed, ("burst_factor",))
        return self


class HistogramArrivals(Spec):
    """I/Os whose distances follow measured ones, drawn independently of each other."""

    kind: Literal["histogram"]

    gaps: TimeShares | None = None
    """Distances as a histogram: up to which time, and the share of the distances from the time before up to it. They
    are even within a class."""
    times: tuple[Duration, ...] | None = Field(default=None, min_length=1, max_length=1 << 20)
    """Distances one by one, instead; all are as likely."""

    @model_validator(mode="after")
    def _one_of_the_two(self) -> Self:
        if (self.gaps is None) == (self.times is None):
            found = "neither gaps nor times" if self.gaps is None else "gaps and times"
            raise refusal(found, "expected: one of the two")
        if self.times is not None and not any(self.times):
            raise refusal("no time above 0", "expected: times of which at least one is above 0", ("times",))
        return self

    @property
    def mean_s(self) -> float:
        """Mean distance (s)."""
        if self.times is not None:
            return math.fsum(self.times) / len(self.times)
        gaps = self.gaps or {}
        return math.fsum((low + high) / 2 * gaps[high] for low, high in zip([0.0, *gaps], gaps, strict=False))


Arrivals = Annotated[
    Annotated[
        PoissonArrivals | ConstantArrivals | BurstyArrivals | HistogramArrivals,
        Field(discriminator="kind"),
    ],
    BeforeValidator(_named),
]
"""When the I/Os of an open load come; the name of a kind alone takes its defaults."""


class UniformLocality(Spec):
    """Every place is as likely."""

    kind: Literal["uniform"]


class ZipfLocality(Spec):
    """The k-th most popular block gets I/Os in proportion to 1 / k^theta: see
    :class:`raidsim.model.loads.locality.Zipf`.
    """

    kind: Literal["zipf"]

    theta: float = Field(default=0.99, ge=0, le=5)
    """The exponent; 0 makes all alike."""
    block: SectorSize | None = None
    """Bytes of what is popular as one, such as a table or a file, anywhere inside alike; the smallest I/O unless
    given."""
    clustered: bool = False
    """Whether the popular blocks lie together at the start, or all over the span."""


class HotLocality(Spec):
    """A part of the span gets most of the I/Os: see :class:`raidsim.model.loads.locality.Hot`."""

    kind: Literal["hot"]

    share: Fraction = 0.8
    """Share of the I/Os that go to the hot part."""
    of: Fraction = 0.2
    """Share of the span that is hot."""
    clustered: bool = False
    """Whether the hot part lies together at the start, or in many pieces all over the span."""

    @model_validator(mode="after")
    def _some_of_it(self) -> Self:
        if not 0 < self.of < 1:
            raise refusal(f"{self.of:.6g}", "expected: a share between 0 and 100 % of the span", ("of",))
        return self


class NormalLocality(Spec):
    """Places scatter around one of them by the normal distribution; what falls beyond an end is reflected there."""

    kind: Literal["normal"]

    around: Fraction = 0.5
    """The middle, as a share of the span."""
    deviation: Fraction = 0.1
    """Standard deviation, as a share of the span."""


Locality = Annotated[
    Annotated[UniformLocality | ZipfLocality | HotLocality | NormalLocality, Field(discriminator="kind")],
    BeforeValidator(_named),
]
"""Where the I/Os of a random load go; the name of a kind alone takes its defaults."""


class LoadChanges(Spec):
    """Fields of a load that have another value during a part of the day.

    The fields mean what they mean in :class:`~raidsim.scenarios.description.workloads.LoadSpec`.
    """

    means_as: ClassVar[str] = "raidsim.scenarios.description.workloads:LoadSpec"

    name: str = Field(pattern=r"^[^.\s]+$")
    """The load, or what the figures of the part of the day are called by."""

    read_share: Fraction | None = None
    block_size: IoSize | None = None
    read_size: IoSize | None = None
    write_size: IoSize | None = None
    align: SectorSize | None = None
    pattern: Literal["random", "sequential", "mixed"] | None = None
    sequential_share: Fraction | None = None
    run_length: float | None = Field(default=None, ge=2, le=1e6)
    locality: Locality | None = None
    depth: int | None = Field(default=None, ge=1, le=65536)
    jobs: int | None = Field(default=None, ge=1, le=4096)
    independent: bool | None = None
    think_time: Duration | None = None
    think_distribution: Literal["constant", "exponential"] | None = None
    fsync: int | None = Field(default=None, ge=0, le=1_000_000_000)
    iops: float | None = Field(default=None, gt=0, le=1e7)
    total_iops: float | None = Field(default=None, gt=0, le=1e7)
    arrivals: Arrivals | None = None

    def over(self, load: dict[str, Any]) -> dict[str, Any]:
        """The fields of a load, with those of this phase in their place, and without those that these make idle."""
        mine = self.model_dump(exclude_none=True, exclude={"name", "lasts"})
        idle: set[str] = set()
        if "iops" in mine or "total_iops" in mine:
            idle |= {"depth", "engine", "think_time", "think_distribution", "iops", "total_iops"}
        if "depth" in mine or "think_time" in mine:
            idle |= {"iops", "total_iops", "arrivals"}
        if "block_size" in mine:
            idle |= {"read_size", "write_size"}
        if mine.get("pattern", "mixed") != "mixed":
            idle |= {"sequential_share", "run_length"}
        if mine.get("pattern") == "sequential":
            idle.add("locality")
        return {name: value for name, value in load.items() if name not in idle} | mine


class PhaseSpec(LoadChanges):
    """A part of the day, with the fields of a load that have another value then."""

    lasts: PositiveDuration
    """How much of the day it takes; the simulation has `warm_up` and `duration`."""
    warm_up: Duration | None = None
    duration: PositiveDuration | None = None


class PhaseLoad(LoadChanges):
    """One of several loads during a part of the day, with its fields that have another value then."""


class LoadsPhase(Spec):
    """A part of the day with several loads."""

    name: str = Field(pattern=r"^[^.\s]+$")
    """What its figures are called by."""
    lasts: PositiveDuration
    """How much of the day it takes; the simulation has `warm_up` and `duration`."""
    workloads: tuple[Annotated[PhaseLoad, BeforeValidator(_load_named)], ...] | None = Field(default=None, min_length=1)
    """The loads that run in this part of the day, by their names, each with the fields that differ then; all of them as
    they are unless given."""
    warm_up: Duration | None = None
    duration: PositiveDuration | None = None
    """Simulated time before the measurement, and of the measurement; those of all phases unless given."""


def refuse_the_same_name(phases: Sequence[PhaseSpec | LoadsPhase]) -> None:
    """Refuse two parts of a day with one name."""
    names = [phase.name for phase in phases]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise refusal(f"{name} twice", "expected: each name once", ("phases", i, "name"))
