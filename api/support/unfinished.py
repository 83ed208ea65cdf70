"""Commands that take long: what they have simulated is kept when they are interrupted, and the same command goes on."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ...calibration.fit.profile import data_folder
from ...calibration.simulation.evaluator import Evaluator
from ...calibration.simulation.kept_results import KeptResults
from ...model.core.errors import WorkersFailed


@contextmanager
def evaluating(workers: int | None, command: str, *work: object) -> Iterator[Evaluator]:
    """Yield what runs the simulations of a command; `work` is what its results depend on, and nothing else."""
    digest = hashlib.sha256(repr(work).encode()).hexdigest()[:16]
    kept = KeptResults(data_folder() / "unfinished", f"{command}-{digest}", _note)
    kept.check()
    if kept.found:
        _note(f"{kept.found:,} simulations were done when this command was interrupted; it goes on from there")
    try:
        with Evaluator(workers, kept) as evaluator:
            yield evaluator
    except (KeyboardInterrupt, WorkersFailed):
        if count := kept.write():
            _note(f"{count:,} simulations are kept in {kept.path}; the same command goes on from there")
        raise
    except BaseException:
        kept.discard()
        raise
    kept.discard()


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
