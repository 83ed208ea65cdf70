"""``python -m benchmarks``: measures and prints; it judges nothing, so the exit status is 0."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from .measure import EVENTS_AIM, GROWTH_AIM_MIB, RATIO_AIM, Memory, Speed, measure_memory, measure_speed


def main() -> None:
    """Run the benchmarks."""
    parser = argparse.ArgumentParser(prog="benchmarks", description="How fast the simulator itself is.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--long", action="store_true", help="memory over 10 million member I/Os, not 1 million")
    parser.add_argument("--rounds", type=int, default=7, help="rounds of which the median counts (default 7)")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error(f"--rounds is {arguments.rounds}; at least 1")
    bare, speeds = measure_speed(arguments.rounds, requests=30_000, timeouts=200_000)
    memory = measure_memory(10_000_000 if arguments.long else 1_000_000)
    print(as_json(bare, speeds, memory) if arguments.json else as_table(bare, speeds, memory))


def as_table(bare: float, speeds: list[Speed], memory: Memory) -> str:
    """The results to read."""
    lines = [
        f"bare SimPy timeouts: {bare:,.0f}/s",
        "",
        f"{'load':<38} {'member I/O/s':>12} {'ratio':>6} {'events per I/O':>14}  aim met",
    ]
    lines += [
        f"{speed.name:<38} {speed.member_ios_per_s:>12,.0f} {speed.ratio:>6.3f} {speed.events_per_io:>14.3f}  "
        f"{_yes(speed.aim_met)}"
        for speed in speeds
    ]
    lines += [
        f"{'aim':<38} {'':>12} {RATIO_AIM:>6.3f} {EVENTS_AIM:>14.3f}",
        "",
    ]
    lines.append(
        f"memory over {memory.member_ios:,} member I/Os of {memory.name}: {memory.growth_mib:+.2f} MiB "
        f"(aim: at most {GROWTH_AIM_MIB:g}; met: {_yes(memory.aim_met)})"
    )
    return "\n".join(lines)


def as_json(bare: float, speeds: list[Speed], memory: Memory) -> str:
    """The results for programs."""
    return json.dumps(
        {
            "bare_timeouts_per_s": bare,
            "aims": {"ratio": RATIO_AIM, "events_per_io": EVENTS_AIM, "growth_mib": GROWTH_AIM_MIB},
            "speeds": [asdict(speed) | {"aim_met": speed.aim_met} for speed in speeds],
            "memory": asdict(memory) | {"aim_met": memory.aim_met},
        },
        indent=2,
    )


def _yes(met: bool | None) -> str:
    return "-" if met is None else "yes" if met else "no"


if __name__ == "__main__":
    main()
