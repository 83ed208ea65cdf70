"""I/O schedulers: which queued request goes to the driver next, and what merges with what.

Every module of the package is searched for classes with a name (:data:`SCHEDULERS`).
"""

from __future__ import annotations

from typing import Annotated

from ..files.plugins import NameIn, Room, room_of
from .anticipatory import Anticipatory
from .base import QueuedRequest, Scheduler
from .bfq import Bfq, BfqSettings
from .cfq import Cfq
from .deadline import Deadline
from .disksort import Disksort
from .elevator import BufferElevator, LinusElevator, OneWayElevator
from .kyber import Kyber, KyberSettings
from .mq_deadline import MqDeadline
from .noop import Noop
from .settings import AnticipatorySettings, CfqSettings, DeadlineSettings, QueueFacts, SchedulerSettings

SCHEDULERS: Room[type[Scheduler]] = room_of("scheduler", __name__, Scheduler)
"""The schedulers by name; each is made from what it must know of its queue by `made`."""
NO_SCHEDULER = "none"
"""What a queue without a scheduler has in its place."""
SchedulerName = Annotated[str, NameIn(SCHEDULERS, NO_SCHEDULER)]
"""What orders the requests of a drive."""

__all__ = [
    "NO_SCHEDULER",
    "SCHEDULERS",
    "Anticipatory",
    "AnticipatorySettings",
    "Bfq",
    "BfqSettings",
    "BufferElevator",
    "Cfq",
    "CfqSettings",
    "Deadline",
    "DeadlineSettings",
    "Disksort",
    "Kyber",
    "KyberSettings",
    "LinusElevator",
    "MqDeadline",
    "Noop",
    "OneWayElevator",
    "QueueFacts",
    "QueuedRequest",
    "Scheduler",
    "SchedulerName",
    "SchedulerSettings",
]
