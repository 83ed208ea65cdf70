"""The manual: what it shows on the command line is what the command says, and it builds."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from unittest.mock import MagicMock

import pytest

import raidsim
from raidsim import Scenario
from raidsim.scenarios.designs.requirement import RequirementSpec
from raidsim.tests.manual_pages import (
    DOCS,
    ROOT,
    as_shown,
    examples_of,
    files,
    lines,
    pages,
    raidsim_command,
)
from raidsim.tests.refresh_pages import refreshed
from raidsim.tests.test_vocabulary import prose

EXAMPLES = [
    (page.relative_to(DOCS).as_posix(), each) for page in pages() if not files(page) for each in examples_of(page)
]
"""The pages that have their reader write files are followed in test_how_to.py."""


@pytest.mark.parametrize(
    ("page", "command", "shown"),
    [
        pytest.param(page, each.command, each.shown, marks=[pytest.mark.slow] if each.takes == "long" else [])
        for page, each in EXAMPLES
        if each.takes != "minutes"
    ],
)
def test_examples_print_what_the_manual_shows(page: str, command: str, shown: str) -> None:
    """Protects readers from examples that no longer work: each is run and its output compared."""
    done = raidsim_command(ROOT, *shlex.split(command))
    assert as_shown(done.stdout + done.stderr, shown) == lines(shown), page


def test_there_are_examples() -> None:
    """Protects the test above from finding too little to run, also in `make check`, which leaves long ones out; and
    from examples that only `make pages` runs.
    """
    takes = [each.takes for _, each in EXAMPLES]
    assert {page for page, each in EXAMPLES if not each.takes} >= {"getting-started.md"}
    assert len(takes) - takes.count("") < len(takes) / 5
    assert takes.count("minutes") <= 4


def test_python_of_the_decisions_asks_what_can_be_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its scenarios, alternatives and requirement are valid; the simulations themselves take minutes."""
    page = (DOCS / "tutorials" / "decisions.md").read_text(encoding="utf-8")
    (tmp_path / "docs").symlink_to(DOCS)
    scenario = next(text for text in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if "workload:" in text)
    (tmp_path / "postgresql.yaml").write_text(scenario, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    asked: list[object] = []

    def run(given: Scenario) -> MagicMock:
        asked.append(given.spec)
        return MagicMock()

    def compare(given: Scenario, replications: int = 1, rebuild: bool = True, **vary: list[object]) -> MagicMock:
        for path, values in vary.items():
            asked.extend(given.with_({path: value}).spec for value in values)
        return MagicMock()

    def advise(wanted: dict[str, object]) -> None:
        asked.append(RequirementSpec.model_validate(wanted))

    for name, stub in (("run", run), ("compare", compare), ("advise", advise)):
        monkeypatch.setattr(raidsim, name, stub)
    codes = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    for code in codes:
        exec(code, {})
    assert len(codes) == 5
    assert len(asked) == 2 + 2 + 2 + 4 + 1


def test_the_manual_stays_short() -> None:
    """Protects readers from pages that repeat each other: what is said is below 76,000 words, without examples."""
    said = [prose(page.read_text(encoding="utf-8")) for page in [*pages(), *ROOT.glob("*.md")]]
    assert sum(len(line.split()) for text in said for line in text.splitlines() if not line.startswith("|")) < 76_000


def test_what_a_page_leaves_out_is_no_excuse_for_the_rest() -> None:
    """Protects the tests above: three dots stand for lines, and all others are compared."""
    assert as_shown("a\nb\n\nc\n", "a\n...\nc\n") == ["a", "...", "c"]
    assert as_shown("a\nb\nc\n", "a\n...\n") == ["a", "..."]
    assert as_shown("a\nb\nc\n", "a\n...\nd\n") != ["a", "...", "d"]
    assert as_shown("a\nb\nc\n", "a\nc\n") != ["a", "c"]


def test_pages_are_brought_up_to_date(tmp_path: Path) -> None:
    """Protects `make pages`: what a command prints now replaces what the page shows, but for what it leaves out."""
    command = "$ raidsim layout --level raid1 --disks 2"
    printed = "RAID 1: 2 disks\n256 KiB of 512 KiB usable; any 1 disk may fail\n..."
    right = f"% long\n```console\n{command}\n{printed}\n```\n\nEnd.\n"
    page = tmp_path / "page.md"
    page.write_text(right.replace("512 KiB", "640 KiB"), encoding="utf-8")
    assert refreshed(page)
    found = page.read_text(encoding="utf-8")
    assert not refreshed(page)
    assert found == right


def test_a_cluster_gives_the_rows_of_one_process() -> None:
    """Protects the page on clusters, whose command needs one: its table is that of the page on sweeps, which is run."""
    command = "sweep docs/examples/sweeps/chunk-size.yaml "
    (alone,) = (each for _, each in EXAMPLES if each.command.startswith(command))
    cluster = (DOCS / "how-to" / "sweep-on-a-cluster.md").read_text(encoding="utf-8")
    shown = cluster.partition(f"$ raidsim {command}")[2].partition("\n")[2].partition("```")[0]
    assert lines(shown) == lines(alone.shown)


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in sorted((DOCS / "examples").glob("*.yaml"))
        if not any(each.command.startswith(f"run docs/examples/{path.name}") for _, each in EXAMPLES)
    ],
    ids=lambda path: path.stem,
)
def test_example_files_run(path: Path) -> None:
    """Protects the scenario files that readers start from; those that the manual runs are tested above."""
    done = raidsim_command(ROOT, "run", str(path), "--no-relief")
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_manual_builds_without_warnings(tmp_path: Path) -> None:
    """Protects the pages and docstrings from markup that Sphinx cannot read, and readers from what they would fetch.

    Notebooks are not run here: `tests/test_notebooks.py` runs their cells.
    """
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "-D", "nb_execution_mode=off"]
    command += [str(DOCS), str(tmp_path / "html")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "html" / "reference.html").is_file()
    assert len(list((tmp_path / "html" / "_downloads").rglob("*.ipynb"))) == 6
    fetched = re.compile(r'<(?:script|link|img|iframe)\b[^>]*(?:src|href)="(?:https?:)?//')
    assert not [page.name for page in tmp_path.rglob("*.html") if fetched.search(page.read_text(encoding="utf-8"))]
