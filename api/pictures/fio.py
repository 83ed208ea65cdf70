"""Jobs of fio as a picture: how many I/Os each does, and how long they take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...scenarios.pictures.style import INK, OPS, bare, blank, headed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH_IN, _JOB_IN, _HEIGHT_IN = 9.0, 0.55, 1.6
_HALF = 0.36


def fio_figure(title: str, jobs: Sequence[Mapping[str, Any]]) -> Figure:
    """I/Os per second and mean latency of every job, reads and writes apart.

    Parameters
    ----------
    title
        What is above the picture.
    jobs
        ``job``, ``read_iops``, ``read_latency_mean`` (s), and the same of writes.
    """
    figure = blank(_WIDTH_IN, _HEIGHT_IN + _JOB_IN * len(jobs))
    rates, times = figure.subplots(1, 2, sharey=True)
    _draw(rates, jobs, "iops", 1.0, "I/Os per second")
    _draw(times, jobs, "latency_mean", 1e3, "mean latency (ms)")
    rates.set_yticks(range(len(jobs)), [job["job"] for job in jobs])
    rates.set_ylim(len(jobs) - 0.4, -0.6)
    handles, labels = rates.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower right", ncols=2)
    headed(figure, title)
    return figure


def _draw(axes: Axes, jobs: Sequence[Mapping[str, Any]], name: str, scale: float, label: str) -> None:
    for op, shift in (("read", -_HALF / 2), ("write", _HALF / 2)):
        look = OPS[op]
        places = [place + shift for place in range(len(jobs))]
        values = [scale * job[f"{op}_{name}"] for job in jobs]
        axes.barh(places, values, height=_HALF, color=look.colour, hatch=look.hatch, edgecolor=INK, label=f"{op}s")
        for place, value in zip(places, values, strict=True):
            if value > 0:  # not 0, and not NaN, which says that there was no I/O
                axes.annotate(f"{value:,.3g}", (value, place), xytext=(4, 0), textcoords="offset points", va="center")
    axes.set_xlabel(label)
    axes.margins(x=0.18)
    axes.tick_params(axis="y", length=0)
    bare(axes)
