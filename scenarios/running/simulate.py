"""Run a scenario and say how fast it was and why.

Loads are simulated as long as they last, programs on files at a scale (:mod:`.program_run`), and of a dd on a device a
steady part (:mod:`.dd_stages`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from ...model.core.errors import ArrayFailed, FileSystemFull, InputError
from ...model.files.quantities import format_duration
from ...model.tasks.prices import NotedPrices
from ..description.any_workload import IdleSpec, LoadsSpec
from ..description.fio_jobs import FioSpec
from ..description.programs import ProgramsSpec
from ..description.scenario import ScenarioSpec
from ..description.workloads import LONGEST_S, DdSpec, LoadSpec
from ..machine.machine import BuiltMachine
from ..machine.observer import UNOBSERVED, Observer
from .base.flash_state import with_states, writers
from .base.prediction import Prediction
from .base.run import Run
from .base.sample import Sample, scale_for
from .base.starvation import starvation_note
from .base.supply import supply
from .load_run import LoadRun
from .summary import cpu_share, latency_figures, prediction_of, prices_read
from .watched_load import SATURATED_PRECISION


def simulate(
    scenario: ScenarioSpec,
    sample: Sample | None = None,
    watch: Callable[[Run], None] | None = None,
    observer: Observer = UNOBSERVED,
) -> Prediction:
    """Simulate a scenario.

    Parameters
    ----------
    scenario
        What to run.
    sample
        How much of it; default :class:`Sample`.
    watch
        Called with every run (one, or two for a long write) before it begins, by whoever wants to follow it.
    observer
        Sees every part of the machine when it is built.

    Returns
    -------
    Prediction
        Rates and seconds of the whole workload; usages of its steadiest measured part.

    Raises
    ------
    InputError
        If a member fails before an array has recovered from the last failure, or the time is too short for an I/O.

    Examples
    --------
    A small write on RAID 6 of six disks becomes six commands, and on RAID 10 two:

    >>> from raidsim.scenarios.documents.document import document_from
    >>> text = "{workload: {kind: load, read_share: 0%, warm_up: 1s, duration: 2s}}"
    >>> document = document_from(text, sets=["disks=6", "drive=WD5000AAKS", "bitmap=none"])
    >>> for layout in ("raid6", "raid10"):
    ...     found = simulate(document.changed({"layout": layout}).spec())
    ...     print(layout, round(found.member_ios / (found.iops["write"] * found.measured_s)))
    raid6 6
    raid10 2
    """
    price_lists: list[NotedPrices] = []
    known, states = with_states(scenario, writers(scenario.workload))

    def begun(run: Run) -> None:
        price_lists.extend(run.machine.price_lists)
        if watch is not None:
            watch(run)

    try:
        prediction = _simulated(known, sample or Sample(), begun, observer)
    except ArrayFailed as error:
        raise InputError(
            "failures", str(error), "expected: failures that every array survives when they come"
        ) from None
    except FileSystemFull as error:
        raise InputError("file_systems", str(error), "expected: a size that all files of the programs fit in") from None
    if not prediction.rate > 0 and isinstance(scenario.workload, LoadSpec):
        found = f"no I/O was complete in {format_duration(prediction.seconds)}"
        raise InputError("workload.duration", found, "expected: as long as the load needs, if it moves at all")
    return replace(prediction, prices_read=prices_read(price_lists), notes=(*prediction.notes, *states))


def _simulated(scenario: ScenarioSpec, sample: Sample, watch: Callable[[Run], None], observer: Observer) -> Prediction:
    # What runs another kind of workload is imported with the first of that kind.
    if isinstance(scenario.workload, LoadSpec | LoadsSpec):
        part = partial(_load_prediction, sample=sample, observer=observer)
        if isinstance(scenario.workload, LoadsSpec):
            part = partial(_loads_prediction, observer=observer)
        if not scenario.workload.phases:
            return part(scenario, watch)
        from .phases import simulate_phases

        return simulate_phases(scenario, part, watch)
    if isinstance(scenario.workload, ProgramsSpec):
        return _program_prediction(scenario, sample, watch, observer)
    if isinstance(scenario.workload, FioSpec):
        from .fio_run import fio_prediction

        return fio_prediction(scenario, scenario.workload, watch, observer)
    if isinstance(scenario.workload, IdleSpec):
        from .idle_run import IdleRun

        idle = IdleRun(BuiltMachine(scenario, observer=observer), scenario.workload)
        watch(idle)
        idle.run()
        return prediction_of(idle, idle.span, 0.0)
    prediction = _dd_prediction(scenario, scenario.workload, sample, watch, observer)
    return replace(prediction, figures={**prediction.figures, "cpu": cpu_share(prediction)})


def _program_prediction(
    scenario: ScenarioSpec, sample: Sample, watch: Callable[[Run], None], observer: Observer
) -> Prediction:
    from .program_run import ProgramRun

    scale = scale_for(scenario, sample)
    while True:
        programs = ProgramRun(BuiltMachine(scenario, scale, observer), sample)
        watch(programs)
        rate = programs.run()
        note = programs.excess
        if note is None or scale == 1 or sample.scale is not None or sample.scales:
            break
        scale //= 2
    prediction = prediction_of(programs, programs.span * programs.scale, rate, programs.figures)
    notes = () if note is None else (note,)
    return replace(prediction, reports=programs.reports, bottlenecks=programs.bottlenecks, notes=notes)


def _dd_prediction(
    scenario: ScenarioSpec, dd: DdSpec, sample: Sample, watch: Callable[[Run], None], observer: Observer
) -> Prediction:
    from .dd_run import ReadRun
    from .dd_stages import dd_seconds

    total = dd.size * len(dd.targets)
    run, seconds = dd_seconds(scenario, dd, sample, watch, observer)
    note = supply(scenario, dd.targets, dd.direction).excess("dd", total, seconds)
    prediction = prediction_of(run, seconds, total / seconds)
    if isinstance(run, ReadRun) and len(run.rates) > 1:
        own = {f"dd{number}.rate": rate for number, rate in enumerate(run.rates, start=1)}
        prediction = replace(prediction, figures={**prediction.figures, **own})
    return replace(prediction, notes=() if note is None else (note,))


def _load_prediction(
    scenario: ScenarioSpec, watch: Callable[[Run], None], sample: Sample, observer: Observer
) -> Prediction:
    workload = scenario.workload
    assert isinstance(workload, LoadSpec)
    load = LoadRun(BuiltMachine(scenario, observer=observer), sample)
    watch(load)
    rate = load.run()
    if load.hopeless or load.unlike:
        return _most_served(scenario, workload, watch, sample)
    prediction = prediction_of(load, load.measured_s, rate)
    return replace(
        prediction,
        figures=prediction.figures | latency_figures(prediction.latencies) | {"cpu": cpu_share(prediction)},
        estimates=load.estimates,
        saturated=load.saturated,
        offered_iops=workload.offered_iops,
        drift=load.drift,
        precision_reached=load.precision_reached,
        notes=_load_notes(scenario, workload, rate, load),
    )


def _loads_prediction(scenario: ScenarioSpec, watch: Callable[[Run], None], observer: Observer) -> Prediction:
    from .several_loads import loads_prediction

    assert isinstance(scenario.workload, LoadsSpec)
    return loads_prediction(scenario, scenario.workload, watch, observer)


def _most_served(scenario: ScenarioSpec, load: LoadSpec, watch: Callable[[Run], None], sample: Sample) -> Prediction:
    """What the devices serve of a load that is too much: its I/Os with as many users as keep them busy."""
    from .full_load import as_much_as_it_takes

    full = as_much_as_it_takes(scenario)
    assert isinstance(full.workload, LoadSpec)
    if load.precision is None:
        # A user's write may take seconds, so how long the run must be is not known before.
        times = {"precision": SATURATED_PRECISION, "warm_up": 0.0, "duration": LONGEST_S}
        full = full.model_copy(update={"workload": full.workload.model_copy(update=times)})
    prediction = _load_prediction(full, watch, sample, UNOBSERVED)
    note = "the figures are those of users with these I/Os who keep everything busy"
    return replace(prediction, saturated=True, offered_iops=load.offered_iops, notes=(*prediction.notes, note))


def _load_notes(scenario: ScenarioSpec, load: LoadSpec, rate: float, run: LoadRun) -> tuple[str, ...]:
    """What is wrong with the figures of a load: its rate is impossible, or latencies leave I/Os out that starve."""
    machine = run.machine
    starved = None if run.saturated else starvation_note(machine.loads, machine.engine.now, run.span)
    return tuple(note for note in (_excess_note(scenario, load, rate, run.span), starved) if note is not None)


def _excess_note(scenario: ScenarioSpec, load: LoadSpec, rate: float, seconds: float) -> str | None:
    """What is wrong with the rate of a load that touches each byte once: sequential, and of one direction only."""
    if load.pattern != "sequential" or load.read_share not in (0, 1):
        return None
    op = "read" if load.read_share else "write"
    reach = sum((load.span or scenario.capacity(target) - load.start) for target in load.targets)
    return supply(scenario, load.targets, op).excess("the load", min(rate * seconds, reach), seconds)
