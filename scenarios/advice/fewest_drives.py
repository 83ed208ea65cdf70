"""The fewest drives of every family that meet a requirement: more drives are never slower."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ..designs.designs import Design, families, impossible
from ..designs.families import Family
from .bounds.bounds import TOO_MANY, Refusal
from .bounds.drive_times import drive_time
from .runs import Search, Task
from .trials import Trials
from .verdict import Verdict


def first_that(count: int, holds: Callable[[int], bool]) -> int | None:
    """The first number below `count` for which something holds that holds from there on."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low if low < count else None


def at_least(counts: Sequence[int], wanted: float, first: int) -> int:
    """Where the first number from `first` on is that is `wanted` or more; the last place if none is."""
    return next((i for i in range(first, len(counts)) if counts[i] >= wanted), len(counts) - 1)


FULL_IOS = 3000
"""I/Os that a design that is too slow would serve in the time in which it is looked at with as many as it takes."""
_TRIES = 4
_SPREAD = (None, "uniform", "hot")
"""Localities whose places are spread over areas much larger than any chunk."""


@dataclass
class Candidates:
    """Designs of one family, and what bounds say.

    Attributes
    ----------
    family
        Which.
    designs
        Those that can be built, in rising order of their drives.
    possible
        Those of them that no bound refuses.
    refused
        Why there are none.
    """

    family: Family
    designs: list[Design]
    possible: list[Design]
    refused: list[Refusal]


class FewestDrives:
    """Looks for the fewest drives of every family.

    Parameters
    ----------
    trials
        Tries designs.

    Attributes
    ----------
    impossible
        Designs that cannot be built, with the reason.
    alike
        Chunk sizes that make as many commands of every I/O as another one, which represents them.
    candidates
        The families, with what bounds say.
    """

    def __init__(self, trials: Trials) -> None:
        self._trials = trials
        self._requirement = trials.requirement
        self.impossible: list[tuple[Design, str]] = []
        self.alike: dict[int, None] = {}
        self.candidates = self._candidates()

    def _candidates(self) -> list[Candidates]:
        """Families with what bounds say; of chunk sizes that cannot differ only the first."""
        found: list[Candidates] = []
        seen: set[object] = set()
        for family, counts in families(self._requirement):
            designs = [Design(family, count, self._requirement.hot_spares) for count in counts]
            for design in designs:
                reason = impossible(design)
                if reason is not None:
                    self.impossible.append((design, reason))
            designs = [design for design in designs if impossible(design) is None]
            if not designs:
                continue
            footprint = self._footprint(designs[-1])
            if footprint is not None and (family.without_chunk, footprint) in seen:
                self.alike[family.chunk] = None
                continue
            seen.add((family.without_chunk, footprint))
            found.append(self._bounded(family, designs))
        return found

    def _bounded(self, family: Family, designs: list[Design]) -> Candidates:
        """The designs that bounds let pass: more drives break no other bounds than those of money, room and power."""

        def slow(design: Design) -> list[Refusal]:
            return [each for each in self._trials.refused(design) if each.bound not in TOO_MANY]

        def too_many(design: Design) -> list[Refusal]:
            return [each for each in self._trials.refused(design) if each.bound in TOO_MANY]

        first = first_that(len(designs), lambda i: not slow(designs[i]))
        if first is None:
            return Candidates(family, designs, [], self._trials.refused(designs[-1]))
        above = first_that(len(designs), lambda i: bool(too_many(designs[i])))
        possible = designs[first:above]
        return Candidates(family, designs, possible, [] if possible else self._trials.refused(designs[first]))

    def _footprint(self, design: Design) -> object | None:
        """What commands an I/O makes, if that and nothing else depends on the chunk.

        Random I/Os are spread over all members whatever the chunk, and so are those of a hot part of the array. A
        sequential load at the same time is written by rows, whose size depends on the chunk.
        """
        time = drive_time(self._trials.spec(design))
        kind = None if time.load.locality is None else time.load.locality.kind
        if time.load.pattern != "random" or kind not in _SPREAD or time.controller is not None:
            return None
        if any(each.pattern != "random" for each in self._requirement.beside):
            return None
        made = time.made.items()
        return tuple((op, round(each.total, 9), round(each.reads, 9)) for op, each in made)

    def search(self, candidates: Candidates) -> Search[Verdict]:
        """The fewest drives of a family that meet the requirement."""
        possible = candidates.possible
        if not possible:
            design = candidates.designs[-1]
            refused = candidates.refused
            reasons = tuple(refusal.text for refusal in refused)
            return Verdict(design, self._trials.facts(design), "fails", reasons, tuple(refused))
        low, high = 0, len(possible) - 1
        last: Verdict | None = None
        while low < high:
            middle = (low + high) // 2
            if self._trials.fills_bitmap_s(possible[middle]):
                screened = yield from self._trials.settled(possible[middle], self._requirement.load.total_iops)
            else:
                screened = yield from self._trials.screened(possible[middle], self._requirement.load.total_iops)
            if screened.status == "fails":
                low = middle + 1
            else:
                high = middle
        for design in possible[low : low + _TRIES]:
            last = yield from self._trials.settled(design, self._requirement.load.total_iops)
            if last.status != "fails":
                return last
        assert last is not None
        return last

    def with_most(self, verdict: Verdict) -> Search[Verdict]:
        """Add to a design that was simulated and is too slow about how many I/Os per second it serves."""
        if verdict.measured is None or drive_time(self._trials.spec(verdict.design)).writes_back:
            return verdict  # what a cache takes for a while says nothing
        if self._requirement.beside:
            return verdict  # on saturated drives, the other loads would get almost nothing
        full = yield Task(verdict.design, "full", self._requirement.load.total_iops, FULL_IOS)
        return replace(verdict, full_at=full.iops)
