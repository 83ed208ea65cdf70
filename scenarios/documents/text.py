"""Scenario files as text that a person goes on editing: changed in place, with their comments and their order."""

from __future__ import annotations

import copy
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...model.files.yaml_files import KeyPath
from .changes.assignment import parse_assignment
from .changes.merge import as_mapping
from .document import Document, document_file, read_document
from .edit import meaning, put
from .extends import parse_layer, read_text

# A command that writes no text does without it: importing ruamel.yaml takes as long as reading a scenario.
if TYPE_CHECKING:
    from ruamel.yaml import YAML
    from ruamel.yaml.comments import CommentedMap

_WIDTH = 120


def changed_text(source: str | Path, sets: Sequence[str] = ()) -> tuple[str, Document]:
    """The text of a scenario file with changes, and the document that it is.

    Parameters
    ----------
    source, sets
        As for :func:`.document.read_document`.

    Returns
    -------
    text : str
        With the comments of the file; without changes the file as it is.
    document : Document
        Merged with what the file extends.

    Raises
    ------
    InputError
        As :func:`.document.read_document`.
    """
    document = read_document(source)
    name, path = document_file(source)
    text = read_text(path, name)
    if not sets:
        return text, document
    plain = parse_layer(text, name).data
    round_trip = _round_trip()
    own: CommentedMap = round_trip.load(text)
    inherits = plain.get("extends") is not None
    for option in sets:
        typed, value = parse_assignment(option)
        place = f"--set {typed}"
        for at, inner in meaning(document.data, typed, value, place):
            _put_own(own, document.data, at, inner, place, inherits)
        document = document.changed({typed: value})
    stream = io.StringIO()
    round_trip.dump(own, stream)
    return stream.getvalue(), document


def plain_text(data: Any, comment: str = "") -> str:
    """Plain data as YAML, under a comment."""
    stream = io.StringIO()
    _round_trip().dump(_flowing(data), stream)
    head = "".join(f"# {line}\n" for line in comment.splitlines())
    return head + stream.getvalue()


def _round_trip() -> YAML:
    from ruamel.yaml import YAML

    writer = YAML(typ="rt")
    writer.preserve_quotes = True
    writer.width = _WIDTH
    writer.indent(mapping=2, sequence=4, offset=2)
    return writer


def _put_own(own: CommentedMap, merged: Any, path: KeyPath, value: Any, place: str, inherits: bool) -> None:
    """Make one change in a file's own text; `merged` is the document with what the file extends, before it."""
    from ruamel.yaml.comments import CommentedMap, CommentedSeq

    inside: Any = own
    for depth, key in enumerate(path[:-1]):
        merged = _inside(merged, key)
        there = _inside(inside, key)
        if isinstance(there, (CommentedMap, CommentedSeq)) and there.anchor.value is not None:
            # An alias elsewhere means the same object, and must not change with it.
            there = copy.deepcopy(there)
            there.yaml_set_anchor(None)
            inside[_key(inside, key)] = there
        elif there is None and isinstance(merged, list):
            # A list is replaced as a whole, so all of it has to stand in the file that changes a part of it.
            put(own, path[: depth + 1], _flowing(merged), place)
            break
        elif isinstance(inside, CommentedMap) and as_mapping(path[: depth + 1], there) is not None:
            # On one line, the comment or empty line behind the word stays behind it.
            there = _flowing(as_mapping(path[: depth + 1], there))
            inside[key] = there
        inside = there
    put(own, path, _flowing(value), place, null=inherits)


def _key(container: Any, key: Any) -> Any:
    return int(key) if isinstance(container, list) else key


def _inside(container: Any, key: Any) -> Any:
    """What stands under a key or at a place; None if there is nothing."""
    if isinstance(container, dict):
        return container.get(key)
    if isinstance(container, list) and str(key).isdecimal() and int(key) < len(container):
        return container[int(key)]
    return None


def _flowing(data: Any) -> Any:
    """The same data, its short lists and mappings of plain values on one line each."""
    from ruamel.yaml.comments import CommentedMap, CommentedSeq

    if isinstance(data, dict):
        mapping = CommentedMap((key, _flowing(value)) for key, value in data.items())
        short = len(str(data)) < _WIDTH - 40 and not any(isinstance(value, (dict, list)) for value in data.values())
        if mapping and short:
            mapping.fa.set_flow_style()
        return mapping
    if isinstance(data, (list, tuple)):
        sequence = CommentedSeq(_flowing(value) for value in data)
        if not any(isinstance(value, (dict, list)) for value in data):
            sequence.fa.set_flow_style()
        return sequence
    return data
