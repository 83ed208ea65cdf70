"""A full disk and a folder that is read-only, for every command that writes a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from raidsim.cli import main as cli
from raidsim.model.core.errors import InputError
from raidsim.scenarios.sweeps.result_store import ResultStore
from raidsim.tests.faults.disk import files_no_longer_than, make_read_only
from raidsim.tests.scenarios.sweeps.sweep_bench import plan_of, run

SCENARIO = """
machine: {drives: {model: WD2500JB, count: 2}}
arrays: {md0: {level: raid1}}
workload: {kind: load, depth: 2, warm_up: 10ms, duration: 200ms}
"""
JOB = "[global]\nfilename=/dev/md0\ndirect=1\nbs=4k\nruntime=1\ntime_based\nwrite_iops_log=x\n[job]\nrw=randread\n"

COMMANDS = {
    "run --timeline": ("run", "s.yaml", "--no-relief", "--timeline", "FILE.json"),
    "run --plot": ("run", "s.yaml", "--no-relief", "--plot", "FILE.svg"),
    "compare --plot": (
        *("compare", "s.yaml", "--vary", "depth=1,2", "--replications", "2", "--no-rebuild", "--workers", "0"),
        *("--plot", "FILE.svg"),
    ),
    "layout --plot": ("layout", "--level", "raid5", "--disks", "5", "--plot", "FILE.svg"),
    "fio --write_iolog": ("fio", "job.fio", "--machine", "s.yaml", "--write_iolog", "FILE"),
    "fio --logs": ("fio", "job.fio", "--machine", "s.yaml", "--logs", "FILE"),
    "workload --log": ("workload", "postmark", "--script", "pm.txt", "--log", "FILE.log"),
    "sweep --csv": ("sweep", "sweep.yaml", "--workers", "0", "--store", ":memory:", "--csv", "FILE.csv"),
    "sweep --parquet": ("sweep", "sweep.yaml", "--workers", "0", "--store", ":memory:", "--parquet", "FILE.parquet"),
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a scenario, a job and a sweep in it, that commands run in."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yaml").write_text(SCENARIO)
    (tmp_path / "job.fio").write_text(JOB)
    (tmp_path / "pm.txt").write_text("set number 20\nset transactions 20\nrun\nquit\n")
    plan_of(tmp_path, 3)
    return tmp_path


def _status(arguments: tuple[str, ...]) -> object:
    with pytest.raises(SystemExit) as ended:
        cli.main(list(arguments))
    return ended.value.code


def _files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_is_one_message_and_leaves_no_part(
    name: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Protects what was there, and the reader from tracebacks and from half a file: status 2, what and why."""
    before = _files(here)
    with files_no_longer_than(64):
        status = _status(COMMANDS[name])
    shown = capsys.readouterr().err.strip().splitlines()
    assert status == 2, shown
    assert "cannot be written" in shown[-1]
    assert "File too large" in shown[-1]
    assert "Traceback" not in "".join(shown)
    assert _files(here) == before


@pytest.mark.parametrize("name", ["run --timeline", "sweep --csv", "layout --plot"])
def test_a_read_only_folder_is_one_message(
    name: str, here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protects the same on a file system that is mounted read-only."""
    before = _files(here)
    make_read_only(monkeypatch)
    assert _status(COMMANDS[name]) == 2
    assert "cannot be written (Read-only file system)" in capsys.readouterr().err.strip().splitlines()[-1]
    assert _files(here) == before


def _grown(store: ResultStore) -> int:
    return sum(store.settled(1))


def test_a_full_disk_ends_a_sweep_and_keeps_what_was_done(tmp_path: Path) -> None:
    """Protects results at any size at which the disk is full: what was reported is there when there is room again."""
    plan, path = plan_of(tmp_path, 12), tmp_path / "results.sqlite"
    told = 0
    for room in range(36 << 10, 100 << 10, 8 << 10):
        reported: list[int] = []
        watch: Callable[..., None] = lambda progress, kept=reported: kept.append(progress.settled)  # noqa: E731
        try:
            with files_no_longer_than(room):
                run(plan, path, watch=watch)
        except InputError as error:
            assert "what was done before is kept" in str(error) or "cannot be" in str(error)  # noqa: PT017
        told = max([told, *reported])
    with ResultStore(path, write=False) as store:
        assert _grown(store) >= told
    run(plan, path)
    with ResultStore(path, write=False) as store:
        assert _grown(store) == 12


def test_without_room_for_anything_a_sweep_says_so(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Counter-test: a disk that is full from the start is one message that names the file."""
    with files_no_longer_than(0):
        assert _status(("sweep", "sweep.yaml", "--workers", "0", "--store", "r.sqlite")) == 2
    assert "r.sqlite" in capsys.readouterr().err
