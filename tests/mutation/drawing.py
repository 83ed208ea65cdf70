"""Mutants: one operator, number or condition of one module is another one."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from raidsim.cli.main import COMMANDS
from raidsim.tests.house import ROOT, TOP, imports, sources
from raidsim.tests.mutation.switch import NAME

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
NOT_RUN = (
    "tests/compiled/",
    "tests/web/test_browser.py",
    "tests/test_docs.py",
    "tests/test_package.py",
    "tests/mutation/",
)
"""Tests that build or start what others test at less cost."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: of a module's path, between two places (line, column), from a text to another."""

    path: str
    line: int
    column: int
    last_line: int
    last_column: int
    before: str
    after: str

    @property
    def key(self) -> str:
        """What a list of results calls it."""
        return f"{self.path}:{self.line}:{self.column}: {self.before} -> {self.after}"


def changed(node: ast.AST) -> ast.expr | None:
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
    """Nodes that only a type checker or a reader needs, patterns, and formatted strings."""
    found: set[ast.AST] = set()
    for node in ast.walk(tree):
        parts = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        targets = getattr(node, "targets", [])
        if any(isinstance(each, ast.Name) and each.id in ("__slots__", "__all__") for each in targets):
            parts.append(node)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            parts.append(node)
        if isinstance(node, ast.JoinedStr | ast.pattern):
            parts.append(node)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "Literal":
            parts.append(node)
        for part in parts:
            found.update(ast.walk(part) if part is not None else ())
    return found


def _place(node: ast.expr) -> tuple[int, int, int, int]:
    return node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or 0


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Every change that can be made of a module."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    skipped = _not_run(tree)
    for node in ast.walk(tree):
        after = None if node in skipped else changed(node)
        if after is not None and isinstance(node, ast.expr):
            yield Mutant(str(path.relative_to(ROOT)), *_place(node), ast.unparse(node), ast.unparse(after))


def drawn(count: int, seed: int, only: str = "") -> list[Mutant]:
    """Some mutants, each change of the code being as likely as any other."""
    found = [
        each
        for folder in _FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        if str(path.relative_to(ROOT)).startswith(only)
        for each in mutants_of(path)
    ]
    return random.Random(seed).sample(found, min(count, len(found)))


class _Wiring(ast.NodeTransformer):
    """Replaces an expression by `(changed if mutant_is_on(number) else expression)`."""

    def __init__(self, numbers: dict[tuple[int, int, int, int], int]) -> None:
        self.numbers = numbers
        self.done: set[int] = set()

    def visit(self, node: ast.AST) -> Any:
        number = self.numbers.get(_place(node)) if isinstance(node, ast.expr) else None
        after = changed(node) if number is not None else None
        original = self.generic_visit(node)
        if number is None or after is None or not isinstance(original, ast.expr):
            return original
        self.done.add(number)
        asked = ast.Call(ast.Name(NAME, ast.Load()), [ast.Constant(number)], [])
        return ast.copy_location(ast.IfExp(asked, after, original), original)


def wired(text: str, mutants: Iterable[tuple[int, Mutant]]) -> str:
    """A module's text with mutants that a switch turns on, by their numbers."""
    numbers = {(each.line, each.column, each.last_line, each.last_column): number for number, each in mutants}
    wiring = _Wiring(numbers)
    tree = ast.fix_missing_locations(wiring.visit(ast.parse(text)))
    if wiring.done != set(numbers.values()):
        raise ValueError(f"mutants that are not in the text: {set(numbers.values()) - wiring.done}")
    return ast.unparse(tree) + "\n"


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


def tests_of(path: str) -> list[str]:
    """The test files that reach a module: its own, those of its folder, and those with the fewest imports between."""
    target = ".".join(Path(path).with_suffix("").parts).removesuffix(".__init__")
    distance, edge = {target: 0}, [target]
    while edge:
        further = 1 + max(distance.values())
        edge = [each for inner in edge for each in _importers().get(inner, ()) if each not in distance]
        distance.update(dict.fromkeys(edge, further))
    ranked = []
    for name, steps in distance.items():
        file = Path(*name.split(".")).with_suffix(".py").as_posix()
        if Path(file).name.startswith("test_") and not file.startswith(NOT_RUN):
            own = Path(file).stem.removeprefix("test_") == Path(path).stem
            mirrored = Path(file).parent == Path("tests", path).parent
            ranked.append((not own, not mirrored, steps, (ROOT / file).stat().st_size, file))
    return [file for *_, file in sorted(ranked)]
