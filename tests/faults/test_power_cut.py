"""What a power failure leaves of files that raidsim reads: cut off at every place, or with a journal half applied."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from raidsim.calibration.fit.profile import load_profile
from raidsim.calibration.formats.detect import read_report
from raidsim.model.core.errors import InputError
from raidsim.scenarios.documents.document import read_document
from raidsim.scenarios.sweeps.plan import read_sweep
from raidsim.scenarios.sweeps.result_store import ResultStore
from raidsim.tests.scenarios.sweeps.sweep_bench import plan_of, run, sweep_file
from raidsim.tests.scenarios.sweeps.test_sweep_store import MODEL, PATHS, a_row
from raidsim.validation.conformance.totals import totals_from_file

_ROOT = Path(str(read_document.__code__.co_filename)).parents[2]
_FIO_REPORT = {"fio version": "fio-3.33", "jobs": [{"jobname": "a", "error": 0, "read": {"io_bytes": 4096}}]}
_TOTALS = {"kinds": [{"kind": "layout", "rows": 3, "same": 3}]}


def _lengths(whole: bytes) -> Iterator[int]:
    """Every offset of a short text; of a longer one some 80, which come to stand everywhere in a line."""
    return iter(range(0, len(whole), len(whole) // 80 + 1))


def _readers(folder: Path) -> dict[str, tuple[bytes, Callable[[Path], object]]]:
    kept = _ROOT / "calibration" / "profiles" / "dpt-1999.yaml"
    return {
        "profile": (kept.read_bytes(), load_profile),
        "sweep": (sweep_file(folder).read_bytes(), read_sweep),
        "scenario": (sweep_file(folder).read_bytes().split(b"sample:")[0], lambda path: read_document(path).spec()),
        "fio report": (json.dumps(_FIO_REPORT).encode(), read_report),
        "conformance": (json.dumps(_TOTALS).encode(), totals_from_file),
    }


@pytest.mark.parametrize("name", ["profile", "sweep", "scenario", "fio report", "conformance"])
def test_a_file_cut_off_anywhere_is_read_or_refused(name: str, tmp_path: Path) -> None:
    """Protects readers of what others wrote: what is left is valid as it is, or refused in one message."""
    whole, read = _readers(tmp_path)[name]
    path = tmp_path / ("cut.json" if name in ("fio report", "conformance") else "cut.yaml")
    refused = 0
    for length in _lengths(whole):
        path.write_bytes(whole[:length])
        try:
            read(path)
        except InputError:
            refused += 1
    assert refused > 0


def test_a_kept_profile_that_is_cut_off_is_never_a_shorter_one(tmp_path: Path) -> None:
    """Protects predictions: a profile without its last parameters is refused, not used without them."""
    whole = (_ROOT / "calibration" / "profiles" / "dpt-1999.yaml").read_bytes()
    lines = whole.splitlines(keepends=True)
    path = tmp_path / "profile.yaml"
    # What the fit cost and how often it evaluated, at the end, is told and not used.
    used = next(number for number, line in enumerate(lines) if line.startswith(b"cost:"))
    for count in [*range(0, used, 8), used - 1]:
        path.write_bytes(b"".join(lines[:count]))
        with pytest.raises(InputError):
            load_profile(path)


ROWS, MORE = 60, 400


@pytest.fixture
def cut(tmp_path: Path) -> tuple[Path, bytes, bytes, bytes]:
    """A store as a power failure may find it: before a transaction, half written, and the journal of that."""
    path, journal = tmp_path / "results.sqlite", tmp_path / "results.sqlite-journal"
    with ResultStore(path, write=True) as store:
        store.save(store.begin("abc", MODEL, "a sweep", (ROWS + MORE, 1), PATHS), [a_row(i) for i in range(ROWS)])
    before = path.read_bytes()
    with ResultStore(path, write=True) as store:
        store.db.execute("PRAGMA cache_size = 1")  # pages go to the file while the transaction is not over

        def look(sql: str) -> None:
            if sql == "COMMIT":
                shutil.copy(path, tmp_path / "half")
                shutil.copy(journal, tmp_path / "journal")

        store.db.set_trace_callback(look)
        store.save(1, [a_row(i) for i in range(ROWS, ROWS + MORE)])
    return (
        tmp_path / "cut" / "results.sqlite",
        before,
        (tmp_path / "half").read_bytes(),
        (tmp_path / "journal").read_bytes(),
    )


def _kept(path: Path, content: bytes, journal: bytes) -> int:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    path.with_name(path.name + "-journal").write_bytes(journal)
    with ResultStore(path, write=True) as store:
        assert list(store.rows(1))[:ROWS] == [a_row(i) for i in range(ROWS)]
        return sum(store.settled(1))


def test_a_transaction_that_was_half_written_is_rolled_back(cut: tuple[Path, bytes, bytes, bytes]) -> None:
    """Protects results: pages of an unfinished transaction are in the file, and the journal takes them out again."""
    path, before, half, journal = cut
    assert half != before
    assert _kept(path, half, journal) == ROWS


def test_without_its_journal_such_a_file_would_be_wrong(cut: tuple[Path, bytes, bytes, bytes]) -> None:
    """Counter-test: it is the journal that saves the file."""
    path, _, half, _ = cut
    path.parent.mkdir()
    path.write_bytes(half)
    try:
        with ResultStore(path, write=True) as store:
            assert sum(store.settled(1)) != ROWS or len(list(store.rows(1))) != ROWS
    except InputError as error:
        assert "damaged" in str(error) or "SQLite" in str(error)  # noqa: PT017


def test_a_journal_cut_off_anywhere_loses_nothing(cut: tuple[Path, bytes, bytes, bytes]) -> None:
    """Protects results while the journal itself was written: the file is still as it was before."""
    path, before, _, journal = cut
    step = max(1, len(journal) // 25)
    for length in [*range(0, 40, 4), *range(40, len(journal), step)]:
        assert _kept(path, before, journal[:length]) == ROWS


def _hurt(whole: bytes, chance: random.Random) -> bytes:
    """Bytes of which some are others."""
    data = bytearray(whole)
    for _ in range(chance.choice((1, 4, 60))):
        data[chance.randrange(len(data))] = chance.randrange(256)
    return bytes(data)


@pytest.mark.parametrize("how", ["cut off", "with other bytes", "with zeros at its end"])
def test_a_damaged_database_is_read_or_refused(how: str, tmp_path: Path) -> None:
    """Protects whoever goes on with a sweep: whatever a disk made of its results, one message, never a traceback."""
    path = tmp_path / "results.sqlite"
    run(plan_of(tmp_path, 3), path)
    whole, chance = path.read_bytes(), random.Random(1)
    hurt = {
        "cut off": [whole[:length] for length in _lengths(whole)],
        "with other bytes": [_hurt(whole, chance) for _ in range(150)],
        "with zeros at its end": [whole[:at] + bytes(len(whole) - at) for at in _lengths(whole)],
    }
    refused = 0
    for data in hurt[how]:
        path.write_bytes(data)
        try:
            with ResultStore(path, write=True) as store:
                for sweep in store.sweeps():
                    assert len(list(store.rows(sweep.number))) <= 3
                    store.failures(sweep.number, 3)
        except InputError as error:
            assert str(error).startswith(f"{path}: ")  # noqa: PT017
            refused += 1
    assert refused > len(hurt[how]) / 4
