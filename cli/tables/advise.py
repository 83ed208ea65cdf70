"""What `raidsim advise` prints: designs that do, why the others do not, and what would do; and the same as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

from ...calibration.uncertainty.model_interval import evidence_lines
from ...model.files.quantities import format_duration, format_size
from ...model.statistics.batch_means import Estimate
from ...scenarios.advice.advice import Advice
from ...scenarios.advice.verdict import Attainable, Verdict
from ...scenarios.comparison.reliability import unknown_rates
from ...scenarios.designs.designs import Family
from ...scenarios.designs.requirement import RequirementSpec
from ...scenarios.designs.room import room
from ..support.table import Table
from .advice_document import room_at_load

_ALL_CERTAIN = ("failures", "capacity", "budget", "rack units", "power", "links")
"""Bounds that are alike in designs that differ by their drives' speed only."""
_SLOW_S = 2e-3
"""Latencies below this are shown to the microsecond."""


def print_advice(console: Console, advice: Advice) -> None:
    """All of it."""
    wanted = advice.requirement
    console.print(Text(wanted.name, style="bold"))
    for line in _question(wanted):
        console.print(Text(line))
    console.print(Text(_effort(advice)))
    if advice.ranked:
        console.print(_ranking(advice))
        console.print(Text(_best()))
        taken = _rooms(advice)
        if taken is not None:
            console.print(taken)
            if _tells_power(advice):
                console.print(Text(_power_note(advice)))
    else:
        console.print(Text("\nNothing meets it.", style="bold"))
    close = [each for each in advice.verdicts if each.status == "close"]
    if close:
        console.print(Text("\nToo close to call:", style="bold"))
        for verdict in close:
            console.print(Text(f"  {verdict.design.name}: {'; '.join(verdict.reasons)}"))
    beaten = [each for each in advice.verdicts if each.status == "beaten"]
    if beaten:
        console.print(_beaten(beaten, advice.requirement.load.ops))
        console.print(Text("Latencies in ms, of a brief run. all_chunks: true runs these designs to the end too."))
    _print_failures(console, advice)
    if not advice.ranked:
        _print_instead(console, advice)
    for line in _notes(advice):
        console.print(Text(line))
    for line in _not_known(advice):
        console.print(Text(line))
    if advice.ranked:
        for line in evidence_lines(each.design.document(wanted).spec() for each in advice.ranked):
            console.print(Text(line))


def _question(wanted: RequirementSpec) -> list[str]:
    load = wanted.load
    size = load.block_size if isinstance(load.block_size, int) else None
    parts = [
        f"{load.iops:,.0f} IOPS",
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
        limits.append(f"data loss up to {_share(wanted.data_loss)} a year")
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
        f"{_count(advice.considered, 'design')} in {_count(len(advice.verdicts), 'family', 'families')}, "
        f"{refused} of them refused by bounds; {_count(advice.simulations, 'simulation')}"
    )


def _ranking(advice: Advice) -> Table:
    priced = any(each.facts.cost is not None for each in advice.ranked)
    table = Table(title="Meets it", title_justify="left", title_style="bold", collapse_padding=True, pad_edge=False)
    table.add_column("layout", overflow="fold")
    headings = ["drives", *(["cost"] if priced else []), "TB", "fail"]
    headings += [f"{op}\np99" for op in advice.requirement.load.ops]
    headings += ["of\nmax", f"loss in\n{format_duration(advice.requirement.service.life)}"]
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    before = ""
    for rank, verdict in enumerate(advice.ranked):
        facts, measured, family = verdict.facts, verdict.measured, verdict.design.family
        assert measured is not None
        built_of = _built_of(family)
        if built_of != before:
            table.add_row(Text(built_of, style="bold"))
            before = built_of
        words = f"{'*' if rank < advice.best else ' '} {_row_words(verdict)}"
        cells = [str(facts.drives)]
        if priced:
            cells.append("" if facts.cost is None else f"{facts.cost:,.0f}")
        cells += [f"{facts.usable_bytes / 1e12:.3g}", _survived(verdict)]
        cells += [_interval(measured.latencies.get(f"{op}_p99")) for op in advice.requirement.load.ops]
        most = verdict.saturates_at
        used = "?" if not most else f"{100 * advice.requirement.load.iops / most:.0f} %"
        loss = "?" if verdict.risk is None else _share(verdict.risk.over_life)
        table.add_row(Text(words), *cells, used, loss)
    return table


def _beaten(beaten: Sequence[Verdict], ops: Sequence[str]) -> Table:
    """Designs that were not run to the end, as another chunk is clearly faster."""
    table = Table(title="Slower than another chunk", title_justify="left", title_style="bold")
    table.add_column("layout", overflow="fold")
    for op in ops:
        table.add_column(f"{op}\np99", justify="right", no_wrap=True)
    table.add_column("why", overflow="fold")
    for verdict in beaten:
        assert verdict.measured is not None
        latencies = [_interval(verdict.measured.latencies.get(f"{op}_p99")) for op in ops]
        table.add_row(Text(verdict.design.name), *latencies, "; ".join(verdict.reasons))
    return table


def _row_words(verdict: Verdict) -> str:
    """Level, groups, chunk and spares: what tells a row from the others of the same drives."""
    spares = verdict.design.spare_words
    return f"{verdict.design.family.words}, {spares}" if spares else verdict.design.family.words


def _built_of(family: Family) -> str:
    return family.drive.words + ("" if family.controller.is_none else f" on {family.controller.model}")


def _best() -> str:
    return (
        "Latencies in ms, 90 % intervals. loss: probability of losing data over the service life; fail: "
        "failures survived for sure, and with luck; of max: of the load at "
        "which it saturates. * not beaten: no other is as good in everything and better in something."
    )


def _not_known(advice: Advice) -> list[str]:
    """Why the ranking has no probability of losing data, or no share of the saturation load."""
    lines = []
    unsure = [each.design.document(advice.requirement).spec() for each in advice.ranked if each.risk is None]
    models = dict.fromkeys(model for spec in unsure for model in unknown_rates(spec))
    if models:
        lines.append(
            f"loss ?: the failure rate of {_listed(models)} is not known; give mtbf or afr in overrides of the drives."
        )
    if any(each.measured is not None and not each.saturates_at for each in advice.ranked):
        lines.append("of max ?: the run at saturation reached no steady state, or was left out.")
    return lines


def _rooms(advice: Advice) -> Table | None:
    """What the designs take in the rack and of the socket; None if nothing is known of it and nobody asks."""
    wanted = advice.requirement
    rooms = [(each, room_at_load(each, wanted), room(each.design, wanted).watts) for each in advice.ranked]
    racked, powered, asked = wanted.chassis is not None, _tells_power(advice), wanted.energy_price is not None
    if not racked and not powered:
        return None
    table = Table(title="What it takes", title_justify="left", title_style="bold")
    table.add_column("layout", overflow="fold")
    headings = ["drives", *(["U"] if racked else [])]
    headings += ["W at this\nload", "W with all\nbusy", "kWh\na year"] if powered else []
    headings += ["price of\nthat"] if asked else []
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    before = ""
    for verdict, taken, most in rooms:
        built_of = _built_of(verdict.design.family)
        if built_of != before:
            table.add_row(Text(built_of, style="bold"))
            before = built_of
        cells = [str(verdict.design.drives)]
        if racked:
            cells.append(f"{taken.rack_units:g}")
        if powered:
            known = (taken.watts, most, taken.kwh_a_year)
            cells += ["no figure" if value is None else f"{value:,.0f}" for value in known]
        if asked:
            cost = taken.energy_cost_a_year
            cells.append("no figure" if cost is None else f"{cost:,.0f}")
        table.add_row(Text(f"  {_row_words(verdict)}"), *cells)
    return table


def _tells_power(advice: Advice) -> bool:
    """Whether the power of a design is known, or somebody asks for it."""
    wanted = advice.requirement
    return wanted.energy_price is not None or any(room(each.design, wanted).watts is not None for each in advice.ranked)


def _power_note(advice: Advice) -> str:
    """What the powers are of, and which drives have none."""
    wanted = advice.requirement
    line = f"W: power of {'drives' if wanted.chassis is None else 'drives and chassis'}."
    drives = [each.design.family.drive for each in advice.ranked]
    unknown = dict.fromkeys(each.model for each in drives if each.power(1.0) is None)
    if not unknown:
        return line
    return f"{line} No figure: the catalogue has none for {_listed(unknown)}; give watts of one drive in drives."


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


def _print_failures(console: Console, advice: Advice) -> None:
    """Those that cannot do whatever the drives' speed in a sentence, and the others in a table."""
    failed = [each for each in advice.verdicts if each.status == "fails"]
    if not failed:
        return
    console.print(Text("\nWhy the others do not:" if advice.ranked else "\nWhy not:", style="bold"))
    certain: dict[tuple[str, ...], list[Verdict]] = {}
    for verdict in failed:
        reasons = tuple(each.text for each in verdict.refusals if each.bound in _ALL_CERTAIN)
        if reasons:
            certain.setdefault(reasons, []).append(verdict)
    for reasons, members in certain.items():
        console.print(Text(f"{_names(members)}: {'; '.join(reasons)}"))
    slow = [each for each in failed if not any(refusal.bound in _ALL_CERTAIN for refusal in each.refusals)]
    if slow:
        console.print(_slow(slow))
        console.print(
            Text(
                "needs: drive commands per second. IOPS: about what it serves with all drives busy; with ≤ what it "
                "cannot exceed within the limits, by a bound."
            )
        )


def _slow(failed: Sequence[Verdict]) -> Table:
    table = Table()
    table.add_column("layout", overflow="fold")
    for heading in ("needs", "IOPS"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("why", overflow="fold")
    before = ""
    for verdict in failed:
        family = verdict.design.family
        drives = f"{verdict.design.drives} x {_built_of(family)}"
        if drives != before:
            table.add_row(Text(drives, style="bold"))
            before = drives
        needs, most, why = _why(verdict)
        table.add_row(Text(f"  {_row_words(verdict)}"), needs, most, Text(why))
    return table


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
    return "; ".join(f"{_listed(words)} of {_listed(drives)}" for drives, words in same.items())


def _print_instead(console: Console, advice: Advice) -> None:
    if advice.attainable:
        console.print(Text("\nWhat these drives can do:", style="bold"))
        for each in advice.attainable:
            console.print(Text(f"  {_attained(each)}"))
    console.print(Text("\nWhat would do:", style="bold"))
    for verdict in advice.would_do:
        console.print(Text(f"  {_suggested(verdict)}"))
    if not advice.would_do:
        console.print(Text("  none of these drives, up to 120 of them in one array"))


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


def _notes(advice: Advice) -> list[str]:
    lines = []
    if advice.alike:
        sizes = _listed([format_size(size) for size in advice.alike])
        lines.append(f"\nNot simulated: chunks of {sizes}, which make the same commands of this load.")
    unbuilt: dict[str, list[str]] = {}
    for design, reason in advice.impossible:
        unbuilt.setdefault(reason, []).append(design.family.layout_words)
    for reason, names in unbuilt.items():
        lines.append(f"Cannot be built: {_listed(dict.fromkeys(names))}: {reason}.")
    reasons: dict[str, list[str]] = {}
    for each in advice.left_out:
        reasons.setdefault(each.reason, []).append(each.name)
    lines += [f"No design: {_listed(names)}: {reason}." for reason, names in reasons.items()]
    return lines


def _listed(words: Iterable[str]) -> str:
    every = list(words)
    return every[0] if len(every) == 1 else f"{', '.join(every[:-1])} and {every[-1]}"


def _count(number: int, what: str, several: str | None = None) -> str:
    return f"{number:,} {what if number == 1 else several or what + 's'}"


def _share(value: float) -> str:
    return f"{100 * value:.2g} %" if value >= 1e-4 or not value else f"{value:.1e}"
