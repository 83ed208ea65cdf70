"""What one design does, by simulations that are longer and longer.

A brief run from an empty array shows latencies that can only grow, so a design whose 90 % interval lies beyond a limit
is out. What stays in is simulated until the precision is reached.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isfinite

from ..comparison.array_facts import array_facts
from ..comparison.reliability import data_loss
from ..description.scenario import ScenarioSpec
from ..designs.designs import Design
from ..designs.requirement import RequirementSpec
from .bounds.bounds import Refusal, refusals, room_refusals
from .bounds.drive_times import drive_time
from .judgement import is_known, judged, worse
from .runs import LONGEST_IOS, Measured, Search, Task
from .verdict import Status, Verdict

BRIEF_IOS = (600, 2500, 6000)
"""I/Os of the brief runs, one after the other."""
_FINER = (1, 2, 4, 8)
"""A design that is too close to call is simulated again at half the precision, and again if an interval is unknown."""


class Trials:
    """Tries designs of one requirement.

    Parameters
    ----------
    requirement
        Whose load and limits.

    Attributes
    ----------
    watch
        Called with every judgment of a simulation of the requirement's own load, first and final ones.
    """

    def __init__(self, requirement: RequirementSpec) -> None:
        self.requirement = requirement
        self.watch: Callable[[Verdict], None] = lambda verdict: None
        self._specs: dict[str, ScenarioSpec] = {}
        self._refusals: dict[str, list[Refusal]] = {}

    def spec(self, design: Design) -> ScenarioSpec:
        """The scenario of a design under the requirement's load; all of the array if the load reaches further."""
        key = design.key
        if key not in self._specs:
            wanted = self.requirement
            spec = design.scenario(wanted, wanted.load.document(span=None))
            reaches = wanted.load.span is not None and wanted.load.span <= array_facts(spec).usable_bytes
            self._specs[key] = design.scenario(wanted) if reaches else spec
        return self._specs[key]

    def refused(self, design: Design) -> list[Refusal]:
        """Bounds that a design does not keep."""
        if design.key not in self._refusals:
            found = refusals(self.spec(design), self.requirement)
            self._refusals[design.key] = [*room_refusals(design, self.requirement), *found]
        return self._refusals[design.key]

    def screened(self, design: Design, iops: float, lengths: Sequence[int] = BRIEF_IOS) -> Search[Verdict]:
        """Brief runs of rising lengths; "fails" is certain, anything else is not."""
        verdict: Verdict | None = None
        for ios in lengths:
            measured = yield Task(design, "brief", iops, ios)
            verdict = self._told(judged(self.requirement, self.spec(design), measured))
            if verdict.status == "fails":
                break
        assert verdict is not None
        return verdict

    def _told(self, verdict: Verdict) -> Verdict:
        measured = verdict.measured
        if measured is not None and measured.task.iops == self.requirement.load.iops:
            self.watch(verdict)
        return verdict

    def settled(self, design: Design, iops: float) -> Search[Verdict]:
        """Brief runs, and then one to the precision."""
        verdict = yield from self.screened(design, iops, BRIEF_IOS[:2] if self.requirement.beside else BRIEF_IOS)
        if verdict.status == "fails":
            return verdict
        return (yield from self.precisely(design, iops))

    def precisely(self, design: Design, iops: float, first: int = 0) -> Search[Verdict]:
        """A run to the precision, and to finer ones if it is too close to call; from the `first` of them on."""
        verdict: Verdict | None = None
        for finer in _FINER[first:]:
            measured = yield Task(design, "precise", iops, finer=finer)
            verdict = self._told(judged(self.requirement, self.spec(design), measured))
            if verdict.status != "close" or not measured.settled:
                break
            if finer > 1 and is_known(self.requirement, measured):
                break
        assert verdict is not None
        return verdict

    def completed(self, verdict: Verdict) -> Search[Verdict]:
        """What else there is to know of a design that would do, and the limits that need it."""
        wanted, design = self.requirement, verdict.design
        if drive_time(self.spec(design)).settles_after <= LONGEST_IOS:
            saturation = yield Task(design, "saturate", wanted.load.iops)
            verdict = replace(verdict, saturation=saturation)
        rebuilt = yield Task(design, "rebuild", wanted.load.iops)
        risk = data_loss(self.spec(design), rebuilt.seconds)
        if risk is not None:
            verdict = replace(verdict, risk=risk, rebuild_s=rebuilt.seconds)
        if wanted.headroom is not None:
            if verdict.saturation is not None:
                verdict = _with_headroom(verdict, wanted.load.iops, wanted.headroom)
            else:
                more = yield Task(design, "precise", wanted.load.iops / wanted.headroom)
                verdict = _with_load(verdict, more)
        if wanted.data_loss is not None:
            if verdict.loss_per_year is None:
                verdict = _lowered(verdict, "fails", "nothing is known of how often its drives fail")
            elif verdict.loss_per_year > wanted.data_loss:
                text = f"loses data with {verdict.loss_per_year:.2g} a year, above {wanted.data_loss:.2g}"
                verdict = _lowered(verdict, "fails", text)
        return verdict


def _with_headroom(verdict: Verdict, iops: float, headroom: float) -> Verdict:
    """A design whose saturation is known, whose load should be `headroom` of it at most."""
    saturation = verdict.saturation
    if saturation is None or saturation.rate is None:
        return verdict
    text = f"{iops:,.0f} IOPS are {100 * iops / saturation.iops:.0f} % of the {saturation.iops:,.0f} it saturates at"
    half = saturation.rate.half_width if isfinite(saturation.rate.half_width) else 0.0
    if iops > headroom * (saturation.iops + half):
        return _lowered(verdict, "fails", text)
    if not saturation.settled:
        return _lowered(verdict, "close", "not settled with as many I/Os as it takes, which headroom needs")
    if iops > headroom * (saturation.iops - half):
        return _lowered(verdict, "close", text)
    return verdict


def _with_load(verdict: Verdict, more: Measured) -> Verdict:
    """A design with memory too large to see it full: whether it takes the load of which the real one is its share."""
    if more.saturated:
        return _lowered(verdict, "fails", f"saturated at {more.task.iops:,.0f} IOPS, which headroom needs")
    if not more.settled:
        return _lowered(verdict, "close", f"not settled at {more.task.iops:,.0f} IOPS, which headroom needs")
    return verdict


def _lowered(verdict: Verdict, status: Status, reason: str) -> Verdict:
    return replace(verdict, status=worse(verdict.status, status), reasons=(*verdict.reasons, reason))
