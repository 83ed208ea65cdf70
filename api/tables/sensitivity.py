"""What a sensitivity study tells: the parameters that matter in their order, and a sentence in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...calibration.sensitivity.parameters import assumed_sds
from ...calibration.sensitivity.runs import Sensitivity, figure_dimension
from ...calibration.sensitivity.sensitivity import Effect, Share
from ...model.files.quantities import format_duration
from ...scenarios.programs.step import Dimension
from ..answer.numbers import Sure, counted, fixed, listed, with_half
from ..answer.tree import Answer, Cell, Column, Row, Table, Words, lines

_SHOWN = 0.05
"""Effects (percent) below this would be shown as 0.0."""
_SHOWN_SHARE = 0.005
_MOST_NAMED = 3


def document(found: Sensitivity) -> dict[str, Any]:
    """The JSON document: that of the result, with the sentence and the assumptions."""
    return {**found.document(), "assumed_sd": assumed_sds(), "sentence": sentence(found)}


def sensitivity_answer(found: Sensitivity) -> Answer:
    """All of it."""
    amount = _amount(found.nominal, figure_dimension(found.scenario, found.figure))
    head = Words(f"{found.figure}: {amount}; {counted(len(found.parameters), 'parameter')}, {_cost(found)}")
    told = lines([sentence(found), *_notes(found)])
    return Answer(f"{found.scenario.name} ({found.scenario.kernel})", [head, _table(found), *told])


def sentence(found: Sensitivity) -> str:
    """What follows from it, in words."""
    name = f"The {_spaced(found.figure)}"
    matter = found.leading
    rest = [i for i in found.order if i not in matter]
    if not matter:
        return f"{name} follows from none of these parameters: {_listed(found, rest)}."
    told = [f"{_words(found, i)} ({_strength(found, i)})" for i in matter[:_MOST_NAMED]]
    text = f"{name} follows most from {told[0]}"
    if told[1:]:
        text += f", then from {' and '.join(told[1:])}"
    if matter[_MOST_NAMED:]:
        text += f", less from {_listed(found, matter[_MOST_NAMED:])}"
    if rest:
        verb = "parameter does" if len(rest) == 1 else "parameters do"
        these = "this" if len(rest) == 1 else f"these {len(rest)}"
        text += f"; {these} {verb} not matter: {_listed(found, rest)}"
    return f"{text}."


def _words(found: Sensitivity, position: int) -> str:
    return found.parameters[position].words


def _listed(found: Sensitivity, positions: Iterable[int]) -> str:
    return ", ".join(_words(found, i) for i in positions)


def _strength(found: Sensitivity, position: int) -> str:
    """How much it does, as far as that is known."""
    told = []
    if found.screening is not None:
        told.append(f"{found.screening.effects[position].mu_star:.2g} % per standard deviation")
    if found.shares is not None and position in found.shared:
        told.append(f"{100 * found.shares.shares[found.shared.index(position)].total:.0f} % of the variance")
    return ", ".join(told)


def _table(found: Sensitivity) -> Table:
    columns = [Column("parameter"), Column("sd", show=lambda sd: f"{sd:.3g} %", scale=100.0)]
    if found.screening is not None:
        columns += [
            Column("mu*", show=fixed(1)),
            Column("mu", show=lambda mu: f"{mu:+.1f}"),
            Column("sigma", show=fixed(1)),
        ]
    if found.shares is not None:
        columns += [Column(name, show=with_half(fixed(2))) for name in ("S1", "ST")]
    shares = {} if found.shares is None else dict(zip(found.shared, found.shares.shares, strict=True))
    rows: list[Row] = []
    for i in found.order:
        effect, share = None if found.screening is None else found.screening.effects[i], shares.get(i)
        if _visible(effect, share):
            cells: list[Cell] = [] if effect is None else [effect.mu_star, effect.mu, effect.sigma]
            if share is not None:
                cells += [Sure(share.first, share.first_error), Sure(share.total, share.total_error)]
            row = [found.parameters[i].path, found.parameters[i].sd, *cells]
            rows.append([*row, *[None] * (len(columns) - len(row))])
    return Table("", columns, rows)


def _visible(effect: Effect | None, share: Share | None) -> bool:
    if effect is not None:
        return effect.mu_star >= _SHOWN or share is not None
    return share is not None and share.total >= _SHOWN_SHARE


def _notes(found: Sensitivity) -> list[str]:
    """What the numbers are, and what they rest on."""
    lines = []
    if found.screening is not None:
        lines.append(f"mu*, mu, sigma: change of the {_spaced(found.figure)} in % per sd of the parameter.")
        effects = found.screening.effects
        uneven = [i for i in found.matter if effects[i].sigma > effects[i].mu_star]
        if uneven:
            lines.append(
                f"Not in proportion, or only together with others (sigma above mu*): {_listed(found, uneven)}."
            )
    if found.shares is not None:
        lines.append("S1, ST: share of its variance, alone and with the others in the table, with 90 % intervals.")
    kinds = {parameter.kind for parameter in found.parameters}
    assumed = ", ".join(f"{100 * sd:.0f} % ({kind})" for kind, sd in assumed_sds().items() if kind in kinds)
    lines.append(f"sd of ln(factor); assumed where none was given: {assumed}.")
    together = _together(found)
    if together:
        lines.append(f"Moved together, by one factor: {together}.")
    left_out = sum(each.left_out for each in (found.screening, found.shares) if each is not None)
    if left_out:
        samples = counted(left_out, "sample")
        lines.append(f"Left out: {samples} with machines that cannot be ({found.refusals[0]}).")
    return lines


def _together(found: Sensitivity) -> str:
    """Groups that have one factor."""
    groups: dict[tuple[str, ...], str] = {}
    for parameter in found.parameters:
        if len(parameter.names) > 1:
            groups[parameter.names] = parameter.path.split(".")[-3] if parameter.path.count(".") > 1 else "parts"
    return ", ".join(f"{what} {listed(names)}" for names, what in groups.items())


def _cost(found: Sensitivity) -> str:
    parts = []
    if found.screening is not None:
        parts.append(f"{found.screening.trajectories} trajectories")
    if found.shares is not None:
        parts.append(f"{found.shares.samples} samples of {counted(len(found.shared), 'parameter')}")
    return f"{', '.join(parts)}: {counted(found.simulations, 'simulation')}"


def _spaced(figure: str) -> str:
    return figure.replace("_", " ")


def _amount(value: float, dimension: Dimension) -> str:
    if dimension == "bytes/s":
        return f"{value / 1e6:,.4g} MB/s"
    if dimension == "s":
        return format_duration(value)
    return f"{100 * value:.3g} %" if dimension == "share" else f"{value:,.4g}/s"
