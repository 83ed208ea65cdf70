"""The format of documents as JSON Schema (draft 2020-12): what editors check and complete scenario files with.

It is made from the descriptions themselves, so that it cannot fall behind them: their fields, types, bounds and
docstrings, and on top of that what a document may leave out or write in short.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from ...model.controller.catalogue import controller_names
from ...model.crypt.ciphers import cipher_names
from ...model.drives.catalogue import drive_names
from ...model.file_system import file_system_names
from ...model.files.description import Spec
from ...model.files.field_words import field_words, plain
from ...model.kernels import distributions, kernel_names
from ...model.layouts import LEVELS
from ...model.raid.read_balance import READ_BALANCE
from ..description.arrays import NONE
from ..description.scenario import ScenarioSpec
from .changes.aliases import STATES
from .changes.merge import DRIVES_ALIKE
from .library import PREFIX
from .machine_catalogue import cpu_names, machine_names
from .machine_shorthands import MOST_DRIVES, MOST_PARTITIONS
from .written import written_value

Schema = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
_OPTIONAL = {
    "MachineSpec": (),
    "CpuSpec": (),
    "LinkSpec": (),
    "ChannelSpec": (),
    "DriveInstance": ("model",),
    "ArraySpec": (),
    "LoadSpec": (),
    "NamedLoad": ("name",),
    "LoadsSpec": (),
    "DdSpec": (),
    "ProgramsSpec": ("steps",),
    "FileSystemSpec": ("kind",),
}
"""What remains required of descriptions that a document may leave incomplete."""
_NULL: Schema = {"type": "null"}
_LINK_NAME: Schema = {"type": "string", "examples": ["PCIe 4.0 x8", "SAS 12Gb/s x4", "9300-8i"]}
_NETWORK_NAME: Schema = {"type": "string", "examples": ["10GbE", "100GbE"]}
_NOTES = ("title", "description", "default", "examples")
"""What says nothing about whether a value fits."""


@lru_cache(maxsize=1)
def document_schema() -> Schema:
    """The schema; not to be changed in place."""
    return _made(described=True)


@lru_cache(maxsize=1)
def document_structure() -> Schema:
    """The schema without what fields mean, which is read from the source and takes longer than the rest."""
    return _made(described=False)


def _made(described: bool) -> Schema:
    root: Schema = copy.deepcopy(ScenarioSpec.model_json_schema(mode="validation"))
    defs: dict[str, Schema] = root["$defs"]
    for name, model in _descriptions().items():
        if name in defs:
            _describe(defs[name], model, described)
    _describe(root, ScenarioSpec, described)
    for name, required in _OPTIONAL.items():
        defs[name]["required"] = list(required)
    root.pop("required", None)
    _names(root, defs)
    _shorthands(root, defs)
    for schema in (root, *defs.values()):
        _allow_null(schema)
    _tidy(root)
    root.pop("title", None)
    head = {"$schema": DIALECT, "title": "raidsim scenario"}
    root["description"] = "A scenario: machine, kernel, arrays, file systems and a load. Everything has a default."
    return {**head, **root}


def _names(root: Schema, defs: dict[str, Schema]) -> None:
    """Names from catalogues."""
    choices: list[tuple[Schema, str, list[str]]] = [
        (root, "kernel", [*kernel_names(), *distributions()]),
        (defs["DriveInstance"], "model", list(drive_names())),
        (defs["ControllerInstance"], "model", list(controller_names())),
        (defs["FileSystemSpec"], "kind", list(file_system_names())),
    ]
    for schema, field, names in choices:
        schema["properties"][field]["enum"] = names
    defs["EncryptedSpec"]["properties"]["cipher"]["anyOf"][0]["enum"] = list(cipher_names())


def _shorthands(root: Schema, defs: dict[str, Schema]) -> None:
    """What a document may say instead."""
    fields, machine, array = root["properties"], defs["MachineSpec"]["properties"], defs["ArraySpec"]["properties"]
    fields["extends"] = {
        "type": "string",
        "description": f"A file in the same folder or below it, or {PREFIX}NAME: this document is laid over that one.",
        "examples": [f"{PREFIX}database-server", "base.yaml"],
    }
    _either(fields, "machine", {"enum": list(machine_names())})
    _either(machine, "cpu", {"enum": list(cpu_names())})
    machine["model"] = {"enum": list(machine_names()), "description": "A machine of the catalogue that this changes."}
    defs["CpuSpec"]["properties"]["model"] = {
        "enum": list(cpu_names()),
        "description": "A core of the catalogue that this changes.",
    }
    links = machine["links"]
    links["additionalProperties"] = {"anyOf": [{"$ref": "#/$defs/LinkSpec"}, _LINK_NAME]}
    network = defs["NetworkSpec"]["properties"]
    for field in ("port", "client_port"):
        _either(network, field, _NETWORK_NAME)
    port = {key: copy.deepcopy(value) for key, value in defs["ChannelSpec"]["properties"].items()}
    machine["port"] = {
        "type": "object",
        "properties": port,
        "additionalProperties": False,
        "description": "The channel that every drive has which names none; by the drive's interface unless given.",
    }
    defs["DrivesInShort"] = _drives_in_short(defs["DriveInstance"])
    one_by_one = machine["drives"]
    one_by_one["additionalProperties"] = {"anyOf": [{"$ref": "#/$defs/DriveInstance"}, {"enum": list(drive_names())}]}
    _either(machine, "drives", {"$ref": "#/$defs/DrivesInShort"})
    for field in ("members", "spares", "failed", "rebuilding"):
        _either(array, field, {"type": "string"}, {"type": "integer", "minimum": 0})
    _either(array, "write_mostly", {"type": "string"})
    array["state"] = {
        "anyOf": [{"enum": list(STATES)}, {"type": "object"}],
        "description": "A state in a word, or {reshaping: {from: {members: 3}, at: 40%}}.",
    }
    _either(array, "bitmap", {"const": NONE})
    _either(array, "balance", {"enum": sorted(READ_BALANCE)})
    fields["arrays"]["additionalProperties"] = {"anyOf": [{"enum": list(LEVELS)}, {"$ref": "#/$defs/ArraySpec"}, _NULL]}
    _either(defs["VolumeSpec"]["properties"], "on", {"type": "string"})
    partitions = {"type": "integer", "minimum": 1, "maximum": MOST_PARTITIONS}
    fields["volumes"]["additionalProperties"] = {"anyOf": [partitions, {"$ref": "#/$defs/VolumeSpec"}, _NULL]}
    _either(defs["PoolSpec"]["properties"], "vdevs", {"type": "string"})
    fields["pools"]["additionalProperties"] = {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/PoolSpec"}, _NULL]}
    fields["file_systems"]["additionalProperties"] = {
        "anyOf": [{"enum": list(file_system_names())}, {"$ref": "#/$defs/FileSystemSpec"}, _NULL]
    }
    fields["workloads"] = {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/NamedLoad"}}
    in_phase = defs["LoadsPhase"]["properties"]["workloads"]
    for schema in in_phase.get("anyOf", [in_phase]):
        if "items" in schema:
            schema["items"] = {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/PhaseLoad"}]}
    for kind in ("LoadSpec", "NamedLoad", "PhaseSpec", "PhaseLoad"):
        for field in ("arrivals", "locality"):
            _either(defs[kind]["properties"], field, {"enum": _kinds(defs[kind]["properties"][field], root)})
    for kind in ("DdSpec", "LoadSpec", "NamedLoad"):
        _either(defs[kind]["properties"], "targets", {"type": "string"})


def _drives_in_short(drive: Schema) -> Schema:
    """A number of drives of a model, and what is different about some of them."""
    inner = copy.deepcopy(drive["properties"])
    return {
        "type": "object",
        "description": "So many equal drives: disk0, disk1 and so on.",
        "properties": {
            **inner,
            "count": {"type": "integer", "minimum": 1, "maximum": MOST_DRIVES, "description": "How many."},
        },
        "patternProperties": {
            "^disk[0-9]+$": {
                "type": "object",
                "properties": copy.deepcopy(inner),
                "additionalProperties": False,
                "description": "What is different about one of them.",
            }
        },
        "anyOf": [{"required": [key]} for key in DRIVES_ALIKE],
        "additionalProperties": False,
    }


def _kinds(schema: Schema, root: Schema) -> list[str]:
    """Names of the alternatives that a field has."""
    kinds = (inner["properties"]["kind"] for inner in schema_at(schema, root))
    return [kind["const"] for kind in kinds if "const" in kind]


def _either(properties: dict[str, Schema], field: str, *others: Schema) -> None:
    """Let a field be something else as well, under the same description."""
    schema = properties[field]
    notes = {word: schema.pop(word) for word in _NOTES if word in schema}
    alternatives = schema.pop("anyOf", [])
    properties[field] = {"anyOf": [*others, *alternatives, *([schema] if schema else [])], **notes}


def _allow_null(schema: Schema) -> None:
    """A key that is null is as good as none, and removes what an extended document has."""
    required = schema.get("required", ())
    for field, inner in schema.get("properties", {}).items():
        if field in required or _NULL in inner.get("anyOf", ()) or inner == {}:
            continue
        _either(schema["properties"], field, _NULL)


def _tidy(schema: Any) -> None:
    """Leave out titles, which only repeat the names; workloads and the like need not say their kind."""
    if isinstance(schema, list):
        for inner in schema:
            _tidy(inner)
        return
    if not isinstance(schema, dict):
        return
    if isinstance(schema.get("title"), str):
        del schema["title"]
    if "oneOf" in schema and "anyOf" not in schema:
        schema["anyOf"] = schema.pop("oneOf")
    schema.pop("discriminator", None)
    for key, inner in schema.items():
        if key not in ("enum", "const", "examples", "default"):
            _tidy(inner)


def _descriptions() -> dict[str, type[BaseModel]]:
    """All descriptions by name."""

    def below(kind: type[BaseModel]) -> Iterator[type[BaseModel]]:
        for inner in kind.__subclasses__():
            yield inner
            yield from below(inner)

    return {kind.__name__: kind for kind in below(Spec)}


def _describe(schema: Schema, model: type[BaseModel], described: bool) -> None:
    """Write defaults as documents do, and put a description's docstrings where editors look for them."""
    words = field_words(model) if described else {}
    if model.__doc__ and described:
        schema["description"] = plain(inspect.cleandoc(model.__doc__))
    for name, info in model.model_fields.items():
        inner = schema["properties"][info.alias or name]
        if inner.get("default") is not None:
            inner["default"] = written_value(info, info.default)
        elif "default" in inner:
            del inner["default"]
    for field, inner in schema.get("properties", {}).items():
        if field in words:
            unit = inner.get("description")
            inner["description"] = f"{words[field].rstrip('.')} ({unit})." if unit else words[field]


def schema_at(schema: Schema, root: Schema) -> Iterator[Schema]:
    """The alternatives that a schema has, with references followed."""
    if "$ref" in schema:
        yield from schema_at(root["$defs"][schema["$ref"].rsplit("/", 1)[-1]], root)
    if schema.keys() & {"properties", "additionalProperties", "items", "patternProperties"} or not schema:
        yield schema
    for word in ("anyOf", "oneOf", "allOf"):
        for inner in schema.get(word, ()):
            yield from schema_at(inner, root)
