"""From a study as it is written to one in full: catalogue machines, named workloads, grids of runs, paths with ``*``.

A grid is a run that is repeated over one or two fields of its workload, with a table of what was measured::

    grids:
      read:
        kernel: linux-6.1
        workload: {kind: load, targets: [sda], block_size: 4KiB}
        rows: {depth: [1, 32]}
        columns: {jobs: [1, 4]}
        cells:
          - figure: iops
            unit: 1/s
            calibrate: [[1, 1]]
            measured:
              - [83, 110]
              - [176, 171]

It makes the runs ``read/1x1`` to ``read/32x4`` and the cells ``read/1x1/iops`` and so on. Of jobs of fio, rows and
columns set the values of ``${NAME}`` in the job.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping
from itertools import product
from math import prod
from typing import Any

from pydantic import Field

from ...model.core.errors import InputError
from ...model.files.description import Spec, refusal
from ...model.files.description_errors import validate
from ...scenarios.description.fio_jobs import FioSpec
from ...scenarios.documents.machine_shorthands import expanded_machine, expanded_volumes
from .figures import Unit

MOST_RUNS = 10_000
"""Of all grids of a study: far more than any report has."""
MOST_PATHS = 100_000
"""Of all parameters of a study, with each ``*`` written out."""
_GRID_FIELDS = ("rows", "columns", "cells")
ANY = "*"
"""In a parameter's path: every drive, channel or link of the machine."""


class GridCellsSpec(Spec):
    """One figure of all runs of a grid."""

    figure: str
    unit: Unit
    """As of a cell."""
    measured: tuple[tuple[float | None, ...] | float | None, ...] = Field(min_length=1)
    """A row for each value of `rows`, in each of them a number for each value of `columns`; null where there is none.
    Without `columns`, a number for each value of `rows`."""
    calibrate: tuple[tuple[Any, ...], ...] = ()
    """The runs that may be fitted to, as [row, column] or [row]; all others are predicted."""
    within: float | None = None
    """Of the runs that measured 0: the largest prediction that agrees with it."""


def expanded_study(data: Mapping[str, Any]) -> dict[str, Any]:
    """A study's data with everything written out; what cannot be understood is left to the check that follows."""
    full = dict(data)
    if "machine" in full:
        full["machine"] = _machine(full["machine"])
    if isinstance(full.get("machines"), Mapping):
        full["machines"] = {name: _machine(machine) for name, machine in full["machines"].items()}
    if "volumes" in full:
        full["volumes"] = expanded_volumes(full["volumes"], {})
    _grids(full)
    _named_workloads(full)
    _paths(full)
    return full


def _machine(given: Any) -> Any:
    """A machine, the model of which may be one of the catalogue."""
    in_short = isinstance(given, str) or (isinstance(given, Mapping) and "model" in given)
    return expanded_machine(given, False, {}) if in_short else given


def _grids(full: dict[str, Any]) -> None:
    grids = full.pop("grids", {})
    if not isinstance(grids, Mapping):
        raise refusal(repr(grids)[:60], "expected: grids by name", ("grids",))
    runs = dict(full.get("runs") or {})
    cells = list(full.get("cells") or ())
    room = MOST_RUNS
    for name, grid in grids.items():
        if not isinstance(grid, Mapping):
            raise refusal(repr(grid)[:60], "expected: a run with rows, columns and cells", ("grids", name))
        axes = _axes(grid, ("grids", name))
        room -= prod(map(len, axes))
        if room < 0:
            raise refusal("more runs", f"expected: up to {MOST_RUNS:,} in all grids", ("grids", name))
        points = [(tuple(value for _, value in point), dict(point)) for point in product(*axes)]
        for labels, values in points:
            runs[_run_name(name, labels)] = _run(grid, values, full)
        cells += _cells(name, grid, [labels for labels, _ in points])
    if grids:
        full["runs"], full["cells"] = runs, cells


def _axes(grid: Mapping[str, Any], at: tuple[str, ...]) -> list[list[tuple[Any, Any]]]:
    """The field of the rows with each of its values, and that of the columns if there is one."""
    axes = []
    for axis in ("rows", "columns"):
        given = grid.get(axis, {})
        whole = isinstance(given, Mapping) and len(given) <= 1 and all(isinstance(one, list) for one in given.values())
        if not whole or (axis == "rows" and not given):
            raise refusal(
                repr(given)[:60], "expected: one field of the workload, and a list of its values", (*at, axis)
            )
        axes += [[(field, value) for value in values] for field, values in given.items()]
    return axes


def _run(grid: Mapping[str, Any], values: Mapping[str, Any], full: Mapping[str, Any]) -> dict[str, Any]:
    run = {field: value for field, value in grid.items() if field not in _GRID_FIELDS}
    workload = _workload(run.get("workload"), full, ("grids",))
    if isinstance(workload, Mapping):
        if "job" in workload and not values.keys() & FioSpec.model_fields.keys():
            named = {**workload.get("variables", {}), **{name: str(value) for name, value in values.items()}}
            run["workload"] = {**workload, "variables": named}
        else:
            run["workload"] = {**workload, **values}
    return run


def _cells(name: str, grid: Mapping[str, Any], labels: list[tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
    given = grid.get("cells", ())
    for i, table in enumerate(given if isinstance(given, list) else ()):
        at = ("grids", name, "cells", i)
        try:
            spec = validate(GridCellsSpec, table)
        except InputError as error:
            field = re.match(r"field (\w+)", error.place)
            raise refusal(
                error.found.removeprefix("found "), error.expected, (*at, field[1]) if field is not None else at
            ) from None
        numbers = [number for row in spec.measured for number in (row if isinstance(row, tuple) else (row,))]
        if len(numbers) != len(labels):
            found = f"{len(numbers)} numbers for {len(labels)} runs"
            raise refusal(found, "expected: one for each run, or null", (*at, "measured"))
        known, fitted = set(map(_key, labels)), set(map(_key, spec.calibrate))
        stray = next((point for point in spec.calibrate if _key(point) not in known), None)
        if stray is not None:
            allowed = f"expected: {', '.join(str(list(label)) for label in labels[:4])} and so on"
            raise refusal(f"no run {list(stray)!r:.60}", allowed, (*at, "calibrate"))
        for label, number in zip(labels, numbers, strict=True):
            if number is not None:
                run = _run_name(name, label)
                yield {
                    "id": f"{run}/{spec.figure}",
                    "use": "calibrate" if _key(label) in fitted else "predict",
                    "run": run,
                    "figure": spec.figure,
                    "measured": number,
                    "unit": spec.unit,
                    **({} if number or spec.within is None else {"within": spec.within}),
                }


def _key(point: tuple[Any, ...]) -> tuple[Hashable, ...]:
    """Values of a row and a column for a set: a list or a mapping is compared as it is written."""
    return tuple([each if isinstance(each, Hashable) else repr(each) for each in point])


def _run_name(grid: str, labels: tuple[Any, ...]) -> str:
    return f"{grid}/{'x'.join(map(str, labels))}"


def _named_workloads(full: dict[str, Any]) -> None:
    """Put the study's workloads in the places where runs name them."""
    if isinstance(full.get("runs"), Mapping):
        full["runs"] = {
            name: {**run, "workload": _workload(run.get("workload"), full, ("runs", name, "workload"))}
            if isinstance(run, Mapping) and isinstance(run.get("workload"), str)
            else run
            for name, run in full["runs"].items()
        }


def _workload(given: Any, full: Mapping[str, Any], at: tuple[str, ...]) -> Any:
    """A workload, which may be named."""
    if not isinstance(given, str):
        return given
    known = full.get("workloads")
    named = known if isinstance(known, Mapping) else {}
    if given not in named:
        raise refusal(
            f"unknown workload {given!r}", f"expected: {', '.join(map(str, named)) or 'a whole workload'}", at
        )
    return named[given]


def _paths(full: dict[str, Any]) -> None:
    """Paths of parameters with ``*`` become those of everything that is there."""
    parameters = full.get("parameters")
    if not isinstance(parameters, list):
        return
    room = MOST_PATHS
    full["parameters"] = expanded = list(parameters)
    for i, each in enumerate(parameters):
        if not isinstance(each, Mapping) or not isinstance(each.get("paths"), list):
            continue
        paths: list[Any] = []
        for given in each["paths"]:
            paths += _matching(given, full)
            if len(paths) > room:
                expected = f"expected: up to {MOST_PATHS:,} of all parameters"
                raise refusal("more paths", expected, ("parameters", i, "paths"))
        room -= len(paths)
        expanded[i] = {**each, "paths": paths}


def _matching(path: Any, full: Mapping[str, Any]) -> list[Any]:
    if not isinstance(path, str) or f".{ANY}." not in path:
        return [path]
    before, _, after = path.partition(f".{ANY}.")
    here: Any = full
    for key in before.split("."):
        here = here.get(key) if isinstance(here, Mapping) else None
    return [f"{before}.{name}.{after}" for name in here] if isinstance(here, Mapping) and here else [path]
