"""Results that outlive their process: a command that was interrupted goes on from there when it is given again.

They lie in a file of the user's data folder, by what each follows from, until the command has come to its end. Another
model would have given other results, so what one has kept is nothing to another.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
import zlib
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from ...model.core.errors import InputError
from ...scenarios.running.base.prediction import Prediction
from ...scenarios.sweeps.model_version import model_fingerprint

Outcome = Prediction | InputError


@dataclass(frozen=True, slots=True)
class Failed:
    """A run that ended in a fault of the model, in words."""

    error: str


@dataclass(frozen=True, slots=True)
class Timed:
    """What a run has given, and how long its simulation took.

    Attributes
    ----------
    cpu_s, wall_s
        CPU time, and time that passed (s); the second is 0 for a result of an earlier command.
    """

    outcome: Outcome | Failed
    cpu_s: float
    wall_s: float


_EVERY_S = 10.0
"""How often results are written; a command that takes less writes none."""
_OLD_S = 30 * 86400.0
"""What was not gone on with for so long is taken to be of no more use."""
_WAIT_S = 30.0
_SUFFIX = ".results"
_TABLES = (
    "CREATE TABLE IF NOT EXISTS model (fingerprint TEXT PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS result (key TEXT PRIMARY KEY, outcome BLOB NOT NULL) WITHOUT ROWID",
)


class KeptResults:
    """What the simulations of one command have given.

    Parameters
    ----------
    folder
        Where such files are; made when there is something to keep.
    name
        What is the command's own: the same for the same work.
    tell
        Called once, with why, if nothing can be kept there.

    Attributes
    ----------
    path
        The file.
    found
        How many results an earlier, interrupted command has left.

    Raises
    ------
    InputError
        If there is a file of that name which is none of results, or cannot be read.
    """

    def __init__(self, folder: Path, name: str, tell: Callable[[str], None]) -> None:
        self.path = folder / f"{name}{_SUFFIX}"
        self._tell: Callable[[str], None] | None = tell
        self._unwritten: dict[str, Timed] = {}
        self._written_at = time.monotonic()
        self._there = self.path.exists()
        self.found = self._read_count() if self._there else 0

    def check(self) -> None:
        """Tell at once if nothing can be kept in the folder."""
        there = next(each for each in (self.path.parent, *self.path.parent.parents) if each.exists())
        if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
            self._cannot_keep(f"{there} cannot be written")

    def get(self, key: str) -> Outcome | None:
        """The result that is known by `key`, if there is one."""
        timed = self.timed(key)
        return None if timed is None or isinstance(timed.outcome, Failed) else timed.outcome

    def timed(self, key: str) -> Timed | None:
        """The same, with the CPU time that it took."""
        if key in self._unwritten:
            return self._unwritten[key]
        if not self._there:
            return None
        try:
            with self._connected("ro") as db:
                row = db.execute("SELECT outcome FROM result WHERE key = ?", (key,)).fetchone()
        except sqlite3.OperationalError:  # the same command elsewhere is done, and has taken the file along
            self._there = False
            return None
        return None if row is None else _timed(row[0])

    def add(self, key: str, timed: Timed) -> None:
        """Keep a result; it is in the file some seconds later. A fault of the model is not kept."""
        if isinstance(timed.outcome, Failed):
            return
        self._unwritten[key] = timed
        if time.monotonic() - self._written_at >= _EVERY_S:
            self.write()

    def write(self) -> int:
        """Have all of them in the file; returns how many these are, 0 if they cannot be kept."""
        self._written_at = time.monotonic()
        if self._tell is None:
            return 0
        try:
            return self._written()
        except (OSError, sqlite3.Error) as error:
            self._cannot_keep(str(error))
            return 0

    def _cannot_keep(self, why: str) -> None:
        if self._tell is not None:
            self._tell(f"results cannot be kept in {self.path}, so an interruption would lose them ({why})")
        self._tell = None

    def _written(self) -> int:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._connected("rwc") as db, db:
            for table in _TABLES:
                db.execute(table)
            db.execute("INSERT OR IGNORE INTO model VALUES (?)", (model_fingerprint(),))
            rows = [(key, _bytes(timed)) for key, timed in self._unwritten.items()]
            db.executemany("INSERT OR IGNORE INTO result VALUES (?, ?)", rows)
            count = int(db.execute("SELECT count(*) FROM result").fetchone()[0])
        if not self._there:
            _let_go_of_older(self.path)
        self._there = True
        self._unwritten.clear()
        return count

    def discard(self) -> None:
        """The command is done: nothing has to be kept any more."""
        self._unwritten.clear()
        if self._there and self._tell is not None:
            self.path.unlink(missing_ok=True)

    def _read_count(self) -> int:
        """How many results the file has; those of another model are deleted."""
        try:
            with self._connected("ro") as db:
                if db.execute("SELECT fingerprint FROM model").fetchall() == [(model_fingerprint(),)]:
                    return int(db.execute("SELECT count(*) FROM result").fetchone()[0])
        except sqlite3.Error as error:
            raise InputError(str(self.path), f"no results of raidsim ({error})", "expected: delete it") from None
        self.path.unlink(missing_ok=True)
        self._there = False
        return 0

    def _connected(self, mode: str) -> closing[sqlite3.Connection]:
        address = f"{self.path.absolute().as_uri()}?mode={mode}"
        return closing(sqlite3.connect(address, timeout=_WAIT_S, uri=True))


def _let_go_of_older(kept: Path) -> None:
    """Delete what lies in the same folder and is much older than a file that was just written."""
    limit = kept.stat().st_mtime - _OLD_S
    for path in kept.parent.glob(f"*{_SUFFIX}"):
        with suppress(FileNotFoundError):  # another command was faster
            if path.stat().st_mtime < limit:
                path.unlink()


@cache
def _predictions() -> TypeAdapter[Prediction]:
    return TypeAdapter(Prediction)


def _bytes(timed: Timed) -> bytes:
    """As JSON, in which numbers are what they were to the last bit, and may be infinite."""
    told: dict[str, Any] = {"cpu_s": timed.cpu_s}
    if isinstance(timed.outcome, InputError):
        told["refusal"] = [timed.outcome.place, timed.outcome.found, timed.outcome.expected]
    elif isinstance(timed.outcome, Prediction):
        told["prediction"] = _predictions().dump_python(timed.outcome)
    return zlib.compress(json.dumps(told).encode(), 1)


def _timed(told: bytes) -> Timed:
    content = json.loads(zlib.decompress(told))
    refusal = content.get("refusal")
    outcome = InputError(*refusal) if refusal else _predictions().validate_python(content["prediction"])
    return Timed(outcome, content.get("cpu_s", 0.0), 0.0)
