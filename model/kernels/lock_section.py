"""What the description of a kernel says of the locks that md takes for each I/O."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ..files.description import Spec


class LockSpec(Spec):
    """A lock or a counter of an array that I/Os take turns at."""

    name: str
    """As the kernel's source calls it."""
    kind: Literal["spinlock", "counter"]
    """"spinlock", or "counter": a word that is changed with atomic instructions."""
    lines: int = Field(ge=0, le=100)
    """Of a spinlock: cache lines of what it protects that move to its holder. Of a counter: how often an I/O changes
    it."""
    instructions: int = Field(ge=0, le=100_000)
    """What the holder does meanwhile."""


class LockSection(Spec):
    """What each I/O of an md array takes, in order. An array has locks of its own; some kernels have none."""

    array: tuple[LockSpec, ...] = ()
    """Of each I/O of any array, after those of its level."""
    mirror: tuple[LockSpec, ...] = ()
    mirror10: tuple[LockSpec, ...] = ()
    """Of each I/O of RAID 1, and of RAID 10."""
    parity_read: tuple[LockSpec, ...] = ()
    """Of each read of RAID 4, 5 and 6 that goes past the stripe cache."""
    parity_write: tuple[LockSpec, ...] = ()
    """Of each write of RAID 4, 5 and 6, where it is submitted."""
    parity_handle: tuple[LockSpec, ...] = ()
    """Of each pass of md's thread or of a worker over stripe heads."""
    source: str
