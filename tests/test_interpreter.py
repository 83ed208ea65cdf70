"""Which Python the virtual environment is made from, with programs on the PATH that say they are Pythons."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "interpreter.py"
LAUNCHER_WITHOUT = "exit 127"


def says(version: str, seconds: float, program: str) -> str:
    """What such a program does."""
    return f"echo {version} {seconds} {program}"


@pytest.mark.parametrize(
    ("found", "taken"),
    [
        pytest.param({"a/python3": says("3 11", 0.01, "/a")}, "a/python3", id="the only one"),
        pytest.param(
            {"a/python3": says("3 11", 0.01, "/a"), "b/python3": says("3 11", 0.006, "/b")}, "b/python3", id="faster"
        ),
        pytest.param(
            {"a/python3": says("3 11", 0.01, "/a"), "b/python3": says("3 11", 0.009, "/b")}, "a/python3", id="hardly"
        ),
        pytest.param(
            {"a/python3": says("3 9", 0.01, "/a"), "a/python3.12": says("3 12", 0.02, "/b")}, "a/python3.12", id="old"
        ),
        pytest.param(
            {"a/python3": says("3 11", 0.01, "/a"), "b/python3": says("3 99", 0.001, "/b")}, "a/python3", id="untried"
        ),
        pytest.param({"a/python3": says("3 99", 0.01, "/a")}, "a/python3", id="untried, but asked for"),
        pytest.param(
            {"a/python3": LAUNCHER_WITHOUT, "b/python3": says("3 13", 0.01, "/b")}, "b/python3", id="a launcher"
        ),
        pytest.param({"a/python3": LAUNCHER_WITHOUT}, "python3", id="none: it says itself what it lacks"),
    ],
)
def test_the_first_unless_another_is_clearly_faster(found: dict[str, str], taken: str, tmp_path: Path) -> None:
    """Protects the choice: plain where there is one, never an old or an untried one that nobody asked for."""
    for name, line in found.items():
        program = tmp_path / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{line}\n")
        program.chmod(0o755)
    path = f"{tmp_path / 'a'}:{tmp_path / 'b'}"
    done = subprocess.run([sys.executable, SCRIPT], env={"PATH": path}, capture_output=True, text=True, check=True)
    assert done.stdout.strip().removeprefix(f"{tmp_path}/") == taken
    assert (taken == "b/python3" and "of the time" in done.stderr) == ("time" in done.stderr)


def test_a_name_for_the_same_program_is_not_another(tmp_path: Path) -> None:
    """Protects the first run's seconds: links to one Python are not timed against each other."""
    asked = tmp_path / "asked"
    for name in ("python3", "python3.11"):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\necho >>{asked}\n{says('3 11', 0.01, '/a')}\n")
        program.chmod(0o755)
    subprocess.run([sys.executable, SCRIPT], env={"PATH": str(tmp_path)}, capture_output=True, check=True)
    assert len(asked.read_text().splitlines()) == 2


@pytest.mark.parametrize(
    "command", [["sh", "benchmarks/environment.sh"], ["make", "-s", "OPTIONS=--no-install", "{venv}"]]
)
def test_without_what_makes_environments_one_line_says_what_to_install(command: list[str], tmp_path: Path) -> None:
    """Protects a bare Debian, whose Python has no ensurepip, and a user who wants nothing installed."""
    bare = tmp_path / "python3"
    lacks = '*"import ensurepip"*|"-m pip "*) exit 1'
    bare.write_text(f'#!/bin/sh\ncase "$*" in {lacks};; esac\nexec {sys.executable} "$@"\n', encoding="utf-8")
    bare.chmod(0o755)
    for name in ("Makefile", "benchmarks"):
        (tmp_path / name).symlink_to(SCRIPT.parents[1] / name)
    words = [word.format(venv=".venv/bin/python") for word in command]
    words += [f"PYTHON={bare}"] if words[0] == "make" else [str(bare)]
    environment = {**os.environ, "NO_INSTALL": "1"}
    environment.pop("MAKEFLAGS", None)
    ended = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    assert ended.returncode
    assert ended.stderr.splitlines()[0] == f"no environment for raidsim: apt-get install {version}-venv (as root)"
    assert not (tmp_path / ".venv").exists()
