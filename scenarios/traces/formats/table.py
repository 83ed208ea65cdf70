"""All formats: every module of this package is searched for a :class:`.format.Format`."""

from __future__ import annotations

from collections.abc import Iterator

from ....model.files.plugins import Room, values_in
from .format import Format


def _offered() -> Iterator[tuple[str, Format]]:
    found = values_in(__name__.rpartition(".")[0], ("table",))
    return ((module, value) for module, value in found if isinstance(value, Format))


FORMATS: Room[Format] = Room("trace format", _offered, lambda known: known.name)
"""The formats by name."""
