"""Reads everything of the corpus once, as the fuzzer's checks want it: with its limits of time and memory.

python -m raidsim.tests.fuzz.replay [FOLDER]: findings on stdout, and status 1 if there are any.
"""

from __future__ import annotations

import sys
from pathlib import Path

from raidsim.tests.fuzz.check import MEGABYTES, peak_bytes, trial
from raidsim.tests.fuzz.seeds import CORPUS
from raidsim.tests.fuzz.targets import TARGETS


def inputs(name: str, corpus: Path = CORPUS) -> list[bytes]:
    """What is kept of a target."""
    return [path.read_bytes() for path in sorted((corpus / name).glob("*"))]


def main() -> None:
    """See the module."""
    corpus = Path(sys.argv[1]) if len(sys.argv) > 1 else CORPUS
    read = found = 0
    for name, target in TARGETS.items():  # what a first input loads is neither time nor memory of the reader's
        for path in sorted((corpus / name).glob("*"))[:1]:
            trial(target, path.read_bytes())
    for name, target in TARGETS.items():
        for path in sorted((corpus / name).glob("*")):
            read += 1
            finding = trial(target, path.read_bytes(), most_bytes=MEGABYTES << 20)
            if finding is not None:
                found += 1
                print(f"{path}: {finding.kind}: {finding.words}")
    print(f"{read} inputs of {len(TARGETS)} readers, {found} findings, {peak_bytes() >> 20} MiB at the most")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
