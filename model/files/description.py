"""Descriptions at the edge: the base class of every frozen description, and its types with units.

A field declared ``rate: Rate`` takes "60MB/s" and holds 60e6. From Python a bare number is taken as the
SI value that the field holds anyway, so a description made of a description's own values is the same; from
a file (context ``{"units": "required"}``, which :func:`~.description_errors.validate` sets) it is refused, because
`8.9` for a seek is far more often milliseconds than seconds. Where a file changes some fields of a description that
is there already, ``"only"`` in that context names them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError, core_schema

from ..core.errors import InputError
from .quantities import parse_fraction, parse_frequency, parse_power, parse_rate, parse_rotation, parse_size, parse_time


def refusal(found: str, expected: str, at: tuple[str | int, ...] = ()) -> PydanticCustomError:
    """The error a validator raises; `found` and `expected` become those of the `InputError` a person reads.

    A validator of a whole description says with `at` where inside it the trouble is.
    """
    return PydanticCustomError("refused", "{found}; {expected}", {"found": found, "expected": expected, "at": list(at)})


def _with_unit(parse: Callable[[object, str], float], *, above_zero: bool) -> BeforeValidator:
    def check(value: object, info: ValidationInfo) -> object:
        context = info.context if isinstance(info.context, dict) else {}
        bare = isinstance(value, (int, float)) and not isinstance(value, bool)
        needs_unit = context.get("units") == "required" and info.field_name in context.get("only", (info.field_name,))
        if bare and not needs_unit and math.isfinite(value) and value >= 0:  # type: ignore[operator,arg-type]
            if above_zero and not value:
                raise refusal("0 is not above 0", "expected: a number above 0")
            return value
        return _parsed(parse, value)

    return BeforeValidator(check)


def _parsed(parse: Callable[[object, str], float], value: object) -> float:
    try:
        return parse(value, "")
    except InputError as error:
        raise refusal(error.found, error.expected) from None


_NUMBER = r"^\s*(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*"
_SIZE_UNIT = "(B|bytes?|[kMGTP]B|[kKMGTPmgtp][iI][bB])"


def _schema(unit: str, what: str, examples: list[str], bare: str | None = None) -> WithJsonSchema:
    """How a quantity is written in a file: a number with a unit and, where `bare` names its type, one without."""
    written: dict[str, Any] = {"type": "string", "pattern": _NUMBER + unit + r"\s*$"}
    kinds = written if bare is None else {"anyOf": [written, {"type": bare, "minimum": 0}]}
    return WithJsonSchema({**kinds, "description": what, "examples": examples})


Size = Annotated[
    int,
    BeforeValidator(lambda value: _parsed(parse_size, value)),
    _schema(_SIZE_UNIT + "?", "bytes with a unit", ["512B", "64KiB", "1MiB", "80GB"], "integer"),
]
"""Bytes, 0 or more."""
PositiveSize = Annotated[Size, Field(gt=0)]
"""Bytes, 1 or more."""
_DURATION_UNIT = "(ns|us|[\N{MICRO SIGN}\N{GREEK SMALL LETTER MU}]s|ms|s|min|h|d|y)"
_DURATION_SCHEMA = WithJsonSchema(
    {
        "anyOf": [{"type": "string", "pattern": _NUMBER + _DURATION_UNIT + r"\s*$"}, {"const": 0}],
        "description": "a time with a unit",
        "examples": ["8.9ms", "30s", "2h"],
    }
)
Duration = Annotated[float, _with_unit(parse_time, above_zero=False), _DURATION_SCHEMA]
"""Seconds, 0 or more."""
PositiveDuration = Annotated[Duration, Field(gt=0)]
"""Seconds, above 0."""
Rate = Annotated[
    float,
    _with_unit(parse_rate, above_zero=True),
    _schema(_SIZE_UNIT + r"\s*/s(ec)?", "bytes per second", ["60MB/s", "1.5GiB/s"]),
]
"""Bytes per second, above 0."""
Rotation = Annotated[
    float, _with_unit(parse_rotation, above_zero=True), _schema("(rpm|RPM)", "turns per minute", ["7200rpm"])
]
"""Turns per minute, above 0."""
Frequency = Annotated[
    float, _with_unit(parse_frequency, above_zero=True), _schema("[kMG]?Hz", "a frequency", ["1.67GHz"])
]
"""Hertz, above 0."""
Power = Annotated[float, _with_unit(parse_power, above_zero=True), _schema("[mk]?W", "a power", ["5.6W", "650mW"])]
"""Watts, above 0."""
Fraction = Annotated[
    float,
    BeforeValidator(lambda value: _parsed(parse_fraction, value)),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "minimum": 0, "maximum": 1},
                {"type": "string", "pattern": _NUMBER + r"%?\s*$"},
            ],
            "description": "a share, 0 to 1 or 0% to 100%",
            "examples": ["70%", 0.3],
        }
    ),
]
"""0 to 1."""


def below_all(value: float) -> float:
    """Refuse a share of all, of which no rate can be made."""
    if value >= 1:
        raise refusal("100 %", "expected: below 100 %")
    return value


ShareBelowAll = Annotated[Fraction, AfterValidator(below_all)]
"""0 or more, below 1."""


class Spec(BaseModel):
    """Base of every description: frozen, no unknown keys, no NaN, and no true/false where a number belongs."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    # A validator of all fields would do, were it not for the fields that tell union members apart.
    @model_validator(mode="before")
    @classmethod
    def _no_truth_as_number(cls, data: Any) -> Any:
        if isinstance(data, Mapping):
            problems = [
                InitErrorDetails(
                    type=refusal("true" if value else "false", "expected: a number"), loc=(key,), input=value
                )
                for key, value in data.items()
                if isinstance(value, bool) and key in cls.model_fields and _is_number(cls.model_fields[key])
            ]
            if problems:
                raise ValidationError.from_exception_data(cls.__name__, problems)
        return data

    def with_fields(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of a copy with some of them replaced, to be validated; what follows from these follows.

        Parameters
        ----------
        changes
            New values by field, SI numbers or strings with units.
        """
        return {**self.model_dump(), **changes}


class BuiltWhenUsed:
    """For the annotation of a field that few descriptions set: what checks its class is built with the first one.

    Otherwise pydantic builds it with the description that has the field, and a scenario has every kind of workload.
    """

    def __get_pydantic_core_schema__(self, source: type[BaseModel], handler: GetCoreSchemaHandler) -> CoreSchema:
        """Check and write a value by what its class builds, which must not be asked for here."""

        def checked(value: Any, info: ValidationInfo) -> BaseModel:
            return source.model_validate(value, context=info.context)

        def written(value: Any, write: SerializerFunctionWrapHandler) -> Any:
            # That of a value that was not checked here, but made in another process, say.
            if isinstance(value, BaseModel):
                type(value).model_rebuild()
            return write(value)

        self._source = source
        return core_schema.with_info_plain_validator_function(
            checked,
            serialization=core_schema.wrap_serializer_function_ser_schema(written, schema=core_schema.any_schema()),
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """The JSON schema of the class, among the definitions that others refer to."""
        source = self._source
        source.model_rebuild()
        built: Any = source.__pydantic_core_schema__
        own, inner = (built["schema"], built["definitions"]) if built["type"] == "definitions" else (built, [])
        ref = f"{source.__module__}.{source.__qualname__}:{id(source)}"  # as pydantic calls it elsewhere
        return handler(core_schema.definitions_schema({**own, "ref": ref}, inner))


def refuse_set(spec: Spec, fields: Iterable[str], why: str) -> None:
    """Refuse fields that a description inherits but takes from another source, so that what is written would be
    ignored.
    """
    for field in fields:
        if getattr(spec, field) != type(spec).model_fields[field].default:
            raise refusal(f"{field} {getattr(spec, field)}", f"expected: leave it out, {why}", (field,))


def _is_number(field: FieldInfo) -> bool:
    """Whether a field is for bare numbers and not for true or false; types with units look for themselves."""
    kinds = {field.annotation, *get_args(field.annotation)}
    parsed = any(isinstance(validator, BeforeValidator) for validator in field.metadata)
    return bool(kinds & {int, float}) and bool not in kinds and not parsed
