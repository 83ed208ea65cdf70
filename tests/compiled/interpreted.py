"""Which Python functions run for every member I/O of a run, with the modules compiled in a folder.

``python -m raidsim.tests.compiled.interpreted FOLDER [RUN...]``: prints, for all runs or some, the functions that are
called more than :data:`MOST` times a member I/O; without a build if FOLDER is empty. Calls that a run makes once, or
once a window, cancel out: what counts is how many more calls a long run makes than a short one.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from raidsim.compiled.loader import ROOT, CompiledFinder, stay_pure

MOST = 0.03
"""Calls a member I/O: a window of a measurement, or a batch of random numbers, has more I/Os than its inverse."""
ONCE_A_WINDOW = ("load_windows.py", "latency_bins", "_await_window", "starvation.py")
"""What looks at the counters at the end of a window, or of a run: files and functions."""
OURS = ("/model/", "/scenarios/", "/simpy/")
"""Folders whose functions count: what Python and numpy call for each other is called by one of these."""
LIBRARY = {
    "all-flash-database": ("", 0.1, 0.3),
    "backup-and-vms": ("", 2.0, 5.0),
    "backup-target": ("", 2.0, 5.0),
    "database-server": ("", 2.0, 8.0),
    "home-nas": ("", 3.0, 10.0),
    "hybrid-mirror": ("", 2.0, 6.0),
    "journaled-archive": ("", 2.0, 4.0),
    "mail-spool": ("precision=null", 5.0, 15.0),
    "nvme-raid10": ("", 0.01, 0.04),
    "shared-disks": ("", 3.0, 10.0),
    "video-ingest": ("", 3.0, 10.0),
    "vm-host": ("", 1.0, 5.0),
}
"""Scenarios of loads: what else is set, and two durations (s)."""
MACHINE = """
machine: {{model: server, drives: {{model: WD2500JB, count: 4}}{machine}}}
{more}
workload: {{kind: load, read_share: 50%, duration: {duration}s, warm_up: 0s, {load}}}
"""
ARRAY = "arrays: {md0: {level: raid5, chunk: 64KiB}}"
MIXED = "jobs: 4, pattern: mixed, think_time: 1ms, think_distribution: exponential"
MADE = {
    "a drive alone": ("", "", "depth: 8, targets: [disk0]"),
    "a controller that writes through": (
        ", controllers: {raid: {model: LSI-9260-8i, overrides: {battery: failed}}}",
        "arrays: {md0: {level: raid5, chunk: 64KiB, controller: raid}}",
        MIXED,
    ),
    "dm-crypt": (
        "",
        "encrypted: {crypt0: {on: disk0, rate: 1GB/s, source: assumed}}",
        "depth: 8, targets: [crypt0]",
    ),
    "bursts": ("", ARRAY, "total_iops: 100, arrivals: {kind: bursty, burst_factor: 4, burst_share: 10%}"),
}
"""What else the machine has, arrays and ciphers, and the load."""


def main(arguments: list[str]) -> None:
    """Print one JSON object: the functions of each run, by name."""
    if arguments[0]:
        sys.meta_path.insert(0, CompiledFinder(Path(arguments[0]), ROOT))
    else:
        stay_pure()
    runs = _runs()
    found = {name: _functions(runs[name]) for name in arguments[1:] or runs}
    print(json.dumps(found, indent=1))


def _runs() -> dict[str, Callable[[int], int]]:
    """Each run, which is told whether it is the short (0) or the long one (1) and returns its member I/Os."""
    from raidsim.scenarios.documents.document import document_from, read_document
    from raidsim.scenarios.running.simulate import simulate

    def library(name: str) -> Callable[[int], int]:
        more, *durations = LIBRARY[name]

        def run(which: int) -> int:
            sets = [f"duration={durations[which]}s", *filter(None, (more,))]
            return simulate(read_document(name, sets).spec()).member_ios

        return run

    def made(name: str) -> Callable[[int], int]:
        machine, more, load = MADE[name]

        def run(which: int) -> int:
            text = MACHINE.format(machine=machine, more=more, load=load, duration=(3, 9)[which])
            return simulate(document_from(text).spec()).member_ios

        return run

    return {
        **{name: library(name) for name in LIBRARY},
        **{name: made(name) for name in MADE},
        "replay, open": _replay(depth=None),
        "replay, closed": _replay(depth=4),
    }


def _replay(depth: int | None) -> Callable[[int], int]:
    from raidsim.scenarios.documents.document import document_from
    from raidsim.scenarios.traces.reading import open_trace
    from raidsim.scenarios.traces.replay.replay import ReplayOptions, replay

    spec = document_from(MACHINE.format(machine="", more=ARRAY, load="depth: 1", duration=1)).spec()

    def run(which: int) -> int:
        lines = (f"0,{number * 7919 % 100_000 * 8},4096,{'rw'[number % 2]},{number / 50}" for number in range(600))
        trace = open_trace("\n".join(lines).encode(), "spc")
        options = ReplayOptions(depth=depth, limit=(200, 600)[which])
        return replay(spec, trace.columns, options).prediction.member_ios

    return run


def _functions(run: Callable[[int], int]) -> dict[str, float]:
    """Calls a member I/O of each function that is called often."""
    run(0)  # what is read once and kept
    (few, short), (many, long) = (_calls(run, which) for which in (0, 1))
    ios = long - short
    calls = {code: (count - few[code]) / ios for code, count in many.items()}
    named = {
        f"{Path(code.co_filename).name}:{code.co_firstlineno} {code.co_qualname}": round(each, 3)
        for code, each in sorted(calls.items(), key=lambda item: -item[1])
        if each > MOST and any(part in code.co_filename for part in OURS)
    }
    return {name: each for name, each in named.items() if not any(part in name for part in ONCE_A_WINDOW)}


def _calls(run: Callable[[int], int], which: int) -> tuple[Counter[CodeType], int]:
    """How often each interpreted function is called, also when a generator goes on; and the member I/Os."""
    calls: Counter[CodeType] = Counter()

    def count(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            calls[frame.f_code] += 1

    sys.setprofile(count)
    try:
        ios = run(which)
    finally:
        sys.setprofile(None)
    return calls, ios


if __name__ == "__main__":
    main(sys.argv[1:])
