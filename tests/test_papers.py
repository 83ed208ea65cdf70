"""The papers of the project: what others' programs read of them, and the files they point to."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

import raidsim
from raidsim.tests.manual_pages import ROOT, checkout_with

FORMS = sorted(path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
FIELDS = {"markdown": {"value"}, "textarea": {"label"}, "input": {"label"}, "dropdown": {"label", "options"}}
PAPERS = ["CONTRIBUTING.md", "SECURITY.md"]


def data(path: Path) -> Any:
    """What a YAML file holds."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_the_citation_is_what_the_schema_wants() -> None:
    """Protects CITATION.cff: the keys that Citation File Format 1.2.0 requires, and no version but the package's."""
    citation = data(ROOT / "CITATION.cff")
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert (citation["cff-version"], citation["type"], citation["license"]) == ("1.2.0", "software", "MIT")
    assert citation["authors"] == [{"name": "the raidsim authors"}]
    assert citation["version"] == raidsim.__version__


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.stem)
def test_issue_forms_have_what_forms_need(form: Path) -> None:
    """Protects issue forms, which are left out in silence if a key is missing or an id is used twice."""
    found = data(form)
    assert {"name", "description", "body"} <= set(found)
    assert found["body"]
    asked = [part for part in found["body"] if part["type"] != "markdown"]
    assert len({part["id"] for part in asked}) == len(asked) > 0
    for part in found["body"]:
        needed = FIELDS.get(part["type"], {"label", "options"})
        assert needed <= set(part["attributes"]), part
        assert set(part) <= {"type", "id", "attributes", "validations"}
    assert any(part.get("validations", {}).get("required") for part in asked)


@pytest.mark.parametrize("paper", PAPERS)
def test_papers_point_to_files_that_are_there(paper: str) -> None:
    """Protects readers of CONTRIBUTING and SECURITY from links into nothing."""
    text = (ROOT / paper).read_text(encoding="utf-8")
    links = [link.partition("#")[0] for link in re.findall(r"\]\((?!http)([^)#]+)[^)]*\)", text)]
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_contributing_names_folders_and_files_that_are_there() -> None:
    """Protects newcomers from a table that sends them into a folder that has moved; NAME is theirs to choose."""
    text = re.sub(
        r"^```.*?^```", "", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    named = re.findall(r"`(\w[\w/.]*/[\w/.]+)`", text)
    assert len(named) > 25
    assert [name for name in named if not (ROOT / name.replace("NAME.yaml", "")).exists()] == []


def test_following_a_page_changes_nothing_that_is_there(tmp_path: Path) -> None:
    """Protects the tests that follow the manual: a page that would overwrite a file of the checkout is refused."""
    with pytest.raises(FileExistsError, match=r"model/raid/read_balance/base\.py"):
        checkout_with(tmp_path, {"model/raid/read_balance/base.py": ""})
    before = (ROOT / "model" / "raid" / "read_balance" / "base.py").read_text(encoding="utf-8")
    assert "class ReadBalance" in before
