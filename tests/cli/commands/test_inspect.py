"""`raidsim inspect` as a person runs it: YAML that runs, notes, JSON, standard input, bad input."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from raidsim.calibration.inspection.inspection import Source
from raidsim.calibration.inspection.this_machine import ThisMachine
from raidsim.cli import main as cli
from raidsim.cli.commands import inspect as command
from raidsim.scenarios.documents.document import document_from, read_document
from raidsim.tests.calibration.inspection.mdstat_texts import LEVELS, text

SAMPLES = Path(command.__file__).parents[2] / "tests/calibration/inspection/samples"


def run(*arguments: str, name: str = "inspect") -> object:
    """Exit status of the command line; 0 if it simply ends."""
    try:
        cli.main([name, *arguments])
    except SystemExit as ended:
        return ended.code
    return 0


@pytest.fixture
def mdstat(tmp_path: Path) -> Path:
    """A file with a RAID 5 of four."""
    path = tmp_path / "array.txt"
    path.write_text(text(LEVELS["raid5"]))
    return path


def test_a_scenario_on_stdout(mdstat: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Protects `raidsim inspect > mine.yaml`: nothing but the document, with where each value was found."""
    assert run("--mdstat", str(mdstat)) == 0
    said = capsys.readouterr()
    spec = document_from(said.out, "x").spec()
    assert spec.name == "array"
    assert spec.arrays["md0"].level == "raid5"
    assert "chunk: 512KiB  # array.txt:3" in said.out
    assert said.out.startswith("# Made by raidsim inspect from")
    assert "memory: 16GiB  # assumed: nothing tells the memory" in said.out
    assert said.err == ""


def test_the_scenario_runs(mdstat: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Protects the point of it: what was made can be simulated as it is."""
    made = tmp_path / "mine.yaml"
    assert run(str(mdstat), "-o", str(made), "--name", "mine") == 0
    assert capsys.readouterr().out == ""
    assert read_document(made).title == "mine"
    made.write_text(made.read_text().replace("depth: 8}", "depth: 8, warm_up: 0.1s, duration: 0.2s}"))
    assert run(str(made), "--json", name="run") == 0
    assert json.loads(capsys.readouterr().out)


def test_json(mdstat: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Protects programs: one object with the document, what was found where, what is assumed why, and the notes."""
    assert run("--json", str(mdstat), str(SAMPLES / "lsblk.json")) == 0
    said = capsys.readouterr()
    made = json.loads(said.out)
    assert set(made) == {"document", "found", "assumed", "notes"}
    assert made["document"]["arrays"]["md0"]["chunk"] == "512KiB"
    assert {"path": "arrays.md0.chunk", "value": "512KiB", "where": f"{mdstat}:3"} in made["found"]
    assert any(each["path"] == "machine.memory" for each in made["assumed"])
    assert made["notes"]
    assert all(f"note: {note}" in said.err for note in made["notes"])


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Protects pipes: - is standard input, once."""

    class Stdin:
        buffer = io.BytesIO(text(LEVELS["raid1"]).encode())

    monkeypatch.setattr("sys.stdin", Stdin)
    assert run("-") == 0
    assert "<stdin>:2" in capsys.readouterr().out
    assert run("-", "--mdstat", "-") == 2
    assert "standard input once" in capsys.readouterr().err


def test_this_machine(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], mdstat: Path) -> None:
    """Protects the command without files: it asks this machine, and says what it could not read."""

    def collect(self: ThisMachine, progress: object) -> list[Source]:
        self.notes.append("smartctl is not installed")
        return [Source("/proc/mdstat", mdstat.read_text(), "mdstat")]

    monkeypatch.setattr(ThisMachine, "collect", collect)
    assert run() == 0
    said = capsys.readouterr()
    assert said.out.startswith("# Made by raidsim inspect from /proc/mdstat.\nname: this machine\n")
    assert "note: smartctl is not installed" in said.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none.txt",), "error: none.txt: cannot be read"),
        (("--lsblk", "MDSTAT"), "found what /proc/mdstat prints; expected: only what lsblk prints"),
        (("MDSTAT", "-o", "/nonexistent/x.yaml"), "error: --output: /nonexistent/x.yaml"),
        (("MDSTAT", "-o", "MDSTAT"), "exists already; expected: another name, or --force"),
        ((str(SAMPLES / "smartctl-nvme.json"), "--ignore-solid-state"), "only drives without moving parts: nvme0n1"),
    ],
)
def test_bad_input(arguments: tuple[str, ...], message: str, mdstat: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Protects people from tracebacks: one message, status 2, nothing on stdout."""
    assert run(*(str(mdstat) if each == "MDSTAT" else each for each in arguments)) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert message in said.err
    assert "Traceback" not in said.err


def test_solid_state_can_be_left_out(mdstat: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Protects machines with both: flash is taken, or left out on demand."""
    flash = "md1 : active raid1 nvme1n1[1] nvme0n1[0]\n      976759936 blocks super 1.2 [2/2] [UU]\n\n"
    both = tmp_path / "both.txt"
    both.write_text(mdstat.read_text().replace("unused", f"{flash}unused"))
    assert run(str(both)) == 0
    assert "members: [nvme0n1, nvme1n1]" in capsys.readouterr().out
    assert run(str(both), "--ignore-solid-state") == 0
    assert "md1 is left out" in capsys.readouterr().err
