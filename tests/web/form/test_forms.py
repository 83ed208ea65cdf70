"""The form: whatever is chosen, a scenario comes of it, and its parts are what was chosen."""

from __future__ import annotations

import random
from dataclasses import fields, replace

import pytest

from raidsim.model.layouts import LEVELS
from raidsim.scenarios.description.workloads import LoadSpec
from raidsim.web.form.choices import FIELDS, LENGTHS, MOST_DISKS, Range, offer
from raidsim.web.form.examples import EXAMPLES
from raidsim.web.form.fields import DEFAULT, LABELS, NONE, USUAL, Form
from raidsim.web.form.forms import (
    built,
    built_text,
    can_fail,
    changed,
    difference,
    field_of,
    fitted,
    load_words,
    title,
    with_load_of,
)
from raidsim.web.form.limits import PRECISIONS


def sampled(rng: random.Random, most_disks: int = 12) -> Form:
    """A form filled in from above to below, every value one that is offered."""
    form = DEFAULT
    for field in FIELDS:
        offered = offer(field, form)
        if offered is None:
            continue
        value: object
        if isinstance(offered, Range):
            most = min(offered.high, most_disks) if field == "disks" else offered.high
            value = rng.randint(offered.low, max(offered.low, most))
        elif field == "disks":
            value = rng.choice([int(count) for count in offered if int(count) <= most_disks])
        else:
            value = rng.choice(offered)
        form = changed(form, {field: value})
    return form


@pytest.mark.parametrize("seed", range(12))
def test_every_choice_that_is_offered_makes_a_scenario(seed: int) -> None:
    """Protects visitors from dead ends: what the form offers is never refused, also with a disk that fails."""
    form = sampled(random.Random(seed))
    assert fitted(form) == (form, [])
    found = built(form)
    assert found.spec is not None, (form, found.refused)
    if can_fail(form):
        assert built(form, failing=True).spec is not None, form


@pytest.mark.parametrize("seed", range(14))
def test_any_values_are_made_to_fit(seed: int) -> None:
    """Protects the page from values that do not go together: each one is replaced by one that is offered."""
    rng = random.Random(seed)
    form, other = sampled(rng), sampled(rng)
    mixed = changed(form, {field: getattr(other, field) for field in rng.sample(FIELDS, 12)})
    wild = changed(mixed, {"disks": rng.choice([-5, 0, 1, 7, 10**9]), "copies": rng.randint(-1, 9), "level": "raid7"})
    for unfit in (mixed, wild):
        fit, _ = fitted(unfit)
        assert fitted(fit) == (fit, [])
        for field in FIELDS:
            offered = offer(field, fit)
            assert offered is None or getattr(fit, field) in offered


def test_the_drives_of_the_catalogue_are_all_offered_and_work() -> None:
    """Protects a drive that is added to the catalogue: it is offered without a word in the form."""
    offered = offer("drive", DEFAULT)
    assert isinstance(offered, tuple)
    assert len(offered) > 20
    for name in offered:
        found = built(fitted(replace(DEFAULT, drive=str(name), disks=4))[0])
        assert found.spec is not None, (name, found.refused)


def test_what_is_chosen_is_what_is_simulated() -> None:
    """Protects the meaning of the fields: each stands where it belongs in the scenario."""
    form, notes = fitted(
        replace(
            DEFAULT, level="raid6", disks=6, spares=1, chunk=128, failed=1, rebuilding=True, bitmap=True, threads=4,
            stripe_cache=1024, scheduler="none", throttle=False, drive_cache=False, read=25, block=16, depth=3, jobs=2,
            hot="zipf", seed=7,
        )
    )  # fmt: skip
    assert notes == ["Write cache of the drives: no is not offered here; yes instead"] or notes == []
    spec = built(form).spec
    assert spec is not None
    array, load = spec.arrays["md0"], spec.workload
    assert isinstance(load, LoadSpec)
    assert (array.level, len(array.members), len(array.spares), array.chunk) == ("raid6", 6, 1, 128 * 1024)
    assert array.rebuilding == array.failed == ("disk0",)
    assert (array.bitmap, array.group_thread_cnt, array.stripe_cache) == (64 << 20, 4, 1024)
    assert {each.scheduler for each in spec.machine.drives.values()} == {"none"}
    assert {each.wbt_lat for each in spec.machine.drives.values()} == {0.0}
    assert (load.read_share, load.block_size, load.depth, load.jobs) == (0.25, 16384, 3, 2)
    assert load.locality is not None
    assert spec.seed == 7


def test_options_follow_what_is_chosen_above() -> None:
    """Protects the form from offering what means nothing: no chunk for mirrors, no bitmap behind a controller."""
    assert offer("chunk", replace(DEFAULT, level="raid1")) is None
    assert offer("groups", replace(DEFAULT, level="raid50", disks=12)) == (2, 3, 4)
    assert offer("bitmap", replace(DEFAULT, controller="Gateway-840")) is None
    assert offer("failed", replace(DEFAULT, level="raid0")) is None
    assert offer("failed", replace(DEFAULT, level="raid6")) == Range(0, 2)
    assert offer("spares", replace(DEFAULT, level="raid0")) is None
    assert offer("drive_state", replace(DEFAULT, drive="Samsung-PM9A3-3840GB")) is not None
    assert offer("drive_state", DEFAULT) is None
    assert offer("algorithm", replace(DEFAULT, level="raid10", disks=5)) == (USUAL, "far", "offset")
    assert "linux-2.4.26" not in (offer("kernel", replace(DEFAULT, level="raid10", disks=5)) or ())
    assert offer("controller", replace(DEFAULT, drive="Samsung-PM9A3-3840GB")) is None
    level = offer("disks", replace(DEFAULT, level="raid60"))
    assert isinstance(level, tuple)
    assert level[0] == 8
    assert 11 not in level


def test_a_change_of_level_brings_the_disks_along() -> None:
    """Protects a visitor who chooses a level that needs more disks: they are raised, and it is said."""
    form, notes = fitted(replace(DEFAULT, level="raid6", disks=2))
    assert form.disks == 4
    assert notes == ["Disks: 2 is not offered here; 4 instead"]
    assert fitted(replace(DEFAULT, disks=500))[0].disks == MOST_DISKS


def test_all_examples_work() -> None:
    """Protects the examples: each is made of what is offered, and is no other's double."""
    for name, form in EXAMPLES.items():
        fit, notes = fitted(form)
        assert notes == [], name
        assert built(fit).spec is not None, name
    assert len(set(EXAMPLES.values())) == len(EXAMPLES)


def test_a_refusal_finds_its_field() -> None:
    """Protects the message beside the field: the place of a refusal names the field of the form."""
    assert field_of("design: field arrays.md0.chunk") == "chunk"
    assert field_of("design line 3: field workload.total_iops") == "iops"
    assert field_of("design: field machine.drives.disk0.wbt_lat") == "throttle"
    assert field_of("somewhere else") == ""
    assert built_text("arrays: {md0: {level: raid5, chunk: 5KiB}}", "x").field in ("chunk", "")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[1, 2]",
        "!!python/object:os.system x",
        "machine: {drives: {count: 1000000}}",
        "a: &a [*a]",
        "extends: /etc/x",
    ],
)
def test_hostile_files_are_refused_in_a_line(text: str) -> None:
    """Protects the server from what visitors upload: no exception, one message."""
    found = built_text(text, "upload.yaml")
    assert found.spec is None
    assert found.refused
    assert "\n" not in found.refused


def test_designs_are_compared_under_one_load() -> None:
    """Protects the comparison: a kept design takes the load of the form, and keeps its own array."""
    design, load = replace(DEFAULT, level="raid10", read=0), replace(DEFAULT, read=100, block=64, how="rate", iops=99)
    both = with_load_of(design, load)
    assert (both.level, both.read, both.block, both.iops) == ("raid10", 100, 64, 99)
    assert difference(replace(DEFAULT, chunk=256), DEFAULT) == "Chunk (KiB): 256"
    assert difference(replace(DEFAULT, level="raid6"), DEFAULT) == ""


def test_every_page_measures_until_the_speed_is_known() -> None:
    """Protects one answer to one question: no page has a span or a length of run of its own, but where a drive fails.

    The counter-test is the run in which a drive fails, which has a given length.
    """
    for length in LENGTHS:
        load = built(replace(DEFAULT, length=length)).spec.workload  # type: ignore[union-attr]
        assert load.precision == PRECISIONS[length]  # type: ignore[union-attr]
    failing = built(DEFAULT, failing=True).spec.workload  # type: ignore[union-attr]
    assert failing.precision is None  # type: ignore[union-attr]


def test_titles_are_of_level_and_drives() -> None:
    """Protects the words above the page."""
    assert DEFAULT.controller == NONE
    assert title(DEFAULT) == "RAID 5, 8 x Exos-10E2400-2400GB"
    assert LEVELS["raid5"].has_parity


def test_every_field_is_offered_and_named() -> None:
    """Protects a new field from being forgotten: it has an offer and a name."""
    assert {each.name for each in fields(Form)} == set(FIELDS) == set(LABELS)


def test_a_load_in_words_has_its_amount() -> None:
    """Protects the words of a load: so many I/Os a second, or outstanding, of all jobs."""
    form = replace(DEFAULT, iops=1234, depth=8, jobs=3)
    assert "1,234 a second" in load_words(replace(form, how="rate"))
    assert "24 outstanding" in load_words(replace(form, how="outstanding"))
