"""Change one line of raidsim at a time, and see whether a test fails: ``make mutants``.

python -m raidsim.tests.mutation [--count N] [--seed S] [--limit SECONDS] [--only FOLDER] [--near N]
    [--list FOLDER] [--slow]

A mutant is one operator, number or condition of one module that is another one. One copy of the checkout has all of
them, each behind a switch. The test files with the fewest imports between them and the module run on a mutant until a
test fails (the mutant is killed), the limit of CPU time is reached, or none is left (it survives). A survivor is either
a hole in the tests or a change that no result depends on; docs/robustness.md has the totals of past samples. Results
go to files, a line each, and a second call goes on where the first was stopped. `--slow` tries the tests marked slow
too, on those that survived the quick ones.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import asdict, replace
from pathlib import Path

from raidsim.tests.house import ROOT
from raidsim.tests.manual_pages import checkout_with
from raidsim.tests.mutation.drawing import Mutant, drawn, tests_of, wired
from raidsim.tests.mutation.server import PLAN, Plan, append, lines

KEPT = ROOT / "build" / "mutants"


def checkout(folder: Path, mutants: list[Mutant]) -> Path:
    """A copy of the checkout that has all mutants, each behind a switch."""
    root = checkout_with(folder, {})
    by_path: dict[str, list[tuple[int, Mutant]]] = defaultdict(list)
    for number, mutant in enumerate(mutants):
        by_path[mutant.path].append((number, mutant))
    for path, some in by_path.items():
        _write(root / path, wired((ROOT / path).read_text(encoding="utf-8"), some))
    future = "from __future__ import annotations\n"
    switch = "from raidsim.tests.mutation.switch import install as _install_switch\n\n_install_switch()\n"
    _write(root / "__init__.py", (ROOT / "__init__.py").read_text(encoding="utf-8").replace(future, future + switch, 1))
    return root


def _write(path: Path, text: str) -> None:
    path.unlink()
    path.write_text(text, encoding="utf-8")


def _pytest(folder: Path, plan: Plan, files: list[str], mutant: int = -1) -> int:
    """Run pytest with the plugin; its status."""
    planned = folder / "plan.json"
    planned.write_text(json.dumps(asdict(plan)), encoding="utf-8")
    settings = {
        "PYTHONPATH": str(folder),
        "RAIDSIM_HOME": str(folder / "home"),
        "RAIDSIM_PURE": "1",
        "RAIDSIM_MUTANT": str(mutant),
        PLAN: str(planned),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "--no-header", "-m", ""]
    command += ["-p", "raidsim.tests.mutation.server", "--basetemp", str(folder / "scratch"), *files]
    ended = subprocess.run(command, cwd=plan.root, env=os.environ | settings, check=False)
    return ended.returncode


def main() -> None:
    """Draw mutants, run tests on each, and list those that survive."""
    parser = argparse.ArgumentParser(description="mutants and the tests that kill them")
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=40.0, help="CPU seconds of tests for each mutant")
    parser.add_argument("--only", default="", help="modules whose path begins with this")
    parser.add_argument("--list", type=Path, default=KEPT, dest="kept", help="folder of the results")
    parser.add_argument("--near", type=int, default=12, help="test files that each mutant meets")
    parser.add_argument("--slow", action="store_true", help="tests marked slow too, on mutants that others leave alive")
    chosen = parser.parse_args()
    chosen.kept.mkdir(parents=True, exist_ok=True)
    mutants = drawn(chosen.count, chosen.seed, chosen.only)
    keys = [each.key for each in mutants]
    folder = Path(tempfile.mkdtemp(prefix="mutants-"))
    try:
        root = checkout(folder, mutants)
        near = [tests_of(each.path)[: chosen.near] for each in mutants]
        plan = Plan(str(chosen.kept.resolve()), str(root), keys, near, None, chosen.limit, chosen.slow)
        _run(folder, plan)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    _report(mutants, plan)


def _run(folder: Path, plan: Plan) -> None:
    plan.waiting.unlink(missing_ok=True)
    _pytest(folder, plan, sorted({file for near in plan.near for file in near}))
    for number in [each["number"] for each in lines(plan.waiting)]:
        _run_alone(folder, replace(plan, alone=number), number)


def _run_alone(folder: Path, plan: Plan, number: int) -> None:
    """Run tests in a process whose mutant is on from its start."""
    while True:
        plan.alone_result.unlink(missing_ok=True)
        status = _pytest(folder, plan, plan.near[number], number)
        found = lines(plan.alone_result)
        by = found[0]["by"] if found else f"tests do not start (status {status})"
        if "::" not in by:
            break
        plan.alone_result.unlink()
        _pytest(folder, plan, [by])
        if not lines(plan.alone_result)[0]["by"]:
            break
        append(plan.unusable, test=by)
    append(plan.mutants, mutant=plan.keys[number], by=by, slow=plan.slow)
    print(f"{plan.keys[number]}: {by or 'survives'} (alone)", flush=True)


def _report(mutants: list[Mutant], plan: Plan) -> None:
    known = {each["mutant"]: each["by"] for each in lines(plan.mutants)}
    alive = [each for each in mutants if known.get(each.key) in ("", "limit")]
    decided = [each for each in mutants if each.key in known]
    print(f"\n{len(decided) - len(alive)} of {len(decided)} killed; {len(mutants) - len(decided)} not tried")
    for each in alive:
        print(f"{each.path}:{each.line}: {each.before!r} -> {each.after!r} {known[each.key]}".rstrip())


if __name__ == "__main__":
    main()
