"""Where the values of a document stand that was merged from several files, from options and from shorthands."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from ....model.files.yaml_files import KeyPath, Positions


@dataclass(frozen=True)
class DocumentPositions(Positions):
    """Positions of a merged document.

    Attributes
    ----------
    places
        What errors call the place of a value, if it is not a line of `file`: another file, or an option.
    origins
        Values that were made of a shorthand, by the path of what they were made of.
    """

    places: dict[KeyPath, str] = field(default_factory=dict)
    origins: dict[KeyPath, KeyPath] = field(default_factory=dict)

    def written(self, path: KeyPath) -> KeyPath:
        """The path of the shorthand that the value at `path` was made of, or `path` itself."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.lines:
                return path
            origin = self.origins.get(path[:length])
            if origin is not None:
                return (*origin, *path[length:])
        return path

    def line(self, path: KeyPath) -> int:
        """Line of the value at `path`; 0 for what an option gave."""
        return super().line(self.written(path))

    def place(self, path: KeyPath = ()) -> str:
        """The file and line, or the option, that the value at `path` is from."""
        path = self.written(path)
        for length in range(len(path), -1, -1):
            if path[:length] in self.lines:
                named = self.places.get(path[:length])
                line = f"{self.file}:{self.lines[path[:length]]}"
                return f"{line}{self._options_in(path)}" if named is None else named
        return f"{self.file}:1"

    def _options_in(self, path: KeyPath) -> str:
        """The options that gave a part of a value which a file has, as such a part may be what is wrong with it."""
        inside = (name for at, name in self.places.items() if path and len(at) > len(path) and at[: len(path)] == path)
        options = ", ".join(dict.fromkeys(inside))
        return f" with {options}" if options else ""

    def expanded(self, origins: dict[KeyPath, KeyPath]) -> DocumentPositions:
        """The same with what shorthands were made into."""
        return DocumentPositions(self.file, self.lines, self.places, origins)


def paths_below(data: object, path: KeyPath = ()) -> list[KeyPath]:
    """The paths of a value and of all inside it."""
    found = [path]
    inner: list[tuple[Hashable, object]] = []
    if isinstance(data, dict):
        inner = list(data.items())
    elif isinstance(data, list):
        inner = list(enumerate(data))
    for key, value in inner:
        found += paths_below(value, (*path, key))
    return found
