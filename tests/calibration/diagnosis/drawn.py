"""How often a cause is found, on drawn machines with causes of drawn strength.

`python -m raidsim.tests.calibration.diagnosis.drawn SEED MACHINES PAIRS SOUND` measures it.

A machine, its jobs and its cause are simulated; what was measured is off by an error that all its figures share and by
one of each. The strength of a cause is another than those that the diagnosis tries, and so is the seed.
"""

from __future__ import annotations

import math
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from unittest.mock import patch

from raidsim.calibration.diagnosis import causes as told
from raidsim.calibration.diagnosis.case import NOTHING, Case, Change, Form
from raidsim.calibration.diagnosis.causes import Cause, candidates
from raidsim.calibration.diagnosis.diagnose import Diagnosis, Search, Trials
from raidsim.calibration.diagnosis.likelihood import AWAIT
from raidsim.calibration.diagnosis.measured import MeasuredJob, Measurements
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.workers.task_pool import TaskPool

VISIBLE = 0.2
"""Root mean square change of the figures, in logarithms, from which a cause can be told at all."""
_DISKS = ("IronWolf-8TB", "WD2500JS", "Exos-X16-16TB")
_FLASH = ("Samsung-PM9A3-3840GB",)
_LEVELS = (("raid0", 2, 6), ("raid1", 2, 3), ("raid5", 3, 8), ("raid6", 5, 9), ("raid10", 4, 8))
_JOBS = (
    ("reads", {"pattern": "random", "block_size": "4KiB", "read_share": 1.0}, (8, 16, 32)),
    ("writes", {"pattern": "random", "block_size": "4KiB", "read_share": 0.0}, (4, 16, 32)),
    ("mixed", {"pattern": "random", "block_size": "16KiB", "read_share": 0.7}, (8, 16)),
    ("single", {"pattern": "random", "block_size": "4KiB", "read_share": 1.0}, (1,)),
    ("stream", {"pattern": "sequential", "block_size": "1MiB", "read_share": 0.0}, (2, 8)),
    ("fetch", {"pattern": "sequential", "block_size": "1MiB", "read_share": 1.0}, (2, 8)),
)
_SHARED, _OWN = 0.1, 0.05
_SHARED_SOUND = 0.2


def drawn_machine(rng: random.Random) -> str:
    """A scenario with one array, pool, or cached array."""
    kind = rng.choices(("disks", "flash", "pool", "cached"), (4, 3, 2, 1))[0]
    model = rng.choice(_FLASH if kind == "flash" else _DISKS)
    level, least, most = rng.choice(_LEVELS)
    count = rng.randint(least, most)
    count -= count % 2 if level == "raid10" else 0
    if kind == "pool":
        kind_of, count = rng.choice((("raidz1", 4), ("raidz2", 6), ("mirror", 2)))
        return (
            f"kernel: linux-6.1\nmachine: {{drives: {{model: IronWolf-8TB, count: {count}}}}}\n"
            f"pools: {{tank: {{vdevs: {kind_of}, datasets: {{vm: {{volume: 1TiB}}}}}}}}\nworkload: {{depth: 1}}\n"
        )
    chunk = rng.choice((64, 256, 512))
    options = "" if level == "raid1" else f", chunk: {chunk}KiB"
    options += "" if level == "raid0" else f", bitmap: {rng.choice(('none', '64MiB'))}"
    if kind == "cached":
        names = ", ".join(f"disk{number}" for number in range(count))
        each = ", ".join(f"disk{number}: {model}" for number in range(count))
        return (
            f"kernel: linux-6.1\nmachine: {{drives: {{{each}, disk{count}: Samsung-PM9A3-3840GB}}}}\n"
            f"arrays: {{md0: {{level: {level}, members: [{names}]{options}}}}}\n"
            f"caches: {{fast: {{on: md0, cache: disk{count}, size: 64GiB}}}}\nworkload: {{depth: 1}}\n"
        )
    return (
        f"kernel: linux-6.1\nmachine: {{drives: {{model: {model}, count: {count}}}}}\n"
        f"arrays: {{md0: {{level: {level}{options}}}}}\nworkload: {{depth: 1}}\n"
    )


def drawn_jobs(rng: random.Random) -> tuple[MeasuredJob, ...]:
    """Three or four jobs, reads and writes, at random and in order, with rates that are not yet known."""
    chosen = sorted(rng.sample(range(len(_JOBS)), rng.choice((3, 4))))
    made = []
    for number in chosen:
        name, load, depths = _JOBS[number]
        whole = {**load, "depth": rng.choice(depths), "jobs": 1, "engine": "libaio"}
        made.append(MeasuredJob(name, None, whole, {"iops": 500.0}))
    return tuple(made)


class Remembered(Trials):
    """Runs that are done once, however often they are asked for."""

    def __init__(self, case: Case, jobs: Sequence[MeasuredJob], pool: TaskPool) -> None:
        super().__init__(case, jobs, pool)
        self._known: dict[str, dict[str, float] | None] = {}

    def figures(self, changes: Sequence[Change]) -> list[dict[str, float] | None]:
        """See :class:`Trials`."""
        fresh = [change for change in changes if repr(change) not in self._known]
        for change, found in zip(fresh, super().figures(fresh), strict=True):
            self._known[repr(change)] = found
        return [self._known[repr(change)] for change in changes]


@contextmanager
def drawn_strengths(rng: random.Random) -> Iterator[None]:
    """Causes of one strength, that lies between or outside those that are tried."""
    with (
        patch.object(told, "_SLOWER_S", (math.exp(rng.uniform(math.log(7e-3), math.log(70e-3))),)),
        patch.object(told, "_SLOWER_FLASH", (math.exp(rng.uniform(math.log(2.5), math.log(12))),)),
        patch.object(told, "_CLOCKS", (rng.uniform(0.25, 0.6),)),
        patch.object(told, "_THROTTLED", (rng.uniform(0.2, 0.6),)),
        patch.object(told, "_CACHES", (rng.randrange(40, 250), 256)),
    ):
        yield


@dataclass
class Score:
    """What was asked, and what was answered."""

    told_first: int = 0
    told_among: int = 0
    whole: int = 0
    both: int = 0
    missed: list[str] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)

    def add(self, causes: frozenset[str], found: Diagnosis) -> None:
        """Count an answer to a machine with these causes."""
        names = [frozenset(cause.name for cause, _ in each.causes) for each in found.ranked]
        first = found.found is not None and bool(names[0] & causes)
        self.whole += 1
        self.told_first += first
        self.told_among += any(each & causes for each in names[:3])
        self.both += found.found is not None and causes <= names[0]
        self.seen.update(causes)
        if not first:
            best = [" and ".join(sorted(each)) for each in names[:3]]
            self.missed.append(f"{' and '.join(sorted(causes))}: {'' if found.found else 'nothing, '}{', '.join(best)}")

    def words(self) -> str:
        """All of it."""
        if not self.whole:
            return "none"
        rates = [self.told_first, self.told_among, self.both]
        shares = ", ".join(f"{value / self.whole:.1%}" for value in rates)
        return f"{self.whole} ({len(self.seen)} causes): first, among three, all of them first: {shares}"


class Drawn:
    """A machine with its jobs, and what it does with causes."""

    def __init__(self, text: str, jobs: Sequence[MeasuredJob], rng: random.Random, pool: TaskPool) -> None:
        self.case = Case(document_from(text, "machine"))
        self._rng = rng
        (first,) = Trials(self.case, jobs, pool).figures([NOTHING])
        assert first is not None
        self.jobs = tuple(replace(job, figures={"iops": first[f"{job.name} iops"]}) for job in jobs)
        with_latency = tuple(
            replace(job, figures={**job.figures, **dict.fromkeys(self._latencies(job), 1.0)}) for job in self.jobs
        )
        self.trials = Remembered(self.case, with_latency, pool)
        (usual,) = self.trials.figures([NOTHING])
        assert usual is not None
        self.usual = usual

    def _latencies(self, job: MeasuredJob) -> list[str]:
        share = job.load["read_share"]
        return [f"{op}_mean_seconds" for op, there in (("read", share > 0), ("write", share < 1)) if there]

    def measured(self, figures: dict[str, float], shared: float, awaits: bool) -> Measurements:
        """Figures with errors; a latency has the errors of the rate, as Little's law wants it."""
        bias, found = self._rng.gauss(0, shared), []
        for job in self.jobs:
            off = math.exp(bias + self._rng.gauss(0, _OWN))
            mine = {"iops": figures.get(f"{job.name} iops", 1.0) * off}
            mine |= {
                name: figures[f"{job.name} {name}"] / off * math.exp(self._rng.gauss(0, _OWN / 2))
                for name in self._latencies(job)
                if f"{job.name} {name}" in figures
            }
            found.append(replace(job, figures=mine))
        times = {name: figures[f"{AWAIT}{name}"] for name in self.case.drives if figures.get(f"{AWAIT}{name}")}
        times = {name: value * math.exp(self._rng.gauss(0, 0.1)) for name, value in times.items()}
        return Measurements(tuple(found), (), times if awaits else {})

    def asked(self, figures: dict[str, float], shared: float = _SHARED) -> Diagnosis:
        """The diagnosis of a machine that does this; one of two visitors has iostat's figures too."""
        measured = self.measured(figures, shared, self._rng.random() < 0.5)
        return Search(self.case, measured, frozenset(), self.trials).answer()

    def injected(self) -> list[tuple[Cause, Form, dict[str, float]]]:
        """Every cause that would show, at one strength, with what the machine then does."""
        with drawn_strengths(self._rng):
            causes = candidates(self.case, Measurements(self.jobs, (), {}))
        forms = [(cause, self._rng.choice(cause.forms)) for cause in causes]
        figures = self.trials.figures([self.other_seed(form.change) for _, form in forms])
        found = [(cause, form, its) for (cause, form), its in zip(forms, figures, strict=True) if its is not None]
        return [(cause, form, its) for cause, form, its in found if self.change(its, self.usual) >= VISIBLE]

    def other_seed(self, change: Change) -> Change:
        """The change, on a machine whose random numbers are others."""
        return change.with_(Change({"seed": self._rng.randrange(1, 1000)}, {}))

    def change(self, figures: dict[str, float], usual: dict[str, float]) -> float:
        """How much figures differ from others."""
        rates = [math.log(figures[name] / usual[name]) for name in usual if name in figures and name.endswith("iops")]
        return math.sqrt(sum(rate**2 for rate in rates) / len(rates)) if rates else 0.0


@dataclass
class Scores:
    """Answers about one cause, about two and about none; a cause that is not there counts as missed."""

    one: Score = field(default_factory=Score)
    two: Score = field(default_factory=Score)
    none: Score = field(default_factory=Score)

    def ask(self, drawn: Drawn, rng: random.Random, pairs: int, sound: int) -> None:
        """Every cause that shows on a machine, some pairs of them, and the machine with none, several times."""
        there = drawn.injected()
        for cause, _, figures in there:
            self.one.add(frozenset({cause.name}), drawn.asked(figures))
        for _ in range(pairs if len(there) > 1 else 0):
            (one, first, alone), (other, second, apart) = rng.sample(there, 2)
            (both,) = drawn.trials.figures([drawn.other_seed(first.change.with_(second.change))])
            if both is None or min(drawn.change(both, alone), drawn.change(both, apart)) < VISIBLE:
                continue  # One of them does not show next to the other.
            self.two.add(frozenset({one.name, other.name}), drawn.asked(both))
        for _ in range(sound):
            found = drawn.asked(drawn.usual, _SHARED_SOUND)
            self.none.whole += 1
            self.none.told_first += found.found is None
            if found.found is not None:
                self.none.missed.append(f"nothing: {[cause.name for cause, _ in found.found.causes]}")

    def words(self) -> str:
        """All of it."""
        parts = (("one", self.one), ("two", self.two), ("none", self.none))
        return "\n".join("\n  ".join((f"{title}: {score.words()}", *score.missed)) for title, score in parts)


def main(seed: int, machines: int, pairs: int, sound: int) -> None:
    """Draw machines, and print after each what is known."""
    rng, scores = random.Random(seed), Scores()
    with TaskPool(1) as pool:
        for number in range(machines):
            text = drawn_machine(rng)
            drawn = Drawn(text, drawn_jobs(rng), rng, pool)
            scores.ask(drawn, rng, pairs, sound)
            print(
                number + 1,
                text.replace("\n", " "),
                [job.name for job in drawn.jobs],
                scores.words(),
                sep="\n",
                flush=True,
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:5]))
