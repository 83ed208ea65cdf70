"""Arrays that need only their layout, by the level that they run."""

from __future__ import annotations

from functools import cache

from ...model.files.plugins import classes_in
from ...model.raid import mirrors, parity, striped
from ...model.raid.base.array import Array
from ...model.raid.striped.stripe import StripeArray


@cache
def plain_array_class(level: str) -> type[Array]:
    """The class of a module below ``model/raid`` that names the level in its `levels`; a stripe runs all others."""
    for package in (mirrors, parity, striped):
        for kind in classes_in(package.__name__):
            if issubclass(kind, Array) and level in vars(kind).get("levels", ()):
                return kind
    return StripeArray
