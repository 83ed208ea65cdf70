"""The view that starts from a requirement: which designs meet it, and why the others do not."""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from ... import InputError
from ...api.advice import OFFERED_LEVELS, Advice, Design
from ...api.answer.numbers import decimal_size
from ...api.answer.units import format_duration
from ...api.scenario import plain_text
from ...model.layouts import LEVELS
from ..figures import pictures_of_designs as pictures
from ..figures.markup import plain
from ..form.choices import MOST_DISKS, MOST_PRICE, offer
from ..form.fields import NONE, Form
from ..form.forms import BITMAP, level_words
from ..work.tasks import AdviseTask
from .render import answered, asked, picture
from .session import Subject

MOST_MODELS = 3
"""Models of drives in one requirement."""
PRECISION = "10%"
"""Half-width of the 90 % intervals; `raidsim advise` takes 2 %, which is several times as long."""


def show_advise(subject: Subject) -> None:
    """From a requirement to designs."""
    form = subject.form
    if form is None:
        st.info("A requirement takes its load from the form: remove the file.")
        return
    if form.loads > 1 or form.parts or form.controller != NONE or form.network != NONE or form.cipher != NONE:
        st.info("The search uses the first load of the form on arrays of the kernel, without controller or network.")
    st.markdown("The load of the form must be served: which arrays do it, and which of them are the shortlist?")
    requirement = _requirement(form)
    key = json.dumps(requirement, sort_keys=True)
    found: Advice | None = asked("advise", key, lambda: _task(requirement), "Find designs")
    with st.expander("The requirement as a file of raidsim advise"):
        st.code(plain_text(requirement), language="yaml")
    if found is None:
        return
    if found.meets:
        best = " or ".join(each.name for each in found.best)
        st.success(plain(f"{len(found.meets)} of {len(found.found.verdicts)} designs meet it. Shortlist: {best}."))
    else:
        st.warning("No design meets it; the list below says why, and what would.")
    chosen = _picture(found)
    _details(found, chosen)
    answered(found.answer(), "raidsim-advice", "csv_advise")


def _requirement(form: Form) -> dict[str, Any]:
    """The requirement from the fields of the page, and the load of the form."""
    models = offer("drive", form)
    assert isinstance(models, tuple)
    left, middle, right = st.columns(3)
    iops = left.number_input("I/Os per second", 1, 1_000_000, value=200, key="need_iops")
    p99 = middle.number_input("99 % of the I/Os within (ms)", 0.05, 10_000.0, value=200.0, key="need_p99")
    capacity = right.number_input("Usable capacity (TB)", 0.0, 10_000.0, value=5.0, key="need_capacity")
    survives = left.number_input("Failures survived", 0, 3, value=1, key="need_survives")
    low, high = middle.slider("Disks", 2, MOST_DISKS, value=(4, 12), key="need_disks")
    budget = right.number_input("Budget (0: none)", 0, 100 * MOST_PRICE, value=0, key="need_budget")
    chosen = st.multiselect("Drives", models, default=[form.drive], max_selections=MOST_MODELS, key="need_drives")
    prices = {}
    for model, column in zip(chosen, st.columns(MOST_MODELS), strict=False):
        usual = form.price if model == form.drive else 0
        prices[model] = column.number_input(f"Price of {model}", 0, MOST_PRICE, value=usual, key=f"need_price_{model}")
    levels = st.pills("Levels", OFFERED_LEVELS, format_func=level_words, selection_mode="multi",
                      default=["raid10", "raid5", "raid6"], key="need_levels")  # fmt: skip
    drives = [
        {"model": model, "count": f"{low}-{high}", **({"price": prices[model]} if prices[model] else {})}
        for model in chosen
    ]
    load: dict[str, Any] = {
        "total_iops": iops,
        "read_share": f"{form.read}%",
        "block_size": f"{form.block}KiB",
        "pattern": form.pattern,
        "jobs": form.jobs,
    }
    if form.hot == "zipf":
        load["locality"] = {"kind": "zipf", "block": "1MiB"}
    found: dict[str, Any] = {
        "name": f"{iops:,} I/Os per second, {form.pattern}, {form.block} KiB, {form.read} % reads",
        "load": load,
        "limits": {"p99": format_duration(p99 / 1e3).replace(" ", "")},
        "survives": survives,
        "drives": drives,
        "levels": list(levels),
        "chunks": [f"{form.chunk}KiB"],
        "kernel": form.kernel,
        "precision": PRECISION,
    }
    if capacity:
        found["capacity"] = f"{capacity:g}TB"
    if budget:
        found["budget"] = budget
    if any("bitmap" in LEVELS[level].options for level in levels):
        found["bitmap"] = BITMAP if form.bitmap else NONE
    return found


def _task(requirement: dict[str, Any]) -> AdviseTask:
    if not requirement["drives"] or not requirement["levels"]:
        raise InputError("drives", "no drive, or no level", "expected: one or more of each")
    return AdviseTask(requirement)


def _picture(found: Advice) -> str | None:
    """The picture of all designs; the one that was clicked."""
    drawn = pictures.advice_picture(found)
    if not drawn["data"]["values"]:
        return None
    event = picture(
        drawn,
        "Points: latency of 99 % of the I/Os over cost or disks, for every design; the table has the numbers.",
        choose="advise_picture",
    )
    points = event.selection.get(pictures.CHOSEN, []) if event is not None else []
    return points[0]["design"] if points else None


def _details(found: Advice, clicked: str | None) -> None:
    """One design with its scenario, to go on with."""
    designs = {each.name: each for each in (*found.meets, *found.others, *found.would_do)}
    names = list(designs)
    if not names:
        return
    place = names.index(clicked) if clicked in designs else 0
    name = st.selectbox("Design", names, index=place, key=f"advised_{clicked}", help="Or click on a point.")
    design = designs[name]
    st.markdown(plain(design_words(design)))
    with st.expander("Its scenario"):
        st.code(design.scenario().to_yaml(), language="yaml")


def design_words(design: Design) -> str:
    """What is known of a design, in a sentence."""
    facts = design.verdict.facts
    said = [f"{design.name}: {decimal_size(facts.usable_bytes)} usable", f"{design.drives} disks"]
    if design.cost is not None:
        said.append(f"cost {design.cost:,.0f}")
    if design.verdict.saturates_at:
        said.append(f"saturation at {design.verdict.saturates_at:,.0f} I/Os per second")
    why = f" {'; '.join(design.reasons)}." if design.reasons else ""
    return f"{', '.join(said)}.{why}"
