"""Imports modules from the compiled build, as long as it is of the very source that is there.

A build is a folder of extension modules with a record of what it was made of: a digest of the model's source, of how it
is compiled (which modules, with which flags), and of the Python it is for. If anything of that is different now, the
build is not used, and the modules are imported from their source as if it did not exist. Whoever wants that anyway sets
``RAIDSIM_PURE=1``.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
"""The package."""
BUILT = ROOT / "build" / "compiled"
_SOURCES = ("compiled", "model")
"""In the first are the compiler's flags and the list of modules."""
RECORD = "record.json"
PURE = "RAIDSIM_PURE"
"""Environment variable: anything but nothing or 0 keeps to the source."""


class CompiledFinder(MetaPathFinder):
    """Finds the modules of one build.

    Parameters
    ----------
    built
        Its folder.
    root
        The package whose source it has to be of.

    Attributes
    ----------
    used
        Whether a module has been imported from it.
    """

    def __init__(self, built: Path, root: Path) -> None:
        self._built = built
        self._root = root
        self._files: dict[str, str] | None = None
        self._fresh: bool | None = None
        self._digest = ""
        self.used = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """See :meth:`importlib.abc.MetaPathFinder.find_spec`."""
        if self._files is None:
            self._read_record()
        if self._files is None or fullname not in self._files or not self.fresh:
            return None
        if wants_pure() and not self.used:
            # Later it is too late: a class from source cannot inherit from a compiled one.
            return None
        self.used = True
        return spec_from_file_location(fullname, self._built / self._files[fullname])

    @property
    def fresh(self) -> bool:
        """Whether the build is whole, of this source and for this Python."""
        if self._fresh is None:
            if self._files is None:
                self._read_record()
            files = (self._files or {}).values()
            there = bool(files) and all((self._built / file).is_file() for file in files)
            self._fresh = there and self._digest == digest(self._root)
        return self._fresh

    def _read_record(self) -> None:
        try:
            record = json.loads((self._built / RECORD).read_text(encoding="utf-8"))
            self._files, self._digest = dict(record["files"]), str(record["digest"])
        except (OSError, ValueError, TypeError, KeyError):
            # No build, or none that a whole `make compiled` has left.
            self._files = {}


def digest(root: Path) -> str:
    """What a build depends on: every source file of the model, what compiles it, and the Python that imports it."""
    found = hashlib.sha256(f"{sys.implementation.cache_tag} {EXTENSION_SUFFIXES[0]}".encode())
    # With strings: paths would take as long as reading all of the source.
    for name in sorted(_source_names(root), key=lambda name: name.split("/")):
        with open(os.path.join(root, name), "rb", buffering=0) as file:
            source = file.read()
        found.update(f"{name} {len(source)}\n".encode())
        found.update(source)
    return found.hexdigest()


def _source_names(root: Path) -> Iterator[str]:
    """Files of the source below the package, with slashes."""
    for top in _SOURCES:
        for folder, _, files in os.walk(root / top):
            within = os.path.relpath(folder, root).replace(os.sep, "/")
            yield from (f"{within}/{name}" for name in files if name.endswith(".py"))


def wants_pure() -> bool:
    """Whether the environment asks for the source."""
    return os.environ.get(PURE, "") not in ("", "0")


def stay_pure() -> None:
    """Use the source from now on, here and in processes that this one starts; too late for what is imported already."""
    os.environ[PURE] = "1"


def in_use() -> bool:
    """Whether this process has imported anything compiled, or would import the parts of a machine compiled."""
    return _FINDER is not None and (_FINDER.used or (_FINDER.fresh and not wants_pure()))


def how() -> str:
    """In words what the model is run from: "" if there is no build."""
    if _FINDER is None:
        return ""
    if not _FINDER.fresh:
        return "pure Python: build/compiled is of another source or Python, make compiled"
    return f"pure Python: {PURE} is set" if wants_pure() else "compiled"


def install() -> None:
    """Look into the build before the source, if there is one."""
    global _FINDER  # noqa: PLW0603 - one a process
    if _FINDER is None and BUILT.is_dir():
        _FINDER = CompiledFinder(BUILT, ROOT)
        sys.meta_path.insert(0, _FINDER)


_FINDER: CompiledFinder | None = None
