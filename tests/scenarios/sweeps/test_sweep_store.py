"""Files of results: what is refused, who may write, and that what was kept stays."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.statistics import Usage
from raidsim.model.statistics.batch_means import Estimate
from raidsim.scenarios.sweeps.result_store import ResultStore, RunRow

MODEL = ("0123", "raidsim, model 0123")
PATHS = ("depth", "layout")


def a_row(point: int, **changes: object) -> RunRow:
    """A run with a bit of everything."""
    found: dict[str, object] = {
        "values": {"depth": point, "layout": "raid5"},
        "status": "done",
        "figures": {"rate": 0.1 + point, "iops": 3.0},
        "estimates": {"rate": Estimate(1.5, float("inf"), 0.9, 3, 0.0, -0.25, False)},
        "usages": (Usage("sda", "disk", 0.5, 1.25, 3, 4, 1 << 40),),
        "bottleneck": "the disks",
        **changes,
    }
    return RunRow(point, 0, **found)  # type: ignore[arg-type]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A store with a sweep of 100 points, of which there are 60."""
    path = tmp_path / "results.sqlite"
    with ResultStore(path, write=True) as store:
        sweep = store.begin("abc", MODEL, "a sweep", (100, 1), PATHS)
        store.save(sweep, [a_row(point) for point in range(60)])
    return path


def test_rows_come_back_as_they_were(file: Path) -> None:
    """Every bit of a row survives, also what is infinite."""
    with ResultStore(file, write=False) as store:
        assert list(store.rows(1)) == [a_row(point) for point in range(60)]
        record = store.record(1)
        assert (record.counts["done"], record.left, record.paths) == (60, 40, PATHS)
        assert sum(store.settled(1)) == 60


def test_rows_are_kept_all_or_none(file: Path) -> None:
    """A row that cannot be kept takes those with it that came together, and no others."""
    with ResultStore(file, write=True) as store:
        with pytest.raises(KeyError):
            store.save(1, [a_row(60), a_row(61, values={})])
        assert sum(store.settled(1)) == 60
        store.save(1, [a_row(60)])
        assert sum(store.settled(1)) == 61


def test_a_second_writer_is_refused_and_readers_are_not(file: Path) -> None:
    """Two sweeps do not write to one file; looking at it is always possible."""
    with ResultStore(file, write=True) as store:
        with pytest.raises(InputError, match="another raidsim sweep is writing to it"):
            ResultStore(file, write=True)
        with ResultStore(file, write=False) as reader:
            assert len(list(reader.rows(1))) == 60
            store.save(1, [a_row(60)])
            assert len(list(reader.rows(1))) == 61
    with ResultStore(file, write=True):
        pass
    assert [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
def test_a_second_writer_is_refused_by_another_name(file: Path, tmp_path: Path, link: str) -> None:
    """The file is locked, not its name: a link to it, in another folder, is the same file."""
    other = tmp_path / "elsewhere" / "other.sqlite"
    other.parent.mkdir()
    getattr(other, link)(file)
    with ResultStore(file, write=True) as store:
        with pytest.raises(InputError, match="another raidsim sweep is writing to it"):
            ResultStore(other, write=True)
        store.save(1, [a_row(60)])
    with ResultStore(other, write=True) as store:
        assert sum(store.settled(1)) == 61


def test_another_process_is_refused_until_the_first_has_ended(file: Path) -> None:
    """The lock is the operating system's: it holds between processes, and a killed one has none."""
    code = (
        "import sys; from raidsim.scenarios.sweeps.result_store import ResultStore\n"
        "store = ResultStore(sys.argv[1], write=True); print('there', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "there\n"
        with pytest.raises(InputError, match="another raidsim sweep is writing to it"):
            ResultStore(file, write=True)
        other.kill()
        other.wait()
    with ResultStore(file, write=True) as store:
        assert sum(store.settled(1)) == 60


def test_no_space_is_one_message_and_nothing_is_lost(file: Path) -> None:
    """A full disk ends the sweep; what was kept before is whole."""
    with ResultStore(file, write=True) as store:
        pages = store.db.execute("PRAGMA page_count").fetchone()[0]
        store.db.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(InputError, match=r"no space is left for it; what was done before is kept"):
            store.save(1, [a_row(point) for point in range(60, 100)])
    with ResultStore(file, write=True) as store:
        assert sum(store.settled(1)) == 60
        store.save(1, [a_row(60)])


def test_files_that_are_no_store_are_refused(tmp_path: Path) -> None:
    """Another program's file is left alone, and the message says what is allowed."""
    foreign = tmp_path / "foreign.sqlite"
    db = sqlite3.connect(foreign)
    db.execute("CREATE TABLE runs (sweep, point)")
    db.commit()
    db.close()
    text = tmp_path / "text.sqlite"
    text.write_text("not a database " * 100, encoding="utf-8")
    before = foreign.read_bytes(), text.read_bytes()
    for path, words in (
        (foreign, "a database of something else"),
        (text, "this is no database"),
        (tmp_path, "this is a folder"),
        (Path("/dev/null"), "this is no regular file"),
        (tmp_path / "nowhere" / "a.sqlite", "there is no"),
    ):
        for write in (True, False):
            with pytest.raises(InputError, match=words):
                ResultStore(path, write)
    assert (foreign.read_bytes(), text.read_bytes()) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["foreign.sqlite", "text.sqlite"]


def test_a_file_in_another_format_or_with_other_tables_is_refused(file: Path) -> None:
    """A later release's file is not touched, nor one that somebody has put a trigger into."""
    for change, words in (
        ("CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs; END", "a database of something else"),
        ("PRAGMA user_version = 3", "results in format 3, of another release"),
    ):
        db = sqlite3.connect(file)
        db.execute(change)
        db.commit()
        db.close()
        with pytest.raises(InputError, match=words):
            ResultStore(file, write=True)


@pytest.mark.parametrize("share", [0.01, 0.3, 0.9])
def test_a_truncated_file_is_refused(file: Path, share: float) -> None:
    """What is left of a file is not taken for all of it."""
    content = file.read_bytes()
    file.write_bytes(content[: int(share * len(content))])
    for write in (True, False):
        with pytest.raises(InputError, match=r"damaged|no database"):
            ResultStore(file, write)


def test_a_damaged_file_is_refused(file: Path) -> None:
    """Pages overwritten with something else are noticed before anything is added."""
    content = bytearray(file.read_bytes())
    for page in range(3 * 4096, len(content), 4096):
        content[page : page + 200] = b"\xa5" * 200
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"results\.sqlite: .*(damaged|SQLite says)"):
        ResultStore(file, write=True)


def test_an_empty_file_becomes_a_store_only_by_writing(tmp_path: Path) -> None:
    """A file that `touch` made may be written to; there is nothing to read in it."""
    path = tmp_path / "empty.sqlite"
    path.touch()
    with pytest.raises(InputError, match="an empty file"):
        ResultStore(path, write=False)
    with ResultStore(path, write=True) as store:
        assert store.sweeps() == []
