"""All tables of docs/speed.md and docs/compiled.md, one after the other: run it where nothing else runs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

from raidsim.compiled.loader import PURE, ROOT

TABLES = (
    ("docs/speed.md, Ratios", True, ()),
    ("docs/speed.md, What an I/O costs", True, ("--parts",)),
    ("docs/speed.md, Compared with DiskSim", False, ("--disksim",)),
    ("docs/speed.md, Scaling", True, ("--scaling", "--plot", "docs/scaling.svg")),
    ("docs/speed.md, Time to the first result", True, ("--startup",)),
    ("docs/compiled.md, How much faster it is", False, ("--compiled",)),
)
"""Page and section, whether the model runs from source, and what prints the table."""


def print_all() -> Iterator[str]:
    """Each table under the name of its page, as soon as it is measured."""
    for title, from_source, options in TABLES:
        environment = {name: value for name, value in os.environ.items() if name != PURE}
        if from_source:
            environment[PURE] = "1"
        command = [sys.executable, "-m", "benchmarks", *options]
        # Of this package itself.
        done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=False)  # nosec B603
        yield f"== {title} ==\n\n{done.stdout}"
