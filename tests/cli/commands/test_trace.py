"""`raidsim trace info` as a person runs it: text, JSON, a load that runs, bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from raidsim.cli import main as cli
from raidsim.cli.commands import trace as command
from raidsim.tests.scenarios.small_machine import scenario_document

SAMPLES = Path(command.__file__).parents[2] / "tests/scenarios/traces/samples"


def run(*arguments: str) -> object:
    """Exit status of the command line; 0 if it simply ends."""
    try:
        cli.main(list(arguments))
    except SystemExit as ended:
        return ended.code
    return 0


def test_what_is_in_a_trace(capsys: pytest.CaptureFixture[str]) -> None:
    """Protects the text: format, what was left out, devices, and the load at the end as YAML."""
    assert run("trace", "info", str(SAMPLES / "synthetic.bin")) == 0
    said = capsys.readouterr()
    for words in ("blktrace binary (blktrace)", "4 on 1 device", "5 issued (D)", "8,16", "1 discards"):
        assert words in said.out
    load = yaml.safe_load(said.out[said.out.index("workload:") :])["workload"]
    assert load["targets"] == ["md0"]
    assert said.err == ""


def test_json_has_everything(capsys: pytest.CaptureFixture[str]) -> None:
    """Protects programs that read it: one object in SI units."""
    assert run("trace", "info", str(SAMPLES / "spc_spec_example.spc"), "--json", "--format", "spc") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["format"] == "spc"
    assert found["records"] == 11
    assert found["read_share"] == pytest.approx(2 / 11)
    assert found["duration_s"] == pytest.approx(2.449733 - 0.551706)
    assert found["sequential_share"] == pytest.approx(1 / 11)
    assert found["peak_per_s"] == 7
    assert found["devices"]["0"]["writes"] == 3
    assert found["working_set"] == 8 << 20
    assert found["workload"]["kind"] == "load"


def test_the_load_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Protects the point of it: the fitted load is one that `raidsim run` takes."""
    lines = [f"{i * 4:.3f} 0 {(i * 7919) % 20000 * 8} 8 {i % 2}" for i in range(1000)]
    trace = tmp_path / "my.trace"
    trace.write_text("\n".join(lines))
    assert run("trace", "info", str(trace), "--json", "--target", "sda") == 0
    load = json.loads(capsys.readouterr().out)["workload"]
    assert load["total_iops"] == 250.0
    assert load["arrivals"] == {"kind": "constant"}
    scenario = tmp_path / "traced.yaml"
    document = scenario_document() | {"workload": load | {"warm_up": "0.1s", "duration": "0.5s"}}
    scenario.write_text(yaml.safe_dump(document))
    assert run("run", str(scenario), "--json") == 0


def test_bad_input_is_status_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Protects scripts: one line on stderr with file and line, and status 2."""
    trace = tmp_path / "t.spc"
    trace.write_text("0,1,512,r,0.5\n0,1,512,r,soon\n")
    assert run("trace", "info", str(trace), "--format", "spc") == 2
    said = capsys.readouterr()
    assert said.err.startswith(f"error: {trace}:2: field timestamp: found 'soon'")
    assert said.out == ""
    assert run("trace", "show", str(trace)) == 2
    assert "expected: info" in capsys.readouterr().err
