"""The arrows of the house: model <- scenarios <- calibration <- validation <- cli, web, and no circle anywhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import raidsim

ROOT = Path(raidsim.__file__).parent
RANKS = {"compiled": -1, "model": 0, "scenarios": 1, "calibration": 2, "validation": 3, "cli": 4, "web": 4}


def sources(root: Path) -> dict[str, Path]:
    """Every module below the ranked folders, by its dotted name without the package's."""
    found = {}
    for folder in RANKS:
        for path in sorted((root / folder).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(name: str, path: Path, modules: dict[str, Path]) -> Iterator[tuple[int, str]]:
    """(line, module) of each import from the package itself, wherever in the file it stands; "" is the root."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "raidsim":
                    yield node.lineno, "absolute"
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0:
                if (node.module or "").split(".")[0] == "raidsim":
                    yield node.lineno, "absolute"
                continue
            base = package[: len(package) - node.level + 1]
            target = ".".join([*base, *(node.module or "").split(".")]).strip(".")
            for alias in node.names:
                inner = f"{target}.{alias.name}".strip(".")
                # "from .x import y" needs y itself if that is a module, and x's own file otherwise.
                yield node.lineno, inner if inner in modules or inner in RANKS else target


def violations(root: Path) -> list[str]:
    """Imports against the arrows, each with its file and line."""
    modules, wrong = sources(root), []
    for name, path in modules.items():
        folder = name.split(".")[0]
        for line, target in imports(name, path, modules):
            to = target.split(".")[0]
            if target == "absolute":
                wrong.append(f"{path}:{line}: absolute import of the package; inside it imports are relative")
            elif not to and RANKS[folder] < RANKS["cli"]:
                wrong.append(f"{path}:{line}: {folder} imports the public API, which is made of it")
            elif to and to != folder and RANKS.get(to, 99) >= RANKS[folder]:
                wrong.append(f"{path}:{line}: {folder} imports {to}")
    return wrong


def circle(root: Path) -> list[str]:
    """Modules that need each other, in order, or nothing."""
    modules = sources(root)
    needs = {name: {target for _, target in imports(name, path, modules)} for name, path in modules.items()}
    done: set[str] = set()

    def visit(name: str, trail: list[str]) -> list[str]:
        if name in trail:
            return [*trail[trail.index(name) :], name]
        if name not in done:
            for other in sorted(needs[name] & modules.keys() - {name}):
                found = visit(other, [*trail, name])
                if found:
                    return found
            done.add(name)
        return []

    return next((found for name in modules if (found := visit(name, []))), [])


def test_imports_run_one_way() -> None:
    """Protects the model from knowing measurements and faces: every import in every file, also inside functions."""
    assert len(sources(ROOT)) > 10
    assert violations(ROOT) == []


def test_there_is_no_circle() -> None:
    """Protects reading the modules in an order: none needs, through others, itself."""
    assert circle(ROOT) == []


@pytest.mark.parametrize(
    ("file", "line", "words"),
    [
        ("model/disk/hard_disk.py", "from ..scenarios.run import simulate", "model imports scenarios"),
        ("model/layouts/raid5.py", "from ...calibration import fit", "model imports calibration"),
        ("model/disk/hard_disk.py", "def f():\n    from .. import cli", "model imports cli"),
        ("cli/main.py", "from ..web import app", "cli imports web"),
        ("scenarios/running/simulate.py", "if True:\n    import raidsim.model.disk.hard_disk", "absolute import"),
        ("calibration/fit/fit.py", "from raidsim.model import disk", "absolute import"),
        ("model/disk/hard_disk.py", "from .. import __version__", "the public API"),
        ("validation/truth.py", "from ..somewhere import thing", "validation imports somewhere"),
    ],
)
def test_a_planted_violation_is_found(tmp_path: Path, file: str, line: str, words: str) -> None:
    """Protects the check itself: each kind of wrong import, planted in a good tree, is found with its file."""
    for name in (
        "model/disk/hard_disk.py",
        "scenarios/running/simulate.py",
        "cli/main.py",
        "web/app.py",
        "calibration/fit/fit.py",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("import os\n")
    (tmp_path / "cli/main.py").write_text("from .. import __version__\nfrom ..model.disk import x\n")
    assert violations(tmp_path) == []
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(line + "\n")
    found = violations(tmp_path)
    assert len(found) == 1
    assert file in found[0]
    assert words in found[0]


def test_a_planted_circle_is_found(tmp_path: Path) -> None:
    """Protects the check for circles, also when one side hides its import in a function."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model/__init__.py").write_text("")
    (tmp_path / "model/a.py").write_text("from .b import x\n")
    (tmp_path / "model/b.py").write_text("def f():\n    from . import c\n")
    (tmp_path / "model/c.py").write_text("")
    assert circle(tmp_path) == []
    (tmp_path / "model/c.py").write_text("def f():\n    from .a import y\n")
    assert set(circle(tmp_path)) == {"model.a", "model.b", "model.c"}
