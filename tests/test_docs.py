"""The manual: what it shows on the command line is what the command says, and it builds."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from raidsim.model.spec import Spec
from raidsim.scenarios.arrays import ArraySpec, EncryptedSpec, FailureSpec, ResyncSpec
from raidsim.scenarios.front import FrontSpec
from raidsim.scenarios.machine import ChannelSpec, ControllerInstance, DriveInstance, LinkSpec, MachineSpec, PriceList
from raidsim.scenarios.programs import (
    ArchiveStep,
    BonniePlusPlusStep,
    BonnieStep,
    CopyFileStep,
    CopyTreeStep,
    ExtractStep,
    FileSystemSpec,
    IozoneStep,
    PostMarkStep,
    ProgramsSpec,
    ReadFileStep,
    TarPipeStep,
    TiobenchStep,
    TreeSpec,
    WriteFileStep,
)
from raidsim.scenarios.scenario import ScenarioSpec
from raidsim.scenarios.workloads import DdSpec, LoadSpec
from raidsim.tests.manual_pages import DOCS, ROOT, examples, files, lines, pages, raidsim_command

EXAMPLES = [example for page in pages() if not files(page) for example in examples(page)]
"""The pages that have their reader write files are followed in test_how_to.py."""


@pytest.mark.parametrize(("page", "command", "shown"), EXAMPLES)
def test_examples_print_what_the_manual_shows(page: str, command: str, shown: str) -> None:
    """Protects readers from examples that no longer work: each is run and its output compared."""
    done = raidsim_command(ROOT, *shlex.split(command))
    assert lines(done.stdout + done.stderr) == lines(shown), page


def test_there_are_examples() -> None:
    """Protects the test above from finding nothing to run."""
    assert {page for page, _, _ in EXAMPLES} >= {"getting-started.md"}


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in sorted((DOCS / "examples").glob("*.yaml"))
        if not any(command.startswith(f"run docs/examples/{path.name}") for _, command, _ in EXAMPLES)
    ],
    ids=lambda path: path.stem,
)
def test_example_files_run(path: Path) -> None:
    """Protects the scenario files that readers start from; those that the manual runs are tested above."""
    done = raidsim_command(ROOT, "run", str(path), "--no-relief")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "described",
    [
        ScenarioSpec,
        MachineSpec,
        PriceList,
        LinkSpec,
        FrontSpec,
        ChannelSpec,
        DriveInstance,
        ControllerInstance,
        ArraySpec,
        ResyncSpec,
        EncryptedSpec,
        FailureSpec,
        DdSpec,
        LoadSpec,
        FileSystemSpec,
        ProgramsSpec,
        TreeSpec,
        BonnieStep,
        BonniePlusPlusStep,
        PostMarkStep,
        WriteFileStep,
        ReadFileStep,
        CopyFileStep,
        ExtractStep,
        CopyTreeStep,
        ArchiveStep,
        TarPipeStep,
        TiobenchStep,
        IozoneStep,
    ],
)
def test_every_field_of_a_scenario_is_described(described: type[Spec]) -> None:
    """Protects the reference of scenario files from fields that it does not name."""
    named = re.findall(r"\b\w+\b", (DOCS / "scenarios.md").read_text(encoding="utf-8"))
    assert set(described.model_fields) <= set(named)


@pytest.mark.slow
def test_the_manual_builds_without_warnings(tmp_path: Path) -> None:
    """Protects the pages and docstrings from markup that Sphinx cannot read, and readers from what they would fetch."""
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", str(DOCS), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "reference.html").is_file()
    fetched = re.compile(r'<(?:script|link|img|iframe)\b[^>]*(?:src|href)="(?:https?:)?//')
    assert not [page.name for page in tmp_path.rglob("*.html") if fetched.search(page.read_text(encoding="utf-8"))]
