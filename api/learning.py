"""A box of which a few measurements are all that is known: what it does with other loads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..calibration.learning.loads import BoxLoad, Measured
from ..calibration.learning.next_job import CANDIDATES, NextJobs, next_jobs
from ..calibration.learning.posterior import SPREADS, Posterior, Prediction
from ..calibration.learning.posterior import learn as learn_box
from ..calibration.learning.reading import load_from, measurements
from ..calibration.learning.table import words
from ..calibration.learning.verify import Verified, verify
from ..model.core.errors import InputError
from .answer.tree import Answer
from .base import Value, within
from .tables.learn import learned_answer

__all__ = ["BoxLoad", "LearnedBox", "learn"]
MOST_NEXT = 20


class LearnedBox(Value):
    """What some measurements of a box tell of it.

    Attributes
    ----------
    measured
        The measurements: name, load, rate (I/Os a second), mean latencies (s).
    posterior
        Samples of all that the box may be.
    notes
        Measurements that were left out.
    """

    schema = "raidsim.learned"

    def __init__(self, measured: Sequence[Measured], posterior: Posterior, notes: Sequence[str]) -> None:
        self.measured = tuple(measured)
        self.posterior = posterior
        self.notes = tuple(notes)

    def predict(self, *loads: str | BoxLoad) -> tuple[Prediction, ...]:
        """What is expected of loads.

        Parameters
        ----------
        *loads
            As ``"block_size=4KiB,jobs=16,depth=8,read_share=70%"`` or :class:`BoxLoad`.

        Returns
        -------
        tuple of Prediction
            ``rate`` (I/Os a second), ``read_mean`` and ``write_mean`` (s). Each lies with a probability of 90 % in
            ``rate_range``, ``read_range`` and ``write_range``.

        Raises
        ------
        InputError
            If a load cannot be read.
        """
        return tuple(self.posterior.predict([_load(each) for each in loads])) if loads else ()

    def next_jobs(self, *asked: str | BoxLoad, count: int = 3) -> NextJobs:
        """The jobs that, measured next, would tell most.

        Parameters
        ----------
        *asked
            Loads whose rates are wanted; default: a grid of block sizes, depths and mixes.
        count
            How many jobs.
        """
        loads = [_load(each) for each in asked] or CANDIDATES
        return next_jobs(self.posterior, loads, count=within("count", count, 1, MOST_NEXT))

    def verify(self, *files: str | PathLike[str]) -> Verified:
        """Compare new measurements with what was expected of them.

        Parameters
        ----------
        *files
            As :func:`learn` takes them.

        Returns
        -------
        Verified
            ``checks`` (each measured, predicted, inside or not), ``inside`` (their share) and ``moved``: parameters
            that explain what is outside.
        """
        return verify(self.posterior, measurements([Path(each) for each in files])[0])

    def parameters(self) -> tuple[dict[str, Any], ...]:
        """Every parameter: name, unit, median, and the factor between the median and an end of its 90 % range."""
        return tuple(
            {"name": name, "unit": unit, "median": float(np.exp(middle)), "factor": float(np.exp((high - low) / 2))}
            for (name, unit), low, middle, high in zip(
                [(each.name, each.unit) for each in self.posterior.observed.model.parameters]
                + [(name, "") for name in SPREADS],
                *np.quantile(self.posterior.samples, (0.05, 0.5, 0.95), axis=0),
                strict=True,
            )
        )

    def answer(self, asked: Sequence[str | BoxLoad] = (), wanted: int = 0, verified: Verified | None = None) -> Answer:
        """The answer as a tree: predictions of loads, jobs to measure next, and a comparison with new measurements."""
        loads = [_load(each) for each in asked]
        jobs = self.next_jobs(*loads, count=wanted) if wanted else None
        return learned_answer(
            len(self.measured),
            self.parameters(),
            list(zip(map(words, loads), self.predict(*loads), strict=True)),
            jobs,
            verified,
            self.notes,
        )

    def _document(self) -> Mapping[str, Any]:
        return {
            "measured": [_shown(each) for each in self.measured],
            "parameters": self.parameters(),
            "notes": self.notes,
        }

    def _rows(self) -> Sequence[Mapping[str, Any]]:
        return self.parameters()

    def __repr__(self) -> str:
        return f"LearnedBox(of {len(self.measured)} measurements)"


def _load(load: str | BoxLoad) -> BoxLoad:
    return load_from(load, "load") if isinstance(load, str) else load


def _shown(measured: Measured) -> dict[str, Any]:
    return {
        "name": measured.name,
        **measured.load._asdict(),
        **dict(zip(measured._fields[2:], measured[2:], strict=True)),
    }


def learn(*files: str | PathLike[str], seed: int = 0) -> LearnedBox:
    """Learn from a few measurements what a box does with other loads.

    Nothing else needs to be known of it. Ten measurements of different block sizes, mixes, depths and jobs are a good
    start.

    Parameters
    ----------
    *files
        Tables in CSV (columns ``block_kib``, ``jobs``, ``depth``, ``read_percent``, ``direction``, ``iops``,
        ``mean_latency_us``), reports of fio in JSON, and folders of such reports.
    seed
        Of the samples.

    Returns
    -------
    LearnedBox
        Asked for more with `LearnedBox.predict`, `LearnedBox.next_jobs` and `LearnedBox.verify`.

    Raises
    ------
    InputError
        If a file is damaged, nothing was measured, or emcee is not installed.
    """
    if not files:
        raise InputError(
            "MEASUREMENTS", "none", "expected: a table (.csv), a report of fio in JSON, or a folder of them"
        )
    measured, notes = measurements([Path(each) for each in files])
    return LearnedBox(measured, learn_box(measured, seed=seed), notes)
