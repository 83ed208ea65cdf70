"""YAML files and descriptions: every error names file, line and field, and no value changes its meaning."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field, ValidationError, model_validator

from raidsim.model.core.errors import InputError
from raidsim.model.files.description import Duration, Fraction, PositiveSize, Rate, Size, Spec, refusal
from raidsim.model.files.description_errors import load_spec, validate
from raidsim.model.files.yaml_files import parse_yaml, read_yaml


class Disk(Spec):
    """A disk, as a file would describe one."""

    kind: Literal["disk"] = "disk"
    rate: Rate
    seek: Duration = 0.0
    settle: Duration = 0.0005
    cache: Size = 0
    heads: int = 2


class Flash(Spec):
    """Another kind, to have a choice."""

    kind: Literal["flash"]
    dies: int = Field(gt=0)


class Machine(Spec):
    """A description that nests."""

    name: str
    members: list[Annotated[Disk | Flash, Field(discriminator="kind")]]
    share: Fraction = 1.0
    chunk: PositiveSize = 65536
    spare: Disk | None = None
    bays: tuple[Flash, ...] = Field(default=(), min_length=1, max_length=2)
    label: str = Field(default="none", min_length=1, max_length=4)

    @model_validator(mode="after")
    def _some_members(self) -> Machine:
        if self.name == "nowhere":
            raise InputError("name", "'nowhere'", "expected: a place")
        if not self.members:
            raise refusal("no members", "expected: one or more")
        return self


def wrong(text: str) -> str:
    """The message about a machine in a file."""
    data, positions = parse_yaml(text, "m.yaml")
    with pytest.raises(InputError) as caught:
        validate(Machine, data, positions)
    return str(caught.value)


def test_values_mean_what_yaml_1_2_says() -> None:
    """Protects against YAML 1.1: `no` as false, `12:30` as 750, `1e3` as text, `0123` as octal."""
    data, _ = parse_yaml(
        "a: no\nb: 12:30\nc: 1e3\nd: 0123\ne: 'yes'\nf: true\ng: ~\nh: '5'\ni: 0x1f\nj: .5\nk: 1_000\n"
    )
    assert data == {
        "a": "no",
        "b": "12:30",
        "c": 1000.0,
        "d": 123,
        "e": "yes",
        "f": True,
        "g": None,
        "h": "5",
        "i": 31,
        "j": 0.5,
        "k": "1_000",
    }
    infinite, _ = parse_yaml("[.inf, -.INF, .nan, 2001-01-01]")
    assert infinite[:2] == [math.inf, -math.inf]
    assert math.isnan(infinite[2])
    assert infinite[3] == "2001-01-01"


def test_every_value_knows_its_line() -> None:
    """Protects the line numbers of errors, also inside lists and after comments."""
    data, positions = parse_yaml("# top\na:\n  - b: 1\n\n    c: 2\n  - d\ne: {f: 3}\n", "f.yaml")
    assert data == {"a": [{"b": 1, "c": 2}, "d"], "e": {"f": 3}}
    assert [positions.line(path) for path in (("a",), ("a", 0, "c"), ("a", 1), ("e", "f"))] == [2, 5, 6, 7]
    assert positions.place(("a", 0, "unknown")) == "f.yaml:3"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "stands twice"),
        ("a: [1,\n", 2, "not YAML"),
        ("a: 1\n  b: 2\n", 2, "not YAML"),
        ("a: 1\n---\nb: 2\n", 2, "one YAML document"),
        ("a: !!python/object/apply:os.system ['true']\n", 1, "tag"),
        ("a: 1\nb: !!int x\n", 2, "no int"),
        ("a: &a {x: 1}\nb:\n  <<: *a\n", 3, "merge key"),
        ("x: 1\n? [1, 2]\n: 3\n", 2, "as a key"),
        ("a: &a [*a]\n", 1, "expands"),
        ("a: 1\nb: \x01\n", 2, "control character"),
        (f"a: 1\nb: 0x{'f' * 5000}\n", 2, "a whole number of 5002 characters"),
        (f"a: 1\nb: 0o{'7' * 5000}\n", 2, "a whole number of 5002 characters"),
        (f"a: 1\nb: {'9' * 5000}\n", 2, "a whole number of 5000 characters"),
        (f"a: 1\n{'9' * 900}: 2\n", 2, "a whole number of 900 characters"),
    ],
)
def test_bad_yaml_names_the_line(text: str, line: int, words: str) -> None:
    """Protects against tracebacks and against silently taking the last of two equal keys."""
    with pytest.raises(InputError, match=words) as caught:
        parse_yaml(text, "f.yaml")
    assert caught.value.place == f"f.yaml:{line}"


def test_a_file_that_expands_is_refused() -> None:
    """Protects memory from nine lines of aliases that mean a billion values."""
    levels = ["a0: &a0 [" + "x, " * 9 + "x]"]
    levels += [f"a{i}: &a{i} [" + f"*a{i - 1}, " * 9 + f"*a{i - 1}]" for i in range(1, 9)]
    with pytest.raises(InputError, match="expands"):
        parse_yaml("\n".join(levels))
    with pytest.raises(InputError, match=r"deep|expands|YAML"):
        parse_yaml("[" * 5000)


def test_unreadable_files_are_named(tmp_path: Path) -> None:
    """Protects the message for a missing file, a folder, an empty file and a file that is not UTF-8."""
    for path, words in (
        (tmp_path / "none.yaml", "no such file"),
        (tmp_path, "folder"),
        (Path("a\0b"), "cannot be read"),
    ):
        with pytest.raises(InputError, match=words) as caught:
            read_yaml(path)
        assert caught.value.place == str(path)
    latin = tmp_path / "latin.yaml"
    latin.write_bytes(b"a: 1\nb: \xe9\n")
    with pytest.raises(InputError, match="UTF-8") as caught:
        read_yaml(latin)
    assert caught.value.place == f"{latin}:2"
    latin.write_bytes(b"")
    with pytest.raises(InputError, match="empty"):
        read_yaml(latin)
    latin.write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert read_yaml(latin)[0] == {"a": 1}


def test_a_good_file_becomes_a_description(tmp_path: Path) -> None:
    """Protects the whole way from a file to SI values, and that the result cannot be changed."""
    path = tmp_path / "m.yaml"
    path.write_text(
        "name: box\nmembers:\n  - {kind: disk, rate: 60MB/s, seek: 8.9ms}\n  - {kind: flash, dies: 8}\nshare: 30%\n"
    )
    machine = load_spec(Machine, path)
    disk = machine.members[0]
    assert isinstance(disk, Disk)
    assert (disk.rate, disk.seek, machine.share) == (60e6, 0.0089, 0.3)
    assert disk.settle == 0.0005, "a default is an SI value and needs no unit"
    with pytest.raises(ValidationError, match="frozen"):
        machine.name = "other"  # type: ignore[misc]


def test_a_wrong_value_names_file_line_and_field() -> None:
    """Protects the promise of one clear message: where, what was found, what is expected."""
    text = "name: box\nmembers:\n  - kind: disk\n    rate: 60MB/s\n  - kind: disk\n    rate: 60\n"
    assert wrong(text) == (
        "m.yaml:6: field members[1].rate: found 60 has no unit; "
        "expected: a size per second above 0, such as 60MB/s or 1.5GiB/s"
    )


@pytest.mark.parametrize("value", [".nan", ".inf", "-1MB/s", "0MB/s", "true", "[1]", "fast"])
def test_rates_that_are_none_are_refused(value: str) -> None:
    """Protects the simulation from rates that are infinite, negative, zero or no number at all."""
    message = wrong(f"name: box\nmembers:\n  - kind: disk\n    rate: {value}\n")
    assert message.startswith("m.yaml:4: field members[0].rate: found ")
    assert "expected: a size per second" in message


def test_an_unknown_key_is_answered_with_the_closest() -> None:
    """Protects against a misspelt key being ignored, at the top and inside a list of a choice of kinds."""
    top = wrong("name: box\nmembers: [{kind: flash, dies: 1}]\nchunck: 64KiB\n")
    assert top.startswith(
        "m.yaml:3: field chunck: found the unknown key 'chunck'; did you mean 'chunk'? expected: name, "
    )
    inner = wrong("name: box\nmembers:\n  - kind: disk\n    raet: 60MB/s\n")
    assert inner.startswith("m.yaml:4: field members[0].raet: found the unknown key 'raet'; did you mean 'rate'?")
    assert "dies" not in inner
    assert inner.endswith("(and 1 more)")
    optional = wrong("name: box\nmembers: [{kind: flash, dies: 1}]\nspare:\n  rate: 1MB/s\n  sek: 1ms\n")
    assert "did you mean 'seek'?" in optional


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ("[{kind: dsk, rate: 1MB/s}]", "members[0]: found the kind 'dsk'; did you mean 'disk'? expected: disk, flash"),
        ("[{rate: 1MB/s}]", "members[0]: found no kind; expected"),
        ("[{kind: disk}]", "members[0].rate: it is missing; required"),
        ("[{kind: flash, dies: 0}]", "members[0].dies: found 0; expected: greater than 0"),
        ("[{kind: flash, dies: true}]", "members[0].dies: found true; expected: a number"),
        ("[{kind: flash, dies: many}]", "members[0].dies: found 'many'; expected: a whole number"),
        ("[]", "the description: found no members; expected: one or more"),
        ("12", "members: found 12; expected: a list"),
    ],
)
def test_other_mistakes_have_the_same_form(members: str, words: str) -> None:
    """Protects the wording for choices, missing keys, bounds, booleans and checks of the whole."""
    message = wrong(f"name: box\nmembers: {members}\n")
    assert message.startswith("m.yaml:")
    assert words in message


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("bays: []", "m.yaml:3: field bays: found a list of 0; expected: at least 1 item"),
        (
            "bays: [{kind: flash, dies: 1}, {kind: flash, dies: 1}, {kind: flash, dies: 1}]",
            "found a list of 3; expected: at most 2 items",
        ),
        ("bays: [{kind: flash, dies: 0}]", "m.yaml:3: field bays[0].dies: found 0; expected: greater than 0"),
        ("bays:\n  - kind: flash\n    dies: 0", "m.yaml:5: field bays[0].dies: found 0; expected: greater than 0"),
        ("label: ''", "found ''; expected: at least 1 character"),
        ("label: longer", "found 'longer'; expected: at most 4 characters"),
    ],
)
def test_lengths_are_said_in_our_words_and_causes_before_effects(line: str, words: str) -> None:
    """Protects from pydantic's own words, and from being told that a list is empty whose only item is wrong."""
    message = wrong(f"name: box\nmembers: [{{kind: flash, dies: 1}}]\n{line}\n")
    assert words in message
    assert "more)" not in message
    assert "Tuple" not in message


@pytest.mark.parametrize("value", ["x" * 100_000, "[" + "1, " * 50_000 + "1]", "1" * 99, "é" * 50_000])
@pytest.mark.parametrize("key", ["name", "members", "chunk", "label", "bays", "unknown"])
def test_a_refusal_is_short_whatever_was_found(key: str, value: str) -> None:
    """Protects terminals and logs: whatever stands in a file, the message about it fits a screen."""
    document = {"name": "box", "members": "[{kind: flash, dies: 1}]", key: value}
    if key == "name" and not value.startswith("["):
        document["label"] = "longer"
    assert len(wrong("".join(f"{name}: {text}\n" for name, text in document.items()))) < 3000
    assert len(wrong(f"name: box\nmembers: [{{kind: flash, dies: 1}}]\n? {'k' * 90_000}\n: 1\n")) < 3000


def test_an_input_error_of_a_check_gets_the_file() -> None:
    """Protects checks that look something up and raise the error of the lookup: the file is named as well."""
    assert wrong("name: nowhere\nmembers: [{kind: flash, dies: 1}]\n") == "m.yaml: name: 'nowhere'; expected: a place"


def test_a_file_that_is_no_mapping() -> None:
    """Protects against a file that holds a list or a word where a description is expected."""
    assert wrong("- 1\n").startswith("m.yaml:1: the description: found a list of 1; expected: ")


def test_from_python_si_values_are_taken_as_they_are() -> None:
    """Protects building a description from another's values, which a file may not do without units."""
    disk = Disk(rate=60e6, seek=0.0089)
    assert Disk.model_validate(disk.model_dump()) == disk
    assert Disk.model_validate_json(disk.model_dump_json()) == disk
    for rate in (math.nan, math.inf, -1.0, 0.0, True):
        with pytest.raises(ValidationError):
            Disk(rate=rate)
    with pytest.raises(InputError, match=r"field seek: found 0\.0089 has no unit"):
        validate(Disk, {"rate": "60MB/s", "seek": 0.0089})


def test_a_long_study_loads_at_once() -> None:
    """Protects the time of the command line: 1,500 lines in well under a second on any machine."""
    text = "cases:\n" + "".join(f"  - {{id: c{i}, value: {i}.5, unit: MiB/s, use: predict}}\n" for i in range(1500))
    begin = time.perf_counter()
    data, positions = parse_yaml(text)
    assert time.perf_counter() - begin < 1.0
    assert len(data["cases"]) == 1500
    assert positions.line(("cases", 1499, "value")) == 1501
