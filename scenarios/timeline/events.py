"""What a timeline consists of: plain records of what happened, with times in seconds of the simulated clock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Op = Literal["read", "write"]


@dataclass(frozen=True, slots=True)
class Wait:
    """A part of an I/O's time.

    Attributes
    ----------
    cause
        What it was spent on, one of :data:`raidsim.model.waits.causes.CAUSES`.
    began_s, ended_s
        From when to when.
    """

    cause: str
    began_s: float
    ended_s: float


@dataclass(frozen=True, slots=True)
class LogicalIO:
    """An I/O of the workload to its device: of a load itself, of the page cache for dd and for programs on files.

    Attributes
    ----------
    number
        Counted from 0 in order of arrival.
    device
        What it was sent to.
    kind
        "load"; of a page cache also "write-back" (dirty pages) and "metadata" (a file system's journal).
    op, offset, size
        What it asked for (bytes).
    issuer
        Who sent it.
    began_s, ended_s
        When it was sent and complete; None if the run was over before.
    waits
        What that time was spent on, without remainder, in order; empty if the run was over before.
    """

    number: int
    device: str
    kind: str
    op: Op
    offset: int
    size: int
    issuer: int
    began_s: float
    ended_s: float | None
    waits: tuple[Wait, ...] = ()


@dataclass(frozen=True, slots=True)
class Command:
    """A command to a drive.

    Attributes
    ----------
    drive
        Its name.
    kind
        Why: "load", "write-back", "resync", "destage" and "read-ahead" (of a controller), "metadata"; "other" for what
        began before the measurement.
    role
        What it holds in a parity array: "data", "parity", "Q"; "old data" and so on where it is read to compute parity.
    causes
        Numbers of the recorded logical I/Os that it serves.
    op, offset, size
        What it asked for (bytes).
    parts
        Block I/Os that were merged into it.
    arrived_s
        When the first of them came to the drive's request queue.
    sent_s
        When the queue sent it to the drive.
    started_s
        When the drive's mechanics took it, or its buffer served it.
    ended_s
        When it was complete.
    """

    drive: str
    kind: str
    role: str
    causes: tuple[int, ...]
    op: Op
    offset: int
    size: int
    parts: int
    arrived_s: float
    sent_s: float
    started_s: float
    ended_s: float


@dataclass(frozen=True, slots=True)
class CpuWork:
    """Time of a processor.

    Attributes
    ----------
    processor
        "cpu", or a controller's.
    what
        In words: "program", "interrupt", "copy and XOR" and so on.
    causes
        Logical I/Os that it was for, where that is known.
    """

    processor: str
    what: str
    causes: tuple[int, ...]
    began_s: float
    ended_s: float


@dataclass(frozen=True, slots=True)
class Transfer:
    """Data that crosses a link; on a bus several take turns, so their times overlap."""

    link: str
    op: Op
    size: int
    causes: tuple[int, ...]
    began_s: float
    ended_s: float


@dataclass(frozen=True, slots=True)
class ControllerCommand:
    """A command inside a hardware controller, until it answers: from its cache, or from the drives."""

    controller: str
    op: Op
    offset: int
    size: int
    causes: tuple[int, ...]
    began_s: float
    ended_s: float
