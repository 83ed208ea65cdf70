"""`raidsim fio` with a command line of fio instead of a job file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from raidsim.cli.main import main


def test_a_command_line_runs_as_the_job_file_would(capsys: pytest.CaptureFixture[str]) -> None:
    """Protects people who paste what they typed: the job has its name and options, and errors name the option."""
    command = "fio --bs=64k --name=pasted --rw=read --size=4m --direct=1 --eta=never"
    main_exits(["fio", command, "--machine", "home-nas", "--json"], 0)
    (job,) = json.loads(capsys.readouterr().out)["jobs"]
    assert job["job options"] == {"name": "pasted", "rw": "read", "size": "4m", "direct": "1"}
    assert job["read"]["total_ios"] == 64
    main_exits(["fio", "fio --name=pasted --iodepths=4", "--machine", "home-nas"], 2)
    assert "command line, iodepths: unknown option 'iodepths'; did you mean 'iodepth'?" in capsys.readouterr().err
    main_exits(["fio", "fio --name=pasted --rw=raed --size=1m", "--machine", "home-nas"], 2)
    assert "command line, rw: found 'raed'" in capsys.readouterr().err
    main_exits(["fio", "", "--machine", "home-nas"], 2)
    assert "JOB: it cannot be read" in capsys.readouterr().err


def test_a_command_line_may_name_a_job_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protects "fio JOB --size=...": the options are defaults of the file's jobs, before or after its name."""
    monkeypatch.chdir(tmp_path)
    Path("job.fio").write_text("[a]\nrw=read\nbs=64k\ndirect=1\n")
    for command in ("fio job.fio --size=4m --bs=4k", "sudo fio --size=4m job.fio"):
        main_exits(["fio", command, "--machine", "home-nas", "--json"], 0)
        assert json.loads(capsys.readouterr().out)["jobs"][0]["read"]["total_ios"] == 64
    main_exits(["fio", "fio job.fio other.fio", "--machine", "home-nas"], 2)
    assert "found 'job.fio' and 'other.fio'; expected: one job file" in capsys.readouterr().err


def main_exits(arguments: list[str], status: int) -> None:
    """Run the command line; it must end so."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert (ended.value.code or 0) == status
