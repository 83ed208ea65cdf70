"""Links: they carry all of the state, and nothing in them can hurt."""

from __future__ import annotations

import random
from dataclasses import replace
from urllib.parse import parse_qs, urlencode

import pytest

from raidsim.web.form.choices import FIELDS, offer
from raidsim.web.form.fields import DEFAULT, Form
from raidsim.web.form.forms import changed, fitted, with_load_of
from raidsim.web.form.state import MOST_KEPT, State, from_query, to_query


def over_the_wire(state: State) -> State:
    """What is left of a state that was an address."""
    address = urlencode(to_query(state), doseq=True)
    found, notes = from_query(parse_qs(address))
    assert notes == []
    return found


def forms() -> list[Form]:
    """Some forms that differ in many fields."""
    rng = random.Random(1)
    found = []
    for level in ("raid0", "raid1", "raid5", "raid6", "raid10", "raid50", "raid01"):
        form = fitted(replace(DEFAULT, level=level, disks=12, seed=rng.randint(0, 999)))[0]
        for field in FIELDS:
            offered = offer(field, form)
            if isinstance(offered, tuple) and field not in ("level", "disks"):
                form = fitted(changed(form, {field: rng.choice(offered)}))[0]
        found.append(form)
    return found


def test_a_link_restores_everything() -> None:
    """Protects links: form and kept designs come back exactly, and a usual state needs no query at all."""
    all_forms = forms()
    for form in all_forms:
        plain = [with_load_of(all_forms[j], DEFAULT) for j in (0, 2, 4)]
        state = State(form, tuple(fitted(each)[0] for each in plain))
        assert over_the_wire(state) == state
    assert over_the_wire(State(kept=(DEFAULT, DEFAULT))) == State(kept=(DEFAULT, DEFAULT))
    assert to_query(State()) == {}


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"level": ["raid99"]}, "raid99"),
        ({"disks": ["1e9"]}, "1e9"),
        ({"disks": ["99999999999999999999999999"]}, "9999"),
        ({"disks": ["-3"]}, "-3"),
        ({"drive_cache": ["maybe"]}, "maybe"),
        ({"nothing": ["1"]}, "no field"),
        ({"__class__": ["1"]}, "no field"),
        ({"drive": ["x" * 100_000]}, "xxx"),
        ({"with": ["level=raid5"] * 50}, "50 designs"),
        ({"with": ["a=b&" * 10_000]}, "too long"),
        ({"with": ["level=raid5&disks=two"]}, "two"),
        ({"seed": ["\u0663"]}, "\u0663"),
        ({"chunk": ["<script>alert(1)</script>"]}, "<script>"),
    ],
)
def test_hostile_links_are_taken_as_far_as_they_make_sense(query: dict[str, list[str]], words: str) -> None:
    """Protects the page from links made by anyone: a note says what was left out, and the state fits."""
    state, notes = from_query(query)
    assert any(words in note for note in notes)
    assert all(len(note) < 300 and note.isprintable() for note in notes)
    assert fitted(state.form) == (state.form, [])
    assert len(state.kept) <= MOST_KEPT


def test_many_mistakes_are_not_many_notes() -> None:
    """Protects the page from a wall of notes."""
    _, notes = from_query({f"x{i}": ["1"] for i in range(500)})
    assert len(notes) < 10
    assert "more like these" in notes[-1]


def test_control_characters_do_not_reach_the_page() -> None:
    """Protects the page's text: what is not printable is shown as a question mark."""
    _, notes = from_query({"a\u202eb\x00": ["1"]})
    assert notes == ["the link's 'a?b?' is no field; left out"]
