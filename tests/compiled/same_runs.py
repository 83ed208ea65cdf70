"""Runs scenarios and a replay, and prints all their numbers: the same from source and compiled.

``python -m raidsim.tests.compiled.same_runs [FOLDER]``: with the modules compiled in a folder, or from source.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import io
import json
import random
import re
import subprocess
import sys
import tempfile
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from raidsim.compiled.loader import ROOT, CompiledFinder, stay_pure

LIBRARY = (
    *("catalan-2005", "database-server", "freebsd-2007", "gateway-2005", "gentoo-2004", "journaled-archive"),
    *("mail-spool", "vm-host"),
)
CIPHERS = ("cryptoloop", "dm-crypt")
CACHES = ("dm-cache", "dm-writecache", "bcache")
RESHAPED = {"raid5": "members: 4", "raid10": "members: 4", "raid6": "level: raid5, members: 5"}
"""What an array of a level comes from; the one of as many data members has a backup file."""
TODAY = """
kernel: linux-6.1
machine: {model: server, drives: {model: RAM-disk, count: 2}}
arrays: {md0: {level: raid1, bitmap: none}}
encrypted: {secret: {on: md0, kind: dm-crypt, cipher: aes-xts}}
workload: {kind: load, targets: [secret], depth: 4, read_share: 50%, warm_up: 0s, duration: 2ms}
"""
"""What the library lacks: a cipher, drives without a queue and, with `serviced`, drives that may err."""
JOB = "[a] rw=randrw bs=4k,8k size=64m number_ios=300 ioengine=libaio direct=1 iodepth=8 rate_iops=2000"
POOL = """
machine: {model: server, memory: 4GiB, drives: {model: Samsung-PM9A3-3840GB, count: 5}}
pools:
  tank:
    vdevs: raidz1 disk0 disk1 disk2 disk3 log disk4
    datasets: {vm: {volume: 8GiB, volblocksize: 16KiB, sync: always}}
workload: {kind: load, targets: [tank/vm], jobs: 8, read_share: 60%, warm_up: 0s, duration: 20ms, precision: null}
"""
SHORT = {"workload.warm_up": "0s", "workload.duration": "300ms", "workload.precision": None}
"""How long a load of the library runs here; none is settled then."""
RANDOM = 10
DRAW = "draw"
"""Instead of the numbers: the random documents."""
RECORDS = 800
KEPT = (
    ("raid1", "linux-2.6.8"),
    ("raid3", "freebsd-6.2"),
    ("raid5", "linux-2.4.26"),
    ("raid5", "linux-2.6.8"),
    ("raid5", "linux-6.1"),
    ("raid10", "linux-6.1"),
)


def main(arguments: list[str]) -> None:
    """Print one JSON object."""
    if arguments and arguments[0]:
        sys.meta_path.insert(0, CompiledFinder(Path(arguments[0]), ROOT))
    else:
        stay_pure()
    if arguments[1:] == [DRAW]:
        print(json.dumps(_drawn()))
        return
    results: dict[str, Any] = {name: _library(name) for name in LIBRARY}
    results["random"] = _random()
    results["replay"] = _replay()
    results["deep"] = _deep()
    results["fio"] = _fio()
    results["bare"] = _bare()
    results["today"] = _today()
    results["pool"] = _pool()
    results |= {cipher: _encrypted(cipher) for cipher in CIPHERS}
    results |= {kind: _cached(kind) for kind in CACHES}
    results |= {f"reshaped {level}": _reshaped(level) for level in RESHAPED}
    kept = {f"{array} {kernel}": _kept(array, kernel) for array, kernel in KEPT}
    compiled = sorted(name for name, module in sys.modules.items() if _is_compiled(name, module))
    print(json.dumps({"compiled": compiled, "kept": kept, "results": results}))


def _is_compiled(name: str, module: Any) -> bool:
    return name.startswith("raidsim.") and isinstance(module.__loader__, ExtensionFileLoader)


def _simulated(spec: Any) -> str:
    from raidsim.scenarios.running.base.sample import Sample
    from raidsim.scenarios.running.simulate import simulate

    # repr shows every bit of a float, and whether a number is one.
    return repr(dataclasses.asdict(simulate(spec, Sample(read_bytes=1 << 20, write_bytes=1 << 20, cycles=1))))


def _bare() -> tuple[float, int]:
    """When a bare load on a disk has done some I/Os, and how many events that took."""
    from raidsim.model.core.engine import Engine
    from raidsim.model.core.request import READ, WRITE
    from raidsim.model.disk.hard_disk import HardDisk
    from raidsim.model.drives.catalogue import hard_disk
    from raidsim.model.loads.closed_loop import ClosedLoop

    engine, draw = Engine(), random.Random(1)
    disk = HardDisk(engine, hard_disk("WD5000AAKS"), "sda")
    offsets = [4096 * draw.randrange(disk.capacity // 4096) for _ in range(200)]
    loop = ClosedLoop(disk, lambda: ([READ, WRITE] * 100, offsets), 4096)
    loop.start(4)
    stop = engine.event()
    loop.when_completed(300, stop.succeed)
    engine.run(until=stop)
    return engine.now, engine.scheduled_events


def _kept(array: str, kernel: str) -> tuple[int, int]:
    """I/Os of a run, and the requests that hold each other when it is over, so that counting references frees none."""
    from raidsim.model.core.request import Request
    from raidsim.model.files.description_errors import validate
    from raidsim.scenarios.description.scenario import ScenarioSpec
    from raidsim.scenarios.machine.machine import BuiltMachine
    from raidsim.scenarios.running.base.sample import Sample
    from raidsim.scenarios.running.load_run import LoadRun
    from raidsim.tests.scenarios.small_machine import DRIVES, scenario_document

    document = scenario_document(targets=("md0",), kernel=kernel)
    members = DRIVES[:3] if array == "raid3" else DRIVES
    document["arrays"] = {"md0": {"level": array, "members": list(members)}}
    load = {"read_share": "50%", "depth": 4, "block_size": "16KiB", "warm_up": "0s", "duration": "2s"}
    document["workload"] = {"kind": "load", "targets": ["md0"], **load}
    gc.collect()
    gc.disable()
    run = LoadRun(BuiltMachine(validate(ScenarioSpec, document)), Sample())
    run.run()
    disks = run.machine.disks.values()
    moved = sum(disk.reads + disk.writes for disk in disks)
    gc.set_debug(gc.DEBUG_SAVEALL)
    gc.collect()
    count = sum(isinstance(each, Request) for each in gc.garbage)
    gc.set_debug(0)
    gc.garbage.clear()
    gc.enable()
    return moved, count


def _library(name: str) -> str:
    from raidsim.scenarios.documents.document import read_document

    document = read_document(name)
    if document.data.get("workload", {}).get("kind") == "load":
        document = document.changed(SHORT)
    return _simulated(document.spec())


def _deep() -> str:
    from raidsim.scenarios.documents.document import document_from
    from raidsim.scenarios.workers.process_setup import DEEPEST

    lines = ["machine: {drives: {model: WD2500JB, count: 2}}", "arrays:"]
    lines += ["  a0: {level: raid0, members: [disk0, disk1]}"]
    lines += [f"  a{i}: {{level: linear, members: [a{i - 1}]}}" for i in range(1, DEEPEST)]
    lines += [f"workload: {{kind: load, targets: [a{DEEPEST - 1}], depth: 2, warm_up: 0s, duration: 50ms}}"]
    return _simulated(document_from("\n".join(lines)).spec())


def _encrypted(kind: str) -> str:
    from raidsim.scenarios.documents.document import document_from

    lines = ["machine: {drives: {model: WD2500JB, count: 1}}"]
    lines += [f"encrypted: {{crypt0: {{on: disk0, kind: {kind}, rate: 1GB/s, source: assumed}}}}"]
    lines += ["workload: {kind: load, targets: [crypt0], depth: 4, read_share: 50%, warm_up: 0s, duration: 2s}"]
    return _simulated(document_from("\n".join(lines)).spec())


def _cached(kind: str) -> str:
    from raidsim.scenarios.documents.document import document_from

    lines = ["machine: {drives: {disk0: {model: WD2500JB}, flash: {model: Samsung-870-EVO-1TB}}}"]
    lines += [f"caches: {{c0: {{on: disk0, cache: flash, kind: {kind}, mode: writeback, size: 512MiB}}}}"]
    lines += ["workload: {kind: load, targets: [c0], depth: 4, read_share: 50%, warm_up: 0s, duration: 5s, span: 1GiB}"]
    return _simulated(document_from("\n".join(lines)).spec())


def _reshaped(level: str) -> str:
    from raidsim.scenarios.documents.document import document_from

    backup = ", backup: disk6" if level == "raid6" else ""
    state = f"{{reshaping: {{from: {{{RESHAPED[level]}}}, at: 30%{backup}}}}}"
    lines = ["machine: {drives: {model: WD2500JB, count: 7}}"]
    lines += [f"arrays: {{md0: {{level: {level}, members: 6, chunk: 64KiB, state: {state}}}}}"]
    lines += ["workload: {kind: load, targets: [md0], depth: 4, read_share: 50%, warm_up: 0s, duration: 1s}"]
    return _simulated(document_from("\n".join(lines)).spec())


def _today() -> str:
    """A run of today's parts, and a machine whose drives may err."""
    from raidsim.scenarios.documents.document import document_from
    from raidsim.scenarios.machine.machine import BuiltMachine

    spec = document_from(TODAY).spec()
    BuiltMachine(spec, serviced=True)
    return _simulated(spec)


def _pool() -> str:
    """A pool of ZFS with a log: mixed, written in order, resilvered, rebuilt and trimmed."""
    from raidsim.scenarios.documents.document import document_from

    document = document_from(POOL)
    variants: tuple[dict[str, Any], ...] = (
        {},
        {"workload.pattern": "sequential"},
        {"pools.tank.rebuilding": 1},
        {
            "pools.tank.vdevs": "mirror disk0 disk1",
            "pools.tank.rebuilding": 1,
            "pools.tank.scan": {"action": "rebuild"},
        },
        {"pools.tank.scan": {"action": "trim"}},
    )
    return "".join(_simulated(document.changed(changes).spec()) for changes in variants)


def _fio() -> str:
    """What a job of fio gives: asynchronous I/Os at a rate."""
    from raidsim.tests.scenarios.fio.fio_runs import run

    # Without addresses of objects.
    return re.sub(r" at 0x[0-9a-f]+", "", repr(dataclasses.asdict(run(JOB))))


def _drawn() -> list[Any]:
    """Random documents. Hypothesis draws constants of modules whose source it finds, so others on a compiled tree."""
    from raidsim.tests.scenarios.random_documents import documents
    from raidsim.validation.laws.hunting.drawn_devices import Document

    found: list[Any] = []

    @seed(1)
    @settings(
        max_examples=RANDOM,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(documents())
    def run(document: Document) -> None:
        found.append(document)

    run()
    return found


def _random() -> list[str]:
    from raidsim.model.core.errors import InputError
    from raidsim.model.files.description_errors import validate
    from raidsim.scenarios.description.scenario import ScenarioSpec

    command = [sys.executable, "-m", "raidsim.tests.compiled.same_runs", "", DRAW]
    drawn = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = []
    for document in json.loads(drawn):
        try:
            found.append(_simulated(validate(ScenarioSpec, document)))
        except InputError as error:
            found.append(str(error))
    return found


def _replay() -> str:
    """What `raidsim replay` prints for a trace of small reads and writes, as MSR's traces are written."""
    from raidsim.cli.main import main as command

    chance = random.Random(1)
    ticks, lines = 128166372000000000, []
    for _ in range(RECORDS):
        ticks += chance.randrange(1, 60_000)
        op = "Read" if chance.random() < 0.6 else "Write"
        lines.append(f"{ticks},src,0,{op},{chance.randrange(1 << 24) << 9},{chance.choice((512, 4096, 8192, 65536))},0")
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as printed:
        trace = Path(folder, "trace.csv")
        trace.write_text("\n".join(lines) + "\n", encoding="utf-8")
        with contextlib.chdir(folder), contextlib.suppress(SystemExit):
            command(["replay", trace.name, "--machine", "database-server", "--set", "layout=raid5", "--json"])
    return printed.getvalue()


if __name__ == "__main__":
    main(sys.argv[1:])
