"""A run of many I/Os through the whole product: does memory stay flat, and is it as fast at the end as at the start?"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from time import process_time

from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.running.base.run import Run
from raidsim.scenarios.running.simulate import simulate

from .measure import resident_mib

GROWTH_AIM = 0.05
"""Growth of resident memory, as a share of what it is after a tenth of the run, that counts as flat."""
SLOWING_AIM = 0.1
_EVERY_S = 0.2
_SCENARIO = """
machine: {model: server, drives: {model: WD2500JS, count: 1}}
workload:
  {kind: load, block_size: 4KiB, read_share: 100%, depth: 1, targets: [disk0], warm_up: 0s, duration: {seconds}s}
"""
"""The cheapest whole model: kernel, queue, cables, bus and one drive, read at random places one at a time."""
_IO_S = 0.0133
"""What such a read takes, about."""


@dataclass(frozen=True, slots=True)
class LongRun:
    """What a long run did.

    Attributes
    ----------
    events, simulated_s, cpu_s
        Events scheduled, simulated time and CPU time.
    first_mib, last_mib, highest_mib
        Resident memory after a tenth of the run, at its end, and the most in between.
    first_rate, last_rate
        Events per second of CPU time in the first and in the last tenth.
    """

    ios: int
    events: int
    simulated_s: float
    cpu_s: float
    first_mib: float
    last_mib: float
    highest_mib: float
    first_rate: float
    last_rate: float

    @property
    def growth(self) -> float:
        """Share by which memory grew after the first tenth."""
        return self.highest_mib / self.first_mib - 1

    @property
    def slowing(self) -> float:
        """Share by which the last tenth was slower than the first."""
        return 1 - self.last_rate / self.first_rate

    @property
    def aim_met(self) -> bool:
        """Whether memory is flat and the last I/Os cost what the first did."""
        return self.growth <= GROWTH_AIM and self.slowing <= SLOWING_AIM


class _Watch:
    """Looks at a run from another thread, so that the run itself is the same as without."""

    def __init__(self) -> None:
        self.seen: list[tuple[float, int, float]] = []  # CPU time (s), events, resident memory (MiB)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._runs: list[Run] = []

    def follow(self, run: Run) -> None:
        """The run begins."""
        self._runs.append(run)
        self._thread.start()

    def end(self) -> None:
        """It is over."""
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        engine = self._runs[0].machine.engine
        while True:
            self.seen.append((process_time(), engine.scheduled_events, resident_mib()))
            if self._over.wait(_EVERY_S):
                self.seen.append((process_time(), engine.scheduled_events, resident_mib()))
                return


def long_run(ios: int) -> LongRun:
    """Simulate about so many I/Os with ``simulate``, as `raidsim run` does."""
    spec = document_from(_SCENARIO.replace("{seconds}", f"{ios * _IO_S:.3f}")).spec()
    watch = _Watch()
    began = process_time()
    prediction = simulate(spec, watch=watch.follow)
    watch.end()
    cpu_s = process_time() - began
    seen = watch.seen
    tenth = max(1, len(seen) // 10)
    return LongRun(
        ios=prediction.member_ios,
        events=prediction.events,
        simulated_s=prediction.seconds,
        cpu_s=cpu_s,
        first_mib=seen[tenth][2],
        last_mib=seen[-1][2],
        highest_mib=max(mib for _, _, mib in seen[tenth:]),
        first_rate=_rate(seen[: tenth + 1]),
        last_rate=_rate(seen[-tenth - 1 :]),
    )


def _rate(seen: list[tuple[float, int, float]]) -> float:
    """Events per second of CPU time from the first look to the last."""
    return (seen[-1][1] - seen[0][1]) / max(seen[-1][0] - seen[0][0], 1e-9)


def as_text(run: LongRun) -> str:
    """What a long run did, to read."""
    return (
        f"{run.ios:,} I/Os ({run.events:,} events, {run.simulated_s:,.0f} s simulated) in {run.cpu_s:,.1f} s of CPU\n"
        f"memory {run.first_mib:.1f} MiB after a tenth, {run.highest_mib:.1f} MiB at most after that: "
        f"{run.growth:+.1%} (aim: at most {GROWTH_AIM:+.0%})\n"
        f"{run.first_rate:,.0f} events a second of CPU time in the first tenth, {run.last_rate:,.0f} in the last: "
        f"{-run.slowing:+.1%} (aim: at least {-SLOWING_AIM:+.0%})"
    )
