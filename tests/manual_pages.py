"""What the pages of the manual show: commands with their output, and files that a reader is asked to write."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import raidsim
from raidsim.cli.main import main

ROOT = Path(raidsim.__file__).parent
DOCS = ROOT / "docs"
PROGRESS = re.compile(
    r".*: ((\d+ of \d+|\d+ %|.*, .*) \(\d+ s(, about \d+ s left)?\)"
    r"|[\d,]+ of [\d,]+ runs \(\d+ %\), .* passed, .* left)"
)
"""What a command says on stderr every ten seconds; a slow computer gets to see it, a fast one does not."""
ELIDED = "..."
"""A line of a page that stands for any number of lines."""
_LIKE = 0.5
"""How much a line must be like the one of the page, 0 to 1, whose numbers or words have changed."""
CONSOLE = re.compile(r"^(?:% (long|minutes)\n)?```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\$ raidsim (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
_SCRIPT = re.compile(r"^\$ python (\S+)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
_FILE = re.compile(r"^`([\w./-]+\.\w+)`:\n\n```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL)
_NOT_COPIED = {".venv", ".git", "_build", "__pycache__", "build", "dist", ".mypy_cache", ".ruff_cache", ".pytest_cache"}


class Example(NamedTuple):
    """A command of a page, without the first word, what the page says it prints, and what is above it.

    `% long` takes seconds, `% minutes` half a minute and more on one core: only `make pages` runs these.
    """

    command: str
    shown: str
    takes: str


def pages() -> list[Path]:
    """The pages, those of folders included."""
    return sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)


def examples(text: str) -> list[Example]:
    """The commands of a page's console blocks."""
    return [
        Example(command, shown, takes)
        for takes, block in CONSOLE.findall(text)
        for command, shown in _COMMAND.findall(block)
    ]


def examples_of(page: Path) -> list[Example]:
    """The same of the file of a page."""
    return examples(page.read_text(encoding="utf-8"))


def scripts(page: Path) -> list[tuple[str, str]]:
    """Python files that a page has its reader run, and what they print."""
    text = page.read_text(encoding="utf-8")
    return [found for _, block in CONSOLE.findall(text) for found in _SCRIPT.findall(block)]


def files(page: Path) -> dict[str, str]:
    """Files that a page asks its reader to write, by path in the checkout: a line "`path`:" and a block below it."""
    return dict(_FILE.findall(page.read_text(encoding="utf-8")))


def checkout_with(folder: Path, added: dict[str, str]) -> Path:
    """A checkout in `folder` that has some files more: links to all of this one's, so that none of it changes."""
    root = folder / "raidsim"
    for here, subfolders, names in os.walk(ROOT):
        subfolders[:] = [name for name in subfolders if name not in _NOT_COPIED and not name.endswith(".egg-info")]
        there = root / Path(here).relative_to(ROOT)
        there.mkdir(parents=True)
        for name in names:
            (there / name).symlink_to(Path(here, name))
    for path, text in added.items():
        written = root / path
        if written.exists():
            raise FileExistsError(f"{path} is there already: the page would have its reader change it")
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_text(text, encoding="utf-8")
    return root


def run_python(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python with the raidsim of a checkout, in it, with a terminal of 100 columns; what it stores stays beside it."""
    settings = {"COLUMNS": "100", "PYTHONUTF8": "1", "PYTHONPATH": str(root.parent)}
    if root != ROOT:
        settings["RAIDSIM_HOME"] = str(root.parent / "home")
        # Its links lead to the build of this checkout, which has none of what is added.
        settings["RAIDSIM_PURE"] = "1"
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=root,
        env=os.environ | settings,
    )


def raidsim_command(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command of a checkout, in it; that of this one without starting Python anew, which takes longer than most."""
    if root != ROOT:
        return run_python(root, "-c", "from raidsim.cli.main import main; main()", *arguments)
    out, err = io.StringIO(), io.StringIO()
    status = 0
    with (
        mock.patch.dict(os.environ, {"COLUMNS": "100"}),
        contextlib.chdir(root),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main(list(arguments))
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
    return subprocess.CompletedProcess(arguments, status, out.getvalue(), err.getvalue())


def as_shown(printed: str, shown: str) -> list[str]:
    """The lines that were printed, with `ELIDED` for those that the page leaves out."""
    return [line for line in elided(printed, shown) if line]


def elided(printed: str, shown: str) -> list[str]:
    """The same with the empty lines."""
    told = [line.rstrip() for line in printed.splitlines() if not PROGRESS.fullmatch(line)]
    found: list[str] = []
    for line, following in pairwise([*lines(shown), ""]):
        if line == ELIDED:
            del told[: _left_out(told, following)]
            found.append(ELIDED)
            continue
        while told and not told[0]:
            found.append(told.pop(0))
        if told:
            found.append(told.pop(0))
    return found + told


def _left_out(told: list[str], following: str) -> int:
    """How many lines stand before the one that follows; if none is equal, before the one that is most like it."""
    if not following:
        return len(told)
    if following in told:
        return told.index(following)
    wanted = _shape(following)
    likeness = [SequenceMatcher(None, wanted, _shape(line)).ratio() if line else 0.0 for line in told]
    most = max(likeness, default=0.0)
    return likeness.index(most) if most > _LIKE else len(told)


def _shape(line: str) -> str:
    return " ".join(re.sub(r"[\d.,]+", "#", line).split())


def lines(text: str) -> list[str]:
    """Lines that hold anything, without what trails, and without progress."""
    return [line.rstrip() for line in text.splitlines() if line.strip() and not PROGRESS.fullmatch(line)]
