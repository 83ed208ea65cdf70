"""Optional mechanisms of descriptions, found by their fields, and descriptions without some of them.

A field is a switch if it has a value that means "none": false, or the default, of a truth value; null where that is
accepted; the default of a choice; and a default of 0 or of an empty list. A description has the mechanism where its
value is another one. Numbers with any other default are magnitudes and no switches.

:func:`switched_off` makes every description come without some of them, for as long as it lasts. What hands out
descriptions calls :func:`as_switched` for that; it changes nothing otherwise.
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from ..core.errors import InputError
from .description import Spec
from .description_errors import changed
from .plugins import NameIn

_Spec = TypeVar("_Spec", bound=Spec)

FACTS = frozenset({"afr", "bits_per_unrecoverable_error", "endurance", "mtbf", "power_active", "power_idle"})
"""Fields of drives that say how they fail and how much power they take. No simulation reads them, so they are no
mechanisms."""


class Switch(NamedTuple):
    """A field of a description, or of a section of it, and its value where the mechanism is off."""

    path: tuple[str, ...]
    off: Any


@cache
def switches(kind: type[Spec]) -> Mapping[str, Switch]:
    """The optional mechanisms of a description, by the field's name with its section's in front ("raid5.grows")."""
    return {".".join(switch.path): switch for switch in _found(kind)}


def _found(kind: type[Spec]) -> Iterator[Switch]:
    for name, field in kind.model_fields.items():
        kinds = _kinds(field.annotation)
        sections = [each for each in kinds if isinstance(each, type) and issubclass(each, Spec)]
        for section in sections:
            for inner in _found(section):
                yield Switch((name, *inner.path), inner.off)
        if name not in FACTS and _is_switch(field, kinds, bool(sections)):
            yield Switch((name,), _off(field, kinds))


def _is_switch(field: FieldInfo, kinds: tuple[Any, ...], section: bool) -> bool:
    if bool in kinds or type(None) in kinds:
        return True
    if field.is_required() or section:
        return False
    named = any(isinstance(each, NameIn) for each in field.metadata)
    return not field.default or named or any(get_origin(kind) is Literal for kind in kinds)


def _off(field: FieldInfo, kinds: tuple[Any, ...]) -> Any:
    if bool in kinds:
        return False if field.is_required() else field.default
    return None if type(None) in kinds else field.default


def _kinds(annotation: Any) -> tuple[Any, ...]:
    """The types that a field may have."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _kinds(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return tuple(kind for each in get_args(annotation) for kind in _kinds(each))
    return (annotation,)


def value_of(spec: Spec, switch: Switch) -> Any:
    """The value of a switch's field; that of an absent section is "off"."""
    found: Any = spec
    for name in switch.path:
        if found is None:
            return switch.off
        found = getattr(found, name)
    return found


def is_on(spec: Spec, name: str) -> bool:
    """Whether a description has one of its optional mechanisms."""
    switch = switches(type(spec))[name]
    return bool(value_of(spec, switch) != switch.off)


_OFF: ContextVar[frozenset[str]] = ContextVar("switched off", default=frozenset())
"""Mechanisms that are off, with the kind of description in front: "kernel.raid5.grows"."""


@contextmanager
def switched_off(names: frozenset[str]) -> Iterator[None]:
    """Hand out every description without these mechanisms ("kernel.raid5.grows", "hard_disk.media_cache")."""
    token = _OFF.set(names)
    try:
        yield
    finally:
        _OFF.reset(token)


def now_off() -> frozenset[str]:
    """What is switched off here and now."""
    return _OFF.get()


_SEEN: ContextVar[set[str] | None] = ContextVar("seen", default=None)


@contextmanager
def watched() -> Iterator[set[str]]:
    """Yield a set that gets the mechanisms of every description that is handed out meanwhile."""
    seen: set[str] = set()
    token = _SEEN.set(seen)
    try:
        yield seen
    finally:
        _SEEN.reset(token)


def as_switched(kind: str, spec: _Spec) -> _Spec:
    """A description as it is to be handed out: itself, or a copy without what is switched off.

    Parameters
    ----------
    kind
        What it describes: the first part of the mechanisms' names.
    spec
        The description.

    Raises
    ------
    InputError
        If it is none without that.
    """
    seen, off = _SEEN.get(), _OFF.get()
    if seen is not None:
        seen |= all_on(kind, spec)
    return spec if not off else _without(kind, spec, off)


@lru_cache(maxsize=4096)
def all_on(kind: str, spec: Spec) -> frozenset[str]:
    """Every optional mechanism that a description has, by its full name."""
    return frozenset(f"{kind}.{name}" for name in switches(type(spec)) if is_on(spec, name))


@lru_cache(maxsize=4096)
def _without(kind: str, spec: _Spec, off: frozenset[str]) -> _Spec:
    known = switches(type(spec))
    names = sorted(name for name in known if f"{kind}.{name}" in off and is_on(spec, name))
    for name in sorted(names, key=lambda name: -len(known[name].path)):  # a section may go as a whole after its fields
        try:
            spec = _replaced(spec, known[name].path, known[name].off)
        except InputError as error:
            found = f"{error.place} {error.found}".strip()
            raise InputError(f"{kind}.{name}", f"cannot be off on its own: {found}", error.expected) from None
    return spec


def _replaced(spec: _Spec, path: tuple[str, ...], value: Any) -> _Spec:
    name, *rest = path
    if rest:
        value = _replaced(getattr(spec, name), tuple(rest), value).model_dump()
    return changed(spec, {name: value})
