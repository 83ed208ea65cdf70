"""fio through `raidsim serve`, beside `raidsim fio` of the same job: a table for docs/serving.md.

``python -m raidsim.tests.serve.beside_fio [--seconds 20] [--only N]``; it needs fio with the nbd engine, and a machine
that does nothing else. Both sides have the same scenario, with a CPU so fast that its work costs nothing: a real
client's own work is not in the model. The rates and latencies of fio are converted to simulated time by ``--speed``.
With ``--as-fast-as-possible`` they are the server's, since fio does not know the simulated time; nothing is late then,
so the comparison also holds on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NO_HOST = 1e-6
"""Path length (share) at which the host's CPU costs nothing."""
GOAL = 0.10
IOS = 4000
LATE = 0.05
_LEVELS = {"raid0": 4, "raid1": 2, "raid5": 4, "raid6": 5, "raid10": 4}


@dataclass(frozen=True, slots=True)
class Job:
    """One scenario: a drive, a level, what fio does, and simulated seconds per second."""

    drive: str
    level: str
    rw: str
    bs: str
    depth: int
    speed: float = 1.0

    @property
    def scenario(self) -> str:
        """The scenario file."""
        array = f"{{level: {self.level}}}" if self.level == "raid0" else f"{{level: {self.level}, bitmap: none}}"
        return (
            f"machine:\n  drives: {{model: {self.drive}, count: {_LEVELS[self.level]}}}\n"
            f"arrays:\n  md0: {array}\npath_length: {NO_HOST}\nworkload: {{kind: load}}\n"
        )

    def options(self, seconds: float | None) -> list[str]:
        """What fio is told, but for the engine and the device; without `seconds` it sends `IOS` requests."""
        words = f"--name=a --rw={self.rw} --bs={self.bs} --iodepth={self.depth} --size=64g --norandommap"
        mix = ["--rwmixread=70"] if self.rw == "randrw" else []
        timed = ["--time_based", f"--runtime={round(1e6 * seconds)}us"] if seconds is not None else []
        return [*words.split(), *mix, "--percentile_list=50:99", *(timed or [f"--number_ios={IOS}"])]


HDD, SATA, NVME = "WD5000AAKS", "Samsung-870-EVO-1TB", "Samsung-970-EVO-Plus-1TB"
JOBS = (
    Job(HDD, "raid0", "randread", "4k", 1),
    Job(HDD, "raid0", "randread", "4k", 64),
    Job(HDD, "raid1", "randread", "16k", 8),
    Job(HDD, "raid5", "randread", "4k", 16),
    Job(HDD, "raid5", "randwrite", "4k", 4),
    Job(HDD, "raid6", "randrw", "8k", 8),
    Job(HDD, "raid10", "randwrite", "16k", 8),
    Job(HDD, "raid10", "randrw", "4k", 32),
    Job(NVME, "raid0", "randread", "4k", 4, 0.005),
    Job(NVME, "raid1", "randread", "4k", 16, 0.005),
    Job(NVME, "raid5", "randrw", "16k", 8, 0.002),
    Job(NVME, "raid10", "randwrite", "4k", 16, 0.002),
)


def served(job: Job, seconds: float | None, folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """What fio reports of the served array, and the server's own summary."""
    file, socket = folder / "s.yaml", folder / "nbd.sock"
    file.write_text(job.scenario)
    pace = ["--as-fast-as-possible"] if seconds is None else ["--speed", str(job.speed)]
    command = [sys.executable, "-m", "raidsim", "serve", str(file), "--unix", str(socket), "--once", "--json", *pace]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        server.stderr.readline()
        uri = f"--uri=nbd+unix:///?socket={socket}"
        options = [*job.options(seconds), "--ioengine=nbd", uri, "--filesize=64g", "--output-format=json"]
        done = subprocess.run(["fio", *options], capture_output=True, text=True, check=True, cwd=folder)
        out, _ = server.communicate(timeout=60)
    finally:
        server.kill()
    return json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0], json.loads(out)


def simulated(job: Job, seconds: float, folder: Path) -> dict[str, Any]:
    """What `raidsim fio` reports of the same job."""
    options = shlex.join(["fio", *job.options(seconds), "--ioengine=libaio", "--direct=1", "--filename=/dev/md0"])
    command = [sys.executable, "-m", "raidsim", "fio", options, "--machine", str(folder / "s.yaml"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)["jobs"][0]
    return found


def figures(report: dict[str, Any], speed: float) -> dict[str, tuple[float, float, float]]:
    """IOPS, p50 and p99 (s) of each direction, in simulated time."""
    found = {}
    for direction in ("read", "write"):
        each = report[direction]
        if each["total_ios"]:
            percentiles = each["clat_ns"]["percentile"]
            p50, p99 = (1e-9 * speed * percentiles[f"{which}.000000"] for which in (50, 99))
            found[direction] = each["iops"] / speed, p50, p99
    return found


def of_server(summary: dict[str, Any]) -> dict[str, tuple[float, float, float]]:
    """The same of the server's summary."""
    return {
        direction: (each["per_second"], each["p50_s"], each["p99_s"])
        for direction, each in summary["requests"].items()
        if direction in ("read", "write")
    }


def main() -> None:
    """Run the jobs and print the table; exit status 1 if one that was not late misses the goal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="of the wall clock, for each job [20]")
    parser.add_argument("--as-fast-as-possible", action="store_true", dest="fast")
    parser.add_argument("--only", type=int, action="append", help="number of a job, from 1")
    asked = parser.parse_args()
    print("| | array | job | speed | late by | | IOPS: served, simulated | p50 (ms) | p99 (ms) | within 10 % |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    missed = False
    for number, job in enumerate(JOBS, 1):
        if asked.only and number not in asked.only:
            continue
        with tempfile.TemporaryDirectory() as name:
            fio, server = served(job, None if asked.fast else asked.seconds, Path(name))
            alone = simulated(job, server["simulated_s"], Path(name))
        late = 0.0 if asked.fast else server["lateness"]["share_of_latency"]
        others = figures(alone, 1.0)
        for direction, mine in (of_server(server) if asked.fast else figures(fio, job.speed)).items():
            wanted = others[direction]
            is_near = all(abs(a / b - 1) <= GOAL for a, b in zip(mine, wanted, strict=True))
            verdict = ("yes" if is_near else "no") if late <= LATE else "late"
            missed |= verdict == "no"
            pairs = (
                f"{mine[0]:,.0f}, {wanted[0]:,.0f}",
                *(f"{1e3 * a:.3g}, {1e3 * b:.3g}" for a, b in zip(mine[1:], wanted[1:], strict=True)),
            )
            what = f"{job.rw} {job.bs}, {job.depth} deep"
            cells = (
                number,
                f"{job.level}, {job.drive}",
                what,
                "as fast" if asked.fast else f"{job.speed:g}",
                f"{100 * late:.1f} %",
                direction,
            )
            print("| " + " | ".join(str(cell) for cell in (*cells, *pairs, verdict)) + " |", flush=True)
    sys.exit(missed)


if __name__ == "__main__":
    main()
