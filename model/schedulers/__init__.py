"""I/O schedulers: which queued request goes to the driver next, and what merges with what."""

from __future__ import annotations

from .anticipatory import Anticipatory, AnticipatorySettings
from .base import QueuedRequest, Scheduler
from .cfq import Cfq, CfqSettings
from .deadline import Deadline
from .disksort import Disksort
from .elevator import LinusElevator
from .mq_deadline import DeadlineSettings, MqDeadline
from .noop import Noop

__all__ = [
    "Anticipatory",
    "AnticipatorySettings",
    "Cfq",
    "CfqSettings",
    "Deadline",
    "DeadlineSettings",
    "Disksort",
    "LinusElevator",
    "MqDeadline",
    "Noop",
    "QueuedRequest",
    "Scheduler",
]
