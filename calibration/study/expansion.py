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

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from pydantic import Field

from ...model.files.description import Spec, refusal
from ...scenarios.description.fio_jobs import FioSpec
from ...scenarios.documents.machine_shorthands import expanded_machine, expanded_volumes
from .figures import Unit

_GRID_FIELDS = ("rows", "columns", "cells")
ANY = "*"
"""In a parameter's path: every drive, channel or link of the machine."""


class GridCellsSpec(Spec):
    """One figure of all runs of a grid.

    Attributes
    ----------
    figure, unit
        As of a cell.
    measured
        A row for each value of `rows`, in each of them a number for each value of `columns`; null where there is none.
        Without `columns`, a number for each value of `rows`.
    calibrate
        The runs that may be fitted to, as [row, column] or [row]; all others are predicted.
    within
        Of the runs that measured 0: the largest prediction that agrees with it.
    """

    figure: str
    unit: Unit
    measured: tuple[tuple[float | None, ...] | float | None, ...] = Field(min_length=1)
    calibrate: tuple[tuple[Any, ...], ...] = ()
    within: float | None = None


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
    for name, grid in grids.items():
        if not isinstance(grid, Mapping):
            raise refusal(repr(grid)[:60], "expected: a run with rows, columns and cells", ("grids", name))
        points = _points(grid, ("grids", name))
        for labels, values in points:
            runs[_run_name(name, labels)] = _run(grid, values, full)
        cells += _cells(name, grid, [labels for labels, _ in points])
    if grids:
        full["runs"], full["cells"] = runs, cells


def _points(grid: Mapping[str, Any], at: tuple[str, ...]) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Labels and values of each run of a grid, row by row."""
    axes = []
    for axis in ("rows", "columns"):
        given = grid.get(axis, {})
        whole = isinstance(given, Mapping) and len(given) <= 1 and all(isinstance(one, list) for one in given.values())
        if not whole or (axis == "rows" and not given):
            raise refusal(
                repr(given)[:60], "expected: one field of the workload, and a list of its values", (*at, axis)
            )
        axes += [[(field, value) for value in values] for field, values in given.items()]
    return [(tuple(value for _, value in point), dict(point)) for point in product(*axes)]


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
        spec = GridCellsSpec.model_validate(table)
        numbers = [number for row in spec.measured for number in (row if isinstance(row, tuple) else (row,))]
        if len(numbers) != len(labels):
            found = f"{len(numbers)} numbers for {len(labels)} runs"
            raise refusal(found, "expected: one for each run, or null", (*at, "measured"))
        fitted = [tuple(point) for point in spec.calibrate]  # a list, as anything may be written there
        for point in [each for each in fitted if each not in labels]:
            allowed = f"expected: {', '.join(str(list(label)) for label in labels[:4])} and so on"
            raise refusal(f"no run {list(point)}", allowed, (*at, "calibrate"))
        for label, number in zip(labels, numbers, strict=True):
            if number is not None:
                run = _run_name(name, label)
                yield {
                    "id": f"{run}/{spec.figure}",
                    "use": "calibrate" if label in fitted else "predict",
                    "run": run,
                    "figure": spec.figure,
                    "measured": number,
                    "unit": spec.unit,
                    **({} if number or spec.within is None else {"within": spec.within}),
                }


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
    full["parameters"] = [
        {**each, "paths": [path for given in each["paths"] for path in _matching(given, full)]}
        if isinstance(each, Mapping) and isinstance(each.get("paths"), list)
        else each
        for each in parameters
    ]


def _matching(path: Any, full: Mapping[str, Any]) -> list[Any]:
    if not isinstance(path, str) or f".{ANY}." not in path:
        return [path]
    before, _, after = path.partition(f".{ANY}.")
    here: Any = full
    for key in before.split("."):
        here = here.get(key) if isinstance(here, Mapping) else None
    return [f"{before}.{name}.{after}" for name in here] if isinstance(here, Mapping) and here else [path]
