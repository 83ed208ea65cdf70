"""Laying one document over another: mappings are merged, everything else is replaced, null removes."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

from ....model.files.yaml_files import KeyPath
from ...description.tuning import QUEUE_FIELDS
from .positions import DocumentPositions, paths_below

_KEPT_WHOLE = "overrides"
"""Below it null is a value: the catalogue's field is unset."""
_NAMED_BY: dict[KeyPath, str] = {("machine",): "model", ("machine", "cpu"): "model", ("arrays", "*"): "level"}
"""What a bare word means where a mapping may stand."""
DRIVES_ALIKE = ("model", "count", "state", *QUEUE_FIELDS)
"""Keys of ``machine.drives`` that say something of all drives and are no drive's name."""


def merged(below: Any, above: Any, path: KeyPath = ()) -> Any:
    """`above` laid over `below`; neither is changed, and they share no containers with the result."""
    if not isinstance(above, Mapping):
        return copied(above, path)
    if not isinstance(below, Mapping):
        below = as_mapping(path, below) or {}
    if _is_other(below, above, path):
        below = {}
    result: dict[Hashable, Any] = {key: copied(value, (*path, key)) for key, value in below.items()}
    for key, value in above.items():
        if value is None and _KEPT_WHOLE not in path:
            result.pop(key, None)
        else:
            result[key] = merged(below.get(key), value, (*path, key))
    return result


def _is_other(below: Mapping[Any, Any], above: Mapping[Any, Any], path: KeyPath) -> bool:
    """Whether `above` describes another thing, whose fields have nothing to do with those of `below`."""
    if path == ("machine", "drives"):
        # What has no model is no drive of its own, but says what is different about those below.
        partial = all(isinstance(one, Mapping) and "model" not in one for one in above.values())
        short = drives_in_short(below)
        return bool(above) and short != drives_in_short(above) and not (short and partial)
    if len(path) == 3 and path[:2] == ("machine", "links"):
        # A link of the catalogue brings a rate of its own; one with a source of its own is not of the catalogue.
        if "model" in above:
            return "rate" in below or below.get("model", above["model"]) != above["model"]
        return "model" in below and {"rate", "source"} <= above.keys()
    kinds = below.get("kind"), above.get("kind")
    return None not in kinds and kinds[0] != kinds[1]


def drives_in_short(drives: object) -> bool:
    """Whether drives are given by model and number, or by what is the same of all of them, not one by one."""
    return isinstance(drives, Mapping) and any(
        key in drives and not isinstance(drives[key], Mapping) for key in DRIVES_ALIKE
    )


def copied(data: Any, path: KeyPath = ()) -> Any:
    """A copy without keys that are null."""
    if isinstance(data, Mapping):
        kept = _KEPT_WHOLE in path
        return {key: copied(value, (*path, key)) for key, value in data.items() if value is not None or kept}
    if isinstance(data, (list, tuple)):
        return [copied(item, (*path, index)) for index, item in enumerate(data)]
    return data


def null_paths(data: object, path: KeyPath = ()) -> Iterator[KeyPath]:
    """The keys that :func:`copied` leaves out."""
    if isinstance(data, Mapping) and _KEPT_WHOLE not in path:
        for key, value in data.items():
            if value is None:
                yield (*path, key)
            yield from null_paths(value, (*path, key))


def as_mapping(path: KeyPath, word: object) -> dict[str, Any] | None:
    """What a bare word at `path` means; None if it has no other meaning."""
    if not isinstance(word, str) or not path:
        return None
    shape = (path[0], "*") if path[0] == "arrays" and len(path) == 2 else path
    if len(path) == 3 and path[:2] in (("machine", "drives"), ("machine", "links")):
        return {"model": word}
    if path in (("network", "port"), ("network", "client_port")):
        return {"model": word}
    if len(path) == 2 and path[0] == "file_systems":
        return {"kind": word}
    key = _NAMED_BY.get(shape)
    return {key: word} if key is not None else None


def overlaid(below: DocumentPositions, above: DocumentPositions, data: Any, above_data: Any) -> DocumentPositions:
    """Where the values of `data` stand, which is `above_data` laid over what `below` belongs to."""
    there = set(paths_below(data))
    lines = {path: line for path, line in below.lines.items() if path in there}
    places = {path: below.place(path) for path in lines}
    for path in paths_below(above_data):
        if path in there and path in above.lines:
            lines[path] = above.lines[path]
            places[path] = above.place(path)
    return DocumentPositions(above.file, lines, places)


def assigned(positions: DocumentPositions, data: Any, path: KeyPath, value: Any, place: str) -> DocumentPositions:
    """Where the values of `data` stand after `value` was put at `path`; `place` is what errors call it."""
    there = set(paths_below(data))
    kept = {known: line for known, line in positions.lines.items() if known in there and known[: len(path)] != path}
    places = {known: text for known, text in positions.places.items() if known in kept}
    for inner in paths_below(value, path):
        if inner in there:
            kept[inner] = 0
            places[inner] = place
    return DocumentPositions(positions.file, kept, places)
