"""`raidsim file-systems`: the catalogue, and one entry with its sources."""

from __future__ import annotations

import contextlib
import json

import pytest

from raidsim.cli import main as cli
from raidsim.model.file_system import FileSystemSettings, file_system_names


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What the command prints."""
    with contextlib.suppress(SystemExit):
        cli.main(["file-systems", *arguments])
    out, err = capsys.readouterr()
    assert not err
    return out


def test_the_table_has_every_file_system(capsys: pytest.CaptureFixture[str]) -> None:
    """Protects the list from an entry that cannot be shown."""
    lines = shown(capsys).splitlines()
    assert {line.split()[0] for line in lines if line.split()} >= set(file_system_names())


def test_one_file_system_with_its_sources(capsys: pytest.CaptureFixture[str]) -> None:
    """Protects the origin of every number: a source or a reason for each that the file gives."""
    printed = json.loads(shown(capsys, "EXT3", "--json"))
    assert printed["name"] == "ext3"
    assert set(printed["fields"]) == set(FileSystemSettings.model_fields)
    assert printed["fields"]["journal_size"]["value"] == 32 << 20
    assert printed["fields"]["journal_size"]["source"]
    assert "journal_size" in shown(capsys, "ext3")


def test_all_of_them_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """Protects scripts: one object with the fields of every file system."""
    assert set(json.loads(shown(capsys, "--json"))["file_systems"]) == set(file_system_names())


def test_an_unknown_one_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Protects from a traceback: status 2, and what there is."""
    with pytest.raises(SystemExit) as ended:
        cli.main(["file-systems", "zfs"])
    assert ended.value.code == 2
    assert "ext2" in capsys.readouterr().err
