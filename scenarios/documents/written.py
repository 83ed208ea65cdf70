"""A whole scenario as a file would have it: every default filled in, and every quantity with its unit."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from ...model.files.description import Duration, Frequency, Power, Rate, Rotation, Size
from ...model.files.quantities import parse_frequency, parse_rate, parse_size, parse_time

_Writer = Callable[[Any], Any]
_TIMES = ("s", "ms", "us", "ns", "min", "h", "d")
_SIZES = ("TiB", "GiB", "MiB", "KiB", "TB", "GB", "MB", "kB")


def written(spec: BaseModel) -> dict[str, Any]:
    """Plain data that a file may hold, and that means exactly `spec` when it is read again."""
    found: dict[str, Any] = {}
    for name, field in type(spec).model_fields.items():
        value = getattr(spec, name)
        if value is None:
            continue
        found[field.alias or name] = written_value(field, value)
    return {**found, **getattr(spec, "unset", {})}


def written_value(field: FieldInfo, value: Any) -> Any:
    """A value of a description's field as a file would have it."""
    annotation: Any = field.annotation
    for extra in field.metadata:
        annotation = Annotated[annotation, extra]
    return _value(annotation, value)


def _value(annotation: Any, value: Any) -> Any:
    """A value of a field that is annotated so."""
    if isinstance(value, BaseModel):
        return written(value)
    if isinstance(value, Mapping):
        key_kind, inner = _arguments(annotation, dict, (Any, Any))
        return {_value(key_kind, key): _value(inner, item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        inner = _arguments(annotation, tuple, (Any, ...))[0]
        return [_value(inner, item) for item in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        for arm in _arms(annotation):
            writer = _writer(arm)
            if writer is not None:
                return writer(value)
    return value


def _arms(annotation: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The alternatives of an annotation with all that is said about each."""
    origin = get_origin(annotation)
    if origin is Annotated:
        kind, *extras = get_args(annotation)
        yield from _arms(kind, (*above, *extras))
    elif origin in (Union, types.UnionType):
        for inner in get_args(annotation):
            yield from _arms(inner, above)
    else:
        yield annotation, *above


def _arguments(annotation: Any, kind: type, otherwise: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a mapping's or a list's annotation says about what is inside."""
    for plain, *_ in _arms(annotation):
        if get_origin(plain) is kind:
            return get_args(plain)
    return otherwise


def _writer(arm: tuple[Any, ...]) -> _Writer | None:
    """How the values of an alternative are written, if they are quantities."""
    for mark, writer in _WRITERS:
        if any(extra is mark for extra in arm[1:]):
            return writer
    return None


def _shortest(value: float, candidates: Iterable[str], parse: Callable[[object, str], float], exact: str) -> str:
    """The shortest text that is read as exactly `value`, if possible without a zero before the point."""
    fitting = [text for text in candidates if parse(text, "") == value]
    return min(fitting, key=lambda text: (text.startswith("0."), len(text)), default=exact)


def _time(value: float) -> str:
    factors = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9, "min": 1 / 60, "h": 1 / 3600, "d": 1 / 86400}
    candidates = (f"{value * factors[unit]:.12g}{unit}" for unit in _TIMES)
    return _shortest(value, candidates, parse_time, f"{value!r}s")


def _size(value: int) -> str:
    exact = f"{value}B"
    factors = {unit: parse_size(f"1{unit}") for unit in _SIZES}
    candidates = [f"{value // factor}{unit}" for unit, factor in factors.items() if value and value % factor == 0]
    return _shortest(value, [*candidates, exact], parse_size, exact)


def _rate(value: float) -> str:
    factors = {unit: parse_size(f"1{unit}") for unit in ("GB", "MB", "kB", "GiB", "MiB", "KiB")}
    candidates = (f"{value / factor:.12g}{unit}/s" for unit, factor in factors.items())
    return _shortest(value, candidates, parse_rate, f"{value!r}B/s")


def _frequency(value: float) -> str:
    factors = {"GHz": 1e9, "MHz": 1e6, "kHz": 1e3, "Hz": 1.0}
    candidates = (f"{value / factor:.12g}{unit}" for unit, factor in factors.items())
    return _shortest(value, candidates, parse_frequency, f"{value!r}Hz")


def _mark(quantity: Any) -> Any:
    """What a quantity's fields are known by: the validator that reads it."""
    return get_args(quantity)[1]


_WRITERS: tuple[tuple[Any, _Writer], ...] = (
    (_mark(Size), _size),
    (_mark(Duration), _time),
    (_mark(Rate), _rate),
    (_mark(Frequency), _frequency),
    (_mark(Power), lambda value: f"{value!r}W"),
    (_mark(Rotation), lambda value: f"{value!r}rpm"),
)
