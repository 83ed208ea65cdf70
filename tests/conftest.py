"""How hypothesis looks for counter-examples: the same way in every run, or further every time.

`repeatable` is what `make test` uses. It draws the same examples in every run and on every machine, so that a change
that fails has caused it, and a failure can be repeated; it tells the example as it was drawn, because making a
scenario smaller can take longer than all tests. `explore`, which `make fuzz` uses, draws other ones every time, and
makes what fails as small as it can: pytest -m hypothesis --hypothesis-profile explore.
"""

from __future__ import annotations

import os

from hypothesis import Phase, settings

from raidsim.compiled.loader import PURE

# The source is what is tested, whether a compiled build lies beside it or not.
os.environ.setdefault(PURE, "1")

settings.register_profile(
    "repeatable",
    derandomize=True,
    database=None,
    print_blob=True,
    phases=(Phase.explicit, Phase.generate, Phase.target),
)
settings.register_profile("explore", max_examples=1000, print_blob=True)
settings.load_profile("repeatable")
