"""`python -m raidsim.validation.few_shot`: raidsim learns boxes from a few measurements, next to other methods.

Finished draws are kept in build/few-shot.jsonl, so it goes on where it was stopped. With `--record` the manual gets the
table and the picture.
"""

from __future__ import annotations

import argparse
import sys

from ...compiled.loader import ROOT
from .benchmark import all_draws, keep, outcomes, summary
from .shown import draw, study_table, table


def main() -> None:
    """Try all draws, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m raidsim.validation.few_shot", description=__doc__)
    parser.add_argument("--record", action="store_true", help="keep the result for the manual")
    record = parser.parse_args().record

    def tell(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    lines = summary(list(outcomes(ROOT / "build" / "few-shot.jsonl", all_draws(), tell)))
    print(table(lines), study_table(lines), sep="\n", end="")
    if record:
        keep(lines)
        draw(lines, ROOT / "docs" / "few-shot.svg")
        tell("Kept; into the manual with: raidsim drift --pages")


if __name__ == "__main__":
    main()
