"""`raidsim workload` as a person runs it: PostMark's scripts and logs, system calls of the others, bad input."""

from __future__ import annotations

import gzip
import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from raidsim.cli import main as cli
from raidsim.model.programs.postmark import PostMark
from raidsim.validation.conformance.truth_files import DEFAULT_TRUTH

TRUTH = DEFAULT_TRUTH / "workloads"
RECORDED = ("postmark_defaults", "postmark_outoffiles", "postmark_subdirs100")
GATEWAY = (
    "set location /scratch1\nset number 5000\nset transactions 5000\nset buffering false\nset size 500 10000000\nrun\n"
)
SMALL = "set number 20\nset transactions 20\nset buffering false\n"

Shown = tuple[object, str, str]
Workload = Callable[..., Shown]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Workload:
    """Runs the command; gives status, output and errors."""

    def started(*arguments: object) -> Shown:
        status: object = 0
        try:
            cli.main(["workload", *map(str, arguments)])
        except SystemExit as ended:
            status = ended.code
        out, err = capsys.readouterr()
        return status, out, err

    return started


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a script of PostMark's commands."""

    def write(text: str) -> Path:
        path = tmp_path / "script.pm"
        path.write_text(text)
        return path

    return write


def test_the_run_of_a_published_report(run: Workload, script: Callable[[str], Path]) -> None:
    """Protects the figures of the Gateway 840 report: files, exact bytes, and the printed megabytes."""
    status, out, err = run("postmark", "--script", script(GATEWAY), "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    text = found.pop("report")
    assert found == {
        "created": 7482,
        "read": 2510,
        "appended": 2490,
        "deleted": 7482,
        "bytes_read": 13_857_750_646,
        "bytes_written": 42_841_877_497,
    }
    assert "13215.77 megabytes read" in text
    assert "40857.20 megabytes written" in text
    assert "\t1 seconds total\n" in text


@pytest.mark.parametrize("name", RECORDED)
@pytest.mark.parametrize("suffix", [".log", ".oplog.gz"])
def test_logs_are_the_recorded_ones(
    run: Workload, script: Callable[[str], Path], tmp_path: Path, name: str, suffix: str
) -> None:
    """Protects the log: byte for byte what the real program did, packed or not; nothing else is left behind."""
    truth = json.loads((TRUTH / f"{name}.json").read_text())
    log = tmp_path / "logs" / f"run{suffix}"
    log.parent.mkdir()
    status, out, err = run("postmark", "--script", script(truth["script"]), "--log", log)
    assert (status, err) == (0, "")
    assert out.strip() == truth["stdout"].strip()
    written = gzip.decompress(log.read_bytes()) if suffix.endswith(".gz") else log.read_bytes()
    assert written == gzip.decompress((TRUTH / f"{name}.oplog.gz").read_bytes())
    assert list(log.parent.iterdir()) == [log]
    assert stat.S_IMODE(log.stat().st_mode) & stat.S_IRUSR


def test_the_same_log_is_the_same_file(run: Workload, script: Callable[[str], Path], tmp_path: Path) -> None:
    """Protects comparing packed logs: no time of day is in them; an older log is replaced."""
    logs = [tmp_path / "a.gz", tmp_path / "b.gz"]
    logs[1].write_text("older")
    for log in logs:
        assert run("postmark", "--script", script(f"{SMALL}run\n"), "--log", log)[0] == 0
    assert logs[0].read_bytes() == logs[1].read_bytes()


def test_of_several_runs_the_last_is_shown_and_all_are_logged(
    run: Workload, script: Callable[[str], Path], tmp_path: Path
) -> None:
    """Protects the figures from being sums of all runs."""
    one = run("postmark", "--script", script(f"{SMALL}run\n"), "--json", "--log", tmp_path / "one")
    two = run("postmark", "--script", script(f"{SMALL}run\nrun\n"), "--json", "--log", tmp_path / "two")
    assert one == two
    assert (tmp_path / "two").read_text() == 2 * (tmp_path / "one").read_text()


def test_a_run_without_files_left_has_no_report(run: Workload, script: Callable[[str], Path]) -> None:
    """Protects the object's keys where PostMark prints no report."""
    text = "set number 20\nset transactions 1000\nset bias create 0\nrun\n"
    status, out, _ = run("postmark", "--script", script(text), "--json")
    assert status == 0
    found = json.loads(out)
    assert found["report"] == ""
    assert found["created"] == found["deleted"] == 20


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("set number many\nrun\n", "script.pm, line 1, set number: found 'many'"),
        ("run fast\nfly\n", "script.pm, line 2: 'fly' is no command of PostMark"),
        (SMALL, "the script runs nothing"),
        ("", "the script runs nothing"),
    ],
)
def test_bad_scripts(run: Workload, script: Callable[[str], Path], tmp_path: Path, text: str, says: str) -> None:
    """Protects people from tracebacks, and their folders from logs that stop in the middle."""
    status, out, err = run("postmark", "--script", script(text), "--json", "--log", tmp_path / "log")
    assert (status, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1
    assert not (tmp_path / "log").exists()
    assert len(list(tmp_path.iterdir())) == 1


def test_scripts_that_cannot_be_read(run: Workload, tmp_path: Path) -> None:
    """Protects the other ways a script can be wrong: absent, a folder, no text, not named at all."""
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for arguments, says in (
        (("--script", tmp_path / "none"), "there is no such file"),
        (("--script", tmp_path), "this is a folder"),
        (("--script", tmp_path / "binary"), "not UTF-8"),
        ((), "--script: missing"),
    ):
        status, out, err = run("postmark", *arguments)
        assert (status, out) == (2, "")
        assert says in err


def test_logs_that_cannot_be_written(run: Workload, script: Callable[[str], Path], tmp_path: Path) -> None:
    """Protects from losing the run to a path that is no file."""
    path = script(f"{SMALL}run\n")
    for log in (tmp_path, tmp_path / "none" / "log"):
        status, _, err = run("postmark", "--script", path, "--log", log)
        assert status == 2
        assert err.startswith("error: --log: ")
    assert list(tmp_path.iterdir()) == [path]
    assert run("postmark", "--script", path, "--log", "/dev/null")[0] == 0


def test_an_interrupted_log_is_not_there(
    run: Workload, script: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protects from half a log under the name of a whole one; the older one stays."""
    log = tmp_path / "log"
    log.write_text("older")

    def interrupted(_: PostMark) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(PostMark, "operations", interrupted)
    path = script("run\n")
    assert run("postmark", "--script", path, "--log", log)[0] == 130
    assert log.read_text() == "older"
    assert set(tmp_path.iterdir()) == {log, path}


def phases(shown: Shown) -> dict[str, dict[str, int]]:
    """The system calls that were printed as JSON."""
    status, out, err = shown
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert list(found) == ["phases"]
    calls: dict[str, dict[str, int]] = found["phases"]
    return calls


def test_bonnie_of_a_published_report(run: Workload) -> None:
    """Protects the calls of bonnie 1.4 -s 2030 -y, its seekers included; 1.2 never syncs."""
    found = phases(run("bonnie", "--version", "1.4", "--size", "2030MiB", "--sync", "--json"))
    assert list(found) == ["putc", "rewrite", "write", "getc", "read", "seeks"]
    assert found["putc"]["write[4096]"] == 2030 * 256
    assert found["write"]["write[1048576]"] == 2030
    assert found["seeks"]["read[16384]"] == 4000
    assert found["seeks"]["write[16384]"] == 402
    assert sum(calls.get("fsync", 0) for calls in found.values()) == 3
    older = phases(run("bonnie", "--version", "1.2", "--volumes", "10", "--size", "1000MiB", "--json"))
    assert older["write"]["write[16384]"] == 640_000
    assert not any("fsync" in calls for calls in older.values())
    status, _, err = run("bonnie", "--version", "1.2", "--sync")
    assert status == 2
    assert "bonnie 1.2 never syncs" in err


def test_the_other_programs(run: Workload) -> None:
    """Protects every program's phases, and that a scaled run is smaller."""
    assert phases(run("dd", "--size", "1MiB", "--block", "64KiB", "--json"))["write"]["write[65536]"] == 16
    tio = phases(run("tiobench", "--size", "64MiB", "--threads", "4", "--json"))
    assert tio["write"]["write[4096]"] == 16_384
    assert tio["random read"]["read[4096]"] == 4000
    plus = phases(run("bonnie++", "--size", "64MiB", "--files", "100", "--scale", "10", "--json"))
    assert plus["stat at random"] == {"stat": 10}
    newer = phases(run("bonnie++", "--version", "1.9", "--size", "1MiB", "--files", "0", "--json"))
    assert newer["putc"]["write[1]"] == 1 << 20
    assert "create in order" not in newer
    assert phases(run("iozone", "--size", "64KiB", "--json"))["random read"]["read[4096]"] == 16
    assert phases(run("hdparm", "--json"))["read"]["read[1048576]"] == 64
    tar = phases(run("tar", "--files", "100", "--json"))
    assert tar["extract"]["open(O_WRONLY|O_CREAT|O_EXCL)"] == 100
    assert phases(run("cp", "--scale", "100", "--json"))["copy"]["open(O_RDONLY)"] == 180


def test_a_table_for_people(run: Workload) -> None:
    """Protects readability: of hundreds of sizes the most frequent are named and the others summed."""
    status, out, _ = run("tar", "--files", "200")
    assert status == 0
    assert "other sizes" in out
    assert len(out.splitlines()) < 30
    assert all(len(line) <= 100 for line in out.splitlines())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("sprint",), "found the program 'sprint'; expected: bonnie, "),
        (("dd", "--threads", "3"), "--threads: dd has no such option; expected: --size, --block, --sync, --scale"),
        (("postmark", "--size", "1MiB"), "--size: postmark has no such option"),
        (("dd", "--size", "64K"), "--size: '64K' is ambiguous"),
        (("dd", "--size", "0B"), "--size: found 0B"),
        (("bonnie", "--size", "1MB"), "a whole number of mebibytes"),
        (("bonnie", "--version", "9"), "--version: found '9'; expected: 1.2, 1.4, 64"),
        (("bonnie", "--seeks", "0"), "--seeks: found 0; expected: 1 to "),
        (("tiobench", "--threads", "-1"), "--threads: found -1"),
        (("iozone", "--size", "4KiB", "--block", "8KiB"), "--block: 8192 bytes, more than the file's 4096"),
        (("iozone", "--size", "1TiB", "--block", "4KiB"), "268435456 records"),
        (("dd", "--size", "2TiB"), "up to 1TiB"),
        (("tar", "--files", "0"), "--files: found 0"),
        (("cp", "--scale", "0"), "--scale: found 0"),
    ],
)
def test_bad_input_is_one_line(run: Workload, arguments: tuple[str, ...], says: str) -> None:
    """Protects people from tracebacks and from options that do nothing: place, what was found, what is expected."""
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1
