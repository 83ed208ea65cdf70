"""Which of a scenario's parameters move a figure of its prediction most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..calibration.sensitivity import runs
from ..calibration.sensitivity.parameters import default_parameters, given_parameters
from ..calibration.sensitivity.runs import TRAJECTORIES, Settings
from ..calibration.sensitivity.sensitivity import check_salib
from .answer.tree import Answer
from .base import Drawn
from .scenario import Source, scenario_of
from .support.progress import progress_bar
from .support.unfinished import evaluating
from .tables.sensitivity import document, sensitivity_answer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "TRAJECTORIES",
    "Sensitivity",
    "sensitivity",
]


_MOST_NAMED = 3


class Sensitivity(Drawn):
    """How much each uncertain parameter moves a figure.

    Attributes
    ----------
    found
        Everything that was found out: effects of Morris' screening (percent of the figure for a standard deviation of
        the parameter) and Sobol's shares of the variance.
    """

    schema = "raidsim.sensitivity"

    def __init__(self, found: runs.Sensitivity) -> None:
        self.found = found

    @property
    def matter(self) -> tuple[str, ...]:
        """Paths of the parameters that move the figure, the most important one first."""
        return tuple(self.found.parameters[position].path for position in self.found.leading)

    def answer(self) -> Answer:
        """See :meth:`Value.answer`."""
        return sensitivity_answer(self.found)

    def document(self) -> dict[str, Any]:
        """See :meth:`Value.document`."""
        return document(self.found)

    def figure(self) -> Figure:
        from .pictures.sensitivity import sensitivity_figure

        return sensitivity_figure(self.found)

    def _document(self) -> Mapping[str, Any]:
        return self.found.document()

    def _rows(self) -> Sequence[Mapping[str, Any]]:
        parameters: list[Mapping[str, Any]] = self.found.document()["parameters"]
        return [{name: value for name, value in each.items() if name != "moves"} for each in parameters]

    def __repr__(self) -> str:
        leading = ", ".join(self.matter[:_MOST_NAMED]) or "none"
        return f"Sensitivity({self.found.scenario.name!r}: {self.found.figure} follows most from {leading})"


def sensitivity(
    scenario: Source,
    *,
    figure: str = "rate",
    parameters: Sequence[str] | None = None,
    method: str | None = None,
    trajectories: int = TRAJECTORIES,
    samples: int | None = None,
    seed: int = 0,
    workers: int | None = None,
    progress: bool = True,
) -> Sensitivity:
    """Find out which parameters of a scenario move a figure of its prediction most.

    Parameters
    ----------
    scenario
        A :class:`Scenario`, a name of the library or a scenario file.
    figure
        Figure of the prediction, such as "rate", "iops" or "read_p99_seconds".
    parameters
        Paths that move, each perhaps with its standard deviation ("machine.memory=20%"). Default: all that is uncertain
        in the scenario.
    method
        "morris" or "sobol". Default: Morris' screening, then Sobol's indices of the parameters that matter.
    trajectories
        Number of trajectories of the screening.
    samples
        Samples of Sobol's indices, a power of two. Default: as many as 400 simulations allow.
    seed
        Of trajectories and samples.
    workers
        Processes; 0 is this one. Default: one per core. They make no difference to the results.
    progress
        If true, show progress after a second.

    Returns
    -------
    Sensitivity
        Effects and shares. After an interrupt (Ctrl-C) the same call goes on where it was stopped.

    Raises
    ------
    InputError
        If a path or figure means nothing, or if SALib is not installed.
    """
    settings = Settings(method, trajectories, samples, seed)
    check_salib()
    chosen = scenario_of(scenario)
    spec = chosen.spec
    given = given_parameters(spec, parameters) if parameters else None
    with evaluating(workers, "sensitivity", spec.model_dump_json(), given, figure, settings) as evaluator:
        moved = given or default_parameters(spec, runs.nominal(spec, evaluator).prices_read)
        found = runs.sensitivity(
            spec, moved, figure, evaluator, settings, lambda what: progress_bar(what, shown=progress)
        )
    return Sensitivity(found)
