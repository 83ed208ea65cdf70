"""How likely data are lost over the service life and in a year, and how often in the long run.

Unless the scenario's `service` says otherwise, failures of drives are independent, with the rate of the maker's data
sheet. Both flatter: drives in the field are replaced several times as often as data sheets say, more often with age,
and failures come together (Schroeder and Gibson, "Disk failures in the real world", FAST 2007). The probabilities
compare designs; they promise nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, count

from ...model.core.exact_sums import sum_in_order
from ...model.drives.catalogue import AnyDrive, drive_sources
from ...model.layouts import MirroredLayout, Raid10Layout
from ..description.scenario import ScenarioSpec
from ..description.tuning import ServiceSpec
from .loss_chain import Chain
from .redundancy import Part, separate_parts, top_parts

YEAR_S = 365.25 * 24 * 3600.0
FIELD_AFR = 0.0157
"""Share of 300,000 hard disks that failed in 2024 (Backblaze, Drive Stats for 2024)."""
_MOST_SETS = 100_000
"""Sets of lost members that are tried one by one."""


@dataclass(frozen=True, slots=True)
class LossRisk:
    """Probability that data are lost.

    Attributes
    ----------
    per_year
        Of any loss within the first year.
    from_failures
        Of losing a whole array because too many drives have failed.
    from_read_errors
        Of losing a sector (or, where the driver gives up, the array) because it cannot be read during a rebuild that
        has no redundancy left; None if the error rate of a drive is not known. `per_year` is without it then.
    rebuild_s
        Time for the rebuild of one member that this is for (s); None if nothing can be rebuilt.
    replacement_s
        Time until a failed drive is replaced where no spare stands by (s).
    afr
        Share of the drives that fail in a year; their mean.
    life_s
        The service life (s) that the next three are for.
    over_life, life_from_failures, life_from_read_errors
        The same three probabilities over the service life.
    losses_per_year
        Losses a year in the long run, if a lost array is replaced by a new one each time.
    """

    per_year: float
    from_failures: float
    from_read_errors: float | None
    rebuild_s: float | None
    replacement_s: float
    afr: float
    life_s: float
    over_life: float
    life_from_failures: float
    life_from_read_errors: float | None
    losses_per_year: float


def failure_rate(drive: AnyDrive, service: ServiceSpec | None = None) -> float | None:
    """Failures of a drive per second, from its AFR or else its MTBF; None if it has neither.

    The `service` may have another AFR: one for all drives, or that of hard disks in the field.
    """
    afr = "data-sheet" if service is None else service.afr
    if afr == "field" and drive.rotational:
        afr = FIELD_AFR
    if isinstance(afr, float):
        return -math.log1p(-afr) / YEAR_S
    if drive.afr is not None:
        return -math.log1p(-drive.afr) / YEAR_S
    if drive.mtbf:
        return 1.0 / drive.mtbf
    return None


def unknown_rates(spec: ScenarioSpec) -> list[str]:
    """Models of the drives that hold data and whose failure rate is not known."""
    drives = spec.machine.drives
    models = {drives[name].model for part in top_parts(spec) for name in part.leaves if _rate(spec, name) is None}
    return sorted(models)


def assumed_rates(spec: ScenarioSpec) -> dict[str, list[str]]:
    """Models of the drives that hold data whose rates the catalogue assumes, by the name of the rate.

    A rate that the scenario gives, for a drive or for all of them, is not assumed.
    """
    drives, afr = spec.machine.drives, spec.service.afr
    found: dict[str, set[str]] = {"failure rate": set(), "rate of read errors": set()}
    for name in {name for part in top_parts(spec) for name in part.leaves}:
        instance = drives[name]
        drive, sources = instance.spec(), drive_sources(instance.model)
        fields = {"rate of read errors": "bits_per_unrecoverable_error"}
        if afr == "data-sheet" or (afr == "field" and not drive.rotational):
            fields["failure rate"] = "afr" if drive.afr is not None and drive.afr < 1.0 else "mtbf"
        for rate, field in fields.items():
            source = sources.get(field)
            if field not in instance.overrides and source is not None and source.assumed:
                found[rate].add(instance.model)
    return {rate: sorted(models) for rate, models in found.items() if models}


def data_loss(spec: ScenarioSpec, rebuild_s: float | None) -> LossRisk | None:
    """How likely the scenario's arrays lose data.

    None if a drive's failure rate is not known.

    Parameters
    ----------
    spec
        The scenario. Members that have failed in it are missing at the beginning, but for the long run.
    rebuild_s
        Time to rebuild a member (s), as :func:`raidsim.scenarios.comparison.rebuild_time.rebuild_time` has it; None
        where nothing can be rebuilt.
    """
    if unknown_rates(spec):
        return None
    tops, service = separate_parts(spec), spec.service
    risk = _Risk(spec, math.inf if rebuild_s is None else rebuild_s)
    year, life = risk.total(tops, YEAR_S), risk.total(tops, service.life)
    afr = [-math.expm1(-_known(_rate(spec, name)) * YEAR_S) for part in tops for name in part.leaves]
    return LossRisk(
        per_year=year[0] + (year[1] or 0.0),
        from_failures=year[0],
        from_read_errors=year[1],
        rebuild_s=rebuild_s,
        replacement_s=service.replacement,
        afr=sum_in_order(afr) / len(afr),
        life_s=service.life,
        over_life=life[0] + (life[1] or 0.0),
        life_from_failures=life[0],
        life_from_read_errors=life[1],
        losses_per_year=sum_in_order(risk.rate(part, with_sectors=True) for part in tops) * YEAR_S,
    )


class _Risk:
    """The losses of a scenario's parts."""

    def __init__(self, spec: ScenarioSpec, rebuild_s: float) -> None:
        self.spec = spec
        self.rebuild_s = rebuild_s

    def total(self, parts: Sequence[Part], seconds: float) -> tuple[float, float | None]:
        """Probability that one of the parts is lost within `seconds`, and that a sector is lost first."""
        found = [self.over(part, seconds) for part in parts]
        arrays = _any_of([lost for lost, _ in found])
        sectors = _all_known([lost for _, lost in found])
        return arrays, None if sectors is None else _any_of(sectors) * (1.0 - arrays)

    def over(self, part: Part, seconds: float) -> tuple[float, float | None]:
        """Probability that all of a part is lost, and that a sector of it is lost first (None: not known)."""
        if not part.parts:
            return (1.0, 0.0) if part.lost else (-math.expm1(-_known(_rate(self.spec, part.name)) * seconds), 0.0)
        found = [self.over(each, seconds) for each in part.parts]
        if not part.is_redundant:
            lost = _any_of([lost for lost, _ in found])
            sectors = _all_known([sector for _, sector in found])
            return lost, None if sectors is None else _any_of(sectors)
        # A member that is an array loses all of itself at the rate at which a drive with this risk would fail.
        alive = [lost for each, (lost, _) in zip(part.parts, found, strict=True) if not each.dead]
        missing = len(part.parts) - len(alive)
        if len(alive) < len(part.parts) - self._most(part):
            return 1.0, 0.0
        rate = sum_in_order(-math.log1p(-min(lost, 1 - 1e-15)) for lost in alive) / len(alive) / seconds
        chain, errors_known = self._chain(part, rate)
        array, sector = chain.losses(seconds, missing)
        return array, sector if errors_known else None

    def rate(self, part: Part, with_sectors: bool) -> float:
        """Losses of a part a second in the long run; where error rates are not known those of sectors are left out."""
        if not part.parts:
            return _known(_rate(self.spec, part.name))
        if not part.is_redundant:
            return sum_in_order(self.rate(each, with_sectors) for each in part.parts)
        inside = sum_in_order(self.rate(each, False) for each in part.parts) / len(part.parts)
        array, sector = self._chain(part, inside)[0].losses_per_second()
        return array + sector if with_sectors else array

    def _chain(self, part: Part, member_rate: float) -> tuple[Chain, bool]:
        """The chain of a group whose members fail at this rate, and whether their error rates are known."""
        tolerated, critical = _survival(part)
        errors = self._errors(part, critical)
        service = self.spec.service
        chain = Chain(
            members=len(part.parts),
            failure_rate=member_rate,
            tolerated=tolerated,
            rebuild_s=self.rebuild_s,
            replacement_s=service.replacement,
            spares=part.spares,
            unreadable=errors or (),
            stress=service.stress,
        )
        return chain, errors is not None

    @staticmethod
    def _most(part: Part) -> int:
        return len(_survival(part)[0])

    def _errors(self, part: Part, critical: Sequence[float]) -> list[float] | None:
        """Probability that a rebuild with this number of parts missing meets an error that nothing else can correct."""
        size = len(part.parts)
        copies = isinstance(part.layout, (MirroredLayout, Raid10Layout)) or (
            part.layout is None and size - part.keeps == 1
        )
        per_byte = [self._errors_per_byte(each) for each in part.parts if not each.dead]
        known = [each for each in per_byte if each is not None]
        if len(known) < len(per_byte):
            return None
        mean = sum_in_order(known) / len(known)
        used = part.used_bytes
        # A mirror's copy is read once; parity needs all that are left.
        read = [used if copies else (size - missing) * used for missing in range(len(critical))]
        return [0.0 - share * math.expm1(-each * mean) for each, share in zip(read, critical, strict=True)]

    def _errors_per_byte(self, part: Part) -> float | None:
        """Sectors that cannot be read, per byte read; none where the part corrects them itself."""
        if not part.parts:
            drive, service = self.spec.machine.drives[part.name].spec(), self.spec.service
            bits = drive.bits_per_unrecoverable_error
            if bits is None:
                return None
            found = -8.0 * math.log1p(-1.0 / max(bits, 2.0))
            if drive.rotational:
                # A check finds what has become unreadable since the last one; without checks it stays for life.
                exposed_s = (service.life if service.scrub == "none" else service.scrub) / 2.0
                found += -math.log1p(-service.latent_errors) * exposed_s / YEAR_S / drive.capacity
            return found
        if part.is_redundant and not any(each.dead for each in part.parts):
            return 0.0
        inside = _all_known([self._errors_per_byte(each) for each in part.parts if not each.dead])
        return None if inside is None else sum_in_order(inside) / max(1, len(inside))


def _survival(part: Part) -> tuple[list[float], list[float]]:
    """How likely one more loss is survived, and how likely it need not be, by the number of parts missing.

    All sets of missing parts that are survived count alike. RAID 10 with overlapping copies is followed a few losses
    beyond what it survives for sure; further losses count as fatal, and hardly ever come to that.
    """
    keeps, size = part.keeps, len(part.parts)
    if not part.groups:
        return [1.0] * keeps, [0.0] * keeps + [1.0]
    assert part.layout is not None
    tolerates = part.layout.tolerates
    tolerated: list[float] = []
    critical = [0.0]
    survived = [frozenset[int]()]
    for missing in count():
        if missing > keeps + 1 or math.comb(size, missing + 1) > _MOST_SETS:
            return tolerated, critical[: len(tolerated) + 1]
        more = [frozenset(lost) for lost in combinations(range(size), missing + 1) if tolerates(frozenset(lost))]
        if not more:
            return tolerated, critical[: len(tolerated) + 1]
        # Each survived set of one more is reached from each of its members' absence.
        tolerated.append(len(more) * (missing + 1) / (len(survived) * (size - missing)))
        exposed = sum(any(not tolerates(lost | {other}) for other in range(size)) for lost in more)
        critical.append(exposed / len(more))
        survived = more
    raise AssertionError("count() does not end")


def _any_of(probabilities: Sequence[float]) -> float:
    """Probability of at least one of independent events."""
    return 0.0 - math.expm1(sum_in_order(math.log1p(-min(each, 1 - 1e-16)) for each in probabilities))


def _all_known(values: Sequence[float | None]) -> list[float] | None:
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else None


def _rate(spec: ScenarioSpec, drive: str) -> float | None:
    return failure_rate(spec.machine.drives[drive].spec(), spec.service)


def _known(rate: float | None) -> float:
    assert rate is not None  # data_loss has checked
    return rate
