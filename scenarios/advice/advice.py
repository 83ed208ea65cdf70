"""Which designs meet a requirement, why the others do not, and what would.

First bounds (:mod:`raidsim.scenarios.advice.bounds.bounds`) refuse what cannot do. The rest is simulated for
longer and longer (:mod:`.trials`) and compared with the limits (:mod:`.judgement`), with as few drives as do
(:mod:`raidsim.scenarios.advice.fewest_drives`). Of designs that differ by their chunk alone, :mod:`.rivals` leaves out
the longer runs of those that are clearly slower. If nothing does, :mod:`.alternatives` says what would.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..designs.designs import Design, LeftOut, left_out
from ..designs.requirement import RequirementSpec
from .alternatives import Alternatives
from .fewest_drives import Candidates, FewestDrives
from .ranking import pareto
from .rivals import Rivals
from .runs import Simulations
from .standings import Standings
from .trials import Trials
from .verdict import Attainable, Verdict


@dataclass(frozen=True)
class Advice:
    """The answer.

    Attributes
    ----------
    requirement
        The question, at the end of its years of growth.
    verdicts
        All designs, in the order in which the requirement has them; of several numbers of drives the fewest that do.
    ranked
        Those that meet it, the best of them (which no other beats in everything) first.
    best
        How many of `ranked` no other beats in everything.
    alike
        Chunk sizes that were not simulated, because they make as many commands of every I/O.
    impossible
        Designs that cannot be built, with the reason.
    left_out
        Levels of which no design can be built, with the reason.
    would_do
        If nothing meets it: designs of more drives that do.
    attainable
        If nothing meets it: what the drives there are can do.
    simulations
        How many were run.
    considered
        How many designs there are.
    """

    requirement: RequirementSpec
    verdicts: tuple[Verdict, ...]
    ranked: tuple[Verdict, ...]
    best: int
    alike: tuple[int, ...]
    impossible: tuple[tuple[Design, str], ...]
    left_out: tuple[LeftOut, ...] = ()
    would_do: tuple[Verdict, ...] = ()
    attainable: tuple[Attainable, ...] = ()
    simulations: int = 0
    considered: int = 0


def advise(
    requirement: RequirementSpec,
    workers: int | None = None,
    watch: Callable[[int, int], None] | None = None,
    seen: Callable[[Standings], None] | None = None,
) -> Advice:
    """Answer a requirement.

    Parameters
    ----------
    requirement
        The question.
    workers
        Processes; as many as cores unless given. They make no difference to the answer.
    watch
        Called with the number of simulations done, and of those known to be needed.
    seen
        Called with the ranking that bounds alone give, and after every simulation that changes it.
    """
    requirement = requirement.grown()
    trials = Trials(requirement)
    fewest = FewestDrives(trials)
    candidates = fewest.candidates
    standings = Standings(trials, candidates, seen)
    trials.watch = standings.put
    considered = sum(len(each.designs) for each in candidates)
    rivals = Rivals(trials, candidates)

    def searched(some: list[Candidates]) -> dict[int, Verdict]:
        """What is known in the end of some families, by the identity of each."""
        verdicts = simulations.run([fewest.search(each) for each in some])
        good = [verdict for verdict in verdicts if verdict.status != "fails"]
        bad = [verdict for verdict in verdicts if verdict.status == "fails"]
        last = [*(trials.completed(each) for each in good), *(fewest.with_most(each) for each in bad)]
        complete = dict(zip([*good, *bad], simulations.run(last), strict=True))
        for verdict in complete.values():
            standings.put(verdict)
        return {id(each.family): complete[verdict] for each, verdict in zip(some, verdicts, strict=True)}

    with Simulations(requirement, workers, watch) as simulations:
        found = searched(rivals.first)
        for slower in rivals.beaten(simulations, found):
            found[id(slower.design.family)] = slower
            standings.put(slower)
        found |= searched(rivals.waiting(found))
        verdicts = [found[id(each.family)] for each in candidates]
        front, rest = pareto([verdict for verdict in verdicts if verdict.status == "meets"])
        would_do: list[Verdict] = []
        attainable: list[Attainable] = []
        if not front:
            would_do, attainable = Alternatives(trials).search(simulations)
        done = simulations.done
    return Advice(
        requirement=requirement,
        verdicts=tuple(verdicts),
        ranked=(*front, *rest),
        best=len(front),
        alike=tuple(fewest.alike),
        impossible=tuple(fewest.impossible),
        left_out=tuple(left_out(requirement)),
        would_do=tuple(would_do),
        attainable=tuple(attainable),
        simulations=done,
        considered=considered,
    )
