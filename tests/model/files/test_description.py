"""Fields whose classes are built with the first value that they check: no other difference to fields without that."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import create_model

from raidsim.model.core.errors import InputError
from raidsim.model.files.description import BuiltWhenUsed, Duration, Spec
from raidsim.model.files.description_errors import validate
from raidsim.model.files.yaml_files import parse_yaml


def described() -> tuple[Any, Any, Any]:
    """A class, and two that have it in a field: built when it is used, and at once."""
    kind: Any = (Literal["load"], "load")
    load: Any = create_model("Load", __base__=Spec, kind=kind, time=(Duration, 1.0))
    lazy: Any = create_model("Holder", __base__=Spec, work=(Annotated[load, BuiltWhenUsed()] | None, None))
    eager: Any = create_model("Holder", __base__=Spec, work=(load | None, None))
    return load, lazy, eager


def test_a_class_is_built_with_its_first_value() -> None:
    """Protects the start of commands from the schemas of all that a scenario does not have. Counter-test: otherwise a
    class is built with the one that has the field.
    """
    load, lazy, eager = described()
    validate(lazy, {})
    assert not load.__pydantic_complete__
    assert "Load" not in str(lazy.__pydantic_core_schema__)
    assert validate(lazy, {"work": {"time": "2s"}}).work == load(time=2.0)
    assert load.__pydantic_complete__
    validate(eager, {})
    assert "Load" in str(eager.__pydantic_core_schema__)


@pytest.mark.parametrize(
    "text", ["work: {time: 2}", "work: {tmie: 2s}", "work: {kind: other}", "work: 3", "work: {time: true, more: 1}"]
)
def test_errors_are_the_same(text: str) -> None:
    """Protects messages: line, field, what was found and what is expected, with the unit that files need."""
    said = []
    for holder in described()[1:]:
        with pytest.raises(InputError) as error:
            validate(holder, *parse_yaml(text, "file.yaml"))
        said.append(str(error.value))
    assert said[0] == said[1]
    assert said[0].startswith("file.yaml:1: field work")


def test_the_json_schema_is_the_same() -> None:
    """Protects editors: the class stays one of the definitions that fields refer to. (Documents have no titles.)"""
    schemas = [holder.model_json_schema() for holder in described()[1:]]
    for schema in schemas:
        schema["properties"]["work"].pop("title", None)
    assert schemas[0] == schemas[1]
    assert "Load" in schemas[0]["$defs"]


def test_values_of_other_processes_are_written_the_same() -> None:
    """Protects workers: a value that was unpickled, and never checked here, is written like any other."""
    load, lazy, _ = described()
    held = lazy.model_construct(work=load.model_construct(kind="load", time=2.0))
    assert not load.__pydantic_complete__
    assert held.model_dump(exclude={"work": {"kind"}}) == {"work": {"time": 2.0}}
    assert held.model_dump(exclude_none=True) == {"work": {"kind": "load", "time": 2.0}}
    assert held.model_dump_json(exclude_defaults=True) == '{"work":{"time":2.0}}'
