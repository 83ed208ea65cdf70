"""``python -m benchmarks``: how fast the simulator is; exit status 1 if something has become slower."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path

from raidsim.compiled.loader import in_use
from raidsim.scenarios.pictures.style import FORMS

from . import disksim, gate, history, long_run, paired, parts, pools, scaling, startup, tables
from .commands import COMMANDS
from .components import COMPONENTS, Chore, Loaded
from .loads import LOADS
from .measure import (
    EVENTS_AIM,
    GROWTH_AIM_MIB,
    RATIO_AIM,
    Memory,
    Speed,
    bare_timeouts_per_s,
    measure,
    measure_memory,
)

TIMEOUTS = 100_000
_SLOWER = 1


def all_chores() -> dict[str, Callable[[], Chore]]:
    """Loads, commands and components by name."""
    loads = {name: partial(_loaded, name) for name in LOADS}
    return {**loads, **COMMANDS, **COMPONENTS}


def _loaded(name: str) -> Chore:
    return Loaded(LOADS[name]())


def main(arguments: list[str] | None = None) -> None:
    """Run the benchmarks."""
    parser = argparse.ArgumentParser(prog="benchmarks", description="How fast the simulator itself is.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--rounds", type=int, default=9, help="rounds of which the median counts (default 9)")
    parser.add_argument("--record", action="store_true", help="append the ratios to the history")
    parser.add_argument("--history", type=Path, default=history.HISTORY, help="the file of earlier ratios")
    parser.add_argument("--scaling", action="store_true", help="time against I/Os, disks, outstanding, processes")
    parser.add_argument("--long", action="store_true", help="the same or the long run with 10 and 100 times as much")
    parser.add_argument("--plot", type=Path, help="draw what --scaling measures (svg, png or pdf)")
    parser.add_argument("--gate", action="store_true", help="what an I/O of a run or a replay costs, and may cost")
    parser.add_argument("--disksim", action="store_true", help="requests per CPU second beside DiskSim's")
    parser.add_argument("--parts", action="store_true", help="what an I/O costs, by part of the model")
    parser.add_argument("--startup", action="store_true", help="seconds until commands answer")
    parser.add_argument("--long-run", action="store_true", help="memory over a million I/Os (--long: 100 million)")
    parser.add_argument("--pools", action="store_true", help="fio's I/Os on a pool and on md (--long: 10 million)")
    parser.add_argument("--compiled", action="store_true", help="the compiled build and its source in alternating runs")
    parser.add_argument("--tables", action="store_true", help="all tables of docs/speed.md and docs/compiled.md")
    parser.add_argument("--speeds", action="store_true", help="only the ratios, as JSON")
    parser.add_argument(
        "--against",
        nargs="?",
        const="",
        metavar="REVISION",
        help="alternating runs of this source and a revision of git; default: HEAD, or HEAD~1 if model/ is unchanged",
    )
    given = parser.parse_args(arguments)
    if given.rounds < 1:
        parser.error(f"--rounds is {given.rounds}; at least 1")
    if given.plot is not None and not given.scaling:
        parser.error("--plot draws what --scaling measures")
    if given.plot is not None and given.plot.suffix.lower() not in FORMS:
        parser.error(f"--plot is {given.plot}; expected: a name that ends in {', '.join(FORMS)}")
    if given.scaling:
        found = scaling.measure_all(long=given.long)
        print(scaling.as_text(found))
        if given.plot is not None:
            scaling.draw(found, given.plot)
    elif given.speeds:
        speeds = measure(all_chores(), given.rounds, seconds=0.15, timeouts=TIMEOUTS)
        print(json.dumps({speed.name: speed.ratio for speed in speeds}))
    elif given.against is not None:
        sys.exit(_against(given.against or paired.usual_revision(), given.rounds))
    elif given.gate:
        sys.exit(_gate(given.rounds))
    elif given.disksim:
        print(disksim.as_text(disksim.compare(given.rounds, requests=20_000)))
    elif given.parts:
        if in_use():
            parser.error("--parts: a profile does not see into compiled modules; RAIDSIM_PURE=1 leaves them out")
        print(parts.as_text(parts.parts()))
    elif given.compiled:
        if not in_use():
            parser.error("--compiled: there is no build of this source; make compiled makes one")
        print(paired.as_text(paired.compare_build(given.rounds), "its source"))
    elif given.tables:
        for table in tables.print_all():
            print(table, flush=True)
    elif given.startup:
        print(startup.starts_as_text(startup.starts()), end="\n\n")
        print(startup.as_text(startup.measure()))
    elif given.pools:
        print(pools.as_text(pools.compare(10_000_000 if given.long else 100_000, min(given.rounds, 3))))
    elif given.long_run:
        run = long_run.long_run(100_000_000 if given.long else 1_000_000)
        print(long_run.as_text(run))
        sys.exit(0 if run.aim_met else 1)
    else:
        sys.exit(_bench(given.rounds, given.json, given.record, given.history))


def _against(revision: str, pairs: int) -> int:
    found = paired.compare(revision, pairs)
    print(paired.as_text(found, revision))
    return _SLOWER if any(one.is_regression for one in found) else 0


def _gate(rounds: int) -> int:
    chores = all_chores()
    speeds = measure({name: chores[name] for name in gate.COSTS}, rounds, seconds=0.15, timeouts=TIMEOUTS)
    print(gate.as_text(speeds))
    found = gate.too_expensive(speeds)
    for name in found:
        print(f"{name}: costs more than its limit")
    return _SLOWER if found else 0


def _bench(rounds: int, json_wanted: bool, record: bool, path: Path) -> int:
    chores = all_chores()
    speeds = measure(chores, rounds, seconds=0.15, timeouts=TIMEOUTS)
    earlier = history.last_entry(path)

    def again(names: list[str]) -> list[Speed]:
        return measure({name: chores[name] for name in names}, 2 * rounds, seconds=0.15, timeouts=TIMEOUTS)

    slower = [] if earlier is None else history.regressions(speeds, earlier, again)
    memory = measure_memory(1_000_000)
    bare = bare_timeouts_per_s(TIMEOUTS)
    print(as_json(bare, speeds, memory, slower) if json_wanted else as_table(bare, speeds, memory))
    said = "nothing to compare with: no entry of this machine, Python and build" if earlier is None else ""
    if earlier is not None:
        said = history.as_text(slower) or f"nothing is slower than on {earlier['date']} ({earlier['version']})"
    print(said, file=sys.stderr if json_wanted else sys.stdout)
    if record:
        history.record(speeds, path)
    return _SLOWER if slower else 0


def as_table(bare: float, speeds: list[Speed], memory: Memory) -> str:
    """The results to read."""
    lines = [
        f"bare SimPy timeouts: {bare:,.0f} per CPU second; the model is {history.kind()['build']}",
        "",
        f"{'load (member I/Os) or component':<44} {'per CPU s':>11} {'ratio':>7} {'+-':>6} {'events per I/O':>14}  aim",
    ]
    for speed in speeds:
        events = "-" if speed.events_per_io is None else f"{speed.events_per_io:.3f}"
        lines.append(
            f"{speed.name:<44} {speed.per_s:>11,.0f} {speed.ratio:>7.3f} {speed.error:>6.1%} {events:>14}  "
            f"{_yes(speed.aim_met)}"
        )
    lines += [f"{'aim for loads':<44} {'':>11} {RATIO_AIM:>7.3f} {'':>6} {EVENTS_AIM:>14.3f}", ""]
    lines.append(
        f"memory over {memory.member_ios:,} member I/Os of {memory.name}: {memory.growth_mib:+.2f} MiB "
        f"(aim: at most {GROWTH_AIM_MIB:g}; met: {_yes(memory.aim_met)})"
    )
    return "\n".join(lines)


def as_json(bare: float, speeds: list[Speed], memory: Memory, slower: list[history.Change]) -> str:
    """The results for programs."""
    return json.dumps(
        {
            "bare_timeouts_per_s": bare,
            "kind": history.kind(),
            "aims": {"ratio": RATIO_AIM, "events_per_io": EVENTS_AIM, "growth_mib": GROWTH_AIM_MIB},
            "speeds": [asdict(speed) | {"aim_met": speed.aim_met} for speed in speeds],
            "memory": asdict(memory) | {"aim_met": memory.aim_met},
            "slower": [asdict(change) for change in slower],
        },
        indent=2,
    )


def _yes(met: bool | None) -> str:
    return "-" if met is None else "yes" if met else "no"


if __name__ == "__main__":
    main()
