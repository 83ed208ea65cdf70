"""Fields of descriptions: each is read, defaults are those of the manual's tables, and shares are shares."""

from __future__ import annotations

import ast
import contextlib
import importlib
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated, Any, get_args

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from raidsim.model.controller.catalogue import ControllerSpec
from raidsim.model.core.errors import InputError
from raidsim.model.disk.spec import DriveSpec
from raidsim.model.file_system import FileSystemSettings
from raidsim.model.files.quantities import parse_fraction, parse_size, parse_time
from raidsim.model.kernels.spec import KernelSpec
from raidsim.model.solid_state.spec import SolidStateSpec
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.designs.requirement import RequirementSpec
from raidsim.tests.house import ROOT, sources
from raidsim.tests.manual_pages import pages

_TABLE = re.compile(r"^\| (?:key|option|`service`) [^\n]*\| default \|[^\n]*\n\|[-|]+\|\n((?:\|.*\n)*)", re.MULTILINE)


def _take(annotation: Any, found: set[type[BaseModel]]) -> None:
    """All descriptions inside a type."""
    for inner in get_args(annotation):
        _take(inner, found)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel) and annotation not in found:
        found.add(annotation)
        for field in annotation.model_fields.values():
            _take(field.annotation, found)


def _meanings(text: str) -> list[Any]:
    """What a default of a table may stand for."""
    found: list[Any] = [text, {"yes": True, "true": True, "no": False, "false": False}.get(text, text)]
    for parse in (float, parse_time, parse_size, parse_fraction):
        with contextlib.suppress(ValueError, InputError):
            found.append(parse(text))
    return found


def _written() -> Iterator[tuple[str, str, bool]]:
    """Name and default of each row of the tables, and whether the default is a value and no description of one."""
    for page in pages():
        for table in _TABLE.findall(page.read_text(encoding="utf-8")):
            for row in table.splitlines():
                cells = [cell.strip() for cell in row.split("|")[1:-1]]
                names, values = re.findall(r"`(\w+)`", cells[0]), cells[-2].split(", ")
                for name, value in zip(names, values, strict=True) if len(names) == len(values) else ():
                    plain = value.strip("`")
                    is_value = plain not in ("none", "{}") and value == f"`{plain}`"
                    yield name, plain, is_value or len(_meanings(plain)) > 2


def test_tables_have_the_defaults_of_the_fields() -> None:
    """Protects readers of the manual, and defaults: a value in a table is that of the field of this name, where every
    description with such a field has a default for it.
    """
    defaults: dict[str, list[Any]] = {}
    kinds: set[type[BaseModel]] = set()
    _take(ScenarioSpec | RequirementSpec, kinds)
    for kind in kinds:
        for name, field in kind.model_fields.items():
            if not field.is_required() and field.default_factory is None:
                defaults.setdefault(name, []).append(field.default)
    compared, wrong = 0, []
    for name, text, is_value in _written():
        known = defaults.get(name, [None])
        if is_value and None not in known:
            compared += 1
            if not any(meaning == value for meaning in _meanings(text) for value in known):
                wrong.append((name, text, known))
    assert wrong == []
    assert compared >= 5


def _shares() -> Iterator[tuple[type[BaseModel], str]]:
    """Fields of descriptions whose words begin with "Share"."""
    for path in sorted(path for top in ("model", "scenarios") for path in (ROOT / top).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.parse(text).body if "Share" in text else ():
            if isinstance(node, ast.ClassDef):
                said = ast.get_docstring(node) or ""
                names = re.findall(r"^(\w+)\n    Share", said, re.MULTILINE)
                for field, words in pairwise(node.body):
                    if isinstance(field, ast.AnnAssign) and ast.unparse(words).startswith(("'Share", '"""Share')):
                        names.append(ast.unparse(field.target))
                module = ".".join(("raidsim", *path.relative_to(ROOT).with_suffix("").parts))
                kind = getattr(importlib.import_module(module), node.name) if names else None
                if kind is not None and issubclass(kind, BaseModel):
                    yield from ((kind, name) for name in names if name in kind.model_fields)


def test_a_share_is_between_none_and_all() -> None:
    """Protects results from shares below 0 % or above 100 %, in every description that has one."""
    fields = list(_shares())
    assert len(fields) >= 12
    for kind, name in fields:
        field = kind.model_fields[name]
        bounded: Any = Annotated[field.annotation, *field.metadata, name]
        value: TypeAdapter[Any] = TypeAdapter(bounded)
        assert value.validate_python(0.5) == 0.5
        for beyond in (-0.01, 1.01):
            with pytest.raises(ValidationError):
                value.validate_python(beyond)


READ_BY_KIND = {"read_p99", "write_p99"}
"""Limits of a requirement, looked up by direction and figure; limits on means have names that others read too."""
TOLD_ONLY = {"host_interface"}
"""What a controller's entry says to people."""


def _of_zfs(name: str) -> str:
    """A module parameter of ZFS as the model has it."""
    return name.removeprefix("zfs_").removeprefix("vdev_")


def test_every_field_is_read() -> None:
    """Protects people from fields that are accepted and change nothing: code beside the description reads each, by its
    name, its name with the unit of seconds, or its name as a word.
    """
    read: set[str] = set()
    for path in sources().values():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                read.add(node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                read.add(node.value)
    kinds: set[type[BaseModel]] = set()
    _take(
        ScenarioSpec | RequirementSpec | KernelSpec | DriveSpec | SolidStateSpec | ControllerSpec | FileSystemSettings,
        kinds,
    )
    fields = {(kind.__name__, name) for kind in kinds for name in kind.model_fields}
    assert len(fields) > 500
    unread = {(kind, name) for kind, name in fields if not {name, f"{name}_s", _of_zfs(name)} & read}
    assert {name for _, name in unread} == READ_BY_KIND | TOLD_ONLY
