"""I/O schedulers: which queued request goes to the driver next, and what merges with what."""

from __future__ import annotations

from .anticipatory import Anticipatory, AnticipatorySettings
from .base import QueuedRequest, Scheduler
from .elevator import LinusElevator
from .noop import Noop

__all__ = ["Anticipatory", "AnticipatorySettings", "LinusElevator", "Noop", "QueuedRequest", "Scheduler"]
