"""Documents: scenarios as people write them, with everything optional, and how they are read and changed.

A document may extend another one (:mod:`.extends`), be changed from the command line (:mod:`.changes.aliases`), and
leave out or shorten what has a default (:mod:`.shorthands`). What it comes to is a
:class:`~raidsim.scenarios.description.scenario.ScenarioSpec`.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...model.core.errors import InputError
from ...model.files.description_errors import located, validate
from ...model.files.quantities import format_size
from ...model.files.yaml_files import Positions, decoded
from ..description.scenario import ScenarioSpec
from .changes.assignment import parse_alternatives, parse_assignment
from .changes.merge import assigned, copied
from .changes.positions import DocumentPositions
from .edit import meaning, put
from .extends import LARGEST_FILE, Layer, parse_layer, read_layers
from .library import PREFIX, library_file, library_names
from .paths import checked
from .shorthands import Expansion

__all__ = ["Document", "document_file", "document_from", "parse_alternatives", "parse_assignment", "read_document"]

_LIBRARY_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*")


@dataclass(frozen=True, eq=False)
class Document:
    """A scenario as a person wrote it; equal to another one with the same name and content.

    Attributes
    ----------
    name
        The file as it was given, or "library:NAME".
    data
        Plain merged data; shorthands are not expanded. Not to be changed in place.
    positions
        Where its values stand.
    """

    name: str
    data: dict[str, Any]
    positions: Positions

    def spec(self) -> ScenarioSpec:
        """The whole scenario.

        Raises
        ------
        InputError
            Naming file and line (or option), field, what was found and what is allowed.
        """
        positions = _document_positions(self.positions).expanded({})
        try:
            full = Expansion(self.data, self.title, positions.origins).result
        except InputError as error:
            raise located(error, positions) from None
        return validate(ScenarioSpec, full, positions)

    def changed(self, values: Mapping[str, Any], option: str = "--set") -> Document:
        """A copy with other values.

        Parameters
        ----------
        values
            New values by dotted path or alias; None removes what stands there.
        option
            What errors call the place of the new values.

        Raises
        ------
        InputError
            If a path means nothing.
        """
        data: dict[str, Any] = copied(self.data)
        positions = _document_positions(self.positions)
        for typed, value in values.items():
            place = f"{option} {typed}"
            for path, inner in meaning(data, typed, value, place):
                path = put(data, path, copied(inner, path), place)
                positions = assigned(positions, data, path, inner, place)
        return Document(self.name, data, positions)

    @property
    def title(self) -> str:
        """What the scenario is called: its `name`, or the stem of its file."""
        name = self.data.get("name")
        return name if isinstance(name, str) else Path(self.name.removeprefix(PREFIX)).stem or self.name

    @property
    def fingerprint(self) -> str:
        """A digest of the name and the content."""
        text = json.dumps([self.name, self.data], ensure_ascii=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Document) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)


def read_document(source: str | Path, sets: Sequence[str] = ()) -> Document:
    """The document in a file, or in the library.

    Parameters
    ----------
    source
        A file, "library:NAME", the bare name of a scenario in the library (if no file is called so), or "-" for
        standard input.
    sets
        Changes, "path=value" each.

    Raises
    ------
    InputError
        If there is neither, if it cannot be read, or if a change means nothing.

    Examples
    --------
    >>> document = read_document("library:database-server", ["disks=6", "layout=raid6"])
    >>> document.spec().arrays["md0"].level
    'raid6'
    >>> sorted(document.changed({"disks": 4}).spec().machine.drives)
    ['disk0', 'disk1', 'disk2', 'disk3']
    """
    if source == "-":
        return document_from(_piped(), "<stdin>", sets)
    name, path = document_file(source)
    layer = read_layers(path, name)
    return _with_sets(name, layer, sets)


def _piped() -> str:
    """What is on standard input, if that is not too long for a document."""
    try:
        raw = sys.stdin.buffer.read(LARGEST_FILE + 1)
    except OSError as error:
        raise InputError("<stdin>", f"cannot be read ({error.strerror})", "expected: a document") from None
    if len(raw) > LARGEST_FILE:
        raise InputError("<stdin>", f"more than {format_size(LARGEST_FILE)}", "expected: a document")
    return decoded(raw, "<stdin>")


def document_from(text: str, name: str = "<text>", sets: Sequence[str] = ()) -> Document:
    """The document in a string; it may extend scenarios of the library only."""
    layer = parse_layer(text, name)
    below = layer.data.get("extends")
    if below is not None and not (isinstance(below, str) and below.startswith(PREFIX)):
        place = f"{layer.positions.place(('extends',))}: field extends"
        raise InputError(place, f"found {below!r}"[:80], f"expected: {PREFIX}NAME")
    return _with_sets(name, read_layers(Path(name), name, text), sets)


def _with_sets(name: str, layer: Layer, sets: Sequence[str]) -> Document:
    document = Document(name, layer.data, layer.positions)
    for removed, place in layer.removed.items():
        checked(removed, place, short=())
    for text in sets:
        path, value = parse_assignment(text)
        document = document.changed({path: value})
    return document


def document_file(source: str | Path) -> tuple[str, Path]:
    """What the document is called that `source` means, and its file; `InputError` if it is none of the library."""
    text = str(source)
    if text.startswith(PREFIX):
        path = library_file(text.removeprefix(PREFIX), text)
        return f"{PREFIX}{path.stem}", path
    path = Path(source)
    if isinstance(source, Path) or path.suffix or len(path.parts) != 1 or not _LIBRARY_NAME.fullmatch(text):
        if isinstance(source, Path) and path.parts == (text,) and text in library_names() and not path.exists():
            return f"{PREFIX}{text}", library_file(text)
        return text, path
    if path.is_file():
        return text, path
    path = library_file(text, f"no file {text!r}")
    return f"{PREFIX}{path.stem}", path


def _document_positions(positions: Positions) -> DocumentPositions:
    return positions if isinstance(positions, DocumentPositions) else DocumentPositions(positions.file, positions.lines)
