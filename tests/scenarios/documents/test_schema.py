"""The JSON Schema of documents: it takes what raidsim takes, and refuses what raidsim refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import raidsim
from raidsim.model.core.errors import InputError
from raidsim.model.files.yaml_files import parse_yaml, read_yaml
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.documents.library import LIBRARY
from raidsim.scenarios.documents.schema import DIALECT, document_schema
from raidsim.tests.scenarios.json_schema_check import fits

FILES = [*sorted((Path(raidsim.__file__).parent / "docs" / "examples").glob("*.yaml")), *sorted(LIBRARY.glob("*.yaml"))]
GOOD = {
    "short": "machine: nas\narrays: {md0: raid5}",
    "counted": "machine: {drives: {count: 5, disk1: {major: 16}}}\narrays: {md0: {members: 4, failed: 1}}",
    "extends": "extends: library:home-nas\nworkload:\nmachine: {memory: null}",
    "cpu": "machine: {cpu: {model: nas-core, cores: 2}, port: {rate: 300MB/s}}",
    "units": "machine: {memory: 4 GiB, resident: 0}\nworkload: {duration: 1.5min, read_share: 0.3, span: 1e9B}",
    "named": "workload: {arrivals: constant, total_iops: 50, locality: zipf}",
    "loads of a phase": "workloads: [{name: a}, {name: b}]\n"
    "workload: {phases: [{name: am, lasts: 12h, workloads: [a]}, "
    "{name: pm, lasts: 12h, workloads: [a, {name: b, locality: zipf}]}]}",
    "volumes": "volumes: {disk0: 3, lv: {kind: linear, on: disk1, part: [1, 2]}}",
    "programs": "arrays: {md0: raid5}\nfile_systems: {/a: ext3}\nworkload: {steps: [{program: postmark}]}",
}
BAD = {
    "unknown key": "nam: x",
    "unknown inner key": "machine: {memroy: 4GiB}",
    "no unit": "workload: {duration: 5}",
    "wrong unit": "machine: {memory: 4GHz}",
    "ambiguous unit": "machine: {memory: 64KB}",
    "negative": "machine: {memory: -4GiB}",
    "unknown level": "arrays: {md0: raid9}",
    "unknown drive": "machine: {drives: {model: Nothing, count: 2}}",
    "unknown kernel": "kernel: linux-9",
    "unknown machine": "machine: mainframe",
    "too many drives": "machine: {drives: {count: 1000001}}",
    "share above the whole": "workload: {read_share: 1.5}",
    "depth of none": "workload: {depth: 0}",
    "list": "[a]",
    "no partitions": "volumes: {disk0: 0}",
    "unknown volume": "volumes: {lv: {kind: thin, on: disk0}}",
    "unknown key of a load in a phase": "workloads: [{name: a}]\nworkload: {phases: [{name: b, lasts: 1h, "
    "workloads: [{name: a, jbs: 2}]}]}",
    "unknown pattern": "workload: {pattern: sideways}",
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_all_files_are_valid(path: Path) -> None:
    """Every example and every scenario of the library fits the schema."""
    assert fits(read_yaml(path)[0], document_schema(), document_schema())


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD.keys())
def test_shorthands_are_valid(text: str) -> None:
    """What raidsim takes in short, an editor takes as well."""
    document_from(text).spec()
    assert fits(parse_yaml(text)[0], document_schema(), document_schema())


@pytest.mark.parametrize("text", BAD.values(), ids=BAD.keys())
def test_mistakes_are_not_valid(text: str) -> None:
    """What raidsim refuses for its form, an editor marks as well."""
    with pytest.raises(InputError):
        document_from(text).spec()
    assert not fits(parse_yaml(text)[0], document_schema(), document_schema())


def test_the_schema_says_what_fields_are() -> None:
    """Nearly every field has a description, quantities have examples, and defaults are as a file has them."""
    schema = document_schema()
    assert schema["$schema"] == DIALECT
    array, load = schema["$defs"]["ArraySpec"]["properties"], schema["$defs"]["LoadSpec"]["properties"]
    assert array["chunk"]["default"] == "64KiB"
    assert "64KiB" in array["chunk"]["examples"]
    assert "Read-balance policy" in array["balance"]["description"]
    assert load["warm_up"]["default"] == "1s"
    silent = [field for field, inner in {**array, **load}.items() if "description" not in inner]
    assert silent == ["kind"]


def test_every_reference_has_its_definition() -> None:
    """No part of the schema points at nothing, and no alternative takes everything."""
    schema = document_schema()

    def look(part: Any) -> None:
        if isinstance(part, dict):
            if "$ref" in part:
                assert part["$ref"].removeprefix("#/$defs/") in schema["$defs"]
            for alternative in part.get("anyOf", ()):
                assert alternative.keys() & {"type", "enum", "const", "$ref", "anyOf", "required"}
            for inner in part.values():
                look(inner)
        elif isinstance(part, list):
            for inner in part:
                look(inner)

    look(schema)
