"""The notebooks of the manual: every cell runs, and gives what the text says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import raidsim
from raidsim.calibration.fio_study import study as fio_study
from raidsim.tests.manual_pages import DOCS

FOLDER = DOCS / "python"
NOTEBOOKS = sorted(path.stem for path in FOLDER.glob("*.md") if "file_format: mystnb" in path.read_text("utf-8"))
_CELL = re.compile(r"^```\{code-cell\}\n(.*?)^```", re.MULTILINE | re.DOTALL)

_PROGRAM = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Notebooks write their files to an empty folder, and show no windows; fits are short."""
    from matplotlib import pyplot

    pyplot.switch_backend("agg")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(fio_study, "_IOS", 100)
    monkeypatch.setattr(fio_study, "_FLASH_IOS", 100)
    yield
    pyplot.close("all")


def _run(text: str, name: str) -> tuple[dict[str, Any], int]:
    """The names that the cells leave, and how many cells there are."""
    cells, names = _CELL.findall(text), {"__name__": "notebook"}
    for cell in cells:
        exec(compile(cell, name, "exec"), names)
    return names, len(cells)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_cell_runs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Protects who downloads a notebook: each cell does what it is there for; pages link to the notebook itself."""
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    names, cells = _run(text, name)
    assert cells > 2
    assert names["raidsim"] is raidsim
    assert f"{{nb-download}}`{name}.ipynb`" in text
    printed = capsys.readouterr().out
    if name == "first-run":
        assert "did you mean layout?" in printed
    if name == "small-writes":
        assert "4.0 drive commands for each" in printed
    if name == "compare-and-decide":
        assert names["found"].best("iops").name == "raid10"
    if name == "calibrate":
        assert set(names["fitted"].factors) > {"seeks"}


@pytest.mark.parametrize("page", [DOCS.parent / "README.md", FOLDER / "index.md"], ids=["readme", "guide"])
def test_the_first_lines_run(page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Protects a new user's first lines: those of the README, and those that the guide begins with."""
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    monkeypatch.setattr(raidsim.Scenario, "with_", _shorter(raidsim.Scenario.with_))
    (lines,) = _PROGRAM.findall(page.read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    exec(compile(lines, page.name, "exec"), names)
    assert capsys.readouterr().out
    assert names["found"].best("iops").name == "raid10"


def _shorter(with_: Any) -> Any:
    """The same method, for a load of half a second."""
    return lambda scenario, **changes: with_(scenario, **{**changes, "warm_up": "100ms", "duration": "500ms"})


def test_a_clone_makes_its_notebooks(tmp_path: Path) -> None:
    """Protects a new user, whose clone has no notebook: the guide begins with how to make them, and each has the cells
    of its page.
    """
    assert "`make notebooks`" in (FOLDER / "index.md").read_text(encoding="utf-8").splitlines()[2]
    makefile = (DOCS.parent / "Makefile").read_text(encoding="utf-8")
    recipe = makefile.partition("\nnotebooks: .venv/dev.stamp\n")[2].partition("\n\n")[0]
    command = recipe.replace("$(BIN)", str(Path(sys.executable).parent)).replace("$$", "$").replace("\t@", "\t")
    command = command.replace("docs/python", str(FOLDER))
    subprocess.run(["sh", "-e", "-c", command], cwd=tmp_path, check=True, capture_output=True)
    made = sorted((tmp_path / "build" / "notebooks").glob("*.ipynb"))
    assert [path.stem for path in made] == NOTEBOOKS
    for path in made:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        assert code == [each.strip() for each in _CELL.findall((FOLDER / f"{path.stem}.md").read_text("utf-8"))]


def test_a_cell_that_fails_is_found() -> None:
    """The counter-test: the same runner stops at a cell with an error."""
    with pytest.raises(ZeroDivisionError):
        _run("```{code-cell}\n1 / 0\n```\n", "bad")


def test_there_are_six_notebooks_and_the_readme_leads_to_them() -> None:
    """Protects the guide from losing a page: each is in the contents, and the README's Python is of it."""
    index = (FOLDER / "index.md").read_text(encoding="utf-8")
    assert len(NOTEBOOKS) == 6
    assert all(re.search(rf"^{name}$", index, re.MULTILINE) for name in NOTEBOOKS)
    assert "docs/python/index.md" in (DOCS.parent / "README.md").read_text(encoding="utf-8")


def test_the_json_of_every_answer_is_described() -> None:
    """Protects who reads the JSON: each schema has a line that says what its keys are."""
    page = (FOLDER / "answers.md").read_text(encoding="utf-8")
    schemas = {value.schema for name in raidsim.__all__ if hasattr(value := getattr(raidsim, name), "schema")}
    assert {schema for schema in schemas if f"`{schema}`" not in page} == set()
    assert len(schemas) == 17
