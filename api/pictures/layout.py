"""An array's layout as a picture: a column for each disk, a field for each chunk, copy and parity."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from ...scenarios.pictures.style import INK, LOST, blank, headed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Place = tuple[int, int]
"""Member and row."""

_FIELD_IN, _ROW_IN = 0.78, 0.36
_STRIPES = ("#dfe8f3", "#c4d5e8")
_LOOKS = {
    "copy": ("#dcefd9", "--", "a copy"),
    "P": ("#f4d58d", "//", "P: XOR of the stripe"),
    "Q": ("#e3c1ea", "\\\\", "Q: second parity, over GF(2^8)"),
}
"""Colour, hatching (for black and white) and meaning of what is no first copy of data."""


def layout_figure(
    heading: str,
    fields: Mapping[Place, str],
    members: int,
    rows: int,
    failed: Collection[int],
) -> Figure:
    """The first rows of a layout.

    Parameters
    ----------
    heading
        What the array is, in a line or two.
    fields
        What stands where: "D7", "D7'" (a further copy), "P" or "Q".
    members, rows
        How many disks there are, and how many rows of them are shown.
    failed
        Disks that are lost.
    """
    from matplotlib.patches import Patch, Rectangle

    lines = heading.splitlines()
    size = (max(4.6, 0.9 + _FIELD_IN * members), 1.3 + 0.2 * len(lines) + _ROW_IN * rows)
    figure = blank(*size)
    axes = figure.subplots()
    shown = set()
    for (member, row), text in fields.items():
        kind = _kind(text)
        colour, hatch, _ = _LOOKS.get(kind, (_STRIPES[row % 2], "", ""))
        shown.add(kind)
        lost = member in failed
        axes.add_patch(
            Rectangle(
                (member - 0.5, row - 0.5),
                1,
                1,
                facecolor="white" if lost else colour,
                edgecolor=INK,
                hatch="" if lost else hatch,
                linewidth=0.6,
                clip_on=False,
            )
        )
        box = None if lost or not hatch else {"facecolor": colour, "edgecolor": "none", "pad": 1.2}
        axes.text(member, row, text, ha="center", va="center", color=LOST if lost else INK, bbox=box)
    for member in failed:
        axes.plot([member - 0.5, member + 0.5], [-0.5, rows - 0.5], color=LOST, linewidth=1.0)
        axes.plot([member - 0.5, member + 0.5], [rows - 0.5, -0.5], color=LOST, linewidth=1.0)
    _frame(axes, members, rows, failed)
    keys = [Patch(facecolor=_STRIPES[1], edgecolor=INK, label="D: data, numbered as the host sees it")]
    for kind, (colour, hatch, meaning) in _LOOKS.items():
        if kind in shown:
            keys.append(Patch(facecolor=colour, edgecolor=INK, hatch=hatch, label=meaning))
    figure.legend(handles=keys, loc="outside lower left", ncols=min(len(keys), max(1, members // 3)), frameon=False)
    headed(figure, heading)
    return figure


def _kind(text: str) -> str:
    """Which of the looks a field has; "D" is data."""
    if text in _LOOKS:
        return text
    return "copy" if text.endswith("'") else "D"


def _frame(axes: Axes, members: int, rows: int, failed: Collection[int]) -> None:
    axes.set(xlim=(-0.5, members - 0.5), ylim=(rows - 0.5, -0.5), ylabel="row of chunks")
    axes.set_xticks(range(members), _headings(members, failed))
    for label, member in zip(axes.get_xticklabels(), range(members), strict=True):
        label.set_color(LOST if member in failed else INK)
    axes.set_yticks(range(rows))
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _headings(members: int, failed: Collection[int]) -> Sequence[str]:
    return [f"disk {member}" + ("\nlost" if member in failed else "") for member in range(members)]
