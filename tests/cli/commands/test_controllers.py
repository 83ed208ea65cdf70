"""`raidsim controllers` as a person runs it: the list, one entry with its sources, JSON, bad names."""

from __future__ import annotations

import json

import pytest

from raidsim.cli import main as cli
from raidsim.model.controller.catalogue import controller, controller_names


def run(*arguments: str) -> object:
    """Exit status of the command line; 0 if it simply ends."""
    try:
        cli.main(["controllers", *arguments])
    except SystemExit as ended:
        return ended.code
    return 0


def test_the_list_has_a_line_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    """Protects the table: every controller on one line, in the makers' units, with what becomes of a write."""
    assert run() == 0
    lines = capsys.readouterr().out.splitlines()
    for name in controller_names():
        (line,) = [line for line in lines if f" {name} " in line]
        assert ", ".join(level.removeprefix("raid") for level in controller(name).levels) in line
    assert "266 MB/s" in next(line for line in lines if "3ware-8500" in line)
    assert "write-back, forced" in next(line for line in lines if "3ware-8500" in line)
    assert "forced" not in next(line for line in lines if "Gateway-840" in line)
    assert max(map(len, lines)) <= 120


def test_one_entry_shows_every_number_with_its_origin(capsys: pytest.CaptureFixture[str]) -> None:
    """Protects the sources: the value as the file has it, and where it is from or that it is assumed."""
    assert run("LSI-9260-8i") == 0
    shown = capsys.readouterr().out
    for words in (
        "397MiB",
        "current size of FW cache 397 MB",
        "assumed: ",
        "assumed to a factor of 1.8",
        "raid0, raid1, raid5",
        "false",
    ):
        assert words in shown


def test_json_of_all_is_in_si_units(capsys: pytest.CaptureFixture[str]) -> None:
    """Protects programs: one object, every field of every controller."""
    assert run("--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert list(printed) == ["controllers"]
    assert list(printed["controllers"]) == list(controller_names())
    assert printed["controllers"]["3ware-8500"]["host_rate"] == 266e6


def test_json_of_one_has_sources(capsys: pytest.CaptureFixture[str]) -> None:
    """Protects the origin of each number; a name may be written in any case, and a default has no origin."""
    assert run("gateway-840", "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["name"] == "Gateway-840"
    for entry in printed["fields"].values():
        assert set(entry) == {"value", "source", "assumed", "spread"}
        assert entry["source"] is None or entry["assumed"] is None
    assert printed["fields"]["cache"]["value"] == 256 << 20


@pytest.mark.parametrize("arguments", [("LSI-9260",), ("LSI-9260", "--json")])
def test_an_unknown_name_is_answered_with_the_closest(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Protects from a traceback: status 2, one line, what there is, nothing on stdout."""
    assert run(*arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: controller 'LSI-9260': not in the catalogue; did you mean LSI-9260-8i")
    assert "? expected: 3ware-8500, " in err
    assert len(err.splitlines()) == 1
