"""Rooms: what a package offers by name, found because its file is there, as a data file is found in a catalogue.

A room's classes are collected from the modules of its folder, so that a new one is one new file and no list has to be
changed. Nothing is imported before the room is first asked for something.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.util import find_spec
from typing import Any, Generic, TypeVar

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from ..core.errors import ModelError
from .description import refusal

T = TypeVar("T")


def values_in(package: str, apart: Iterable[str] = ()) -> Iterator[tuple[str, Any]]:
    """The public values of the modules of a package, each with its module, in the order of the modules' names.

    Parameters
    ----------
    package
        Its ``__name__``.
    apart
        Modules that have nothing to offer and are not to be imported for it.
    """
    left_out = set(apart)
    found = find_spec(package)
    folders = found.submodule_search_locations if found is not None else None
    for each in pkgutil.iter_modules(folders):
        if each.name in left_out:
            continue
        module = importlib.import_module(f"{package}.{each.name}")
        for name, value in vars(module).items():
            if not name.startswith("_"):
                yield module.__name__, value


def classes_in(package: str, apart: Iterable[str] = ()) -> Iterator[type[Any]]:
    """The public classes that the modules of a package define, module by module in the order of their names."""
    for module, value in values_in(package, apart):
        if isinstance(value, type) and value.__module__ == module:
            yield value


class Room(Mapping[str, T], Generic[T]):
    """What a package offers, by name and in the order of the names.

    Parameters
    ----------
    what
        What one is called in messages: "scheduler".
    offered
        The values with the modules that define them; called once, when the room is first asked for something.
    name_of
        The name of one; "" for what cannot be asked for.
    """

    def __init__(self, what: str, offered: Callable[[], Iterable[tuple[str, T]]], name_of: Callable[[T], str]) -> None:
        self.what = what
        self._offered = offered
        self._name_of = name_of
        self._found: dict[str, T] | None = None

    def _all(self) -> dict[str, T]:
        if self._found is None:
            found: dict[str, tuple[str, T]] = {}
            for module, value in self._offered():
                name = self._name_of(value)
                if name and found.setdefault(name, (module, value))[1] is not value:
                    raise ModelError(f"{self.what} {name!r} is in two files: {found[name][0]} and {module}")
            self._found = {name: found[name][1] for name in sorted(found)}
        return self._found

    def __getitem__(self, name: str) -> T:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def refuse_unknown(self, name: str, besides: tuple[str, ...] = ()) -> None:
        """Refuse a name that nobody has registered, with all that there are.

        Raises
        ------
        PydanticCustomError
            If it is neither of the room nor one of `besides`.
        """
        if name not in self and name not in besides:
            raise refusal(f"unknown {self.what} {name!r}", f"expected: {', '.join((*self, *besides))}")


def room_of(what: str, package: str, base: type[Any]) -> Room[type[Any]]:
    """The room of the classes below `base` that have a `name` of their own.

    Parameters
    ----------
    what
        What one is called in messages.
    package
        Whose modules are searched.
    base
        What all of them are.
    """

    def offered() -> Iterator[tuple[str, type[Any]]]:
        return ((kind.__module__, kind) for kind in classes_in(package) if issubclass(kind, base))

    return Room(what, offered, lambda kind: str(vars(kind).get("name", "")))


class NameIn:
    """For the annotation of a field: the name of something in a room.

    Parameters
    ----------
    room
        Where it must be.
    besides
        Further names that are allowed.
    """

    def __init__(self, room: Room[Any], *besides: str) -> None:
        self._room = room
        self._besides = besides

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Check the name."""
        return core_schema.no_info_after_validator_function(self._checked, handler(source))

    def _checked(self, name: str) -> str:
        self._room.refuse_unknown(name, self._besides)
        return name

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """List the names."""
        return {**handler(schema), "enum": [*self._room, *self._besides]}
