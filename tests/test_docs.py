"""The manual: what it shows on the command line is what the command says, and it builds."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import raidsim

DOCS = Path(raidsim.__file__).parent / "docs"
EXAMPLES = [
    (page.name, command, shown)
    for page in sorted(DOCS.glob("*.md"))
    for block in re.findall(r"^```console\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    for command, shown in re.findall(r"^\$ raidsim (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
]


def lines(text: str) -> list[str]:
    """Lines that hold anything, without what trails."""
    return [line.rstrip() for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize(("page", "command", "shown"), EXAMPLES)
def test_examples_print_what_the_manual_shows(page: str, command: str, shown: str) -> None:
    """Protects readers from examples that no longer work: each is run and its output compared."""
    code = "from raidsim.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *shlex.split(command)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"COLUMNS": "100", "PYTHONUTF8": "1"},
    )
    assert lines(done.stdout + done.stderr) == lines(shown), page


def test_there_are_examples() -> None:
    """Protects the test above from finding nothing to run."""
    assert {page for page, _, _ in EXAMPLES} >= {"getting-started.md"}


@pytest.mark.slow
def test_the_manual_builds_without_warnings(tmp_path: Path) -> None:
    """Protects the pages and docstrings from markup that Sphinx cannot read."""
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", str(DOCS), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "reference.html").is_file()
