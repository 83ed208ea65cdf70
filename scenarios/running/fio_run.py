"""Jobs of fio as the workload of a scenario: what they report, as a prediction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from ...model.core.exact_sums import sum_in_order
from ...model.readahead import PAGE
from ..description.fio_jobs import FioSpec
from ..description.scenario import ScenarioSpec
from ..fio.output.normal_text import normal_text
from ..fio.result import DirectionResult, FioRun, JobResult, LatencySeries
from ..fio.run import FioOptions, run_fio
from ..machine.observer import Observer
from .base.prediction import Prediction
from .base.run import PERCENTILES, Run
from .base.waits import waits_of
from .summary import PERCENTILE_FIGURES, prediction_of

_NS = 1e-9


def fio_prediction(
    scenario: ScenarioSpec, workload: FioSpec, watch: Callable[[Run], None], observer: Observer
) -> Prediction:
    """Run the jobs of a scenario's workload.

    Its figures are those of all jobs together ("rate", "iops", "seconds"), and of each job by its name, all its clones
    together: "JOB.read_iops", "JOB.read_rate", "JOB.read_mean_seconds", "JOB.read_p50_seconds" (total latency from
    submission to completion, the percentiles of completion latency, as fio prints them), "JOB.read_longest_seconds" and
    "JOB.read_completion_seconds" (largest and mean completion latency), "JOB.read_submission_seconds" and
    "JOB.read_longest_submission_seconds" (of engines that submit and complete apart), the same of writes and trims,
    "JOB.sync_mean_seconds" of fsync and its like, "JOB.user_cpu" and "JOB.system_cpu" (shares of one core).

    Raises
    ------
    InputError
        If a job asks for what is not simulated or does not fit.
    """
    runs: list[Run] = []

    def begun(run: Run) -> None:
        runs.append(run)
        watch(run)

    machine = scenario.machine
    keywords = {"pagesize": PAGE, "mb_memory": machine.memory >> 20, "ncpus": machine.cpu.cores}
    options = FioOptions(workload.target, workload.files, workload.at_most)
    found = run_fio(scenario, workload.sections(keywords), options, begun, observer)
    (run,) = runs
    sides = {op: [job.directions[op] for job in found.jobs] for op in ("read", "write")}
    iops = {op: sum_in_order(each.ios_per_second for each in of) for op, of in sides.items() if _ios(of)}
    rate = sum_in_order(each.bytes_per_second for job in found.jobs for each in job.directions.values())
    figures = {"rate": rate, "seconds": run.span, "iops": sum_in_order(iops.values())}
    latencies = {op: _latencies([each.clat for each in of]) for op, of in sides.items() if _ios(of)}
    prediction = prediction_of(run, run.span, rate, figures | dict(_figures(found)))
    return replace(
        prediction,
        iops=iops,
        latencies=latencies,
        waits=waits_of(found.waits, {op: each["mean_s"] for op, each in latencies.items()}),
        bottleneck=found.limits or prediction.bottleneck,
        reports={"fio": normal_text(found)},
        notes=found.notes,
    )


def _ios(of: Iterable[DirectionResult]) -> int:
    return sum(each.total_ios for each in of)


def _figures(found: FioRun) -> Iterator[tuple[str, float]]:
    for name in dict.fromkeys(job.jobname for job in found.jobs):
        jobs = [job for job in found.jobs if job.jobname == name]
        for op in ("read", "write", "trim"):
            of = [job.directions[op] for job in jobs]
            if _ios(of):
                yield f"{name}.{op}_iops", sum_in_order(each.ios_per_second for each in of)
                yield f"{name}.{op}_rate", sum_in_order(each.bytes_per_second for each in of)
                yield f"{name}.{op}_mean_seconds", _latencies([each.lat for each in of])["mean_s"]
                values = _latencies([each.clat for each in of])
                yield from ((f"{name}.{op}_{figure}", values[key]) for figure, key in PERCENTILE_FIGURES.items())
                yield f"{name}.{op}_completion_seconds", values["mean_s"]
                yield f"{name}.{op}_longest_seconds", values["max_s"]
                submissions = _latencies([each.slat for each in of])
                if submissions["n"]:
                    yield f"{name}.{op}_submission_seconds", submissions["mean_s"]
                    yield f"{name}.{op}_longest_submission_seconds", submissions["max_s"]
        syncs = _latencies([job.sync for job in jobs])
        if syncs["n"]:
            yield f"{name}.sync_mean_seconds", syncs["mean_s"]
            yield from ((f"{name}.sync_{figure}", syncs[key]) for figure, key in PERCENTILE_FIGURES.items())
        yield from _cpu(name, jobs)


def _cpu(name: str, jobs: Sequence[JobResult]) -> Iterator[tuple[str, float]]:
    runtime_s = sum_in_order(job.job_runtime_s for job in jobs)
    if runtime_s:
        yield f"{name}.user_cpu", sum_in_order(job.user_cpu_s for job in jobs) / runtime_s
        yield f"{name}.system_cpu", sum_in_order(job.system_cpu_s for job in jobs) / runtime_s


def _latencies(of: Sequence[LatencySeries]) -> dict[str, float]:
    """Latencies of several jobs together (s)."""
    series = [each for each in of if each.n]
    count = sum(each.n for each in series)
    counts: dict[int, int] = {}
    for each in series:
        for bucket, ios in each.counts.items():
            counts[bucket] = counts.get(bucket, 0) + ios
    merged = LatencySeries(counts=dict(sorted(counts.items())))
    return {
        "n": float(count),
        "mean_s": sum_in_order(each.n * each.mean for each in series) / count if count else 0.0,
        "min_s": min((each.min for each in series), default=0.0),
        "max_s": max((each.max for each in series), default=0.0),
        **{f"p{percent:g}_s": merged.percentile_ns(percent) * _NS if counts else 0.0 for percent in PERCENTILES},
    }
