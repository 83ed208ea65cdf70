"""Run a scenario."""

from __future__ import annotations

from typing import Any

from ..compiled.loader import in_use
from ..model.core.errors import InputError
from ..scenarios.description.any_workload import IdleSpec
from ..scenarios.description.programs import ProgramsSpec
from ..scenarios.machine.observer import UNOBSERVED, Observer
from ..scenarios.questions.rebuild_comparison import compare_rebuild
from ..scenarios.running.base.sample import Sample, most_scale
from ..scenarios.running.simulate import simulate
from .result import Result
from .scenario import Scenario, Source, changed_by, scenario_of
from .support.progress import progress_share

__all__ = ["UNOBSERVED", "run", "run_scenario", "watching"]


def run(
    scenario: Source,
    *,
    seed: int | None = None,
    precision: float | str | None = None,
    scale: int | None = None,
    progress: bool = True,
    **changes: Any,
) -> Result:
    """Simulate a scenario.

    Parameters
    ----------
    scenario
        A :class:`Scenario`, the name of one of the library, or a scenario file.
    seed
        Of all random numbers, from 0; default: the scenario's.
    precision
        Of a load: run until the throughput is known to this share (0.02 or "2%", half of its 90 % interval). Default:
        the scenario's, or its fixed duration.
    scale
        Of programs: run them at one N-th of their size; 1 is the whole program. Default: a size that takes seconds.
    progress
        If true, show progress after a second: a bar in a terminal or a notebook, a line every ten seconds otherwise.
    changes
        Other values in the scenario, as :meth:`Scenario.with_` takes them: ``depth=32``, ``span="100GB"``.

    Returns
    -------
    Result
        Throughput, latencies, utilization and the bottleneck.

    Raises
    ------
    InputError
        If something in the scenario cannot be.

    Examples
    --------
    >>> import raidsim
    >>> result = raidsim.run(raidsim.Scenario.load("database-server").with_(warm_up="100ms", duration="500ms"))
    >>> result.iops > 500, result.latency.p99 > result.latency.mean
    (True, True)
    """
    changes |= {name: value for name, value in (("seed", seed), ("precision", precision)) if value is not None}
    return run_scenario(changed_by(scenario_of(scenario), changes, run), scale, progress=progress)


def watching(ios: int) -> Observer:
    """What records the first I/Os of a run for :meth:`.Result.timeline`."""
    # Compiled parts cannot be watched: where they are in use, the timeline is recorded in another process.
    if in_use():
        return UNOBSERVED
    from ..scenarios.timeline.recorder import Recorder

    return Recorder(ios)


def run_scenario(
    scenario: Scenario, scale: int | None = None, observer: Observer = UNOBSERVED, progress: bool = True
) -> Result:
    """Simulate a scenario as it is; `observer` sees every part of the machine."""
    sample = _sample(scenario, scale)
    spec = scenario.spec
    try:
        with progress_share("simulating", progress) as follow:
            if spec.rebuilds and not isinstance(spec.workload, IdleSpec):
                found = compare_rebuild(spec, sample, lambda run: follow(lambda: run.share), observer)
                return Result(scenario, found.rebuilding, found, sample, observer=observer)
            prediction = simulate(spec, sample, lambda run: follow(lambda: run.share), observer)
            return Result(scenario, prediction, None, sample, observer=observer)
    except InputError as error:
        raise scenario.located(error) from None


def _sample(scenario: Scenario, scale: int | None) -> Sample | None:
    """What `scale` asks for; None without it."""
    if scale is None:
        return None
    spec = scenario.spec
    if not isinstance(spec.workload, ProgramsSpec):
        raise InputError("--scale", f"a workload of kind {spec.workload.kind}", "allowed with: kind programs")
    most = most_scale(spec)
    if not 1 <= scale <= most:
        raise InputError("--scale", f"found {scale}", f"expected: 1 to {most}, with this memory and these file systems")
    return Sample(scale=scale)
