"""What ran, as a job file of fio again: from the options that its report repeats.

fio's report has the options of each job ("global options" and "job options") but not flags without a value, such as
``stonewall``, ``time_based`` and ``group_reporting``; the groups of the report and its entries tell these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...model.core.errors import InputError
from ...model.programs.fio.options import full_name
from ...model.programs.fio.sections import sections
from ...scenarios.fio.plan import plans

DEVICE = "measured"
"""The device of a job file that is not yet on a machine."""
_LEFT_OUT = {"filename", "directory", "output", "output-format", "status-interval", "name", "minimal", "eta"}
"""Options that say where a job ran or how it was printed: a run has a target instead."""
_ENDS = ("runtime", "time_based", "ramp_time", "loops", "number_ios", "io_size")
"""Options that end a job, or its ramp: a simulation is as long as it needs to be."""
_NO_REPORT = ("group_reporting", "stonewall", "new_group", "startdelay", "wait_for")
"""Options about other jobs: those of a group are begun at once, and are one entry each."""
_LARGEST = 1 << 50


@dataclass(frozen=True, slots=True)
class ReportedJob:
    """A job as it stands in a report."""

    name: str
    group: str | None
    options: dict[str, str]
    values: dict[str, float]


def each_once(jobs: Sequence[ReportedJob]) -> list[ReportedJob]:
    """Jobs without their clones, which fio reports one by one."""
    return list({job.name: job for job in reversed(jobs)}.values())[::-1]


def own_options(job: ReportedJob, place: str) -> dict[str, str]:
    """The options of a job by their full names, but for those that say where it ran or how it was printed.

    Raises
    ------
    InputError
        If fio has no such option.
    """
    return {full_name(name, place): value for name, value in job.options.items() if name not in _LEFT_OUT}


def lines_of(options: Mapping[str, str]) -> Iterator[str]:
    """Options as lines of a job file."""
    for name, value in options.items():
        yield f"{name}={value}" if value else name


def group_text(jobs: Sequence[ReportedJob], place: str) -> str:
    """The jobs of one group, begun at once, without an end; named "job1", "job2" and so on.

    Raises
    ------
    InputError
        For what ``raidsim fio`` does not run.
    """
    parts = []
    for number, job in enumerate(each_once(jobs), 1):
        options = own_options(job, place)
        kept = {name: value for name, value in options.items() if name not in (*_ENDS, *_NO_REPORT)}
        parts += [f"[job{number}]", f"filename=/dev/{DEVICE}", *lines_of(kept)]
    text = "\n".join(parts) + "\n"
    plans(sections(text, place, numbered=False), {f"/dev/{DEVICE}": _LARGEST}, {f"/dev/{DEVICE}"})
    return text


def placed(text: str, target: str, ramp_s: float, seconds: float) -> str:
    """A group's jobs on a device, with a ramp time and a run time."""
    text = text.replace(f"\nfilename=/dev/{DEVICE}\n", f"\nfilename=/dev/{target}\n")
    ends = f"time_based\nruntime={max(1, round(1e6 * seconds))}us\nramp_time={max(1, round(1e6 * ramp_s))}us\n"
    return f"[global]\n{ends}{text}"


def why_not(jobs: Sequence[ReportedJob], place: str) -> tuple[str | None, str | None]:
    """The text of a group's jobs, or why they cannot be run."""
    try:
        return group_text(jobs, place), None
    except InputError as error:
        return None, f"a job that raidsim fio runs: {error}"
