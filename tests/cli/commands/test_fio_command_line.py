"""`raidsim fio` with a command line of fio instead of a job file."""

from __future__ import annotations

import json

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


def main_exits(arguments: list[str], status: int) -> None:
    """Run the command line; it must end so."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert (ended.value.code or 0) == status
