"""Results of sweeps in one file: which sweeps there are, and what became of their runs.

A run is there as a whole or not at all. Tables are ordered by what their rows are about and hold neither times nor
names of computers, so two runs of one sweep give equal tables; how long each run took stands apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ...model.core.errors import InputError
from ...model.statistics import Usage
from ...model.statistics.batch_means import Estimate
from .axes import Cell
from .result_file import ResultFile

Status = Literal["done", "refused", "failed"]
"""A result; a machine that cannot be, and never will; something that went wrong, and may not another time."""

_CHUNK = 2_000
_OF_A_RUN = ("runs", "figures", "estimates", "usages", "timings")


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run.

    Attributes
    ----------
    point, replication
        Which.
    values
        What varied, as a table shows it, by path.
    status, error
        How it ended, and what was wrong.
    key
        Hash of what was simulated; "" where it did not come to that.
    figures, estimates, usages, bottleneck, saturated
        As in :class:`~raidsim.scenarios.running.base.prediction.Prediction`.
    seconds, worker
        How long it took, and where. Kept apart from the others.
    """

    point: int
    replication: int
    values: dict[str, Cell]
    status: Status
    error: str = ""
    key: str = ""
    figures: dict[str, float] = field(default_factory=dict)
    estimates: dict[str, Estimate] = field(default_factory=dict)
    usages: tuple[Usage, ...] = ()
    bottleneck: str = ""
    saturated: bool = False
    seconds: float = 0.0
    worker: str = ""


@dataclass(frozen=True, slots=True)
class SweepRecord:
    """What a store says of one sweep.

    Attributes
    ----------
    number
        In the store, from 1 on.
    name, points, replications, paths
        As the file of the sweep has them.
    model, made_by
        Hash of the model, and its name for people.
    counts
        Runs by status.
    """

    number: int
    name: str
    points: int
    replications: int
    paths: tuple[str, ...]
    model: str
    made_by: str
    counts: dict[str, int]

    @property
    def runs(self) -> int:
        """How many there are when it is done."""
        return self.points * self.replications

    @property
    def left(self) -> int:
        """Runs that have not been begun, or not ended."""
        return self.runs - sum(self.counts.values())


class ResultStore(ResultFile):
    """The sweeps in a file of results."""

    def begin(
        self,
        fingerprint: str,
        model: tuple[str, str],
        name: str,
        shape: tuple[int, int],
        paths: Sequence[str],
        recompute: bool = False,
    ) -> int:
        """The number of a sweep in this store, which is added if it is new.

        Parameters
        ----------
        fingerprint
            Hash of its points.
        model
            Hash of the model, and its name for people.
        name, shape, paths
            What it is called; points and replications; what varies.
        recompute
            Begin anew even if there are results of it by another model.

        Raises
        ------
        InputError
            If there are, and it is not asked for.
        """
        with self.told(), self.transaction():
            known = self.db.execute(
                "SELECT sweep, model, made_by FROM sweeps WHERE fingerprint = ? ORDER BY sweep", (fingerprint,)
            ).fetchall()
            for number, made_with, made_by in known:
                if made_with == model[0]:
                    self.db.execute("UPDATE sweeps SET name = ? WHERE sweep = ?", (name, number))
                    return int(number)
                if not recompute:
                    found = f"results of this sweep by {made_by}; this is {model[1]}"
                    raise InputError(self.name, found, "expected: --recompute to begin anew, or another --store")
            number = self.db.execute("SELECT coalesce(max(sweep), 0) + 1 FROM sweeps").fetchone()[0]
            self.db.execute(
                "INSERT INTO sweeps VALUES (?, ?, ?, ?, ?, ?, ?)", (number, fingerprint, *model, name, *shape)
            )
            self.db.executemany(
                "INSERT INTO paths VALUES (?, ?, ?)", [(number, position, path) for position, path in enumerate(paths)]
            )
            return int(number)

    def settled(self, sweep: int, retry_failed: bool = False) -> bytearray:
        """For every run, point after point, 1 if it needs no more work."""
        points, replications = self._shape(sweep)
        done = bytearray(points * replications)
        with self.told():
            for point, replication, status in self.db.execute(
                "SELECT point, replication, status FROM runs WHERE sweep = ?", (sweep,)
            ):
                if not (retry_failed and status == "failed"):
                    done[point * replications + replication] = 1
        return done

    def _shape(self, sweep: int) -> tuple[int, int]:
        with self.told():
            points, replications = self.db.execute(
                "SELECT points, replications FROM sweeps WHERE sweep = ?", (sweep,)
            ).fetchone()
        return points, replications

    def save(self, sweep: int, rows: Iterable[RunRow]) -> None:
        """Keep some runs, all or none; when this returns, they are on the disk.

        Raises
        ------
        Unstorable
            If one of them is no result.
        """
        with self.told(), self.transaction():
            paths = self._paths(sweep)
            for row in rows:
                self._save(sweep, paths, row)

    def _paths(self, sweep: int) -> list[str]:
        found = self.db.execute("SELECT path FROM paths WHERE sweep = ? ORDER BY position", (sweep,))
        return [path for (path,) in found]

    def _save(self, sweep: int, paths: Sequence[str], row: RunRow) -> None:
        db, run = self.db, (sweep, row.point, row.replication)
        self._forget(run)
        values = [(sweep, row.point, position, row.values[path]) for position, path in enumerate(paths)]
        db.executemany("INSERT OR IGNORE INTO points VALUES (?, ?, ?, ?)", values)
        db.execute(
            "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (*run, row.key, row.status, row.error, row.bottleneck, int(row.saturated)),
        )
        db.executemany("INSERT INTO figures VALUES (?, ?, ?, ?, ?)", [(*run, *each) for each in row.figures.items()])
        db.executemany(
            "INSERT INTO estimates VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(*run, name, *_estimate_cells(each)) for name, each in row.estimates.items()],
        )
        db.executemany(
            "INSERT INTO usages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(*run, position, *_usage_cells(each)) for position, each in enumerate(row.usages)],
        )
        db.execute("INSERT INTO timings VALUES (?, ?, ?, ?, ?)", (*run, row.seconds, row.worker))

    def _forget(self, run: tuple[int, int, int]) -> None:
        for table in _OF_A_RUN:
            text = f"DELETE FROM {table} WHERE sweep = ? AND point = ? AND replication = ?"  # nosec B608 # _OF_A_RUN
            self.db.execute(text, run)

    def has_results_elsewhere(self, sweep: int) -> bool:
        """Whether other sweeps in this store have results of the same model."""
        with self.told():
            found = self.db.execute(
                "SELECT EXISTS (SELECT 1 FROM runs WHERE sweep IN (SELECT sweep FROM sweeps WHERE sweep <> :this"
                " AND model = (SELECT model FROM sweeps WHERE sweep = :this)))",
                {"this": sweep},
            ).fetchone()
        return bool(found[0])

    def result_of(self, sweep: int, key: str) -> tuple[int, int, int] | None:
        """Where another sweep of this store has the result of what has this key."""
        with self.told():
            found = self.db.execute(
                "SELECT sweep, point, replication FROM runs WHERE key = ? AND sweep <> ? AND status = 'done'"
                " ORDER BY sweep, point, replication LIMIT 1",
                (key, sweep),
            ).fetchone()
        return None if found is None else (found[0], found[1], found[2])

    def copy(self, sweep: int, copies: Iterable[tuple[RunRow, tuple[int, int, int]]]) -> None:
        """Take results of other sweeps over, all or none: each for the point, replication and values of a row."""
        with self.told(), self.transaction():
            for row, source in copies:
                run = (sweep, row.point, row.replication)
                self._forget(run)
                paths = self._paths(sweep)
                values = [(sweep, row.point, position, row.values[path]) for position, path in enumerate(paths)]
                self.db.executemany("INSERT OR IGNORE INTO points VALUES (?, ?, ?, ?)", values)
                for table in _OF_A_RUN:
                    columns = [name for _, name, *_ in self.db.execute(f"PRAGMA table_info({table})")][3:]
                    listed = ", ".join(columns)
                    self.db.execute(
                        f"INSERT INTO {table} SELECT ?, ?, ?, {listed} FROM {table}"  # nosec B608 # of this schema
                        " WHERE sweep = ? AND point = ? AND replication = ?",
                        (*run, *source),
                    )

    def sweeps(self) -> list[SweepRecord]:
        """All sweeps, in the order in which they were begun."""
        with self.told():
            found = self.db.execute(
                "SELECT sweep, name, points, replications, model, made_by FROM sweeps ORDER BY sweep"
            ).fetchall()
            return [
                SweepRecord(
                    number, name, points, replications, tuple(self._paths(number)), model, made_by, self._counts(number)
                )
                for number, name, points, replications, model, made_by in found
            ]

    def record(self, sweep: int) -> SweepRecord:
        """What there is of one sweep."""
        return next(record for record in self.sweeps() if record.number == sweep)

    def find(self, fingerprint: str) -> int | None:
        """The number of the latest sweep with this fingerprint; None without one."""
        with self.told():
            found = self.db.execute("SELECT max(sweep) FROM sweeps WHERE fingerprint = ?", (fingerprint,)).fetchone()
        return None if found[0] is None else int(found[0])

    def _counts(self, sweep: int) -> dict[str, int]:
        counts = {"done": 0, "refused": 0, "failed": 0}
        found = self.db.execute("SELECT status, count(*) FROM runs WHERE sweep = ? GROUP BY status", (sweep,))
        return counts | dict(found.fetchall())

    def names(self, sweep: int, table: Literal["figures", "estimates"]) -> list[str]:
        """Names of all figures, or estimates, that runs of a sweep have, in alphabetical order."""
        with self.told():
            text = f"SELECT DISTINCT name FROM {table} WHERE sweep = ? ORDER BY name"  # nosec B608 # one of two words
            found = self.db.execute(text, (sweep,))
            return [name for (name,) in found]

    def kinds(self, sweep: int) -> list[str]:
        """Kinds of parts that runs of a sweep have, in alphabetical order."""
        with self.told():
            found = self.db.execute("SELECT DISTINCT kind FROM usages WHERE sweep = ? ORDER BY kind", (sweep,))
            return [kind for (kind,) in found]

    def rows(self, sweep: int) -> Iterator[RunRow]:
        """All runs of a sweep that have ended, point after point."""
        points, replications = self._shape(sweep)
        step = max(1, _CHUNK // replications)
        for first in range(0, points, step):
            yield from self._chunk(sweep, first, first + step)

    def best_points(self, sweep: int, figure: str, most: int) -> list[int]:
        """The points whose figure is the highest, in the mean of their replications."""
        with self.told():
            found = self.db.execute(
                "SELECT point FROM figures WHERE sweep = ? AND name = ? GROUP BY point"
                " ORDER BY avg(value) DESC, point LIMIT ?",
                (sweep, figure, most),
            )
            return [point for (point,) in found]

    def point(self, sweep: int, point: int) -> list[RunRow]:
        """All runs of a point that have ended."""
        return self._chunk(sweep, point, point + 1)

    def failures(self, sweep: int, most: int) -> list[RunRow]:
        """The first runs that gave no result, without their values."""
        with self.told():
            found = self.db.execute(
                "SELECT point, replication, status, error, key FROM runs WHERE sweep = ? AND status <> 'done'"
                " ORDER BY point, replication LIMIT ?",
                (sweep, most),
            ).fetchall()
            return [
                RunRow(point, replication, self._values(sweep, point), status, error, key)
                for point, replication, status, error, key in found
            ]

    def _values(self, sweep: int, point: int) -> dict[str, Cell]:
        found = self.db.execute(
            "SELECT path, value FROM points JOIN paths USING (sweep, position) WHERE sweep = ? AND point = ?"
            " ORDER BY position",
            (sweep, point),
        )
        return dict(found.fetchall())

    def _chunk(self, sweep: int, first: int, end: int) -> list[RunRow]:
        """Runs of some points; read at once, so that a process that writes meanwhile need not wait for long."""

        def read(columns: str, table: str) -> list[tuple[Any, ...]]:
            # Both are words of this file.
            query = f"SELECT point, {columns} FROM {table} WHERE sweep = ? AND point >= ? AND point < ?"  # nosec B608
            return self.db.execute(query, (sweep, first, end)).fetchall()

        with self.told():
            paths = self._paths(sweep)
            values: dict[int, dict[str, Cell]] = {}
            for point, position, value in read("position, value", "points"):
                values.setdefault(point, {})[paths[position]] = value
            figures: dict[tuple[int, int], dict[str, float]] = {}
            for point, replication, name, value in read("replication, name, value", "figures"):
                figures.setdefault((point, replication), {})[name] = value
            estimates: dict[tuple[int, int], dict[str, Estimate]] = {}
            for point, replication, name, *cells in read(f"replication, name, {', '.join(_ESTIMATE)}", "estimates"):
                estimates.setdefault((point, replication), {})[name] = _estimate(cells)
            usages: dict[tuple[int, int], list[Usage]] = {}
            for point, replication, *cells in read(f"replication, {', '.join(_USAGE)}", "usages"):
                usages.setdefault((point, replication), []).append(Usage(*cells))
            runs = read("replication, key, status, error, bottleneck, saturated", "runs")
        return [
            RunRow(
                point,
                replication,
                values.get(point, {}),
                status,
                error,
                key,
                figures.get((point, replication), {}),
                estimates.get((point, replication), {}),
                tuple(usages.get((point, replication), ())),
                bottleneck,
                bool(saturated),
            )
            for point, replication, key, status, error, bottleneck, saturated in runs
        ]

    def seconds(self, sweep: int) -> float:
        """How long all runs of a sweep together took on their workers."""
        with self.told():
            found = self.db.execute("SELECT total(seconds) FROM timings WHERE sweep = ?", (sweep,)).fetchone()
        return float(found[0])


_ESTIMATE = ("mean", "half_width", "confidence", "batches", "warmup", "lag1", "correlated")
_USAGE = ("name", "kind", "utilization", "mean_queue", "reads", "writes", "bytes")


def _estimate_cells(estimate: Estimate) -> tuple[Any, ...]:
    return tuple(getattr(estimate, name) for name in _ESTIMATE)


def _estimate(cells: Sequence[Any]) -> Estimate:
    """From its row; SQLite keeps what is not a number as NULL."""
    numbers = [float("nan") if cell is None else cell for cell in cells]
    values: dict[str, Any] = dict(zip(_ESTIMATE, numbers, strict=True))
    return Estimate(**values | {"correlated": bool(values["correlated"])})


def _usage_cells(usage: Usage) -> tuple[Any, ...]:
    return tuple(getattr(usage, name) for name in _USAGE)
