"""`raidsim run` as a person runs it: table, JSON, rebuild, bad input, progress, interruption."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from raidsim.api.support.run_document import document
from raidsim.calibration.uncertainty.model_interval import run_intervals
from raidsim.cli import main as cli
from raidsim.cli.commands import run as run_module
from raidsim.model.files.description_errors import load_spec
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.questions.without_bottleneck import run_without_bottleneck
from raidsim.scenarios.questions.without_waits import run_without_waits
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.scenarios.small_machine import DRIVES, scenario_document

USAGE = {"name", "kind", "utilization", "mean_queue", "reads", "writes", "bytes", "what", "ways"}
NAMES = ("mean", "p50", "p90", "p99", "p999")
LATENCY = {"n", "mean_s", "min_s", "max_s", "p50_s", "p90_s", "p99_s", "p99.9_s"}


Shown = tuple[object, str, str]


@pytest.fixture
def raidsim(capsys: pytest.CaptureFixture[str]) -> Callable[..., Shown]:
    """Runs the command; gives status, output and errors."""

    def run(*arguments: str) -> Shown:
        status: object = 0
        try:
            cli.main(["run", *arguments])
        except SystemExit as ended:
            status = ended.code
        out, err = capsys.readouterr()
        return status, out, err

    return run


Raidsim = Callable[..., Shown]


def described(**workload: Any) -> dict[str, Any]:
    """Half a second of mixed random I/O on a RAID 5 of four drives."""
    array = {"level": "raid5", "members": list(DRIVES)}
    made = scenario_document(array=array, targets=("md0",), kernel="linux-6.1")
    load = {"kind": "load", "targets": ["md0"], "depth": 8, "read_share": "70%", "warm_up": "100ms"}
    made["workload"] = {**load, "duration": "500ms", **workload}
    made["name"] = "RAID 5 [mixed] :x:"
    return made


def written(tmp_path: Path, made: dict[str, Any]) -> str:
    """The file of a scenario."""
    path = tmp_path / "scenario.yaml"
    path.write_text(yaml.safe_dump(made, sort_keys=False), encoding="utf-8")
    return str(path)


def test_the_table_says_what_a_reader_needs(raidsim: Raidsim, tmp_path: Path) -> None:
    """Rate, bottleneck, latencies and every part, in at most 100 columns; a name is printed as it is."""
    status, out, err = raidsim(written(tmp_path, described()))
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].rstrip() == "RAID 5 [mixed] :x: (linux-6.1)"
    assert lines[1].rstrip() == "md0: md RAID 5 of 4, chunk 64 KiB, no bitmap"
    assert "reads/s and" in lines[2]
    assert " ± " in lines[2]
    (at,) = (number for number, line in enumerate(lines) if line.startswith("bottleneck: "))
    told = " ".join(" ".join(lines[at:]).split())
    for words in (
        "With drives ten times as fast (seeks, rotation, media rate): ",
        " times as fast; then ",
        "± is the 90 % interval of this simulation alone.",
        "90 % of measured rates were within a factor of ",
        "Evidence: random access of hard disks: ",
        "For mean latencies: within a factor of ",
    ):
        assert words in told
    for words in ("Latency (ms)", "p99.9", "Utilization over 500 ms", "queue", "writes/s", "pci", *DRIVES):
        assert words in out
    assert max(map(len, lines)) <= 100


def _table(out: str, title: str) -> list[tuple[str, dict[str, str]]]:
    """Rows of the printed table below a title: the first cell, and the others by heading."""
    lines = out.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith(title))
    rows = []
    for line in lines[at + 1 :]:
        cells = re.split(r"\s{2,}", line.strip())
        if line[:1] not in ("", " "):
            break
        if cells != [""] and not cells[0].startswith("─"):
            rows.append((line, cells))
    headings, ends = rows[0][1], [match.end() for match in re.finditer(r"\S+", rows[0][0])]
    found = []
    for line, cells in rows[1:]:
        of_row: dict[str, str] = {}
        found.append((cells[0], of_row))
        for match in re.finditer(r"\S+(?: \S+)*", line.rstrip()):
            if match.end() in ends:
                of_row[headings[ends.index(match.end())]] = match[0]
    return found


def test_what_the_tables_show_is_what_python_gives(raidsim: Raidsim, tmp_path: Path) -> None:
    """Protects every number of a run's tables: rate, I/Os, latencies in ms and what each part did in 0.4 s are those of
    the prediction, in the units that their headings name.
    """
    path = written(tmp_path, described(duration="400ms"))
    out = raidsim(path, "--no-relief")[1]
    prediction = simulate(load_spec(ScenarioSpec, path))
    half = prediction.estimates["rate"].half_width / prediction.rate
    reads, writes = (f"{prediction.iops[op]:#.3g}".rstrip(".") for op in ("read", "write"))
    rate = f"{prediction.rate / 1e6:#.3g} MB/s ± {100 * half:.0f} %, {reads} reads/s and {writes} writes/s"
    assert out.splitlines()[2].rstrip() == rate
    for op, shown in _table(out, "Latency (ms)"):
        known = prediction.latencies[op]
        wanted = {name: f"{1e3 * known[f'{name}_s']:.3f}" for name in ("p50", "p90", "p99", "p99.9", "max")}
        assert {name: shown[name] for name in wanted} == wanted
    for (name, shown), usage in zip(_table(out, "Utilization over 400 ms"), prediction.usages, strict=True):
        wanted = {"busy": f"{100 * usage.utilization:.0f} %"}
        if usage.kind == "disk":
            wanted |= {"queue": f"{usage.mean_queue:.2f}"}
            wanted |= {"reads/s": f"{usage.reads / 0.4:.0f}", "writes/s": f"{usage.writes / 0.4:.0f}"}
        if usage.bytes:
            wanted["MB/s"] = f"{usage.bytes / 0.4 / 1e6:.2f}"
        shown.pop("part", None)
        assert (name, shown) == (usage.name, wanted)


def test_a_dd_is_told_in_bytes_and_time(raidsim: Raidsim, tmp_path: Path) -> None:
    """The other workload: how much, how long, and that the I/Os are the page cache's."""
    status, out, _ = raidsim(written(tmp_path, scenario_document(size="64MiB", block_size="64KiB")))
    assert status == 0
    for words in ("67.1 MB in 1.", "page cache: ", "page cache's I/Os (ms)"):
        assert words in out


def test_json_is_one_object_of_the_documented_shape(raidsim: Raidsim, tmp_path: Path) -> None:
    """Keys and units of the prediction, the same bits as from Python, and nothing else on stdout."""
    path = written(tmp_path, described())
    status, out, err = raidsim(path, "--json")
    assert (status, err) == (0, "")
    printed = json.loads(out)
    names = {"name", "kernel", "seconds", "measured_s", "rate", "iops", "usages", "bottleneck", "latencies"}
    names |= {"member_ios", "rebuilds", "events", "figures", "reports", "scale", "estimates", "saturated", "drift"}
    names |= {"offered_iops", "lost_iops", "bottlenecks", "notes", "wear", "drives", "loads", "power", "phases"}
    names |= {"waits", "wait_reliefs"}
    assert set(printed) == {*names, "precision_reached", "relief", "model_interval", "latency_intervals"}
    without, right = printed["relief"], printed["model_interval"]
    assert set(without) == {"what", "kind", "rate", "seconds", "iops", "latencies", "saturated", "bottleneck"}
    evidence = {"factor", "figures", "reports", "first_year", "last_year", "kinds", "own_kind"}
    assert set(right) == {"low", "high", *evidence}
    assert {name: set(found) for name, found in printed["latency_intervals"].items()} == {
        "mean": evidence,
        "percentiles": evidence,
    }
    assert right["low"] * right["factor"] == pytest.approx(printed["rate"])
    assert right["high"] / right["factor"] == pytest.approx(printed["rate"])
    assert set(printed["estimates"]["rate"]) == {"mean", "half_width", "confidence", "batches", "correlated"}
    latencies = {f"{op}_{name}_seconds" for op in ("read", "write") for name in NAMES}
    assert set(printed["figures"]) == {"rate", "seconds", "iops", "cpu", *latencies}
    assert (printed["reports"], printed["scale"]) == ({}, 1)
    assert printed["seconds"] == printed["measured_s"] == 0.5
    assert printed["rate"] == pytest.approx(4096 * sum(printed["iops"].values()))
    assert {frozenset(usage) for usage in printed["usages"]} == {frozenset(USAGE)}
    assert {op: set(figures) for op, figures in printed["latencies"].items()} == {"read": LATENCY, "write": LATENCY}
    assert printed["rebuilds"] == []
    spec = load_spec(ScenarioSpec, path)
    prediction = simulate(spec)
    removed = run_without_bottleneck(spec, prediction)
    waits = run_without_waits(spec, prediction, known=removed)
    made = document(spec, prediction, None, removed, run_intervals(spec), waits)
    for op, times in printed["waits"].items():
        assert math.fsum(times.values()) == pytest.approx(printed["latencies"][op]["mean_s"], abs=1e-9)
    assert printed == json.loads(json.dumps(made))


def test_set_changes_the_scenario(raidsim: Raidsim, tmp_path: Path) -> None:
    """`--set` by alias and by path is what a changed file would give; what means nothing is refused."""
    path = written(tmp_path, described())
    changed = json.loads(raidsim(path, "--set", "layout=raid6", "--set", "workload.depth=2", "--json")[1])
    made = described(depth=2)
    made["arrays"]["md0"]["level"] = "raid6"
    assert changed == json.loads(raidsim(written(tmp_path, made), "--json")[1])
    status, out, err = raidsim(path, "--set", "dephth=2")
    assert (status, out) == (2, "")
    assert "dephth" in err


def told(out: str) -> str:
    """The words of an output, however they are broken into lines."""
    return " ".join(out.split())


def test_the_run_without_the_bottleneck_can_be_left_out(raidsim: Raidsim, tmp_path: Path) -> None:
    """`--no-relief` runs once: nothing is said of it, and JSON has null."""
    path = written(tmp_path, described())
    shown = told(raidsim(path, "--no-relief")[1])
    assert "ten times as fast" not in shown
    assert "left out" not in shown
    assert json.loads(raidsim(path, "--no-relief", "--json")[1])["relief"] is None


def test_a_long_run_is_not_made_twice_unasked(
    raidsim: Raidsim, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond some events the second run is left out, which is said; `--relief` makes it all the same."""
    monkeypatch.setattr(run_module, "_MOST_EVENTS", 10)
    path = written(tmp_path, described())
    shown = told(raidsim(path)[1])
    assert "Skipped the rerun without the bottleneck" in shown
    assert "ten times as fast" not in shown
    shown = told(raidsim(path, "--relief")[1])
    assert "left out" not in shown
    assert "With drives ten times as fast" in shown


def test_an_idle_array_is_told_what_more_outstanding_would_give(raidsim: Raidsim, tmp_path: Path) -> None:
    """One I/O at a time saturates nothing: four times as many are tried, and what that costs in latency is told."""
    shown = told(raidsim(written(tmp_path, described(depth=1)))[1])
    assert "With 4 times as many I/Os outstanding (depth 4): " in shown
    assert "reads take " in shown


def test_an_open_load_is_told_its_latency(raidsim: Raidsim, tmp_path: Path) -> None:
    """Its rate is what was asked for: no interval of real machines around it; without the bottleneck, a latency."""
    path = written(tmp_path, described(depth=1, iops=40, duration="2s"))
    shown = told(raidsim(path)[1])
    assert " instead of " in shown
    assert "p99 " in shown
    assert "measured rates" not in shown
    assert "For mean latencies: within a factor of" in shown
    assert json.loads(raidsim(path, "--json")[1])["model_interval"] is None


def test_a_load_that_is_too_much_says_so(raidsim: Raidsim, tmp_path: Path) -> None:
    """Latencies that grow for ever are not shown as if they meant something; the counter-test is the one above."""
    path = written(tmp_path, described(depth=1, iops=500, duration="10s"))
    shown = raidsim(path)[1]
    assert re.search(r"\d+ IOPS offered, \d+ served, \d+ lost: saturated, so what is lost waits for ever", told(shown))
    assert "which is all that is sent, reads take " in told(shown)
    assert "Latency (ms)" not in shown
    printed = json.loads(raidsim(path, "--json", "--no-relief")[1])
    assert printed["saturated"] is True
    assert printed["model_interval"] is not None


def test_a_precision_says_what_it_came_to(raidsim: Raidsim, tmp_path: Path) -> None:
    """How long was measured and how well the rate is known."""
    shown = told(raidsim(written(tmp_path, described(precision="5%", duration="60s")), "--no-relief")[1])
    assert "of simulated time, until the IOPS were known to 5 %" in shown


def test_phases_are_listed(raidsim: Raidsim, tmp_path: Path) -> None:
    """A day has a row for each of its phases, and the busiest is named as the bottleneck's."""
    phases = [{"name": "night", "lasts": "16h", "depth": 1}, {"name": "office", "lasts": "8h", "depth": 16}]
    path = written(tmp_path, described(phases=phases, depth=1))
    shown = raidsim(path)[1]
    for words in ("Phases (above: the day)", "night", "office", "during office"):
        assert words in shown
    found = json.loads(raidsim(path, "--json")[1])["phases"]
    assert set(found) == {"night", "office"}
    for name, phase in found.items():
        # Bytes a second = I/Os a second x 4 KiB, also as they are printed.
        lines = shown.partition("Phases (above")[2].splitlines()
        row = next(line.split() for line in lines if line.strip().startswith(name))
        ios = sum(phase["iops"].values())
        assert phase["rate"] == pytest.approx(4096 * ios)
        assert float(row[1]) == pytest.approx(4096e-6 * ios, rel=0.01)
        assert float(row[5]) + float(row[6]) == pytest.approx(ios, rel=0.01)


def test_loads_are_listed_by_phase(raidsim: Raidsim, tmp_path: Path) -> None:
    """Each load has a row for the day and one in each of its phases, with the I/Os that JSON has."""
    phases = [{"name": "day", "lasts": "16h", "workloads": ["b"]}, {"name": "night", "lasts": "8h"}]
    described_loads = described(phases=phases)
    described_loads["workload"] = {"warm_up": "0s", "duration": "500ms", "phases": phases}
    described_loads["workloads"] = [{"name": "a", "total_iops": 20}, {"name": "b", "total_iops": 40}]
    path = written(tmp_path, described_loads)
    shown = raidsim(path)[1]
    found = json.loads(raidsim(path, "--json")[1])
    lines = [line.split() for line in shown.partition("Phases (above")[2].splitlines() if line.strip()]
    names = [line[0] for line in lines]
    first = names.index("day")
    assert [name for name in names[first:] if name in ["a", "b", "day", "night"]] == ["day", "b", "night", "a", "b"]
    assert "below: each load while it runs" in shown
    assert list(found["loads"]) == ["a", "b"]
    assert list(found["phases"]["night"]["loads"]) == ["a", "b"]
    assert found["loads"]["a"]["iops"] == found["phases"]["night"]["loads"]["a"]["iops"]


def rebuilding() -> dict[str, Any]:
    """The same array while a member is being rebuilt, since a moment ago: its stripe cache has not grown yet."""
    made = described(read_share="100%")
    made["arrays"]["md0"] |= {"failed": ["sdb"], "rebuilding": ["sdb"], "resync": {"stripe_heads": 256}}
    return made


def test_a_rebuild_shows_what_it_costs(raidsim: Raidsim, tmp_path: Path) -> None:
    """How fast it is, how long it takes, and what the load loses to it and to the failure."""
    path = written(tmp_path, rebuilding())
    shown = raidsim(path, "--no-relief")[1]
    assert "md0: rebuilt at " in shown
    assert "all 250 GB take " in shown
    assert "During the rebuild the load gets " in shown
    assert shown.count("lost") == 2
    words = " ".join(shown.split())
    assert re.search(r"A read takes [\d.]+ ms on average during the rebuild, [\d.]+ ms degraded without it", words)
    printed = json.loads(raidsim(path, "--no-relief", "--json")[1])
    (rebuild,) = printed["rebuilds"]
    assert set(rebuild) == {"array", "action", "rate", "total_bytes", "position", "duration_s", "left_s"}
    cost = printed["recovery"]
    assert set(cost) == {
        *("duration_s", "degraded_rate", "whole_rate", "loss", "loss_to_failure"),
        *("degraded_latencies", "whole_latencies", "remedies"),
    }
    assert cost["degraded_latencies"]["read"]["mean_s"] > cost["whole_latencies"]["read"]["mean_s"]
    assert cost["duration_s"] == rebuild["duration_s"] > rebuild["left_s"]
    assert cost["loss"] == pytest.approx(1 - printed["rate"] / cost["degraded_rate"])
    assert cost["degraded_rate"] < cost["whole_rate"]


def test_a_rebuild_is_tried_with_other_settings(raidsim: Raidsim, tmp_path: Path) -> None:
    """Protects the table of what helps: each setting with the load's latencies and the rebuild's time, as in the
    document. Counter-test: `--no-relief` tries none.
    """
    path = written(tmp_path, rebuilding())
    shown = raidsim(path)[1].partition("During the rebuild with other settings")[2].splitlines()
    printed = json.loads(raidsim(path, "--json")[1])
    remedies = printed["recovery"]["remedies"]
    for what, run in (("as it is", printed), *((each["what"], each) for each in remedies)):
        (line,) = (line for line in shown if line.strip().startswith(what))
        assert f" {1e3 * run['latencies']['read']['mean_s']:,.3f} " in line
    assert len({each["rebuilds"][0]["duration_s"] for each in remedies}) > 1
    assert json.loads(raidsim(path, "--no-relief", "--json")[1])["recovery"]["remedies"] == []


def test_a_check_is_no_rebuild(raidsim: Raidsim, tmp_path: Path) -> None:
    """Only a rebuild has something to compare with; a check is shown with its own words."""
    made = described()
    made["arrays"]["md0"]["resync"] = {"action": "check", "stripe_heads": 256}
    path = written(tmp_path, made)
    assert "md0: checked at " in raidsim(path)[1]
    printed = json.loads(raidsim(path, "--json")[1])
    assert "recovery" not in printed
    assert printed["rebuilds"][0]["action"] == "check"


def test_a_check_that_stands_still_says_so(raidsim: Raidsim, tmp_path: Path) -> None:
    """A resync that does not move has no end: words for a person, null for a program."""
    made = described(duration="100ms", warm_up="1100ms")
    made["kernel"] = "linux-2.6.8"
    made["arrays"]["md0"]["resync"] = {"action": "check", "speed_min": "1kB/s", "position": "1GiB"}
    path = written(tmp_path, made)
    assert "md0: the check makes no progress under this load, so it does not finish." in raidsim(path)[1]
    (check,) = json.loads(raidsim(path, "--json")[1])["rebuilds"]
    assert (check["rate"], check["duration_s"], check["left_s"]) == (0.0, None, None)


@pytest.mark.parametrize(
    ("change", "at", "words"),
    [
        ({"kernal": "linux-6.1"}, "kernal: ", ["kernal", "did you mean 'kernel'?"]),
        ({"arrays": {"md0": {"level": "raid5", "members": ["sda"]}}}, "  md0:", ["arrays.md0", "1 disk", "at least 3"]),
        ({"workload": {"kind": "load", "targets": ["md9"]}}, "  - md9", ["workload.targets", "'md9'", "md0"]),
        ({"seed": -1}, "seed: ", ["seed", "-1"]),
    ],
)
def test_bad_input_names_file_line_and_field(
    change: dict[str, Any], at: str, words: list[str], raidsim: Raidsim, tmp_path: Path
) -> None:
    """One line on stderr, status 2, nothing on stdout."""
    path = written(tmp_path, described() | change)
    status, out, err = raidsim(path, "--json")
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    for word in (f"scenario.yaml:{line_of(path, at)}: ", *words):
        assert word in err


def line_of(path: str, beginning: str) -> int:
    """The line of a file that begins so."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.startswith(beginning))


def test_what_only_building_finds_has_a_line_too(raidsim: Raidsim, tmp_path: Path) -> None:
    """A position beyond the end of the array is known when it is built; the message names the line all the same."""
    made = described()
    made["arrays"]["md0"]["resync"] = {"action": "check", "position": "900GB"}
    path = written(tmp_path, made)
    status, _, err = raidsim(path)
    assert status == 2
    place = f"scenario.yaml:{line_of(path, '      position:')}: field arrays.md0.resync.position: "
    assert place in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(("missing.yaml",), "there is no such file"), ((".",), "this is a folder"), ((), "'scenario'")],
)
def test_a_missing_file_is_status_2(arguments: tuple[str, ...], words: str, raidsim: Raidsim) -> None:
    """A message, not a traceback."""
    status, out, err = raidsim(*arguments)
    assert (status, out) == (2, "")
    assert words in err


def copying(**workload: Any) -> dict[str, Any]:
    """A file written to ext2 on one drive, and read after a mount."""
    made = scenario_document(machine_changes={"memory": "64MiB"})
    made["file_systems"] = {"/data": {"kind": "ext2", "on": "sda"}}
    steps = [{"program": "dd", "size": "96MiB"}, {"program": "remount"}, {"program": "read", "size": "96MiB"}]
    made["workload"] = {"kind": "programs", "steps": steps, **workload}
    return made


def test_programs_print_what_they_print(raidsim: Raidsim, tmp_path: Path) -> None:
    """Each step's own report under its name, then bottleneck and parts; nothing about a scale where there is none."""
    status, out, err = raidsim(written(tmp_path, copying()))
    assert (status, err) == (0, "")
    lines = [line.rstrip() for line in out.splitlines()]
    at = lines.index("dd:")
    assert lines[at + 1 : at + 3] == ["96+0 records in", "96+0 records out"]
    assert lines[lines.index("read:") + 1].startswith("real\t0m")
    for words in ("bottleneck: ", "page cache's I/Os (ms)", "Utilization over "):
        assert words in out
    assert "scale" not in out


def test_programs_at_a_scale_say_so(raidsim: Raidsim, tmp_path: Path) -> None:
    """`--scale 4` runs a quarter, and the output says what that means; sizes are the whole ones."""
    path = written(tmp_path, copying())
    out = raidsim(path, "--scale", "4")[1]
    assert "at scale 4: sizes, counts and memory are divided by 4, times multiplied" in out
    assert "96+0 records in" in out
    printed = json.loads(raidsim(path, "--scale", "4", "--json")[1])
    assert printed["scale"] == 4
    assert list(printed["reports"]) == ["dd", "read"]
    assert printed["figures"]["dd.rate"] == pytest.approx(96 * 2**20 / printed["figures"]["dd.seconds"])


@pytest.mark.parametrize(
    ("scale", "made", "words"),
    [
        ("0", copying, ["--scale", "found 0", "1 to 64"]),
        ("65", copying, ["--scale", "found 65", "with this memory"]),
        ("2", described, ["--scale", "kind load", "kind programs"]),
    ],
)
def test_a_scale_that_cannot_be_is_refused(
    scale: str, made: Callable[[], dict[str, Any]], words: list[str], raidsim: Raidsim, tmp_path: Path
) -> None:
    """Status 2 and one line: no number that is not a scale, none that leaves no memory, and none without programs."""
    status, out, err = raidsim(written(tmp_path, made()), "--scale", scale)
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    for word in words:
        assert word in err


def started(path: str) -> subprocess.Popen[str]:
    """The command on its way, in a process group of its own."""
    # Whoever runs the tests in the background ignores interrupts, and so would what they start.
    command = ["env", "--default-signal=INT", sys.executable, "-m", "raidsim", "run", path, "--json"]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, env=os.environ
    )


def test_ctrl_c_ends_with_130(tmp_path: Path) -> None:
    """An interrupt in the middle of a long run: one line, no traceback, no half of an object."""
    process = started(written(tmp_path, described(duration="100000s")))
    time.sleep(3.0)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out == ""
    assert err == "interrupted\n"
