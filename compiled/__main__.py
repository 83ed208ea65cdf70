"""``python -m raidsim.compiled``: compile what is hot.

With ``--where-possible``, as `make predict` runs it: nothing is done where a build of this source is there, and what is
missing for one is a line, not an error.
"""

from __future__ import annotations

import sys
from time import perf_counter

from .build import build, lacking
from .loader import BUILT, ROOT, CompiledFinder

OPTION = "--where-possible"


def main(arguments: list[str]) -> None:
    """Build, or say what is missing: exit status 2, or 0 if it was asked for only where possible."""
    if arguments not in ([], [OPTION]):
        print(f"error: {' '.join(arguments)}: there is one option, {OPTION}", file=sys.stderr)
        sys.exit(2)
    optional = arguments == [OPTION]
    if optional and CompiledFinder(BUILT, ROOT).fresh:
        return
    missing = lacking()
    if missing and optional:
        print(f"nothing is compiled, so all takes about twice as long: {missing}", file=sys.stderr)
        return
    if missing:
        print(f"error: nothing was compiled: {missing}; raidsim runs without, in pure Python", file=sys.stderr)
        sys.exit(2)
    print("compiling the model: a minute or two, once", file=sys.stderr)
    begin = perf_counter()
    count = build()
    print(f"{count} modules in {BUILT} ({perf_counter() - begin:.0f} s)", file=sys.stderr if optional else sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
