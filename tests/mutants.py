"""Change one line of raidsim at a time, and see whether a test fails: ``make mutants``.

python -m raidsim.tests.mutants [--count N] [--seed S] [--limit SECONDS] [--only FOLDER] [--list FILE]

A mutant is a copy of the checkout in which one operator, number or condition of one module is another one. The test
files that import the module run on it, directly first, then over one module more and so on, until one fails (the mutant
is killed), the limit of CPU time is reached, or none is left (it survives). A survivor is either a hole in the tests or
a change that no result depends on; docs/robustness.md lists those that were looked at. Results go to a file, a line
each, and a second call goes on where the first was stopped.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from raidsim.cli.main import COMMANDS
from raidsim.tests.house import ROOT, TOP, imports, sources
from raidsim.tests.manual_pages import checkout_with

KEPT = ROOT / "build" / "mutants.jsonl"
_OPERATORS: dict[type[ast.AST], type[Any]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
_FOLDERS = tuple(folder for folder in TOP if folder != "compiled")
_NOT_RUN = ("tests/compiled/", "tests/web/", "tests/test_docs.py")
"""Tests that build or start what others test at less cost."""
_HANGS = 20
"""Wall-clock time over the limit of CPU time after which tests do not end."""
_AT_ONCE = 4
"""Test files of one run of pytest: starting it takes as long as many of them."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: of a module's path, at a line, from a text to another."""

    path: str
    line: int
    before: str
    after: str
    start: int
    end: int


def changed(node: ast.AST) -> ast.AST | None:
    """The node with another operator, number or condition; None if it has none."""
    if not isinstance(node, ast.BinOp | ast.BoolOp | ast.Compare | ast.UnaryOp | ast.Constant):
        return None
    copied: Any = deepcopy(node)
    if isinstance(copied, ast.BinOp | ast.BoolOp) and type(copied.op) in _OPERATORS:
        copied.op = _OPERATORS[type(copied.op)]()
        return copied
    if isinstance(copied, ast.Compare) and type(copied.ops[0]) in _OPERATORS:
        copied.ops[0] = _OPERATORS[type(copied.ops[0])]()
        return copied
    if isinstance(copied, ast.UnaryOp) and isinstance(copied.op, ast.Not):
        return copied.operand
    if isinstance(copied, ast.Constant) and type(copied.value) in (int, float):
        value: Any = copied.value
        copied.value = value + 1 if isinstance(value, int) else 1.5 * value or 1.0
        return copied
    return None


def _not_run(tree: ast.AST) -> set[ast.AST]:
    """Nodes that only a type checker or a reader needs, and formatted strings, whose parts have no exact position."""
    found: set[ast.AST] = set()
    for node in ast.walk(tree):
        parts = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        targets = getattr(node, "targets", [])
        if any(isinstance(each, ast.Name) and each.id in ("__slots__", "__all__") for each in targets):
            parts.append(node)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            parts.append(node)
        if isinstance(node, ast.JoinedStr):
            parts.append(node)
        for part in parts:
            found.update(ast.walk(part) if part is not None else ())
    return found


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Every change that can be made of a module."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    skipped = _not_run(tree)
    for node in ast.walk(tree):
        if node in skipped or not isinstance(node, ast.expr) or node.end_lineno is None:
            continue
        after = changed(node)
        if after is not None:
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[node.end_lineno - 1] + (node.end_col_offset or 0)
            before = text.encode()[start:end].decode()
            yield Mutant(str(path.relative_to(ROOT)), node.lineno, before, f"({ast.unparse(after)})", start, end)


def drawn(count: int, seed: int, only: str = "") -> list[Mutant]:
    """Some mutants, each line of the code being as likely as any other."""
    found = [
        each
        for folder in _FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        if str(path.relative_to(ROOT)).startswith(only)
        for each in mutants_of(path)
    ]
    return random.Random(seed).sample(found, min(count, len(found)))


@cache
def _importers() -> dict[str, set[str]]:
    """Which modules import a module, those of the tests and the table of commands included."""
    modules = sources()
    found: dict[str, set[str]] = {}
    for name, module in modules.items():
        for _, inner in imports(name, module, modules):
            found.setdefault(inner, set()).add(name)
    for place, _ in COMMANDS.values():
        command = place.partition(":")[0]
        found.setdefault(command[2:] if command.startswith("..") else f"cli{command}", set()).add("cli.main")
    for test in (ROOT / "tests").rglob("*.py"):
        name = ".".join(test.relative_to(ROOT).with_suffix("").parts)
        for node in ast.walk(ast.parse(test.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("raidsim"):
                for alias in node.names:
                    for inner in (node.module, f"{node.module}.{alias.name}"):
                        found.setdefault(inner.removeprefix("raidsim."), set()).add(name)
    return found


def tests_of(path: str) -> list[Path]:
    """The test files that reach a module, its own and those with the fewest imports in between first."""
    target = ".".join(Path(path).with_suffix("").parts).removesuffix(".__init__")
    distance, edge = {target: 0}, [target]
    while edge:
        further = 1 + max(distance.values())
        edge = [each for inner in edge for each in _importers().get(inner, ()) if each not in distance]
        distance.update(dict.fromkeys(edge, further))
    ranked = []
    for name, steps in distance.items():
        file = Path(*name.split(".")).with_suffix(".py")
        if file.name.startswith("test_") and not file.as_posix().startswith(_NOT_RUN):
            own = file.stem.removeprefix("test_") == Path(path).stem
            ranked.append((not own, steps, (ROOT / file).stat().st_size, file))
    return [file for *_, file in sorted(ranked)]


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def outcome(mutant: Mutant, limit_s: float) -> str:
    """The test file that killed a mutant; "limit" or "survives" if none did."""
    folder = Path(tempfile.mkdtemp())
    try:
        root = checkout_with(folder, {})
        module = root / mutant.path
        text = module.read_bytes()
        module.unlink()
        module.write_bytes(text[: mutant.start] + mutant.after.encode() + text[mutant.end :])
        tests = [str(test) for test in tests_of(mutant.path)]
        began = _cpu_s()
        settings = os.environ | {"PYTHONPATH": str(folder), "RAIDSIM_HOME": str(folder / "home"), "RAIDSIM_PURE": "1"}
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header", "-m", ""]
        while tests and _cpu_s() - began < limit_s:
            some, tests = tests[:_AT_ONCE], tests[_AT_ONCE:]
            try:
                done = subprocess.run(
                    [*command, *some],
                    cwd=root,
                    env=settings,
                    capture_output=True,
                    text=True,
                    timeout=_HANGS * limit_s,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return f"{' '.join(some)}: does not end"
            if done.returncode not in (0, 5):
                failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
                return failed[0].split(" ")[1] if failed else some[0]
        return "limit" if tests else "survives"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    """Draw mutants, run tests on each, and list those that survive."""
    parser = argparse.ArgumentParser(description="mutants and the tests that kill them")
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=90.0, help="CPU seconds of tests for each mutant")
    parser.add_argument("--only", default="", help="modules whose path begins with this")
    parser.add_argument("--list", type=Path, default=KEPT, dest="kept", help="where results go")
    chosen = parser.parse_args()
    chosen.kept.parent.mkdir(parents=True, exist_ok=True)
    lines = chosen.kept.read_text(encoding="utf-8").splitlines() if chosen.kept.exists() else []
    known = {tuple(each["mutant"].values()): each["by"] for each in map(json.loads, lines)}
    mutants = drawn(chosen.count, chosen.seed, chosen.only)
    for number, mutant in enumerate(mutants, 1):
        key = tuple(asdict(mutant).values())
        if key not in known:
            known[key] = outcome(mutant, chosen.limit)
            with chosen.kept.open("a", encoding="utf-8") as kept:
                kept.write(json.dumps({"mutant": asdict(mutant), "by": known[key]}) + "\n")
        print(f"{number} of {len(mutants)}: {mutant.path}:{mutant.line}: {known[key]}", flush=True)
    alive = [each for each in mutants if known[tuple(asdict(each).values())] in ("limit", "survives")]
    print(f"\n{len(mutants) - len(alive)} of {len(mutants)} killed")
    for each in alive:
        print(f"{each.path}:{each.line}: {each.before!r} -> {each.after!r}")


if __name__ == "__main__":
    main()
