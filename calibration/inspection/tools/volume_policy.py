"""What a controller's cache does for a volume; a small system volume often has another policy than the data."""

from __future__ import annotations

from dataclasses import dataclass, fields

from .facts import Fact


@dataclass(slots=True)
class VolumePolicy:
    """The cache policies of a volume, or those of a controller for all of its volumes.

    Attributes
    ----------
    write_policy, forced
        "write-back" or "write-through"; write-back also without a good battery.
    reads_ahead, keeps_reads
        Whether it reads ahead of a sequential reader, and keeps what was read.
    """

    write_policy: Fact[str] | None = None
    forced: Fact[bool] | None = None
    reads_ahead: Fact[bool] | None = None
    keeps_reads: Fact[bool] | None = None

    def learn(self, other: VolumePolicy) -> None:
        """Take over what is not known here."""
        for each in fields(self):
            if getattr(self, each.name) is None:
                setattr(self, each.name, getattr(other, each.name))
