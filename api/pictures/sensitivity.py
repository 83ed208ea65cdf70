"""Effects as a picture: mu* against sigma, and bars of effects and of shares of the variance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...calibration.sensitivity.runs import Sensitivity
from ...scenarios.pictures.style import GREY, INK, MARKED, PLAIN, bare, blank, headed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
_MOST_BARS = 12
_PANEL_IN = (6.4, 4.8)


def sensitivity_figure(found: Sensitivity) -> Figure:
    """Effects, and shares of the variance if they were computed."""
    panels = [panel for panel, there in ((_scatter, found.screening), (_effects, found.screening)) if there is not None]
    if found.shares is not None:
        panels.append(_shares)
    width, height = _PANEL_IN
    picture = blank(width * len(panels), height)
    for i, panel in enumerate(panels):
        panel(picture.add_subplot(1, len(panels), i + 1), found)
    headed(picture, f"{found.scenario.name}: {found.figure}")
    return picture


def _scatter(axes: Axes, found: Sensitivity) -> None:
    """Above the line an effect depends more on where one stands than it is large."""
    assert found.screening is not None
    effects = found.screening.effects
    for i, effect in enumerate(effects):
        inside = MARKED if i in found.matter else "white"
        axes.plot(effect.mu_star, effect.sigma, "o", color=MARKED, markerfacecolor=inside, markersize=5)
    for rank, i in enumerate(found.matter, start=1):
        at = (effects[i].mu_star, effects[i].sigma)
        axes.annotate(str(rank), at, textcoords="offset points", xytext=(5, 4), fontsize=9)
    reach = max(max(effect.mu_star, effect.sigma) for effect in effects) or 1.0
    axes.plot([0, reach], [0, reach], color=GREY, linewidth=0.8, zorder=0)
    axes.set(xlabel="mu* (% per sd)", ylabel="sigma (% per sd)", xlim=(0, 1.1 * reach), ylim=(0, 1.1 * reach))


def _effects(axes: Axes, found: Sensitivity) -> None:
    assert found.screening is not None
    chosen = [i for i in found.order if found.screening.effects[i].mu_star][:_MOST_BARS]
    effects = [found.screening.effects[i] for i in chosen]
    axes.barh(
        range(len(chosen)),
        [effect.mu_star for effect in effects],
        xerr=[effect.mu_star_error for effect in effects],
        color=[MARKED if i in found.matter else PLAIN for i in chosen],
        edgecolor=INK,
        linewidth=0.6,
        error_kw={"linewidth": 0.9, "capsize": 2.5, "ecolor": GREY},
    )
    _name_bars(axes, found, chosen)
    axes.set_xlabel("mu* (% per sd), with 90 % interval")


def _shares(axes: Axes, found: Sensitivity) -> None:
    assert found.shares is not None
    shares = dict(zip(found.shared, found.shares.shares, strict=True))
    chosen = [i for i in found.order if i in shares][:_MOST_BARS]
    bars = {
        "alone (S1)": (-0.2, PLAIN, [(shares[i].first, shares[i].first_error) for i in chosen]),
        "with others (ST)": (0.2, MARKED, [(shares[i].total, shares[i].total_error) for i in chosen]),
    }
    for label, (offset, colour, values) in bars.items():
        axes.barh(
            [place + offset for place in range(len(chosen))],
            [value for value, _ in values],
            height=0.4,
            xerr=[error for _, error in values],
            color=colour,
            label=label,
            edgecolor=INK,
            linewidth=0.6,
            error_kw={"linewidth": 0.9, "capsize": 2.5, "ecolor": GREY},
        )
    _name_bars(axes, found, chosen)
    axes.set_xlabel("share of the variance, with 90 % interval")
    axes.legend(loc="lower right", fontsize=8)


def _name_bars(axes: Axes, found: Sensitivity, chosen: Sequence[int]) -> None:
    ranks = [found.order.index(i) + 1 for i in chosen]
    names = [f"{found.parameters[i].words}  {rank}" for i, rank in zip(chosen, ranks, strict=True)]
    axes.set_yticks(range(len(chosen)), names, fontsize=8)
    axes.invert_yaxis()
    bare(axes)
