"""PostMark compared with its recorded log, its report, and all that it prints."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ....model.core.errors import InputError
from ....model.programs.operation import Kind, Operation
from ....model.programs.postmark import (
    CREATE_PHASE,
    DELETE_PHASE,
    TRANSACTION_PHASE,
    PostMark,
    PostMarkSettings,
    log_lines,
)
from ....model.programs.postmark_report import Clock, report, scaled_bytes
from ....model.programs.postmark_script import commands, transcript
from ..base import KindResult, Progress, TruthFile
from ..shapes import Shape
from .files import field_differences, first_difference, lines_of, parsed

_SETTINGS = {
    "number": "number",
    "transactions": "transactions",
    "seed": "seed",
    "subdirectories": "subdirectories",
    "bias_create": "bias_create",
    "bias_read": "bias_read",
}


class _Truth(Shape):
    """A recorded run of PostMark."""

    script: str
    settings: dict[str, Any]
    report: dict[str, Any]
    exact: dict[str, int]
    by_phase: dict[str, dict[str, int]]
    peak_pool_bytes: int
    leftover_files: int
    op_log_sha256: str
    op_log_lines: int
    first_ops: list[str]
    stdout: str
    real_disk_run: dict[str, str] | None = None
    float32_accumulation: dict[str, float | str] | None = None
    seed_host_phase_seconds: dict[str, Any] | None = None


def check(file: TruthFile, _: Sequence[TruthFile], result: KindResult, progress: Progress) -> None:
    """Compare every recorded fact of one run."""
    truth = parsed(_Truth, file)
    name = file.path.name
    settings = next((each.settings for each in commands(truth.script, name) if each.name == "run"), None)
    if settings is None:
        raise InputError(f"{name}, field script", "there is no run in it", "required")
    run = PostMark(settings)
    counted = _Counted()
    log = list(log_lines(counted.watch(run.operations())))

    def record(case: str, difference: str) -> None:
        progress(f"{name} {case}")
        result.record(name, case, difference)

    record("settings", _settings_difference(truth.settings, settings))
    recorded_log = lines_of(file.path.with_name(f"{file.path.stem}.oplog.gz"))
    missing = f"there is no log {file.path.stem}.oplog.gz beside the recording"
    ours = [line.rstrip("\n") for line in log]
    record("log", missing if recorded_log is None else first_difference(recorded_log, ours))
    text = "".join(log)
    digest = hashlib.sha256(text.encode()).hexdigest()
    record(
        "log digest",
        field_differences(
            {"lines": truth.op_log_lines, "sha256": truth.op_log_sha256}, {"lines": len(log), "sha256": digest}
        ),
    )
    record("first operations", first_difference(truth.first_ops, ours[: len(truth.first_ops)]))
    record("output", first_difference(truth.stdout.split("\n"), transcript(truth.script, name)[0].split("\n")))
    record("report", field_differences(truth.report, _reported(run)))
    record("calls and bytes", field_differences(truth.exact, counted.totals()))
    record("phases", field_differences(truth.by_phase, counted.phases))
    record("peak of the pool", field_differences({"bytes": truth.peak_pool_bytes}, {"bytes": counted.peak}))
    left = run.created - run.deleted
    record("files left over", field_differences({"files": truth.leftover_files}, {"files": left}))
    if truth.float32_accumulation is not None:
        numbers = {key: value for key, value in truth.float32_accumulation.items() if not isinstance(value, str)}
        record("sums of float32", field_differences(numbers, _sums(run, counted)))
    if truth.real_disk_run is not None:
        record("report of a real run", _timed_report_difference(truth.real_disk_run.get("stdout", ""), run))
    if truth.seed_host_phase_seconds is not None:
        result.notes.append(f"{name}, seed_host_phase_seconds: times of an array, which operations do not have")


@dataclass(slots=True)
class _Counted:
    """Adds up operations as they pass."""

    phases: dict[str, dict[str, int]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    sizes: Counter[str] = field(default_factory=Counter)
    pool: int = 0
    peak: int = 0
    exact_read: int = 0
    exact_written: int = 0

    def watch(self, operations: Iterator[Operation]) -> Iterator[Operation]:
        """Pass operations on."""
        phase = opened = ""
        for operation in operations:
            kind = operation.kind
            if kind is Kind.MARK:
                phase = operation.file
            elif kind is Kind.OPEN:
                opened = operation.flags
            elif kind in (Kind.READ, Kind.WRITE):
                self._moved(operation, opened, phase)
            elif kind is Kind.UNLINK:
                self.counts["removes"] += 1
                self.pool -= self.sizes.pop(operation.file)
                self._add("delete", operation)
            elif kind in (Kind.MKDIR, Kind.RMDIR):
                self._add(kind.value, operation)
            yield operation

    def _moved(self, operation: Operation, opened: str, phase: str) -> None:
        counts, word = self.counts, operation.kind.value
        counts[f"{word}_calls"] += operation.calls
        counts[f"{word}_calls_zero"] += operation.size % operation.call_bytes == 0
        if operation.kind is Kind.READ:
            counts["read_opens"] += 1
            self.exact_read += operation.size
            self._add("read", operation)
            return
        created = "O_CREAT" in opened
        counts["create_opens" if created else "append_opens"] += 1
        self.exact_written += operation.size
        self.sizes[operation.file] += operation.size
        self.pool += operation.size
        self.peak = max(self.peak, self.pool)
        mixed = {CREATE_PHASE: "create_pool", TRANSACTION_PHASE: "create_txn", DELETE_PHASE: "none"}
        self._add(mixed[phase] if created else "append", operation)

    def _add(self, name: str, operation: Operation) -> None:
        phase = self.phases.setdefault(name, {"ops": 0, "bytes": 0, "calls": 0})
        phase["ops"] += 1
        phase["bytes"] += operation.size
        phase["calls"] += operation.calls if operation.call_bytes else 0

    def totals(self) -> dict[str, int]:
        """The recorded totals."""
        names = ("write_calls", "read_calls", "write_calls_zero", "read_calls_zero", "create_opens", "read_opens")
        counts = {name: self.counts[name] for name in (*names, "append_opens", "removes")}
        return {"bytes_written": self.exact_written, "bytes_read": self.exact_read, **counts}


def _settings_difference(recorded: dict[str, Any], settings: PostMarkSettings) -> str:
    model = {name: getattr(settings, _SETTINGS[name]) for name in recorded if name in _SETTINGS}
    if "size" in recorded:
        model["size"] = [settings.low, settings.high]
    return field_differences(recorded, model)


def _reported(run: PostMark) -> dict[str, Any]:
    """The numbers of the report; None for all if there is none."""
    pool = run.settings.number
    numbers = {
        "created": run.created,
        "created_alone": pool,
        "created_mixed": run.created - pool,
        "read": run.read,
        "appended": run.appended,
        "deleted_printed": run.created,
        "deleted_alone": run.deleted_alone,
        "deleted_mixed": run.deleted - run.deleted_alone,
        "read_text": scaled_bytes(run.bytes_read),
        "written_text": scaled_bytes(run.bytes_written),
    }
    if run.out_of_files:
        numbers = dict.fromkeys(numbers)
    return {**numbers, "out_of_files": run.out_of_files}


def _sums(run: PostMark, counted: _Counted) -> dict[str, float]:
    return {
        "read_float32": float(run.bytes_read),
        "read_exact": counted.exact_read,
        "written_float32": float(run.bytes_written),
        "written_exact": counted.exact_written,
    }


def _timed_report_difference(printed: str, run: PostMark) -> str:
    """Whether some division of the printed times into phases gives exactly the printed report."""
    times = [int(number) for number in re.findall(r"^\t(\d+) seconds", printed, re.MULTILINE)]
    if len(times) != 2:
        return "recorded is no report with two times"
    total, mixed = times
    candidates = [report(run, Clock(0, total - mixed - last, total - last, total)) for last in range(total - mixed + 1)]
    if any(text and text in printed for text in candidates):
        return ""
    middle = candidates[len(candidates) // 2]
    return first_difference(printed[printed.index("Time:\n") :].split("\n"), middle.split("\n"))
