"""The command line as a whole: what it prints and how it ends."""

from __future__ import annotations

import shlex
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path

import pytest

from raidsim.cli import main as cli
from raidsim.model.core.errors import InputError


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], None]:
    """Adds a command called `planted` that runs a function."""

    def plant(function: Callable[[], None]) -> None:
        module = types.ModuleType("raidsim.cli.planted")
        module.__dict__["planted_command"] = function
        monkeypatch.setitem(sys.modules, "raidsim.cli.planted", module)
        monkeypatch.setitem(cli.COMMANDS, "planted", (".planted:planted_command", "Only here."))

    return plant


def run(*arguments: str) -> object:
    """Exit status of the command line."""
    with pytest.raises(SystemExit) as ended:
        cli.main(list(arguments))
    return ended.value.code


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    """Protects the table of commands: names and one line each, without importing any, missing ones included."""
    assert run("--help") == 0
    shown = capsys.readouterr().out
    for name, (_, text) in cli.COMMANDS.items():
        assert name in shown
        assert text in shown


def test_bad_input_is_one_line_and_status_2(
    planted: Callable[[Callable[[], None]], None], capsys: pytest.CaptureFixture[str]
) -> None:
    """Protects people from tracebacks: where, what was found and what is expected, on one line of stderr."""

    def refuse() -> None:
        raise InputError("m.yaml:3", "found\n'64K'", "expected: 64KiB")

    planted(refuse)
    assert run("planted") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "error: m.yaml:3: found '64K'; expected: 64KiB\n"


def test_an_interrupt_ends_with_130(
    planted: Callable[[Callable[[], None]], None], capsys: pytest.CaptureFixture[str]
) -> None:
    """Protects Ctrl-C: one line and the shell's own status, no traceback and no "Aborted"."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    planted(interrupt)
    assert run("planted") == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_our_own_mistakes_are_not_hidden(planted: Callable[[Callable[[], None]], None]) -> None:
    """Protects finding bugs: only errors raised on purpose are shortened to a line."""

    def fail() -> None:
        raise ZeroDivisionError

    planted(fail)
    with pytest.raises(ZeroDivisionError):
        cli.main(["planted"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["layot"], "did you mean 'layout'?"), (["--nothing"], "--nothing"), (["layout", "--disks", "x"], "--disks")],
)
def test_wrong_use_is_status_2(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Protects the status of misspelt commands and options, and that the message names them."""
    assert run(*arguments) == 2
    assert words in capsys.readouterr().err


def test_a_command_that_is_missing_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Protects against an ImportError for a command whose module is not installed."""
    monkeypatch.setitem(cli.COMMANDS, "later", (".not_there_yet:later_command", "Only here."))
    assert run("later") == 2
    assert capsys.readouterr().err == "error: the command later is not part of this version\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_behind_stdout_is_one_line() -> None:
    """Protects `raidsim schema > FILE` on a full disk: status 2 and what happened, no traceback."""
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "raidsim", "schema"]
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr.startswith("error: stdout cannot be written")
    assert ended.stderr.count("\n") == 1


def test_a_closed_standard_input_is_an_empty_one() -> None:
    """Protects from a traceback where a service starts raidsim without standard input."""
    command = f"exec {shlex.quote(sys.executable)} -m raidsim run - <&-"
    ended = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr == "error: <stdin>: the file is empty; expected: one YAML document\n"
