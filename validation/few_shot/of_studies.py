"""Drives and arrays that a study measured over a grid of loads, as boxes for the benchmark: their rates alone."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ...calibration.learning.box_jobs import OPTIONS, load_of
from ...calibration.learning.loads import BoxLoad, Measured
from ...calibration.learning.table import words
from ...calibration.study.document import RunSpec
from ...calibration.study.study import StudySpec, load_study, study_names
from ...scenarios.description.fio_jobs import FioSpec
from ...scenarios.description.workloads import LoadSpec

FEWEST = 12
"""Loads that a box has at least: of fewer hardly any are left to predict."""
_PLACES = {"directory", "filename", "size", "runtime", "time_based", "norandommap", "ramp_time", "group_reporting"}
"""Options of fio that say where and how long, besides what makes the load."""
_DIRECT = {"direct": "1", "ioengine": "libaio"}
_PLAIN = {"kind", "targets", "block_size", "pattern", "read_share", "depth", "engine", "jobs", "warm_up", "duration"}
"""Fields of a load that keeps I/Os of one size outstanding on all of its target."""


@cache
def study_boxes() -> dict[str, tuple[Measured, ...]]:
    """All that was measured of each, by the name of the study, and of the machine or device if it has several."""
    found: dict[str, tuple[Measured, ...]] = {}
    for name in study_names():
        boxes = {place: box for place, box in _boxes(load_study(name)).items() if len(box) >= FEWEST}
        for place, box in boxes.items():
            found[f"{name}/{_shortest(place, list(boxes))}" if len(boxes) > 1 else name] = tuple(box)
    return found


def _boxes(study: StudySpec) -> dict[tuple[str, ...], list[Measured]]:
    """Rates by machine, devices and kernel."""
    found: dict[tuple[str, ...], list[Measured]] = {}
    for cell in study.all_cells:
        run = study.runs.get(cell.run)
        load = None if run is None else _load(run)
        if run is None or load is None or cell.figure not in _rates(run, load):
            continue
        assert isinstance(run.workload, FioSpec | LoadSpec)
        place = (run.machine or "", *run.workload.targets, run.kernel)
        found.setdefault(place, []).append(Measured(words(load), load, cell.value))
    return found


def _shortest(place: tuple[str, ...], others: list[tuple[str, ...]]) -> str:
    """What tells a place from the others."""
    return " ".join(part for part in place if not all(part in other for other in others))


def _load(run: RunSpec) -> BoxLoad | None:
    """What a run does, if it keeps a constant number of I/Os outstanding."""
    spec = run.workload
    if isinstance(spec, LoadSpec):
        if spec.model_fields_set - _PLAIN or not isinstance(spec.block_size, int) or spec.pattern == "mixed":
            return None
        return BoxLoad(spec.block_size, spec.jobs, spec.depth, spec.read_share, spec.pattern == "sequential")
    sections = spec.sections() if isinstance(spec, FioSpec) else []
    if len(sections) != 1:
        return None
    options = {name: option.value for name, option in sections[0].options.items()}
    if set(options) - _PLACES - set(OPTIONS) - set(_DIRECT) or any(options.get(k) != v for k, v in _DIRECT.items()):
        return None
    return load_of(sections[0])


def _rates(run: RunSpec, load: BoxLoad) -> Iterator[str]:
    """Names of the figure that is the rate of all I/Os."""
    if isinstance(run.workload, LoadSpec):
        yield "iops"
    elif isinstance(run.workload, FioSpec) and load.read_share in (0.0, 1.0):
        yield f"{run.workload.job_names[0]}.{'read' if load.read_share else 'write'}_iops"
