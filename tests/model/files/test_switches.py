"""Optional mechanisms of descriptions: all are found, and can be switched off for a while."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from raidsim.calibration.simulation.touched_runs import KINDS
from raidsim.model.core.errors import InputError
from raidsim.model.drives.catalogue import hard_disk
from raidsim.model.file_system import file_system_settings
from raidsim.model.files.switches import FACTS, as_switched, is_on, switched_off, switches, watched
from raidsim.model.kernels import kernel
from raidsim.scenarios.description.machine import DriveInstance


def optional_fields(schema: dict[str, Any], inside: dict[str, Any], path: str = "") -> set[str]:
    """Fields that JSON schema says are truth values, may be null, or are 0, "" or empty unless given."""
    found = set()
    for name, field in inside["properties"].items():
        choices = [field, *field.get("anyOf", []), *field.get("allOf", [])]
        places = [choice["$ref"].rpartition("/")[2] for choice in choices if "$ref" in choice]
        for place in places:
            found |= optional_fields(schema, schema["$defs"][place], f"{path}{name}.")
        types = {choice.get("type") for choice in choices}
        empty = "default" in field and not field["default"]
        choice = "default" in field and any("enum" in each for each in choices)
        if types & {"boolean", "null"} or ((empty or choice) and not places):
            found.add(f"{path}{name}")
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_every_optional_field_is_a_switch(kind: str) -> None:
    """The list is found in the descriptions, as their schema shows them: a new mechanism cannot be forgotten."""
    described: type[BaseModel] = KINDS[kind]
    schema = described.model_json_schema()
    found = {name for name in optional_fields(schema, schema) if name.rpartition(".")[2] not in FACTS}
    assert set(switches(KINDS[kind])) == found


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("kernel", "raid5.locks_rows"),
        ("kernel", "cache.drop_behind"),
        ("kernel", "cache.throttle"),
        ("kernel", "superblock"),
        ("hard_disk", "media_cache"),
        ("hard_disk", "write_cache"),
        ("solid_state", "slc_cache"),
        ("file_system", "delayed"),
    ],
)
def test_known_mechanisms_are_among_them(kind: str, name: str) -> None:
    """Truth values, choices, numbers that are 0 without the mechanism, and sections."""
    assert name in switches(KINDS[kind])


def test_magnitudes_are_no_switches() -> None:
    """A number that is never 0 is no mechanism, nor is a description's own name."""
    assert not {"rotation", "model", "queue_effort", "heads"} & set(switches(KINDS["hard_disk"]))
    assert not {"version", "raid5.heads", "queue.limit"} & set(switches(KINDS["kernel"]))


def test_a_kernel_comes_without_a_mechanism_for_a_while() -> None:
    """Only that field differs, and only inside."""
    whole = kernel("linux-2.6.8")
    with switched_off(frozenset({"kernel.cache.flusher_yields", "kernel.superblock"})):
        without = kernel("linux-2.6.8")
        assert not without.cache.flusher_yields
        assert without.superblock is None
        section = without.cache.model_copy(update={"flusher_yields": True})
        assert without.model_copy(update={"cache": section, "superblock": whole.superblock}) == whole
        assert kernel("linux-2.4.26").cache == as_switched("other", kernel("linux-2.4.26")).cache
    assert kernel("linux-2.6.8") is whole
    assert is_on(whole, "cache.flusher_yields")


def test_what_a_scenario_overrides_is_off_too() -> None:
    """A study's parameters and a user's overrides do not bring a mechanism back."""
    disk = DriveInstance(model="WD2500JB", channel="a", overrides={"look_ahead": 65536})
    fresh = hard_disk("WD2500JB")
    with switched_off(frozenset({"hard_disk.look_ahead"})):
        assert disk.hard_disk().look_ahead == 0
    assert disk.hard_disk().look_ahead == 65536
    assert fresh.look_ahead > 0


def test_a_description_that_needs_the_mechanism_says_so() -> None:
    """A file system with a journal of no size is none."""
    with switched_off(frozenset({"file_system.journal_size"})), pytest.raises(InputError) as refusal:
        file_system_settings("ext3")
    assert "file_system.journal_size: cannot be off on its own" in str(refusal.value)


def test_descriptions_that_are_handed_out_are_seen() -> None:
    """Which mechanisms a check of recordings meets is known from what it has asked for."""
    with watched() as seen:
        kernel("linux-2.6.8")
    assert "kernel.cache.flusher_yields" in seen
    assert "kernel.raid5.locks_rows" not in seen
    assert not any(name.startswith("file_system") for name in seen)
