"""Results of studies' runs that come with raidsim: `raidsim predict` shows them at once and then verifies them.

There is one file a study, with a line a run. A result belongs to a run by the same hash as results of an interrupted
command do (:mod:`.asked`), and to one model (:func:`~raidsim.scenarios.sweeps.model_version.model_fingerprint`): the
machine, the workload and the fitted parameters are in the first, code and catalogues in the second. What another model
gave is never taken for a result of this one. The CPU time that each run took says, for any model, what to expect.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from ...model.core.errors import InputError
from ...model.files.atomic_file import write_whole
from ...scenarios.running.base.prediction import Prediction
from ...scenarios.sweeps.model_version import model_fingerprint
from ..study.figures import figures_in
from .asked import Asked
from .study_runs import StudyRuns

FOLDER = Path(__file__).parent.parent / "predictions"
"""Where the files are."""
_KEY = 32
"""Hexadecimal digits of a run's hash that are kept."""
_ROUND = 2
"""Significant digits of a CPU time."""


class KeptPredictions:
    """What is kept of a study.

    Parameters
    ----------
    study
        The study's name.

    Attributes
    ----------
    model
        Hash of the model that gave the results; empty if nothing is kept.
    cpu_s
        CPU time (s) of each run, by its name.

    Raises
    ------
    InputError
        If the file is damaged.
    """

    def __init__(self, study: str) -> None:
        self._path = FOLDER / f"{study}.json"
        self._rows: dict[str, dict[str, Any]] = {}
        self.model = ""
        self.cpu_s: dict[str, float] = {}
        if self._path.exists():
            self._read()

    def _read(self) -> None:
        try:
            document = json.loads(self._path.read_text(encoding="utf-8"))
            self.model = str(document["model"])
            for row in document["runs"]:
                self._rows[row["key"]] = row["prediction"]
                self.cpu_s.setdefault(row["run"], float(row["cpu_s"]))
        except (ValueError, LookupError, TypeError, OSError) as error:
            raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> InputError:
        return InputError(str(self._path), f"no kept predictions ({error})", "expected: what --keep has written")

    @cached_property
    def _adapter(self) -> TypeAdapter[Prediction]:
        return TypeAdapter(Prediction)

    @property
    def current(self) -> bool:
        """Whether the results are those of this model."""
        return self.model == model_fingerprint()

    def get(self, asked: Asked, figures: Iterable[str]) -> Prediction | None:
        """The result of a run, if this model gave one and it has all `figures`."""
        row = self._rows.get(asked.key[:_KEY]) if self.current else None
        if row is None:
            return None
        try:
            found = self._adapter.validate_python(row)
        except ValidationError as error:
            raise self._damaged(error) from None
        return found if set(figures) <= found.figures.keys() else None

    def results(self, runs: StudyRuns) -> dict[str, Prediction]:
        """The results of a study's runs that there are, by the runs' hashes."""
        figures = runs.figures()
        found = {asked.key: self.get(asked, figures[run]) for run, asked in runs.named()} if self.current else {}
        return {key: prediction for key, prediction in found.items() if prediction is not None}

    def write(self, runs: StudyRuns, results: dict[str, tuple[Prediction, float]]) -> Path:
        """Keep all results of a study's runs, with their CPU times (s), by the runs' hashes; return the file."""
        lines: dict[str, str] = {}
        for run, asked in runs.named():
            prediction, cpu_s = results[asked.key]
            told = self._adapter.dump_python(prediction, exclude_defaults=True)
            row = {"run": run, "cpu_s": float(f"{cpu_s:.{_ROUND}g}"), "key": asked.key[:_KEY], "prediction": told}
            lines.setdefault(asked.key, json.dumps(row, separators=(",", ":")))
        head = f'{{"study": {json.dumps(runs.study.id)}, "model": "{model_fingerprint()}", "runs": [\n'
        self._path.parent.mkdir(exist_ok=True)
        write_whole(self._path, head + ",\n".join(lines.values()) + "\n]}\n")
        return self._path


def shown_part(prediction: Prediction, figures: Iterable[str]) -> Prediction:
    """Only what the comparison of a study shows of a run: some of its figures, and the busiest of its parts."""
    given = figures_in(prediction)
    top = max(prediction.usages, key=lambda usage: (usage.utilization, usage.name))
    return Prediction(
        seconds=prediction.seconds,
        measured_s=prediction.measured_s,
        rate=prediction.rate,
        iops=prediction.iops,
        usages=(replace(top, ways=()),),
        bottleneck=prediction.bottleneck,
        latencies=prediction.latencies,
        member_ios=prediction.member_ios,
        rebuilds=(),
        events=prediction.events,
        figures={name: given[name] for name in sorted(figures) if name in given},
    )
