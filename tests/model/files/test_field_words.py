"""What a field of a description means is written in one place, and everything else is made from that."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import pytest

import raidsim
from raidsim.model.files.description import Spec
from raidsim.model.files.field_words import COMMON, field_words

PACKAGES = ("model", "scenarios", "calibration", "validation")


def described() -> Iterator[type[Spec]]:
    """Every description of the package."""
    for package in PACKAGES:
        folder = importlib.import_module(f"raidsim.{package}")
        for found in pkgutil.walk_packages(folder.__path__, f"{folder.__name__}."):
            importlib.import_module(found.name)
    waiting: list[type[Spec]] = [Spec]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        if kind is not Spec and kind.__module__.startswith(f"{raidsim.__name__}.") and ".tests." not in kind.__module__:
            yield kind


DESCRIPTIONS = sorted(set(described()), key=lambda kind: (kind.__module__, kind.__name__))


def test_every_field_of_every_description_has_words() -> None:
    """Protects readers of the schema, of the manual and of forms: no field is left without a meaning."""
    silent = [
        f"{kind.__module__.removeprefix('raidsim.')}:{kind.__name__}.{name}"
        for kind in DESCRIPTIONS
        for name in kind.model_fields
        if name not in COMMON and not field_words(kind).get(name)
    ]
    assert not silent


def test_no_docstring_lists_fields_a_second_time() -> None:
    """Protects from two texts about a field: a description has no list of its fields."""
    listed = [
        kind.__name__
        for kind in DESCRIPTIONS
        if any(f"\n{head}\n" in (kind.__doc__ or "") for head in ("    Attributes", "    Parameters"))
    ]
    assert not listed


class _Sample(Spec):
    """A description."""

    alone: int = 1

    first: int = 2
    second: int = 3
    """Of both."""
    third: int = 4


def test_a_docstring_is_about_the_fields_directly_above() -> None:
    """Protects groups: not those beyond a blank line, nor those that follow."""
    assert field_words(_Sample) == {"first": "Of both.", "second": "Of both."}


@pytest.mark.parametrize("name", ["queue.scheduler", "cache.limit"])
def test_inherited_words_are_found(name: str) -> None:
    """Protects sections whose fields come from the settings of a part of the model."""
    from raidsim.model.kernels import KernelSpec

    section, _, field = name.partition(".")
    kind = KernelSpec.model_fields[section].annotation
    assert isinstance(kind, type)
    assert field_words(kind)[field]
