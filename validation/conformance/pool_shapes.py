"""The form of recordings of pools at work."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, NonNegativeInt

from .shapes import PoolMember, Shape


class CachingPhase(Shape):
    """A phase of reads through the ARC, and how its counters changed."""

    phase: str
    op: str = ""
    counters: dict[str, int]


class CachingTruth(Shape):
    """What the ARC of a pool did."""

    create: str
    member: PoolMember
    parameters: list[str]
    phases: Annotated[list[CachingPhase], Field(min_length=1)]


class PoolJobsTruth(Shape):
    """Rates of jobs of fio on pools, by the pool's name."""

    member: PoolMember
    results: dict[str, dict[str, dict[str, Any]]]


class Filled(Shape):
    """What a program wrote in every tenth of a second (KiB)."""

    kib_per_100ms: Annotated[list[NonNegativeInt], Field(min_length=20)]


class QueuePhase(Shape):
    """Requests: us of issue, us until completion, member, rwbs, sector, sectors."""

    phase: str
    requests: list[list[Any]]


class PoolQueueTruth(Shape):
    """What the members of a pool had outstanding."""

    pool: str
    member: PoolMember
    phases: Annotated[list[QueuePhase], Field(min_length=1)]


class ThrottledPoolTruth(Shape):
    """A program that writes faster than a pool."""

    pool: str
    member: PoolMember
    parameters: list[str]
    fill: Filled
