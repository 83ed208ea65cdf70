"""Chooses what of a campaign is worth keeping: the fewest bytes that reach every step of our code that was reached.

    python -m raidsim.tests.fuzz.keep --folder build/fuzz

Steps are pairs of lines run one after the other. What the samples of the tests and the manual reach already counts as
reached, so that an input is kept for something that they do not do. Former crashes (`was-*`) stay.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import raidsim
from raidsim.tests.fuzz.check import trial
from raidsim.tests.fuzz.seeds import CORPUS, seeds
from raidsim.tests.fuzz.targets import TARGETS, Target

_OURS = str(Path(raidsim.__file__).parent)
_TESTS = f"{_OURS}/tests/"
MOST_BYTES = 6000
"""Of a target."""
FORMER = "was-"
Steps = set[tuple[str, int, int]]


def steps(target: Target, data: bytes) -> Steps:
    """The steps that an input makes."""
    found: Steps = set()

    def enter(frame: FrameType, event: str, argument: Any) -> Any:
        name = frame.f_code.co_filename
        if not name.startswith(_OURS) or name.startswith(_TESTS):
            return None
        before = frame.f_lineno

        def line(frame: FrameType, event: str, argument: Any) -> Any:
            nonlocal before
            if event == "line":
                found.add((name, before, frame.f_lineno))
                before = frame.f_lineno
            return line

        return line

    sys.settrace(enter)
    try:
        trial(target, data, 20.0)
    finally:
        sys.settrace(None)
    return found


def kept(target: Target, first: list[bytes], several: list[bytes]) -> list[bytes]:
    """The inputs worth keeping beside the `first` ones."""
    reached: Steps = set()
    for data in first:
        reached |= steps(target, data)
    fresh = {data: steps(target, data) - reached for data in several}
    chosen: list[bytes] = []
    left = MOST_BYTES
    while fresh:
        data = max(fresh, key=lambda each: (len(fresh[each] - reached) / (len(each) + 40), each))
        gained = fresh.pop(data) - reached
        if not gained:
            break
        if len(data) <= left:
            chosen.append(data)
            left -= len(data)
            reached |= gained
    return chosen


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description="keep what is worth keeping of a campaign")
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"))
    parser.add_argument("--only", default=",".join(TARGETS))
    asked = parser.parse_args()
    first = seeds()
    for name in asked.only.split(","):
        there = CORPUS / name
        there.mkdir(parents=True, exist_ok=True)
        former = [path.read_bytes() for path in sorted(there.glob(f"{FORMER}*"))]
        found = {path.read_bytes() for folder in (there, asked.folder / "corpus" / name) for path in folder.glob("*")}
        several = sorted(data for data in found - {*first[name], *former} if len(data) <= MOST_BYTES)
        chosen = kept(TARGETS[name], first[name] + former, several)
        for path in there.glob("*"):
            if not path.name.startswith(FORMER):
                path.unlink()
        for data in chosen:
            (there / f"{hashlib.sha256(data).hexdigest()[:12]}.bin").write_bytes(data)
        print(f"{name:22} {len(chosen):4} of {len(several):5,} inputs, {sum(map(len, chosen)):6,} bytes", flush=True)


if __name__ == "__main__":
    main()
