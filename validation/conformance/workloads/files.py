"""What the checks of programs share: fields with their types, files next to a recording, and readable differences."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from ....model.core.errors import InputError
from ..base import NotSupported, TruthFile
from ..shapes import Shape

_SHOWN = 8

AnyShape = TypeVar("AnyShape", bound=Shape)


def parsed(shape: type[AnyShape], file: TruthFile) -> AnyShape:
    """The content of a file as `shape`; raises `NotSupported` with the field if it has another version's form."""
    try:
        return shape.model_validate_json(json.dumps(file.content))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        message = first["msg"].removeprefix("Input should be ")
        found = f"field {field} is missing or of another form"
        raise NotSupported(file.path.name, found, f"expected: {message}") from None


def lines_of(path: Path) -> list[str] | None:
    """The lines of a text file that may be compressed; None if there is none.

    Raises
    ------
    InputError
        If it is there and cannot be read.
    """
    if not path.is_file():
        return None
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise InputError(
            path.name, f"cannot be read ({error})", "expected: text, compressed by gzip if it ends in .gz"
        ) from None
    return text.splitlines()


def first_difference(recorded: Iterable[str], model: Iterable[str], first_line: int = 1) -> str:
    """The first line in which two texts differ, or "". `first_line` is the number of the first."""
    for number, (real, ours) in enumerate(zip_longest(recorded, model), first_line):
        if real != ours:
            return f"line {number}: recorded {_shown(real)}, model {_shown(ours)}"
    return ""


def field_differences(recorded: Mapping[str, Any], model: Mapping[str, Any]) -> str:
    """The fields of `recorded` and `model` that are not the same, or ""."""
    names = [*recorded, *(name for name in model if name not in recorded)]
    wrong = (
        f"{name}: recorded {recorded.get(name, 'nothing')}, model {model.get(name, 'nothing')}"
        for name in names
        if recorded.get(name) != model.get(name)
    )
    return "\n".join(islice(wrong, _SHOWN))


def beyond(recorded: Mapping[str, float], model: Mapping[str, float], share: float) -> str:
    """The numbers that differ by more than `share` of the recorded one, or ""."""
    wrong = (
        f"{name}: recorded {real:g}, model {model[name]:g}, more than {share:.1%} apart"
        for name, real in recorded.items()
        if abs(model[name] - real) > share * abs(real)
    )
    return "\n".join(islice(wrong, _SHOWN))


def _shown(line: str | None) -> str:
    return "nothing" if line is None else repr(line)
