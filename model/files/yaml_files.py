"""Reading YAML files so that an error can name its file and line.

The files are read as YAML 1.2 core, not as the 1.1 that PyYAML resolves by default: `no` is a word, `12:30` is
not a number of seconds and `1e3` is a number. Duplicate keys, tags that would build objects and files that
expand beyond reason are refused. Composing is libyaml's where it is available; building the plain data
and noting the line of every value is done here.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from ..core.errors import InputError

_TAG = "tag:yaml.org,2002:"
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", re.ASCII)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)
_INFINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_TRUTHS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""What would do something to the terminal that it is shown on."""
_DEEPEST = 64
_SURELY_SHALLOW = 2000
"""Characters: a text that is no longer is not nested so deep that composing it recursively is a danger."""
MOST_DIGITS = 100
"""Of a whole number: what a description holds is far below, and Python writes none of more than 4,300 digits."""
MOST_VALUES = 2_000_000

KeyPath = tuple[Hashable, ...]


@dataclass(frozen=True)
class Positions:
    """Where each value of a file stands.

    Attributes
    ----------
    file
        The file's name as it was given.
    lines
        Line (from 1) of each value, by its path of keys and list indices; () is the file itself.
    """

    file: str
    lines: dict[KeyPath, int] = field(default_factory=dict)

    def line(self, path: KeyPath) -> int:
        """Line of the value at `path`, or of the nearest value around it."""
        for length in range(len(path), -1, -1):
            found = self.lines.get(path[:length])
            if found is not None:
                return found
        return 1

    def place(self, path: KeyPath = ()) -> str:
        """The file and line of the value at `path`, as "file:line", for an `InputError`."""
        return f"{self.file}:{self.line(path)}"

    def written(self, path: KeyPath) -> KeyPath:
        """The path under which a person finds the value at `path`: the same, unless something was made of a file."""
        return path


def read_yaml(path: Path | str) -> tuple[Any, Positions]:
    """Read one YAML document.

    Parameters
    ----------
    path
        The file; UTF-8.

    Returns
    -------
    data : Any
        Plain mappings, lists, strings, numbers, true/false and None.
    positions : Positions
        The line of every value.

    Raises
    ------
    InputError
        If the file cannot be read or is not one YAML document, naming the file and the line.
    """
    place = str(path)
    return parse_yaml(_text_of(Path(path), place), place)


def parse_yaml(text: str, file: str = "<text>", most_values: int = MOST_VALUES) -> tuple[Any, Positions]:
    """As :func:`read_yaml`, from a string; `file` is the name that errors show, `most_values` what it may expand to."""
    try:
        if len(text) > _SURELY_SHALLOW:
            _check_shape(text, file, most_values)
        node = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else 1
        problem = " ".join(part for part in (error.context, error.problem) if part)
        raise InputError(f"{file}:{line}", f"not YAML: {problem}", "expected: one YAML document") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise InputError(f"{file}:{line}", "a control character", "expected: printable text") from None
    except (yaml.YAMLError, RecursionError):
        raise InputError(file, "not YAML, or nested too deep", "expected: one YAML document") from None
    if node is None:
        raise InputError(file, "the file is empty", "expected: one YAML document")
    builder = _Builder(file, most_values)
    return builder.build(node, ()), builder.positions


def _check_shape(text: str, file: str, most_values: int) -> None:
    """Refuse what is too deep or too much before it is composed, which the binding does by recursion without limit."""
    depth = values = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.NodeEvent):
            values += 1
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        # Keys are nodes too, so a file has up to twice as many nodes as values.
        if depth > _DEEPEST + 1 or values > 2 * most_values:
            line = event.start_mark.line + 1 if event.start_mark is not None else 1
            expected = f"expected: at most {_DEEPEST} levels and {most_values:,} values"
            raise InputError(f"{file}:{line}", "nested too deep, or too long", expected)


def _text_of(path: Path, place: str) -> str:
    expected = "expected: a YAML file in UTF-8"
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise InputError(place, "there is no such file", expected) from None
    except IsADirectoryError:
        raise InputError(place, "this is a folder", expected) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(place, f"cannot be read ({reason})", expected) from None
    return decoded(raw, place)


def decoded(raw: bytes, place: str) -> str:
    """The text of a file's bytes; `InputError` with its line if they are not UTF-8."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        found = f"byte 0x{raw[error.start]:02x} is not UTF-8"
        raise InputError(f"{place}:{line}", found, "expected: a YAML file in UTF-8") from None


class _Resolver:
    """Gives every scalar the tag that YAML 1.2 core gives it."""

    def resolve(self, kind: type[yaml.Node], value: str | None, implicit: Any) -> str:
        if kind is yaml.MappingNode:
            return _TAG + "map"
        if kind is yaml.SequenceNode:
            return _TAG + "seq"
        if value is None or not implicit[0]:
            return _TAG + "str"
        if value in _NULLS:
            return _TAG + "null"
        if value in _TRUTHS:
            return _TAG + "bool"
        if _INT.fullmatch(value):
            return _TAG + "int"
        if _FLOAT.fullmatch(value) or _INFINITE.fullmatch(value):
            return _TAG + "float"
        return _TAG + "str"


if yaml.__with_libyaml__:

    class _Loader(_Resolver, yaml.CSafeLoader):
        pass

else:

    class _Loader(_Resolver, yaml.SafeLoader):  # type: ignore[no-redef]
        pass


class _Builder:
    """Plain data and lines from composed nodes."""

    def __init__(self, file: str, most_values: int) -> None:
        self.positions = Positions(file)
        self._most = self._left = most_values

    def build(self, node: yaml.Node, path: KeyPath) -> Any:
        line = node.start_mark.line + 1
        self.positions.lines[path] = line
        self._left -= 1
        if self._left < 0 or len(path) > _DEEPEST:
            expected = f"expected: at most {_DEEPEST} levels and {self._most:,} values"
            raise self._error(line, "the file expands without end", expected)
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, line)
        if isinstance(node, yaml.SequenceNode) and node.tag == _TAG + "seq":
            return [self.build(item, (*path, index)) for index, item in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode) and node.tag == _TAG + "map":
            return self._mapping(node, path)
        raise self._error(line, f"the tag {node.tag}", "expected: plain YAML without tags")

    def _mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[Hashable, Any]:
        data: dict[Hashable, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                raise self._error(line, "a list or mapping as a key", "expected: a name or a number")
            key = self._scalar(key_node, line)
            if key == "<<" and not key_node.style:
                raise self._error(line, "the merge key <<", "write the keys out; YAML 1.2 has no merging")
            if key in data:
                first = self.positions.lines[(*path, key)]
                raise self._error(line, f"the key {key!r} stands twice", f"it was given in line {first} already")
            data[key] = self.build(value_node, (*path, key))
            self.positions.lines[(*path, key)] = line
        return data

    def _scalar(self, node: yaml.ScalarNode, line: int) -> Any:
        text: str = node.value
        kind = node.tag.removeprefix(_TAG)
        try:
            if kind == "str":
                if _CONTROL.search(text):
                    raise self._error(line, f"a control character in {text[:40]!r}", "expected: printable text")
                return text
            if kind == "null":
                return None
            if kind == "bool":
                return _TRUTHS[text]
            if kind == "int":
                if len(text) > MOST_DIGITS:
                    found = f"a whole number of {len(text)} characters"
                    raise self._error(line, found, f"expected: at most {MOST_DIGITS}")
                return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
            if kind == "float":
                return float(text.replace(".", "", 1) if _INFINITE.fullmatch(text) else text)
        except (KeyError, ValueError):
            expected = "expected: another value, or text in quotes"
            raise self._error(line, f"{text[:40]!r} is no {kind}", expected) from None
        raise self._error(line, f"the tag {node.tag}", "expected: plain YAML without tags")

    def _error(self, line: int, found: str, expected: str) -> InputError:
        return InputError(f"{self.positions.file}:{line}", found, expected)
