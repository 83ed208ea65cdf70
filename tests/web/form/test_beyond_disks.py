"""What the form has beside disks: encryption, a network, another part of the day, and the report of all that."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from raidsim.api.answer import svg
from raidsim.api.answer.html import page
from raidsim.api.answer.tree import Answer, Column, Picture, Table, Verbatim, Words
from raidsim.api.tables.run import loads, phases
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.running.simulate import simulate
from raidsim.web.form.choices import Range, offer
from raidsim.web.form.fields import DEFAULT, Form
from raidsim.web.form.forms import built, can_fail, first_load, fitted, load_words, title
from raidsim.web.form.state import State, from_query, to_query
from raidsim.web.work.explain import variants
from raidsim.web.work.task import Progress
from raidsim.web.work.tasks import RunTask

FLASH = Form(drive="Samsung-PM9A3-3840GB", disks=4, level="raid10", length="short", read=100, pattern="sequential")


def made(form: Form) -> Form:
    """The form, of which everything is possible."""
    fit, notes = fitted(form)
    assert notes == []
    return fit


def test_encryption_costs_processors() -> None:
    """Protects the field: the processor is busier with dm-crypt, and the explanation can switch it off."""
    form = made(replace(FLASH, block=128, depth=8, cipher="aes-xts"))
    plain, secret = (simulate(built(each).spec) for each in (replace(form, cipher="none"), form))  # type: ignore[arg-type]
    cpu = [next(each.utilization for each in found.usages if each.kind == "cpu") for found in (plain, secret)]
    assert cpu[1] > 2 * cpu[0]
    assert "encryption" in [each.name for each in variants(form)]
    assert "encrypted with aes-xts" in title(form)


def test_a_network_limits_what_disks_would_give() -> None:
    """Protects the field: behind 1 Gb/s Ethernet no more than that comes out, without it more does."""
    form = made(replace(FLASH, block=128, depth=8, jobs=2, network="nfs4", port="1GbE", clients=2, nfsd=16))
    spec = built(form).spec
    assert spec is not None
    assert simulate(spec).rate < 125e6
    without = built(replace(form, network="none", port="10GbE", clients=1, nfsd=0)).spec
    assert without is not None
    assert simulate(without).rate > 250e6
    assert "the network" in [each.name for each in variants(form)]


def test_another_part_of_the_day_is_simulated_by_itself() -> None:
    """Protects the field: two phases of their own lengths, and a table that has both."""
    form = made(replace(DEFAULT, length="short", how="rate", iops=50, parts=True, hours=6, read_2=100, iops_2=400))
    spec = built(form).spec
    assert spec is not None
    found = simulate(spec)
    shown = phases(found)
    assert [row[0] for row in shown.rows] == ["first", "other"]
    rates = [sum(each for each in row[2:4] if isinstance(each, float)) for row in shown.rows]
    assert rates[1] > 4 * rates[0]
    assert "for 6 h a day" in load_words(form)
    assert not can_fail(form)


def test_loads_at_the_same_time_have_figures_of_their_own() -> None:
    """Protects the fields: a rate, users and I/Os outstanding side by side, each slower than the first one alone."""
    more = Form(length="short", bitmap=False, loads=3, how_b="rate", amount_b=20, how_c="users", amount_c=10)
    form = made(more)
    spec = built(form).spec
    assert spec is not None
    found = simulate(spec)
    rows = {str(row[0]): row for row in loads(found).rows}
    assert list(rows) == ["load1", "load2", "load3"]
    rates = {name: float(str(row[3])) for name, row in rows.items()}
    assert rates["load2"] == pytest.approx(20, rel=0.25)
    assert 60 < rates["load3"] < 100, "ten users who think for 100 ms"
    alone = built(first_load(form)).spec
    assert alone is not None
    assert rates["load1"] < 0.95 * sum(simulate(alone).iops.values())
    assert "; with random reads of 8 KiB, 10 users" in load_words(form)
    assert [load_words(replace(form, loads=loads)).count("; with ") for loads in (1, 2, 3)] == [0, 1, 2]
    assert not can_fail(form)
    assert {"positioning", "queueing"}.isdisjoint(each.name for each in variants(form))
    assert offer("loads", made(replace(DEFAULT, network="nfs4"))) is None


def test_several_loads_may_change_over_the_day() -> None:
    """Protects each load of each part: the first one changes, the second goes on, the third pauses."""
    day = Form(length="short", bitmap=False, loads=3, how="rate", iops=50, parts=True, iops_2=100, loads_2=2)
    form = made(day)
    assert (form.parts, form.loads, form.loads_2) == (True, 3, 2)
    spec = built(form).spec
    assert spec is not None
    found = simulate(spec)
    shown = phases(found)
    iops = [sum(each for each in row[2:4] if isinstance(each, float)) for row in shown.rows]
    assert [row[0] for row in shown.rows] == [
        *("first", "  load1", "  load2", "  load3"),
        *("other", "  load1", "  load2"),
    ]
    assert iops[1] == pytest.approx(50, rel=0.3)
    assert iops[5] == pytest.approx(100, rel=0.3)
    assert iops[2] == pytest.approx(iops[6], rel=0.5) == pytest.approx(20, rel=0.5)
    words = load_words(form).partition("; for 8 h a day ")
    assert [part.count("; with ") for part in words] == [2, 0, 1]
    assert offer("loads_2", made(replace(day, loads=2, loads_2=2))) == Range(1, 2)
    assert offer("loads_2", made(replace(day, loads=1))) is None
    assert from_query({name: [str(value)] for name, value in to_query(State(form)).items()})[0].form == form


def test_what_makes_no_sense_is_not_asked_for() -> None:
    """Protects from nonsense: no network of today with a kernel of 2004, no threads of NFS with iSCSI."""
    old = made(replace(DEFAULT, kernel="linux-2.6.8"))
    assert offer("network", old) is None
    assert offer("cipher", old) is None
    assert offer("port", DEFAULT) is None
    ram = replace(DEFAULT, drive="RAM-disk")
    assert offer("scheduler", ram) is None
    assert offer("throttle", ram) is None
    assert offer("scheduler", FLASH) is not None
    assert offer("hours", DEFAULT) is None
    assert offer("nfsd", made(replace(DEFAULT, network="iscsi"))) is None
    vector = offer("cipher", DEFAULT)
    assert isinstance(vector, tuple)
    assert "aes-xts-vaes" not in vector


def test_the_usual_design_is_simulated_at_once() -> None:
    """Protects the first minute: the page's first answer takes no more than two seconds of a processor."""
    scenario = built(DEFAULT).scenario
    assert scenario is not None
    began = time.process_time()
    RunTask(scenario).perform(Progress())
    assert time.process_time() - began < 2.0


def test_a_report_is_plain_and_harmless() -> None:
    """Protects who opens a report: it fetches nothing, runs nothing, and names from others are only text."""
    evil = "<script>alert(1)</script>"
    table = Table(evil, (Column(""), Column(evil, evil, str)), ((evil, 1.0),))
    line = (evil, [(1.0, 2.0), (3.0, 4.0)])
    drawn = [
        Picture(evil, lambda: svg.bars([(evil, 1.0, evil)], evil)),
        Picture(evil, lambda: svg.lines([line], evil, evil, evil)),
    ]
    told = Answer(evil, [Words(evil), table, *drawn, Verbatim(evil)])
    text = page(Answer(evil, [told, Answer(evil, []), Answer(evil, [])]), evil)
    assert text.count("<svg") == text.count("</svg>") == 2
    assert "<script" not in text
    assert "default-src 'none'" in text
    assert text.count("&lt;script&gt;") >= 15


def test_a_part_of_the_day_has_a_row_for_each_of_its_loads() -> None:
    """Protects uploaded scenarios: parts of a day with several loads have rows that say whose they are."""
    document = document_from(
        "{machine: {drives: {model: WD5000AAKS, count: 2}}, arrays: {md0: raid1}, "
        "workloads: [{name: a}, {name: b, depth: 2}], workload: {warm_up: 10ms, "
        "duration: 100ms, phases: [{name: day, lasts: 16h, workloads: [b]}, {name: night, lasts: 8h}]}}"
    )
    found = simulate(document.spec())
    assert [row[0] for row in phases(found).rows] == ["day", "  b", "night", "  a", "  b"]
    assert [row[0] for row in loads(found).rows] == ["a", "b"]
