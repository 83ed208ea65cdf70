"""Compiled modules give the numbers of the source, and are used only while they are of that source."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from raidsim.cli import main as cli
from raidsim.compiled import __main__ as command
from raidsim.compiled.loader import BUILT, PURE, RECORD, ROOT, CompiledFinder, digest
from raidsim.compiled.modules import EXCEPTIONS, MODULES
from raidsim.model.core.errors import ModelError
from raidsim.scenarios.documents.document import read_document
from raidsim.scenarios.timeline import recorder as timeline_recorder
from raidsim.scenarios.timeline.timeline import record
from raidsim.tests.house import sources


def numbers(*arguments: str) -> Any:
    """What a process of its own computes."""
    command = [sys.executable, "-m", "raidsim.tests.compiled.same_runs", *arguments]
    environment = {name: value for name, value in os.environ.items() if name != PURE}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.skipif(not CompiledFinder(BUILT, ROOT).fresh, reason="no whole build of this source: make compiled")
def test_compiled_modules_give_the_same_bits() -> None:
    """Protects the one physics: scenarios, random ones and a replay give the same bits compiled as from source.

    Nor does either leave requests behind that hold each other: a function inside a compiled one is kept by what it
    keeps, and to search for these took a third of the time of RAID 5. Compiled calls inside each other count for no
    limit of Python, and arrays nested as deep as they may be must fit the stack all the same.
    """
    compiled, source = numbers(str(BUILT)), numbers()
    for mode in (compiled, source):
        assert all(moved > 300 and kept < 50 for moved, kept in mode["kept"].values()), mode["kept"]
    assert source["compiled"] == []
    assert {f"raidsim.{module}" for module in MODULES} <= set(compiled["compiled"])
    assert compiled["results"] == source["results"]


def test_where_nothing_can_be_compiled_predictions_go_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Protects `make predict` without a compiler: a line says what is missing; who asks for a build has an error."""
    monkeypatch.setattr(command, "BUILT", tmp_path / "built")
    monkeypatch.setattr(command, "lacking", lambda: "there is no cc")
    command.main([command.OPTION])
    assert capsys.readouterr().err == "nothing is compiled, so all takes about twice as long: there is no cc\n"
    with pytest.raises(SystemExit, match="2"):
        command.main([])
    assert "nothing was compiled: there is no cc" in capsys.readouterr().err


def test_a_build_that_is_there_stays(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the seconds of every further `make predict`; of another source it is made again."""
    monkeypatch.setattr(command, "BUILT", tmp_path / "built")
    monkeypatch.setattr(command, "ROOT", package)
    monkeypatch.setattr(command, "lacking", str)
    monkeypatch.setattr(command, "build", (tmp_path / "made").mkdir)
    build_of(tmp_path / "built", package)
    command.main([command.OPTION])
    assert not (tmp_path / "made").exists()
    (package / "model" / "links.py").write_text("A = 2\n", encoding="utf-8")
    command.main([command.OPTION])
    assert (tmp_path / "made").exists()


def build_of(folder: Path, package: Path, **changes: str) -> CompiledFinder:
    """A finder of a build of the package's source that has one module."""
    folder.mkdir(exist_ok=True)
    kept = {"digest": digest(package), "files": {"raidsim.model.links.link": "links.so"}} | changes
    (folder / RECORD).write_text(json.dumps(kept), encoding="utf-8")
    (folder / "links.so").touch()
    return CompiledFinder(folder, package)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with one source file."""
    monkeypatch.delenv(PURE, raising=False)
    (tmp_path / "package" / "model").mkdir(parents=True)
    (tmp_path / "package" / "model" / "links.py").write_text("A = 1\n", encoding="utf-8")
    return tmp_path / "package"


def test_other_flags_put_the_build_out_of_use(tmp_path: Path, package: Path) -> None:
    """Protects the bits: what the compiler was told, and which modules it was given, is part of what a build is of."""
    (package / "compiled").mkdir()
    flags = package / "compiled" / "build.py"
    flags.write_text('FLAGS = ["-ffp-contract=off"]\n', encoding="utf-8")
    finder = build_of(tmp_path / "built", package)
    assert finder.fresh
    flags.write_text("FLAGS = []\n", encoding="utf-8")
    assert not CompiledFinder(tmp_path / "built", package).fresh


def test_a_build_of_this_source_is_used(tmp_path: Path, package: Path) -> None:
    """Protects the point of compiling: what is compiled is found, and what is not is left to others."""
    finder = build_of(tmp_path / "built", package)
    spec = finder.find_spec("raidsim.model.links.link")
    assert spec is not None
    assert spec.origin == str(tmp_path / "built" / "links.so")
    assert finder.used
    assert finder.find_spec("raidsim.model.disk.hard_disk") is None


def test_an_edited_file_puts_the_build_out_of_use(tmp_path: Path, package: Path) -> None:
    """Protects from running stale code: one byte in any file of the model, a new file, or a lost one, is enough."""
    finder = build_of(tmp_path / "built", package)
    (package / "model" / "links.py").write_text("A = 2\n", encoding="utf-8")
    assert finder.find_spec("raidsim.model.links.link") is None
    assert not finder.used
    (package / "model" / "links.py").write_text("A = 1\n", encoding="utf-8")
    assert CompiledFinder(tmp_path / "built", package).fresh
    (package / "model" / "other.py").touch()
    assert not CompiledFinder(tmp_path / "built", package).fresh


@pytest.mark.parametrize("broken", ["", "{", "[]", "{}", '{"digest": "x"}', '{"digest": "x", "files": 1}'])
def test_a_broken_build_is_no_build(tmp_path: Path, package: Path, broken: str) -> None:
    """Protects imports from a build that was cut short."""
    build_of(tmp_path / "built", package)
    (tmp_path / "built" / RECORD).write_text(broken, encoding="utf-8")
    assert CompiledFinder(tmp_path / "built", package).find_spec("raidsim.model.links.link") is None


def test_the_environment_keeps_to_the_source(tmp_path: Path, package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the way out: with RAIDSIM_PURE nothing compiled is imported, with 0 it is."""
    finder = build_of(tmp_path / "built", package)
    monkeypatch.setenv(PURE, "1")
    assert finder.find_spec("raidsim.model.links.link") is None
    monkeypatch.setenv(PURE, "0")
    assert finder.find_spec("raidsim.model.links.link") is not None


def test_no_compiled_class_is_an_abstract_base_class() -> None:
    """Protects isinstance: compiled subclasses of an ABC share its cache, so one answers for another."""
    trees = {
        module: ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")) for module in MODULES
    }
    found = [
        f"{module}.{node.name}"
        for module, tree in trees.items()
        for node in tree.body
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base) in ("ABC", "abc.ABC") for base in node.bases)
    ]
    assert found == []


def _imported(module: str, path: Path, tree: ast.Module, modules: dict[str, Path]) -> Iterator[tuple[str, str]]:
    """Names that a module imports from modules of the package, each with the module that defines it."""
    package = module.split(".")[:-1]
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level:
            home = ".".join([*package[: len(package) - node.level + 1], *(node.module or "").split(".")])
            for alias in node.names:
                inner = home
                while inner in modules and modules[inner].name == "__init__.py":  # what a package passes on
                    inside = ast.parse(modules[inner].read_text(encoding="utf-8"))
                    inner = next(
                        (
                            f"{inner}.{each.module}"
                            for each in inside.body
                            if isinstance(each, ast.ImportFrom)
                            and each.level == 1
                            and alias.name in {one.name for one in each.names}
                        ),
                        "",
                    )
                if inner in modules:
                    yield alias.asname or alias.name, inner


def test_families_of_classes_are_compiled_as_a_whole() -> None:
    """Protects the build: a class from source cannot inherit from a compiled one, nor the other way round."""
    modules = sources(ROOT)
    homes: dict[tuple[str, str], str] = {}
    classes: list[tuple[str, ast.ClassDef]] = []
    for module, path in modules.items():
        if module.startswith("model."):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for node in tree.body:
                if isinstance(node, ast.ClassDef):
                    homes[module, node.name] = module
                    classes.append((module, node))
            for name, home in _imported(module, path, tree, modules):
                homes.setdefault((module, name), home)
    # Made to be inherited from source, too.
    open_to_source = {
        (module, node.name)
        for module, node in classes
        if any("allow_interpreted_subclasses=True" in ast.unparse(each) for each in node.decorator_list)
    }
    apart = []
    for module, node in classes:
        for base in node.bases:
            found = homes.get((module, base.id)) if isinstance(base, ast.Name) else None
            if isinstance(base, ast.Name) and found is not None and (found, base.id) in open_to_source:
                continue
            if found is not None and (found in MODULES) != (module in MODULES):
                apart.append(f"{module}.{node.name} inherits {ast.unparse(base)} of {found}")
    assert apart == []
    named = [*MODULES, *(f"model.{module}" for module in EXCEPTIONS)]
    assert [module for module in named if not (ROOT / f"{module.replace('.', '/')}.py").is_file()] == []


def test_a_timeline_keeps_to_the_source(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Protects timelines, which give parts other methods; a run without one leaves the environment alone."""
    monkeypatch.setenv(PURE, "0")
    missing = str(tmp_path / "missing.yaml")
    for more, pure in (((), "0"), (("--timeline", "out.json"), "1")):
        with pytest.raises(SystemExit):
            cli.main(["run", missing, *more])
        assert os.environ[PURE] == pure
    assert "missing.yaml" in capsys.readouterr().err


def test_a_recorder_refuses_compiled_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects who records from Python: one clear message instead of a type that cannot be inherited from."""
    monkeypatch.setattr(timeline_recorder, "in_use", lambda: True)
    with pytest.raises(ModelError, match=r"set RAIDSIM_PURE=1"):
        record(read_document("home-nas").spec())
