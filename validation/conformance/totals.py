"""Totals of the conformance checks: from a run of them, or from what `raidsim conformance --json` has printed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...model.core.errors import InputError
from .base import KindResult
from .kinds import KINDS

NOT_CHECKED = "not_checked"
"""Where `raidsim conformance --json` lists what was not compared: files next to the kinds, cases in each kind."""


@dataclass(frozen=True, slots=True)
class KindTotal:
    """One kind of check: how many recorded cases were compared, how many match, and how many were not compared."""

    kind: str
    cases: int
    matched: int
    not_checked: int = 0

    @property
    def reached(self) -> bool:
        """Whether as many match as is aimed for."""
        return KINDS[self.kind].reached(self.cases, self.matched)

    @property
    def aim_pct(self) -> float | None:
        """Share that is aimed for; None where nothing is."""
        aim = KINDS[self.kind].aim
        return None if aim is None else 100.0 * aim

    @property
    def asks(self) -> str:
        """What has to be the same."""
        return KINDS[self.kind].asks


@dataclass(frozen=True, slots=True)
class ConformanceTotals:
    """All kinds that were checked, and where that is from, in words."""

    kinds: tuple[KindTotal, ...]
    origin: str

    @property
    def reached(self) -> bool:
        """Whether every kind reaches its aim."""
        return all(kind.reached for kind in self.kinds)

    def document(self) -> dict[str, Any]:
        """Their part of ``raidsim validate --json``."""
        kinds = {
            each.kind: {
                "cases": each.cases,
                "matched": each.matched,
                "cases_not_checked": each.not_checked,
                "aim_pct": each.aim_pct,
                "reached": each.reached,
            }
            for each in self.kinds
        }
        return {"origin": self.origin, "kinds": kinds}


def totals_of(results: Iterable[KindResult]) -> ConformanceTotals:
    """The totals of checks that have just been run."""
    kinds = tuple(KindTotal(result.kind, result.cases, result.matched, result.cases_not_checked) for result in results)
    return ConformanceTotals(kinds, "checked for this report")


def totals_from_file(path: Path) -> ConformanceTotals:
    """The totals in a file that `raidsim conformance --json` has printed.

    Raises
    ------
    InputError
        If the file cannot be read or holds something else.
    """
    allowed = "expected: what raidsim conformance --json prints"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError("--conformance-json", f"{path}: {error.strerror or error}", allowed) from None
    except ValueError as error:
        raise InputError("--conformance-json", f"{path} is not JSON: {error}", allowed) from None
    if not isinstance(document, dict) or not document.keys() - {NOT_CHECKED}:
        raise InputError("--conformance-json", f"{path} holds no kinds", allowed)
    kinds = {name: value for name, value in document.items() if name != NOT_CHECKED}
    return ConformanceTotals(tuple(_total(path, *item, allowed) for item in kinds.items()), f"from {path.name}")


def _total(path: Path, kind: str, value: Any, allowed: str) -> KindTotal:
    if kind not in KINDS:
        raise InputError("--conformance-json", f"{path}: unknown kind {kind!r}", f"expected: {', '.join(KINDS)}")
    found: dict[str, Any] = {"cases_not_checked": 0, **value} if isinstance(value, dict) else {}
    counts = [found.get(name) for name in ("cases", "matched", "cases_not_checked")]
    cases, matched, left = (count if type(count) is int else -1 for count in counts)
    if min(cases, matched, left) < 0 or matched > cases:
        raise InputError("--conformance-json", f"{path}: {kind} has no counts of cases and matched ones", allowed)
    return KindTotal(kind, cases, matched, left)
