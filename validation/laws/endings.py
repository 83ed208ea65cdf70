"""Every I/O ends: nothing is lost, and nothing waits for an event that never comes."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.files.quantities import format_duration
from ...model.loads.direct_load import DirectLoad
from .law import Law, Violation
from .trial import Trial

_LONGEST_S = 600.0
"""Time after which an I/O that is not complete has been lost: a backlog is served in less."""
_FIRST_S = 0.1


def _check(trial: Trial) -> Iterator[Violation]:
    again = trial.varied({})
    if again is None:
        return
    machine = again.outcome.run.machine
    engine, loads = machine.engine, machine.loads
    for load in loads:
        load.stop()
    began, step_s = engine.now, _FIRST_S

    def left() -> int:
        return sum(DirectLoad.unfinished(load, engine.now)[0] for load in loads)

    while left() and engine.now < began + _LONGEST_S:
        engine.run_to(engine.now + step_s)
        step_s *= 2
    if left():
        waited = format_duration(engine.now - began)
        yield Violation("endings", f"{left()} I/Os are outstanding {waited} after the last one was submitted", "none")


ENDINGS = Law(
    "endings",
    "All I/Os that are outstanding when a load stops are completed.",
    "loads of direct I/O",
    "none, ten minutes after the load",
    _check,
    lambda trial: trial.load is not None,
    runs=1,
)
