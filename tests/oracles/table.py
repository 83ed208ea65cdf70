"""Every oracle beside what the model gives, as a table in Markdown.

python -m raidsim.tests.oracles.table [--times N]: N times as many runs as the tests make, for narrower intervals.
"""

from __future__ import annotations

import argparse

from raidsim.tests.oracles.arithmetic import arithmetic
from raidsim.tests.oracles.background import background
from raidsim.tests.oracles.block_layer import block_layer
from raidsim.tests.oracles.closed import closed
from raidsim.tests.oracles.coverage import SEEDS, cases, held
from raidsim.tests.oracles.disks import disks
from raidsim.tests.oracles.forks import forks
from raidsim.tests.oracles.inside import inside
from raidsim.tests.oracles.oracle import Oracle, Outcome, outcome
from raidsim.tests.oracles.queues import queues

TABLES = {
    "Open queues": queues,
    "Closed networks": closed,
    "Forks and joins": forks,
    "Mechanics of disks": disks,
    "Queues and caches inside": inside,
    "Tags and throttling": block_layer,
    "Destaging, scrubs and rebuilds": background,
    "Arithmetic of arrays": arithmetic,
}
"""What makes the oracles, by what they are about."""


def every() -> list[Oracle]:
    """All oracles."""
    return [oracle for make in TABLES.values() for oracle in make()]


def figure(value: float, unit: str) -> str:
    """A figure as people write it: milliseconds below a second."""
    if unit == "s" and abs(value) < 1:
        return f"{1e3 * value:.4g} ms"
    return f"{value:.4g}/s" if unit == "1/s" else f"{value:.4g} {unit}".rstrip()


def row(found: Outcome) -> str:
    """A row of the table."""
    oracle = found.oracle
    known = figure(oracle.low, oracle.unit)
    if oracle.is_bound:
        known += f" to {figure(oracle.high, oracle.unit)}"
    spread = f"± {found.half_width / abs(found.mean):.2%}" if found.half_width else ""
    error = "within" if oracle.is_bound and not found.error else f"{round(found.error, 4) + 0.0:+.2%}"
    holds = "" if found.holds else " **differs**"
    simulated = f"{figure(found.mean, oracle.unit)} {spread}".rstrip()
    return f"| {oracle.name} | {oracle.source} | {known} | {simulated} | {error}{holds} |".replace("%", " %").replace(
        "  %", " %"
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="oracles beside the model")
    parser.add_argument("--times", type=int, default=1)
    times = parser.parse_args().times
    for title, make in TABLES.items():
        print(f"\n## {title}\n\n| what | source | exact | simulated | error |\n|---|---|---|---|---|")
        for oracle in make():
            print(row(outcome(oracle, times)), flush=True)
    print("\n## Intervals that end a run\n\n| what | exact | intervals that hold it |\n|---|---|---|")
    for case in cases():
        runs = SEEDS * times
        print(f"| {case.name} | {case.exact:.4g} | {held(case, runs)} of {runs} |", flush=True)


if __name__ == "__main__":
    main()
