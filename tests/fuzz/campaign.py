"""`make fuzz`: every reader under atheris for a while, by the coverage of our own code, one after another.

    python -m raidsim.tests.fuzz.campaign --seconds-each 60 [--only scenario,trace-spc] [--folder build/fuzz]

What new code an input reaches is kept in FOLDER/corpus/TARGET and begun with the next time; what a reader does wrong is
in FOLDER/found/TARGET, one file for each place in the code, with a text beside it. The status is 1 if there is any.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import shutil
import sys
import tempfile
from pathlib import Path

try:
    import atheris
except ImportError:
    sys.exit(
        "error: make fuzz: the module atheris is missing; expected: pip install 'raidsim[fuzz]' (CPython 3.11-3.13)"
    )

from raidsim.tests.fuzz.hushed import hushed

with hushed("INFO: Instrumenting "), atheris.instrument_imports(include=["raidsim"]):
    from raidsim.tests.fuzz import targets
    from raidsim.tests.fuzz.check import LONGEST
    from raidsim.tests.fuzz.seeds import CORPUS, seeds
    from raidsim.tests.fuzz.targets import TARGETS
    from raidsim.tests.fuzz.watched import STATISTICS, Watched

_SHORTEST = 4096
_ADDRESSES = 4 << 30
"""Address space of a fuzzed process: what takes more at once has no chance to take the machine."""


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description="fuzz every reader of input from outside")
    parser.add_argument("--seconds-each", type=int, default=60)
    parser.add_argument("--only", help="names of targets, with commas", default=",".join(TARGETS))
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"))
    parser.add_argument("--seed", type=int, default=0, help="0 is another one every time")
    asked = parser.parse_args()
    names = asked.only.split(",")
    if unknown := set(names) - TARGETS.keys():
        parser.error(f"unknown targets {', '.join(sorted(unknown))}; expected: {', '.join(TARGETS)}")
    first = seeds()
    found = 0
    print(f"{'reader':22} {'inputs run':>10} {'a second':>9} {'kept':>6}  findings", flush=True)
    for name in names:
        corpus, folder = asked.folder / "corpus" / name, asked.folder / "found" / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        corpus.mkdir(parents=True, exist_ok=True)
        for data in [*first[name], *(path.read_bytes() for path in sorted((CORPUS / name).glob("*")))]:
            (corpus / hashlib.sha256(data).hexdigest()[:12]).write_bytes(data)
        with tempfile.TemporaryDirectory(dir=targets.MEMORY if os.access(targets.MEMORY, os.W_OK) else None) as scratch:
            ended = _fuzzed(name, corpus, folder, scratch, asked.seconds_each, asked.seed)
        found += _shown(name, corpus, folder, ended)
    sys.exit(1 if found else 0)


def _fuzzed(name: str, corpus: Path, folder: Path, scratch: str, seconds: int, seed: int) -> int:
    """Fuzz a reader in a process of its own, which has what is imported here; its exit status."""
    process = os.fork()
    if process:
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    with (folder / "log").open("wb") as log:
        os.dup2(log.fileno(), 2)
        os.dup2(log.fileno(), 1)
    targets.MEMORY = scratch  # libFuzzer ends a process without cleaning up
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES, _ADDRESSES))
    known = [path.read_bytes() for path in sorted(corpus.iterdir())]
    watched = Watched(name, folder, known, lambda data, most: bytes(atheris.Mutate(data, most)))
    longest = min(LONGEST, max(_SHORTEST, 2 * max(map(len, known), default=0)))
    options = [f"-max_total_time={seconds}", f"-max_len={longest}", f"-seed={seed}", f"-artifact_prefix={folder}/"]
    # The last ones are for what never comes back to Python; everything else is looked at by check.trial.
    options += ["-verbosity=0", "-timeout=60", "-rss_limit_mb=2000"]
    atheris.Setup(["fuzz", *options, str(corpus)], watched.once, custom_mutator=watched.mutated)
    atheris.Fuzz()
    return os.EX_OK


def _shown(name: str, corpus: Path, folder: Path, ended: int) -> int:
    """Print a line about a reader; the number of its findings."""
    statistics = folder / STATISTICS
    said = json.loads(statistics.read_text(encoding="utf-8")) if statistics.exists() else {}
    findings = list(said.get("found", {})) + ([f"ended with status {ended}: {folder / 'log'}"] if ended else [])
    runs, seconds = said.get("runs", 0), said.get("seconds", 0)
    kept = sum(1 for _ in corpus.iterdir())
    rate = f"{runs / seconds:9,.0f}" if seconds else f"{'-':>9}"
    print(f"{name:22} {runs:10,} {rate} {kept:6,}  {'; '.join(findings) or '-'}", flush=True)
    return len(findings)


if __name__ == "__main__":
    main()
