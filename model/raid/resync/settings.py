"""How a kernel's resync thread works, as data, and what it reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...core.errors import ModelError

Action = Literal["recover", "resync", "check", "repair", "reshape"]
"""md's sync_action: rebuild onto a fresh member; make members equal again after a crash; read and compare all; move the
data into another layout."""


@dataclass(frozen=True, slots=True)
class ResyncSettings:
    """The resync thread of a kernel (bytes, bytes per second, seconds)."""

    speed_min: float
    speed_max: float
    """``speed_limit_min`` and ``speed_limit_max``."""
    request_bytes: int
    """One request."""
    window_bytes: int
    """The thread looks at its speed after as much."""
    depth: int
    """Requests under way at most."""
    nap_s: float = 0.25
    """How long it sleeps when it is too fast."""
    sees_load: bool = True
    """Whether it notices other I/O on the members."""
    when_busy: Literal["nap", "drain", "share"] = "nap"
    """What it does above `speed_min` while the array is not idle: "nap", "drain", or rest until it has had its "share"
    of the time."""
    busy_by: Literal["members", "array"] = "members"
    """Whose I/O tells whether the array is idle: that of its "members" (their statistics), or the "array"'s own."""
    unseen_bytes: int = 0
    """The thread does not look for other I/O while less than this of its own is under way (``sync_io_depth``)."""
    resume_depth: int | None = None
    resume_delay_s: float = 0.0
    """Once `depth` requests are in flight, resync continues when no more than `resume_depth` are, and after a delay: a
    thread that takes the last stripe head waits for a quarter of them, and then for a tick so as not to swamp the
    cache."""

    share: float = 1.0
    """Of "share": part of the time in which it has I/O under way while there is other I/O (above 0, to 1)."""

    def __post_init__(self) -> None:
        if self.when_busy == "nap" and self.busy_by == "array":
            raise ModelError("busy_by array; no kernel that naps looks at the array's own I/O")
        if self.resume_depth is not None and not 0 <= self.resume_depth < self.depth:
            raise ModelError(f"resume_depth {self.resume_depth}; from 0 to less than the depth of {self.depth}")
