"""`raidsim layout`: the map as JSON in the notation of the recorded arrays, and as a table that can be read."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from raidsim.cli.commands.layout import layout_command
from raidsim.model.core.errors import InputError
from raidsim.validation.conformance.truth_files import load_truth

TRUTH = {array["name"]: array for file in load_truth().by_kind["layout"] for array in file.content["arrays"]}


def _run(*arguments: str) -> Result:
    app = typer.Typer()
    app.command()(layout_command)
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "80"})


def _map(*arguments: str) -> dict[str, Any]:
    result = _run(*arguments, "--json")
    assert result.exit_code == 0, result.exception
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def _grid(*arguments: str) -> list[list[str]]:
    """Return the cells of the printed table, row by row, without the row numbers."""
    result = _run(*arguments)
    assert result.exit_code == 0, result.exception
    return [line.split()[1:] for line in result.stdout.splitlines() if re.match(r"\s+\d+\s+\S", line)]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("raid5_left-symmetric_n4_c4", ("--level", "raid5", "--disks", "4", "--member-size", "48KiB")),
        ("raid6_ddf-N-continue_n4_c4", ("--level", "6", "--disks", "4", "--algorithm", "ddf-N-continue")),
        ("raid4_n3_c4", ("--level", "raid4", "--disks", "3", "--member-size", "36KiB")),
        ("raid10_f2_n3_c4", ("--level", "raid10", "--disks", "3", "--algorithm", "f2", "--member-size", "144KiB")),
        ("raid10_o3_n4_c4", ("--level", "10", "--disks", "4", "--algorithm", "offset", "--copies", "3")),
    ],
)
def test_json_is_the_recorded_map(name: str, arguments: tuple[str, ...]) -> None:
    """The JSON has the same chunks, parity and capacity as the real array, so the two can be compared by a program."""
    truth = TRUTH[name]
    if "--member-size" not in arguments:
        arguments += ("--member-size", f"{truth['component_kib']}KiB")
    document = _map(*arguments, "--chunk", "4KiB")
    assert document["chunks"] == truth["chunks"]
    assert document["parity"] == truth.get("parity", [])
    assert (document["n"], document["chunk_kib"]) == (truth["n"], truth["chunk_kib"])
    assert document["array_kib"] == truth["array_kib"]


def test_json_of_unequal_members() -> None:
    """RAID 0 shows its zones and linear its segments just as they were recorded."""
    truth = TRUTH["raid0_u24-47-33-16_original_c512"]
    sizes = ",".join(f"{kib}KiB" for kib in truth["member_data_kib"])
    document = _map(
        "--level", "0", "--disks", "4", "--chunk", "512KiB", "--algorithm", "original", "--member-size", sizes
    )
    assert document["zones"] == truth["zones"]
    assert document["chunks"][: len(truth["first_chunks"])] == truth["first_chunks"]
    truth = TRUTH["linear_u3"]
    sizes_repeated = [part for kib in truth["member_data_kib"] for part in ("--member-size", f"{kib}KiB")]
    document = _map("--level", "linear", "--disks", "3", *sizes_repeated)
    assert json.dumps(document["segments_kib"]) == json.dumps(truth["segments_kib"])
    assert "chunks" not in document


def test_json_of_levels_without_recorded_map() -> None:
    """RAID 1 lists all copies, RAID 3 sectors of 512 bytes, nested levels the parity of all groups."""
    assert _map("--level", "raid1", "--disks", "3")["chunks"][1] == [[0, 1], [1, 1], [2, 1]]
    raid3 = _map("--level", "raid3", "--disks", "3")
    assert (raid3["chunk_kib"], raid3["chunks"][:3]) == (0.5, [[0, 0], [1, 0], [0, 1]])
    raid50 = _map("--level", "raid50", "--disks", "6")
    assert (raid50["parity"][:2], raid50["survives"]) == ([[2, 5], [1, 4]], 1)
    raid60 = _map("--level", "raid60", "--disks", "8", "--algorithm", "parity-last")
    assert raid60["parity"][0] == [2, 3, 6, 7]
    assert _map("--level", "raid01", "--disks", "4")["chunks"][1] == [[1, 0], [3, 0]]


def test_table_of_left_symmetric() -> None:
    """One line per stripe, one column per disk: what every text book prints for RAID 5."""
    assert _grid("--level", "raid5", "--disks", "4", "--rows", "4") == [
        ["D0", "D1", "D2", "P"],
        ["D4", "D5", "P", "D3"],
        ["D8", "P", "D6", "D7"],
        ["P", "D9", "D10", "D11"],
    ]


def test_table_of_raid6_and_copies() -> None:
    """Q is told from P, and a copy from the chunk it repeats, without any color."""
    assert _grid("--level", "raid6", "--disks", "4", "--rows", "2") == [["Q", "D0", "D1", "P"], ["D2", "D3", "P", "Q"]]
    assert _grid("--level", "raid10", "--disks", "3", "--algorithm", "f2", "--rows", "2") == [
        ["D0", "D1", "D2"],
        ["D2'", "D0'", "D1'"],
    ]
    assert _grid("--level", "raid60", "--disks", "8", "--rows", "1") == [["Q", "D0", "D1", "P", "Q", "D2", "D3", "P"]]


def test_default_map_is_complete() -> None:
    """Without a member size the disks are just large enough for whole copies: nothing in the map stays empty."""
    document = _map("--level", "raid10", "--disks", "4", "--algorithm", "f3", "--rows", "4")
    assert document["array_kib"] * 3 == sum(document["member_kib"])
    assert all(len(row) == 4 for row in _grid("--level", "raid10", "--disks", "4", "--algorithm", "f3"))


@pytest.mark.parametrize("disks", [8, 12, 24])
def test_wide_tables_are_not_cut(disks: int) -> None:
    """Where there is no screen, all columns are there, however many disks; up to 12 they fit 80 characters."""
    result = _run("--level", "raid6", "--disks", str(disks), "--rows", "3")
    lines = result.stdout.splitlines()
    assert "…" not in result.stdout
    assert sum(len(line.split()) == disks + 1 for line in lines) >= 3
    assert disks > 12 or max(map(len, lines)) <= 80
    assert "\x1b" not in result.stdout


def test_rows_of_a_large_array() -> None:
    """A table of real disks shows its first rows at once and says how many are left."""
    result = _run("--level", "raid5", "--disks", "3", "--member-size", "80GB", "--rows", "2")
    assert "1,220,701 more rows" in result.stdout
    assert "any 1 disk may fail" in result.stdout


def test_zones_are_shown() -> None:
    """Unequal RAID 0 members get a table of zones beside the map."""
    result = _run("--level", "raid0", "--disks", "2", "--member-size", "128KiB,192KiB")
    assert "zones" in result.stdout
    assert re.search(r"D4\s+1\s+1\s+2", result.stdout)


def test_linear_table() -> None:
    """Linear shows where each disk begins and ends."""
    result = _run("--level", "linear", "--disks", "2", "--member-size", "1GiB,2GiB")
    assert re.search(r"disk 1\s+1 GiB\s+3 GiB\s+2 GiB", result.stdout)


@pytest.mark.parametrize(
    ("place", "arguments"),
    [
        ("disks", ("--level", "raid5", "--disks", "2")),
        ("level", ("--level", "raid9", "--disks", "4")),
        ("chunk", ("--level", "raid5", "--disks", "4", "--chunk", "3KiB")),
        ("--chunk", ("--level", "raid5", "--disks", "4", "--chunk", "many")),
        ("algorithm", ("--level", "raid5", "--disks", "4", "--algorithm", "f2")),
        ("members", ("--level", "raid5", "--disks", "3", "--member-size", "1MiB,2MiB,1MiB")),
        ("members", ("--level", "raid0", "--disks", "3", "--member-size", "1MiB,2MiB")),
        ("--member-size", ("--level", "raid0", "--disks", "3", "--member-size", "big")),
        ("--member-size", ("--level", "raid0", "--disks", "3", "--member-size", "80GB", "--json")),
        ("--rows", ("--level", "raid0", "--disks", "3", "--rows", "0")),
        ("--rows", ("--level", "raid0", "--disks", "3", "--rows", "40000")),
        ("--disks", ("--level", "raid5", "--disks", "2000000")),
        ("copies", ("--level", "raid10", "--disks", "3", "--copies", "4")),
        ("groups", ("--level", "raid50", "--disks", "6", "--groups", "3")),
        ("--failed", ("--level", "raid5", "--disks", "4", "--failed", "4")),
        ("--plot", ("--level", "raid5", "--disks", "4", "--plot", "map.txt")),
        ("--plot", ("--level", "raid5", "--disks", "4", "--plot", "no such folder/map.svg")),
        ("--plot", ("--level", "linear", "--disks", "4", "--plot", "map.svg")),
        ("--plot", ("--level", "raid0", "--disks", "65", "--plot", "map.svg")),
    ],
)
def test_bad_input_names_the_field(place: str, arguments: tuple[str, ...]) -> None:
    """What cannot be built raises an InputError with the field, and prints nothing."""
    result = _run(*arguments)
    assert isinstance(result.exception, InputError)
    assert result.exception.place == place
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--level", "raid6", "--disks", "6", "--failed", "1", "--failed", "4"), "1, 4: all data can be read"),
        (("--level", "raid5", "--disks", "4", "--failed", "0", "--failed", "2"), "0, 2: data is lost"),
        (("--level", "raid10", "--disks", "4", "--failed", "0", "--failed", "2"), "0, 2: all data can be read"),
        (("--level", "raid10", "--disks", "4", "--failed", "0", "--failed", "1"), "0, 1: data is lost"),
    ],
)
def test_lost_disks_are_marked(arguments: tuple[str, ...], said: str) -> None:
    """What is lost stands in brackets, and whether the rest is enough is said."""
    result = _run(*arguments)
    assert said in result.stdout
    assert re.search(r"\(disk \d\)", result.stdout)
    assert re.search(r"\(D\d+\)", result.stdout)


def test_the_picture_has_all_fields_and_is_the_same_each_time(tmp_path: Path) -> None:
    """Every field of the table is in the drawing, as text; so is what the patterns mean; lost disks are crossed."""
    arguments = ("--level", "raid6", "--disks", "5", "--failed", "1")
    for name in ("a.svg", "b.svg"):
        assert _run(*arguments, "--plot", str(tmp_path / name)).exit_code == 0
    drawn = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert drawn == (tmp_path / "b.svg").read_text(encoding="utf-8")
    texts = re.findall(r"<text[^>]*>([^<]+)</text>", drawn)
    fields = [text for text in texts if re.fullmatch(r"D\d+|P|Q", text)]
    shown = [cell.strip("()") for row in _grid(*arguments) for cell in row]
    assert sorted(fields) == sorted(shown)
    assert "lost" in "".join(texts)
    assert "P: XOR of the stripe" in texts
    without = tmp_path / "whole.svg"
    assert _run(*arguments[:4], "--plot", str(without)).exit_code == 0
    assert "lost" not in without.read_text(encoding="utf-8")
