"""The table "drive by drive": how far predictions of single drives are from what was measured on each of them.

Studies of single drives (``report: drive``) are calibrated on one to three figures of each drive. Their errors are
told apart by what a figure is, since a rate, a percentile and a flush rest on different mechanisms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from statistics import median

import yaml
from pydantic import Field

from ...calibration.study.runs import RunBuilder
from ...calibration.study.study import StudySpec
from ...model.files.atomic_file import write_whole
from ...model.files.description import Spec
from ...model.files.description_errors import load_spec
from ...scenarios.description.fio_jobs import FioSpec
from ...scenarios.sweeps.model_version import model_fingerprint
from ..prediction.comparison import Compared, StudyComparison

DRIVES = Path(__file__).parent / "drives.yaml"
KINDS = ("rate", "mean", "p99", "percentile", "flush")
"""What a figure is: I/Os or bytes a second, mean latency, its 99th percentile, another percentile, and each of these
where every write is made durable."""
LIMIT_PCT = 3.0
"""A median (percent) that moved by more makes another table."""
_HEAD = "# Errors of predictions drive by drive: made by `raidsim drift --drives --record`.\n"
_DURABLE = re.compile(r"^\s*(fsync|fdatasync|sync)\s*=\s*(?!0|none)", re.MULTILINE)


class DriveLine(Spec):
    """The predicted cells of a drive, or of several together."""

    n: int = Field(ge=0)
    stands_in: str = ""
    """The drive of the catalogue that is simulated."""
    median_error_pct: dict[str, float]
    """By kind of figure; only the kinds that were measured."""
    inside_pct: float
    """Share of the cells in their 90 % interval."""


class DriveTable(Spec):
    """The table as kept."""

    date: str
    model: str
    """When, and the hash of the model."""
    drives: dict[str, DriveLine]
    """By study, or study and machine if the study has several."""
    groups: dict[str, DriveLine]
    """All "hard disks", all "solid-state drives", and "all"."""

    @property
    def studies(self) -> set[str]:
        """Which studies are in it."""
        return {name.partition(":")[0] for name in self.drives}

    def save(self, path: Path) -> None:
        """Write the file."""
        body = yaml.safe_dump(self.model_dump(mode="json"), sort_keys=False, width=120, default_flow_style=None)
        write_whole(path, _HEAD + body)

    def differs(self, other: DriveTable) -> list[str]:
        """What another run says otherwise, in words."""
        told = [f"{name}: new" for name in other.drives if name not in self.drives]
        told += [f"{name}: no longer there" for name in self.drives if name not in other.drives]
        for name in self.drives.keys() & other.drives.keys():
            old, new = self.drives[name].median_error_pct, other.drives[name].median_error_pct
            for kind in KINDS:
                before, now = old.get(kind), new.get(kind)
                if before != now and (before is None or now is None or abs(now - before) > LIMIT_PCT):
                    told.append(f"{name}: {kind}: {_percent(before)} -> {_percent(now)}")
        return sorted(told)


def load_drive_table(path: Path = DRIVES) -> DriveTable:
    """Read the kept table."""
    return load_spec(DriveTable, path)


def drive_table(comparisons: Sequence[StudyComparison]) -> DriveTable:
    """The table of the studies of single drives among these."""
    cells: dict[str, list[tuple[str, Compared]]] = {}
    models: dict[str, tuple[str, bool]] = {}
    for each in comparisons:
        if each.study.report != "drive":
            continue
        kind_of = figure_kinds(each.study)
        for compared in each.cells:
            if compared.cell.use == "predict":
                name, model, turns = _drive_of(each.study, compared.cell.run)
                models[name] = model, turns
                cells.setdefault(name, []).append((kind_of(compared), compared))
    groups = {
        "hard disks": [each for name in cells if models[name][1] for each in cells[name]],
        "solid-state drives": [each for name in cells if not models[name][1] for each in cells[name]],
        "all": [each for of_drive in cells.values() for each in of_drive],
    }
    return DriveTable(
        date=date.today().isoformat(),
        model=model_fingerprint(),
        drives={name: _line(cells[name], models[name][0]) for name in sorted(cells)},
        groups={name: _line(found) for name, found in groups.items() if found},
    )


def figure_kinds(study: StudySpec) -> Callable[[Compared], str]:
    """Tells what kind of figure (of :data:`KINDS`) a cell of the study is."""
    builder = RunBuilder(study, {})
    durable: dict[str, bool] = {}

    def kind(compared: Compared) -> str:
        run, figure = compared.cell.run, compared.cell.figure.rpartition(".")[2]
        if run not in durable:
            workload = builder.scenario(run).workload
            durable[run] = isinstance(workload, FioSpec) and bool(_DURABLE.search(workload.job))
        if durable[run]:
            return "flush"
        if figure.endswith(("iops", "rate")):
            return "rate"
        return "p99" if "_p99_" in figure else "percentile" if re.search(r"_p\d+_", figure) else "mean"

    return kind


def _drive_of(study: StudySpec, run: str) -> tuple[str, str, bool]:
    """The drive's name in the table, its stand-in in the catalogue, and whether it turns."""
    machine = study.runs[run].machine
    described = study.only_machine if machine is None else study.machines[machine]
    assert described is not None
    first = next(iter(described.drives.values()))
    name = study.id if machine is None else f"{study.id}: {machine}"
    return name, first.model, first.spec().rotational


def _line(cells: Iterable[tuple[str, Compared]], model: str = "") -> DriveLine:
    found = list(cells)
    by_kind = {kind: [each.error_pct for of, each in found if of == kind] for kind in KINDS}
    return DriveLine(
        n=len(found),
        stands_in=model,
        median_error_pct={kind: round(median(errors), 1) for kind, errors in by_kind.items() if errors},
        inside_pct=round(100.0 * sum(each.covered for _, each in found) / len(found), 1),
    )


def drive_lines(table: DriveTable) -> list[str]:
    """The table as the manual shows it."""
    told = [
        f"Predicted on {table.date} by the model {table.model}; median errors of the predicted figures:",
        "",
        "| drive | model | figures | rate | mean latency | p99 | other percentiles | durable writes | inside |",
        f"|{'---|' * 9}",
    ]
    return [*told, *(_row(name, each) for name, each in _all(table).items())]


def _all(table: DriveTable) -> Mapping[str, DriveLine]:
    return {**table.drives, **table.groups}


def _row(name: str, line: DriveLine) -> str:
    errors = " | ".join(_percent(line.median_error_pct.get(kind)) for kind in KINDS)
    return f"| {name} | {line.stands_in or '-'} | {line.n} | {errors} | {line.inside_pct:.0f} % |"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} %"
