"""What one design does, by simulations that are longer and longer.

A brief run from an empty array shows latencies that can only grow, so a design whose 90 % interval lies beyond a limit
is out. What stays in is simulated until the precision is reached.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isfinite

from ..comparison.array_facts import ArrayFacts
from ..comparison.lost_battery import with_lost_batteries
from ..comparison.reliability import data_loss
from ..description.scenario import ScenarioSpec
from ..designs.designs import Design
from ..designs.requirement import RequirementSpec
from .bounds.bounds import Refusal, design_facts, refusals, room_refusals
from .bounds.drive_times import drive_time
from .judgement import is_known, judged, worse
from .runs import LONGEST_IOS, Measured, Search, Task
from .verdict import Status, Verdict

BRIEF_IOS = (600, 2500, 6000)
"""I/Os of the brief runs, one after the other."""
_LONGER = (1, 2, 4, 8)
"""With other loads or a file system runs have given lengths; what is too close to call is simulated for longer."""
KEPT_S = 5.0
"""Bits that are set again within this time stay set (daemon_sleep in drivers/md/md-bitmap.c)."""
_BITMAP_IOS = 100_000
"""I/Os of the longest warm-up for a bitmap."""
_WELL_WITHIN = 0.5
"""Share of every limit that brief runs stay below if no longer one of them is needed."""


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
            reaches = wanted.load.span is not None and wanted.load.span <= design_facts(spec, wanted).usable_bytes
            self._specs[key] = design.scenario(wanted, wanted.load.document()) if reaches else spec
        return self._specs[key]

    def facts(self, design: Design) -> ArrayFacts:
        """What holds for a design without simulation."""
        return design_facts(self.spec(design), self.requirement)

    def refused(self, design: Design) -> list[Refusal]:
        """Bounds that a design does not keep."""
        if design.key not in self._refusals:
            found = refusals(self.spec(design), self.requirement)
            self._refusals[design.key] = [*room_refusals(design, self.requirement), *found]
        return self._refusals[design.key]

    def fills_bitmap_s(self, design: Design) -> float:
        """Time (s) until the bitmap has the bits that the load keeps set; 0 without bitmap, or if it takes too long.

        Until then writes are slower than they are later, so brief runs show nothing.
        """
        spec, load = self.spec(design), self.requirement.load
        time = drive_time(spec)
        bitmap = time.below.bitmap
        if bitmap is None or self.requirement.beside:
            return 0.0
        seconds = time.bits_s(bitmap, load.total_iops)
        return seconds if seconds <= KEPT_S and seconds * load.total_iops <= _BITMAP_IOS else 0.0

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
        if measured is not None and measured.task.iops == self.requirement.load.total_iops:
            self.watch(verdict)
        return verdict

    def settled(self, design: Design, iops: float) -> Search[Verdict]:
        """Brief runs, and then one to the precision; a design that is well within the limits has fewer brief runs."""
        if self.requirement.beside:
            return (yield from self.precisely(design, iops))  # which ends early too if it is late
        warm_up = self.fills_bitmap_s(design)
        for ios in BRIEF_IOS[:1] if warm_up else BRIEF_IOS:
            verdict = yield from self.screened(design, iops, (ios,))
            if warm_up and not self._is_well_within(verdict):
                return (yield from self.precisely(design, iops, warm_up))
            if verdict.status == "fails":
                return verdict
            if self._is_well_within(verdict):
                break
        return (yield from self.precisely(design, iops))

    def _is_well_within(self, verdict: Verdict) -> bool:
        """Whether all that is limited is far below its limit."""
        assert verdict.measured is not None
        limits = self.requirement.limits
        for name, each in verdict.measured.latencies.items():
            limit = limits.of(*name.split("_"))
            if limit is not None and each.mean > _WELL_WITHIN * limit:
                return False
        return True

    def precisely(self, design: Design, iops: float, warm_up: float = 0.0) -> Search[Verdict]:
        """A run to the precision and until the limits are decided, after a warm-up (s)."""
        verdict: Verdict | None = None
        given = self.requirement.beside or self.requirement.file_system is not None
        for finer in _LONGER if given else _LONGER[:1]:
            measured = yield Task(design, "precise", iops, finer=finer, warm_up=warm_up)
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
        if drive_time(self.spec(design)).settles_after <= LONGEST_IOS and (wanted.headroom or not wanted.beside):
            saturation = yield Task(design, "saturate", wanted.load.total_iops)
            verdict = replace(verdict, saturation=saturation)
        if design.family.level.is_pool and not wanted.beside:
            rule = yield Task(design, "drive", wanted.load.total_iops)
            verdict = replace(verdict, rule_iops=rule.iops or None)
        if wanted.file_system is None and with_lost_batteries(self.spec(design)) is not None:
            lost = yield Task(design, "battery", wanted.load.total_iops)
            verdict = replace(verdict, without_battery=judged(wanted, self.spec(design), lost))
        rebuilt = yield Task(design, "rebuild", wanted.load.total_iops)
        risk = data_loss(self.spec(design), rebuilt.seconds)
        if risk is not None:
            verdict = replace(verdict, risk=risk, rebuild_s=rebuilt.seconds)
        if wanted.headroom is not None:
            if verdict.saturation is not None:
                verdict = _with_headroom(verdict, wanted.load.total_iops, wanted.headroom)
            else:
                more = yield Task(design, "precise", wanted.load.total_iops / wanted.headroom)
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
