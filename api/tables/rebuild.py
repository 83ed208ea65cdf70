"""What a run tells of a rebuild or a check: how far it is, what it costs the load, and what other settings do."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.files.quantities import format_duration
from ...scenarios.questions.rebuild_comparison import RebuildComparison
from ...scenarios.running.base.prediction import Prediction, RebuildProgress
from ..answer.numbers import decimal_size, fixed, megabytes, milliseconds, number
from ..answer.tree import Cell, Column, Row, Table

_WORDS = {
    "recover": ("rebuilt", "rebuild"),
    "check": ("checked", "check"),
    "repair": ("repaired", "repair"),
    "reshape": ("reshaped", "reshape"),
    "trim": ("trimmed", "trim"),
}
_OPS = ("read", "write")


def rebuild_line(rebuild: RebuildProgress) -> str:
    """How far a rebuild or a check is, in a sentence."""
    verb, noun = _WORDS[rebuild.action]
    if rebuild.position >= rebuild.total_bytes:
        pace = f" at {megabytes(rebuild.rate)} per member" if rebuild.rate else ""
        return f"{rebuild.array}: {verb} to the end{pace}."
    if not rebuild.rate:
        return f"{rebuild.array}: the {noun} makes no progress under this load, so it does not finish."
    return (
        f"{rebuild.array}: {verb} at {megabytes(rebuild.rate)} per member; all "
        f"{decimal_size(rebuild.total_bytes)} take {format_duration(rebuild.duration_s)}, "
        f"what is left {format_duration(rebuild.left_s)}."
    )


def rebuild_cost(found: RebuildComparison) -> str:
    """What the load gets during the rebuild, degraded without it, and whole."""
    if not found.lost_members:
        during, rest = (megabytes(each.rate) for each in (found.rebuilding, found.degraded))
        lost = f"{_lost(found.loss)} to the {found.what}"
        return f"During the {found.what} the load gets {during}; without it {rest} ({lost})."
    beside, degraded, whole = (megabytes(each.rate) for each in (found.rebuilding, found.degraded, found.whole))
    return (
        f"During the rebuild the load gets {beside}; degraded without it {degraded} ({_lost(found.loss)} to the "
        f"rebuild); whole {whole} ({_lost(found.loss_to_failure)} to the failure)."
    )


def rebuild_waits(found: RebuildComparison) -> Iterator[str]:
    """How long an I/O of the load takes during the rebuild, degraded without it, and whole."""
    during, without = f"during the {found.what}", "degraded without it" if found.lost_members else "without it"
    runs = {during: found.rebuilding, without: found.degraded}
    if found.lost_members:
        runs["whole"] = found.whole
    yield from (f"The load is more than the devices take {when}." for when, run in runs.items() if run.saturated)
    if found.rebuilding.saturated or found.degraded.saturated:
        return
    for op in _OPS:
        if any(not run.latencies.get(op, {}).get("n") for run in (found.rebuilding, found.degraded)):
            continue
        beside, degraded = (run.latencies[op]["mean_s"] for run in (found.rebuilding, found.degraded))
        text = f"A {op} takes {milliseconds(beside)} on average {during}, {milliseconds(degraded)} {without}"
        text += f" ({number(beside / degraded)} times as long)"
        if found.lost_members and found.whole.latencies.get(op, {}).get("n") and not found.whole.saturated:
            text += f", {milliseconds(found.whole.latencies[op]['mean_s'])} whole"
        yield text + "."


def remedies_table(rebuild: RebuildComparison | None) -> Iterator[Table]:
    """The load and the rebuild as they are and with other settings, where these were tried."""
    if rebuild is None or not rebuild.remedies:
        return
    columns = [Column(""), Column("load", "MB/s", number, 1e-6)]
    columns += [Column(f"{op} mean", "ms", fixed(3), 1e3) for op in _OPS]
    columns += [Column(rebuild.what, "MB/s", number, 1e-6), Column("takes")]
    runs = [("as it is", rebuild.rebuilding), *((each.what, each.prediction) for each in rebuild.remedies)]
    yield Table(
        f"During the {rebuild.what} with other settings (each simulated)", columns, [_row(*each) for each in runs]
    )


def _row(what: str, run: Prediction) -> Row:
    """Rate and mean latencies of the load, rate of the slowest rebuild per member, and the time for all of it."""
    known = {} if run.saturated else run.latencies
    means: list[Cell] = [known[op]["mean_s"] if op in known else None for op in _OPS]
    slowest = max((each for each in run.rebuilds if each.moves_data), key=lambda each: each.duration_s)
    takes = format_duration(slowest.duration_s) if slowest.rate else "does not finish" if slowest.left_s else "is over"
    return [what, run.rate, *means, slowest.rate, takes]


def _lost(share: float) -> str:
    lost = round(100 * share)
    return f"{lost} % lost" if lost > 0 else "nothing lost"
