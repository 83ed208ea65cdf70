"""Pipes that nobody reads or writes, scenarios from stdin, and a clock that jumps."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from raidsim.cli import main as cli
from raidsim.scenarios.documents import document
from raidsim.tests.processes import PATIENCE_S
from raidsim.tests.scenarios.sweeps.sweep_bench import plan_of, run, tables

_ROOT = Path(str(document.__file__)).parents[2]
SCENARIO = b"""
machine: {drives: {model: WD2500JB, count: 1}}
workload: {kind: load, depth: 2, warm_up: 10ms, duration: 100ms}
"""


def _raidsim(*arguments: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "raidsim", *arguments]
    return subprocess.run(command, capture_output="stdout" not in options, check=False, timeout=PATIENCE_S, **options)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize("command", [("schema",), ("drives",)], ids=["plain", "table"])
def test_a_reader_that_has_seen_enough_is_no_error(command: tuple[str, ...]) -> None:
    """Protects `raidsim drives | head -1`: no traceback, no message, and the status of a program that SIGPIPE ends."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        ended = _raidsim(*command, stdout=writer, stderr=subprocess.PIPE)
    finally:
        os.close(writer)
    assert (ended.returncode, ended.stderr) == (141, b"")


def test_a_scenario_may_come_from_stdin() -> None:
    """Protects `... | raidsim run -`: as a file, and what is wrong with it is told as of a file."""
    ended = _raidsim("run", "-", "--json", "--no-relief", input=SCENARIO)
    assert ended.returncode == 0
    assert ended.stdout.startswith(b"{")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"workload: {kind: lod}", "<stdin>:1"),
        (b"\xff\xfe\x00", "<stdin>"),
        (b"a: " + b"x" * (2 << 20), "<stdin>: more than 1 MiB"),
        (b"", "<stdin>"),
    ],
    ids=["wrong", "no text", "too long", "nothing"],
)
def test_what_is_wrong_with_stdin_is_one_message(
    text: bytes, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Protects the same refusals as for files."""
    (tmp_path / "in").write_bytes(text)
    with (tmp_path / "in").open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        with pytest.raises(SystemExit) as ended:
            cli.main(["run", "-"])
    assert ended.value.code == 2
    shown = capsys.readouterr().err
    assert words in shown
    assert shown.count("\n") == 1


@pytest.mark.parametrize("command", ["run", "sweep"])
def test_a_pipe_that_nobody_writes_to_is_not_waited_for(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Protects against a command that hangs without a word: a pipe in the place of a file is refused."""
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    with pytest.raises(SystemExit) as ended:
        cli.main([command, str(pipe)])
    assert ended.value.code == 2
    assert "this is no regular file" in capsys.readouterr().err


def test_no_output_replaces_a_device(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Protects /dev/null of a root user: what is no regular file is written to, not put in the place of."""
    (tmp_path / "s.yaml").write_bytes(SCENARIO)
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(SystemExit) as ended:
        cli.main(["run", str(tmp_path / "s.yaml"), "--no-relief", "--timeline", str(pipe), "--timeline-ios", "1"])
    assert ended.value.code == 0, capsys.readouterr().err
    assert os.read(reader, 1) == b"{"
    os.close(reader)
    assert pipe.is_fifo()


def test_a_file_that_vanishes_is_one_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Protects from tracebacks of what the system refuses in places where no command expects it."""

    def vanished(*_: object) -> None:
        raise FileNotFoundError(2, "No such file or directory", "/run/gone")

    monkeypatch.setattr("raidsim.api.scenario.read_document", vanished)
    with pytest.raises(SystemExit) as ended:
        cli.main(["run", "vm-host"])
    assert ended.value.code == 2
    assert capsys.readouterr().err == "error: /run/gone cannot be used (No such file or directory)\n"


_WALL_CLOCK = {
    ("time", "time"),
    ("time", "time_ns"),
    ("datetime", "now"),
    ("datetime", "utcnow"),
    ("datetime", "today"),
}
_DATES = {"calibration/measurement/measure.py", "benchmarks/history.py"}
"""What is measured today has a date."""


def test_nothing_is_timed_by_a_clock_that_may_jump() -> None:
    """Protects progress, time limits and stores against a clock that is set: only dates come from the wall clock."""
    found = []
    for path in sorted(_ROOT.rglob("*.py")):
        name = path.relative_to(_ROOT).as_posix()
        if name.startswith((".venv", "tests/", "build/", "docs/")) or name in _DATES:
            continue
        text = path.read_text(encoding="utf-8")
        if not re.search(r"\btime\.time|\b(now|utcnow|today)\(", text):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, (ast.Name, ast.Attribute)):
                owner = node.value.id if isinstance(node.value, ast.Name) else node.value.attr
                if (owner, node.attr) in _WALL_CLOCK:
                    found.append(f"{name}:{node.lineno}")
    assert not found


def test_a_clock_that_jumps_changes_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects sweeps: the hour that comes twice in autumn, or a clock set back by a year, does nothing."""
    plan = plan_of(tmp_path, 6)
    run(plan, tmp_path / "calm.sqlite")
    jumps = iter(range(10**9, 0, -(10**6)))
    monkeypatch.setattr(time, "time", lambda: float(next(jumps)))
    run(plan, tmp_path / "jumping.sqlite")
    assert tables(tmp_path / "calm.sqlite") == tables(tmp_path / "jumping.sqlite")
