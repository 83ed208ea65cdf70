"""What `raidsim run` writes besides its output: a timeline and a picture, or a refusal before anything is computed."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from raidsim.cli import main as cli
from raidsim.cli.commands import run as run_module
from raidsim.tests.scenarios.small_machine import DRIVES, scenario_document

Shown = tuple[object, str, str]
Raidsim = Callable[..., Shown]


@pytest.fixture
def raidsim(capsys: pytest.CaptureFixture[str]) -> Raidsim:
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


@pytest.fixture
def scenario(tmp_path: Path) -> str:
    """Mixed random I/O on a RAID 5 of four drives."""
    array = {"level": "raid5", "members": list(DRIVES)}
    made = scenario_document(array=array, targets=("md0",), kernel="linux-6.1")
    load = {"kind": "load", "targets": ["md0"], "depth": 8, "read_share": "70%", "warm_up": "100ms"}
    made["workload"] = {**load, "duration": "500ms"}
    path = tmp_path / "scenario.yaml"
    path.write_text(yaml.safe_dump(made, sort_keys=False), encoding="utf-8")
    return str(path)


def test_a_timeline_is_written_beside_the_same_output(raidsim: Raidsim, scenario: str, tmp_path: Path) -> None:
    """A trace of so many I/Os, whole, with no rest of it beside; the figures are those of a run without."""
    out = tmp_path / "trace.json"
    plain = raidsim(scenario, "--json")
    assert raidsim(scenario, "--json", "--timeline", str(out), "--timeline-ios", "25") == plain
    trace = json.loads(out.read_text(encoding="utf-8"))
    assert sum(event["ph"] == "b" and "args" in event for event in trace["traceEvents"]) == 25
    assert trace["otherData"]["scenario"] == "test"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scenario.yaml", "trace.json"]


def test_a_timeline_of_a_rebuild_is_of_the_rebuild(raidsim: Raidsim, scenario: str, tmp_path: Path) -> None:
    """Of the three runs that a rebuild takes, the one with it is recorded."""
    out = tmp_path / "trace.json"
    lost = (
        "bitmap=none",
        "arrays.md0.failed=[sdb]",
        "arrays.md0.rebuilding=[sdb]",
        "arrays.md0.resync.stripe_heads=256",
    )
    sets = [f"--set={each}" for each in lost]
    status, _, err = raidsim(scenario, "--no-relief", *sets, "--timeline", str(out))
    assert (status, err) == (0, "")
    assert '"kind":"resync"' in out.read_text(encoding="utf-8")


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_a_picture_is_drawn(suffix: str, raidsim: Raidsim, scenario: str, tmp_path: Path) -> None:
    """The format follows the suffix; the same run draws the same file."""
    files = [tmp_path / f"{name}.{suffix}" for name in ("first", "second")]
    for file in files:
        assert raidsim(scenario, "--no-relief", "--plot", str(file))[0] == 0
    drawn = files[0].read_bytes()
    assert drawn == files[1].read_bytes()
    if suffix == "png":
        assert drawn.startswith(b"\x89PNG")
    else:
        text = drawn.decode()
        for words in ("latency (ms)", "busy (% of the time", "limits", "reads: p50 ", "writes: p50 ", *DRIVES):
            assert words in text


def test_a_picture_of_many_parts_shows_the_busiest(raidsim: Raidsim, tmp_path: Path) -> None:
    """More bars than a picture has room for are not drawn over each other."""
    made = scenario_document(kernel="linux-6.1", machine_changes={})
    machine = made["machine"]
    names = [f"d{number:02}" for number in range(40)]
    machine["channels"] = {name: {**machine["channels"]["sda"]} for name in names}
    machine["drives"] = {name: {**machine["drives"]["sda"], "channel": name} for name in names}
    made["arrays"] = {"md0": {"level": "raid0", "members": names}}
    made["workload"] = {"kind": "load", "targets": ["md0"], "depth": 40, "warm_up": "0s", "duration": "200ms"}
    path, picture = tmp_path / "many.yaml", tmp_path / "many.svg"
    path.write_text(yaml.safe_dump(made), encoding="utf-8")
    assert raidsim(str(path), "--no-relief", "--plot", str(picture))[0] == 0
    text = picture.read_text(encoding="utf-8")
    assert 10 < sum(f">{name}<" in text for name in names) <= 32


@pytest.mark.parametrize("option", ["--timeline", "--plot"])
@pytest.mark.parametrize(
    ("place", "words"),
    [("no/such/out.svg", "there is no folder"), ("folder.svg", "is a folder"), ("scenario.yaml", "")],
)
def test_what_cannot_be_written_is_refused_at_once(
    option: str,
    place: str,
    words: str,
    raidsim: Raidsim,
    scenario: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Status 2 before anything is simulated; the scenario itself is never written over."""

    def too_early(*_: Any) -> None:
        raise AssertionError("simulated before the file was looked at")

    (tmp_path / "folder.svg").mkdir()
    before = Path(scenario).read_bytes()
    monkeypatch.setattr(run_module, "run_scenario", too_early)
    status, out, err = raidsim(scenario, option, str(tmp_path / place))
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert option in err
    assert words in err
    assert Path(scenario).read_bytes() == before


def test_a_file_that_is_there_stays_until_the_new_one_is_whole(
    raidsim: Raidsim, scenario: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody's timeline of yesterday survives a run that fails, and leaves no half of a new one."""
    out = tmp_path / "trace.json"
    out.write_text("yesterday", encoding="utf-8")

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(json, "dump", full)
    status, _, err = raidsim(scenario, "--timeline", str(out))
    assert status == 2
    assert "No space left on device" in err
    assert out.read_text(encoding="utf-8") == "yesterday"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scenario.yaml", "trace.json"]


def test_another_suffix_is_no_picture(raidsim: Raidsim, scenario: str, tmp_path: Path) -> None:
    """The message names what is allowed."""
    status, _, err = raidsim(scenario, "--plot", str(tmp_path / "out.gif"))
    assert status == 2
    assert ".svg, .png, .pdf" in err


def test_without_matplotlib_a_picture_is_refused(
    raidsim: Raidsim, scenario: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protects from a traceback without the extra: the message says how to install it."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    status, _, err = raidsim(scenario, "--plot", str(tmp_path / "out.svg"))
    assert status == 2
    assert "matplotlib is not installed" in err
    assert "pip install -e '.[plot]'" in err


def test_a_timeline_can_be_a_picture(raidsim: Raidsim, scenario: str, tmp_path: Path) -> None:
    """The name's ending says so; the output is that of a run without, and the same run gives the same bytes."""
    first, second = tmp_path / "a.svg", tmp_path / "b.svg"
    plain = raidsim(scenario, "--json")
    for picture in (first, second):
        assert raidsim(scenario, "--json", "--timeline", str(picture), "--timeline-ios", "500") == plain
    assert "commands each" in first.read_text(encoding="utf-8")
    assert first.read_bytes() == second.read_bytes()
    status, out, err = raidsim(scenario, "--timeline", str(first), "--timeline-ios", "501")
    assert (status, out) == (2, "")
    assert "allowed in a picture: 1 to 500; more in a .json" in err


def test_timeline_ios_needs_a_timeline(raidsim: Raidsim, scenario: str) -> None:
    """A limit of nothing is a mistake."""
    status, _, err = raidsim(scenario, "--timeline-ios", "5")
    assert status == 2
    assert "--timeline" in err


NOT_LOADED = (
    *("scipy", "matplotlib", "pandas", "distributed", "pyarrow", "ruamel", "concurrent", "multiprocessing"),
    *("raidsim.api.pictures", "raidsim.scenarios.timeline.timeline", "raidsim.scenarios.timeline.recorder"),
    *("raidsim.scenarios.fio", "raidsim.scenarios.running.fio_run", "raidsim.scenarios.running.program_run"),
    *("raidsim.model.programs.bonnie", "raidsim.model.programs.postmark"),
    *("raidsim.calibration.study", "raidsim.calibration.simulation", "raidsim.validation", "raidsim.web"),
    *("rich.progress", "pydantic.v1", "importlib.resources.readers"),
    *("raidsim.scenarios.pictures", "raidsim.scenarios.timeline.events"),
    *("raidsim.scenarios.running.dd_run", "raidsim.scenarios.running.idle_run", "raidsim.scenarios.running.phases"),
    *("raidsim.scenarios.running.several_loads", "raidsim.scenarios.machine.network", "raidsim.model.network.server"),
    *("raidsim.model.file_system.file_system", "raidsim.model.process", "raidsim.model.memory.page_cache"),
    *("raidsim.model.memory.raw_cache", "raidsim.model.loads.dd", "raidsim.model.solid_state.drive"),
    *("raidsim.model.solid_state.standing_load", "raidsim.model.controller.controller"),
    *("raidsim.model.controller.firmware", "raidsim.model.controller.drive_queue", "raidsim.model.crypt.dm_crypt"),
    *("raidsim.model.crypt.cryptoloop", "raidsim.model.crypt.loop_device", "raidsim.model.disk.actuators.split_drive"),
    *("raidsim.model.block.hardware_queues", "raidsim.model.block.bio_queue", "raidsim.model.block.faulty_drive"),
    *("raidsim.model.block.single_queue", "raidsim.model.block.in_submission"),
    *("raidsim.model.raid.mirrors.mirror", "raidsim.model.raid.mirrors.raid10", "raidsim.model.raid.striped.raid3"),
    *("raidsim.model.raid.resync.spares", "raidsim.model.memory.partition"),
)
"""What `run` and `replay` of a load on RAID 5 do without: drawing, other workloads, arrays, drives and queues, studies,
further processes.
"""
BUILT_AT_IMPORT = {"TreeSpec", "LockSection", "CryptSection", "ServiceSpec", "Spreads"}
"""Descriptions of which another one has an instance as its default, so that pydantic builds their schemas at once."""
NOT_BUILT = ("DdSpec", "LoadsSpec", "NamedLoad", "PhaseSpec", "BonnieStep", "ProgramsSpec", "FioSpec")
"""Descriptions whose schemas a load does without."""


def test_run_and_replay_load_only_what_they_use(tmp_path: Path) -> None:
    """Protects the first result from imports and schemas that take as long: of what a load on an array does not use."""
    trace = tmp_path / "two.csv"
    trace.write_text("128166372003061629,t,0,Write,4096,4096,1\n128166372013061629,t,0,Read,8192,4096,1\n")
    short = ["--set", "warm_up=0s", "--set", "duration=20ms", "--no-relief"]
    commands = [["run", "home-nas", *short], ["replay", str(trace), "--format", "msr", "--machine", "home-nas"]]
    code = (
        "import contextlib, io, sys\n"
        "from raidsim.cli.main import main\n"
        "import raidsim.cli.commands.run, raidsim.cli.commands.replay\n"
        "from raidsim.model.files.description import Spec\n"
        "from raidsim.scenarios.description.scenario import ScenarioSpec\n"
        "def below(kind):\n"
        "    return {kind, *(each for inner in kind.__subclasses__() for each in below(inner))}\n"
        "built = {each.__name__ for each in below(Spec) if each.__pydantic_complete__ and each is not Spec}\n"
        f"assert built <= {BUILT_AT_IMPORT!r}, built\n"
        f"for command in {commands!r}:\n"
        "    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
        "        main(command)\n"
        "schema = str(ScenarioSpec.__pydantic_core_schema__)\n"
        f"built = [name for name in ('MachineSpec', *{NOT_BUILT!r}) if name in schema]\n"
        "assert built == ['MachineSpec'], built\n"
        "print(*sys.modules)\n"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {"raidsim.scenarios.running.load_run", "raidsim.model.loads.trace_load"} <= set(loaded)
    assert [name for name in loaded if any(f"{name}.".startswith(f"{each}.") for each in NOT_LOADED)] == []
