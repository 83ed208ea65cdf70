"""How hypothesis looks for counter-examples: the same way in every run, or further every time.

`repeatable` is what `make test` uses. It draws the same examples in every run and on every machine, so that a change
that fails has caused it, and a failure can be repeated; it tells the example as it was drawn, because making a
scenario smaller can take longer than all tests. `explore`, which `make fuzz` uses, draws other ones every time, and
makes what fails as small as it can: pytest -m hypothesis --hypothesis-profile explore.
"""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import Phase, settings

from raidsim.compiled.loader import PURE

# The source is what is tested, whether a compiled build lies beside it or not.
os.environ.setdefault(PURE, "1")

_SAME_EVERYWHERE = ("raidsim.model.", "raidsim.scenarios.", "raidsim.calibration.", "raidsim.validation.")

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
            raise RuntimeError("floats are added by model/sum_in_order.py or math.fsum: sum() differs in Python 3.12")
        return found

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(builtins, "sum", checked)
        yield
