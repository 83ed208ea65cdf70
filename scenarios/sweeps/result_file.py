"""The file that results of sweeps are kept in: a SQLite database that only raidsim has made.

What was reported as kept stays whatever happens to the process or the machine: every save is one transaction, with the
default rollback journal and a sync of the folder (https://www.sqlite.org/pragma.html#pragma_synchronous). One process
at a time writes; others may read meanwhile.
"""

from __future__ import annotations

import errno
import sqlite3
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Self

from ...model.core.errors import InputError, RaidsimError

IN_MEMORY = ":memory:"
"""A store that is gone when the process is."""
_APPLICATION = 0x52414944
_FORMAT = 2
_WAIT_S = 60.0
_FAR_AWAY = 2**62
"""A byte that SQLite neither reads nor locks; Windows locks parts of a file."""
_SCHEMA = """
CREATE TABLE sweeps (
  sweep INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL, model TEXT NOT NULL, made_by TEXT NOT NULL,
  name TEXT NOT NULL, points INTEGER NOT NULL, replications INTEGER NOT NULL,
  UNIQUE (fingerprint, model)) STRICT;
CREATE TABLE paths (
  sweep INTEGER NOT NULL, position INTEGER NOT NULL, path TEXT NOT NULL,
  PRIMARY KEY (sweep, position)) STRICT, WITHOUT ROWID;
CREATE TABLE points (
  sweep INTEGER NOT NULL, point INTEGER NOT NULL, position INTEGER NOT NULL, value ANY NOT NULL,
  PRIMARY KEY (sweep, point, position)) STRICT, WITHOUT ROWID;
CREATE TABLE runs (
  sweep INTEGER NOT NULL, point INTEGER NOT NULL, replication INTEGER NOT NULL, key TEXT NOT NULL,
  status TEXT NOT NULL, error TEXT NOT NULL, bottleneck TEXT NOT NULL, saturated INTEGER NOT NULL,
  PRIMARY KEY (sweep, point, replication)) STRICT, WITHOUT ROWID;
CREATE TABLE figures (
  sweep INTEGER NOT NULL, point INTEGER NOT NULL, replication INTEGER NOT NULL, name TEXT NOT NULL,
  value REAL NOT NULL,
  PRIMARY KEY (sweep, point, replication, name)) STRICT, WITHOUT ROWID;
CREATE TABLE estimates (
  sweep INTEGER NOT NULL, point INTEGER NOT NULL, replication INTEGER NOT NULL, name TEXT NOT NULL,
  mean REAL, half_width REAL, confidence REAL, batches INTEGER NOT NULL, warmup REAL, lag1 REAL,
  correlated INTEGER NOT NULL,
  PRIMARY KEY (sweep, point, replication, name)) STRICT, WITHOUT ROWID;
CREATE TABLE usages (
  sweep INTEGER NOT NULL, point INTEGER NOT NULL, replication INTEGER NOT NULL, position INTEGER NOT NULL,
  name TEXT NOT NULL, kind TEXT NOT NULL, utilization REAL NOT NULL, mean_queue REAL NOT NULL,
  reads INTEGER NOT NULL, writes INTEGER NOT NULL, bytes INTEGER NOT NULL,
  PRIMARY KEY (sweep, point, replication, position)) STRICT, WITHOUT ROWID;
CREATE TABLE timings (
  sweep INTEGER NOT NULL, point INTEGER NOT NULL, replication INTEGER NOT NULL, seconds REAL NOT NULL,
  worker TEXT NOT NULL,
  PRIMARY KEY (sweep, point, replication)) STRICT, WITHOUT ROWID;
CREATE INDEX runs_by_key ON runs (key)
"""
_TABLES = tuple(" ".join(statement.split()) for statement in _SCHEMA.split(";"))
_ALLOWED = "expected: a new file, or one that raidsim sweep made"


class Unstorable(RaidsimError):
    """Something that is no result, which the tables do not take."""


class ResultFile:
    """A file of results.

    Parameters
    ----------
    path
        The file, or :data:`IN_MEMORY`.
    write
        Whether results will be added; one process at a time may. Without, the file has to be there already.

    Attributes
    ----------
    name
        The file as it was given.
    db
        The connection to it.

    Raises
    ------
    InputError
        If there is no such file, it is something else, is damaged, or another process is writing to it.
    """

    def __init__(self, path: Path | str, write: bool) -> None:
        self.name = str(path)
        self._lock: _Lock | None = None
        try:
            if self.name != IN_MEMORY:
                _check_place(self.name, write)
                self._lock = _Lock(self.name) if write else None
            with self.told():
                self.db = self._connected(write)
                self._check_or_make(write)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the file."""
        if hasattr(self, "db"):
            self.db.close()
        if self._lock is not None:
            self._lock.release()

    def _connected(self, write: bool) -> sqlite3.Connection:
        address = self.name
        if address != IN_MEMORY:
            # A reader may have to roll back what a process that was killed had begun, so it does not open read-only.
            address = f"{Path(self.name).absolute().as_uri()}?mode={'rwc' if write else 'rw'}"
        db = sqlite3.connect(address, timeout=_WAIT_S, isolation_level=None, uri=address != IN_MEMORY)
        try:
            db.execute("PRAGMA trusted_schema = OFF")
            db.execute("PRAGMA synchronous = EXTRA")
        except BaseException:
            db.close()
            raise
        return db

    def _check_or_make(self, write: bool) -> None:
        db = self.db
        there = {sql for (sql,) in db.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")}
        application, form = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
        if not there and not application and write:
            with self.transaction():
                for table in _TABLES:
                    db.execute(table)
                db.execute(f"PRAGMA application_id = {_APPLICATION}")
                db.execute(f"PRAGMA user_version = {_FORMAT}")
            return
        if application != _APPLICATION or (form == _FORMAT and there != set(_TABLES)):
            found = "an empty file" if not there else "a database of something else"
            raise InputError(self.name, found, _ALLOWED)
        if form != _FORMAT:
            found = f"results in format {form}, of another release of raidsim"
            raise InputError(self.name, found, f"expected: format {_FORMAT}, or a new file")
        damage = db.execute("PRAGMA quick_check(1)").fetchone()[0]
        if damage != "ok":
            raise InputError(self.name, *_DAMAGED)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All of it or nothing."""
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.db.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):  # SQLite has rolled back by itself after some errors
                self.db.execute("ROLLBACK")
            raise

    @contextmanager
    def told(self) -> Iterator[None]:
        """What SQLite says, as a person can act on it."""
        try:
            yield
        except (sqlite3.IntegrityError, sqlite3.InterfaceError, sqlite3.ProgrammingError, OverflowError) as error:
            raise Unstorable(f"{type(error).__name__}: {error}") from None
        except (UnicodeDecodeError, IndexError):  # words of a damaged schema, or what its numbers point at
            raise InputError(self.name, *_DAMAGED) from None
        except sqlite3.DatabaseError as error:
            code = getattr(error, "sqlite_errorname", "")
            if not code and "decode" in str(error):
                raise InputError(self.name, *_DAMAGED) from None
            for start, (found, allowed) in _MEANINGS.items():
                if code.startswith(start):
                    raise InputError(self.name, found, allowed) from None
            raise InputError(self.name, f"SQLite says: {error}", _ALLOWED) from None


_KEPT = "what was done before is kept: the same command goes on there"
_DAMAGED = "the file is damaged", "expected: a copy that is whole, or a new file"
_MEANINGS = {
    "SQLITE_FULL": ("no space is left for it", _KEPT),
    "SQLITE_IOERR": ("it cannot be written or read", _KEPT),
    "SQLITE_READONLY": ("it may not be written to", "expected: a file and a folder that may be"),
    "SQLITE_CANTOPEN": ("it cannot be opened", "expected: a file in a folder that is there and may be written to"),
    "SQLITE_BUSY": ("another program holds it", "expected: a file that nothing else has locked"),
    "SQLITE_NOTADB": ("this is no database", _ALLOWED),
    "SQLITE_CORRUPT": _DAMAGED,
}


def _check_place(name: str, write: bool) -> None:
    """Refuse what is no file, and a folder that is not there."""
    path = Path(name)
    try:
        about = path.stat()
    except FileNotFoundError:
        if not write:
            raise InputError(name, "there is no such file", "expected: a file that raidsim sweep made") from None
        if not path.parent.is_dir():
            raise InputError(
                name, f"there is no folder {path.parent}", "expected: a file in a folder that is there"
            ) from None
        return
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise InputError(name[:200], f"cannot be opened ({reason})", _ALLOWED) from None
    if not stat.S_ISREG(about.st_mode):
        found = "this is a folder" if stat.S_ISDIR(about.st_mode) else "this is no regular file"
        raise InputError(name, found, _ALLOWED)


class _Lock:
    """Keeps a second process from writing to the same file, by whatever name it knows it.

    It is the operating system's lock on the file itself (flock), which ends with the process, however it ends. SQLite's
    own locks are of another kind, so that readers of the results are not held up.
    """

    def __init__(self, name: str) -> None:
        try:
            self._file = open(name, "ab")  # noqa: SIM115 - open as long as it is locked
        except OSError as error:
            found = f"it cannot be written ({error.strerror})"
            raise InputError(name, found, "expected: a file that may be written") from None
        try:
            _lock(self._file)
        except OSError as error:
            self._file.close()
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                found = f"it cannot be locked ({error.strerror})"
                raise InputError(name, found, "expected: a file system with locks") from None
            found = "another raidsim sweep is writing to it"
            raise InputError(name, found, "wait for it, or give another --store") from None

    def release(self) -> None:
        """Let others write. After the database's connection: closing the file ends SQLite's locks on it too."""
        self._file.close()


def _lock(file: BinaryIO) -> None:
    """Lock an open file; an `OSError` if another process has."""
    if sys.platform == "win32":
        import msvcrt

        file.seek(_FAR_AWAY)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
