"""What a run gives."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..model.statistics import Usage


@dataclass(frozen=True, slots=True)
class RebuildProgress:
    """A rebuild or check during the measurement.

    Attributes
    ----------
    array
        Name of the array.
    action
        "recover", "check" or "repair".
    rate
        Bytes per second and member.
    total_bytes
        Bytes per member from beginning to end.
    position
        How far it had come at the end of the measurement (bytes per member).
    """

    array: str
    action: str
    rate: float
    total_bytes: int
    position: int

    @property
    def duration_s(self) -> float:
        """How long all of it takes at this rate (s); infinite if it stood still."""
        return self.total_bytes / self.rate if self.rate else float("inf")

    @property
    def left_s(self) -> float:
        """How long the rest takes at this rate (s); infinite if it stood still."""
        left = self.total_bytes - self.position
        return left / self.rate if self.rate else float("inf") if left else 0.0


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a run gives.

    Attributes
    ----------
    seconds, measured_s
        Duration of the whole workload, and of the part of it that was measured (s).
    rate
        Bytes per second of all programs together.
    iops
        I/Os per second of the programs (of the page cache, for a program that goes through it), by "read" and
        "write".
    usages
        How busy every device, link and CPU was.
    bottleneck
        What limits, in words.
    latencies
        Of the same I/Os during the measurement, by "read" and "write": number, mean, percentiles and extremes (s).
    member_ios
        Commands that the drives served.
    rebuilds
        Every resync thread that was at work.
    events
        Scheduled events of the simulation.
    figures
        What is compared with measurements, by name, in SI units: "rate", "seconds" and "iops"; of a load of direct
        I/O also the latencies "read_mean_seconds" and "read_p99_seconds", and the same of writes; of programs
        "STEP.FIGURE", what the program itself reports.
    reports
        What each step of a workload of programs prints, by its title.
    scale
        The run was simulated at this fraction of its size; see :mod:`raidsim.scenarios.program_run`.
    """

    seconds: float
    measured_s: float
    rate: float
    iops: dict[str, float]
    usages: tuple[Usage, ...]
    bottleneck: str
    latencies: dict[str, dict[str, float]]
    member_ios: int
    rebuilds: tuple[RebuildProgress, ...]
    events: int
    figures: dict[str, float]
    reports: dict[str, str] = field(default_factory=dict)
    scale: int = 1
