"""A study: one published benchmark report as data, every number of it a cell.

Each cell is marked ``calibrate`` or ``predict`` in the file, before anything is fitted. Cells that the model cannot
predict are named too, with what they need; they are reported as missing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

from pydantic import ValidationError, model_validator

from ...model.core.errors import InputError
from ...model.files.description import refusal
from ...model.files.description_errors import load_spec
from ...scenarios.description.any_workload import Workload
from ...scenarios.description.devices import Devices
from ...scenarios.description.programs import ProgramsSpec
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.programs.step import Dimension
from ...scenarios.programs.tiobench import TiobenchStep
from .cell import Cell, unit_value
from .document import CaseSpec, RunSpec, StudyDocument
from .figures import UNITS, figures_of, in_words
from .parameters import PATHS, value_at
from .runs import ARRAY_NAME, RunBuilder, dd_of, devices_of, used_devices

_FOLDER = Path(__file__).parent.parent / "studies"
_SAME_BYTES = 0.02
"""What seconds times rate of a case may be off by (ln) from the bytes that it moves."""

Place = tuple[str | int, ...]


class StudySpec(StudyDocument):
    """A benchmark report as data, the parts of which fit together."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        self._check_machines()
        self._check_ids()
        self._check_arrays()
        for i, case in enumerate(self.cases):
            self._check_case(case, ("cases", i))
        for i, parameter in enumerate(self.parameters):
            for path in parameter.paths:
                self._check_path(path, ("parameters", i, "paths"))
        builder = RunBuilder(self, {})
        for name, run in self.runs.items():
            self._check_run(name, run, builder)
        self._check_parameters_act()
        self._check_cells()
        self._check_claims()
        self._check_suspects()
        return self

    def _check_machines(self) -> None:
        if self.only_machine is not None and self.machines:
            raise refusal("machine and machines", "expected: one of the two", ("machines",))
        only_missing = bool(self.missing) and not (self.cases or self.runs)
        if self.only_machine is None and (self.cases or not self.machines) and not only_missing:
            raise refusal("no machine", "expected: machine, or machines and runs that name them")

    def _check_ids(self) -> None:
        cells = [*(case.id for case in self.cases), *(cell.id for cell in self.cells)]
        _unique("cases", [case.id for case in self.cases])
        _unique("cells", cells)
        _unique("missing", [*cells, *(each.id for each in self.missing)])
        _unique("claims", [*cells, *(claim.id for claim in self.claims)])
        _unique("parameters", [fitted.name for fitted in self.parameters])
        _unique("runs", [*(case.id for case in self.cases), *self.runs])

    def _check_arrays(self) -> None:
        """Each array separately, as a run has it: the drives are the same in all of them."""
        if self.only_machine is None:
            return
        for name in (*self.arrays, *self.encrypted, *self.volumes):
            used = used_devices(self, [name])
            arrays = {key: array for key, array in self.arrays.items() if key in used}
            encrypted = {key: layer for key, layer in self.encrypted.items() if key in used}
            volumes = {key: volume for key, volume in self.volumes.items() if key in used}
            Devices(self.only_machine, arrays, encrypted, volumes).check()

    def _check_case(self, case: CaseSpec, at: Place) -> None:
        if self.workload is None:
            raise refusal("cases without a workload", "expected: workload", ("workload",))
        megabyte = self.conventions.MB
        if megabyte is None:
            raise refusal("a rate in MB/s", "expected: conventions.MB", (*at, "rate"))
        if case.array is not None and case.array not in self.arrays:
            raise refusal(f"unknown array {case.array!r}", f"expected: {', '.join(self.arrays)}", (*at, "array"))
        known = (*self.machine.drives, *((ARRAY_NAME,) if case.array is not None else ()))
        for target in case.targets:
            if target not in known:
                raise refusal(f"unknown target {target!r}", f"expected: {', '.join(known)}", (*at, "targets"))
            room = Devices(self.machine, self.arrays).capacity(
                case.array if target == ARRAY_NAME and case.array is not None else target
            )
            if self.workload.size > room:
                found = f"the workload's {self.workload.size} bytes on {target}, which has {room}"
                raise refusal(found, "expected: within the device", (*at, "targets"))
        stated = case.rate * case.seconds * megabyte
        moved = self.workload.size * len(case.targets)
        if abs(math.log(stated / moved)) > _SAME_BYTES:
            found = f"{case.seconds} s at {case.rate} MB/s are {stated:.6g} bytes"
            raise refusal(found, f"expected: the workload's {moved} bytes within 2 %", at)

    def _check_path(self, path: str, at: Place) -> None:
        try:
            value = value_at(self, path)
        except (LookupError, AttributeError, ValueError, InputError):
            value = None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
            raise refusal(f"{path} is no positive number of the study", f"expected: {PATHS}", at)

    def _check_parameters_act(self) -> None:
        """Refuse factors on a kernel or a machine that no run has: they change nothing, so no fit can find them."""
        used = {
            "kernels": list(dict.fromkeys([*(c.kernel for c in self.cases), *(r.kernel for r in self.runs.values())])),
            "machines": list(dict.fromkeys(run.machine for run in self.runs.values() if run.machine is not None)),
        }
        for i, parameter in enumerate(self.parameters):
            for path in parameter.paths:
                kind, _, rest = path.partition(".")
                if kind in used and not any(rest.startswith(f"{name}.") for name in used[kind]):
                    known = ", ".join(f"{kind}.{name}" for name in used[kind])
                    raise refusal(f"{path}, which no run has", f"expected: {known}", ("parameters", i, "paths"))

    def _check_run(self, name: str, run: RunSpec, builder: RunBuilder) -> None:
        at: Place = ("runs", name)
        if run.machine is None and self.machines:
            raise refusal("no machine", f"expected: one of {', '.join(self.machines)}", (*at, "machine"))
        if run.machine is not None and run.machine not in self.machines:
            known = ", ".join(self.machines) or "none, since the study has only one"
            raise refusal(f"unknown machine {run.machine!r}", f"expected: {known}", (*at, "machine"))
        self._check_earlier(name, run, at)
        names = [*self.machine_of(run).drives, *self.arrays, *self.encrypted, *self.volumes]
        for device in devices_of(run):
            if device not in names:
                field = next((("file_systems", p, "on") for p, m in run.file_systems.items() if m.on == device), None)
                found = f"unknown device {device!r}"
                raise refusal(found, f"expected: {', '.join(names)}", (*at, *(field or ("workload", "targets"))))
        try:
            ScenarioSpec.model_validate(builder.document(name))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            context = first.get("ctx", {})
            inside = (*first["loc"], *context.get("at", ()))
            if inside and inside[0] == "machine":
                at = ("machine",) if run.machine is None else ("machines", run.machine)
                inside = inside[1:]
            elif inside and inside[0] in ("arrays", "encrypted", "volumes"):
                at = ()
            found = f"{context.get('found', first['msg'])}, in the run {name}"
            raise refusal(found, context.get("expected", "expected: what a scenario can be"), (*at, *inside)) from None

    def _check_earlier(self, name: str, run: RunSpec, at: Place) -> None:
        place = (*at, "after")
        for i, before in enumerate(run.after):
            if before not in self.runs:
                raise refusal(f"unknown run {before!r}", f"expected: {', '.join(self.runs)}", place)
            if before == name or before in run.after[:i]:
                raise refusal(f"{before} a second time", "expected: every other run once", place)
            told = [_tiobench_of(each.workload) for each in (run, self.runs[before])]
            if None in told or told[0] != told[1]:
                found = f"{before}, which is not the same tiobench with another number of threads"
                raise refusal(found, "expected: runs of one tiobench.pl, of nothing else", place)

    def _check_cells(self) -> None:
        for i, cell in enumerate(self.cells):
            if cell.run not in self.runs:
                allowed = f"expected: {', '.join(self.runs) or 'none, since there are no runs'}"
                raise refusal(f"unknown run {cell.run!r}", allowed, ("cells", i, "run"))
            known = figures_of(self.runs[cell.run].workload)
            if cell.figure not in known:
                found = f"unknown figure {cell.figure!r} of the run {cell.run}"
                raise refusal(found, f"expected: {', '.join(known)}", ("cells", i, "figure"))
            dimension = known[cell.figure]
            if cell.unit not in UNITS[dimension]:
                found = f"{cell.unit} for {cell.figure}, which is {in_words(dimension)}"
                raise refusal(found, f"expected: {', '.join(UNITS[dimension])}", ("cells", i, "unit"))
            if unit_value(cell.unit, self.conventions) is None:
                found = f"{cell.unit}, of which conventions do not say how many bytes it is"
                raise refusal(
                    found,
                    f"expected: conventions.{'MB' if cell.unit == 'GB/s' else cell.unit[:2]}",
                    ("cells", i, "unit"),
                )

    def _check_claims(self) -> None:
        known = self.figures
        for i, claim in enumerate(self.claims):
            sides: list[tuple[tuple[str, ...], tuple[str, ...]]] = [(("left",), claim.left), (("right",), claim.right)]
            if claim.against is not None:
                sides += [(("against", "left"), claim.against.left), (("against", "right"), claim.against.right)]
            for field, names in sides:
                for name in names:
                    if name in known:
                        continue
                    run, _, figure = name.rpartition(":")
                    found, allowed = f"{name!r}, which is no RUN:FIGURE", f"expected: runs {', '.join(self.run_ids)}"
                    if run in self.run_ids:
                        found = f"unknown figure {figure!r} of the run {run}"
                        allowed = (
                            f"expected: {', '.join(n.rpartition(':')[2] for n in known if n.startswith(run + ':'))}"
                        )
                    raise refusal(found, allowed, ("claims", i, *field))
            for left, right in claim.pairs:
                if known[left] != known[right]:
                    found = f"{left} ({in_words(known[left])}) over {right} ({in_words(known[right])})"
                    raise refusal(found, "expected: figures of one kind", ("claims", i))

    def _check_suspects(self) -> None:
        claims = {claim.id for claim in self.claims}
        cells = {cell.id for cell in (*self.all_cells, *self.zero_cells)}
        for i, suspect in enumerate(self.suspects):
            for field, known in (("cases", cells), ("cells", cells), ("claims", claims)):
                for name in getattr(suspect, field):
                    if name not in known:
                        kind = field[:-1]
                        raise refusal(f"unknown {kind} {name!r}", f"expected: ids of {field}", ("suspects", i, field))

    @property
    def run_ids(self) -> list[str]:
        """Every simulation of the study: its cases and its runs."""
        return [*(case.id for case in self.cases), *self.runs]

    @property
    def figures(self) -> dict[str, Dimension]:
        """Everything that the runs give, by ``RUN:FIGURE``."""
        workloads = {case.id: dd_of(self, case) for case in self.cases} | {
            name: run.workload for name, run in self.runs.items()
        }
        return {
            f"{run}:{figure}": dimension
            for run, workload in workloads.items()
            for figure, dimension in figures_of(workload).items()
        }

    @property
    def all_cells(self) -> tuple[Cell, ...]:
        """Every measured number that a run gives, but for those of 0."""
        megabyte = unit_value("MB/s", self.conventions) or math.nan
        cases = (
            Cell(case.id, case.use, case.id, "rate", case.rate, "MB/s", case.rate * megabyte, case.seconds)
            for case in self.cases
        )
        cells = (
            Cell(
                cell.id,
                cell.use,
                cell.run,
                cell.figure,
                cell.measured,
                cell.unit,
                cell.measured * (unit_value(cell.unit, self.conventions) or math.nan),
            )
            for cell in self.cells
            if cell.measured
        )
        return (*cases, *cells)

    @property
    def zero_cells(self) -> tuple[Cell, ...]:
        """The measured numbers of 0, which are compared by their difference."""
        return tuple(
            Cell(
                cell.id,
                cell.use,
                cell.run,
                cell.figure,
                0.0,
                cell.unit,
                0.0,
                within=cell.within,
                unit_value=unit_value(cell.unit, self.conventions) or math.nan,
            )
            for cell in self.cells
            if not cell.measured
        )

    @property
    def calibrate_cells(self) -> list[Cell]:
        """The cells that are fitted."""
        return [cell for cell in self.all_cells if cell.use == "calibrate"]

    @property
    def wanted_runs(self) -> list[str]:
        """The runs that a cell or a claim needs."""
        names = {cell.run for cell in (*self.all_cells, *self.zero_cells)}
        names |= {n.rpartition(":")[0] for claim in self.claims for pair in claim.pairs for n in pair}
        names |= {before for run in names for before in self.earlier(run)}
        return [run for run in self.run_ids if run in names]

    def earlier(self, run: str) -> tuple[str, ...]:
        """The runs whose amounts and times the report adds to those of a run."""
        return self.runs[run].after if run in self.runs else ()

    def whole(self, run: str) -> bool:
        """Whether a run is compared at its full size."""
        return run in self.runs and self.runs[run].whole

    def repetitions(self, run: str) -> int:
        """Of how many runs the mean is compared."""
        return self.runs[run].repetitions if run in self.runs else 1

    def suspected(self, name: str) -> str | None:
        """The mechanism suspected behind a cell that comes out wrong, or a claim, if one is written down."""
        return next((suspect.mechanism for suspect in self.suspects if name in suspect.names), None)


def _tiobench_of(workload: Workload) -> TiobenchStep | None:
    """The only step of a workload, if it is tiobench, with one thread; None otherwise."""
    if not isinstance(workload, ProgramsSpec) or len(workload.steps) > 1 or workload.processes > 1:
        return None
    step = workload.steps[0]
    return step.model_copy(update={"threads": 1}) if isinstance(step, TiobenchStep) else None


def _unique(where: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise refusal(f"{name} stands there twice", "expected: once", (where,))
        seen.add(name)


def study_names() -> list[str]:
    """The studies that come with raidsim."""
    return sorted(path.stem for path in _FOLDER.glob("*.yaml"))


def chosen_studies(names: Sequence[str], every: bool) -> list[StudySpec]:
    """The studies that a command works on.

    Parameters
    ----------
    names
        Names or files. Without any: all studies that come with raidsim but the modern ones, some of which simulate
        millions of I/Os a second and take minutes each, and those of single drives.
    every
        If true, and without names, these too.

    Raises
    ------
    InputError
        If there is no such study, or `every` is given with names.
    """
    if names and every:
        raise InputError("--all", f"found the studies {', '.join(names)} too", "expected: one of the two")
    if names:
        return [load_study(name) for name in names]
    found = [load_study(name) for name in study_names()]
    return [study for study in found if every or study.report not in ("modern", "drive")]


def load_study(name: str) -> StudySpec:
    """A study by its name, or from a file by its path.

    Raises
    ------
    InputError
        If there is no such study, or something in the file is wrong; names file, line and field.
    """
    if name in study_names():
        return load_spec(StudySpec, _FOLDER / f"{name}.yaml")
    path = Path(name)
    if not path.exists() and path.suffix not in (".yaml", ".yml"):
        raise InputError("study", f"{name!r} is neither a study nor a file", f"expected: {', '.join(study_names())}")
    return load_spec(StudySpec, path)
