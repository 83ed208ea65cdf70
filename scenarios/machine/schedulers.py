"""The I/O scheduler of a request queue."""

from __future__ import annotations

from ...model.core.engine import Engine
from ...model.schedulers import (
    Anticipatory,
    AnticipatorySettings,
    Bfq,
    BufferElevator,
    Cfq,
    CfqSettings,
    Deadline,
    DeadlineSettings,
    Kyber,
    LinusElevator,
    MqDeadline,
    Noop,
    OneWayElevator,
    Scheduler,
)
from ...model.schedulers.anticipatory import Reader
from ...model.schedulers.disksort import Disksort
from .parts import QueuePlan

_ELEVATORS = {"both-ways": LinusElevator, "one-way": OneWayElevator, "one-way-buffers": BufferElevator}
Readers = dict[int, Reader] | None
"""What the anticipatory schedulers of all queues remember of a process; None: each queue remembers for itself."""


def made_scheduler(plan: QueuePlan, engine: Engine, readers: Readers) -> Scheduler:
    """What orders the requests of a queue; one that is not the kernel's own choice has its own defaults."""
    section, largest = plan.section, plan.max_request
    match plan.scheduler:
        case "linus":
            return _ELEVATORS[section.elevator](largest, section.read_passes, section.write_passes)
        case "noop":
            return Noop(largest)
        case "disksort":
            return Disksort(largest)
        case "deadline" | "mq-deadline":
            order = Deadline if plan.scheduler == "deadline" else MqDeadline
            return order(largest, section if plan.usual else DeadlineSettings(batch_follows=section.batch_follows))
        case "cfq":
            tunables: CfqSettings = section if plan.usual else CfqSettings()
            if not (section.idles_on_solid or plan.rotational) and plan.depth > 1:
                tunables = tunables.model_copy(update={"slice_idle": 0.0})
            return Cfq(largest, tunables)
        case "bfq":
            return Bfq(largest, plan.rotational)
        case "kyber":
            return Kyber(largest)
    phase = float(engine.streams.generator(f"{plan.name}/scheduler").random())
    return Anticipatory(largest, section if plan.usual else AnticipatorySettings(), phase, readers)
