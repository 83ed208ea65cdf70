"""What advice tells: designs that meet a requirement, why the others do not, and what would."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from ...calibration.uncertainty.model_interval import evidence_lines
from ...model.files.quantities import format_duration, format_size
from ...model.statistics.batch_means import Estimate
from ...scenarios.advice.advice import Advice
from ...scenarios.advice.verdict import Attainable, Verdict
from ...scenarios.comparison.reliability import unknown_rates
from ...scenarios.designs.families import Family
from ...scenarios.designs.requirement import RequirementSpec
from ...scenarios.designs.room import room
from ..answer.numbers import COUNT, PERCENT, counted, listed, probability
from ..answer.power import class_words
from ..answer.tree import Answer, Column, Part, Row, Table, Words, lines
from .advice_document import room_at_load
from .decision import advice_decision

_ALL_CERTAIN = ("failures", "capacity", "budget", "rack units", "power", "links")
"""Bounds that are alike in designs that differ by their drives' speed only."""
_SLOW_S = 2e-3
"""Latencies below this are shown to the microsecond."""


def advice_answer(advice: Advice) -> Answer:
    """Designs that meet the requirement, why the others do not, and what would."""
    wanted, decision = advice.requirement, advice_decision(advice)
    told = [*([decision] if decision else []), *_question(wanted), _effort(advice)]
    parts: list[Part] = [*lines(told)]
    if advice.ranked:
        parts += [Answer("Meets it", [_ranking(advice), Words(_BEST), *lines(_rules(advice)), *_rooms(advice)])]
        parts += _without_battery(advice)
    else:
        parts += [Words("Nothing meets it.", "title", apart=True)]
    close = [each for each in advice.verdicts if each.status == "close"]
    if close:
        told = [f"  {each.design.name}: {'; '.join(each.reasons)}" for each in close]
        parts += [Answer("Too close to call:", lines(told))]
    beaten = [each for each in advice.verdicts if each.status == "beaten"]
    if beaten:
        brief = Words(
            "p99: latency in ms that 99 % of the I/Os do not exceed, in a brief run. all_chunks: true runs these "
            "designs to the end too."
        )
        parts += [Answer("Slower than another chunk", [_beaten(beaten, wanted.load.ops), brief])]
    parts += [*_failures(advice), *([] if advice.ranked else _instead(advice)), *_notes(advice)]
    told = _not_known(advice)
    if advice.ranked:
        told += evidence_lines(each.design.document(wanted).spec() for each in advice.ranked)
    return Answer(wanted.name, [*parts, *lines(told)])


def _question(wanted: RequirementSpec) -> list[str]:
    load = wanted.load
    size = load.block_size if isinstance(load.block_size, int) else None
    parts = [
        f"{load.total_iops:,.0f} IOPS",
        f"{100 * load.read_share:.0f} % reads",
        format_size(size) if size else "several sizes",
        load.pattern,
    ]
    if load.locality is not None:
        parts.append(f"{load.locality.kind} locality")
    if wanted.file_system is not None:
        parts.append(f"on a file in {wanted.file_system.kind}")
    limits = []
    for kind in ("p99", "mean"):
        if getattr(wanted.limits, kind) is not None:
            limits.append(f"{kind} up to {format_duration(getattr(wanted.limits, kind))}")
        for op in ("read", "write"):
            own = getattr(wanted.limits, f"{op}_{kind}")
            if own is not None:
                limits.append(f"{kind} of {op}s up to {format_duration(own)}")
    if wanted.survives:
        limits.append(f"survives {wanted.survives} failure{'s' if wanted.survives > 1 else ''}")
    if wanted.capacity is not None:
        limits.append(f"{wanted.capacity / 1e12:.3g} TB usable")
    if wanted.data_loss is not None:
        limits.append(f"data loss up to {probability(wanted.data_loss)} a year")
    if wanted.budget is not None:
        limits.append(f"{wanted.budget:,.0f} at most")
    if wanted.rack_units is not None:
        limits.append(f"{wanted.rack_units:g} rack units at most")
    if wanted.power is not None:
        limits.append(f"{wanted.power:,.0f} W at most")
    if wanted.headroom is not None:
        limits.append(f"{100 * wanted.headroom:.0f} % of saturation at most")
    if wanted.while_rebuilding:
        limits.append("also during a rebuild")
    if wanted.growth and wanted.years:
        limits.append(f"after {wanted.years:g} years of {100 * wanted.growth:g} % growth")
    beside = [f"at the same time: {', '.join(each.name for each in wanted.beside)}"] if wanted.beside else []
    return [f"load: {', '.join(parts)}", *beside, f"wanted: {', '.join(limits) or 'that it is not saturated'}"]


def _effort(advice: Advice) -> str:
    refused = sum(1 for each in advice.verdicts if each.refusals)
    return (
        f"{counted(advice.considered, 'design')} in {counted(len(advice.verdicts), 'family', 'families')}, "
        f"{refused} of them refused by bounds; {counted(advice.simulations, 'simulation')}"
    )


def _designs(verdicts: Sequence[Verdict], cells: Callable[[Verdict], Row], drives: bool = False) -> list[Row]:
    """Rows of designs, those of the same drives below a heading; with `drives` their number is in it."""
    rows: list[Row] = []
    before = ""
    for verdict in verdicts:
        built_of = _built_of(verdict.design.family)
        heading = f"{verdict.design.drives} x {built_of}" if drives else built_of
        rows += [(heading,)] if heading != before else []
        before = heading
        rows.append(cells(verdict))
    return rows


def _p99s(ops: Sequence[str]) -> list[Column]:
    return [Column(f"{op}\np99", show=str) for op in ops]


def _ranking(advice: Advice) -> Table:
    priced = any(each.facts.cost is not None for each in advice.ranked)
    ops, service = advice.requirement.load.ops, advice.requirement.service
    best = {verdict.design.name for verdict in advice.ranked[: advice.best]}
    columns = [Column("layout"), Column("drives", show=COUNT), *([Column("cost", show=COUNT)] if priced else [])]
    columns += [Column("TB", show=lambda size: f"{size:.3g}", scale=1e-12), Column("fail", show=str), *_p99s(ops)]
    columns += [Column("of\nmax", show=PERCENT, scale=100.0)]
    columns += [Column(f"loss in\n{format_duration(service.life)}", show=probability)]

    def cells(verdict: Verdict) -> Row:
        facts, measured, most = verdict.facts, verdict.measured, verdict.saturates_at
        assert measured is not None
        latencies = [_interval(measured.latencies.get(f"{op}_p99")) for op in ops]
        used = advice.requirement.load.total_iops / most if most else "?"
        loss = "?" if verdict.risk is None else verdict.risk.over_life
        head = f"{'*' if verdict.design.name in best else ' '} {_row_words(verdict)}"
        cost = [facts.cost] if priced else []
        return [head, facts.drives, *cost, facts.usable_bytes, _survived(verdict), *latencies, used, loss]

    return Table("", columns, _designs(advice.ranked, cells))


def _rules(advice: Advice) -> Iterator[str]:
    """Of pools what the rule of thumb says, next to the prediction."""
    for each in advice.ranked:
        if each.rule_iops is not None:
            most = f"{each.saturates_at:,.0f}" if each.saturates_at else "unknown"
            yield f"{each.design.name}: IOPS by the rule of thumb {each.rule_iops:,.0f}, predicted {most}"


def _without_battery(advice: Advice) -> list[Part]:
    """What designs do whose controllers have lost their batteries; empty if none depends on one."""
    ops = advice.requirement.load.ops
    words = {"meets": "keeps the limits", "close": "too close to call"}

    def cells(verdict: Verdict) -> Row:
        lost = verdict.without_battery
        assert lost is not None
        assert lost.measured is not None
        latencies = [_interval(lost.measured.latencies.get(f"{op}_p99")) for op in ops]
        return [f"  {_row_words(verdict)}", *latencies, words.get(lost.status, f"does not: {'; '.join(lost.reasons)}")]

    depend = [each for each in advice.ranked if each.without_battery is not None]
    if not depend:
        return []
    table = Table("", [Column("layout"), *_p99s(ops), Column("then")], _designs(depend, cells))
    return [Answer("With the controller's battery lost: write-through", [table])]


def _beaten(beaten: Sequence[Verdict], ops: Sequence[str]) -> Table:
    """Designs that were not run to the end, as another chunk is clearly faster."""
    rows: list[Row] = []
    for verdict in beaten:
        assert verdict.measured is not None
        latencies = [_interval(verdict.measured.latencies.get(f"{op}_p99")) for op in ops]
        rows.append([verdict.design.name, *latencies, "; ".join(verdict.reasons)])
    return Table("", [Column("layout"), *_p99s(ops), Column("why")], rows)


def _row_words(verdict: Verdict) -> str:
    """Level, groups, chunk and spares: what tells a row from the others of the same drives."""
    spares = verdict.design.spare_words
    return f"{verdict.design.family.words}, {spares}" if spares else verdict.design.family.words


def _built_of(family: Family) -> str:
    return family.drive.words + ("" if family.controller.is_none else f" on {family.controller.model}")


_BEST = (
    "TB: usable capacity. fail: drive failures that it survives in any case, and with luck. p99: latency in "
    "ms that 99 % of the I/Os do not exceed, ± half of its 90 % interval. of max: the load, in percent of "
    "the load at which it saturates. loss: probability of losing data over the service life. *: on the "
    "shortlist, as no other design is as good in everything and better in something."
)


def _not_known(advice: Advice) -> list[str]:
    """Why the ranking has no probability of losing data, or no share of the saturation load."""
    lines = []
    unsure = [each.design.document(advice.requirement).spec() for each in advice.ranked if each.risk is None]
    models = dict.fromkeys(model for spec in unsure for model in unknown_rates(spec))
    if models:
        unknown = listed(list(models))
        lines.append(
            f"loss ?: the failure rate of {unknown} is not known; give mtbf or afr in overrides of the drives."
        )
    if any(each.measured is not None and not each.saturates_at for each in advice.ranked):
        lines.append("of max ?: the run at saturation reached no steady state, or was left out.")
    return lines


def _rooms(advice: Advice) -> list[Part]:
    """What the designs take in the rack and of the socket; empty if nothing is known of it and nobody asks."""
    wanted = advice.requirement
    racked, powered, asked = wanted.chassis is not None, _tells_power(advice), wanted.energy_price is not None
    if not racked and not powered:
        return []
    columns = [Column("layout"), Column("drives", show=COUNT)]
    columns += [Column("U", show=lambda units: f"{units:g}")] if racked else []
    headings = ("W at this\nload", "W with all\nbusy", "kWh\na year") if powered else ()
    columns += [Column(name, show=COUNT) for name in (*headings, *(("price of\nthat",) if asked else ()))]

    def cells(verdict: Verdict) -> Row:
        taken, most = room_at_load(verdict, wanted), room(verdict.design, wanted).watts
        known = [taken.watts, most, taken.kwh_a_year] if powered else []
        known += [taken.energy_cost_a_year] if asked else []
        shown = ["no figure" if value is None else value for value in known]
        return [f"  {_row_words(verdict)}", verdict.design.drives, *([taken.rack_units] if racked else []), *shown]

    table = Table("", columns, _designs(advice.ranked, cells))
    notes = [*(["U: rack units."] if racked else []), *([_power_note(advice)] if powered else [])]
    return [Answer("What it takes", [table, *lines([" ".join(notes)])])]


def _tells_power(advice: Advice) -> bool:
    """Whether the power of a design is known, or somebody asks for it."""
    wanted = advice.requirement
    return wanted.energy_price is not None or any(room(each.design, wanted).watts is not None for each in advice.ranked)


def _power_note(advice: Advice) -> str:
    """What the powers are of, and which drives have none."""
    wanted = advice.requirement
    line = f"W: power of {'drives' if wanted.chassis is None else 'drives and chassis'}."
    drives = [each.design.family.drive for each in advice.ranked]
    classes = {each.model: each.power_class for each in drives}
    if assumed := class_words({model: each.spread for model, each in classes.items() if each is not None}):
        line = f"{line} No figure was found {assumed}."
    unknown = dict.fromkeys(each.model for each in drives if each.power(1.0) is None)
    if not unknown:
        return line
    return f"{line} No figure: the catalogue has none for {listed(list(unknown))}; give watts of one drive in drives."


def _survived(verdict: Verdict) -> str:
    facts = verdict.facts
    if facts.survives_at_most > facts.survives_any:
        return f"{facts.survives_any}-{facts.survives_at_most}"
    return str(facts.survives_any)


def _interval(estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    places = 1 if estimate.mean >= _SLOW_S else 3
    if not math.isfinite(estimate.half_width):
        return f"{1e3 * estimate.mean:.{places}f}"
    return f"{1e3 * estimate.mean:.{places}f} ±{1e3 * estimate.half_width:.{places}f}"


def _failures(advice: Advice) -> list[Part]:
    """Those that cannot do whatever the drives' speed in a sentence, and the others in a table."""
    failed = [each for each in advice.verdicts if each.status == "fails"]
    if not failed:
        return []
    certain: dict[tuple[str, ...], list[Verdict]] = {}
    for verdict in failed:
        reasons = tuple(each.text for each in verdict.refusals if each.bound in _ALL_CERTAIN)
        if reasons:
            certain.setdefault(reasons, []).append(verdict)
    parts: list[Part] = [*lines(f"{_names(members)}: {'; '.join(reasons)}" for reasons, members in certain.items())]
    slow = [each for each in failed if not any(refusal.bound in _ALL_CERTAIN for refusal in each.refusals)]
    if slow:
        columns = [Column("layout"), Column("needs", show=str), Column("IOPS", show=str), Column("why")]
        rows = _designs(slow, lambda verdict: [f"  {_row_words(verdict)}", *_why(verdict)], drives=True)
        needs = (
            "needs: commands that the drives must serve per second. IOPS: about what it serves with all drives "
            "busy, at any latency; ≤: the most that it can serve within the limits. why: what misses a limit. "
            "rising: longer in a longer run. bound: calculated without a simulation."
        )
        parts += [Table("", columns, rows), Words(needs)]
    return [Answer("Why the others do not:" if advice.ranked else "Why not:", parts)]


def _why(verdict: Verdict) -> tuple[str, str, str]:
    """Commands per second, the most I/Os per second, and the reason in short."""
    if verdict.refusals:
        first = verdict.refusals[0]
        most = f"≤ {first.most_iops:,.0f}" if first.most_iops is not None else ""
        needs = f"{first.commands:,.0f}" if first.commands is not None else ""
        return needs, most, f"bound: {first.text}"
    measured = verdict.measured
    needs = f"{verdict.needed:,.0f}"
    if measured is None:
        return needs, "", "; ".join(verdict.reasons)
    most = f"{verdict.full_at:,.0f}" if verdict.full_at is not None else ""
    return needs, most, "; ".join(verdict.reasons)


def _names(members: Sequence[Verdict]) -> str:
    by_drives: dict[str, list[str]] = {}
    for verdict in members:
        family = verdict.design.family
        spares = verdict.design.spare_words
        words = f"{family.layout_words}, {spares}," if spares else family.layout_words
        if not family.controller.is_none:
            words += f" on {family.controller.model}"
        by_drives.setdefault(words, []).append(f"{verdict.design.drives} x {family.drive.words}")
    same: dict[tuple[str, ...], list[str]] = {}
    for words, drives in by_drives.items():
        same.setdefault(tuple(dict.fromkeys(drives)), []).append(words)
    return "; ".join(f"{listed(words)} of {listed(drives)}" for drives, words in same.items())


def _instead(advice: Advice) -> list[Part]:
    """If nothing meets it: what the drives can do, and what would do."""
    attained = [f"  {_attained(each)}" for each in advice.attainable]
    would = [f"  {_suggested(verdict)}" for verdict in advice.would_do]
    would = would or ["  none of these drives, up to 120 of them in one array"]
    can = [Answer("What these drives can do:", lines(attained))] if attained else []
    return [*can, Answer("What would do:", lines(would))]


def _attained(each: Attainable) -> str:
    return f"{each.verdict.design.name}: {each.iops:,.0f} IOPS ({_latencies(each.verdict)})"


def _suggested(verdict: Verdict) -> str:
    facts = verdict.facts
    cost = "" if facts.cost is None else f", cost {facts.cost:,.0f}"
    return f"{verdict.design.name}: {_latencies(verdict)}; {facts.usable_bytes / 1e12:.3g} TB{cost}"


def _latencies(verdict: Verdict) -> str:
    measured = verdict.measured
    if measured is None:
        return ""
    found = [(op, measured.latencies.get(f"{op}_p99")) for op in ("read", "write")]
    return ", ".join(f"{op} p99 {_interval(each)} ms" for op, each in found if each is not None)


def _notes(advice: Advice) -> Iterator[Words]:
    if advice.alike:
        sizes = listed([format_size(size) for size in advice.alike])
        yield Words(f"Not simulated: chunks of {sizes}, which make the same commands of this load.", apart=True)
    unbuilt: dict[str, list[str]] = {}
    for design, reason in advice.impossible:
        unbuilt.setdefault(reason, []).append(design.family.layout_words)
    for reason, names in unbuilt.items():
        yield Words(f"Cannot be built: {listed(list(dict.fromkeys(names)))}: {reason}.")
    reasons: dict[str, list[str]] = {}
    for each in advice.left_out:
        reasons.setdefault(each.reason, []).append(each.name)
    yield from lines(f"No design: {listed(names)}: {reason}." for reason, names in reasons.items())
