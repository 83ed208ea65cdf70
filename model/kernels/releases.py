"""When releases of Linux came out, and which kernels of a list came before and after one."""

from __future__ import annotations

import re
from collections.abc import Iterable

_VERSION = re.compile(r"(\d{1,2})\.(\d{1,3})(?:\.(\d{1,3}))?", re.ASCII)
_EPOCHS = (
    ((2, 2), 1999.07, 0.05),
    ((2, 4), 2001.0, 0.11),
    ((2, 6), 2003.96, 0.19),
    ((3, 0), 2011.55, 0.19),
    ((4, 0), 2015.28, 0.19),
    ((5, 0), 2019.17, 0.175),
    ((6, 0), 2022.75, 0.175),
    ((7, 0), 2026.2, 0.175),
)
"""When a series of Linux began, and the years between two of its releases (kernel.org)."""
_USUAL_2_4 = 17
"""Third number of a 2.4 that is not told: before 2.4.10 memory was another, and few stayed with it."""


def series(release: str) -> tuple[str, str]:
    """What a release belongs to: 2.4 and 2.6 are far apart, 6.1 and 6.12 are not. `ValueError` without a version."""
    match = _VERSION.search(release)
    if match is None:
        raise ValueError(f"{release!r} has no version")
    return match[1], match[2] if match[1] == "2" else ""


def released(release: str) -> float | None:
    """About when a release came out (years); None if it has no version."""
    match = _VERSION.search(release)
    if match is None:
        return None
    major, minor = int(match[1]), int(match[2])
    patch = int(match[3] or (_USUAL_2_4 if (major, minor) == (2, 4) else 0))
    if major == 2:
        for (first, second), began, step in _EPOCHS[:3]:
            if (first, second) == (major, minor):
                return began + step * patch
        return _EPOCHS[0][1] if minor < 4 else _EPOCHS[2][1]
    for (first, _), began, step in _EPOCHS[3:]:
        if first == major:
            return began + step * minor
    return _EPOCHS[-1][1] if major > 2 else _EPOCHS[0][1]


def nearest(release: str, names: Iterable[str]) -> list[str]:
    """The last kernel of `names` before a release and the first one after it; none if it has no version."""
    when = released(release)
    if when is None:
        return []
    dated = sorted(((released(name) or 0.0), name) for name in names)
    before = [name for date, name in dated if date <= when]
    after = [name for date, name in dated if date > when]
    return before[-1:] + after[:1]


def later(release: str, names: Iterable[str]) -> list[str]:
    """Kernels of `names` after a release, the next one first; none if it has no version."""
    when = released(release)
    dated = sorted(((released(name) or 0.0), name) for name in names)
    return [] if when is None else [name for date, name in dated if date > when]
