"""Public names with their signatures as text; ``python -m raidsim.tests.api.signatures`` writes the frozen list."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import raidsim

FROZEN = Path(__file__).parent / "signatures.txt"


def signatures() -> str:
    """A line for each public name, and for each public member of a class."""
    return "\n".join(line for name in raidsim.__all__ for line in _lines(name, getattr(raidsim, name))) + "\n"


def _lines(name: str, value: Any) -> Iterator[str]:
    if inspect.isclass(value):
        # Users make scenarios; answers are made by functions.
        yield f"class {name}{_signature(value) if value is raidsim.Scenario else ''}"
        for member in sorted(dir(value)):
            if not member.startswith("_") and not issubclass(value, Exception):
                yield from _member(f"{name}.{member}", inspect.getattr_static(value, member))
    elif callable(value):
        yield f"{name}{_signature(value)}"
    else:
        yield name


def _member(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, property):
        yield f"{name} -> {inspect.signature(value.fget).return_annotation}"  # type: ignore[arg-type]
    elif isinstance(value, (classmethod, staticmethod)):
        yield f"{name}{_signature(value.__func__)}"
    else:
        yield f"{name}{_signature(value)}" if inspect.isfunction(value) else name


def _signature(value: Any) -> str:
    return str(inspect.signature(value)).replace("'", "")


if __name__ == "__main__":
    FROZEN.write_text(signatures(), encoding="utf-8")
