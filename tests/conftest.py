"""How hypothesis looks for counter-examples: the same way in every run, or further every time.

`repeatable` is what `make test` uses. It draws the same examples in every run and on every machine, so that a change
that fails has caused it, and a failure can be repeated; it tells the example as it was drawn, because making a
scenario smaller can take longer than all tests. `explore`, which `make fuzz` uses, draws other ones every time, and
makes what fails as small as it can: pytest -m hypothesis --hypothesis-profile explore.
"""

from __future__ import annotations

import builtins
import gc
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings

from raidsim.compiled.loader import PURE
from raidsim.scenarios.workers.process_setup import search_less
from raidsim.tests.from_source import FROM_SOURCE

# Nothing that is imported or collected goes away, so there is nothing to search for until that is over.
gc.disable()

# The source is what is tested, whether a compiled build lies beside it or not, unless the environment asks for that.
os.environ.setdefault(PURE, "1")

_SAME_EVERYWHERE = ("raidsim.model.", "raidsim.scenarios.", "raidsim.calibration.", "raidsim.validation.")

_HERE = Path(__file__).parent
_SLOW = (
    "calibration/fio_study/test_study.py",
    "calibration/fit/test_fit.py",
    "cli/commands/test_advise.py",
    "api/pictures/test_pictures.py",
    "cli/commands/test_predict.py",
    "cli/commands/test_validate.py",
    "faults",
    "fuzz",
    "oracles",
    "phenomena",
    "scenarios/description/test_programs.py",
    "scenarios/comparison/test_side_by_side.py",
    "scenarios/sweeps/test_sweep_kill.py",
    "test_docs.py",
    "test_lessons.py",
    "test_shown_runs.py",
    "validation/conformance/md/test_resync_truth.py",
    "web",
)
"""Files and folders all of whose tests are marked slow: each of them is quick, and together they are not."""

_SOURCE_FILES = {place.split("::")[0] for place in FROM_SOURCE}

_LONGEST = (
    "validation/laws/hunting/test_hunt.py",
    "test_docs.py",
    "validation/conformance/md/test_timing.py",
    "web/test_browser.py",
    "calibration/fit/test_kept_profiles.py",
    "phenomena/test_gateway.py",
    "scenarios/running/test_steady_state.py",
    "phenomena/test_rebuild.py",
    "compiled/test_same_bits.py",
    "oracles/test_oracles.py",
    "cli/commands/test_predict.py",
    "test_how_to.py",
    "validation/conformance/md/test_readchoice.py",
    "scenarios/sweeps/test_sweep_kill.py",
    "scenarios/running/test_conservation.py",
    "phenomena/test_ceilings.py",
    "phenomena/test_side_by_side.py",
    "scenarios/advice/test_advice.py",
    "phenomena/test_mirrors.py",
    "calibration/fio_study/test_study.py",
    "scenarios/description/test_programs.py",
    "scenarios/timeline/test_timeline.py",
    "scenarios/running/test_random_scenarios.py",
    "scenarios/comparison/test_side_by_side.py",
    "phenomena/test_reproducible.py",
    "fuzz/test_corpus.py",
    "faults/test_killed_commands.py",
    "cli/commands/test_sweep.py",
)
"""Files that take longest: workers get a file each, these first, so that none has much to do when others are done."""

settings.register_profile(
    "repeatable",
    derandomize=True,
    database=None,
    print_blob=True,
    phases=(Phase.explicit, Phase.generate, Phase.target),
)
settings.register_profile("explore", max_examples=1000, print_blob=True, deadline=None)
settings.load_profile("repeatable")


@pytest.fixture(autouse=True, scope="session")
def _no_sum_of_floats() -> Iterator[None]:
    """Refuse the built-in sum of floats in the simulator: its last bits differ between versions of Python."""
    plain = builtins.sum

    def checked(values: Iterable[Any], /, start: Any = 0) -> Any:
        found = plain(values, start)
        if type(found) is float and sys._getframe(1).f_globals.get("__name__", "").startswith(_SAME_EVERYWHERE):
            raise RuntimeError(
                "floats are added by model/core/exact_sums.py or math.fsum: sum() differs in Python 3.12"
            )
        return found

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(builtins, "sum", checked)
        yield


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `-m source`, import only the files that have such tests."""
    if config.getoption("markexpr") != "source" or collection_path.suffix != ".py":
        return None
    return True if collection_path.relative_to(_HERE).as_posix() not in _SOURCE_FILES else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that are slow or need the source by their place; put what takes longest first for several workers."""
    slow = tuple(_HERE / name for name in _SLOW)
    marked = {path: any(path.is_relative_to(place) for place in slow) for path in {item.path for item in items}}
    for item in items:
        if marked[item.path]:
            item.add_marker(pytest.mark.slow(together=True))
        place = item.path.relative_to(_HERE).as_posix()
        if place in FROM_SOURCE or f"{place}::{getattr(item, 'originalname', None)}" in FROM_SOURCE:
            item.add_marker(pytest.mark.source)
    if "PYTEST_XDIST_WORKER" in os.environ:
        first = {_HERE / name: number for number, name in enumerate(_LONGEST)}
        items.sort(key=lambda item: first.get(item.path, len(first)))


def pytest_collection_finish() -> None:
    """Search among what tests make, as a command does, and not among thousands of tests."""
    search_less()
    gc.enable()
