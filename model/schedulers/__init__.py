"""I/O schedulers: which queued request goes to the driver next, and what merges with what."""

from __future__ import annotations

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
from .settings import AnticipatorySettings, CfqSettings, DeadlineSettings

__all__ = [
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
    "QueuedRequest",
    "Scheduler",
]
