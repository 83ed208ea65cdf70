"""The arrows of the house: every folder imports only from lower floors, and no circle anywhere."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from raidsim.tests.house import ABSOLUTE, API, FLOORS, ITEMS, ROOT, TOP, folder_of, imports, sources

FLOOR = {folder: floor for floor, folders in enumerate(FLOORS) for folder in folders}
FACES = ("cli", "web")
MOST_FILES, MOST_ITEMS = 16, 25
RUNNING = (
    "calibration.diagnosis.diagnose",
    "calibration.fit.fit",
    "calibration.inspection.inspection",
    "calibration.sensitivity.sensitivity",
    "calibration.simulation.evaluator",
    "scenarios.advice.advice",
    "scenarios.comparison.alternatives",
    "scenarios.fio.run",
    "scenarios.questions.replications",
    "scenarios.running.simulate",
    "scenarios.sweeps.sweep",
    "scenarios.traces.replay.replay",
    "scenarios.workers.task_pool",
)
"""Modules whose functions simulate, fit or inspect: the public API has a name for what they do."""
READING = {"decoded", "mean_of_replications", "read_source"}
"""Functions of theirs that only read a file or average results."""
OF_THE_WHOLE = {"faults", "fuzz", "golden", "mutation", "oracles", "phenomena"}
"""Folders of tests that run the whole machine."""


def violations(root: Path) -> list[str]:
    """Imports against the arrows, each with its file and line."""
    modules, wrong = sources(root), []
    for name, path in modules.items():
        mine = folder_of(name, modules, root)
        for line, target in imports(name, path, modules):
            place, to = f"{path}:{line}", folder_of(target, modules, root)
            if target == ABSOLUTE:
                wrong.append(f"{place}: absolute import of the package; inside it imports are relative")
            elif target == API:
                if not mine.startswith(FACES):
                    wrong.append(f"{place}: {mine} imports the public API, which is made of it")
            elif to != mine and not (mine in FLOOR and to in FLOOR and FLOOR[to] < FLOOR[mine] and not _face(mine, to)):
                wrong.append(f"{place}: {mine} imports {to}")
    return wrong


def _face(mine: str, to: str) -> bool:
    """Whether one face imports the other."""
    return {mine.split("/", maxsplit=1)[0], to.split("/", maxsplit=1)[0]} == set(FACES)


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
    """Protects the floors: every import in every file, also inside functions, goes to a lower floor."""
    assert len(sources(ROOT)) > 10
    assert violations(ROOT) == []


def test_there_is_no_circle() -> None:
    """Protects reading the modules in an order: none needs, through others, itself."""
    assert circle(ROOT) == []


def test_every_folder_has_its_floor() -> None:
    """Protects the list of floors from being out of date: a folder with code stands on exactly one."""
    modules = sources(ROOT)
    with_code = {folder_of(name, modules) for name, path in modules.items() if path.name != "__init__.py"}
    assert with_code == set(FLOOR)
    assert len(FLOOR) == sum(map(len, FLOORS))


def test_folders_stay_small_enough_to_survey() -> None:
    """Protects the newcomer: a folder has 16 files at most, one with an item a file 25."""
    counts = {folder: len(list((ROOT / folder).glob("*.py"))) for folder in FLOOR}
    too_many = {name: count for name, count in counts.items() if count > (MOST_ITEMS if name in ITEMS else MOST_FILES)}
    assert too_many == {}


def test_tests_mirror_the_folders() -> None:
    """Protects finding the test of a file: tests stand in a folder of the same name as the files they test."""
    folders = {path.parent.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("test_*.py")}
    assert {folder.as_posix() for folder in folders if not (ROOT / folder).is_dir()} == OF_THE_WHOLE


def test_commands_ask_through_the_public_api() -> None:
    """Protects one way to ask: only `api` calls what simulates, fits or inspects; commands may name its types."""
    deeper = set()
    for name, path in sources(ROOT).items():
        if name.startswith("cli."):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom) and (node.module or "") in RUNNING:
                    deeper |= {f"{name}: {each.name}" for each in node.names if each.name[0].islower()}
    assert {each for each in deeper if each.rpartition(" ")[2] not in READING} == set()


def _good(root: Path) -> None:
    """A small tree without a violation."""
    for name in ("model/core/engine.py", "model/disk/hard_disk.py", "scenarios/running/simulate.py", "web/app.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("import os\n")
    for name, text in {
        "cli/main.py": "from .. import __version__\nfrom ..model.disk.hard_disk import x\n",
        "model/drives/catalogue.py": "from ..disk.hard_disk import x\nfrom ..core import engine\n",
        "web/form/choices.py": "from ...model.core.engine import x\n",
        "cli/support/files.py": "from ...model.core.engine import x\n",
        "calibration/fit/fit.py": "from ...scenarios.running import simulate\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


@pytest.mark.parametrize(
    ("file", "line", "words"),
    [
        ("model/disk/media.py", "from ...scenarios.running.simulate import y", "model/disk imports scenarios/running"),
        ("model/layouts/raid5.py", "from ...calibration.fit import fit", "model/layouts imports calibration/fit"),
        ("model/disk/media.py", "def f():\n    from ... import cli", "model/disk imports cli"),
        ("model/disk/media.py", "from ..drives.catalogue import drive", "model/disk imports model/drives"),
        ("model/core/request.py", "from ..disk import hard_disk", "model/core imports model/disk"),
        ("cli/main.py", "from ..web import app", "cli imports web"),
        ("web/app.py", "from ..cli.support import files", "web imports cli/support"),
        ("scenarios/running/base/run.py", "if True:\n    import raidsim.model.disk.hard_disk", "absolute import"),
        ("calibration/fit/search.py", "from raidsim.model import disk", "absolute import"),
        ("model/disk/media.py", "from ... import __version__", "the public API"),
        (
            "validation/prediction/truth.py",
            "from ..somewhere import thing",
            "validation/prediction imports validation/so",
        ),
        ("model/novelty/thing.py", "from ..core import engine", "model/novelty imports model/core"),
    ],
)
def test_a_planted_violation_is_found(tmp_path: Path, file: str, line: str, words: str) -> None:
    """Protects the check itself: each kind of wrong import, planted in a good tree, is found with its file."""
    _good(tmp_path)
    assert violations(tmp_path) == []
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(line + "\n")
    found = violations(tmp_path)
    assert len(found) == 1
    assert file in found[0]
    assert words in found[0]


def test_every_arrow_turned_round_is_found(tmp_path: Path) -> None:
    """Protects every pair of floors: whichever folder imports from a higher or its own floor is reported."""
    for folder in FLOOR:
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "thing.py").write_text("")
    for folder, floor in FLOOR.items():
        for other, height in FLOOR.items():
            if other != folder and height >= floor:
                dots = "." * (folder.count("/") + 2)
                (tmp_path / folder / "thing.py").write_text(f"from {dots}{other.replace('/', '.')} import thing\n")
                assert f"{folder} imports {other}" in "".join(violations(tmp_path)), (folder, other)
                (tmp_path / folder / "thing.py").write_text("")
                break  # one of each folder: a tree is read again for each
    assert violations(tmp_path) == []
    assert set(TOP) == {folder.split("/")[0] for folder in FLOOR}


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
