"""The few-shot benchmark: draws of a few configurations of a box, and errors of all others."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml

from ...calibration.learning.loads import Measured
from ...calibration.learning.reading import measurements
from ...compiled.loader import ROOT
from ...model.files.atomic_file import write_whole
from .methods import METHODS

BOXES = Path(__file__).parent / "boxes"
KEPT = Path(__file__).parent / "kept.json"
KNOWN = (5, 10, 20, 50)
SEEDS = (0, 1, 2, 3, 4)


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
    reads, writes
        Errors of the rates of configurations that were not drawn, and have such I/Os: |predicted / measured - 1|.
    inside
        Share of these configurations in their 90 % range; None if there are no ranges.
    seconds
        CPU time.
    """

    draw: Draw
    model: str
    reads: tuple[float, ...]
    writes: tuple[float, ...]
    inside: float | None
    seconds: float


class Line(NamedTuple):
    """All draws of a number of configurations by one method; errors in percent."""

    box: str
    method: str
    known: int
    reads: tuple[float, float]
    writes: tuple[float, float]
    inside: float | None
    seconds: float


def boxes() -> dict[str, dict[str, str]]:
    """What is said of each box, by name."""
    return dict(yaml.safe_load((BOXES / "boxes.yaml").read_text(encoding="utf-8")))


def load_box(name: str) -> list[Measured]:
    """All that was measured of a box."""
    return measurements([BOXES / f"{name}.csv"])[0]


def all_draws() -> list[Draw]:
    """Every draw of the benchmark, quick ones first."""
    return [
        Draw(box, method, known, seed) for box in boxes() for known in KNOWN for method in METHODS for seed in SEEDS
    ]


def digest() -> str:
    """Of all that a result depends on, but libraries."""
    files = [*sorted((ROOT / "calibration" / "learning").glob("*.py")), *sorted(BOXES.glob("*.csv"))]
    files += [Path(__file__).parent / "methods.py"]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]


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
    return Outcome(draw, digest(), reads, writes, inside, round(seconds, 2))


def outcomes(store: Path, draws: Sequence[Draw], tell: Callable[[str], None]) -> Iterator[Outcome]:
    """Try draws one by one; those that `store` has of the same code are taken from there."""
    known = {each.draw: each for each in _stored(store)}
    write_whole(store, "".join(json.dumps(each) + "\n" for each in known.values()))
    data = {name: load_box(name) for name in boxes()}
    for number, draw in enumerate(draws, start=1):
        found = known.get(draw)
        if found is None:
            found = tried(draw, data[draw.box])
            with store.open("a", encoding="utf-8") as file:
                file.write(json.dumps(found) + "\n")
            error = 100 * float(np.median(found.reads))
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
            draw, made, reads, writes, inside, seconds = json.loads(line)
            if made == model:
                yield Outcome(Draw(*draw), made, tuple(reads), tuple(writes), inside, seconds)


def summary(found: Sequence[Outcome]) -> list[Line]:
    """Median and 90th percentile over all configurations of all draws, by number and method."""
    lines = []
    for box, method, known in dict.fromkeys((each.draw.box, each.draw.method, each.draw.known) for each in found):
        chosen = [each for each in found if each.draw[:3] == (box, method, known)]
        reads, writes = (
            _errors([error for each in chosen for error in getattr(each, way)]) for way in ("reads", "writes")
        )
        inside = [each.inside for each in chosen if each.inside is not None]
        lines.append(
            Line(
                *(box, method, known, reads, writes),
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
        Line(**{**line, "reads": tuple(line["reads"]), "writes": tuple(line["writes"])})
        for line in json.loads(KEPT.read_text(encoding="utf-8"))
    ]
