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


def test_a_pool_is_drawn_with_parity_and_padding() -> None:
    """A record of 128 KiB on raidz1 of 4: 11 rows, the last unit is padding; sizes of a read and a write below."""
    result = _run("--pool", "raidz1 4")
    assert result.exit_code == 0, result.exception
    grid = [line.split()[1:] for line in result.stdout.splitlines() if re.match(r"\s+\d+\s+A", line)]
    assert len(grid) == 11
    assert grid[0] == ["AP", "A0", "A11", "A22"]
    assert grid[-1] == ["AP", "A10", "A21", "A-"]
    assert "2 x 44 KiB + 40 KiB" in result.stdout
    few = _run("--pool", "raidz1 4", "--rows", "3").stdout
    assert "... and 8 more rows" in few


def test_blocks_of_a_pool_follow_each_other() -> None:
    """Two blocks of 8 KiB on raidz1 of 3, each with padding; a lost member is in brackets."""
    result = _run("--pool", "raidz1 a b c", "--record", "8KiB,8KiB", "--failed", "1")
    grid = [line.split()[1:] for line in result.stdout.splitlines() if re.match(r"\s+\d+\s+[AB]", line)]
    assert grid == [["AP", "A0", "A1"], ["A-", "BP", "B0"], ["B1", "B-"]]
    assert "(b)" in result.stdout


def test_mirrors_and_draid_are_drawn() -> None:
    """All sides of a mirror hold all; dRAID fills a row with zeros and leaves the spare's place empty."""
    mirror = _run("--pool", "mirror 2", "--record", "8KiB").stdout
    assert re.search(r"1\s+A1\s+A1", mirror)
    draid = _run("--pool", "draid2:4d:8c:1s 8", "--record", "4KiB").stdout
    row = next(line.split()[1:] for line in draid.splitlines() if re.match(r"\s+0\s+\S", line))
    assert sorted(row) == ["A-", "A-", "A-", "A0", "AP", "AQ"]


def test_a_pool_as_json() -> None:
    """The requests of each block, for a program to compare."""
    document = _map("--pool", "raidz2 6", "--record", "4KiB", "--offset", "4KiB")
    assert document["kind"] == "raidz2"
    (block,) = document["blocks"]
    assert (block["offset"], block["asize"]) == (4096, 12288)
    assert block["reads"] == [[3, 0, 8, "data"]]
    assert block["writes"] == [[1, 0, 8], [2, 0, 8], [3, 0, 8]]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--pool", "raidz2 2"), "raidz2 with 2 members"),
        (("--pool", "raidz2 400"), "400 members"),
        (("--pool", "raidz2 4", "--offset", "3"), "multiple of 4 KiB"),
        (("--pool", "draid1:3d 8", "--offset", "4KiB"), "multiple of 16 KiB"),
        (("--pool", "raidz2 4", "--record", "32MiB"), "32 MiB"),
        (("--pool", "raidz2 4", "--failed", "4"), "member 4"),
        (("--pool", "raidz2 4", "--record", ",".join(["4KiB"] * 27)), "27 blocks"),
        (("--pool", "raidz2 4", "--level", "raid5"), "without them"),
        (("--level", "raid5"), "--disks"),
        ((), "--level"),
    ],
)
def test_wrong_pools(arguments: tuple[str, ...], said: str) -> None:
    """Each mistake is one message."""
    result = _run(*arguments)
    assert isinstance(result.exception, InputError)
    assert said in str(result.exception)
