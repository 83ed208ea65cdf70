"""Checking plain data against a description, with one message a person can act on.

Pydantic reports every violation with its own wording; here the first one in the order of the file becomes one
`InputError` that names the file, the line and the field, what was found there and what is expected. An unknown key
is answered with the closest known one.
"""

from __future__ import annotations

import difflib
import re
import types
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from ..core.errors import InputError
from .description import Spec
from .yaml_files import KeyPath, Positions, read_yaml

_Model = TypeVar("_Model", bound=BaseModel)
_Spec = TypeVar("_Spec", bound=Spec)
_NOTHING = object()
_PLAIN_WORDS = {
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "list_type": "a list",
    "tuple_type": "a list",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "text",
}
"""What is expected, where pydantic speaks of Python's types."""

_LENGTHS = {
    "too_short": ("min_length", "at least", "item"),
    "too_long": ("max_length", "at most", "item"),
    "string_too_short": ("min_length", "at least", "character"),
    "string_too_long": ("max_length", "at most", "character"),
}
"""The bound that pydantic names, and how it is said."""


@lru_cache(maxsize=64)
def _validator(model_class: Any) -> Callable[..., Any]:
    """What validates a class of descriptions, built once: the class itself, which others that hold it then use."""
    if isinstance(model_class, type) and issubclass(model_class, BaseModel):
        return model_class.model_validate
    return TypeAdapter(model_class).validate_python


def load_spec(model_class: type[_Model], path: Path | str) -> _Model:
    """The description in a YAML file; raises `InputError` naming file, line and field."""
    data, positions = read_yaml(path)
    return validate(model_class, data, positions)


def validate(model_class: type[_Model], data: object, positions: Positions | None = None) -> _Model:
    """A description from plain data.

    Parameters
    ----------
    model_class
        The description's class; an annotated union of classes works as well.
    data
        What was read; numbers that need a unit must have one.
    positions
        The lines of the file it came from, if it came from one.

    Returns
    -------
    BaseModel
        The description.

    Raises
    ------
    InputError
        About the first thing that is wrong, and how many more there are.
    """
    try:
        found: _Model = _validator(model_class)(data, context={"units": "required"})
        return found
    except ValidationError as error:
        raise _first_error(model_class, data, positions, error) from None
    except InputError as error:
        place = f"{positions.file}: {error.place}" if positions is not None else error.place
        raise InputError(place, error.found, error.expected) from None


def changed(base: _Spec, changes: Mapping[str, Any], units_required: bool = False) -> _Spec:
    """A validated copy of a description with some fields replaced.

    Parameters
    ----------
    base
        The description.
    changes
        New values by field, as a file has them.
    units_required
        Whether bare numbers are refused in `changes` where a unit belongs.

    Raises
    ------
    InputError
        About the first thing that is wrong; its place is the field, or "" if it is about several of them.
    """
    data = base.with_fields(changes)
    context = {"units": "required", "only": frozenset(changes)} if units_required else None
    try:
        return type(base).model_validate(data, context=context)
    except ValidationError as error:
        path, found, expected = _first_problem(type(base), data, error, Positions(""))
        raise InputError(_field(path), found, expected) from None


def located(error: InputError, positions: Positions) -> InputError:
    """An error about a field ("arrays.md0.balance") of a description that was read from a file, with file and line."""
    parts = re.findall(r"[^.\[\]]+", error.place)
    path = tuple(int(part) if part.isdecimal() else part for part in parts)
    written = positions.written(path)
    field = error.place if written == path else _field(written)
    return InputError(f"{positions.place(path)}: field {field}", error.found, error.expected)


def _first_error(model_class: Any, data: object, positions: Positions | None, error: ValidationError) -> InputError:
    path, found, expected = _first_problem(model_class, data, error, positions or Positions(""))
    written = positions.written(path) if positions is not None else path
    place = f"field {_field(written)}" if path else "the description"
    if positions is not None:
        place = f"{positions.place(path)}: {place}"
    return InputError(place, found, expected)


def _first_problem(
    model_class: Any, data: object, error: ValidationError, lines: Positions
) -> tuple[KeyPath, str, str]:
    """Where the first thing that is wrong stands, what was found there, and what is expected."""
    details = error.errors(include_url=False)

    paths = [_data_path(data, detail) for detail in details]
    outer = {path[:length] for path in paths for length in range(len(path))}

    def order(number: int) -> tuple[bool, bool, int]:
        # A list is too short because its only item is wrong: the item says why. A missing key is often a misspelt one,
        # and then the misspelt key says more.
        return paths[number] in outer, details[number]["type"] == "missing", lines.line(paths[number])

    first = details[min(range(len(details)), key=order)]
    found, expected = _explained(model_class, first)
    # What was written once for several things (drives alike) is wrong once.
    path = _data_path(data, first)
    more = sum(lines.written(each) != lines.written(path) for each in paths if each not in outer)
    return path, found, f"{expected} (and {more} more)" if more else expected


def _data_path(data: object, detail: ErrorDetails) -> KeyPath:
    """Path in the data of an error's location, which also holds names of union members."""
    path: list[str | int] = []
    location = detail["loc"]
    for i, part in enumerate(location):
        inner = _inside(data, part)
        if inner is not _NOTHING:
            data = inner
        elif i < len(location) - 1 or detail["type"] not in ("missing", "extra_forbidden", "invalid_key"):
            continue
        path.append(part)
    return (*path, *detail.get("ctx", {}).get("at", ()))


def _inside(data: object, part: str | int) -> object:
    """What stands at `part` of the data, or `_NOTHING`."""
    if isinstance(data, Mapping):
        return data.get(part, _NOTHING)
    if isinstance(data, list) and isinstance(part, int) and part < len(data):
        return data[part]
    return _NOTHING


def _field(path: KeyPath) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def _explained(model_class: Any, detail: ErrorDetails) -> tuple[str, str]:
    """What was found and what is expected, in our words."""
    kind, context, value = detail["type"], detail.get("ctx", {}), detail["input"]
    if kind == "refused":
        return f"found {context['found']}", str(context["expected"])
    if kind == "extra_forbidden":
        return _unknown_key(str(detail["loc"][-1]), _known_keys(model_class, detail["loc"][:-1]))
    if kind == "invalid_key":
        return f"found the key {detail['loc'][-1]!r}", "expected: a name"
    if kind == "missing":
        return "it is missing", "required"
    if kind == "union_tag_not_found":
        tag = str(context["discriminator"]).strip("'")
        return f"found no {tag}", f"expected: {tag} says which kind it is"
    found = f"found {_shown(value)}"
    if kind == "union_tag_invalid":
        tags = [tag.strip().strip("'") for tag in str(context["expected_tags"]).split(",")]
        name = str(context["discriminator"]).strip("'")
        return f"found the {name} {context['tag']!r}", _choice(str(context["tag"]), tags)
    if kind in ("literal_error", "enum"):
        choices = [part.strip("'") for part in str(context["expected"]).replace(" or ", ", ").split(", ")]
        return found, _choice(str(value), choices)
    if kind == "value_error":
        message = detail["msg"].removeprefix("Value error, ")
        what, separator, right = message.partition("; ")
        return (f"found {what}", right) if separator and isinstance(value, Mapping) else (found, message)
    if kind in _LENGTHS:
        bound, words, unit = _LENGTHS[kind]
        return found, f"expected: {words} {context[bound]} {unit}{'s' * (context[bound] != 1)}"
    expected = _PLAIN_WORDS.get(kind) or detail["msg"].removeprefix("Input should be ")
    return found, f"expected: {expected}"


def _unknown_key(key: str, known: list[str]) -> tuple[str, str]:
    return f"found the unknown key {key!r}", _choice(key, known)


def _choice(word: str, choices: list[str]) -> str:
    expected = "expected: " + ", ".join(choices) if choices else "nothing is expected here"
    folded = {choice.casefold(): choice for choice in choices}
    close = [folded[fold] for fold in difflib.get_close_matches(word.casefold(), folded, n=1, cutoff=0.6)]
    return f"did you mean {close[0]!r}? {expected}" if close else expected


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _known_keys(model_class: Any, location: tuple[int | str, ...]) -> list[str]:
    """The keys of the description that stands at an error's location."""
    candidates = list(_members(model_class))
    for part in location:
        candidates = [inner for candidate in candidates for inner in _step(candidate, part)]
    keys = {
        info.alias or name: None
        for model in candidates
        if isinstance(model, type) and issubclass(model, BaseModel)
        for name, info in model.model_fields.items()
    }
    return list(keys)


def _members(annotation: Any) -> Iterator[Any]:
    """The classes an annotation can mean."""
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from _members(get_args(annotation)[0])
    elif origin in (Union, types.UnionType):
        for member in get_args(annotation):
            yield from _members(member)
    else:
        yield annotation


def _step(annotation: Any, part: int | str) -> Iterator[Any]:
    """What stands at `part` of something annotated so."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        for name, info in annotation.model_fields.items():
            if part == (info.alias or name):
                yield from _members(info.annotation)
                return
        if part == annotation.__name__ or any(
            part in _literals(info.annotation) for info in annotation.model_fields.values()
        ):
            yield annotation
    elif get_args(annotation):
        inner = get_args(annotation)
        yield from _members(inner[1] if len(inner) == 2 and inner[1] is not Ellipsis else inner[0])


def _literals(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) is Literal else ()
