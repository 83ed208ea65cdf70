"""pgbench on arrays that `raidsim serve` serves, beside a replay of its trace: a comparison for docs/serving.md.

``python -m raidsim.tests.serve.beside_pgbench [--transactions 250] [--trace NUMBER]``. It needs PostgreSQL, fuse2fs,
nbdfuse, nbdkit and ``/dev/fuse``, and a user who is not root, as PostgreSQL does. Everything is in simulated time, from
the mount to the end of PostgreSQL, so the comparison also holds on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

GOAL = 0.15
CLIENTS = 8
BUFFERS = "-c shared_buffers=4MB"
"""Less than the 150 MB of the database, so table pages are written at random offsets."""
ARRAYS = (
    ("raid10", "WD5000AAKS", 4),
    ("raid5", "WD5000AAKS", 4),
    ("raid6", "WD5000AAKS", 4),
    ("raid1", "Samsung-870-EVO-1TB", 2),
)
RAIDSIM = (sys.executable, "-m", "raidsim")


def run(folder: Path, *command: str) -> str:
    """What a program prints; it must succeed."""
    paths = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    environment = {**os.environ, "PATH": ":".join([os.environ["PATH"], *map(str, paths)])}
    # pg_ctl's server keeps the pipe open: a file does not wait for it.
    with tempfile.TemporaryFile("w+") as out:
        done = subprocess.run(command, cwd=folder, env=environment, stdout=out, stderr=out, check=False, timeout=600)
        out.seek(0)
        text = out.read()
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {text}")
    return text


def until(is_there: Callable[[], bool]) -> None:
    """Wait for what a program makes when it is ready, for 30 s at most."""
    for _ in range(300):
        if is_there():
            return
        time.sleep(0.1)
    sys.exit("a server has not started within 30 s")


@contextmanager
def mounted(folder: Path, image: str) -> Iterator[None]:
    """The file system of an image in `folder`/files."""
    run(folder, "fuse2fs", "-o", "fakeroot", image, "files")
    try:
        yield
    finally:
        run(folder, "fusermount", "-u", "files")


@contextmanager
def database(folder: Path, options: str = "") -> Iterator[None]:
    """PostgreSQL on the mounted file system."""
    run(folder, "pg_ctl", "-D", "files/db", "-o", f"-k {folder} -h '' {options}", "-l", "log", "-w", "start")
    try:
        yield
    finally:
        run(folder, "pg_ctl", "-D", "files/db", "-w", "stop")


@contextmanager
def started(folder: Path, path: str, *command: str, output: Path | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """A program that runs until the end of the block; `path` is there when it is ready."""
    with (output or folder / "messages").open("wb") as out:
        program = subprocess.Popen(command, cwd=folder, stdout=out, stderr=subprocess.DEVNULL)
        try:
            until(lambda: program.poll() is not None or (folder / path).exists())
            yield program
        finally:
            program.terminate()
            program.wait(60)
            if path.endswith(".sock"):
                (folder / path).unlink(missing_ok=True)


def prepare(folder: Path) -> None:
    """A database of pgbench in an image."""
    for name in ("files", "array"):
        (folder / name).mkdir()
    with (folder / "pg.img").open("wb") as image:
        image.truncate(1 << 30)
    run(folder, "mkfs.ext4", "-q", "pg.img")
    with mounted(folder, "pg.img"):
        run(folder, "initdb", "-D", "files/db")
        with database(folder):
            run(folder, "pgbench", "-h", str(folder), "-i", "-s", "10", "postgres")


def served(folder: Path, name: str, transactions: int) -> float:
    """Transactions per second of an array that is served; its trace is in `name`.log."""
    serve = (
        *RAIDSIM,
        "serve",
        f"{name}.yaml",
        "--unix",
        "md0.sock",
        "--base",
        "pg.img",
        "--as-fast-as-possible",
        "--json",
    )
    kit = ("nbdkit", "-f", "-U", "whole.sock", "--filter=blocksize", "nbd", "socket=md0.sock", "minblock=512")
    summary = folder / f"{name}.json"
    with ExitStack() as stack:
        stack.enter_context(started(folder, "md0.sock", *serve, "--trace", f"{name}.log", output=summary))
        stack.enter_context(started(folder, "whole.sock", *kit))
        stack.enter_context(started(folder, "array/nbd", "nbdfuse", "array", "--unix", "whole.sock"))
        stack.enter_context(mounted(folder, "array/nbd"))
        stack.enter_context(database(folder, BUFFERS))
        load = ("-n", "-c", str(CLIENTS), "-t", str(transactions), "--random-seed=1")
        run(folder, "pgbench", "-h", str(folder), *load, "postgres")
    seconds: float = json.loads(summary.read_text())["simulated_s"]
    return CLIENTS * transactions / seconds


def replayed(folder: Path, trace: str, name: str, transactions: int) -> float:
    """Transactions per second of a replay on an array."""
    command = (*RAIDSIM, "replay", f"{trace}.log", "--machine", f"{name}.yaml", "--closed", "--depth", "1", "--json")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    seconds: float = json.loads(done.stdout)["measured_s"]
    return CLIENTS * transactions / seconds


def main() -> None:
    """Print the table; exit status 1 if a rate misses the goal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--transactions", type=int, default=250, help="of each of the 8 clients [250]")
    parser.add_argument("--trace", type=int, default=1, help="number of the array whose trace is replayed [1]")
    asked = parser.parse_args()
    missed = False
    with tempfile.TemporaryDirectory() as where:
        folder = Path(where)
        prepare(folder)
        rates = {}
        for level, drive, count in ARRAYS:
            array = f"{{level: {level}, bitmap: none}}"
            machine = f"machine:\n  drives: {{model: {drive}, count: {count}}}\narrays:\n  md0: {array}\n"
            (folder / f"{level}.yaml").write_text(machine + "workload: {kind: load}\n")
            rates[level] = served(folder, level, asked.transactions)
        print("| array | replay | served | difference |\n|---|---|---|---|")
        for level, drive, count in ARRAYS:
            rate = replayed(folder, ARRAYS[asked.trace - 1][0], level, asked.transactions)
            difference = rate / rates[level] - 1
            missed |= abs(difference) > GOAL
            print(f"| {level}, {count} {drive} | {rate:.1f} | {rates[level]:.1f} | {100 * difference:+.0f} % |")
    sys.exit(missed)


if __name__ == "__main__":
    main()
