"""The few-shot benchmark: draws of a few configurations of a box, and errors of all others."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml

from ...calibration.learning.loads import Measured
from ...calibration.learning.reading import measurements
from ...compiled.loader import ROOT
from ...model.files.atomic_file import write_whole
from .methods import METHODS
from .of_studies import study_boxes

BOXES = Path(__file__).parent / "boxes"
KEPT = Path(__file__).parent / "kept.json"
KNOWN = (5, 10, 20, 50)
SEEDS = (0, 1, 2, 3, 4)
_MODULES = ("box", "errors_of_model", "loads", "model", "network", "posterior")
"""That predict a box of which nothing is known."""
_LEAST_LEFT = 4
"""Configurations of a box that are left to predict."""


class Draw(NamedTuple):
    """Which configurations a method has learnt from.

    Attributes
    ----------
    box, method
        Names.
    known
        Number of configurations learnt from.
    seed
        Of the draw.
    """

    box: str
    method: str
    known: int
    seed: int


class Outcome(NamedTuple):
    """What came of a draw.

    Attributes
    ----------
    draw
        Which.
    model
        Digest of the code and the data.
    reads, writes, rates
        Errors of the rates of configurations that were not drawn, and have such I/Os, and of all of them: |predicted /
        measured - 1|.
    inside
        Share of these configurations in their 90 % range; None if there are no ranges.
    seconds
        CPU time.
    """

    draw: Draw
    model: str
    reads: tuple[float, ...]
    writes: tuple[float, ...]
    rates: tuple[float, ...]
    inside: float | None
    seconds: float


class Line(NamedTuple):
    """All draws of a number of configurations by one method, of one box or all boxes of a study; errors in percent."""

    box: str
    method: str
    known: int
    reads: tuple[float, float]
    writes: tuple[float, float]
    rates: tuple[float, float]
    inside: float | None
    seconds: float


def boxes() -> dict[str, dict[str, str]]:
    """What is said of each box, by name."""
    return dict(yaml.safe_load((BOXES / "boxes.yaml").read_text(encoding="utf-8")))


@cache
def load_boxes() -> dict[str, tuple[Measured, ...]]:
    """All that was measured of each box; of those of a study, the name begins with it."""
    return {name: tuple(measurements([BOXES / f"{name}.csv"])[0]) for name in boxes()} | study_boxes()


def all_draws() -> list[Draw]:
    """Every draw of the benchmark, quick ones first."""
    return [
        Draw(box, method, known, seed)
        for box, measured in load_boxes().items()
        for known in KNOWN
        if known + _LEAST_LEFT <= len(measured)
        for method in METHODS
        for seed in SEEDS
    ]


@cache
def digest() -> str:
    """Of all that a result depends on, but libraries."""
    files = [ROOT / "calibration" / "learning" / f"{name}.py" for name in _MODULES]
    files.append(Path(__file__).parent / "methods.py")
    parts = [*(path.read_bytes() for path in files), repr(load_boxes()).encode()]
    return hashlib.sha256(b"".join(parts)).hexdigest()[:12]


def tried(draw: Draw, measured: Sequence[Measured]) -> Outcome:
    """Learn from the drawn configurations, and predict the others."""
    order = np.random.default_rng(draw.seed).permutation(len(measured))
    given, others = ([measured[k] for k in part] for part in (order[: draw.known], order[draw.known :]))
    begin = time.process_time()
    found = METHODS[draw.method](given, [each.load for each in others], draw.seed)
    seconds = time.process_time() - begin
    rates = np.array([each.rate for each in others])
    errors = np.abs(found.rates / rates - 1)
    shares = np.array([each.load.read_share for each in others])
    inside = None if found.ranges is None else float(np.mean((found.ranges[0] <= rates) & (rates <= found.ranges[1])))
    # The rate of reads is the share of reads of all, measured as predicted.
    reads, writes = (tuple(errors[part].round(5).tolist()) for part in (shares > 0, shares < 1))
    return Outcome(draw, digest(), reads, writes, tuple(errors.round(5).tolist()), inside, round(seconds, 2))


def outcomes(store: Path, draws: Sequence[Draw], tell: Callable[[str], None]) -> Iterator[Outcome]:
    """Try draws one by one; those that `store` has of the same code are taken from there."""
    known = {each.draw: each for each in _stored(store)}
    write_whole(store, "".join(json.dumps(each) + "\n" for each in known.values()))
    data = load_boxes()
    for number, draw in enumerate(draws, start=1):
        found = known.get(draw)
        if found is None:
            found = tried(draw, data[draw.box])
            with store.open("a", encoding="utf-8") as file:
                file.write(json.dumps(found) + "\n")
            error = 100 * float(np.median(found.rates))
            tell(
                f"{number} of {len(draws)}: {draw.box}, {draw.method}, {draw.known} of draw {draw.seed}: {error:.1f} %"
            )
        yield found


def _stored(store: Path) -> Iterator[Outcome]:
    """What is there of the same code; a line that was not finished is left out."""
    store.parent.mkdir(parents=True, exist_ok=True)
    model = digest()
    for line in store.read_text(encoding="utf-8").splitlines(keepends=True) if store.exists() else ():
        if line.endswith("]\n"):
            draw, made, reads, writes, rates, inside, seconds = json.loads(line)
            if made == model:
                yield Outcome(Draw(*draw), made, tuple(reads), tuple(writes), tuple(rates), inside, seconds)


def summary(found: Sequence[Outcome]) -> list[Line]:
    """Median and 90th percentile over all configurations of all draws, by box or study, number and method."""
    groups: dict[tuple[str, str, int], list[Outcome]] = {}
    for each in found:
        groups.setdefault((each.draw.box.partition("/")[0], each.draw.method, each.draw.known), []).append(each)
    lines = []
    for name, chosen in groups.items():
        reads, writes, rates = (
            _errors([error for each in chosen for error in getattr(each, way)]) for way in ("reads", "writes", "rates")
        )
        inside = [each.inside for each in chosen if each.inside is not None]
        lines.append(
            Line(
                *name,
                *(reads, writes, rates),
                round(100 * float(np.mean(inside))) if inside else None,
                round(float(np.mean([each.seconds for each in chosen])), 1),
            )
        )
    return lines


def _errors(errors: Sequence[float]) -> tuple[float, float]:
    middle, high = (round(100 * float(each), 1) for each in np.quantile(errors, (0.5, 0.9)))
    return middle, high


def keep(lines: Sequence[Line]) -> None:
    """Write what the manual shows."""
    rows = ",\n ".join(json.dumps(line._asdict()) for line in lines)
    write_whole(KEPT, f"[{rows}]\n")


def kept() -> list[Line]:
    """What the manual shows."""
    return [
        Line(**{**line, **{name: tuple(line[name]) for name in ("reads", "writes", "rates")}})
        for line in json.loads(KEPT.read_text(encoding="utf-8"))
    ]
