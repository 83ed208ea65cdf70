"""Effects as a picture: mu* against sigma, and bars of effects and of shares of the variance."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..calibration.sensitivity_runs import Sensitivity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_BARS = 12
_PANEL_IN = (6.4, 4.8)
_BLUE, _GREY = "#1f6fb4", "#9aa5b1"


def draw_sensitivity(found: Sensitivity, path: Path) -> None:
    """Draw a result into a file; its suffix sets the format."""
    from matplotlib.figure import Figure

    panels = [panel for panel, there in ((_scatter, found.screening), (_effects, found.screening)) if there is not None]
    if found.shares is not None:
        panels.append(_shares)
    width, height = _PANEL_IN
    picture = Figure(figsize=(width * len(panels), height), layout="constrained")
    for i, panel in enumerate(panels):
        panel(picture.add_subplot(1, len(panels), i + 1), found)
    picture.suptitle(f"{found.scenario.name}: {found.figure}", fontsize=10)
    picture.savefig(path, dpi=150)


def _scatter(axes: Axes, found: Sensitivity) -> None:
    """Above the line an effect depends more on where one stands than it is large."""
    assert found.screening is not None
    effects = found.screening.effects
    for i, effect in enumerate(effects):
        axes.plot(effect.mu_star, effect.sigma, "o", color=_BLUE if i in found.matter else _GREY, markersize=5)
    for rank, i in enumerate(found.matter, start=1):
        at = (effects[i].mu_star, effects[i].sigma)
        axes.annotate(str(rank), at, textcoords="offset points", xytext=(5, 4), fontsize=9)
    reach = max(max(effect.mu_star, effect.sigma) for effect in effects) or 1.0
    axes.plot([0, reach], [0, reach], color="#52606d", linewidth=0.8, zorder=0)
    axes.set(xlabel="mu* (% per sd)", ylabel="sigma (% per sd)", xlim=(0, 1.1 * reach), ylim=(0, 1.1 * reach))


def _effects(axes: Axes, found: Sensitivity) -> None:
    assert found.screening is not None
    chosen = [i for i in found.order if found.screening.effects[i].mu_star][:_MOST_BARS]
    effects = [found.screening.effects[i] for i in chosen]
    axes.barh(
        range(len(chosen)),
        [effect.mu_star for effect in effects],
        xerr=[effect.mu_star_error for effect in effects],
        color=[_BLUE if i in found.matter else _GREY for i in chosen],
        error_kw={"linewidth": 0.8},
    )
    _name_bars(axes, found, chosen)
    axes.set_xlabel("mu* (% per sd), with 90 % interval")


def _shares(axes: Axes, found: Sensitivity) -> None:
    assert found.shares is not None
    shares = dict(zip(found.shared, found.shares.shares, strict=True))
    chosen = [i for i in found.order if i in shares][:_MOST_BARS]
    bars = {
        "alone (S1)": (-0.2, _GREY, [(shares[i].first, shares[i].first_error) for i in chosen]),
        "with others (ST)": (0.2, _BLUE, [(shares[i].total, shares[i].total_error) for i in chosen]),
    }
    for label, (offset, colour, values) in bars.items():
        axes.barh(
            [place + offset for place in range(len(chosen))],
            [value for value, _ in values],
            height=0.4,
            xerr=[error for _, error in values],
            color=colour,
            label=label,
            error_kw={"linewidth": 0.8},
        )
    _name_bars(axes, found, chosen)
    axes.set_xlabel("share of the variance, with 90 % interval")
    axes.legend(loc="lower right", frameon=False, fontsize=8)


def _name_bars(axes: Axes, found: Sensitivity, chosen: Sequence[int]) -> None:
    ranks = [found.order.index(i) + 1 for i in chosen]
    names = [f"{found.parameters[i].words}  {rank}" for i, rank in zip(chosen, ranks, strict=True)]
    axes.set_yticks(range(len(chosen)), names, fontsize=8)
    axes.invert_yaxis()
