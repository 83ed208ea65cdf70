"""Reading a folder of recorded truth: every file is assigned to its kind by what it holds, and checked for form."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from ...model.core.errors import InputError
from .base import NotChecked, NotSupported, TruthFile
from .recognize import shape_of
from .shapes import Shape

DEFAULT_TRUTH = Path(__file__).parent.parent / "truth"
"""The recordings that come with raidsim."""

_SUFFIXES = (".json", ".json.gz")
_REQUESTS = ".requests.json"
"""In the name of a file that goes with the recording of a cache."""
_ALLOWED = "expected: JSON as the manual's page on conformance describes it for each kind"
_NAMED_BY = {
    "arrays": ("array", ("name", "array")),
    "cases": ("case", ("case",)),
    "rebuilds": ("case", ("name",)),
    "runs": ("run", ("name", "case")),
}
"""List: what one of it is called, and the fields that may hold its name."""


class TruthFolder(NamedTuple):
    """The files of a folder of recorded truth.

    Attributes
    ----------
    by_kind
        The recordings of each kind that has a check, each list in the order of the files' names.
    not_checked
        The other files, with the reason.
    """

    by_kind: dict[str, list[TruthFile]]
    not_checked: list[NotChecked]


def load_truth(folder: Path = DEFAULT_TRUTH) -> TruthFolder:
    """The files of a folder and of all folders below it.

    A file that no check reads is not checked: JSON with the fields of no kind, or a file that is not called `*.json` or
    `*.json.gz` (compressed).
    Files that go with a recorded program are its check's business: they have the name of a JSON file next to them up
    to the first point, or lie below a folder `workloads`. Hidden files and those called README are passed over.

    Raises
    ------
    InputError
        If there is no such folder or no file in it, or a file of a known kind lacks something or is not JSON; the
        message names the file and, where it can, array, case and field.
    """
    if not folder.is_dir():
        found = "this is a file" if folder.exists() else "there is no such folder"
        raise InputError(str(folder), found, "expected: a folder of recorded truth")
    by_kind: dict[str, list[TruthFile]] = {}
    not_checked: list[NotChecked] = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        inside = path.relative_to(folder)
        if any(part.startswith(".") for part in inside.parts) or path.name.startswith("README"):
            continue
        if _REQUESTS in path.name and path.with_name(path.name.partition(_REQUESTS)[0] + ".json").is_file():
            continue
        if not path.name.endswith(_SUFFIXES):
            if not _goes_with_a_program(path, inside):
                not_checked.append(NotChecked(str(inside), "", "its name does not end in .json or .json.gz", 0))
            continue
        try:
            kind, file = read_truth(path, str(inside))
        except NotSupported as error:
            not_checked.append(NotChecked(str(inside), "", f"{error.found}; {error.expected}", 0))
            continue
        by_kind.setdefault(kind, []).append(file)
    if not by_kind and not not_checked:
        raise InputError(str(folder), "the folder holds no recorded truth", "expected: at least one file *.json")
    return TruthFolder(by_kind, not_checked)


def read_truth(path: Path, place: str | None = None) -> tuple[str, TruthFile]:
    """One file of recorded truth and its kind; `place` is the name that errors show.

    Raises
    ------
    NotSupported
        If it has the fields of no kind.
    InputError
        If it is not JSON, or lacks something that its kind has.
    """
    place = place or str(path)
    try:
        raw = path.read_bytes()
        if path.suffix == ".gz":
            raw = gzip.decompress(raw)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(place, f"cannot be uncompressed ({error})", _ALLOWED) from None
    except OSError as error:
        raise InputError(place, f"cannot be read ({error.strerror})", _ALLOWED) from None
    try:
        content = json.loads(raw)
    except (ValueError, RecursionError) as error:
        reason = "nested too deep" if isinstance(error, RecursionError) else str(error)
        raise InputError(place, f"this is not recorded truth: not JSON ({reason})", _ALLOWED) from None
    found = shape_of(content)
    if found is None:
        raise NotSupported(place, "it has the fields of no kind of recording that has a check", _ALLOWED)
    kind, shape = found
    _check_shape(place, shape, raw, content)
    return kind, TruthFile(path, content)


def _goes_with_a_program(path: Path, inside: Path) -> bool:
    if "workloads" in inside.parts[:-1]:
        return True
    stem = path.name.split(".")[0]
    return any(other.name.split(".")[0] == stem for other in path.parent.glob("*.json"))


def _check_shape(place: str, shape: type[Shape], raw: bytes, content: Any) -> None:
    try:
        shape.model_validate_json(raw)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where, value = _located(content, first["loc"])
        if first["type"] == "missing":
            raise InputError(f"{place}{where}", "it is missing", "required") from None
        message = first["msg"].removeprefix("Input should be ")
        allowed = message.removeprefix("Value error, ") if first["type"] == "value_error" else f"expected: {message}"
        raise InputError(f"{place}{where}", f"found {_shown(value)}", allowed) from None


def _located(content: Any, location: tuple[int | str, ...]) -> tuple[str, Any]:
    """Where in a file an error is, in words, and what stands there."""
    words = []
    field = ""
    for part in location:
        if isinstance(content, list) and isinstance(part, int) and part < len(content):
            content = content[part]
            if field in _NAMED_BY:
                noun, names = _NAMED_BY[field]
                name = next((content[n] for n in names if isinstance(content, dict) and n in content), part)
                words.append(f"{noun} {name}")
                field = ""
            else:
                field += f"[{part}]"
        elif isinstance(content, dict) and part in content:
            content = content[part]
            field += f".{part}" if field else str(part)
        elif isinstance(content, dict) and part == location[-1]:
            field += f".{part}" if field else str(part)
        elif isinstance(content, list) and part == location[-1]:
            field += f"[{part}]"
    if field:
        words.append(f"field {field}")
    return "".join(f", {word}" for word in words), content


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
