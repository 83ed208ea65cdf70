"""``python -m raidsim.compiled``: compile what is hot."""

from __future__ import annotations

import sys
from time import perf_counter

from .build import build, lacking
from .loader import BUILT


def main() -> None:
    """Build, or say what is missing: exit status 2."""
    missing = lacking()
    if missing:
        print(f"error: nothing was compiled: {missing}; raidsim runs without, in pure Python", file=sys.stderr)
        sys.exit(2)
    print("compiling: a minute or two", file=sys.stderr)
    begin = perf_counter()
    count = build()
    print(f"{count} modules in {BUILT} ({perf_counter() - begin:.0f} s)")


if __name__ == "__main__":
    main()
