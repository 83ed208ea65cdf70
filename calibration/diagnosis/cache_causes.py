"""Causes that only an SSD cache has: nothing in it yet, passed by, or full of what is still to be written back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...scenarios.description.caches import MODES, STATES
from .case import Case, Change, Form
from .measured import Measurements

BYPASSED = ("passthrough", "none")
"""Modes in which the slow device serves the reads."""


def _with(case: Case, field: str, value: Any) -> Form:
    return Form(Change({f"caches.{case.target}.{field}": value}, {}))


def _cold(case: Case, measured: Measurements) -> Iterator[Form]:
    cache = case.cache
    if cache is not None and cache.started == "warm":
        yield _with(case, "state", "cold")


def _bypassed(case: Case, measured: Measurements) -> Iterator[Form]:
    cache = case.cache
    if cache is not None and cache.written not in BYPASSED:
        for mode in BYPASSED:
            if mode in MODES[cache.kind]:
                yield _with(case, "mode", mode)


def _full(case: Case, measured: Measurements) -> Iterator[Form]:
    cache = case.cache
    if cache is not None and "full" in STATES[cache.kind] and cache.started != "full":
        yield _with(case, "state", "full")


CACHE_FORMS: dict[str, Callable[[Case, Measurements], Iterator[Form]]] = {
    "cold cache": _cold,
    "bypassed cache": _bypassed,
    "full cache": _full,
}
"""By name in the catalogue."""
