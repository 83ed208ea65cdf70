"""`raidsim fio` as a person runs it: fio's text and JSON, logs, a comparison, bad input."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from raidsim.cli import main as cli

MACHINE = """
name: box
machine:
  drives: {model: Generic-20GB-ATA, count: 2}
arrays:
  md0: {level: raid0}
workload: {kind: load}
"""
JOB = """
; two jobs
[global]
filename=/dev/md0
direct=1
size=1g
number_ios=50
[seq]
rw=read
bs=64k
[rand]
stonewall
rw=randrw
bs=8KiB
"""

Shown = tuple[object, str, str]
Command = Callable[..., Shown]


@pytest.fixture
def fio(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs the command on a small box with a job file of this text; gives status, output and errors."""
    monkeypatch.chdir(tmp_path)
    Path("box.yaml").write_text(MACHINE)

    def run(text: str, *arguments: str, machine: str = "box.yaml") -> Shown:
        Path("job.fio").write_text(text)
        status: object = 0
        try:
            cli.main(["fio", "job.fio", "--machine", machine, *arguments])
        except SystemExit as ended:
            status = ended.code
        out, err = capsys.readouterr()
        return status, out, err

    return run


GOOD = JOB.replace("8KiB", "8k")


def test_text_is_fio_s_own_and_what_limits(fio: Command) -> None:
    """fio's normal output, then the bottleneck and notes."""
    status, out, err = fio(GOOD)
    assert (status, err) == (0, "")
    assert "fio-3.33\n" in out
    assert "seq: (groupid=0, jobs=1)" in out
    assert "rand: (groupid=1, jobs=1)" in out
    assert "bottleneck: " in out
    assert out.index("Disk stats") < out.index("bottleneck")


def test_json_is_one_object_of_fio_s_form(fio: Command) -> None:
    """Nothing but fio's document on stdout; the rest is on stderr."""
    status, out, err = fio(GOOD, "--json")
    document = json.loads(out)
    assert (status, document["fio version"]) == (0, "fio-3.33")
    assert [job["jobname"] for job in document["jobs"]] == ["seq", "rand"]
    assert [job["error"] for job in document["jobs"]] == [0, 0]
    assert document["jobs"][0]["read"]["total_ios"] == 50
    assert document["jobs"][0]["job options"] == {"rw": "read", "bs": "64k"}
    assert document["global options"]["filename"] == "/dev/md0"
    assert err.startswith("bottleneck: ")
    plus = json.loads(fio(GOOD, "--output-format=json+")[1])
    assert sum(plus["jobs"][0]["read"]["clat_ns"]["bins"].values()) == 50


def test_only_one_section(fio: Command) -> None:
    """--section."""
    document = json.loads(fio(GOOD, "--json", "--section", "rand")[1])
    assert [job["jobname"] for job in document["jobs"]] == ["rand"]


def test_the_scenario_may_be_changed(fio: Command) -> None:
    """--set; the same jobs on a mirror."""
    document = json.loads(fio(GOOD, "--json", "--set", "arrays.md0.level=raid1")[1])
    (array, *members) = document["disk_util"]
    assert array["name"] == "md0"
    assert sum(member["write_ios"] for member in members) == 2 * array["write_ios"]


def test_a_machine_of_the_catalogue_by_itself(fio: Command) -> None:
    """--machine nas, with a drive as the target."""
    status, out, _ = fio("[a]\nsize=64k\ndirect=1\n", "--target", "disk1", machine="nas")
    assert status == 0
    assert "note: laid out in one piece each on disk1" in out


def test_logs(fio: Command) -> None:
    """--write_iolog writes the operations of all jobs, --logs what the jobs ask for."""
    text = GOOD.replace("[seq]\n", "[seq]\nwrite_lat_log=x\n")
    assert "note: jobs ask for logs: --logs DIR writes them" in fio(text)[1]
    assert fio(text, "--write_iolog", "all.log", "--logs", "logs")[0] == 0
    lines = Path("all.log").read_text().splitlines()
    assert lines.count("fio version 3 iolog") == 2
    assert len(lines) == 2 * (1 + 1 + 1 + 50 + 1)
    assert len(Path("logs/x_clat.1.log").read_text().splitlines()) == 50


def test_a_comparison_with_a_measurement(fio: Command) -> None:
    """--compare: a run compared with its own report has ratios of 1; as JSON, with fio's document in it."""
    document = json.loads(fio(GOOD, "--json")[1])
    for job in document["jobs"]:
        job["read"]["clat_ns"]["mean"] *= 2
    Path("measured.json").write_text(json.dumps(document))
    status, out, _ = fio(GOOD, "--compare", "measured.json")
    assert status == 0
    ratios = {name: [float(line.split()[-1]) for line in out.splitlines() if name in line] for name in ("IOPS", "mean")}
    assert ratios["IOPS"] == pytest.approx([1.0] * 3, rel=0.05), "fio's run times are whole milliseconds"
    assert ratios["mean"] == [0.5, 0.5, 1.0]
    assert "bottleneck on the model: " in out
    found = json.loads(fio(GOOD, "--compare", "measured.json", "--json")[1])
    assert found["comparison"][0]["ratio"] == pytest.approx(1.0, rel=0.05)
    assert found["fio"]["fio version"] == "fio-3.33"


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        (JOB, (), "job.fio, line 14, bs: reads of 8000 bytes with direct=1; expected: multiples of 512 bytes"),
        ("size=1m\n", (), "job.fio, line 1: found 'size=1m' before any section"),
        ("[global]\nbs=4k\n", (), "job.fio: no job in it"),
        ("[a]\nsize=1m\niodeph=4\n", (), "job.fio, line 3: unknown option 'iodeph'; did you mean 'iodepth'?"),
        ("[a]\nsize=1m\nrw=write\nverify=md5\n", (), "job.fio, line 4, verify: it cannot be simulated"),
        (
            "[a]\nioengine=libiscsi\nrw=write\n",
            (),
            "line 2, ioengine: libiscsi cannot be simulated: there is no network",
        ),
        ("[a]\ncpuload=85\nioengine=cpuio\n", (), "cpuio cannot be simulated: jobs that only use the CPU"),
        (GOOD, ("--filenam=/dev/md0",), "command line, filenam: unknown option 'filenam'; did you mean 'filename'?"),
        (GOOD, ("--at-mots", "2s"), "--at-mots: unknown option; did you mean '--at-most'?"),
        (GOOD, ("--name=b",), "JOB: found '--name' with 'job.fio'"),
        ("[a]\ninclude gone\n", (), "job.fio, line 2: 'gone' cannot be read"),
        ("[a]\nrw=read\n", (), "job.fio, line 1, job a, size: it is missing"),
        ("[a]\nsize=${NOT_SET_AT_ALL}\n", (), "job.fio, line 2: the variable NOT_SET_AT_ALL is not set"),
        (GOOD, ("--section", "none"), "--section: unknown job 'none'; expected: seq, rand"),
        (GOOD, ("--output-format", "terse"), "--output-format: found 'terse'; expected: normal, json, json+"),
        (GOOD, ("--file", "x"), "--file: found 'x'; expected: NAME=SIZE"),
        (GOOD, ("--at-most", "0s"), "--at-most: found '0s'"),
        (GOOD, ("--target", "sdx"), "--target: unknown device 'sdx'; expected: disk0, disk1, md0"),
        (GOOD, ("--compare", "gone.json"), "gone.json"),
        (GOOD, ("--write_iolog", "gone/x"), "--write_iolog: gone/x: there is no folder gone"),
        (GOOD, ("--write_iolog", "job.fio"), "--write_iolog: job.fio is "),
        (GOOD, ("--logs", "box.yaml"), "--logs: box.yaml cannot be written"),
        (GOOD + "#" * (1 << 20), (), "job.fio: it is too long"),
        ("[a]\nfilename=/dev/md0\nbs=-4k\n", (), "job.fio, line 3, bs: found '-4k'; expected: a size above 0"),
    ],
)
def test_bad_input_is_one_message(fio: Command, text: str, arguments: tuple[str, ...], message: str) -> None:
    """Exit status 2, one line naming file and line or option."""
    status, out, err = fio(text, *arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert ("box.yaml" in err) == ("--machine" in message or "box.yaml" in message), "only the machine's is in its file"


def test_options_beside_a_job_file_are_defaults(fio: Command) -> None:
    """Protects files that leave file and size to the command line; what the file says counts more."""
    text = "[a]\nrw=randread\nbs=8k\ndirect=1\nnumber_ios=20\nthreads=1\n"
    status, out, _ = fio(text, "--json", "--filename=/dev/md0", "--size", "64m", "--bs=4k")
    assert status == 0
    (job,) = json.loads(str(out))["jobs"]
    assert job["read"]["io_bytes"] == 20 * 8192
    status, out, _ = fio(text.replace("number_ios=20", "size=100%%"), "--json", "--filename=/dev/md0", "--at-most=50ms")
    assert status == 0
