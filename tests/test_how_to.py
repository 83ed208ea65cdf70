"""The pages that have their reader write files: what they say is done, in a checkout that has just those files more."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from raidsim.tests.manual_pages import (
    DOCS,
    ROOT,
    as_shown,
    checkout_with,
    examples_of,
    files,
    lines,
    pages,
    raidsim_command,
    run_python,
    scripts,
)

WITH_FILES = [page for page in pages() if files(page)]
IN_THE_PACKAGE = ("model/", "calibration/", "scenarios/")
ADDING = sorted((DOCS / "how-to").glob("add-a-*.md"))


def test_every_page_on_adding_something_is_followed() -> None:
    """Protects the tests below from finding nothing to write."""
    assert {page.stem for page in ADDING} == {
        f"add-a-{what}" for what in ("drive", "kernel", "layout", "read-balance-policy", "study")
    }
    assert set(ADDING) <= set(WITH_FILES)


@pytest.mark.parametrize("page", ADDING, ids=lambda page: page.stem)
def test_it_takes_one_file_and_its_test(page: Path) -> None:
    """Protects newcomers: whatever is added to the catalogues is one new file of the package; no old one changes."""
    added = list(files(page))
    assert len([path for path in added if path.startswith(IN_THE_PACKAGE)]) == 1, added
    assert len([path for path in added if path.startswith("tests/")]) <= 1, added
    assert not any((DOCS.parent / path).exists() for path in added), added


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_FILES, ids=lambda page: page.stem)
def test_who_follows_the_page_gets_what_it_shows(page: Path, tmp_path: Path) -> None:
    """Protects the pages that have files written: with them, and nothing else, every command prints what they show."""
    root = checkout_with(tmp_path, files(page))
    for example in examples_of(page):
        done = raidsim_command(root, *shlex.split(example.command))
        assert as_shown(done.stdout + done.stderr, example.shown) == lines(example.shown), example.command
    for picture in page.parent.glob("*.svg"):
        if (root / picture.name).exists():
            assert (root / picture.name).read_bytes() == picture.read_bytes(), f"{picture.name} is drawn anew"
    for script, shown in scripts(page):
        done = run_python(root, script)
        assert lines(done.stdout + done.stderr) == lines(shown), script


def test_the_tests_of_the_pages_pass(tmp_path: Path) -> None:
    """Protects what readers copy: the tests that the pages have them write pass, and all that is added gets along."""
    added = {path: text for page in ADDING for path, text in files(page).items()}
    tests = [path for path in added if path.startswith("tests/")]
    assert len(tests) == len(ADDING)
    done = run_python(checkout_with(tmp_path, added), "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_readers_copy_is_clean(tmp_path: Path) -> None:
    """Protects them from a `make check` that complains of what they were told to write."""
    written = {path: text for page in WITH_FILES for path, text in files(page).items() if path.endswith(".py")}
    root = checkout_with(tmp_path, written)
    settings = ("--no-cache", "--config", str(ROOT / "pyproject.toml"))
    for task in (("check",), ("format", "--check")):
        done = run_python(root, "-m", "ruff", *task, *settings, *written)
        assert done.returncode == 0, done.stdout + done.stderr
