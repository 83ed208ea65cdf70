"""`raidsim compare` as a person runs it: tables, JSON, pictures, bad input."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from raidsim.cli import main as cli

TEXT = """
name: "small [box]"
machine:
  drives: {model: Generic-20GB-ATA, count: 4, price: 50}
arrays:
  md0: {level: raid5}
workload: {kind: load, depth: 4, read_share: 50%, duration: 300ms, warm_up: 100ms}
"""

Shown = tuple[object, str, str]
Raidsim = Callable[..., Shown]


@pytest.fixture
def raidsim(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Raidsim:
    """Runs the command on the small scenario in one process; gives status, output and errors."""
    file = tmp_path / "small.yaml"
    file.write_text(TEXT)

    def run(*arguments: str) -> Shown:
        status: object = 0
        try:
            cli.main(["compare", str(file), "--workers", "1", *arguments])
        except SystemExit as ended:
            status = ended.code
        out, err = capsys.readouterr()
        return status, out, err

    return run


def test_tables(raidsim: Raidsim) -> None:
    """Every design has its row in every table, impossible ones a line with the reason; nothing is wider than a page."""
    status, out, err = raidsim("--vary", "layout=raid5,raid10,raid50", "--replications", "2")
    assert status == 0
    assert err == ""
    assert "small [box]" in out
    assert "2 runs of each design with the same requests" in out
    assert "Speed on the first 40.0 GB of each" in out
    for words in ("Speed", "Against design 1", "bottleneck", "Rebuild of a drive", "Cost"):
        assert words in out
    assert "design 3 (raid50) is not possible" in out
    assert "raid50 needs at least 6" in " ".join(out.split())
    assert "1 to 2" in out
    rebuilds = out.partition("Rebuild of a drive")[2].partition("Latency during")[0].splitlines()
    rows = [line for line in rebuilds if line.split()[:2] in (["1", "raid5"], ["2", "raid10"])]
    assert len(rows) == 2
    assert not any("none" in row or "refused" in row for row in rows)
    assert "the failure rate of Generic-20GB-ATA is not known" in out
    assert max(len(line) for line in out.splitlines()) <= 100


def test_loads_and_phases_have_one_table(raidsim: Raidsim) -> None:
    """Each phase and load has a row for every design and its difference; what repeats a phase is left out."""
    phases = "[{name: day, lasts: 16h, workloads: [a]}, {name: night, lasts: 8h}]"
    sets = [
        f"workload={{warm_up: 0s, duration: 100ms, phases: {phases}}}",
        "workloads=[{name: a}, {name: b, depth: 4}]",
    ]
    options = [word for each in sets for word in ("--set", each)]
    out = raidsim("--vary", "layout=raid5,raid10", "--replications", "2", "--no-rebuild", *options)[1]
    rows = [line.split() for line in out.partition("Speed of each load or phase")[2].splitlines()]
    designs = {row[0]: row[1] for row in rows if len(row) > 3 and row[0] in ("day", "night", "night.a", "night.b", "a")}
    assert list(designs) == ["day", "night", "night.a", "night.b", "a"]
    assert "day.a" not in out
    assert "What the programs report" not in out
    assert "Each load or phase against design 1" in out
    assert max(len(line) for line in out.splitlines()) <= 100


def test_a_design_without_a_figure_has_no_difference(raidsim: Raidsim) -> None:
    """Protects tables of loads of which one only reads and the other only writes: neither has the other's latencies."""
    fast = ("--replications", "2", "--no-rebuild", "--set", "duration=100ms")
    status, out, err = raidsim("--vary", "read_share=100%,0%", *fast)
    assert (status, err) == (0, "")
    differences = out.partition("Against design 1")[2].partition("What it holds")[0]
    (row,) = [line for line in differences.splitlines() if line.split()[:1] == ["2"]]
    assert row.count("±") == 1, "the number of I/Os is the one figure that both have"


def test_json_is_one_object_with_everything(raidsim: Raidsim) -> None:
    """The same as JSON: figures with intervals, differences, facts, the reason of what cannot be."""
    status, out, _ = raidsim("--vary", "layout=raid5,raid10,raid50", "--replications", "2", "--json", "--no-rebuild")
    found = json.loads(out)
    assert status == 0
    assert (found["baseline"], found["replications"], found["confidence"]) == (1, 2, 0.9)
    first, second, third = found["designs"]
    assert first["values"] == {"layout": "raid5"}
    assert first["facts"]["survives_any"] == 1
    assert first["facts"]["cost"] == 200.0
    assert first["against_baseline"] == {}
    assert first["rebuild_s"] is None
    iops = second["figures"]["iops"]
    assert iops["low"] < iops["mean"] < iops["high"]
    assert second["replications"]["iops"][0] - first["replications"]["iops"][0] == pytest.approx(
        2 * second["against_baseline"]["iops"]["mean"]
        - (second["replications"]["iops"][1] - first["replications"]["iops"][1])
    )
    assert third["refused"]
    assert "figures" not in third


def test_states_of_an_array(raidsim: Raidsim) -> None:
    """Whole, degraded and rebuilding are compared like layouts, and what is still survived is said."""
    vary = "state=whole,degraded,rebuilding"
    longer = ("--set", "duration=5s")
    status, out, _ = raidsim("--vary", vary, *longer, "--replications", "1", "--no-rebuild", "--json")
    designs = json.loads(out)["designs"]
    assert status == 0
    assert [design["facts"]["survives_any"] for design in designs] == [1, 0, 0]
    assert all(design["refused"] is None for design in designs)


@pytest.mark.parametrize("suffix", [pytest.param("svg", marks=pytest.mark.slow), "png"])
def test_curves_of_one_scenario_and_their_picture(raidsim: Raidsim, tmp_path: Path, suffix: str) -> None:
    """Without --vary the scenario's own curve: table with the knee, and a picture that is the same every time."""
    picture = tmp_path / f"curve.{suffix}"
    arguments = ("--curve", "--points", "6", "--replications", "1", "--no-rebuild", "--set", "precision=30%")
    status, out, _ = raidsim(*arguments, "--plot", str(picture))
    assert status == 0
    assert "Load curve of design 1, as it is: up to" in out
    assert out.count("knee") == 1
    drawn = picture.read_bytes()
    assert len(drawn) > 1000
    if suffix == "svg":
        again = raidsim(*arguments, "--plot", str(picture))
        assert again[1] == out
        assert picture.read_bytes() == drawn


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--vary: found nothing that differs"),
        (["--vary", "layout=raid5", "--points", "8"], "--points: found it without --curve"),
        (["--curve", "--plot", "x.txt"], "x.txt is no picture file"),
        (["--vary", "layout"], "--vary"),
        (["--vary", "layuot=raid5,raid6"], "--vary layuot"),
        (["--vary", "layout=raid60,raid50"], "no design is possible: "),
        (
            ["--vary", "layout=raid60,raid50"],
            "with --vary layout: field arrays.md0: found disks: raid60 of 4 disks; raid60",
        ),
        (["--vary", "layout=raid7"], "found 'raid7'; did you mean 'raid6'? expected: linear"),
        (["--vary", "depth=1,2", "--baseline", "3"], "--baseline: design 3"),
        (["--vary", "depth=1,2", "--precision", "0%"], "--precision: found 0%"),
        (["--vary", "depth=1,2", "--replacement", "4h"], "--replacement: found it with --no-rebuild"),
        (["--vary", "depth=1,2", "--rebuild", "--replacement", "soon"], "--replacement: 'soon'"),
        (["--vary", "depth=" + ",".join(map(str, range(1, 70)))], "69 combinations"),
    ],
)
def test_bad_input_is_one_message(raidsim: Raidsim, arguments: list[str], message: str) -> None:
    """What was found and what is expected, in one line, with status 2 and nothing on stdout."""
    status, out, err = raidsim("--no-rebuild", *arguments, "--replications", "1")
    assert (status, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1


def test_arrays_that_share_drives_are_refused(raidsim: Raidsim, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects a comparison from losses that are counted as independent; refused before anything is simulated."""
    sliced = ["--set", "volumes={disk0: 2, disk1: 2}", "--set", "machine.drives.count=2"]
    arrays = [
        "--set",
        "arrays={a: {level: raid1, members: [disk0p1, disk1p1]}, b: {level: raid1, members: [disk0p2, disk1p2]}}",
    ]
    monkeypatch.setattr("raidsim.scenarios.comparison.side_by_side._replicated", None)
    status, out, err = raidsim("--vary", "depth=1,2", *sliced, *arrays)
    assert (status, out) == (2, "")
    assert "volumes: disk0 in b and in a" in err
