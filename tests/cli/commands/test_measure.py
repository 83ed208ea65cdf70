"""`raidsim measure` with a fio that only writes reports: what it is asked, what is refused, and how it goes on."""

from __future__ import annotations

import errno
import io
import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from raidsim.calibration.learning.box_jobs import job_file, job_of, read_job_file
from raidsim.calibration.learning.loads import BoxLoad
from raidsim.calibration.learning.next_job import CANDIDATES
from raidsim.calibration.measurement.machine import Kernel, load_machine
from raidsim.calibration.measurement.target import LEAST_SIZE, check_unused, find_target
from raidsim.cli import main as cli
from raidsim.model.core.errors import InputError
from raidsim.tests.calibration.fio_study.fio_reports import direction, job, report
from raidsim.tests.processes import is_there

SMALL = ["--size", "16MiB", "--seconds", "1"]
READS = [
    *("read-1m", "read-4k", "read-4k-qd8"),
    *(f"randread-4k-qd{depth}" for depth in (1, 2, 4, 8, 16, 32)),
    "randread-128k-qd4",
]
WRITES = ["write-1m", "randwrite-4k-qd1", "randwrite-4k-qd16", "randwrite-4k-fdatasync"]
FIO = """\
#!/bin/sh
for word in "$@"; do
  case $word in
    --version) echo fio-3.33; exit;;
    --enghelp) echo "Available IO engines:"; echo "	$ENGINES"; exit;;
    --output=*) output=${word#*=};;
    --name=*) name=${word#*=};;
    --rw=*) rw=${word#*=};;
  esac
done
echo "$@" >> "$FOLDER/calls"
if [ "$name" = "$SLEEP_AT" ]; then echo $$ > "$FOLDER/pid"; exec sleep 30; fi
if [ "$name" = "$FAIL_AT" ]; then echo "fio: no such thing" >&2; exit 1; fi
case $rw in *write) sample=write;; *) sample=read;; esac
sed "s/NAME/$name/" "$FOLDER/$sample.sample" > "$output"
"""


@pytest.fixture
def fio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a fio on the PATH; its `calls` has what it was asked."""
    folder = tmp_path / "fio"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin/fio").write_text(FIO)
    (folder / "bin/fio").chmod(0o755)
    done = direction(2000, 1000.0, 4096, 0.001, 0.002)
    (folder / "read.sample").write_text(report(job("NAME", {}, read=done)))
    (folder / "write.sample").write_text(report(job("NAME", {}, write=done)))
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("FOLDER", str(folder))
    monkeypatch.setenv("ENGINES", "psync libaio")
    monkeypatch.chdir(tmp_path)
    return folder


def run(*arguments: str) -> object:
    """Exit status of the command line; 0 if it simply ends."""
    try:
        cli.main(["measure", *arguments])
    except SystemExit as ended:
        return ended.code
    return 0


def calls(fio: Path) -> list[dict[str, str]]:
    """The options of every job that fio was asked for."""
    lines = (fio / "calls").read_text().splitlines() if (fio / "calls").exists() else []
    return [dict(word.lstrip("-").partition("=")[::2] for word in line.split()) for line in lines]


def target(folder: Path, size: int = LEAST_SIZE) -> Path:
    """A file without holes."""
    path = folder / "data"
    path.write_bytes(b"\x5a" * size)
    return path


def test_the_suite_on_a_new_file(fio: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Protects the measurement: the jobs, all of them read-only and direct, one report each, and the machine."""
    assert run("new", *SMALL, "--json") == 0
    out, err = capsys.readouterr()
    printed = json.loads(out)
    assert "new does not exist and is made: 16 MiB of random bytes" in err
    content = (tmp_path / "new").read_bytes()
    assert len(content) == LEAST_SIZE
    assert len(set(content[: 1 << 16])) == 256
    asked = calls(fio)
    assert [each["name"] for each in asked] == READS == list(printed["jobs"])
    assert all("readonly" in each and each["ioengine"] == "libaio" and each["filename"] == "new" for each in asked)
    assert [each["iodepth"] for each in asked[3:]] == ["1", "2", "4", "8", "16", "32", "4"]
    assert printed["jobs"]["read-1m"] == {"rate": 4096e3, "iops": 1000, "mean_seconds": 0.001, "p99_seconds": 0.002}
    folder = tmp_path / "fio-new"
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        [*(f"{name}.json" for name in READS), "machine.yaml"]
    )
    machine = load_machine(folder)
    assert machine is not None
    assert (machine.suite.size, machine.suite.seconds, machine.suite.target) == (LEAST_SIZE, 1.0, "file")
    assert os.uname().nodename not in (folder / "machine.yaml").read_text()


def test_what_is_there_already_is_not_measured_again(fio: Path, tmp_path: Path) -> None:
    """Protects the time of whoever interrupts: finished jobs are kept, one that was cut short is run again."""
    target(tmp_path)
    assert run("data", "--seconds", "1", "--output", "out") == 0
    (tmp_path / "out/read-4k.json").write_text("{")
    (tmp_path / "out/randread-4k-qd32.json").unlink()
    assert run("data", "--seconds", "1", "--output", "out") == 0
    assert [each["name"] for each in calls(fio)] == [*READS, "read-4k", "randread-4k-qd32"]


def test_other_settings_do_not_mix(fio: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Protects a folder from jobs of different settings, and other people's folders from ours."""
    target(tmp_path)
    assert run("data", "--seconds", "1", "--output", "out") == 0
    assert run("data", "--seconds", "2", "--output", "out") == 2
    assert "other settings (seconds 1.0, now 2.0)" in capsys.readouterr().err
    assert run("data", "--seconds", "1", "--output", "fio") == 2
    assert "holds other files" in capsys.readouterr().err


def test_interrupt_keeps_what_is_done(fio: Path, tmp_path: Path) -> None:
    """Protects Ctrl-C: fio is ended, finished jobs stay, nothing half done does, and the status says so."""
    target(tmp_path)
    # Whoever runs the tests in the background ignores interrupts, and so would what they start.
    command = ["env", "--default-signal=INT", sys.executable, "-m", "raidsim", "measure", "data", "--output", "out"]
    process = subprocess.Popen(command, env=os.environ | {"SLEEP_AT": "read-4k"}, stderr=subprocess.PIPE, text=True)
    for _ in range(600):
        if (fio / "pid").exists() and (fio / "pid").read_text().strip():
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert f"1 of 10 jobs are kept in {tmp_path / 'out'}" in err
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["machine.yaml", "read-1m.json"]
    # Whose parent is gone stays until init has noticed: a moment, and not the half minute that it sleeps.
    until = time.monotonic() + 10
    while is_there(int((fio / "pid").read_text())):
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_while_fio_starts_ends_it_too(
    fio: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    """Protects the disk from a fio that nobody waits for: it is there before raidsim knows of it."""
    target(tmp_path)
    started: list[subprocess.Popen[bytes]] = []

    class Interrupted(subprocess.Popen[bytes]):
        def __init__(self, words: list[str], **how: Any) -> None:
            super().__init__(words, **how)
            if "--name=read-4k" in words:
                started.append(self)
                os.kill(os.getpid(), number)

    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    monkeypatch.setenv("SLEEP_AT", "read-4k")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert run("data", "--output", "out") == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert [process.returncode is not None for process in started] == [True]


@pytest.mark.parametrize("typed", ["", "no\n", "dat\n"])
def test_no_writes_without_the_name(
    fio: Path, tmp_path: Path, typed: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Protects data: without the right name nothing is run at all."""
    target(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert run("data", "--allow-write") == 2
    assert "expected: data; nothing has been written" in capsys.readouterr().err
    assert not calls(fio)


def test_writes_with_the_name(fio: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the other way: with option and name there are jobs that write, and still only these may."""
    target(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO("data\n"))
    assert run("data", "--seconds", "1", "--allow-write") == 0
    asked = calls(fio)
    assert [each["name"] for each in asked] == [*READS, *WRITES]
    assert [each["name"] for each in asked if "readonly" not in each] == WRITES
    assert [each["name"] for each in asked if each.get("fdatasync") == "1"] == ["randwrite-4k-fdatasync"]


def test_the_name_alone_does_not_write(fio: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects data from a name on stdin without the option."""
    target(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO("data\n"))
    assert run("data", "--seconds", "1") == 0
    assert all("readonly" in each for each in calls(fio))


def test_psync_makes_threads_of_depths(fio: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects machines whose fio has no asynchronous engine: a depth is as many threads."""
    monkeypatch.setenv("ENGINES", "psync")
    target(tmp_path)
    assert run("data", "--seconds", "1") == 0
    last = calls(fio)[-2]
    assert (last["ioengine"], last["numjobs"], last["iodepth"]) == ("psync", "32", "1")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere/new"], "neither it nor its folder is there"),
        (["/dev/no-such-disk"], "no such device"),
        (["."], "a folder"),
        (["/dev/null"], "neither a block device nor a regular file"),
        (["new", "--size", "1000000000"], "--size: '1000000000' has no unit"),
        (["new", "--size", "64K"], "ambiguous"),
        (["new", "--size", "1MiB"], "expected: 16 MiB or more"),
        (["new", "--size", "100PB"], "are free"),
        (["data", "--size", "1GiB"], "expected: up to its 16 MiB"),
        (["small"], "it has 4 KiB"),
        (["holes"], "only 0 B of its 16 MiB are on the disk"),
        (["data", "--seconds", "0"], "--seconds: 0; expected: 1 to 3600"),
        (["data", "--seconds", "nan"], "--seconds: nan"),
        (["data", "--output", "data"], "--output"),
    ],
)
def test_refusals(
    fio: Path, tmp_path: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Protects from measuring something else than was meant: one message, status 2, and fio is not run."""
    target(tmp_path)
    (tmp_path / "small").write_bytes(b"x" * 4096)
    with (tmp_path / "holes").open("wb") as file:
        file.truncate(LEAST_SIZE)
    assert run(*arguments) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: ")
    assert said in err
    assert not calls(fio)
    assert not (tmp_path / "new").exists()


def test_without_fio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Protects the first step of a newcomer: how to get fio, and nothing made before."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert run("new") == 2
    assert capsys.readouterr().err.startswith("error: fio: not installed; expected: fio on the PATH (apt install fio")
    assert not list(tmp_path.iterdir())


def test_a_job_that_fails(
    fio: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Protects from half a measurement that looks whole: fio's own words, and the jobs before it are kept."""
    target(tmp_path)
    monkeypatch.setenv("FAIL_AT", "read-4k")
    assert run("data", "--seconds", "1", "--output", "out") == 2
    assert "fio job read-4k: fio ended with status 1: fio: no such thing" in capsys.readouterr().err
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["machine.yaml", "read-1m.json"]


def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mounts: str = "", swaps: str = "") -> Kernel:
    """A kernel with the disk sdx (8:0) and its partition sdx1 (8:1); the file `data` stands in for the disk."""
    block = tmp_path / "sys/devices/sdx"
    (block / "sdx1/holders").mkdir(parents=True)
    (block / "queue").mkdir()
    (block / "device").mkdir()
    files = {
        "dev": "8:0",
        "size": str(LEAST_SIZE // 512),
        "queue/rotational": "1",
        "queue/scheduler": "none [mq-deadline] bfq",
        "device/queue_depth": "32",
        "device/model": "ST2000   ",
        "sdx1/dev": "8:1",
        "sdx1/partition": "1",
    }
    for name, text in files.items():
        (block / name).write_text(text + "\n")
    (tmp_path / "sys/dev/block").mkdir(parents=True)
    (tmp_path / "sys/dev/block/8:0").symlink_to(block)
    (tmp_path / "sys/dev/block/8:1").symlink_to(block / "sdx1")
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/mountinfo").write_text(mounts)
    (tmp_path / "proc/swaps").write_text("Filename Type Size Used Priority\n" + swaps)
    path, whole = target(tmp_path), Path.stat

    def as_device(self: Path, **options: Any) -> os.stat_result:
        found = whole(self, **options)
        if self != path:
            return found
        fields = [stat.S_IFBLK | 0o600, *found[1:]]
        return os.stat_result(fields, {"st_rdev": os.makedev(8, 0), "st_dev": found.st_dev})

    monkeypatch.setattr(Path, "stat", as_device)
    return Kernel(tmp_path / "proc", tmp_path / "sys")


MOUNTED = "30 1 {} / /mnt/my\\040disk rw - ext4 {} rw\n"


def test_a_device_and_what_it_says_of_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the description of a disk; reading a mounted one is allowed."""
    kernel = disk(tmp_path, monkeypatch, MOUNTED.format("8:1", "/dev/sdx1"))
    found = find_target(str(tmp_path / "data"), None, False, kernel)
    assert (found.kind, found.size, found.number) == ("device", LEAST_SIZE, (8, 0))
    for number in ((8, 0), (8, 1)):
        device = kernel.device_of(number)
        assert device is not None
        assert device.model_dump() == {
            "name": "sdx",
            "model": "ST2000",
            "size": LEAST_SIZE,
            "rotational": True,
            "scheduler": "mq-deadline",
            "queue_depth": 32,
            "members": (),
        }


@pytest.mark.parametrize(
    ("mounts", "swaps", "said"),
    [
        (MOUNTED.format("8:0", "/dev/sdx"), "", "mounted at /mnt/my disk"),
        (MOUNTED.format("8:1", "/dev/sdx1"), "", "mounted at /mnt/my disk"),
        (MOUNTED.format("0:40", "/dev/sdx1"), "", "mounted at /mnt/my disk"),
        ("", "/dev/sdx1 partition 1024 0 -2\n", "used as swap"),
    ],
)
def test_no_writes_to_a_device_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mounts: str, swaps: str, said: str
) -> None:
    """Protects mounted file systems and swap, on the disk and on any part of it, also behind btrfs's own numbers."""
    kernel = disk(tmp_path, monkeypatch, mounts, swaps)
    with pytest.raises(InputError, match=said):
        find_target(str(tmp_path / "data"), None, True, kernel)


def test_no_writes_to_a_member(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects arrays and volume groups from writes to what they are made of; a free disk is allowed."""
    kernel = disk(tmp_path, monkeypatch)
    check_unused("sdx", (8, 0), kernel)
    (tmp_path / "sys/devices/sdx/sdx1/holders/md0").mkdir()
    with pytest.raises(InputError, match="sdx1 is part of md0"):
        check_unused("sdx", (8, 0), kernel)


@pytest.mark.parametrize(("code", "said"), [(errno.EACCES, "no permission"), (errno.EBUSY, "in use by the kernel")])
def test_devices_that_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, said: str) -> None:
    """Protects the message where the kernel says no."""
    kernel = disk(tmp_path, monkeypatch)

    def refuse(*_: object) -> int:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(InputError, match=said):
        find_target(str(tmp_path / "data"), None, True, kernel)


LOADS = """\
[global]
bs=4k
[one]
rw=randread
numjobs=4
iodepth=8
[another]
rw=randread
bs=64k
"""


def test_the_loads_of_a_job_file(fio: Path, tmp_path: Path) -> None:
    """Protects the next measurement: the loads as the file has them, read-only, in a folder that learn can read."""
    target(tmp_path)
    (tmp_path / "next.fio").write_text(LOADS)
    assert run("data", "--seconds", "1", "--job", "next.fio") == 0
    asked = calls(fio)
    names = ["randread-4k-4x8", "randread-64k-1x1"]
    assert [each["name"] for each in asked] == names
    assert [(each["bs"], each["numjobs"], each["iodepth"]) for each in asked] == [
        ("4096", "4", "8"),
        ("65536", "1", "1"),
    ]
    assert all("readonly" in each for each in asked)
    assert sorted(path.stem for path in (tmp_path / "fio-data-next").glob("*.json")) == names


def test_a_load_that_writes_needs_leave(
    fio: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protects data: a mix is refused without --allow-write; with it the name of what is destroyed has to be typed."""
    data = target(tmp_path)
    (tmp_path / "next.fio").write_text("[mix]\nrw=randrw\nrwmixread=70\nbs=4k\n")
    assert run("data", "--seconds", "1", "--job", "next.fio") == 2
    assert "randrw70-4k-1x1 writes" in (err := capsys.readouterr().err)
    assert "DESTROYS what is on data" in err
    monkeypatch.setattr(sys, "stdin", io.StringIO("no\n"))
    assert run("data", "--seconds", "1", "--job", "next.fio", "--allow-write") == 2
    assert "ALL DATA" in capsys.readouterr().err
    assert not calls(fio)
    both = direction(2000, 1000.0, 4096, 0.001, 0.002)
    (fio / "read.sample").write_text(report(job("NAME", {}, read=both, write=both)))
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{data.name}\n"))
    assert run("data", "--seconds", "1", "--job", "next.fio", "--allow-write", "--json") == 0
    (asked,) = calls(fio)
    assert asked["rwmixread"] == "70"
    assert "readonly" not in asked
    printed = json.loads(capsys.readouterr().out)
    assert printed["jobs"]["randrw70-4k-1x1"]["iops"] == 2000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[a]\nrw=randread\nbs=4k\nrate=1m\n", "found rate"),
        ("[a]\nrw=randread\n", "no bs"),
        ("[a]\nbs=4k\n", "no rw"),
        ("[a]\nrw=trim\nbs=4k\n", "'trim'"),
        ("[a]\nrw=randread\nbs=1000\n", "multiple of 512"),
        ("[a]\nrw=randread\nbs=4k\nnumjobs=0\n", "1 to 4096"),
        ("", "no jobs"),
    ],
)
def test_job_files_that_are_refused(
    fio: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    """Protects from silence: what raidsim measure would not do as it stands is named, and nothing is run."""
    target(tmp_path)
    (tmp_path / "next.fio").write_text(text)
    assert run("data", "--seconds", "1", "--job", "next.fio") == 2
    assert said in capsys.readouterr().err
    assert not calls(fio)


def test_a_job_file_of_loads_is_read_as_the_same_loads(tmp_path: Path) -> None:
    """Protects the way from learn to measure: every load that may be named comes back, each with its own name."""
    path = tmp_path / "next.fio"
    loads = [*CANDIDATES, BoxLoad(512, 1, 1, 0.0, sequential=True)]
    path.write_text(job_file(loads))
    assert read_job_file(path) == tuple(job_of(load) for load in loads)
    assert len({each.name for each in read_job_file(path)}) == len(loads)
