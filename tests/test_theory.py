"""The theory manual and the reference pages: examples give what they show, and what they name exists."""

from __future__ import annotations

import doctest
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
from latex2mathml.converter import convert
from pydantic import BaseModel

import raidsim
from raidsim.calibration.study.document import StudyDocument
from raidsim.model.kernels.spec import KernelSpec
from raidsim.model.raid.read_balance import READ_BALANCE, balance
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.designs.requirement import RequirementSpec
from raidsim.scenarios.sweeps.plan import SweepSpec

ROOT = Path(raidsim.__file__).parent
DOCS = ROOT / "docs"
THEORY = sorted((DOCS / "theory").glob("*.md"))
MECHANISMS = [page for page in THEORY if page.stem != "index"]
_CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_EQUATION = re.compile(r"\$\$(.+?)\$\$|(?<![\\$`])\$([^$`\n]+)\$", re.DOTALL)


def text_of(page: Path) -> str:
    """A page without its blocks of code."""
    return _CODE.sub("", page.read_text(encoding="utf-8"))


def from_code() -> ModuleType:
    """The directives that make reference pages."""
    found = importlib.util.spec_from_file_location("from_code", DOCS / "_ext" / "from_code.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", THEORY, ids=lambda page: page.stem)
def test_the_theorys_examples_hold(page: Path) -> None:
    """Protects equations from code that computes something else: each example runs and gives what it shows."""
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    example = doctest.DocTestParser().get_doctest("\n\n".join(blocks), {}, page.stem, str(page), 0)
    said: list[str] = []
    doctest.DocTestRunner().run(example, out=said.append)
    assert not said, "".join(said)


def test_examples_fail_if_they_should() -> None:
    """Protects the test above from passing whatever a page says."""
    runner = doctest.DocTestRunner()
    runner.run(doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, 0), out=lambda _: None)
    assert runner.failures == 1


@pytest.mark.parametrize("page", MECHANISMS, ids=lambda page: page.stem)
def test_each_mechanism_has_its_parts(page: Path) -> None:
    """Protects readers from a mechanism without equation, evidence, limits, sources, module or switch."""
    _, *sections = re.split(r"^## ", text_of(page), flags=re.MULTILINE)
    assert sections
    for section in sections:
        for part in ("Idea", "Equation", "Evidence", "Limits", "Sources", "Code", "Off"):
            assert f"**{part}.**" in section, f"{section.splitlines()[0]}: no {part}"


@pytest.mark.parametrize("page", MECHANISMS, ids=lambda page: page.stem)
def test_modules_that_are_named_exist(page: Path) -> None:
    """Protects those who look into the code; a name alone is in the folder that was named before it."""
    folder = ROOT
    for name in re.findall(r"`([\w/]+(?:\.py|\.yaml|/))`", text_of(page)):
        path = ROOT / name if "/" in name else folder / name
        assert path.exists(), f"{page.name}: {name}"
        folder = path if path.is_dir() else path.parent


@pytest.mark.parametrize("page", [*THEORY, *sorted(DOCS.glob("*.md"))], ids=lambda page: page.stem)
def test_equations_become_mathml(page: Path) -> None:
    """Protects equations that no browser would show: nothing of their source is left over in what they become."""
    for display, inline in _EQUATION.findall(text_of(page)):
        shown = re.sub(r"<[^>]+>", "", convert((display or inline).strip()))
        assert "\\" not in shown, display or inline


def test_terms_are_in_the_glossary() -> None:
    """Protects the glossary: every term that a page refers to has an entry, and entries are in order."""
    text = (DOCS / "glossary.md").read_text(encoding="utf-8")
    terms = re.findall(r"^(\w.*)\n  \w", text.partition("```{glossary}")[2], re.MULTILINE)
    assert len(terms) > 80
    assert terms == sorted(terms, key=str.casefold)
    used = {
        term
        for page in (*THEORY, *DOCS.glob("*.md"))
        for term in re.findall(r"\{term\}`(?:[^`<]*<)?([^`>]+)>?`", page.read_text(encoding="utf-8"))
    }
    assert {term.casefold() for term in used} <= {term.casefold() for term in terms}


def test_every_description_has_its_table() -> None:
    """Protects the page of file formats from a part of a file that it does not have."""
    page = (DOCS / "file-formats.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"^```\{fields\} [\w.]+:(\w+)", page, re.MULTILINE))
    files: tuple[type[BaseModel], ...] = (ScenarioSpec, RequirementSpec, SweepSpec, StudyDocument, KernelSpec)
    needed = {kind.__name__ for kind in files}
    for kind in files:
        needed |= {name for name, part in kind.model_json_schema().get("$defs", {}).items() if "properties" in part}
    with_kind_alone = {"PoissonArrivals", "ConstantArrivals", "UniformLocality", "DropCacheStep"}
    of_policies = {type(balance(name)).__name__ for name in READ_BALANCE}
    assert needed - shown <= with_kind_alone | of_policies


def test_fields_say_what_they_are() -> None:
    """Protects the tables' contents: quantities with units, choices, defaults as they are written, and meanings."""
    made = from_code()
    rows = {row[0]: row[1:] for row in made.fields_of(ScenarioSpec.model_fields["vm"].annotation.__args__[0])}  # type: ignore[union-attr]
    assert rows["`dirty_bytes`"][0] == "bytes with a unit"
    assert all(meaning for _, _, meaning in rows.values())
    assert made.words({"anyOf": [{"const": "a"}, {"type": "null"}, {"type": "integer", "minimum": 1}]}, {}) == (
        "`a` or whole number from 1"
    )


def test_commands_list_their_options() -> None:
    """Protects the list of commands from one whose options cannot be read."""
    text = from_code().command_text("layout")
    assert "## layout" in text
    assert "| `--chunk" in text
