"""Links carry the state: the form, and the designs kept for comparison, as the query of an address."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from urllib.parse import parse_qsl, urlencode

from .choices import FIELDS
from .fields import DEFAULT, LABELS, Form, Value
from .forms import LOAD_FIELDS, changed, fitted

KEPT = "with"
MOST_KEPT = 3
"""Designs beside the one in the form."""
_LONGEST = 64
_LONGEST_DESIGN = 600
_MOST_NOTES = 6
_NUMBER = re.compile(r"-?[0-9]{1,12}")
_DESIGN_FIELDS = tuple(field for field in FIELDS if field not in LOAD_FIELDS)


@dataclass(frozen=True, slots=True)
class State:
    """All that a link carries.

    Attributes
    ----------
    form
        The design and the load.
    kept
        Other designs, compared under the same load.
    """

    form: Form = DEFAULT
    kept: tuple[Form, ...] = ()


Query = dict[str, str | list[str]]


def to_query(state: State) -> Query:
    """The state as query parameters: what is not as usual."""
    found: Query = dict(_pairs(state.form, FIELDS))
    if state.kept:
        # Addresses lose parameters without a value, so the usual design says its level.
        pairs = [_pairs(design, _DESIGN_FIELDS) or [("level", design.level)] for design in state.kept]
        found[KEPT] = [urlencode(each) for each in pairs]
    return found


def _pairs(form: Form, names: Sequence[str]) -> list[tuple[str, str]]:
    values = ((name, getattr(form, name)) for name in names)
    return [(name, _text(value)) for name, value in values if value != getattr(DEFAULT, name)]


def _text(value: Value) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def from_query(query: Mapping[str, Sequence[str]]) -> tuple[State, list[str]]:
    """The state of a link from anyone, and what of it could not be used.

    Parameters
    ----------
    query
        All values of every parameter.

    Returns
    -------
    state, notes
        The state fits in any case; a note says what was left out or replaced.
    """
    notes: list[str] = []
    form = DEFAULT
    for name, values in query.items():
        if name != KEPT and values:
            form = _taken(form, name, values[-1], FIELDS, notes)
    form, replaced = fitted(form)
    notes += replaced
    kept = _kept(query.get(KEPT, ()), form, notes)
    more = len(notes) - _MOST_NOTES
    return State(form, kept), notes if more <= 0 else [*notes[:_MOST_NOTES], f"and {more} more like these"]


def _kept(designs: Sequence[str], load: Form, notes: list[str]) -> tuple[Form, ...]:
    if len(designs) > MOST_KEPT:
        notes.append(f"the link keeps {len(designs)} designs; the first {MOST_KEPT} are taken")
    found = []
    for text in designs[:MOST_KEPT]:
        if len(text) > _LONGEST_DESIGN:
            notes.append("a design that the link keeps is too long; left out")
            continue
        design = DEFAULT
        for name, value in parse_qsl(text)[: len(FIELDS)]:
            design = _taken(design, name, value, _DESIGN_FIELDS, notes)
        design, replaced = fitted(design)
        notes += replaced
        found.append(design)
    return tuple(found)


def _taken(form: Form, name: str, text: str, known: Sequence[str], notes: list[str]) -> Form:
    """The form with one value of a link, if it can be one."""
    if name not in known:
        notes.append(f"the link's {_short(name)} is no field; left out")
        return form
    value = _value(text, _KINDS[name])
    if value is None:
        notes.append(f"{LABELS[name]}: the link has {_short(text)}; left as usual")
        return form
    return changed(form, {name: value})


def _value(text: str, kind: type) -> Value | None:
    """A value of the kind of a field; None if the text is none."""
    if len(text) > _LONGEST:
        return None
    if kind is bool:
        return {"0": False, "1": True}.get(text)
    if kind is int:
        return int(text) if _NUMBER.fullmatch(text) else None
    return text


def _short(text: str) -> str:
    """Text from a link, as far as it is worth showing."""
    plain = "".join(letter if letter.isprintable() else "?" for letter in text[:40])
    return f"'{plain}{'...' if len(text) > 40 else ''}'"


_KINDS: dict[str, type] = {each.name: type(getattr(DEFAULT, each.name)) for each in fields(Form)}
