"""What a worker does: it runs some points of a sweep, one after the other, and says how each ended.

Nothing that a point does ends the others: what it raises is what it gives.
"""

from __future__ import annotations

import hashlib
import math
import os
import socket
import time
from dataclasses import asdict, dataclass, field
from typing import Any

from ...model.core.errors import InputError
from ...model.files.quantities import format_duration
from ...model.statistics import Usage
from ...model.statistics.batch_means import Estimate
from ..description.scenario import ScenarioSpec
from ..documents.document import Document
from ..questions.replications import replication
from ..running.base.sample import Sample
from ..running.simulate import simulate
from ..workers.process_setup import interrupts_postponed
from .axes import canonical
from .figure_values import figure_values
from .model_version import model_fingerprint
from .plan import OPTION
from .result_store import Status
from .time_limit import TimeIsUp, time_limit

_LONGEST_ERROR = 1_000

own_process = False
"""Whether this process does nothing but this; set where workers begin."""


@dataclass(frozen=True, slots=True)
class Task:
    """One run.

    Attributes
    ----------
    point, replication
        Which.
    values
        What the scenario is changed to, by path.
    reseeded
        Whether the replication has a seed of its own; otherwise it is the only one, and has the scenario's.
    """

    point: int
    replication: int
    values: dict[str, Any]
    reseeded: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    """Some runs.

    Attributes
    ----------
    model
        Hash of the model that results are wanted of.
    document
        The scenario.
    tasks
        Which runs.
    budget_s
        No further run is begun after so long.
    timeout_s
        How long one run may take.
    """

    model: str
    document: Document
    tasks: tuple[Task, ...]
    budget_s: float
    timeout_s: float | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one run ended; fields as in :class:`~.result_store.RunRow`."""

    point: int
    replication: int
    status: Status
    error: str = ""
    key: str = ""
    figures: dict[str, float] = field(default_factory=dict)
    estimates: dict[str, Estimate] = field(default_factory=dict)
    usages: tuple[Usage, ...] = ()
    bottleneck: str = ""
    saturated: bool = False
    seconds: float = 0.0
    worker: str = ""


@dataclass(frozen=True, slots=True)
class BatchReport:
    """What a worker sends back: the runs that it came to, and which model it has."""

    model: str
    worker: str
    outcomes: tuple[Outcome, ...]


def result_key(spec: ScenarioSpec, model: str) -> str:
    """Hash of all that a result follows from: the scenario without its name, how much is simulated, and the model."""
    with interrupts_postponed():
        told = [spec.model_dump(mode="json", exclude={"name"}), asdict(Sample()), model]
    return hashlib.sha256(canonical(told).encode()).hexdigest()[:32]


def scenario_of(document: Document, task: Task) -> ScenarioSpec:
    """The scenario of one run."""
    spec = document.changed(task.values, OPTION).spec()
    return replication(spec, task.replication) if task.reseeded else spec


def run_batch(batch: Batch) -> BatchReport:
    """Run as many of a batch's points as the time allows, the first one in any case.

    With another model than the one asked for none is run.
    """
    here, model = f"{socket.gethostname()}:{os.getpid()}", model_fingerprint()
    began = time.perf_counter()
    outcomes: list[Outcome] = []
    if model == batch.model:
        for task in batch.tasks:
            if outcomes and time.perf_counter() - began >= batch.budget_s:
                break
            outcomes.append(_outcome(batch, task, here))
    return BatchReport(model, here, tuple(outcomes))


def _outcome(batch: Batch, task: Task, here: str) -> Outcome:
    key = ""
    began = time.perf_counter()

    def ended(status: Status, error: str = "", **result: Any) -> Outcome:
        seconds = time.perf_counter() - began
        text = " ".join(error.split())[:_LONGEST_ERROR]
        return Outcome(task.point, task.replication, status, text, key, **result, seconds=seconds, worker=here)

    try:
        with time_limit(batch.timeout_s, own_process):
            spec = scenario_of(batch.document, task)
            key = result_key(spec, batch.model)
            prediction = simulate(spec)
    except InputError as error:
        return ended("refused", str(error))
    except TimeIsUp:
        assert batch.timeout_s is not None
        return ended("failed", f"it took longer than {format_duration(batch.timeout_s)}")
    except Exception as error:
        return ended("failed", f"{type(error).__name__}: {error}")
    return ended(
        "done",
        figures={name: float(value) for name, value in figure_values(prediction).items() if math.isfinite(value)},
        estimates=prediction.estimates,
        usages=prediction.usages,
        bottleneck=prediction.bottleneck,
        saturated=prediction.saturated,
    )


def sound(outcome: object) -> str | None:
    """What is wrong with something that a worker sent for a run; None if it is an outcome."""
    if not isinstance(outcome, Outcome):
        return f"the worker sent {type(outcome).__name__} instead of a result"
    if outcome.status not in ("done", "refused", "failed"):
        return "the worker sent a result without a status"
    if outcome.status == "done" and not outcome.figures:
        return "the worker sent a result without figures"
    figures: dict[Any, Any] = outcome.figures
    for name, value in figures.items():
        if not isinstance(name, str) or not isinstance(value, float | int) or not math.isfinite(value):
            return f"the figure {name!s:.40} is {value!r:.40}"
    return None
